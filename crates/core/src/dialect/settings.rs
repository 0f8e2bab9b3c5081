//! Settings of a project: `.jurist/config.yaml`, and the part of `.agentv/config.yaml` that suites refer to.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::context::{Context, SETTINGS_FILE};
use super::fields::MappingReader;
use super::native::judge_fields;
use super::target_variables::expand_target_settings;
use crate::check::estimate_pattern_work;
use crate::diagnostic::{Code, Diagnostic, closest};
use crate::money::{Currency, Rates};
use crate::source::{FileId, SourceNode, SourceSpan};
use crate::suite::{CaseTarget, Judge};

/// What a project says once for all its suites.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectSettings {
    /// The judge of every suite that names none.
    pub judge: Judge,
    /// The verdict of a case that could not be graded because no API key, server or annotator was available.
    pub defer: DeferPolicy,
    /// Names for files, as `ref://name`.
    pub refs: BTreeMap<String, String>,
    /// Dollars per million tokens, by model with its vendor.
    pub prices: BTreeMap<String, ModelPrice>,
    /// Vendors that are not built in, or are elsewhere.
    pub vendors: BTreeMap<String, CustomVendor>,
    pub network: NetworkSettings,
    pub limits: RateLimitSettings,
    /// Patterns of texts that must not be stored, in addition to texts that look like keys.
    pub redact: Vec<String>,
    /// What currencies are in dollars, where caps are set in others.
    pub rates: Rates,
    /// How a server sends e-mail.
    pub mail: Option<MailSettings>,
    /// Where they were read from; a person trusts a file, not what it happens to say.
    pub file: Option<SettingsFile>,
    /// Whether the user of this machine trusts that file. Nothing in a file can say so.
    pub is_file_trusted: bool,
}

/// A settings file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    pub path: PathBuf,
    pub text: Arc<str>,
}

impl ProjectSettings {
    /// Whether the prices replace those that are known without them. A price that is too low would let a run exceed
    /// its cap, so prices of an untrusted file only raise known ones. The same holds for exchange rates and limits.
    /// Settings without a file are the user's own.
    pub fn may_lower_prices(&self) -> bool {
        self.is_file_trusted || self.file.is_none()
    }

    /// Keys by which a stranger's file could learn variables of the environment or start programs: where requests go,
    /// which variables they carry, and what is run. Values are left out, since they may hold such variables.
    pub fn keys_that_need_trust(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for (name, vendor) in &self.vendors {
            let parts = [
                ("base_url", vendor.base_url.as_deref().is_some_and(|address| !is_loopback(address))),
                ("key", vendor.key.is_some()),
                ("headers", !vendor.headers.is_empty()),
            ];
            let named = parts.into_iter().filter(|(_, is_set)| *is_set);
            keys.extend(named.map(|(key, _)| format!("vendors.{name}.{key}")));
        }
        let judge = &self.judge;
        let runs_program = judge.models().any(|model| model.starts_with("command:"));
        let parts = [
            ("judge.base_url", judge.base_url.as_deref().is_some_and(|address| !is_loopback(address))),
            ("judge", runs_program),
            ("network.ca", self.network.ca.is_some()),
            ("network.proxy", self.network.proxy.is_some()),
            ("mail", self.mail.is_some()),
        ];
        keys.extend(parts.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key.to_owned()));
        keys
    }
}

/// Whether an address is certainly of this machine. In doubt it is not: `localhost@elsewhere` is elsewhere.
pub fn is_loopback(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let port = |rest: &str| {
        rest.is_empty()
            || rest.strip_prefix(':').is_some_and(|port| port.chars().all(|letter| letter.is_ascii_digit()))
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| authority.strip_prefix(host).is_some_and(port))
}

/// How a run ends of which something was not graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeferPolicy {
    /// As if it had passed; the output says what was not graded.
    #[default]
    Allow,
    /// As if a grader had broken.
    Error,
}

impl DeferPolicy {
    pub const ALL: [(&'static str, Self); 2] = [("allow", Self::Allow), ("error", Self::Error)];
}

/// A server that takes e-mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSettings {
    pub host: String,
    pub port: Option<u16>,
    pub security: MailSecurity,
    pub user: Option<String>,
    /// The variable that holds the password.
    pub password: Option<String>,
    /// As `Jurist <jurist@example.org>`.
    pub from: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MailSecurity {
    /// The connection starts without TLS and switches to it before the first message.
    #[default]
    StartTls,
    Tls,
    /// Within a machine or a network that is trusted.
    Off,
}

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelPrice {
    pub input: f64,
    pub cached_input: f64,
    pub output: f64,
}

/// A server that speaks a known protocol.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CustomVendor {
    pub protocol: Option<String>,
    pub base_url: Option<String>,
    /// The variable that holds the key.
    pub key: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// Replies are asked for in pieces.
    pub stream: bool,
}

/// How the network is reached.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkSettings {
    /// A file with certificates to trust in addition to those of the system.
    pub ca: Option<String>,
    pub proxy: Option<String>,
}

/// What each vendor may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateLimitSettings {
    pub concurrency: Option<u32>,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
}

/// Names of the wire protocols, as settings give them.
pub const PROTOCOLS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

const AGENTV_FILE: &str = ".agentv/config.yaml";

/// The settings that hold for a file: those of the nearest folder above it.
pub(super) fn read_settings_for_file(cx: &Context<'_>, file: FileId) -> ProjectSettings {
    let found = cx.find_optional(SETTINGS_FILE, file).and_then(|file_id| cx.parse(file_id));
    found.map(|node| read_project_settings(cx, &node)).unwrap_or_default()
}

pub(super) fn read_project_settings(cx: &Context<'_>, node: &SourceNode) -> ProjectSettings {
    let Some(fields) = MappingReader::new(cx, node, "settings file") else {
        return ProjectSettings::default();
    };
    let judge = fields.fields("judge", "judge").and_then(judge_fields).unwrap_or_default();
    let settings = ProjectSettings {
        judge,
        defer: fields.word("defer", &DeferPolicy::ALL).unwrap_or_default(),
        refs: refs(&fields),
        prices: read_named_entries(&fields, "prices", "price", read_model_price),
        vendors: read_named_entries(&fields, "vendors", "vendor", read_custom_vendor),
        network: fields.fields("network", "network").map(network).unwrap_or_default(),
        limits: fields.fields("limits", "set of limits").map(read_rate_limits).unwrap_or_default(),
        redact: patterns(&fields),
        rates: read_currency_rates(&fields),
        mail: fields.fields("mail", "mail server").and_then(mail),
        file: Some(SettingsFile { path: cx.path_of(node.span.file), text: cx.text_of(node.span.file) }),
        is_file_trusted: false,
    };
    fields.finish();
    settings
}

/// Entries by name, each a mapping of its own.
fn read_named_entries<T>(
    fields: &MappingReader<'_>,
    key: &'static str,
    what: &'static str,
    read: impl Fn(MappingReader<'_>) -> Option<T>,
) -> BTreeMap<String, T> {
    let entries = fields.map(key).unwrap_or_default();
    let one = |entry: &crate::source::NodeEntry| {
        Some((entry.key.clone(), MappingReader::new(fields.cx, &entry.value, what).and_then(&read)?))
    };
    entries.iter().filter_map(one).collect()
}

/// Patterns that compile; the others are errors at their place.
fn patterns(fields: &MappingReader<'_>) -> Vec<String> {
    let cx = fields.cx;
    let one = |node: &SourceNode| {
        let pattern = cx.raw_text(node, "redact")?;
        if !cx.spend_pattern_work(estimate_pattern_work(&pattern), node.span) {
            return None;
        }
        match crate::redact::Redactor::new([], std::slice::from_ref(&pattern)) {
            Ok(_) => Some(pattern),
            Err(error) => {
                cx.error(Code::BadValue, node.span, format!("this is not a valid pattern: {error}"));
                None
            }
        }
    };
    fields.list("redact").unwrap_or_default().iter().filter_map(one).collect()
}

fn read_model_price(fields: MappingReader<'_>) -> Option<ModelPrice> {
    let need = |key: &'static str| {
        if !fields.has(key) {
            fields.missing(key);
        }
        fields.number_in(key, 0.0..=1e6)
    };
    let (input, output) = (need("input"), need("output"));
    let cached_input = fields.number_in("cached_input", 0.0..=1e6).or(input);
    fields.finish();
    Some(ModelPrice { input: input?, cached_input: cached_input?, output: output? })
}

fn read_custom_vendor(fields: MappingReader<'_>) -> Option<CustomVendor> {
    let known = PROTOCOLS.map(|protocol| (protocol, protocol));
    let headers = fields.map("headers").unwrap_or_default();
    let vendor = CustomVendor {
        protocol: fields.word("protocol", &known).map(str::to_owned),
        base_url: fields.text("base_url"),
        key: fields.text("key"),
        stream: fields.bool("stream").unwrap_or(false),
        headers: headers
            .iter()
            .filter_map(|entry| Some((entry.key.clone(), fields.cx.plain_text(&entry.value, "headers")?)))
            .collect(),
    };
    fields.finish();
    Some(vendor)
}

fn network(fields: MappingReader<'_>) -> NetworkSettings {
    let network = NetworkSettings { ca: fields.text("ca"), proxy: fields.text("proxy") };
    fields.finish();
    network
}

fn read_rate_limits(fields: MappingReader<'_>) -> RateLimitSettings {
    let count = |key: &'static str| {
        fields.integer(key, 1..=1_000_000_000).and_then(|integer| u32::try_from(integer).ok())
    };
    let limits = RateLimitSettings {
        concurrency: count("concurrency"),
        requests_per_minute: count("requests_per_minute"),
        tokens_per_minute: count("tokens_per_minute"),
    };
    fields.finish();
    limits
}

/// Dollars for one of each currency.
fn read_currency_rates(fields: &MappingReader<'_>) -> Rates {
    let cx = fields.cx;
    let one = |entry: &crate::source::NodeEntry| {
        let currency = entry.key.parse::<Currency>();
        let currency =
            currency.map_err(|bad| cx.error(Code::BadValue, entry.value.span, bad.to_string())).ok()?;
        let rate = entry
            .value
            .scalar()
            .and_then(crate::source::Scalar::as_number)
            .filter(|value| (1e-9..=1e6).contains(value));
        if rate.is_none() {
            let why = format!("a rate is how many dollars one {currency} is, such as 1.25");
            cx.error(Code::BadValue, entry.value.span, why);
        }
        Some((currency, rate?))
    };
    Rates::new(fields.map("rates").unwrap_or_default().iter().filter_map(one))
}

fn mail(fields: MappingReader<'_>) -> Option<MailSettings> {
    let known =
        [("starttls", MailSecurity::StartTls), ("tls", MailSecurity::Tls), ("none", MailSecurity::Off)];
    let need = |key: &'static str| {
        if !fields.has(key) {
            fields.missing(key);
        }
        fields.text(key)
    };
    let (host, from) = (need("host"), need("from"));
    let port = fields.integer("port", 1..=65_535).and_then(|integer| u16::try_from(integer).ok());
    let security = fields.word("security", &known).unwrap_or_default();
    let (user, password) = (fields.text("user"), fields.text("password"));
    fields.finish();
    Some(MailSettings { host: host?, port, security, user, password, from: from? })
}

/// What the AgentV configuration of the project says under `defaults`, for a suite that is another file.
pub(super) fn find_agentv_defaults(cx: &Context<'_>, suite: FileId) -> Option<SourceNode> {
    let file = cx.find_optional(AGENTV_FILE, suite).filter(|file| *file != suite)?;
    let node = cx.parse(file)?.get("defaults")?.clone();
    match node.text().and_then(|text| text.strip_prefix("file://")) {
        Some(path) => cx.parse(cx.find(path, node.span)?),
        None => Some(node),
    }
}

/// The `refs` of AgentV's own configuration.
pub(super) fn read_agentv_refs(cx: &Context<'_>, node: &SourceNode) -> BTreeMap<String, String> {
    let Some(fields) = MappingReader::new(cx, node, "configuration") else { return BTreeMap::new() };
    let refs = refs(&fields);
    fields.knows(&[
        "$schema",
        "eval_patterns",
        "required_version",
        "execution",
        "results",
        "repo_resolvers",
        "providers",
        "tests",
        "defaults",
        "projects",
        "dashboard",
        "studio",
        "hooks",
        "env_path",
        "env_from",
        "tags",
        "targets",
        "graders",
    ]);
    fields.finish();
    refs
}

/// Files of AgentV that say what the targets of a project are.
const TARGET_FILES: [&str; 3] = [AGENTV_FILE, ".agentv/providers.yaml", ".agentv/targets.yaml"];

/// The target of the project's AgentV files with this label or name. A name close to a known one gets a warning.
pub(super) fn named_target(cx: &Context<'_>, span: SourceSpan, name: &str) -> Option<CaseTarget> {
    let all = project_targets(cx, span);
    let known: Vec<&str> = all.iter().map(CaseTarget::name).collect();
    if !known.contains(&name)
        && let Some(meant) = closest(name, &known)
    {
        let message = format!("`{name}` is not a target of this project and is used as a model name");
        let help = format!("did you mean the target `{meant}`?");
        cx.report(Diagnostic::warning(Code::UnknownName, span, message).help(help));
    }
    let find = |name: &str| all.iter().find(|target| target.name() == name);
    let mut found = find(name)?;
    // A target may refer to another one. A circle of references ends after as many steps as there are targets.
    for _ in 0..all.len() {
        let Some(other) = found.config.get("use_target").and_then(serde_json::Value::as_str) else { break };
        let other = cx.expand_path(other, span);
        match find(&other) {
            Some(target) => found = target,
            None => {
                let message = format!("the target `{name}` refers to `{other}`, which does not exist");
                cx.report(Diagnostic::error(Code::UnknownName, span, message).suggest(
                    &other,
                    known.iter().copied(),
                    "targets of the project",
                ));
                return None;
            }
        }
    }
    let mut target = found.clone();
    expand_target_settings(cx, &mut target, span);
    Some(target)
}

/// The targets of the files above, nearest first.
pub(super) fn project_targets(cx: &Context<'_>, span: SourceSpan) -> Vec<CaseTarget> {
    let files = TARGET_FILES.iter().flat_map(|file| cx.find_above(file, span.file));
    let nodes: Vec<SourceNode> = files.filter_map(|file| cx.parse(file)).collect();
    let mut targets = Vec::new();
    for node in nodes {
        let lists = ["providers", "targets"].into_iter().filter_map(|key| node.get(key));
        for list in lists.chain(node.list().map(|_| &node)) {
            let path = list.text().and_then(|text| text.strip_prefix("file://"));
            let other = path.and_then(|path| cx.parse(cx.find(path, list.span)?));
            let items = other.as_ref().unwrap_or(list).list().unwrap_or_default();
            targets.extend(items.iter().filter_map(parse_agentv_target));
        }
    }
    targets
}

/// `{id, label, config}`, or as older files have it: `{name, provider, …}` with the rest next to them.
fn parse_agentv_target(node: &SourceNode) -> Option<CaseTarget> {
    let text = |key: &str| node.get(key).and_then(SourceNode::text).map(str::to_owned);
    let id = text("provider").or_else(|| text("id")).or_else(|| text("use_target"))?;
    let label = text("label").or_else(|| text("name"));
    let serde_json::Value::Object(mut config) = node.get("config").unwrap_or(node).to_json() else {
        return None;
    };
    config.retain(|key, _| !["id", "label", "name", "provider"].contains(&key.as_str()));
    Some(CaseTarget { id, label, config })
}

fn refs(fields: &MappingReader<'_>) -> BTreeMap<String, String> {
    let entries = fields.map("refs").unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| {
            let text = fields.cx.raw_text(&entry.value, "refs")?;
            Some((entry.key.clone(), fields.cx.expand_path(&text, entry.value.span)))
        })
        .collect()
}

/// The `file://…` that `ref://name` refers to.
pub(super) fn resolve_file_reference(cx: &Context<'_>, name: &str, span: SourceSpan) -> Option<String> {
    let mut known = read_settings_for_file(cx, span.file).refs;
    if let Some(node) = cx.find_optional(AGENTV_FILE, span.file).and_then(|file_id| cx.parse(file_id)) {
        known.extend(read_agentv_refs(cx, &node));
    }
    let found = known.get(name).cloned();
    if found.is_none() {
        cx.report(
            Diagnostic::error(Code::UnknownName, span, format!("nothing is called `{name}`"))
                .suggest(name, known.keys().map(String::as_str), "known names")
                .note(format!("names are under `refs:` in {AGENTV_FILE} or {SETTINGS_FILE}")),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_this_machine_needs_no_trust() {
        for address in
            ["http://localhost:8080/v1", "http://127.0.0.1", "localhost:11434", "http://[::1]:1/v1"]
        {
            assert!(is_loopback(address), "{address}");
        }
        for address in [
            "https://evil.example/v1",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "http://127.0.0.1:1@evil.example/",
            "http://127.0.0.1:x@evil.example/",
            "http://localhost\\@evil.example",
            "evil.example/localhost",
            "http://127.0.0.2:9112/v1",
            "",
        ] {
            assert!(!is_loopback(address), "{address}");
        }
    }
}
