mod suite_data;
mod target;
mod trace_filter;
mod upload;

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::dataset::{DatasetReference, MAX_DATASET_CASES};
use jurist_core::quantity::plural;
use jurist_engine::record_file::RecordFile;
use jurist_server::datasets::{
    CaseDifferenceKind, DatasetCaseView, DatasetExportFormat, DatasetVersionReceipt, DatasetVersionView,
    NewDatasetRequest, NewDatasetVersion,
};
use serde_json::Value as Json;

use super::import::read_parquet_records;
use crate::connection::{Reach, Reached};
use crate::outcome::CommandOutcome;
use crate::render::{self, printable};
use crate::runtime::wait_for;
pub use suite_data::{SuiteForRun, WantedSuite};
use target::DatasetBackend;
use trace_filter::TraceFilterArgs;
use upload::read_distinct_keys;

/// Cases that `show` lists.
const DEFAULT_CASES: usize = 20;

/// Manage datasets, which are versioned sets of cases
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist dataset add support cases.jsonl        Create a dataset, or add to it
  jurist dataset add support --traces 4bf92f    Add a trace, with the rubric
                                                that failed it
  jurist dataset add support --agent desk --verdict fail --since 2026-03-01
  jurist dataset show support@v2                Cases of a version
  jurist dataset diff support@v1 support@v3     Compare two versions
  jurist dataset export support:test --out test.jsonl
  jurist eval dataset:support                   Grade cases by their own rubrics
  jurist eval suite.yaml --data dataset:support@v3:test
  jurist dataset list --server https://jurist.example.org

A version never changes. Cases of one task are always in the same split.")]
pub struct DatasetArgs {
    #[command(flatten)]
    reach: Reach,
    #[command(subcommand)]
    what: DatasetSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum DatasetSubcommand {
    /// List all datasets
    #[command(after_help = "\
Examples:
  jurist dataset list
  jurist dataset list --archived
  jurist dataset list --server https://jurist.example.org")]
    List {
        /// Include archived datasets
        #[arg(long)]
        archived: bool,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Show versions and cases of a dataset
    #[command(after_help = "\
Examples:
  jurist dataset show support
  jurist dataset show support@v2:test --limit 100
  jurist dataset show support --case p2         One record as JSON")]
    Show {
        /// Dataset: NAME, NAME@v3 or NAME@v3:test
        #[arg(value_name = "NAME")]
        dataset: DatasetReference,
        /// Print the record of this case
        #[arg(long, value_name = "KEY")]
        case: Option<String>,
        /// Number of cases to list
        #[arg(long, value_name = "N", default_value_t = DEFAULT_CASES, conflicts_with = "case",
            value_parser = parse_case_limit)]
        limit: usize,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Add cases to a dataset, and create it if it does not exist
    Add(Box<DatasetAddArgs>),
    /// Remove cases from a dataset; earlier versions keep them
    #[command(after_help = "\
Examples:
  jurist dataset remove support p2
  jurist dataset remove support p2 p7 --note 'duplicates'")]
    Remove {
        /// Name of the dataset
        #[arg(value_name = "NAME")]
        name: String,
        /// Keys of cases
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<String>,
        /// Note of the new version
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Compare two versions
    #[command(after_help = "\
Examples:
  jurist dataset diff support@v2                Compare with the version before
  jurist dataset diff support@v1 support@v3")]
    Diff {
        /// The only version, compared with the one before it; or the old one of two
        #[arg(value_name = "NAME")]
        first: DatasetReference,
        /// The new version
        #[arg(value_name = "NAME")]
        second: Option<DatasetReference>,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a version to a file
    #[command(after_help = "\
Examples:
  jurist dataset export support > support.jsonl
  jurist dataset export support@v1:test --out test.parquet
  jurist dataset export support --format suite --out suite.json")]
    Export {
        /// Dataset: NAME, NAME@v3 or NAME@v3:test
        #[arg(value_name = "NAME")]
        dataset: DatasetReference,
        /// Format [default: by the extension of --out, otherwise jsonl]
        #[arg(long, value_name = "FORMAT")]
        format: Option<ExportedDataset>,
        /// File to write [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist dataset add support cases.jsonl --test-share 0.25
  jurist dataset add support more.jsonl --note 'answers of the new agent'
  jurist dataset add support --traces 4bf92f3577b3
  jurist dataset add support --agent desk --verdict fail --since 2026-03-01
  jurist dataset add support --task 'Coding agents'")]
struct DatasetAddArgs {
    /// Name of the dataset
    #[arg(value_name = "NAME")]
    name: String,
    /// Files of records: JSON lines, JSON, CSV, TSV or Parquet; `-` is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Traces to add, by id
    #[arg(long, value_name = "ID", num_args = 1..)]
    traces: Vec<String>,
    /// Annotation task whose items are added, by name or id
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Stored rubric that grades the cases, by name or version id [default: for traces, the rubric that failed
    /// them]
    #[arg(long, value_name = "RUBRIC")]
    rubric: Option<String>,
    /// The given cases replace all others
    #[arg(long)]
    replace: bool,
    /// Note of the new version
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Description of a new dataset
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Share of tasks in the split `test` of a new dataset [default: 0.2]
    #[arg(long, value_name = "SHARE")]
    test_share: Option<f64>,
    #[command(flatten)]
    filter: TraceFilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportedDataset {
    /// A record per line
    Jsonl,
    /// A table with a column per field
    Parquet,
    /// A suite that grades each case by its own rubric
    Suite,
}

fn parse_case_limit(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=100_000).contains(number));
    number.ok_or_else(|| "a number from 1 to 100000".to_owned())
}

impl DatasetArgs {
    async fn target(&self) -> anyhow::Result<DatasetBackend> {
        let is_new_allowed = matches!(self.what, DatasetSubcommand::Add(_));
        if let Some(url) = self.reach.missing_database().filter(|_| !is_new_allowed) {
            anyhow::bail!(
                "there is no database at `{url}`; set the database with --store, or its server with --server"
            );
        }
        match self.reach.open().await? {
            Reached::Store(store, project) => DatasetBackend::of_store(store, project),
            Reached::Server(remote) => Ok(DatasetBackend::Server(remote)),
        }
    }
}

pub fn run_dataset_command(args: &DatasetArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(async {
        let target = args.target().await?;
        let mut out = render::stdout();
        match &args.what {
            DatasetSubcommand::List { archived, json } => {
                list_all_datasets(&mut out, &target, *archived, *json).await?;
            }
            DatasetSubcommand::Show { dataset, case: Some(key), json, .. } => {
                let case = target.case(dataset, key).await?;
                let record =
                    if *json { serde_json::to_value(&case)? } else { case.record.unwrap_or_default() };
                writeln!(out, "{}", printable(&serde_json::to_string_pretty(&record)?))?;
            }
            DatasetSubcommand::Show { dataset, case: None, limit, json } => {
                show_dataset(&mut out, &target, dataset, *limit, *json).await?;
            }
            DatasetSubcommand::Add(new) => add_cases(&mut out, &target, new).await?,
            DatasetSubcommand::Remove { name, keys, note } => {
                let dataset =
                    target.find(name).await?.with_context(|| format!("there is no dataset `{name}`"))?;
                let change = NewDatasetVersion {
                    base: Some(dataset.newest.map_or(0, |version| version.number)),
                    note: note.clone(),
                    remove: keys.clone(),
                    ..NewDatasetVersion::default()
                };
                write_receipt(&mut out, name, &target.write(name, change, None).await?)?;
            }
            DatasetSubcommand::Diff { first, second, json } => {
                show_dataset_diff(&mut out, &target, first, second.as_ref(), *json).await?;
            }
            DatasetSubcommand::Export { dataset, format, out: path } => {
                export_to_file(&target, dataset, *format, path.as_deref()).await?;
            }
        }
        Ok(CommandOutcome::Passed)
    })
}

async fn list_all_datasets(
    out: &mut impl Write,
    target: &DatasetBackend,
    with_archived: bool,
    as_json: bool,
) -> anyhow::Result<()> {
    let all = target.list(with_archived).await?;
    if as_json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?);
    }
    if all.is_empty() {
        render::print_note("there are no datasets; `jurist dataset add NAME FILE` creates one");
    }
    let width = all.iter().map(|dataset| dataset.name.chars().count()).max().unwrap_or_default();
    for dataset in &all {
        let version = match &dataset.newest {
            Some(version) => format!("v{:<4} {}", version.number, describe_cases(version)),
            None => "no version yet".to_owned(),
        };
        let archived = if dataset.archived.is_some() { "  (archived)" } else { "" };
        let description = dataset.description.as_deref().unwrap_or_default();
        let line = format!("{:<width$}  {version}{archived}  {description}", dataset.name);
        writeln!(out, "{}", printable(line.trim_end()))?;
    }
    Ok(())
}

fn describe_cases(version: &DatasetVersionView) -> String {
    let n_cases = usize::try_from(version.n_cases).unwrap_or(usize::MAX);
    format!("{} ({} dev, {} test)", plural(n_cases, "case"), version.n_dev, version.n_test)
}

async fn show_dataset(
    out: &mut impl Write,
    target: &DatasetBackend,
    dataset: &DatasetReference,
    limit: usize,
    as_json: bool,
) -> anyhow::Result<()> {
    let page = target.cases(dataset, limit).await?;
    if as_json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&page)?)?);
    }
    let versions = target.versions(&dataset.name).await?;
    for version in &versions {
        let mark = if version.number == page.version { "*" } else { " " };
        let note = version.note.as_deref().unwrap_or_default();
        let line = format!(
            "{mark} v{:<4} {}  +{} ~{} -{}  {note}",
            version.number,
            describe_cases(version),
            version.n_added,
            version.n_changed,
            version.n_removed
        );
        writeln!(out, "{}", printable(line.trim_end()))?;
    }
    writeln!(out)?;
    let width = page.items.iter().map(|case| case.key.chars().count()).max().unwrap_or_default();
    for case in &page.items {
        let rubric = case.rubric.as_ref().map(|rubric| format!("  [{}]", rubric.name)).unwrap_or_default();
        let title = shorten_case_title(case);
        let line = format!("{:<width$}  {:<4}  {title}{rubric}", case.key, case.split.as_str());
        writeln!(out, "{}", printable(line.trim_end()))?;
    }
    if page.next.is_some() {
        render::print_note(&format!("the first {} are listed; --limit lists more", plural(limit, "case")));
    }
    Ok(())
}

fn shorten_case_title(case: &DatasetCaseView) -> String {
    let title = if case.is_erased { "(erased)" } else { case.title.as_deref().unwrap_or_default() };
    title.chars().take(80).collect()
}

async fn add_cases(
    out: &mut impl Write,
    target: &DatasetBackend,
    new: &DatasetAddArgs,
) -> anyhow::Result<()> {
    let mut records = Vec::new();
    for file in &new.files {
        read_case_records(file, &mut records)?;
    }
    // Before the dataset is created, which fixes its share for testing.
    read_distinct_keys(records.iter())?;
    let annotation_task = match &new.task {
        Some(task) => Some(target.find_task(task).await?),
        None => None,
    };
    let filter = Some(&new.filter).filter(|filter| filter.is_given());
    let has_cases =
        !records.is_empty() || !new.traces.is_empty() || annotation_task.is_some() || filter.is_some();
    if !has_cases && !new.replace {
        anyhow::ensure!(new.files.is_empty(), "the files have no records");
        anyhow::bail!("name files, --traces, a filter such as --agent, or --task to add cases from");
    }
    // Spaces around a name are no part of it.
    let existing = target.find(new.name.trim()).await?;
    if existing.is_some() && (new.description.is_some() || new.test_share.is_some()) {
        anyhow::bail!(
            "dataset `{}` exists; --description and --test-share are those of a new dataset",
            new.name
        );
    }
    let mut change = NewDatasetVersion {
        note: new.note.clone(),
        records,
        traces: new.traces.clone(),
        annotation_task,
        rubric: new.rubric.clone(),
        replace: new.replace,
        ..NewDatasetVersion::default()
    };
    let (name, base) = match existing {
        Some(dataset) => (dataset.name, dataset.newest.map_or(0, |version| version.number)),
        None => {
            target.check_sources(&change, filter).await?;
            let request = NewDatasetRequest {
                name: new.name.clone(),
                description: new.description.clone(),
                test_share: new.test_share,
            };
            let made = target.create(&request).await?;
            render::print_note(&format!(
                "dataset `{}` is new; {:.0} % of its tasks are for testing",
                printable(&made.name),
                100.0 * made.test_share
            ));
            (made.name, 0)
        }
    };
    change.base = Some(base);
    write_receipt(out, &name, &target.write(&name, change, filter).await?)
}

/// Reads all records of a file.
fn read_case_records(path: &Path, records: &mut Vec<Json>) -> anyhow::Result<()> {
    if let Some(rows) = read_parquet_records(path)? {
        records.extend(rows);
        return check_record_count(records.len());
    }
    let mut file = RecordFile::open_cases(path)?;
    while let Some(record) = file.next_record()? {
        let parsed = record.parse().map_err(|why| anyhow::anyhow!("{}: {why}", record.place()))?;
        records.push(parsed);
        check_record_count(records.len())?;
    }
    Ok(())
}

/// Before a file without an end fills the memory.
fn check_record_count(n_records: usize) -> anyhow::Result<()> {
    anyhow::ensure!(
        n_records <= MAX_DATASET_CASES,
        "there are more than {MAX_DATASET_CASES} records, the most that a version has"
    );
    Ok(())
}

fn write_receipt(out: &mut impl Write, name: &str, receipt: &DatasetVersionReceipt) -> anyhow::Result<()> {
    let n_cases = plural(usize::try_from(receipt.n_cases).unwrap_or(usize::MAX), "case");
    let reference = format!("{}@v{}", printable(name), receipt.version);
    if receipt.is_new {
        writeln!(
            out,
            "{reference}: {n_cases}; {} added, {} changed, {} removed, {} unchanged",
            receipt.n_added, receipt.n_changed, receipt.n_removed, receipt.n_unchanged
        )?;
    } else {
        writeln!(out, "{reference}: {n_cases}; nothing changed")?;
    }
    if receipt.n_skipped != 0 {
        render::print_note(&format!("{} skipped: they have no content", receipt.n_skipped));
    }
    Ok(())
}

async fn show_dataset_diff(
    out: &mut impl Write,
    target: &DatasetBackend,
    first: &DatasetReference,
    second: Option<&DatasetReference>,
    as_json: bool,
) -> anyhow::Result<()> {
    let is_split = |reference: &DatasetReference| reference.split.is_some();
    anyhow::ensure!(
        !is_split(first) && !second.is_some_and(is_split),
        "versions are compared with all their cases; leave out the split"
    );
    let (from, to) = match second {
        None => (None, first.version),
        Some(second) => {
            anyhow::ensure!(first.name == second.name, "two versions of one dataset are compared");
            anyhow::ensure!(first.version.is_some(), "name the old version, such as {}@v1", first.name);
            (first.version, second.version)
        }
    };
    let diff = target.diff(&first.name, from, to).await?;
    if as_json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&diff)?)?);
    }
    writeln!(
        out,
        "{} v{} → v{}: {} added, {} changed, {} removed",
        printable(&first.name),
        diff.from,
        diff.to,
        diff.n_added,
        diff.n_changed,
        diff.n_removed
    )?;
    for item in &diff.items {
        let line = match item.kind {
            CaseDifferenceKind::Added => format!("+ {}", item.key),
            CaseDifferenceKind::Removed => format!("- {}", item.key),
            CaseDifferenceKind::Changed => format!("~ {} ({})", item.key, item.fields.join(", ")),
        };
        // A key may be a hash, from which nobody recognises the case.
        let title = item.new.as_ref().or(item.old.as_ref()).map(shorten_case_title).unwrap_or_default();
        writeln!(out, "{}", printable(format!("{line}  {title}").trim_end()))?;
    }
    Ok(())
}

async fn export_to_file(
    target: &DatasetBackend,
    dataset: &DatasetReference,
    format: Option<ExportedDataset>,
    path: Option<&Path>,
) -> anyhow::Result<()> {
    let format = match format.unwrap_or_else(|| format_by_extension(path)) {
        ExportedDataset::Jsonl => DatasetExportFormat::Jsonl,
        ExportedDataset::Parquet => DatasetExportFormat::Parquet,
        ExportedDataset::Suite => DatasetExportFormat::Suite,
    };
    let Some(path) = path else {
        anyhow::ensure!(
            format != DatasetExportFormat::Parquet || !std::io::stdout().is_terminal(),
            "Parquet cannot be printed to a terminal; use --out cases.parquet"
        );
        let mut out = render::data_writer(std::io::stdout().lock());
        return target.export(dataset, format, &mut out).await;
    };
    let is_device = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if is_device {
        return export_to(target, dataset, format, path).await;
    }
    // Written to a second file first, so that a failure leaves the first one unchanged.
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = export_to(target, dataset, format, &part).await;
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
        return written;
    }
    std::fs::rename(&part, path).with_context(|| format!("cannot write `{}`", path.display()))
}

async fn export_to(
    target: &DatasetBackend,
    dataset: &DatasetReference,
    format: DatasetExportFormat,
    path: &Path,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write `{}`", path.display());
    let mut file = BufWriter::new(File::create(path).with_context(cannot)?);
    target.export(dataset, format, &mut file).await?;
    file.flush().with_context(cannot)
}

/// A suite is JSON or YAML, a table is Parquet, everything else is JSON lines.
fn format_by_extension(path: Option<&Path>) -> ExportedDataset {
    let extension = path.and_then(Path::extension).and_then(|extension| extension.to_str());
    match extension {
        Some("parquet") => ExportedDataset::Parquet,
        Some("json" | "yaml" | "yml") => ExportedDataset::Suite,
        _ => ExportedDataset::Jsonl,
    }
}
