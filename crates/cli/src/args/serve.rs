//! Flags of `serve`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use lineal_server::LogKind;

use super::choice::{at_least_one, choice};
use super::running::RunArgs;
use super::tag::Size;

const HELP: &str = "\
Examples:
  lineal serve flowers.lineal                        http://127.0.0.1:8080, a page and an API
  lineal serve a.lineal de=german.lineal --port 9000
  lineal serve m.lineal --host 0.0.0.0 --token-file token.txt --certificate c.pem --key k.pem

  curl localhost:8080/v1/models
  curl localhost:8080/v1/models/flowers/predict -d '{\"rows\": [{\"petal\": 4.2}], \"proba\": true}'
  curl localhost:8080/v1/models/news/predict -d '{\"texts\": [\"where is my invoice?\"], \"top\": 3}'
  curl -T - -X POST -H 'content-type: application/x-ndjson' 'localhost:8080/v1/models/news/predict?proba' < texts.jsonl

A model has the name of its file, without .lineal, or NAME with NAME=FILE. Answers are those of `lineal predict --output jsonl` and `lineal explain --output jsonl`. If a model's file is \
replaced, the new model is loaded and used for later requests; if it cannot be loaded, this is logged and counted, and the old model stays in use. After kill (SIGTERM) or Ctrl-C the server answers the requests \
that have arrived, and ends. GET /openapi.json describes the API, /metrics is for Prometheus, /healthz and /readyz are for health checks.

Exit codes: 0 ended as asked; 1 it could not start; 2 usage.";

/// Serve models over HTTP: predictions, explanations, metrics, and a page to look into them
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ServeArgs {
    /// Files that `lineal train` wrote
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<NamedModel>,

    /// The port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 8080, help_heading = "Where and for whom")]
    pub port: u16,

    /// The address to listen on: 127.0.0.1 is this machine only, 0.0.0.0 all of its networks
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        value_parser = host,
        help_heading = "Where and for whom"
    )]
    pub host: IpAddr,

    /// Requests must send the first line of this file as Authorization: Bearer …
    #[arg(long, value_name = "FILE", help_heading = "Where and for whom")]
    pub token_file: Option<PathBuf>,

    /// Use HTTPS with this certificate (PEM; the server's own certificate first)
    #[arg(long, value_name = "FILE", requires = "key", help_heading = "Where and for whom")]
    pub certificate: Option<PathBuf>,

    /// The private key of the certificate (PEM)
    #[arg(
        long,
        value_name = "FILE",
        requires = "certificate",
        help_heading = "Where and for whom"
    )]
    pub key: Option<PathBuf>,

    /// Let web pages of this origin call the server, such as https://example.org; * allows all; may be given several times
    #[arg(long, value_name = "ORIGIN", help_heading = "Where and for whom")]
    pub allow_origin: Vec<String>,

    /// The largest body, or line of a stream: larger ones get 413
    #[arg(long, value_name = "SIZE", default_value = "16MiB", help_heading = "Limits")]
    pub max_body: Size,

    /// The most examples of a request: more get 413 (those of a stream are not counted)
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = at_least_one, help_heading = "Limits")]
    pub max_rows: usize,

    /// Seconds for a request, or between two lines of a stream: then 408 or 504; a client that does not read for so long is cut off
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds, help_heading = "Limits")]
    pub timeout: Duration,

    /// The most connections at a time: more get 503
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = at_least_one, help_heading = "Limits")]
    pub max_connections: usize,

    /// The most bytes of bodies and answers at a time: more get 503
    #[arg(long, value_name = "SIZE", default_value = "1GiB", help_heading = "Limits")]
    pub max_memory: Size,

    /// Seconds after which a connection that says nothing is closed
    #[arg(long, value_name = "S", default_value = "75", value_parser = seconds, help_heading = "Limits")]
    pub idle: Duration,

    /// Seconds to wait for requests when the server stops
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds, help_heading = "Limits")]
    pub drain: Duration,

    /// Seconds between checks whether a model's file was replaced; 0 never checks
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = pause, help_heading = "Running and output")]
    pub watch: f64,

    /// What to log on stderr, as one JSON object per line
    #[arg(long, value_name = "WHAT", default_value = "requests", help_heading = "Running and output",
          value_parser = choice::<Log>(&[
        ("requests", "every request, with its id, status and time; and what follows"),
        ("events", "start, end, models that were loaded; and what follows"),
        ("errors", "what went wrong in the server"),
    ]))]
    pub log: Log,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Draw points in a browser and watch learners separate them, pass by pass
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  lineal playground              then open http://127.0.0.1:8081

The page shows two learners side by side, each with a strategy, a loss, a solver, C and a map, with their regions, the lines of each binary problem and the curve of training. It also shows, step by step, how a code matrix is decoded, \
a Viterbi lattice, and Chu–Liu–Edmonds. The address of the page keeps what it shows, so that it can be shared.")]
pub struct PlaygroundArgs {
    /// The port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 8081)]
    pub port: u16,

    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = host)]
    pub host: IpAddr,

    #[command(flatten)]
    pub run: RunArgs,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log(pub LogKind);

impl FromStr for Log {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "requests" => Ok(Self(LogKind::Requests)),
            "events" => Ok(Self(LogKind::Events)),
            "errors" => Ok(Self(LogKind::Errors)),
            _ => Err(format!("`{s}` is not one of requests, events, errors")),
        }
    }
}

/// A model's file and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedModel {
    pub name: String,
    pub path: PathBuf,
}

impl FromStr for NamedModel {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let (name, path) = match s.split_once('=') {
            // A path may have an equals sign in it.
            Some((name, path)) if !name.contains('/') && !PathBuf::from(s).exists() => {
                (name.to_owned(), PathBuf::from(path))
            }
            _ => {
                let path = PathBuf::from(s);
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                (stem.unwrap_or_default(), path)
            }
        };
        let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!(
                "`{name}` cannot stand in an address: give another name of letters, digits, - _ and ., as NAME=FILE"
            ));
        }
        Ok(Self { name, path })
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "must be a number of seconds above 0".to_owned();
    let seconds = text.parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 1e9);
    seconds.map(Duration::from_secs_f64).ok_or_else(wrong)
}

fn pause(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|s| (0.0..=1e9).contains(s));
    seconds.ok_or_else(|| "must be a number of seconds, or 0".to_owned())
}

/// An address by numbers, or this machine by its usual name.
fn host(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        _ => text.parse().map_err(|_| {
            "give an IP address: 127.0.0.1 for this machine only, 0.0.0.0 or :: for everybody"
                .to_owned()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_called_as_their_files_or_as_said() {
        let named = |s: &str| s.parse::<NamedModel>().map(|m| (m.name, m.path));
        assert_eq!(named("x/news.lineal"), Ok(("news".into(), "x/news.lineal".into())));
        assert_eq!(named("de=x/a=b.lineal"), Ok(("de".into(), "x/a=b.lineal".into())));
        assert_eq!(named("x/a=b.lineal").map_err(|_| ()), Err(()));
        assert!(named("a b.lineal").is_err() && named("=a").is_err());
    }
}
