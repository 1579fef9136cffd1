//! `lineal serve` in a test, and a client that speaks as much HTTP as it takes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

use serde_json::Value;

use crate::world::World;

/// A server that is up.
pub struct Serving {
    child: Child,
    pub port: u16,
    err: Option<JoinHandle<String>>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

impl Serving {
    /// Starts a server on a free port.
    pub fn start(world: &World, args: &[&str]) -> Self {
        Self::run(world, &[&["serve"], args].concat())
    }

    /// The same without models.
    pub fn playground(world: &World) -> Self {
        Self::run(world, &["playground"])
    }

    fn run(world: &World, args: &[&str]) -> Self {
        let mut command = world.child();
        command.args(args).args(["--port", "0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let err = child.stderr.take().unwrap();
        let (up, is_up) = mpsc::channel();
        // Its log is read all the time, so that it never waits for who reads it.
        let reader = std::thread::spawn(move || {
            let mut all = String::new();
            for line in BufReader::new(err).lines() {
                let line = line.unwrap();
                if let Some((_, address)) = line.split_once("://127.0.0.1:") {
                    let port: String = address.chars().take_while(char::is_ascii_digit).collect();
                    let _ = up.send(port.parse().unwrap());
                }
                all.push_str(&line);
                all.push('\n');
            }
            all
        });
        match is_up.recv() {
            Ok(port) => Self { child, port, err: Some(reader) },
            Err(_) => panic!("it did not start: {}", reader.join().unwrap()),
        }
    }

    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// One request on a connection of its own.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n{more}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A body that is refused may not be read to its end.
        let _ = stream.write_all(body);
        read(&mut stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &["content-type: application/json"], body.to_string().as_bytes())
    }

    /// A counter of `/metrics`.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").body;
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
        value.unwrap_or_else(|| panic!("no {name} in {text}"))
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it as an operator does; what it logged.
    pub fn end(self) -> String {
        self.signal("-TERM");
        self.ended()
    }

    /// Waits for its end; what it logged.
    pub fn ended(mut self) -> String {
        let code = self.child.wait().unwrap().code();
        let err = self.err.take().unwrap().join().unwrap();
        assert_eq!(code, Some(0), "{err}");
        assert!(!err.contains("panicked"), "{err}");
        err
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer, to the end of the connection.
pub fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A connection that is reset after the answer has answered.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    let body = match head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        true => unchunked(body),
        false => body.to_owned(),
    };
    Answer { status, head: head.to_owned(), body }
}

/// Pieces with their lengths before them, joined.
fn unchunked(body: &str) -> String {
    let (mut out, mut rest) = (String::new(), body);
    while let Some((length, after)) = rest.split_once("\r\n") {
        let n = usize::from_str_radix(length, 16).unwrap();
        if n == 0 {
            break;
        }
        out.push_str(&after[..n]);
        rest = &after[n + 2..];
    }
    out
}
