//! Long work on the threads of the async runtime, so that other tasks go on meanwhile.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs blocking work on this thread; the runtime moves the other tasks of the thread to another one. For work that is
/// short unless a hostile input makes it long.
pub fn block_in_place<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(test)]
    N_LONG.set(N_LONG.get() + 1);
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Longest text that is decoded on the thread that received it. Decoding and redacting takes at most about 200 ns a byte
/// (a list of short texts), so that others wait less than a millisecond; moving them to another thread takes some
/// microseconds, which every small request would pay.
const MAX_INLINE_BYTES: usize = 4 << 10;

/// Runs work whose time grows with a text: as [`block_in_place`], unless the text is short.
pub fn block_if_long<T>(n_bytes: usize, work: impl FnOnce() -> T) -> T {
    if n_bytes <= MAX_INLINE_BYTES { work() } else { block_in_place(work) }
}

#[cfg(test)]
thread_local! {
    /// How often this thread had work that is long.
    static N_LONG: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How often work was long enough that others must not wait for it.
#[cfg(test)]
pub(crate) fn count_long_work(work: impl FnOnce()) -> usize {
    let before = N_LONG.get();
    work();
    N_LONG.get() - before
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_go_on_while_one_blocks() {
        let (sender, receiver) = mpsc::channel();
        let wait = move || receiver.recv_timeout(Duration::from_secs(60));
        let waiting = tokio::spawn(async move { block_if_long(MAX_INLINE_BYTES + 1, wait) });
        let sending = tokio::spawn(async move { sender.send(1) });
        assert_eq!(waiting.await.unwrap(), Ok(1));
        sending.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_blocks() {
        assert_eq!((block_in_place(|| 1), block_if_long(usize::MAX, || 2)), (1, 2));
    }
}
