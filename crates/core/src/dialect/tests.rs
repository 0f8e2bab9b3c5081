//! Tests of the readers by subject.

mod schema_keys;
mod work_limits;
mod suite_content;
mod agentv_projects;
mod promptfoo_assertions;
mod promptfoo_prompts;

use std::fs;
use std::path::PathBuf;

use super::*;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn files(folder_name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(folder_name)).unwrap().map(|dir| dir.unwrap().path());
    entries.filter(|entry| entry.extension().is_some_and(|extension| extension == "yaml")).collect()
}

fn with_world<T>(path: &Path, act: impl FnOnce(&ProjectEnvironment<'_>) -> T) -> T {
    let read = |path: &Path| fs::read_to_string(path).map(Into::into).map_err(|_| ReadError::Missing);
    let world = ProjectEnvironment {
        root: path.parent().unwrap().to_owned(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &refuse_scripts,
    };
    act(&world)
}

/// Loads a text that stands alone in its project.
fn load_text(text: &str) -> LoadedSuite {
    let read =
        |path: &Path| if path == Path::new("/s.yaml") { Ok(text.into()) } else { Err(ReadError::Missing) };
    let variable = |name: &str| (name == "SECRET").then(|| "hunter2".to_owned());
    let world = ProjectEnvironment {
        root: "/".into(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &variable,
        variables: VariableExpansion::Kept,
        call: &refuse_scripts,
    };
    read_suite(Path::new("/s.yaml"), None, &world)
}

const PROMPTFOO_HEAD: &str = "# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json\nprompts: [x]\nproviders: [echo]\n";
