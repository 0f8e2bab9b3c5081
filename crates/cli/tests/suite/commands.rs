//! Whole commands in a sealed folder: what a user types, and everything that comes back.
//!
//! A scenario in `tests/commands/*.txt` writes files (`=== name`), runs commands (`$ jurist …`) and shows their
//! output, standard error last. Each file is a test of its own: `check_json` plays `check-json.txt`. `JURIST_BLESS=1`
//! writes the output anew: review the difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn run_line(line: &str, folder: &Path) -> String {
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
fn play_scenario(scenario: &str) -> String {
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
            played += &format!("{line}\n{}", run_line(command, folder.path()));
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

/// The lines of two texts: `-` stands before a line of the first one alone, `+` before a line of the second one alone.
/// Common lines are left out where no difference is near.
fn diff_lines(old: &str, new: &str) -> String {
    const CONTEXT: usize = 2;
    let old: Vec<&str> = old.split('\n').collect();
    let new: Vec<&str> = new.split('\n').collect();
    // How many lines the rests of both texts have in common, by where the rests begin.
    let mut n_common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            n_common[i][j] = match old[i] == new[j] {
                true => n_common[i + 1][j + 1] + 1,
                false => n_common[i + 1][j].max(n_common[i][j + 1]),
            };
        }
    }
    let (mut lines, mut i, mut j) = (Vec::new(), 0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && n_common[i][j + 1] <= n_common[i + 1][j]) {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    let is_near_difference = |place: usize| {
        let near = place.saturating_sub(CONTEXT)..(place + CONTEXT + 1).min(lines.len());
        lines[near].iter().any(|(mark, _)| *mark != ' ')
    };
    let mut text = String::new();
    for (place, (mark, line)) in lines.iter().enumerate() {
        if is_near_difference(place) {
            text += &format!("{mark} {line}\n");
        } else if !text.ends_with("…\n") {
            text += "…\n";
        }
    }
    text
}

fn scenario_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands")
}

fn check_scenario(name: &str) {
    let path = scenario_folder().join(format!("{}.txt", name.replace('_', "-")));
    let scenario = fs::read_to_string(&path).unwrap();
    let played = play_scenario(&scenario);
    if std::env::var_os("JURIST_BLESS").is_some() {
        fs::write(&path, &played).unwrap();
    } else if played != scenario {
        let differences = diff_lines(&scenario, &played);
        panic!("{}: - shown, + answered; JURIST_BLESS=1 accepts it:\n{differences}", path.display());
    }
}

macro_rules! scenarios {
    ($($name:ident),+ $(,)?) => {
        const LISTED: &[&str] = &[$(stringify!($name)),+];

        $(
            #[test]
            fn $name() {
                check_scenario(stringify!($name));
            }
        )+
    };
}

scenarios!(
    agents,
    agentv,
    align,
    braces,
    careless,
    check,
    check_json,
    ci,
    compare,
    convert,
    datasets,
    deferral,
    diff,
    drift,
    estimate,
    eval,
    exports,
    grade,
    hostile,
    import,
    intervals,
    judge,
    kept,
    left_out,
    lines,
    lint,
    live,
    migrate,
    odd,
    own_scale,
    private,
    promptfoo,
    promptfoo_values,
    ratings,
    records,
    regrade,
    reports,
    rows,
    score,
    side_by_side,
    start,
    statistics,
    trace,
    trust
);

#[test]
fn every_scenario_file_is_listed_as_a_test() {
    let names = fs::read_dir(scenario_folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let listed: BTreeSet<String> =
        LISTED.iter().map(|name| format!("{}.txt", name.replace('_', "-"))).collect();
    assert_eq!(files, listed, "each file of tests/commands is a name in `scenarios!`");
}

#[test]
fn a_difference_is_shown_with_the_lines_around_it() {
    let (old, new) = ("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\ng\n");
    assert_eq!(diff_lines(old, new), "…\n  b\n  c\n- d\n+ D\n  e\n  f\n+ g\n  \n");
    assert_eq!(diff_lines("a\n", "a"), "  a\n- \n");
    assert_eq!(diff_lines("", "a"), "- \n+ a\n");
}
