//! Variables of the environment; the only file that reads them, except for those that a suite names.

use std::path::PathBuf;

use jurist_core::redact::is_secret_variable;

/// A variable of the environment; an empty one is none.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
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

/// The same on Windows, in addition.
const HARMLESS_ON_WINDOWS: [&str; 17] = [
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
];

/// Variables that every program is started with. On Windows, Python reads and writes its standard streams and files in
/// the code page of the machine otherwise, and Jurist reads and writes UTF-8.
pub(crate) const PROGRAM_VARIABLES: &[(&str, &str)] =
    if cfg!(windows) { &[("PYTHONUTF8", "1")] } else { &[] };

/// Variables that a program needs to find its way, and no others.
pub fn harmless_variables() -> impl Iterator<Item = (&'static str, String)> {
    let of_system: &[&str] = if cfg!(windows) { &HARMLESS_ON_WINDOWS } else { &[] };
    let inherited = HARMLESS.iter().chain(of_system).filter_map(|name| Some((*name, variable(name)?)));
    inherited.chain(PROGRAM_VARIABLES.iter().map(|(name, value)| (*name, (*value).to_owned())))
}

/// All variables of the environment.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars()
}

/// Values of variables whose names say that they are secret.
pub fn secrets() -> impl Iterator<Item = String> {
    std::env::vars().filter(|(name, _)| is_secret_variable(name)).map(|(_, value)| value)
}

/// The user's folder.
pub(crate) fn home_folder() -> Option<PathBuf> {
    variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from)
}

/// The folders in which programs are found by their name.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// The folder of the reply cache by default: the user's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let own = variable("JURIST_CACHE").map(PathBuf::from);
    let shared = || variable("XDG_CACHE_HOME").map(|variable| PathBuf::from(variable).join("jurist"));
    let home = || home_folder().map(|home| home.join(".cache/jurist"));
    own.or_else(shared).or_else(home)
}
