//! The server around a model of a few lines: HTTPS, panics, time, and an interface for who embeds it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use lineal_server::{
    Ask, Examples, ExplainAsk, Fault, Form, Limits, LogKind, ModelFile, Options, Served, Server,
    TlsFiles,
};
use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto};

/// Echoes its examples; `"panic"` and `"wait"` do what they say, and `"work"` goes on until nobody wants it.
struct Echo {
    gate: Arc<(Mutex<bool>, Condvar)>,
    unwanted: Mutex<Arc<AtomicBool>>,
    given_up: Arc<AtomicBool>,
    is_quick: bool,
}

impl Served for Echo {
    fn task(&self) -> String {
        "echo".into()
    }
    fn form(&self) -> Form {
        Form::Texts
    }
    fn input(&self) -> Value {
        json!({"form": "texts", "example": {"texts": ["a"]}})
    }
    fn describe(&self, top: Option<usize>) -> Value {
        json!({ "top": top })
    }
    fn predict(&self, examples: &Examples<'_>, _: &Ask, out: &mut Vec<u8>) -> Result<(), Fault> {
        for (i, value) in examples.values.iter().enumerate() {
            match *value {
                "\"panic\"" => panic!("as asked"),
                "\"wrong\"" => {
                    return Err(Fault::request(format!("/{}/{i}", examples.form.key()), "wrong"));
                }
                "\"wait\"" => {
                    let (open, opened) = &*self.gate;
                    let open = open.lock().unwrap();
                    drop(opened.wait_while(open, |open| !*open).unwrap());
                }
                "\"work\"" => {
                    let unwanted = self.unwanted.lock().unwrap().clone();
                    while !unwanted.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    self.given_up.store(true, Ordering::Relaxed);
                }
                _ => {}
            }
            writeln!(out, "{value}").unwrap();
        }
        Ok(())
    }
    fn explain(&self, _: &Examples<'_>, _: &ExplainAsk, _: &mut Vec<u8>) -> Result<(), Fault> {
        Err(Fault::internal("nothing to explain"))
    }
    fn evaluate(&self, request: &str) -> Result<Value, Fault> {
        match request {
            "{}" => Ok(json!({"metrics": {"examples": 0}, "html": "<section></section>"})),
            _ => Err(Fault::request("/file", "must be empty")),
        }
    }
    fn is_quick(&self) -> bool {
        self.is_quick
    }
    fn until(&self, unwanted: &Arc<AtomicBool>, work: &mut dyn FnMut()) {
        *self.unwanted.lock().unwrap() = unwanted.clone();
        work();
    }
    fn training_view(&self) -> String {
        "<section>drawn</section>".into()
    }
}

/// A server that runs in a thread, and ends with the test.
struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    gate: Arc<(Mutex<bool>, Condvar)>,
    given_up: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("echo");
        std::fs::write(&path, "echo").unwrap();
        let mut options = Options {
            host: [127, 0, 0, 1].into(),
            port: 0,
            models: vec![ModelFile { name: "echo".into(), path }],
            playground: None,
            token: None,
            tls: None,
            origins: Vec::new(),
            watch: None,
            log: LogKind::Errors,
            threads: Some(1),
            limits: Limits::default(),
        };
        change(&mut options);
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let for_model = gate.clone();
        let given_up = Arc::new(AtomicBool::new(false));
        let told = given_up.clone();
        let loader = Arc::new(move |_: &str, bytes: &[u8]| match bytes {
            b"echo" | b"quick" => Ok(Box::new(Echo {
                is_quick: bytes == b"quick",
                gate: for_model.clone(),
                unwanted: Mutex::default(),
                given_up: told.clone(),
            }) as Box<dyn Served>),
            _ => Err("not an echo".to_owned()),
        });
        let server = Server::start(&options, loader).unwrap();
        let (address, stop) = (server.address(), Arc::new(AtomicBool::new(false)));
        let asked = stop.clone();
        let thread = std::thread::spawn(move || server.run(|| asked.load(Ordering::Relaxed)));
        Self { address, stop, gate, given_up, thread: Some(thread), _folder: folder }
    }

    fn open_gate(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    fn post(&self, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        exchange(&mut stream, body)
    }

    fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn exchange(stream: &mut (impl Read + Write), body: &str) -> (u16, String) {
    let n = body.len();
    let head = "POST /v1/models/echo/predict HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    write!(stream, "{head}content-length: {n}\r\n\r\n{body}").unwrap();
    let mut text = String::new();
    // A peer may close without a farewell.
    let _ = stream.read_to_string(&mut text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn a_panic_is_the_fault_of_one_request() {
    let server = Running::start(|_| {});
    assert_eq!(server.post(r#"{"texts": ["panic"]}"#).0, 500);
    let (status, body) = server.post(r#"{"texts": ["a", "b"]}"#);
    assert_eq!((status, &*body), (200, r#"{"model":"echo","version":1,"predictions":["a","b"]}"#));
    let (status, body) = server.post(r#"{"texts": ["a", "wrong"]}"#);
    assert_eq!(status, 422);
    assert!(body.contains("\"pointer\":\"/texts/1\""), "{body}");
    server.end();
}

#[test]
fn an_answer_that_takes_too_long_is_not_waited_for() {
    let server = Running::start(|options| options.limits.time = Duration::from_millis(200));
    assert_eq!(server.post(r#"{"texts": ["wait"]}"#).0, 504);
    // Its thread is the only one: the next in line is told the same, and is left out when its turn comes.
    assert_eq!(server.post(r#"{"texts": ["a"]}"#).0, 504);
    server.open_gate();
    while server.post(r#"{"texts": ["a"]}"#).0 != 200 {}
    server.end();
}

#[test]
fn work_that_nobody_waits_for_is_told_so() {
    // Its time is over.
    let server = Running::start(|options| options.limits.time = Duration::from_millis(200));
    assert_eq!(server.post(r#"{"texts": ["work"]}"#).0, 504);
    // The only thread is free again, without anybody's help.
    while server.post(r#"{"texts": ["a"]}"#).0 != 200 {}
    assert!(server.given_up.swap(false, Ordering::Relaxed));
    server.end();
    // Its client has gone.
    let server = Running::start(|_| {});
    let mut stream = TcpStream::connect(server.address).unwrap();
    let body = r#"{"texts": ["work"]}"#;
    let head = "POST /v1/models/echo/predict HTTP/1.1\r\nhost: localhost\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    drop(stream);
    assert_eq!(server.post(r#"{"texts": ["a"]}"#).0, 200);
    server.end();
}

#[test]
fn quick_answers_do_not_queue_behind_others() {
    let server = Running::start(|options| {
        std::fs::write(&options.models[0].path, "quick").unwrap();
    });
    // The only thread that predicts is busy with what is not small.
    let body = format!("{{\"texts\": [\"wait\"{}]}}", " ".repeat(10_000));
    let head = "POST /v1/models/echo/predict HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    let mut busy = TcpStream::connect(server.address).unwrap();
    write!(busy, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let (status, body) = server.post(r#"{"texts": ["a"]}"#);
    assert_eq!((status, &*body), (200, r#"{"model":"echo","version":1,"predictions":["a"]}"#));
    assert_eq!(server.post(r#"{"texts": ["panic"]}"#).0, 500);
    server.open_gate();
    let mut text = String::new();
    busy.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    server.end();
}

/// A request on a connection that stays open; whether it does.
fn ask_on(stream: &mut TcpStream, body: &str) -> (u16, bool) {
    let head = "POST /v1/models/echo/predict HTTP/1.1\r\nhost: localhost\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    while !text.ends_with(b"]}") {
        let n = stream.read(&mut buffer).unwrap();
        assert!(n > 0, "no answer: {:?}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&buffer[..n]);
    }
    let text = String::from_utf8(text).unwrap();
    (text.split(' ').nth(1).unwrap().parse().unwrap(), !text.contains("connection: close"))
}

/// Whether the server says that requests should be sent.
fn is_ready(address: SocketAddr) -> bool {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.starts_with("HTTP/1.1 200")
}

#[test]
fn no_request_is_lost_when_the_server_ends() {
    // A connection that was accepted while the server ended used to be closed before its request was read; and whoever called in the moment of closing was cut off.
    for (stays_open, n_clients) in
        [(false, 1), (true, 1), (false, 4), (true, 4), (false, 16), (true, 16)]
    {
        let server = Running::start(|_| {});
        let address = server.address;
        let (answered, told) = std::sync::mpsc::channel();
        let client = move |answered: std::sync::mpsc::Sender<()>| {
            let mut kept = None;
            // Until nobody listens any more.
            while let Some(mut stream) = kept.take().or_else(|| TcpStream::connect(address).ok()) {
                let open = match stays_open {
                    true => ask_on(&mut stream, r#"{"texts": ["a"]}"#),
                    false => (exchange(&mut stream, r#"{"texts": ["a"]}"#).0, false),
                };
                assert_eq!(open.0, 200);
                kept = open.1.then_some(stream);
                let _ = answered.send(());
            }
        };
        let clients: Vec<_> = (0..n_clients)
            .map(|_| {
                let answered = answered.clone();
                std::thread::spawn(move || client(answered))
            })
            .collect();
        told.iter().take(20).for_each(drop);
        // Somebody who has called, and speaks late.
        let mut late = TcpStream::connect(address).unwrap();
        server.stop.store(true, Ordering::Relaxed);
        while is_ready(address) {}
        assert_eq!(ask_on(&mut late, r#"{"texts": ["late"]}"#), (200, false));
        server.end();
        clients.into_iter().for_each(|client| client.join().unwrap());
    }
}

#[test]
fn labelled_files_are_compared_as_a_whole() {
    let server = Running::start(|_| {});
    let call = |method: &str, path: &str, body: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = format!("{method} /v1/models/{path} HTTP/1.1\r\nhost: a\r\nconnection: close");
        write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse::<u16>().unwrap(), serde_json::from_str::<Value>(body).unwrap())
    };
    let (status, found) = call("POST", "echo/evaluate", "{}");
    assert_eq!(
        (status, &found["version"], &found["html"]),
        (200, &json!(1), &json!("<section></section>"))
    );
    let (status, found) = call("POST", "echo/evaluate", "[]");
    assert_eq!((status, &found["pointer"]), (422, &json!("/file")));
    let (status, found) = call("GET", "echo/views", "");
    assert_eq!(
        (status, found),
        (200, json!({"training": "<section>drawn</section>", "evaluation": null}))
    );
    assert_eq!(call("GET", "other/views", "").0, 404);
    server.end();
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

#[test]
fn https_by_a_certificate() {
    let server = Running::start(|options| {
        let (certificate, key) = (file("localhost.pem"), file("localhost.key.pem"));
        options.tls = Some(TlsFiles { certificate, key });
    });
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("localhost.pem")).unwrap()).unwrap();
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let session = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(session, TcpStream::connect(server.address).unwrap());
    assert_eq!(exchange(&mut stream, r#"{"texts": ["a"]}"#).0, 200);
    // Who does not speak TLS gets no answer, and does no harm.
    let mut plain = TcpStream::connect(server.address).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP"));
    server.end();
}

#[test]
fn what_cannot_be_served_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    std::fs::write(&path, "something else").unwrap();
    let options = |path: PathBuf, tls| Options {
        host: [127, 0, 0, 1].into(),
        port: 0,
        models: vec![ModelFile { name: "m".into(), path }],
        playground: None,
        token: None,
        tls,
        origins: Vec::new(),
        watch: None,
        log: LogKind::Errors,
        threads: None,
        limits: Limits::default(),
    };
    let refuse = Arc::new(|_: &str, _: &[u8]| Err("not an echo".to_owned()));
    let why = Server::start(&options(path.clone(), None), refuse.clone()).err().unwrap();
    assert!(why.to_string().ends_with("m: not an echo"), "{why}");
    let why = |path: &str| {
        let path = folder.path().join(path);
        Server::start(&options(path, None), refuse.clone()).err().unwrap().to_string()
    };
    let missing = why("nothing.lineal");
    assert!(missing.starts_with("there is no model file "), "{missing}");
    assert!(missing.contains("nothing.lineal; check the path, or train"), "{missing}");
    assert!(why("no/such.lineal").contains("/no does not exist"), "{}", why("no/such.lineal"));
    assert!(why("").contains("is a folder"), "{}", why(""));
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let echo = Arc::new(move |_: &str, _: &[u8]| {
        Ok(Box::new(Echo {
            is_quick: false,
            gate: gate.clone(),
            unwanted: Mutex::default(),
            given_up: Arc::default(),
        }) as Box<dyn Served>)
    });
    // A port that is taken, and an address that this machine does not have.
    let first = Server::start(&options(path.clone(), None), echo.clone()).unwrap();
    let mut taken = options(path.clone(), None);
    taken.port = first.address().port();
    let why = Server::start(&taken, echo.clone()).err().unwrap().to_string();
    assert!(why.contains("another program does"), "{why}");
    taken.host = [192, 0, 2, 1].into();
    let why = Server::start(&taken, echo.clone()).err().unwrap().to_string();
    assert!(why.contains("192.0.2.1 is not an address of this machine"), "{why}");
    drop(first);
    let (certificate, key) = (file("localhost.pem"), file("localhost.pem"));
    let why = |certificate: PathBuf, key: PathBuf| {
        let tls = Some(TlsFiles { certificate, key });
        Server::start(&options(path.clone(), tls), echo.clone()).err().unwrap().to_string()
    };
    let told = why(certificate.clone(), key);
    assert!(told.contains("no private key"), "{told}");
    let told = why(certificate.clone(), folder.path().join("no.pem"));
    assert!(told.contains("no.pem cannot be read"), "{told}");
    let sealed = folder.path().join("sealed.pem");
    std::fs::write(
        &sealed,
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMA==\n-----END ENCRYPTED PRIVATE KEY-----\n",
    )
    .unwrap();
    let told = why(certificate, sealed);
    assert!(told.contains("the key has a password"), "{told}");
}
