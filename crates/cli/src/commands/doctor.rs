use std::io::Write;

use jurist_core::dialect::ProjectSettings;
use jurist_core::suite::Judge;
use jurist_engine::load;
use jurist_engine::model::resolve::Resolver;
use jurist_engine::model::vendors::VENDORS;
use jurist_engine::platform::find_program;
use jurist_engine::trust::require_trust;

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
            let text = describe_settings(&settings);
            (settings, new_finding("settings", text))
        }
        Err(error) => (ProjectSettings::default(), new_finding("settings", format!("{error:#}"))),
    };
    let resolver = Resolver::new(settings, load::variable)?;
    let sections = [
        ("Project", vec![settings_finding, describe_database(&args.database), describe_cache()]),
        ("Judge", describe_judges(&resolver)),
        ("API keys", describe_keys()),
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
        // Everything before the host may be a secret.
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

fn describe_judges(resolver: &Resolver) -> Vec<Finding> {
    let default = match resolver.resolve_endpoint(&Judge::default()) {
        Ok(endpoint) => match endpoint.model.missing_key() {
            Some(reason) => reason.to_owned(),
            None => endpoint.name,
        },
        Err(error) => error.to_string(),
    };
    let local = match wait_for(async { Ok(resolver.local().await?) }) {
        Ok(model) => format!("{model} (use it with --judge auto)"),
        Err(error) => error.to_string(),
    };
    vec![new_finding("default", default), new_finding("local model", local)]
}

fn describe_keys() -> Vec<Finding> {
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
            let found = names.iter().find_map(|name| find_program(name));
            let text = found.map_or_else(|| "not found".to_owned(), |place| place.display().to_string());
            new_finding(*subject, text)
        })
        .collect()
}
