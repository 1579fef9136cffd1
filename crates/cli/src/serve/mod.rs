//! `lineal serve`: models behind HTTP, answering by the code of `predict` and `explain`.

mod evaluate;
mod images;
mod input;
mod lines;
mod model;
mod playground;
mod sentences;
mod surface;
mod words;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use lineal::AnyModel;
use lineal_server::{Limits, Loader, LogKind, ModelFile, Options, Served, Server, TlsFiles};

use crate::args::{PlaygroundArgs, ServeArgs};
use crate::exit::usage;
use crate::talk::{Talk, line};
use crate::{files, interrupt};
use model::Answering;

/// Runs the command.
pub fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let talk = Talk::new(args.run.quiet);
    let options = options(args)?;
    if !options.host.is_loopback() && options.token.is_none() {
        talk.warn("everybody who reaches this address may ask; --token-file keeps strangers out");
    }
    lineal::linalg::process::allow_many_files();
    let server = Server::start(&options, loader())?;
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let shown = server.address();
    // From here on an interruption ends the server in its own time; a second one ends it at once.
    interrupt::defer();
    if !args.run.quiet {
        line(format_args!("serving {} on {scheme}://{shown}", names(&options.models)));
    }
    server.run(interrupt::asked);
    Ok(())
}

fn names(models: &[ModelFile]) -> String {
    models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Runs `lineal playground`: the same server, without models.
pub fn playground(args: &PlaygroundArgs) -> anyhow::Result<()> {
    let options = Options {
        host: args.host,
        port: args.port,
        models: Vec::new(),
        playground: Some(Arc::new(playground::Points)),
        token: None,
        tls: None,
        origins: Vec::new(),
        watch: None,
        log: if args.run.quiet { LogKind::Errors } else { LogKind::Events },
        threads: args.run.threads,
        limits: Limits::default(),
    };
    let server = Server::start(&options, loader())?;
    interrupt::defer();
    if !args.run.quiet {
        line(format_args!("open http://{} in a browser; Ctrl-C ends it", server.address()));
    }
    server.run(interrupt::asked);
    Ok(())
}

/// A model from the bytes of its file.
fn loader() -> Loader {
    Arc::new(|name, bytes| {
        // Whoever loads it says which file it is.
        let told = |message: String| message.replacen("the model given as bytes", "the file", 1);
        let model = AnyModel::from_bytes(bytes).map_err(|error| told(error.to_string()))?;
        let answering = Answering::new(name, model).map_err(|error| error.to_string())?;
        Ok(Box::new(answering) as Box<dyn Served>)
    })
}

fn options(args: &ServeArgs) -> anyhow::Result<Options> {
    let mut names: Vec<&str> = args.models.iter().map(|model| model.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return usage(format!("two models have the name {}: say NAME=FILE for one", pair[0]));
    }
    let models = args.models.iter();
    let models = models.map(|m| ModelFile { name: m.name.clone(), path: m.path.clone() });
    let tls = args.certificate.iter().zip(&args.key).next();
    let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    Ok(Options {
        host: args.host,
        port: args.port,
        models: models.collect(),
        playground: None,
        token: args.token_file.as_deref().map(token).transpose()?,
        tls: tls.map(|(certificate, key)| TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
        }),
        origins: args.allow_origin.clone(),
        watch: (args.watch > 0.0).then(|| Duration::from_secs_f64(args.watch)),
        log: if args.run.quiet { LogKind::Errors } else { args.log.0 },
        threads: args.run.threads,
        limits: Limits {
            body: bytes(args.max_body.0),
            rows: args.max_rows,
            time: args.timeout,
            connections: args.max_connections,
            memory: bytes(args.max_memory.0),
            idle: args.idle,
            drain: args.drain,
        },
    })
}

/// The first line of the file.
fn token(path: &Path) -> anyhow::Result<String> {
    let text = files::read_text(path, "token file")?;
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    let is_plain = |c: char| c.is_ascii_graphic();
    if token.len() < 8 || !token.chars().all(is_plain) {
        bail!(
            "{}: the first line must be a token of at least 8 visible ASCII characters, as `openssl rand -hex 32` makes it",
            path.display()
        );
    }
    Ok(token)
}
