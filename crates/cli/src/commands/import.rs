use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use jurist_core::candidate::{ForeignResults, check_result_version, read_foreign_results};
use jurist_core::source::{Tree, to_yaml};
use jurist_core::syntax::estimate_json_bytes;
use jurist_engine::archive::{is_archive, read_archive};
use jurist_engine::load::{open_file, read_input};
use jurist_engine::record_file::RecordFile;
use serde_json::Value;

use super::answer_files::add_answers_of_files;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::reporting::printable_line;

/// Import the results of another evaluation tool
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads JSON, JSON lines, CSV and Parquet of promptfoo, DeepEval, ragas, Inspect
(also its .eval logs), OpenAI evals, Langfuse, LangSmith, Braintrust and AgentV.
The field names identify the tool. Rows without scores, such as datasets of
Hugging Face, become records.
--out writes records.jsonl (for `jurist grade`), grades.jsonl (the scores of the
other tool) and rubric.yaml (its criteria).

Examples:
  jurist import results.json
  jurist import results.json --out imported
  jurist score imported/rubric.yaml imported/grades.jsonl")]
pub struct ImportArgs {
    /// Result file of another tool
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder for the imported files; without it, only a summary is printed
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub fn run_import_command(args: &ImportArgs) -> anyhow::Result<CommandOutcome> {
    let results = read_results(&args.file)?;
    let mut out = render::stdout();
    match results.tool {
        Some(tool) => writeln!(out, "{} of {tool}", count(results.records.len(), "result"))?,
        None => writeln!(out, "{} without scores", count(results.records.len(), "record"))?,
    }
    let is_answered = |record: &&Value| record.get("response").or_else(|| record.get("trace")).is_some();
    let answered = results.records.iter().filter(is_answered).count();
    writeln!(out, "{answered} with an answer")?;
    for (criterion, scores) in scores_by_criterion(&results) {
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let criterion = printable_line(criterion);
        writeln!(out, "{criterion}: {}, mean {mean:.3}", count(scores.len(), "score"))?;
    }
    print_warnings(&results);
    if let Some(folder) = &args.out {
        write_results(folder, &results)?;
        if answered == 0 {
            render::print_note("no record has an answer; a suite reads such records as its `data`");
        }
    }
    Ok(CommandOutcome::Passed)
}

fn print_warnings(results: &ForeignResults) {
    for name in &results.left_out {
        render::print_warning(&format!("scores of `{name}` are not numbers from 0 to 1, and are left out"));
    }
    if !results.uneven_weights.is_empty() {
        let names = results.uneven_weights.join("`, `");
        render::print_warning(&format!("the weights of `{names}` differ between results; they count as 1"));
    }
    for field in &results.without_grades {
        render::print_warning(&format!("`{field}` of some results holds no score that can be read"));
    }
    if !results.unused.is_empty() {
        render::print_warning(&format!("not used: the fields `{}`", results.unused.join("`, `")));
    }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Largest archive or table; its rows are in memory.
const MAX_BYTES: u64 = 1 << 30;
/// Rows of a table.
const MAX_ROWS: usize = 10_000_000;

/// What the results of a file may take in memory once they are parsed.
const MAX_PARSED_BYTES: usize = 4_000_000_000;

fn check_parsed_bytes(n_bytes: usize) -> anyhow::Result<()> {
    anyhow::ensure!(n_bytes <= MAX_PARSED_BYTES, "it has more values than fit into memory; split it");
    Ok(())
}

/// A document of JSON as it is, and otherwise one value for each record.
fn read_results(path: &Path) -> anyhow::Result<ForeignResults> {
    if let Some(values) = read_binary_file(path)? {
        return read_foreign_results(values).with_context(|| format!("`{}`", path.display()));
    }
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let document = match is_json {
        true => {
            let text = read_input(path).with_context(|| format!("`{}`", path.display()))?;
            check_parsed_bytes(estimate_json_bytes(text.as_bytes()))
                .with_context(|| format!("`{}`", path.display()))?;
            serde_json::from_str::<Value>(&text).ok()
        }
        false => None,
    };
    let mut values = match document {
        Some(document) => vec![document],
        None => {
            let mut file = RecordFile::open_cases(path)?;
            let mut values = Vec::new();
            while let Some(record) = file.next_record()? {
                values.push(record.parse().map_err(|why| anyhow::anyhow!("{}: {why}", record.place()))?);
            }
            values
        }
    };
    add_answers_of_files(path, &mut values);
    read_foreign_results(values).with_context(|| format!("`{}`", path.display()))
}

/// Members of a log of Inspect that have its version: of one that has ended, and of any.
const LOG_HEADERS: [&str; 2] = ["header.json", "_journal/start.json"];

/// The rows of a Parquet table; `None` for any other file.
pub fn read_parquet_records(path: &Path) -> anyhow::Result<Option<Vec<Value>>> {
    let is_table = path.extension().is_some_and(|extension| extension == "parquet");
    if is_table { read_binary_file(path) } else { Ok(None) }
}

/// The records of an archive or a Parquet table, by the name of the file; `None` for any other file.
fn read_binary_file(path: &Path) -> anyhow::Result<Option<Vec<Value>>> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !["eval", "zip", "parquet"].contains(&extension) {
        return Ok(None);
    }
    let place = || format!("`{}`", path.display());
    let mut file = open_file(path).with_context(place)?;
    let size = file.metadata().with_context(place)?.len();
    if MAX_BYTES < size {
        bail!("`{}` has {size} bytes; at most {MAX_BYTES} are read", path.display());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).with_context(place)?;
    if extension == "parquet" {
        return read_parquet_file(bytes).with_context(place).map(Some);
    }
    // Logs of Inspect in JSON lines and JSON have the same name.
    if !is_archive(&bytes) {
        return Ok(None);
    }
    let is_sample = |name: &str| name.starts_with("samples/") && name.ends_with(".json");
    let is_header = |name: &str| LOG_HEADERS.contains(&name);
    let members = read_archive(&bytes, |name| is_sample(name) || is_header(name)).with_context(place)?;
    let (mut headers, mut samples) = (Vec::new(), Vec::new());
    // An archive of a megabyte may unpack to more than the memory of the machine.
    let n_bytes = members.iter().map(|member| estimate_json_bytes(&member.bytes)).sum();
    check_parsed_bytes(n_bytes).with_context(place)?;
    for member in members {
        let value: Value = serde_json::from_slice(&member.bytes)
            .with_context(|| format!("`{}` in `{}`", member.name, path.display()))?;
        if is_header(&member.name) { headers.push(value) } else { samples.push(value) }
    }
    check_result_version(&headers, "Inspect").with_context(place)?;
    if samples.is_empty() {
        bail!("`{}` holds no samples; a log of Inspect has them as `samples/….json`", path.display());
    }
    Ok(Some(samples))
}

#[cfg(feature = "parquet")]
fn read_parquet_file(bytes: Vec<u8>) -> anyhow::Result<Vec<Value>> {
    Ok(jurist_server::parquet::read_parquet_rows(bytes, MAX_ROWS)?)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet_file(_: Vec<u8>) -> anyhow::Result<Vec<Value>> {
    bail!("this program was built without Parquet, which reads at most {MAX_ROWS} rows")
}

fn scores_by_criterion(results: &ForeignResults) -> BTreeMap<&str, Vec<f64>> {
    let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for grade in &results.grades {
        if let (Some(criterion), Some(value)) = (grade["criterion"].as_str(), grade["value"].as_f64()) {
            scores.entry(criterion).or_default().push(value);
        }
    }
    scores
}

fn write_results(folder: &Path, results: &ForeignResults) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("`{}`", folder.display()))?;
    let tool = results.tool.unwrap_or_default();
    let scores = scores_by_criterion(results);
    let weight_of = |name: &str| results.weights.get(name).copied().unwrap_or(1.0);
    // Without any weight above 0 there would be nothing to average.
    let has_weight = scores.keys().any(|&name| 0.0 < weight_of(name));
    let criteria: Vec<Tree> = scores
        .keys()
        .map(|&name| {
            let about = format!("As `{name}` of {tool} scores it.");
            let weight = if has_weight { weight_of(name) } else { 1.0 };
            let criterion = Tree::map().with("name", name).with("description", about);
            criterion.with("scale", "unit").unless(1.0, "weight", weight)
        })
        .collect();
    let files = [
        ("records.jsonl", to_json_lines(&results.records)),
        ("grades.jsonl", to_json_lines(&results.grades)),
        ("rubric.yaml", to_yaml(&Tree::map().with("criteria", Tree::List(criteria.clone())))),
    ];
    for (name, text) in files {
        if text.is_empty() || (name == "rubric.yaml" && criteria.is_empty()) {
            continue;
        }
        let path = folder.join(name);
        if path.exists() {
            bail!("`{}` is there already", path.display());
        }
        std::fs::write(&path, text).with_context(|| format!("`{}`", path.display()))?;
        render::print_note(&format!("wrote `{}`", path.display()));
    }
    Ok(())
}

fn to_json_lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
