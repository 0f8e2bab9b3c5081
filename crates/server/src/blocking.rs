//! Runs long computations outside of the threads that answer requests.

use jurist_engine::background::{finish_in_task, run_on_blocking_thread};
pub use jurist_store::blocking::{block_if_long, block_in_place};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinError;

/// Runs blocking work on another thread and returns its result; an error if it panicked.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match Handle::current().runtime_flavor() {
        // Simulations use a single-threaded runtime, so that the order of execution is deterministic.
        RuntimeFlavor::CurrentThread => finish_in_task(async move { work() }).await,
        _ => run_on_blocking_thread(work).await,
    }
}
