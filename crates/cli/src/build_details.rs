//! `jurist --version --verbose`: the contents of this program, for bug reports and for the verification of a release.

use std::io::Write;

use jurist_core::catalogue::{CHECKS, RECIPES};
use jurist_core::dialect::Dialect;
use jurist_core::rubric::presets;
use jurist_server::{EmbeddedPages, read_build_facts};
use jurist_store::{SCHEMA, read_sqlite_version};

use crate::outcome::CommandOutcome;
use crate::runtime::wait_for;

pub fn print_build_details() -> anyhow::Result<CommandOutcome> {
    let facts = read_build_facts();
    let sqlite = wait_for(async { Ok(read_sqlite_version().await?) })?;
    let name_or = |text: &'static str, absent: &'static str| if text.is_empty() { absent } else { text };
    let features = if cfg!(feature = "parquet") { "parquet" } else { "none" };
    let lines = [
        ("commit", name_or(facts.commit, "unknown (JURIST_COMMIT was not set at build time)").to_owned()),
        (
            "profile",
            format!(
                "{}, opt-level {}",
                name_or(facts.profile, "unknown"),
                name_or(facts.optimisation, "unknown")
            ),
        ),
        ("target", name_or(facts.target, "unknown").to_owned()),
        ("features", features.to_owned()),
        ("SQLite", sqlite),
        ("schema", format!("database {SCHEMA}")),
        ("web pages", describe_pages(facts.pages)),
        ("book", describe_book(facts.pages)),
        (
            "catalogue",
            format!(
                "{} checks, {} recipes, {} presets, {} dialects",
                CHECKS.len(),
                RECIPES.len(),
                presets::ALL.len(),
                Dialect::ALL.len()
            ),
        ),
    ];
    let mut out = crate::render::stdout();
    writeln!(out, "jurist {}", env!("CARGO_PKG_VERSION"))?;
    for (subject, text) in lines {
        writeln!(out, "{subject:<10} {text}")?;
    }
    Ok(CommandOutcome::Passed)
}

fn describe_pages(pages: EmbeddedPages) -> String {
    describe_files(pages.web_files, "files", pages.web_bytes, pages.are_inside)
}

fn describe_book(pages: EmbeddedPages) -> String {
    describe_files(pages.book_pages, "pages", pages.book_bytes, pages.are_inside)
}

fn describe_files(count: usize, unit: &str, bytes: usize, are_inside: bool) -> String {
    match (count, are_inside) {
        (0, true) => "none: built without Node.js".to_owned(),
        (0, false) => "none: `make web` and `make docs` build them".to_owned(),
        (_, true) => format!("{count} {unit}, {:.1} MB", bytes as f64 / 1e6),
        (_, false) => format!("{count} {unit}, {:.1} MB, read from the source tree", bytes as f64 / 1e6),
    }
}
