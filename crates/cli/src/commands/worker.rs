use std::io::Write;
use std::sync::Arc;

use jurist_server::{Metrics, WorkerContext, run_worker};

use crate::database::DatabaseArgs;
use crate::logging::Logging;
use crate::outcome::CommandOutcome;
use crate::runtime::{wait_for, wait_for_stop, watch_stop_signals};
use crate::worker_pool::{WorkerPoolArgs, worker_process_name};

/// Run jobs of a server that shares this database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist worker --store postgres://jurist@db/jurist
  jurist worker --workers 64

API keys come from this machine's environment, vendors from its
.jurist/config.yaml. At shutdown, running jobs finish and waiting jobs are
returned to the queue.")]
pub struct WorkerArgs {
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    working: WorkerPoolArgs,
    #[command(flatten)]
    logging: Logging,
}

pub fn run_worker_command(args: &WorkerArgs) -> anyhow::Result<CommandOutcome> {
    let exporting = args.logging.start()?;
    wait_for(exporting.export_during(async {
        let stop = watch_stop_signals()?;
        let store = args.place.open().await?;
        let context = WorkerContext::new(store.clone(), args.working.work()?, Arc::new(Metrics::default()));
        let mut out = crate::render::stdout();
        writeln!(out, "Jurist worker on {}, {} concurrent jobs", store.place(), args.working.n())?;
        out.flush()?;
        run_worker(
            context,
            &worker_process_name(),
            args.working.n(),
            wait_for_stop(stop),
            args.working.drain(),
        )
        .await;
        store.close().await;
        Ok(CommandOutcome::Passed)
    }))
}
