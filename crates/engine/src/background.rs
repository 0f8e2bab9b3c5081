//! Starts tasks, and work that blocks its thread.
//!
//! tokio compiles its code for a task, 3 kB, again for each type of a future and of its result, and twice, for a
//! runtime with one thread and with several. The types of what is started here are boxed, so that there is one copy.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::{JoinError, JoinHandle};

/// As `tokio::spawn`.
pub fn spawn_task(future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    spawn_boxed_task(Box::pin(future))
}

fn spawn_boxed_task(future: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
    tokio::spawn(future)
}

/// Runs a future as a task, which goes on if the caller is cancelled; an error if it panicked.
pub async fn finish_in_task<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    let result = ResultSlot::default();
    let slot = result.clone();
    spawn_task(async move { slot.set(future.await) }).await?;
    Ok(result.take())
}

/// Runs work on a thread for work that blocks; an error if it panicked. As with `tokio::task::spawn_blocking`, it goes
/// on if the caller is cancelled.
pub async fn run_on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let result = ResultSlot::default();
    let slot = result.clone();
    spawn_boxed_work(Box::new(move || slot.set(work()))).await?;
    Ok(result.take())
}

fn spawn_boxed_work(work: Box<dyn FnOnce() + Send>) -> JoinHandle<()> {
    tokio::task::spawn_blocking(work)
}

/// Where a task leaves its result.
struct ResultSlot<T>(Arc<Mutex<Option<T>>>);

impl<T> Default for ResultSlot<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }
}

impl<T> Clone for ResultSlot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> ResultSlot<T> {
    fn set(&self, result: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    fn take(&self) -> T {
        let result = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.expect("a task that did not panic left its result")
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn results_come_back_and_a_panic_is_an_error() {
        assert_eq!(finish_in_task(async { 1 }).await.unwrap(), 1);
        assert_eq!(run_on_blocking_thread(|| "a".to_owned()).await.unwrap(), "a");
        let broken =
            finish_in_task(async { assert!(std::hint::black_box(false), "broken on purpose") }).await;
        assert!(broken.unwrap_err().is_panic());
        let broken =
            run_on_blocking_thread(|| assert!(std::hint::black_box(false), "broken on purpose")).await;
        assert!(broken.unwrap_err().is_panic());
    }

    #[tokio::test]
    async fn a_task_goes_on_when_its_caller_is_cancelled() {
        let (start, started) = oneshot::channel();
        let (go_on, wait) = oneshot::channel();
        let (finish, finished) = oneshot::channel();
        let caller = tokio::spawn(finish_in_task(async move {
            let _ = start.send(());
            let _ = wait.await;
            let _ = finish.send(2);
        }));
        started.await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        go_on.send(()).unwrap();
        assert_eq!(finished.await, Ok(2));
    }
}
