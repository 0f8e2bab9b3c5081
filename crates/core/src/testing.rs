//! A project in memory, for tests of modules that read suites.

#![cfg(test)]

use std::path::{Path, PathBuf};

use crate::dialect::{ProjectEnvironment, ReadError, VariableExpansion, refuse_scripts};

/// Calls `act` with a project that has one file, no variables and no scripts.
pub(crate) fn with_one_file<T>(name: &str, text: &str, act: impl FnOnce(&ProjectEnvironment<'_>) -> T) -> T {
    let read = |path: &Path| if path == Path::new(name) { Ok(text.into()) } else { Err(ReadError::Missing) };
    let world = ProjectEnvironment {
        root: PathBuf::new(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &refuse_scripts,
    };
    act(&world)
}
