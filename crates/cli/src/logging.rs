use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use jurist_core::redact::Redactor;
use jurist_core::source::is_hidden_steering;
use jurist_engine::background::spawn_task;
use jurist_engine::load;
use jurist_server::{Collector, Exporter};
use tokio::sync::watch;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Logs and telemetry of commands that run for a long time.
#[derive(Debug, clap::Args)]
pub struct Logging {
    /// Log format; JURIST_LOG sets the level: error, warn, info, debug or trace
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum LogFormat {
    #[default]
    Text,
    Json,
}

impl Logging {
    /// Starts to write events to standard error, and to a collector if the environment names one.
    pub fn start(&self) -> anyhow::Result<Exporting> {
        let level_text = load::variable("JURIST_LOG").unwrap_or_else(|| "info".to_owned());
        let level: LevelFilter = level_text.parse().map_err(|_| {
            anyhow::anyhow!("JURIST_LOG is one of error, warn, info, debug, trace; not `{level_text}`")
        })?;
        // Messages of libraries are of little use, and may contain request bodies.
        let others = level.min(LevelFilter::WARN);
        let targets = Targets::new().with_default(others).with_target("jurist", level);
        let redactor = Redactor::new(load::secrets(), &[])?;
        let (telemetry, exporter) = collector(&redactor).map(Collector::open).unzip();
        let level_text = Targets::new().with_target("jurist", LevelFilter::INFO);
        let telemetry = telemetry.map(|telemetry| telemetry.with_filter(level_text));
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Clean(Arc::new(redactor)));
        let registry = tracing_subscriber::registry().with(telemetry);
        match self.log_format {
            LogFormat::Text => registry.with(layer.with_filter(targets)).init(),
            LogFormat::Json => registry.with(layer.json().with_filter(targets)).init(),
        }
        Ok(Exporting(exporter))
    }
}

/// The collector that the usual variables of OpenTelemetry name.
fn collector(redactor: &Redactor) -> Option<Collector> {
    let headers = load::variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    let header =
        |text: &str| text.split_once('=').map(|(name, value)| (name.trim().into(), value.trim().into()));
    Some(Collector {
        endpoint: load::variable("OTEL_EXPORTER_OTLP_ENDPOINT")?,
        headers: headers.split(',').filter_map(header).collect(),
        service: load::variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "jurist".to_owned()),
        redactor: redactor.clone(),
    })
}

/// Sends telemetry while a command runs.
#[derive(Debug)]
pub struct Exporting(Option<Exporter>);

impl Exporting {
    /// Exports while a command runs, and a moment longer for the rest.
    pub async fn export_during<T>(self, command: impl Future<Output = T>) -> T {
        let Some(exporter) = self.0 else { return command.await };
        let (stop, stopped) = watch::channel(false);
        let exporting = spawn_task(exporter.run(stopped));
        let ended = command.await;
        let _ = stop.send(true);
        let _ = tokio::time::timeout(Duration::from_secs(5), exporting).await;
        ended
    }
}

/// Standard error, without secrets and without anything that could be taken for another line.
#[derive(Debug, Clone)]
struct Clean(Arc<Redactor>);

impl<'a> MakeWriter<'a> for Clean {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Clean {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(self.line(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl Clean {
    fn line(&self, text: &str) -> String {
        let body = text.strip_suffix('\n').unwrap_or(text);
        let mut line = String::with_capacity(text.len() + 1);
        for letter in self.0.text(body).chars() {
            let is_line_break = matches!(letter, '\u{2028}' | '\u{2029}');
            if letter.is_control() || is_line_break || is_hidden_steering(letter) {
                line.extend(letter.escape_unicode());
            } else {
                line.push(letter);
            }
        }
        line + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line_and_holds_no_secret() {
        let clean = Clean(Arc::new(Redactor::new(["hunter2hunter2".to_owned()], &[]).unwrap()));
        let line = clean.line("name=a\n2026 INFO forged \u{1b}[31m\u{2066} key hunter2hunter2\n");
        assert_eq!(line, "name=a\\u{a}2026 INFO forged \\u{1b}[31m\\u{2066} key [redacted]\n");
    }
}
