//! Flags about work in the background.

use std::path::PathBuf;
use std::time::Duration;

use jurist_engine::load;
use jurist_engine::trust::{TrustRule, decide_trust, list_restricted_keys, require_trust};
use jurist_server::{Environment, Work};

use crate::render;
use crate::suite_loading::load_current_settings;

/// How work in the background is done; the same for every command that does some.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Work")]
pub struct WorkerPoolArgs {
    /// Number of concurrent jobs, each with up to 16 cases [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=4096))]
    workers: Option<u16>,
    /// Allow the programs, servers, vendors and addresses that submitted files name
    #[arg(long)]
    allow_commands: bool,
    /// Use all settings of .jurist/config.yaml (addresses, variables, programs) without `jurist trust`
    #[arg(long)]
    trust_settings: bool,
    /// Allow requests to private and local network addresses
    #[arg(long)]
    allow_private_network: bool,
    /// Do not store judge prompts and raw replies; grades and their reasons are stored
    #[arg(long)]
    no_exchanges: bool,
    /// Send an OpenTelemetry event per grade and verdict of runs to this OTLP endpoint
    #[arg(long, value_name = "URL")]
    emit: Option<String>,
    /// Seconds without a heartbeat after which another worker takes over a job
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    lease: u64,
    /// Seconds that running jobs may take to finish at shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 25)]
    drain: u64,
}

impl WorkerPoolArgs {
    pub fn n(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        self.workers.map_or_else(cores, usize::from)
    }

    pub fn work(&self) -> anyhow::Result<Work> {
        let cache: Option<PathBuf> = load::cache_folder();
        let stated = load_current_settings()?;
        let restricted = list_restricted_keys(&stated);
        let settings = decide_trust(stated, TrustRule::from_flag(self.trust_settings));
        require_trust(&settings)?;
        if !restricted.is_empty() && !settings.may_lower_prices() {
            let effects = restricted.iter().map(|key| format!("`{}` {}", key.name(), key.describe_effect()));
            render::print_note(&format!(
                ".jurist/config.yaml is not trusted: {}. To use all of it, read the file and run `jurist trust`, or pass \
                 --trust-settings. If the file changes, run `jurist trust` again.",
                effects.collect::<Vec<_>>().join(", ")
            ));
        }
        Ok(Work {
            settings,
            allow_commands: self.allow_commands,
            allow_private_network: self.allow_private_network,
            environment: Environment::new(load::variables()),
            cache,
            emit: self.emit.clone(),
            store_exchanges: !self.no_exchanges,
            lease: Duration::from_secs(self.lease),
        })
    }

    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain)
    }
}

/// Tells this process from all others.
pub fn worker_process_name() -> String {
    let host = jurist_engine::platform::host_name();
    let chance: u16 = u16::from_le_bytes(jurist_store::random());
    format!("{host}-{}-{chance:04x}", std::process::id())
}
