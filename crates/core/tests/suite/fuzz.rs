//! No bytes make a dialect panic, hang or grow without bound.
//!
//! Each dialect gets random text, and its own fixtures with random damage. The seed is fixed in
//! `.cargo/config.toml`, so that every run tries the same; `make test-long` tries others.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jurist_core::diagnostic::{Code, Diagnostic, DiagnosticSeverity};
use jurist_core::dialect::{
    self, Dialect, LoadedSuite, ProjectEnvironment, ReadError, VariableExpansion, to_native,
};
use jurist_core::source::to_yaml;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn load(text: &str, file: &str, dialect: Option<Dialect>) -> LoadedSuite {
    let main = Path::new("/project").join(file);
    let read = |path: &Path| {
        if path == main { Ok(Arc::from(text)) } else { Err(ReadError::Missing) }
    };
    let world = ProjectEnvironment {
        root: PathBuf::from("/project"),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &dialect::refuse_scripts,
    };
    dialect::read_suite(&main, dialect, &world)
}

/// Whatever comes back must be showable, and what loaded must load again from its native form.
fn survive(text: &str, file: &str, dialect: Option<Dialect>) {
    let loaded = load(text, file, dialect);
    for diagnostic in loaded.diagnostics.iter() {
        let shown = diagnostic.to_json(&loaded.sources);
        assert!(shown["line"].as_u64().is_some_and(|n| 0 < n));
    }
    if let Some(suite) = &loaded.suite {
        let yaml = to_yaml(&to_native(suite));
        let again = load(&yaml, "again.yaml", Some(Dialect::Native));
        // Files that are not there are the damage itself.
        let is_fault = |diagnostic: &&Diagnostic| {
            diagnostic.severity == DiagnosticSeverity::Error && diagnostic.code != Code::Unreadable
        };
        let faults: Vec<&Diagnostic> = again.diagnostics.iter().filter(is_fault).collect();
        assert!(faults.is_empty() || suite.cases.is_empty(), "{text}\n---\n{yaml}\n{faults:#?}");
        if let Some(again) = &again.suite {
            assert_eq!(suite.cases, again.cases, "{text}\n---\n{yaml}");
        }
    } else {
        assert!(loaded.diagnostics.has_errors(), "nothing came of it, and nobody said why:\n{text}");
    }
}

fn seeds(dialect: Dialect) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialects").join(dialect.name());
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|dir| dir.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    texts.map(|text| fs::read_to_string(text).unwrap()).collect()
}

/// Pieces that have broken readers before.
const PIECES: [&str; 25] = [
    "null",
    "~",
    "[]",
    "{}",
    ".nan",
    "-.inf",
    "1e999",
    "-1",
    "0x1F",
    "\t",
    "\u{feff}",
    "\"\\ud800\"",
    "&a",
    "*a",
    "<<: *a",
    "!!str",
    "!x",
    "? ",
    "--- ",
    "|2\n",
    "{{ row.x }}",
    "{{ \"{{\" }}",
    "{{ env.HOME }}",
    "file://../x",
    "é\u{202e}🦀",
];

#[derive(Debug, Clone)]
enum Damage {
    Cut(usize, usize),
    Repeat(usize, usize),
    Insert(usize, usize),
    Swap(usize, usize),
    Dedent(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0..10_000_usize;
    prop_oneof![
        (at.clone(), 1..40_usize).prop_map(|(at, len)| Damage::Cut(at, len)),
        (at.clone(), 1..200_usize).prop_map(|(at, len)| Damage::Repeat(at, len)),
        (at.clone(), 0..PIECES.len()).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Damage::Swap(a, b)),
        at.prop_map(Damage::Dedent),
    ]
}

fn apply(text: &str, damage: &Damage) -> String {
    let chars: Vec<char> = text.chars().collect();
    let n = chars.len().max(1);
    let string = |chars: &[char]| chars.iter().collect::<String>();
    match *damage {
        Damage::Cut(at, len) => {
            let at = at % n;
            string(&chars[..at]) + &string(&chars[(at + len).min(chars.len())..])
        }
        Damage::Repeat(at, len) => {
            let at = at % n;
            let end = (at + len).min(chars.len());
            string(&chars[..end]) + &string(&chars[at..])
        }
        Damage::Insert(at, piece) => {
            let at = at % n;
            string(&chars[..at]) + PIECES[piece] + &string(&chars[at..])
        }
        Damage::Swap(a, b) => {
            let mut lines: Vec<&str> = text.lines().collect();
            if !lines.is_empty() {
                let (a, b) = (a % lines.len(), b % lines.len());
                lines.swap(a, b);
            }
            lines.join("\n")
        }
        Damage::Dedent(at) => {
            let n_lines = text.lines().count().max(1);
            let dedent = |(number, line): (usize, &str)| {
                if number == at % n_lines { line.trim_start().to_owned() } else { line.to_owned() }
            };
            text.lines().enumerate().map(dedent).collect::<Vec<_>>().join("\n")
        }
    }
}

fn fuzz(dialect: Dialect, n_cases: u32) {
    let seeds = seeds(dialect);
    let config = ProptestConfig { cases: n_cases, failure_persistence: None, ..ProptestConfig::default() };
    assert_ne!(config.rng_seed, RngSeed::Random, "`.cargo/config.toml` has a seed for all tests");
    let damaged = (0..seeds.len(), proptest::collection::vec(damage(), 1..6));
    proptest!(config.clone(), |((seed, damages) in damaged)| {
        let text = damages.iter().fold(seeds[seed].clone(), |text, it| apply(&text, it));
        survive(&text, "suite.yaml", Some(dialect));
    });
    proptest!(config, |(bytes in proptest::collection::vec(any::<u8>(), 0..300))| {
        let text = String::from_utf8_lossy(&bytes);
        survive(&text, "suite.yaml", Some(dialect));
        survive(&text, "suite.json", Some(dialect));
    });
}

#[test]
fn native_survives_anything() {
    fuzz(Dialect::Native, 1000);
}

#[test]
fn agentv_survives_anything() {
    fuzz(Dialect::Agentv, 1000);
}

#[test]
fn potato_survives_anything() {
    fuzz(Dialect::Potato, 1000);
}

#[test]
fn monitor_survives_anything() {
    fuzz(Dialect::Monitor, 1000);
}

fn is_refused(text: &str, code: &str) {
    let loaded = load(text, "suite.yaml", None);
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
    assert!(codes.contains(&code), "{codes:?}");
}

#[test]
fn bombs_are_defused() {
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        laughs += &format!("a{level}: &a{level} [{}]\n", vec![below; 9].join(", "));
    }
    is_refused(&laughs, "too-large");
    is_refused(&("[".repeat(100_000)), "too-deep");
    is_refused(
        &("a:\n".to_owned() + &(0..5000).map(|n| format!("{:1$}a:\n", "", n + 1)).collect::<String>()),
        "too-deep",
    );
    is_refused("evals: &a\n  - *a\n", "syntax");
}

#[test]
fn long_texts_are_not_repeated_without_end() {
    let long = "y".repeat(1 << 20);
    is_refused(&format!("text: &a {long}\nevals: [{}]\n", ["*a"; 200].join(", ")), "too-large");
    let suite = |prompt: &str, vars: &str| {
        format!(
            "prompts: ['{prompt}']\nproviders: [openai:gpt-5]\ntests:\n  - vars: {{long: {long}{vars}}}\n    \
             assert: [{{type: contains, value: a}}]\n"
        )
    };
    is_refused(&suite(&"{{ long }}".repeat(400), ""), "too-large");
    let nested = format!(", b: '{}', c: '{}'", "{{ long }}".repeat(20), "{{ b }}".repeat(20));
    is_refused(&suite("{{ c }}", &nested), "too-large");
    let combined = format!(", b: [{}]", vec!["x"; 1000].join(", "));
    is_refused(&suite("{{ b }}", &combined), "too-large");
    // A template that would overflow the stack of the parser.
    let chain = format!("{{% if long %}}{{% endif %}}{{{{ {}long }}}}", "not ".repeat(20_000));
    is_refused(&suite(&chain, ""), "unsupported");
}

#[test]
fn ten_megabytes_are_read() {
    let line = format!("    response: {}\n", "word ".repeat(200));
    let eval = |at: usize| format!("  - name: eval {at}\n{line}    rubric: It has words.\n");
    let text = "evals:\n".to_owned() + &(0..9500).map(eval).collect::<String>();
    assert!(10_000_000 < text.len(), "{}", text.len());
    assert_eq!(load(&text, "suite.yaml", None).suite.unwrap().cases.len(), 9500);
}

#[test]
fn ten_thousand_criteria_are_one_rubric() {
    let criterion = |at: usize| {
        format!(
            "  - {{name: c{at}, description: It has property {at}., requires: [c{}]}}\n",
            at.saturating_sub(1)
        )
    };
    let text = "criteria:\n  - {name: c0, description: It exists.}\n".to_owned()
        + &(1..10_000).map(criterion).collect::<String>();
    let suite = load(&text, "suite.yaml", None).suite.unwrap();
    assert_eq!(suite.rubrics["suite"].n_questions(), 10_000);
    // Ten thousand faults are ten thousand diagnostics, and come back as fast.
    let broken = text.replace("description", "descripton");
    assert_eq!(load(&broken, "suite.yaml", None).diagnostics.n_errors(), 10_000);
}

#[test]
fn faults_without_end_are_counted_and_not_kept() {
    let loaded = load(&("evals:\n".to_owned() + &"- a\n".repeat(20_000)), "suite.yaml", None);
    assert_eq!((loaded.diagnostics.n_errors(), loaded.diagnostics.n_left_out()), (20_000, 10_000));
}

#[test]
fn trees_and_groups_nest_a_hundred_deep() {
    let mut tree = String::from("tree:\n");
    for depth in 0..150 {
        let indent = " ".repeat(2 * depth + 2);
        tree += &format!("{indent}ask: Is it {depth}?\n{indent}no: {{score: 0}}\n{indent}yes:\n");
    }
    tree += &format!("{}score: 1\n", " ".repeat(302));
    let suite = load(&tree, "suite.yaml", None).suite.unwrap();
    assert_eq!(suite.rubrics["suite"].n_questions(), 150);
    survive(&tree, "suite.yaml", None);

    let mut groups = String::from("criteria:\n");
    for depth in 0..120 {
        let indent = " ".repeat(4 * depth);
        groups += &format!("{indent}- name: g{depth}\n{indent}  criteria:\n");
    }
    groups += &format!("{0}- name: leaf\n{0}  description: It is deep down.\n", " ".repeat(480));
    survive(&groups, "suite.yaml", None);
    assert!(load(&groups, "suite.yaml", None).suite.is_some());
}
