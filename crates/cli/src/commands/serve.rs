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

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::CommandOutcome;
use super::judging::wait_for;
use super::logging::Logging;
use super::monitor::region;
use super::store::DatabaseArgs;
use super::worker::{WorkerPoolArgs, worker_process_name};

/// Serve the API: take in traces, keep grades, and let others work with them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist serve                                 on this machine, for whoever is at it
  jurist serve --auth                          with accounts; the first start prints the owner's link
  jurist serve --auth --address 0.0.0.0:8000 --public-url https://jurist.example.org
  jurist serve --store postgres://jurist@db/jurist --workers 0
                                               with `jurist worker` on other machines

OpenTelemetry exporters send to http://127.0.0.1:8000/v1/traces.
A project may cost £50 a month unless `jurist spend cap` says otherwise. Webhooks need JURIST_SECRET, and e-mail
needs `mail` in .jurist/config.yaml: docs/money.md.")]
pub struct ServeArgs {
    #[command(flatten)]
    place: DatabaseArgs,
    /// Where to listen; an address that others can reach needs --auth
    #[arg(long, short, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    address: SocketAddr,
    /// Another port than the address has
    #[arg(long, short, value_name = "PORT")]
    port: Option<u16>,
    /// Accounts and tokens decide who may do what
    #[arg(long)]
    auth: bool,
    /// How people reach it; links and cookies follow it
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A proxy stands before it and adds the address of who asks to X-Forwarded-For; guessers are told apart by it
    #[arg(long)]
    behind_proxy: bool,
    /// The largest body of a request in MiB, once unpacked
    #[arg(long, value_name = "MIB", default_value_t = 32)]
    max_body: usize,
    /// Seconds after which a trace of which nothing more came is taken for whole
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle: u64,
    /// Seconds to wait after the last span or event before an ended trace is put together and judged; batch exporters
    /// send every 5 s
    #[arg(long, value_name = "SECONDS", default_value_t = 7)]
    settle: u64,
    /// Days after which what traces said is erased, with what judges said about it; numbers stay. Kept unless told
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    retention: Option<u32>,
    /// MiB of traces that may be on their way in at once; more is told to come again
    #[arg(long, value_name = "MIB", default_value_t = 128)]
    ingest_memory: usize,
    /// Requests a second that each token, or on an open server each address, may send traces with
    #[arg(long, value_name = "N")]
    ingest_rate: Option<f64>,
    /// Where this server stands, such as eu: part of the ids of rubric versions
    #[arg(long, value_name = "NAME", value_parser = region, default_value = "local")]
    region: Region,
    /// Sampled traces that may wait to be judged, in each project; more are not looked at
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

pub fn run_serve_command(args: &ServeArgs) -> anyhow::Result<CommandOutcome> {
    let exporting = args.logging.start()?;
    wait_for(exporting.beside(async {
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

/// How the first administrator comes to be, while there is none.
pub async fn tell_first_owner(out: &mut impl Write, app: &App, address: &str) -> anyhow::Result<()> {
    if let Some(link) = join_link(app, address).await? {
        writeln!(
            out,
            "  nobody administers this server yet; this link makes you its owner, once, within a day:"
        )?;
        writeln!(out, "  \x1b[1m{link}\x1b[0m")?;
    }
    Ok(())
}

/// Answers and works until it is told to stop.
pub async fn serve_until_stopped(
    app: App,
    bound: BoundServer,
    working: &WorkerPoolArgs,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<CommandOutcome> {
    let name = worker_process_name();
    let work =
        run_worker(app.workshop.clone(), &name, working.n(), wait_for_stop(stop.clone()), working.drain());
    tokio::join!(bound.serve(wait_for_stop(stop)), work);
    app.store.close().await;
    Ok(CommandOutcome::Passed)
}

/// Listens from now on for an interrupt, and for what service managers send.
pub fn watch_stop_signals() -> anyhow::Result<watch::Receiver<bool>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (stop, stopping) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        let _ = stop.send(true);
    });
    Ok(stopping)
}

/// Until it is told to stop.
pub async fn wait_for_stop(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
