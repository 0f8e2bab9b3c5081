//! What the documentation shows is what the program takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|dir| dir.unwrap().path());
    docs.filter(|doc| doc.extension().is_some_and(|extension| extension == "md"))
        .chain([root.join("README.md")])
        .collect()
}

/// Blocks of a language, with the line they begin at.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<(usize, &'t str)> {
    let fence = format!("```{language}\n");
    let found = text.match_indices(&fence).filter_map(|(at, _)| {
        let start = at + fence.len();
        let end = text[start..].find("```")? + start;
        Some((text[..at].lines().count() + 1, &text[start..end]))
    });
    found.collect()
}

#[test]
fn every_column_of_an_export_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/statistics.md");
    let text = fs::read_to_string(page).unwrap();
    let rows = jurist_core::report::COLUMNS
        .map(|column| format!("| `{}` | {} | {} |\n", column.name, column.kind, column.about));
    assert!(text.contains(&rows.concat()), "docs/statistics.md must hold:\n{}", rows.concat());
}

#[test]
fn every_yaml_block_of_the_documentation_is_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut n_blocks = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (line, block) in blocks(&text, "yaml") {
            // A block that shows what goes wrong says so in its first line.
            if block.lines().next().is_some_and(|line| line.contains("broken") || line.contains("warns")) {
                continue;
            }
            n_blocks += 1;
            // Settings are known by where they stand.
            let is_settings = block.lines().next().is_some_and(|line| line.contains(".jurist/config.yaml"));
            let file = folder.path().join(if is_settings { ".jurist/config.yaml" } else { "suite.yaml" });
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, block).unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_jurist"))
                .args(["check", "--format", "json"])
                .arg(&file)
                .output()
                .unwrap();
            fs::remove_file(&file).unwrap();
            // Files that a page only speaks of need not be there.
            let shown = String::from_utf8(output.stdout).unwrap();
            let faults: Vec<&str> = shown
                .lines()
                .filter(|line| line.contains("\"severity\":\"error\""))
                .filter(|line| {
                    !line.contains("\"code\":\"unreadable\"") && !line.contains("there is no such file")
                })
                .collect();
            assert!(faults.is_empty(), "{}:{line}: {faults:#?}\n{block}", page.display());
        }
    }
    assert!(10 < n_blocks, "{n_blocks}");
}

#[test]
fn every_field_of_a_record_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md");
    let text = fs::read_to_string(page).unwrap();
    let row = |row: &jurist_core::candidate::FieldRow| {
        let name = |field_name: &jurist_core::candidate::FieldName| match field_name.tool {
            "Jurist" => format!("`{}`", field_name.name),
            tool => format!("`{}` ({tool})", field_name.name),
        };
        let names: Vec<String> = row.names.iter().map(name).collect();
        format!("| {} | {} |\n", names.join(", "), row.about)
    };
    let rows: Vec<String> = jurist_core::candidate::RECORD_FIELDS.iter().map(row).collect();
    let table = format!("| name | is |\n| --- | --- |\n{}", rows.concat());
    assert!(text.contains(&table), "docs/checks.md must hold:\n{table}");
}
