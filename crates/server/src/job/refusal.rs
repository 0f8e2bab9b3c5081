//! Why a run or a monitor is refused.

use jurist_core::diagnostic::DiagnosticSeverity;
use jurist_core::dialect::LoadedSuite;
use jurist_core::plan::NoPlan;
use jurist_engine::model::resolve::Unresolved;

/// Why a run is refused.
#[derive(Debug, thiserror::Error)]
pub enum WorkRefusal {
    #[error("{0}")]
    Suite(String),
    #[error("{0}; the server was started without --allow-commands")]
    NotAllowed(String),
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    NoPlan(#[from] NoPlan),
    #[error(transparent)]
    NoJudge(#[from] Unresolved),
}

/// Every error of the files, with its line.
pub fn format_load_errors(loaded: &LoadedSuite) -> String {
    let errors =
        loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
    let lines = errors.take(20).map(|diagnostic| {
        let (place, source) =
            (loaded.sources.place(diagnostic.span), loaded.sources.get(diagnostic.span.file));
        format!("{}:{}: {}", source.path.display(), place.line, diagnostic.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}
