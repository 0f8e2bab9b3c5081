//! Whole commands in a sealed folder: what a user types, and everything that comes back.
//!
//! A scenario in `tests/commands/*.txt` writes files (`=== name`), runs commands (`$ jurist …`) and shows their
//! output, standard error last. `JURIST_BLESS=1` writes the output anew: review the difference.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn run(line: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_jurist"));
    let path =
        std::env::join_paths([binary.parent().unwrap(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .expect("a shell runs");
    let mut shown =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => {}
        Some(code) => shown += &format!("[exit {code}]\n"),
        None => shown += "[killed]\n",
    }
    shown
}

/// Runs the commands of a scenario and returns it with the output they gave.
fn play(scenario: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (mut played, mut file) = (String::new(), None::<(String, String)>);
    let close = |file: &mut Option<(String, String)>| {
        if let Some((name, text)) = file.take() {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    };
    let mut in_output = false;
    for line in scenario.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            close(&mut file);
            file = Some((name.to_owned(), String::new()));
            in_output = false;
        } else if let Some(command) = line.strip_prefix("$ ") {
            close(&mut file);
            played += &format!("{line}\n{}", run(command, folder.path()));
            in_output = true;
            continue;
        } else if let Some((_, text)) = &mut file {
            *text += &format!("{line}\n");
        }
        if !in_output {
            played += &format!("{line}\n");
        }
    }
    played
}

#[test]
fn commands_answer_as_shown() {
    let bless = std::env::var_os("JURIST_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|dir| dir.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let scenario = fs::read_to_string(&path).unwrap();
        let played = play(&scenario);
        if bless {
            fs::write(&path, &played).unwrap();
        } else {
            assert!(played == scenario, "{}; JURIST_BLESS=1 accepts this:\n{played}", path.display());
        }
    }
}
