//! Work that takes long, away from the threads that answer others.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinError;

/// Runs blocking work on another thread and returns its result; an error if it panicked.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match Handle::current().runtime_flavor() {
        // A runtime of one thread decides the order of everything by itself, as simulations need it.
        RuntimeFlavor::CurrentThread => tokio::spawn(async move { work() }).await,
        _ => tokio::task::spawn_blocking(work).await,
    }
}
