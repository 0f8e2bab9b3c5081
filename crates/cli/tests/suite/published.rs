//! The numbers of `docs/published.md`, from real data that is not part of this repository; skipped where it is
//! absent.
//!
//! A block is what a user types and everything that comes back; `JURIST_BLESS=1` writes the output anew. Each
//! number after `Published:` must be in the output of the block below it.

#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn run(line: &str, folder: &Path, data: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_jurist"));
    let path =
        std::env::join_paths([binary.parent().unwrap(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env_clear().env("PATH", path).env("DATA", data);
    let output = command.stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Numbers in a text, with how many places each was written to.
fn numbers(text: &str) -> Vec<(f64, usize)> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    let found = text.split(|text: char| !is_part(text)).map(|part| part.trim_end_matches('.'));
    found
        .filter_map(|found| {
            Some((found.parse().ok()?, found.split_once('.').map_or(0, |found| found.1.len())))
        })
        .collect()
}

#[test]
fn published_numbers_are_reproduced_by_one_command_each() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (page, data) = (root.join("docs/published.md"), root.join("../shared/data"));
    let there = |path: &Path| {
        if !path.exists() {
            println!("SKIPPED: {} is absent", path.display());
        }
        path.exists()
    };
    if !there(&data) || !there(&PathBuf::from("/usr/bin/jq")) {
        return;
    }
    let (data, folder) = (data.canonicalize().unwrap(), tempfile::tempdir().unwrap());
    let text = fs::read_to_string(&page).unwrap();
    let (mut played, mut published, mut missing) = (String::new(), Vec::new(), Vec::new());
    let (mut in_block, mut output, mut n_checked) = (false, String::new(), 0);
    for line in text.lines() {
        match line {
            "```console" => (in_block, output) = (true, String::new()),
            "```" if in_block => {
                in_block = false;
                let found = numbers(&output);
                let is_there = |(number, places): &(f64, usize)| {
                    found
                        .iter()
                        .any(|found| (found.0 - number).abs() <= 0.5 * 10_f64.powi(-(*places as i32)) + 1e-15)
                };
                n_checked += published.len();
                missing.extend(published.drain(..).filter(|published| !is_there(published)));
            }
            _ if in_block => {
                if let Some(command) = line.strip_prefix("$ ") {
                    let printed = run(command, folder.path(), &data);
                    played += &format!("{line}\n{printed}");
                    output += &printed;
                }
                continue;
            }
            _ => {
                if let Some(said) = line.strip_prefix("Published: ") {
                    // In `GPT-3.5` is no result.
                    published =
                        numbers(&said.replace("GPT-3.5", "").replace("macro F1", "").replace("and F1", ""));
                }
            }
        }
        played += &format!("{line}\n");
    }
    assert!(missing.is_empty(), "not reproduced: {missing:?}");
    assert!(40 < n_checked, "{n_checked}");
    if std::env::var_os("JURIST_BLESS").is_some() {
        fs::write(&page, &played).unwrap();
    } else {
        assert!(played == text, "docs/published.md is out of date; JURIST_BLESS=1 accepts this:\n{played}");
    }
}
