use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use jurist_core::redact::Redactor;
use jurist_engine::load;
use jurist_server::{
    Access, App, BoundServer, ConnectionLimits, IngestLimits, Rate, ServerSettings, bind, join_link,
    run_worker,
};
use jurist_store::Region;

use tokio::sync::watch;

use super::monitor::region;
use crate::database::DatabaseArgs;
use crate::logging::Logging;
use crate::outcome::CommandOutcome;
use crate::runtime::{wait_for, wait_for_stop, watch_stop_signals};
use crate::worker_pool::{WorkerPoolArgs, worker_process_name};

/// Start the server: API, web pages, workers, monitors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist serve                  On this machine only, without accounts
  jurist serve --auth           With accounts; prints the administrator's link
  jurist serve --auth --address 0.0.0.0:8000 \\
      --public-url https://jurist.example.org
  jurist serve --store postgres://jurist@db/jurist --workers 0
                                With `jurist worker` on other machines

OpenTelemetry exporters send to http://127.0.0.1:8000/v1/traces.
The default monthly cap of a project is £50; `jurist spend cap` changes it.
Webhooks need JURIST_SECRET; e-mail needs `mail` in .jurist/config.yaml:
see `jurist docs money`.")]
pub struct ServeArgs {
    #[command(flatten)]
    place: DatabaseArgs,
    /// Address to listen on; an address that other machines can reach requires --auth
    #[arg(long, short, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    address: SocketAddr,
    /// Port to listen on; replaces that of the address
    #[arg(long, short, value_name = "PORT")]
    port: Option<u16>,
    /// Require accounts and API tokens
    #[arg(long)]
    auth: bool,
    /// Public URL of the server; used for links and cookies
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A reverse proxy sets X-Forwarded-For; used to rate-limit login attempts per client
    #[arg(long)]
    behind_proxy: bool,
    /// Largest request body in MiB, after decompression
    #[arg(long, value_name = "MIB", default_value_t = 32)]
    max_body: usize,
    /// Seconds without new spans after which a trace is complete
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle: u64,
    /// Seconds to wait for late spans after a trace has ended; batch exporters send every 5 s
    #[arg(long, value_name = "SECONDS", default_value_t = 7)]
    settle: u64,
    /// Days after which the contents of traces and judge replies are erased; scores stay [default: never]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    retention: Option<u32>,
    /// MiB of trace uploads processed at once; further requests get 429
    #[arg(long, value_name = "MIB", default_value_t = 128)]
    ingest_memory: usize,
    /// Trace uploads per second and token, or per address on a server without --auth
    #[arg(long, value_name = "N", value_parser = parse_ingest_rate)]
    ingest_rate: Option<f64>,
    /// Region of this server, such as eu; part of the ids of rubric versions
    #[arg(long, value_name = "NAME", value_parser = region, default_value = "local")]
    region: Region,
    /// Maximum number of sampled traces waiting to be judged, per project; further traces are not sampled
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    max_waiting: u64,
    #[command(flatten)]
    working: WorkerPoolArgs,
    #[command(flatten)]
    logging: Logging,
}

impl ServeArgs {
    fn limits(&self) -> IngestLimits {
        // Twice as many at once after a pause: exporters send in bursts.
        let rate = self.ingest_rate.filter(|ingest_rate| 0.0 < *ingest_rate);
        let rate = rate.map(|per_second| Rate { per_second, burst: 2.0 * per_second });
        IngestLimits {
            bytes: self.ingest_memory.saturating_mul(1024 * 1024),
            rate,
            ..IngestLimits::default()
        }
    }

    fn connection_limits(&self) -> ConnectionLimits {
        let limits = ConnectionLimits::default();
        if self.behind_proxy { limits.behind_proxy() } else { limits }
    }
}

fn parse_ingest_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && 0.0 < *rate);
    rate.ok_or_else(|| "a number above 0".to_owned())
}

pub fn run_serve_command(args: &ServeArgs) -> anyhow::Result<CommandOutcome> {
    let exporting = args.logging.start()?;
    wait_for(exporting.export_during(async {
        let stop = watch_stop_signals()?;
        let background = args.working.work()?;
        let settings = ServerSettings {
            access: if args.auth { Access::Accounts } else { Access::Open },
            public_url: args.public_url.clone(),
            behind_proxy: args.behind_proxy,
            max_body: args.max_body.saturating_mul(1024 * 1024),
            idle: Duration::from_secs(args.idle),
            settle: Duration::from_secs(args.settle),
            retention_days: args.retention,
            ingest: args.limits(),
            connections: args.connection_limits(),
            region: args.region.clone(),
            max_waiting: args.max_waiting,
            redactor: Redactor::new(load::secrets(), &background.settings.redact)?,
            work: background,
        };
        let store = args.place.open().await?;
        let app = App::new(store, settings).await?;
        let address = SocketAddr::new(args.address.ip(), args.port.unwrap_or(args.address.port()));
        let bound = bind(app.clone(), address).await?;
        let address = args.public_url.clone().unwrap_or_else(|| format!("http://{}", bound.address));
        let mut out = crate::render::stdout();
        writeln!(out, "Jurist serves \x1b[1m{address}\x1b[0m")?;
        writeln!(out, "  traces   {address}/v1/traces (OpenTelemetry), {address}/api/v1/traces")?;
        writeln!(out, "  database {}", app.store.place())?;
        if args.auth {
            tell_first_owner(&mut out, &app, &address).await?;
        }
        out.flush()?;
        serve_until_stopped(app, bound, &args.working, stop).await
    }))
}

/// Prints the invitation of the first administrator, as long as there is no administrator.
pub async fn tell_first_owner(out: &mut impl Write, app: &App, address: &str) -> anyhow::Result<()> {
    if let Some(link) = join_link(app, address).await? {
        writeln!(
            out,
            "  this server has no administrator yet; this link makes you its administrator (once, within 24 hours):"
        )?;
        writeln!(out, "  \x1b[1m{link}\x1b[0m")?;
    }
    Ok(())
}

/// Runs the HTTP server and the workers until a stop signal arrives.
pub async fn serve_until_stopped(
    app: App,
    bound: BoundServer,
    working: &WorkerPoolArgs,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<CommandOutcome> {
    let name = worker_process_name();
    let work = run_worker(
        app.worker_context.clone(),
        &name,
        working.n(),
        wait_for_stop(stop.clone()),
        working.drain(),
    );
    tokio::join!(bound.serve(wait_for_stop(stop)), work);
    app.store.close().await;
    Ok(CommandOutcome::Passed)
}
