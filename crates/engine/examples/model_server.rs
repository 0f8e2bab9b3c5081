//! A model server for benches and for trying things without a key: answers every prompt in the shape that is asked.
//!
//! `model_server [LATENCY_MS]` prints its address and serves until it is killed.

#[path = "../tests/server/mod.rs"]
mod server;

use std::io::Write;
use std::time::Duration;

use server::{Act, Server};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let latency: u64 = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(0);
    let server = Server::start(move |_| match latency {
        0 => Act::Fit,
        _ => Act::Wait(Duration::from_millis(latency), Box::new(Act::Fit)),
    })
    .await;
    writeln!(std::io::stdout(), "{}", server.url)?;
    std::future::pending::<()>().await;
    Ok(())
}
