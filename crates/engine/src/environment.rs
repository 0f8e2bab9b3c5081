//! Variables of the environment; the only file that reads them, except for those that a suite names.

use std::path::PathBuf;

use jurist_core::redact::is_secret_variable;

/// A variable of the environment; an empty one is none.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|var| !var.is_empty())
}

/// What programs inherit of the environment: nothing that could be a secret.
const HARMLESS: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "JURIST_EVALUATORS",
    "NODE_PATH",
    "SYSTEMROOT",
];

/// Variables that a program needs to find its way, and no others.
pub fn harmless_variables() -> impl Iterator<Item = (&'static str, String)> {
    HARMLESS.iter().filter_map(|name| Some((*name, variable(name)?)))
}

/// All variables of the environment.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars()
}

/// Values of variables whose names say that they are secret.
pub fn secrets() -> impl Iterator<Item = String> {
    std::env::vars().filter(|(name, _)| is_secret_variable(name)).map(|(_, value)| value)
}

/// Where replies are kept unless something else is said: the user's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let own = variable("JURIST_CACHE").map(PathBuf::from);
    let shared = || variable("XDG_CACHE_HOME").map(|variable| PathBuf::from(variable).join("jurist"));
    let home = || variable("HOME").map(|variable| PathBuf::from(variable).join(".cache/jurist"));
    own.or_else(shared).or_else(home)
}
