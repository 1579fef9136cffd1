//! Listens, answers, and ends after what has been asked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;

use crate::api::{self, App};
use crate::budget::Budget;
use crate::connection::Patient;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::models::{self, Loader, Models};
use crate::options::Options;
use crate::tls;
use crate::work::Pool;

/// Why a server does not start.
#[derive(Debug)]
pub struct StartError(String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

impl From<String> for StartError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// A server that listens and has its models loaded.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    app: Arc<App>,
}

/// How often it is asked whether to end.
const TICK: Duration = Duration::from_millis(20);
/// How long others may still call after that, and then how long those who have called may take to ask: each client is told with an answer that its connection ends.
const LAST_CALL: Duration = Duration::from_secs(1);
/// How long a call that has begun may take to arrive.
const ON_ITS_WAY: Duration = Duration::from_millis(200);

impl Server {
    /// Loads the models and starts to listen. Connections wait until [`run`](Self::run).
    pub fn start(options: &Options, loader: Loader) -> Result<Self, StartError> {
        let metrics = Metrics::default();
        let models = Models::open(&options.models, loader, &metrics)?;
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let app = Arc::new(App {
            models,
            metrics,
            log: Log::new(options.log),
            budget: Budget::new(options.limits.memory),
            pool: Pool::new(options.threads)?,
            limits: options.limits.clone(),
            playground: options.playground.clone(),
            token: options.token.clone(),
            draining: AtomicBool::new(false),
        });
        let router = api::router(app.clone(), &options.origins)?;
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.enable_io().enable_time().thread_name("serve").build();
        let runtime = runtime.map_err(|e| format!("no threads to listen with: {e}"))?;
        let place = SocketAddr::new(options.host, options.port);
        let listener = {
            let _inside = runtime.enter();
            listen(place).map_err(|e| deaf(place, &e))?
        };
        let address = listener.local_addr().map_err(|e| format!("{place}: {e}"))?;
        if let Some(every) = options.watch {
            let look = |app: &App| app.models.look(&app.metrics, &app.log);
            models::watch(Arc::downgrade(&app), every, look)
                .map_err(|e| format!("no thread to watch the model files with: {e}"))?;
        }
        Ok(Self { runtime, listener, address, tls, router, app })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `asked_to_end` is true, then ends: requests that have come are answered, those that come last are told that the connection closes.
    pub fn run(self, asked_to_end: impl Fn() -> bool) {
        let Self { runtime, listener, tls, router, app, address } = self;
        let names: Vec<&str> = app.models.names().collect();
        app.log.event(
            "listening",
            json!({"address": address.to_string(), "tls": tls.is_some(), "models": names}),
        );
        let connections = Connections {
            permits: Arc::new(Semaphore::new(app.limits.connections)),
            watcher: GracefulShutdown::new(),
            tls,
            router,
            app: app.clone(),
        };
        runtime.block_on(async {
            let end = async {
                while !asked_to_end() {
                    sleep(TICK).await;
                }
            };
            tokio::select! {
                () = connections.accept(&listener) => {}
                () = end => {}
            }
            app.draining.store(true, Ordering::Relaxed);
            app.log.event("draining", json!({}));
            let last = connections.accept_last(listener).await;
            connections.let_speak(last + LAST_CALL).await;
            let Connections { watcher, .. } = connections;
            let drained = timeout(app.limits.drain, watcher.shutdown()).await.is_ok();
            app.log.event("ended", json!({"drained": drained}));
        });
        // What predicts for clients that are gone is not waited for.
        runtime.shutdown_background();
    }
}

/// Why a place cannot be listened on, and what to do about it.
fn deaf(place: SocketAddr, error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    let why = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program does; choose another port, or 0 for a free one".into()
        }
        ErrorKind::AddrNotAvailable => format!("{} is not an address of this machine", place.ip()),
        ErrorKind::PermissionDenied => {
            "this user may not; ports from 1024 on are for everybody".into()
        }
        _ => error.to_string(),
    };
    format!("cannot listen on {place}: {why}")
}

fn listen(place: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match place {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(place)?;
    socket.listen(4096)
}

/// Has the system drop the first packet of every new call, and nothing else; whether it does. A client sends it again after a second, and finds the port closed.
#[cfg(target_os = "linux")]
fn leave_unanswered(listener: &TcpListener) -> bool {
    use socket2::{SockFilter, SockRef};
    // Of the flags, byte 13 of a segment: SYN without ACK is dropped, all else is let through.
    let filter = [
        SockFilter::new(0x30, 0, 0, 13),       // ldb [13]
        SockFilter::new(0x54, 0, 0, 0x12),     // and #SYN|ACK
        SockFilter::new(0x15, 0, 1, 0x02),     // jeq #SYN
        SockFilter::new(0x06, 0, 0, 0),        // ret #0
        SockFilter::new(0x06, 0, 0, u32::MAX), // ret #-1
    ];
    SockRef::from(listener).attach_filter(&filter).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn leave_unanswered(_listener: &TcpListener) -> bool {
    false
}

struct Connections {
    permits: Arc<Semaphore>,
    watcher: GracefulShutdown,
    tls: Option<TlsAcceptor>,
    router: Router,
    app: Arc<App>,
}

impl Connections {
    async fn accept(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => self.take(stream),
                // No more files can be opened, most often: some will be closed.
                Err(error) => {
                    self.app.log.error("accept", json!({"error": error.to_string()}));
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Takes who still calls, until nobody does or the time is over, and hangs up. Gives the time of the last call.
    ///
    /// Whoever waits to be accepted when the listener is closed is cut off by the system, and a client that asks without a pause calls again in any moment. So new calls are
    /// left unanswered first, where the system can do that, and the listener is closed when those who had called before are all accepted.
    async fn accept_last(&self, listener: TcpListener) -> Instant {
        let mut called = Instant::now();
        let (end, mut quiet) = (called + LAST_CALL, false);
        while Instant::now() < end {
            match timeout(TICK, listener.accept()).await {
                Ok(Ok((stream, _))) => {
                    self.take(stream);
                    (called, quiet) = (Instant::now(), false);
                }
                Ok(Err(_)) => sleep(TICK).await,
                Err(_) if quiet => break,
                Err(_) => quiet = self.n_open() == 0,
            }
        }
        if leave_unanswered(&listener) {
            // What is on its way arrives within a tick on this machine, and soon from others.
            let rest = if quiet { TICK } else { ON_ITS_WAY };
            let end = Instant::now() + LAST_CALL;
            while Instant::now() < end
                && let Ok(accepted) = timeout(rest, listener.accept()).await
            {
                match accepted {
                    Ok((stream, _)) => {
                        self.take(stream);
                        called = Instant::now();
                    }
                    Err(_) => sleep(TICK).await,
                }
            }
            return called;
        }
        // Elsewhere it is closed when somebody has just been accepted: then it is least likely that somebody calls.
        let mut last = Vec::new();
        if !quiet && let Ok(Ok((stream, _))) = timeout(TICK, listener.accept()).await {
            last.push(stream);
        }
        if let Ok(listener) = listener.into_std() {
            while let Ok((stream, _)) = listener.accept() {
                if stream.set_nonblocking(true).is_ok() {
                    last.extend(TcpStream::from_std(stream));
                }
            }
        }
        if !last.is_empty() {
            called = Instant::now();
        }
        last.into_iter().for_each(|stream| self.take(stream));
        called
    }

    /// Waits for those who have called to ask, and to be answered. To end a connection whose request has not been read yet would be to lose it.
    async fn let_speak(&self, until: Instant) {
        let all_done = async {
            while self.n_open() > 0 {
                sleep(TICK).await;
            }
        };
        let _ = timeout_at(until, all_done).await;
    }

    fn n_open(&self) -> u64 {
        self.app.metrics.connections.load(Ordering::Relaxed)
    }

    /// Serves a connection, or refuses it if there are too many.
    fn take(&self, mut stream: TcpStream) {
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            self.app.metrics.refused.fetch_add(1, Ordering::Relaxed);
            let is_plain = self.tls.is_none();
            tokio::spawn(async move {
                if is_plain {
                    let refusal = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    let _ = timeout(Duration::from_secs(1), stream.write_all(refusal)).await;
                }
            });
            return;
        };
        // Answers are written at once; waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let (app, router) = (self.app.clone(), self.router.clone());
        let watcher = self.watcher.watcher();
        let tls = self.tls.clone();
        // Counted before its task runs: who ends the server waits for it.
        app.metrics.connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            match tls {
                None => serve(stream, router, &app, watcher).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(app.limits.time, tls.accept(stream)).await {
                        serve(stream, router, &app, watcher).await;
                    }
                }
            }
            app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
        });
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    router: Router,
    app: &App,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let io = TokioIo::new(Patient::new(stream, app.limits.time));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(app.limits.idle)
        .max_buf_size(1 << 16)
        .serve_connection(io, TowerToHyperService::new(router));
    // A client that breaks off, or speaks something else, is not a fault of the server.
    let _ = watcher.watch(connection).await;
}
