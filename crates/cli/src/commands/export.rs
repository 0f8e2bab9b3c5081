use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use jurist_core::grade::{Grade, MetadataFields};
use jurist_core::quantity::plural;
use jurist_core::report::{GradeRow, csv_head, csv_rows};
use jurist_store::grades::GradeFilter;

use crate::database::{DatabaseArgs, project_of};
use crate::grades::sources::{GradeSource, keep_task, sources};
use crate::outcome::CommandOutcome;
use crate::render;
use crate::runtime::wait_for;
use crate::stored_runs::grade_head_fields;

/// Export grades as a Parquet, CSV or JSON lines table
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist export latest --out grades.parquet
  jurist export before.json after.json --out grades.csv
  jurist export ratings.jsonl --format jsonl | jq .unit
  jurist export people --task 'Coding agents' --out ratings.csv
  jurist export --store postgres://jurist@db/jurist --out grades.parquet

FILE is read as by `jurist agree`. The columns are fixed; unknown values
are empty.")]
pub struct ExportArgs {
    /// Runs, grades, annotation exports or tables [default: the grades of traces in the database]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    place: DatabaseArgs,
    /// Project name or id in the database
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    project: Option<String>,
    /// Use only this annotation task; without it, the column `annotation_task` has the task's name
    #[arg(long, value_name = "NAME", requires = "files")]
    task: Option<String>,
    /// Output file; its extension selects the format
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Output format, if the extension does not select it
    #[arg(long, value_enum)]
    format: Option<GradeExportFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GradeExportFormat {
    #[cfg(feature = "parquet")]
    Parquet,
    Csv,
    Jsonl,
}

pub fn run_export_command(args: &ExportArgs) -> anyhow::Result<CommandOutcome> {
    let format = args.format.map_or_else(|| infer_export_format(args.out.as_deref()), Ok)?;
    match &args.out {
        None => {
            let out = std::io::stdout();
            anyhow::ensure!(
                !out.is_terminal() || matches!(format, GradeExportFormat::Csv | GradeExportFormat::Jsonl),
                "Parquet cannot be printed to a terminal; use --out grades.parquet"
            );
            args.write(&args.read_sources()?, GradeExportWriter::new(format, render::data_writer(out))?)?;
        }
        Some(path) => {
            // Read before the file is created, so that nothing is left behind if there are no grades.
            let sources = args.read_sources()?;
            let unwritable = || format!("cannot write `{}`", path.display());
            let file = std::fs::File::create(path).with_context(unwritable)?;
            let n = args.write(&sources, GradeExportWriter::new(format, file)?).with_context(unwritable)?;
            writeln!(render::stdout(), "{} in {}", plural(n, "grade"), path.display())?;
        }
    }
    Ok(CommandOutcome::Passed)
}

impl ExportArgs {
    /// The grades of the files; empty if the grades of the database are exported, which are read page by page.
    fn read_sources(&self) -> anyhow::Result<Vec<GradeSource>> {
        if self.files.is_empty() {
            anyhow::ensure!(
                self.place.exists(),
                "there is no database at `{}`; give a FILE",
                self.place.url()
            );
            return Ok(Vec::new());
        }
        let mut sources = sources(&self.files, &self.place)?;
        if let Some(task) = &self.task {
            keep_task(&mut sources, Some(task))?;
        }
        sources.iter_mut().for_each(GradeSource::expand_parts);
        Ok(sources)
    }

    /// How many there were.
    fn write(
        &self,
        sources: &[GradeSource],
        mut table: GradeExportWriter<impl Write + Send>,
    ) -> anyhow::Result<usize> {
        if self.files.is_empty() {
            return wait_for(self.write_stored(table));
        }
        let rows: Vec<GradeRow<'_>> = sources.iter().flat_map(GradeSource::rows).collect();
        for some in rows.chunks(BATCH) {
            table.add(some)?;
        }
        table.end()?;
        Ok(rows.len())
    }

    /// A page in memory at a time.
    async fn write_stored(&self, mut table: GradeExportWriter<impl Write + Send>) -> anyhow::Result<usize> {
        let store = self.place.open().await?;
        let project = project_of(&store, self.project.as_deref()).await?;
        let (mut n, mut n_erased, mut after) = (0, 0, None);
        loop {
            let page = store.whole_grades(project, &GradeFilter::default(), after.as_ref(), BATCH).await?;
            let there = page
                .items
                .iter()
                .filter_map(|(head, grade)| Some((grade.as_ref()?, grade_head_fields(head))));
            let there: Vec<(&Grade, MetadataFields)> = there.collect();
            let rows = there.iter().map(|(grade, fields)| GradeRow { grade, of: None, fields: Some(fields) });
            table.add(&rows.collect::<Vec<_>>())?;
            (n, n_erased) = (n + there.len(), n_erased + page.items.len() - there.len());
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        table.end()?;
        if 0 < n_erased {
            render::print_warning(&format!(
                "{} excluded: their texts were erased",
                plural(n_erased, "grade")
            ));
        }
        Ok(n)
    }
}

/// The format that the extension of the file names.
fn infer_export_format(path: Option<&Path>) -> anyhow::Result<GradeExportFormat> {
    let names: Vec<String> = GradeExportFormat::value_variants()
        .iter()
        .filter_map(|grade_export_format| {
            Some(grade_export_format.to_possible_value()?.get_name().to_owned())
        })
        .collect();
    let Some(path) = path else {
        anyhow::bail!("use --out FILE, or for standard output --format with one of {}", names.join(", "))
    };
    let ending = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    GradeExportFormat::from_str(ending, true).map_err(|_| {
        anyhow::anyhow!(
            "`{}` does not end in .{}; set the format with --format",
            path.display(),
            names.join(", .")
        )
    })
}

/// The number of rows that are in memory in two forms at the same time.
const BATCH: usize = 8_192;

/// A table that grows.
enum GradeExportWriter<W: Write + Send> {
    #[cfg(feature = "parquet")]
    Parquet(Box<jurist_server::parquet::ParquetGradeWriter<BufWriter<W>>>),
    Csv(BufWriter<W>),
    Jsonl(BufWriter<W>),
}

impl<W: Write + Send> GradeExportWriter<W> {
    fn new(format: GradeExportFormat, out: W) -> anyhow::Result<Self> {
        let mut out = BufWriter::new(out);
        Ok(match format {
            #[cfg(feature = "parquet")]
            GradeExportFormat::Parquet => {
                Self::Parquet(Box::new(jurist_server::parquet::ParquetGradeWriter::new(out)?))
            }
            GradeExportFormat::Csv => {
                out.write_all(csv_head().as_bytes())?;
                Self::Csv(out)
            }
            GradeExportFormat::Jsonl => Self::Jsonl(out),
        })
    }

    fn add(&mut self, rows: &[GradeRow<'_>]) -> anyhow::Result<()> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => table.add(rows)?,
            Self::Csv(out) => out.write_all(csv_rows(rows).as_bytes())?,
            Self::Jsonl(out) => {
                for row in rows {
                    serde_json::to_writer(&mut *out, row).map_err(std::io::Error::from)?;
                    out.write_all(b"\n")?;
                }
            }
        }
        Ok(())
    }

    fn end(self) -> anyhow::Result<()> {
        let mut out = match self {
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => table.end()?,
            Self::Csv(out) | Self::Jsonl(out) => out,
        };
        Ok(out.flush()?)
    }
}
