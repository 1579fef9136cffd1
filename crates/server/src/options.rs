//! Where to listen, what to serve, and how much is allowed.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::log::LogKind;
use crate::served::Playground;

/// What a server is started with.
#[derive(Clone)]
pub struct Options {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Models by name.
    pub models: Vec<ModelFile>,
    /// What trains on the points of a playground, where there is one.
    pub playground: Option<Arc<dyn Playground>>,
    /// What requests must bring as `Authorization: Bearer …`.
    pub token: Option<String>,
    /// Certificate and key, for HTTPS.
    pub tls: Option<TlsFiles>,
    /// Web pages of these origins may call; `*` is any.
    pub origins: Vec<String>,
    /// How often to look whether a model's file was replaced; never, if `None`.
    pub watch: Option<Duration>,
    /// What is logged.
    pub log: LogKind,
    /// Threads that predict.
    pub threads: Option<usize>,
    /// How much is allowed.
    pub limits: Limits,
}

/// A model by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// As in `/v1/models/{name}`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain of certificates, the server's own first.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// How much a client may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body, or of a line of a stream.
    pub body: usize,
    /// Examples of a request; those of a stream are not counted.
    pub rows: usize,
    /// For a request, from its first byte to its answer; for a stream, from one line to the next.
    pub time: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Bytes of bodies and answers that are held at a time.
    pub memory: usize,
    /// How long a connection may be idle.
    pub idle: Duration,
    /// How long requests in flight are waited for at the end.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            rows: 10_000,
            time: Duration::from_secs(30),
            connections: 4096,
            memory: 1 << 30,
            idle: Duration::from_secs(75),
            drain: Duration::from_secs(30),
        }
    }
}
