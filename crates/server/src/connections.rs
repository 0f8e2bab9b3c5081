//! Limits of client connections: number and duration.
//!
//! A client that sends nothing, or half a request, holds a file handle. The database needs handles too, so there are
//! fewer connections than handles, few per address, and all of them have time limits.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use futures_util::{StreamExt, stream};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use jurist_engine::background::spawn_task;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, Sleep};
use tower::ServiceExt;

use crate::credential::client_network;
use crate::error::{ApiError, BodyMemoryFull};
use crate::ingest::count_decoding;
use crate::metrics::{ConnectionRefusal, Metrics};

/// Limits of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Most connections in total.
    pub connections: usize,
    /// Most connections from one address; all clients behind a proxy share one.
    pub per_address: usize,
    /// Time limit for the head of a request, and between two requests.
    pub head_time: Duration,
    /// Time limit between two parts of a body, and for a client to read a part of the response.
    pub body_gap: Duration,
    /// Time limit for a whole body, plus one second per KiB.
    pub body_time: Duration,
    /// Time limit for the response after the body has arrived.
    pub request_time: Duration,
}

/// File handles that are reserved for the database, logs and calls to judges.
const RESERVED_FILES: usize = 256;

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self::for_open_files(max_open_files())
    }
}

impl ConnectionLimits {
    /// The limits for a process that may open so many files.
    pub fn for_open_files(max_open_files: usize) -> Self {
        let spare = max_open_files.saturating_sub(RESERVED_FILES);
        let connections = spare.max(max_open_files / 2).clamp(8, 10_000);
        Self {
            connections,
            per_address: (connections / 3).max(4),
            head_time: Duration::from_secs(30),
            body_gap: Duration::from_secs(30),
            body_time: Duration::from_secs(60),
            request_time: Duration::from_secs(300),
        }
    }

    /// Limits behind a proxy, where all clients have the same address.
    pub fn behind_proxy(self) -> Self {
        Self { per_address: self.connections, ..self }
    }
}

/// Windows has no limit for one process that a server would reach; with so many files, connections have their own.
const MAX_FILES_OF_WINDOWS: usize = 16_384;

/// The soft limit of open files of this process on Linux; elsewhere on Unix the smallest common limit.
fn max_open_files() -> usize {
    if cfg!(windows) {
        return MAX_FILES_OF_WINDOWS;
    }
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    soft.unwrap_or(256)
}

/// Serves connections until the stop signal, then until all requests in progress are answered.
pub async fn serve_connections(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    metrics: Arc<Metrics>,
    mut stopped: watch::Receiver<bool>,
) {
    let slots = Arc::new(Slots {
        all: Arc::new(Semaphore::new(limits.connections)),
        by_address: Mutex::default(),
        per_address: limits.per_address,
    });
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = wait_until_stopped(&mut stopped) => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // No file handle is left, or the client has disconnected.
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        match slots.take(peer.ip()) {
            Ok(slot) => {
                let serving = serve_connection(stream, peer, router.clone(), limits, stopped.clone());
                spawn_task(async move {
                    serving.await;
                    drop(slot);
                });
            }
            Err(refusal) => {
                metrics.connection_refused(refusal);
                refuse(&stream);
            }
        }
    }
    drop(listener);
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = slots.all.acquire_many(all).await;
}

/// Waits for the stop signal; also returns if its sender is dropped.
async fn wait_until_stopped(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
}

/// Sends a 503 with `Retry-After` without waiting for the client to read it.
fn refuse(stream: &TcpStream) {
    let answer = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let _ = stream.try_write(answer);
}

async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    limits: ConnectionLimits,
    mut stopped: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request.map(|body| limit_body_time(body, limits)))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .serve_connection(TokioIo::new(WriteLimit::new(stream, limits.body_gap)), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = wait_until_stopped(&mut stopped) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection failed");
    }
}

/// A connection whose client has to read: a write that makes no progress for `limit` ends the connection.
#[derive(Debug)]
struct WriteLimit<S> {
    stream: S,
    limit: Duration,
    /// The deadline of the write that waits for the client.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteLimit<S> {
    fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, deadline: None }
    }

    /// Starts the deadline with the first attempt that has to wait, and ends it with the first that does not.
    fn check<T>(
        &mut self,
        attempt: Poll<io::Result<T>>,
        context: &mut std::task::Context<'_>,
    ) -> Poll<io::Result<T>> {
        if attempt.is_ready() {
            self.deadline = None;
            return attempt;
        }
        let limit = self.limit;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteLimit<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check(attempt, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.check(attempt, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_flush(context);
        self.check(attempt, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_shutdown(context);
        self.check(attempt, context)
    }
}

/// Adds time limits to a body; a slower body ends with [`io::ErrorKind::TimedOut`].
fn limit_body_time(body: Body, limits: ConnectionLimits) -> Body {
    if http_body::Body::is_end_stream(&body) {
        return body;
    }
    let state = (body.into_data_stream(), Instant::now() + limits.body_time);
    let chunks = stream::unfold(Some(state), move |state| async move {
        let (mut chunks, mut deadline) = state?;
        let until = deadline.min(Instant::now() + limits.body_gap);
        match tokio::time::timeout_at(until, chunks.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(chunk))) => {
                // A large body may take long, but not with a few bytes at a time.
                deadline += Duration::from_secs_f64(chunk.len() as f64 / 1024.0);
                Some((Ok(chunk), Some((chunks, deadline))))
            }
            Ok(Some(Err(error))) => Some((Err(io::Error::other(error)), None)),
            Err(_) => Some((Err(io::Error::from(io::ErrorKind::TimedOut)), None)),
        }
    });
    Body::from_stream(chunks.fuse())
}

/// A body up to this size always has room: all connections together need 640 MB for theirs.
pub const SMALL_BODY: usize = 64 << 10;

/// Bytes of bodies in memory beyond [`SMALL_BODY`] of each. A kilobyte of a compressed body is a megabyte here, and
/// its sender may take its time with the end of it.
#[derive(Debug)]
pub struct BodyMemory {
    most: usize,
    used: AtomicUsize,
}

/// What one request has of it, until it is answered.
#[derive(Debug)]
pub struct BodyShare {
    memory: Arc<BodyMemory>,
    own: AtomicUsize,
}

impl BodyMemory {
    pub fn new(most: usize) -> Self {
        Self { most, used: AtomicUsize::new(0) }
    }
}

impl BodyShare {
    pub fn new(memory: &Arc<BodyMemory>) -> Arc<Self> {
        Arc::new(Self { memory: Arc::clone(memory), own: AtomicUsize::new(0) })
    }

    /// The body, which ends with an error where there is no room for it.
    pub fn count(self: &Arc<Self>, body: Body) -> Body {
        if http_body::Body::is_end_stream(&body) {
            return body;
        }
        let share = Arc::clone(self);
        Body::from_stream(body.into_data_stream().map(move |chunk| {
            let chunk = chunk?;
            share.grow(chunk.len()).map_err(axum::Error::new)?;
            Ok::<_, axum::Error>(chunk)
        }))
    }

    /// Counts what the body that was read takes once it is decoded, as far as that is unusually much.
    pub fn admit_decoding(&self, decoded_bytes: usize) -> Result<(), ApiError> {
        let more = count_decoding(decoded_bytes, self.own.load(Ordering::Relaxed))?;
        Ok(self.grow(more)?)
    }

    fn grow(&self, n: usize) -> Result<(), BodyMemoryFull> {
        let own = self.own.load(Ordering::Relaxed);
        let more = (own + n).saturating_sub(SMALL_BODY) - own.saturating_sub(SMALL_BODY);
        let add = |used: usize| used.checked_add(more).filter(|used| more == 0 || *used <= self.memory.most);
        // In one step, so that two bodies of which one fits do not refuse each other.
        self.memory
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .map_err(|_| BodyMemoryFull)?;
        self.own.store(own + n, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        let own = self.own.load(Ordering::Relaxed);
        self.memory.used.fetch_sub(own.saturating_sub(SMALL_BODY), Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Slots {
    all: Arc<Semaphore>,
    by_address: Mutex<HashMap<IpAddr, usize>>,
    per_address: usize,
}

/// An accepted connection; dropping it releases its slot.
#[derive(Debug)]
struct Slot {
    slots: Arc<Slots>,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    fn take(self: &Arc<Self>, address: IpAddr) -> Result<Slot, ConnectionRefusal> {
        let address = client_network(address);
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let n_open = by_address.get(&address).copied().unwrap_or(0);
        if self.per_address <= n_open {
            return Err(ConnectionRefusal::AddressFull);
        }
        let permit = Arc::clone(&self.all).try_acquire_owned().map_err(|_| ConnectionRefusal::Full)?;
        by_address.insert(address, n_open + 1);
        Ok(Slot { slots: Arc::clone(self), address, _permit: permit })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut by_address = self.slots.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        match by_address.get_mut(&self.address) {
            Some(n_open) if 1 < *n_open => *n_open -= 1,
            _ => drop(by_address.remove(&self.address)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[test]
    fn bodies_count_by_what_they_take_once_they_are_decoded() {
        let memory = Arc::new(BodyMemory::new(1 << 20));
        let (first, second) = (BodyShare::new(&memory), BodyShare::new(&memory));
        first.grow(SMALL_BODY).unwrap();
        second.grow(SMALL_BODY).unwrap();
        // As much as is usual for a body of this size.
        first.admit_decoding(SMALL_BODY * 20).unwrap();
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
        first.admit_decoding(SMALL_BODY * 100).unwrap();
        assert!(100_000 < memory.used.load(Ordering::Relaxed));
        let busy = second.admit_decoding(24 << 20).unwrap_err();
        assert!(matches!(busy, ApiError::Busy { .. }), "{busy:?}");
        drop(first);
        second.admit_decoding(24 << 20).unwrap();
        drop(second);
        assert_eq!(memory.used.load(Ordering::Relaxed), 0);
    }

    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn a_client_with_a_network_of_addresses_does_not_take_all_connections() {
        let slots = Arc::new(Slots {
            all: Arc::new(Semaphore::new(10)),
            by_address: Mutex::default(),
            per_address: 4,
        });
        let take = |address: &str| slots.take(address.parse().unwrap());
        let taken: Vec<_> = (0..10).filter_map(|n| take(&format!("2001:db8:1:2::{n}")).ok()).collect();
        assert_eq!(taken.len(), 4);
        assert!(take("2001:db8:1:3::1").is_ok());
        assert!(take("203.0.113.7").is_ok() && take("203.0.113.8").is_ok());
        drop(taken);
        assert!(take("2001:db8:1:2::1").is_ok(), "they are given back");
        assert!(slots.by_address.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_loses_its_connection() {
        let (server, client) = duplex(1024);
        let mut server = WriteLimit::new(server, LIMIT);
        let started = Instant::now();
        let error = server.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!((error.kind(), started.elapsed().as_secs()), (io::ErrorKind::TimedOut, 30));
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_gets_everything() {
        let (server, mut client) = duplex(1024);
        let mut server = WriteLimit::new(server, LIMIT);
        let reading = async {
            let (mut n_read, mut part) = (0, [0; 512]);
            while n_read < 8192 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                n_read += client.read(&mut part).await.unwrap();
            }
            n_read
        };
        let (written, n_read) = tokio::join!(server.write_all(&[0; 8192]), reading);
        assert_eq!((written.unwrap(), n_read), ((), 8192));
    }
}
