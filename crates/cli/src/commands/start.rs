use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use jurist_core::diagnostic::{Code, Diagnostic, DiagnosticSeverity};
use jurist_core::quantity::plural;
use jurist_core::redact::Redactor;
use jurist_core::suite::AnnotationTask;
use jurist_engine::load;
use jurist_server::annotate::{LINK_DAYS, Output, from_annotation, task_link};
use jurist_server::{Access, App, ServerSettings, bind};
use jurist_store::clock;

use super::serve::{serve_until_stopped, tell_first_owner};
use crate::database::DatabaseArgs;
use crate::logging::Logging;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::runtime::{wait_for, watch_stop_signals};
use crate::suite_loading::LoadingArgs;
use crate::worker_pool::WorkerPoolArgs;

/// Start an annotation server for a task file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist start config.yaml -p 8000    On this machine; annotators enter a name
  jurist start config.yaml --auth --host 0.0.0.0 \\
      --public-url https://annotate.example.org
                                      For others; prints an invitation link
  jurist start config.yaml --output answers/

CONFIG is a Potato file, or a native file with `annotation`. After a restart,
annotation continues: new rows of the data are added, and people who have begun
finish with the questions they began with.
Annotations are written to the output folder at once, one .jsonl file per
person. `jurist agree` and `jurist stats` read them.")]
pub struct StartArgs {
    /// Annotation file
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Port to listen on
    #[arg(long, short, value_name = "PORT", default_value_t = 8000)]
    port: u16,
    /// Address to listen on; an address that other machines can reach requires --auth
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Output folder for annotations; replaces `output` of the file
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Require accounts or invitation links
    #[arg(long)]
    auth: bool,
    /// Public URL of the server; used for links and cookies
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    #[command(flatten)]
    loading: LoadingArgs,
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    working: WorkerPoolArgs,
    #[command(flatten)]
    logging: Logging,
}

pub fn run_start_command(args: &StartArgs) -> anyhow::Result<CommandOutcome> {
    let Some(annotation) = load_annotation(args)? else { return Ok(CommandOutcome::BadInput) };
    let folder = choose_output_folder(args, &annotation);
    let exporting = args.logging.start()?;
    wait_for(exporting.export_during(async {
        let stop = watch_stop_signals()?;
        let background = args.working.work()?;
        let settings = ServerSettings {
            access: if args.auth { Access::Accounts } else { Access::Open },
            public_url: args.public_url.clone(),
            redactor: Redactor::new(load::secrets(), &background.settings.redact)?,
            work: background,
            ..ServerSettings::default()
        };
        let store = args.place.open().await?;
        let app = App::new(store, settings).await?;
        let (project, now) = (app.default_project, clock::current_time());
        let origin = std::path::absolute(&args.config)?.display().to_string();
        let by = (&app.settings.region, None);
        let (task, added) = from_annotation(&app.store, project, &annotation, Some(&origin), by, now).await?;
        if let Some(folder) = &folder {
            app.outputs.add(&app.store, project, &task, Output { folder: folder.clone() }).await?;
        }
        let bound = bind(app.clone(), SocketAddr::new(args.host, args.port)).await?;
        let address = args.public_url.clone().unwrap_or_else(|| format!("http://{}", bound.address));
        let progress = app.store.progress(project, task.id).await?;
        let mut out = render::stdout();
        writeln!(out, "{} at \x1b[1m{address}/annotate/{}\x1b[0m", render::printable(&task.name), task.id)?;
        let new = if 0 < added.n_there { format!(", {} of them new", added.n_new) } else { String::new() };
        let n_items = usize::try_from(progress.n_items).unwrap_or(usize::MAX);
        writeln!(
            out,
            "  {}{new}; {} so far",
            plural(n_items, "item"),
            format_answer_count(progress.n_submitted)
        )?;
        match &folder {
            Some(folder) => writeln!(out, "  answers go to {}", folder.display())?,
            None => writeln!(
                out,
                "  answers are stored in the database only: the file has no `output`, and there is no --output"
            )?,
        }
        let owner = format!("{address}/p/{}/annotate/{}", owner_project_name(&app).await?, task.id);
        writeln!(out, "  results: {owner}/results")?;
        writeln!(out, "  disputes: {owner}/disputes")?;
        writeln!(out, "  people: {owner}/people")?;
        if args.auth {
            tell_first_owner(&mut out, &app, &address).await?;
            let fragment = task_link(&app.store, project, &task, None, now).await?;
            writeln!(
                out,
                "  send this link to annotators; they enter their name. Any number of people can use it, for {}:",
                plural(LINK_DAYS, "day")
            )?;
            writeln!(out, "  \x1b[1m{address}/join#{fragment}\x1b[0m")?;
        } else {
            writeln!(out, "  open it on this machine, enter a name and begin")?;
        }
        out.flush()?;
        serve_until_stopped(app, bound, &args.working, stop).await
    }))
}

/// The name of the project that the task is in, as addresses have it.
async fn owner_project_name(app: &App) -> anyhow::Result<String> {
    let projects = app.store.projects().await?;
    let default_project = projects.into_iter().find(|project| project.id == app.default_project);
    Ok(default_project.map_or_else(|| app.default_project.to_string(), |project| project.name))
}

fn format_answer_count(n: u64) -> String {
    plural(usize::try_from(n).unwrap_or(usize::MAX), "answer")
}

/// The annotation task of the file; otherwise everything wrong with it is printed.
///
/// Missing data is a warning when a file is checked, and an error here.
fn load_annotation(args: &StartArgs) -> anyhow::Result<Option<AnnotationTask>> {
    let loaded = load::load_suite(&args.config, args.loading.options());
    let mut diagnostics: Vec<Diagnostic> = loaded.diagnostics.into_sorted();
    diagnostics.retain(|diagnostic| diagnostic.severity != DiagnosticSeverity::Advice);
    for diagnostic in &mut diagnostics {
        if diagnostic.code == Code::Unreadable {
            diagnostic.severity = DiagnosticSeverity::Error;
        }
    }
    render::print_diagnostics(&diagnostics, &loaded.sources)?;
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error) {
        return Ok(None);
    }
    let Some(annotation) = loaded.suite.and_then(|suite| suite.annotation) else {
        anyhow::bail!(
            "`{}` is not an annotation file: it has no `annotation_schemes`",
            args.config.display()
        );
    };
    if annotation.rows.is_empty() {
        anyhow::bail!("`{}` has no data: list files in `data_files`", args.config.display());
    }
    Ok(Some(annotation))
}

/// The folder next to the task file by default.
fn choose_output_folder(args: &StartArgs, annotation: &AnnotationTask) -> Option<PathBuf> {
    if let Some(format) =
        annotation.output_format.as_deref().filter(|output_format| !["jsonl", "json"].contains(output_format))
    {
        render::print_warning(&format!(
            "annotations are written as JSON lines; export `{format}` from the page"
        ));
    }
    let config_folder = args.config.parent().unwrap_or(Path::new(""));
    args.output
        .clone()
        .or_else(|| annotation.output_path.as_ref().map(|output_path| config_folder.join(output_path)))
}
