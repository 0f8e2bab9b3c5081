use std::io::Write;

use jurist_core::dialect::ProjectSettings;
use jurist_core::suite::Judge;
use jurist_engine::load;
use jurist_engine::model::resolve::Resolver;
use jurist_engine::model::vendors::VENDORS;
use jurist_engine::platform::find_program;
use jurist_engine::trust::{TrustRule, decide_trust, require_trust};

use crate::database::DatabaseArgs;
use crate::judging::cache;
use crate::outcome::CommandOutcome;
use crate::runtime::wait_for;
use crate::suite_loading::load_current_settings;

/// Show which keys, models, databases and programs are found
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist doctor
  jurist doctor --store postgres://jurist@db/jurist

Prints no secret, calls no model and changes nothing. Local model servers are
asked for the names of their models.")]
pub struct DoctorArgs {
    #[command(flatten)]
    database: DatabaseArgs,
}

/// One line of the report.
struct Finding {
    subject: String,
    text: String,
}

fn new_finding(subject: impl Into<String>, text: impl Into<String>) -> Finding {
    Finding { subject: subject.into(), text: text.into() }
}

pub fn run_doctor_command(args: &DoctorArgs) -> anyhow::Result<CommandOutcome> {
    let (settings, settings_finding) = match load_current_settings() {
        Ok(settings) => {
            let settings = decide_trust(settings, TrustRule::ListedFiles);
            let text = describe_settings(&settings);
            (settings, new_finding("settings", text))
        }
        Err(error) => (ProjectSettings::default(), new_finding("settings", format!("{error:#}"))),
    };
    let resolver = Resolver::new(settings.clone(), load::variable)?;
    // The search for local models would go through the proxy of a stranger.
    let resolver = match require_trust(&settings) {
        Ok(()) => resolver,
        Err(_) => resolver.without_requests(),
    };
    let sections = [
        ("Project", vec![settings_finding, describe_database(&args.database), describe_cache()]),
        ("Judge", describe_judges(&resolver, &settings.judge)),
        ("API keys", describe_keys(&settings)),
        ("Programs", describe_programs()),
    ];
    let mut out = crate::render::stdout();
    writeln!(out, "jurist {}", env!("CARGO_PKG_VERSION"))?;
    for (title, findings) in sections {
        writeln!(out, "\n{title}")?;
        for finding in findings {
            writeln!(out, "  {:<13}{}", finding.subject, finding.text)?;
        }
    }
    Ok(CommandOutcome::Passed)
}

fn describe_settings(settings: &ProjectSettings) -> String {
    let Some(file) = &settings.file else { return "no .jurist/config.yaml".to_owned() };
    match require_trust(settings) {
        Ok(()) => file.path.display().to_string(),
        Err(error) => error.to_string(),
    }
}

fn describe_database(database: &DatabaseArgs) -> Finding {
    let url = database.url();
    let text = match url.split_once("://") {
        // The part before the host may contain a password.
        Some((scheme, rest)) => {
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}://{host}")
        }
        None => match std::fs::metadata(&url) {
            Ok(metadata) => format!("{url} ({:.1} MB)", metadata.len() as f64 / 1e6),
            Err(_) => format!("{url} (created by the first run)"),
        },
    };
    new_finding("database", text)
}

fn describe_cache() -> Finding {
    let text = match cache() {
        Some(cache) => format!("{} ({} replies)", cache.folder().display(), cache.stats().replies),
        None => "none; set JURIST_CACHE or HOME".to_owned(),
    };
    new_finding("reply cache", text)
}

/// The judge of suites that name none, or the members of a panel, and the model of this machine.
fn describe_judges(resolver: &Resolver, judge: &Judge) -> Vec<Finding> {
    let local = wait_for(async { Ok(resolver.local().await?) });
    let describe = |model: Option<String>| match (model.as_deref(), &local) {
        (Some("auto"), Ok(local)) => format!("{local}, found on this machine{OF_SETTINGS}"),
        (Some("auto"), Err(error)) => error.to_string(),
        _ => describe_judge(resolver, &Judge { model, ..judge.clone() }),
    };
    let mut findings: Vec<Finding> =
        judge.panel.iter().map(|model| new_finding("panel", describe(Some(model.clone())))).collect();
    if findings.is_empty() {
        findings.push(new_finding("default", describe(judge.model.clone())));
    }
    let local = match &local {
        Ok(model) => format!("{model} (use it with --judge auto)"),
        Err(error) => error.to_string(),
    };
    findings.push(new_finding("local model", local));
    findings
}

/// What follows the name of a judge that no variable has chosen.
const OF_SETTINGS: &str = ", set in .jurist/config.yaml";

/// The model that a run would ask, and the variable of its key; or what is missing.
fn describe_judge(resolver: &Resolver, judge: &Judge) -> String {
    let endpoint = match resolver.resolve_endpoint(judge) {
        Ok(endpoint) => endpoint,
        Err(error) => return error.to_string(),
    };
    let origin = if judge.model.is_some() { OF_SETTINGS } else { "" };
    if let Some(reason) = endpoint.model.missing_key() {
        let origin = origin.trim_start_matches(", ");
        return if origin.is_empty() {
            reason.to_owned()
        } else {
            format!("{reason} (the judge is {origin})")
        };
    }
    let key = endpoint.http.as_ref().and_then(|http| http.endpoint().key_variable.as_ref());
    let key = key.map(|name| format!("; its key is {name}")).unwrap_or_default();
    format!("{}{origin}{key}", endpoint.name)
}

fn describe_keys(settings: &ProjectSettings) -> Vec<Finding> {
    let is_set = |name: &String| load::variable(name).is_some();
    let own = settings.vendors.iter().filter_map(|(vendor, own)| {
        let name = own.key.as_ref()?;
        let text = if is_set(name) { format!("{name} is set") } else { format!("not set ({name})") };
        Some(new_finding(vendor, text))
    });
    // Vendors that share a key, such as the two protocols of OpenAI, get one line.
    let is_first = |at: usize| !VENDORS[..at].iter().any(|vendor| vendor.keys == VENDORS[at].keys);
    let with_keys = VENDORS
        .iter()
        .enumerate()
        .filter(|(at, vendor)| !vendor.keys.is_empty() && is_first(*at))
        .map(|(_, vendor)| vendor);
    with_keys
        .map(|vendor| {
            let set = vendor.keys.iter().find(|name| load::variable(name).is_some());
            let text = match set {
                Some(name) => format!("{name} is set"),
                None => format!("not set ({})", vendor.keys.join(" or ")),
            };
            new_finding(vendor.name, text)
        })
        .chain(own)
        .collect()
}

/// Programs that checks, targets and the web pages can use.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("node", &["node"]),
    ("python", &["python3"]),
    ("browser", &["chromium", "google-chrome", "firefox"]),
    ("postgres", &["psql"]),
];

fn describe_programs() -> Vec<Finding> {
    PROGRAMS
        .iter()
        .map(|(subject, names)| {
            let program = names.iter().find_map(|name| find_program(name));
            let text = program.map_or_else(|| "not found".to_owned(), |place| place.display().to_string());
            new_finding(*subject, text)
        })
        .collect()
}
