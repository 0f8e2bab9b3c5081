//! Threads that wait for the network, and the signals that stop a command.

use std::pin::{Pin, pin};

use anyhow::Context;
use jurist_engine::background::spawn_task;
use tokio::sync::watch;

/// Runs what waits for a network.
pub fn wait_for<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut ended = None;
    {
        let waiting = pin!(async { ended = Some(future.await) });
        block_on_threads(waiting)?;
    }
    ended.expect("the runtime returns when the future has ended")
}

/// Starts threads, and waits. It is not generic: each copy for a command would hold the loop of the runtime.
fn block_on_threads(waiting: Pin<&mut dyn Future<Output = ()>>) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(waiting);
    // Results of threads that still compute are not needed.
    runtime.shutdown_background();
    Ok(())
}

/// Listens from now on for an interrupt, and for what service managers send.
pub fn watch_stop_signals() -> anyhow::Result<watch::Receiver<bool>> {
    let stopped = listen_for_stop()?;
    let (stop, stopping) = watch::channel(false);
    spawn_task(async move {
        stopped.await;
        let _ = stop.send(true);
    });
    Ok(stopping)
}

#[cfg(unix)]
fn listen_for_stop() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Windows has no signal by which one process asks another to end: service managers send Ctrl+Break. After the console
/// is closed it waits a few seconds, and then ends the process.
#[cfg(windows)]
fn listen_for_stop() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
    let (mut interrupt, mut pause, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
    let (mut logoff, mut shutdown) = (ctrl_logoff()?, ctrl_shutdown()?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = pause.recv() => {}
            _ = close.recv() => {}
            _ = logoff.recv() => {}
            _ = shutdown.recv() => {}
        }
    })
}

/// Waits for the stop signal.
pub async fn wait_for_stop(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
