//! `lineal serve`: what it refuses, what it limits, and what it survives.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::http::{self, Serving};
use crate::world::World;

const ROW: &str = r#"{"rows": [{"weight": 150, "colour": "red"}]}"#;
const PATH: &str = "/v1/models/m/predict";

/// A world with a model of fruit, and a server of it.
fn serving(flags: &[&str]) -> (World, Serving) {
    let world = World::with_model(&["--loss", "logistic"]);
    let log: &[&str] = if flags.contains(&"--log") { &[] } else { &["--log", "events"] };
    let server = Serving::start(&world, &[&["m.lineal"], log, flags].concat());
    (world, server)
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let (_world, server) = serving(&[]);
    for (body, status, pointer) in [
        ("{", 400, json!(null)),
        ("[]", 422, json!("")),
        (r#"{"rows": [{"weight": "heavy", "colour": "red"}]}"#, 422, json!("/rows/0/weight")),
        (
            r#"{"rows": [{"weight": 1, "colour": "red"}, {"weight": [], "colour": "red"}]}"#,
            422,
            json!("/rows/1/weight"),
        ),
        (r#"{"rows": [[1, "red"], [1]]}"#, 422, json!("/rows/1")),
        (r#"{"rows": [3]}"#, 422, json!("/rows/0")),
        (r#"{"rows": [{"weight": 1e400, "colour": "red"}]}"#, 422, json!("/rows/0")),
        (r#"{"rows": [{"weight": 1, "colour": "\ud800"}]}"#, 422, json!("/rows/0")),
        (r#"{"rows": [{"weight": 1, "weight": 2, "colour": "red"}]}"#, 422, json!("/rows/0")),
        (r#"{"texts": ["a"]}"#, 422, json!("/texts")),
        (r#"{"rows": [], "prob": true}"#, 422, json!("/prob")),
        (r#"{"rows": [[1, "red"]], "top": "all"}"#, 422, json!("/top")),
        (r#"{"rows": [[1, "red"]], "min_cost": true}"#, 422, json!("/min_cost")),
        (r#"{"rows": [[1, "red"]], "confidence": true}"#, 422, json!("/confidence")),
    ] {
        let answer = server.send("POST", PATH, &[], body.as_bytes());
        assert_eq!(answer.status, status, "{body} {answer:?}");
        assert!(answer.head.contains("application/problem+json"), "{answer:?}");
        let problem = answer.json();
        assert_eq!(problem["pointer"], pointer, "{body} {problem}");
        let detail = problem["detail"].as_str().unwrap();
        let inner = ["--", "request.jsonl", "each line"];
        assert!(inner.iter().all(|word| !detail.contains(word)), "{detail}");
    }
    for (method, path, status) in [
        ("POST", "/v1/models/x/predict", 404),
        ("POST", "/v1/models/m/predict?proba=true", 422),
        ("PUT", "/", 405),
        ("GET", "/v1/models/x", 404),
        ("GET", "/v1/models/m?top=0", 400),
        // Three classes, each with so many features.
        ("GET", "/v1/models/m?top=100000", 400),
        ("GET", "/nothing", 404),
        ("GET", "/v1/models/%ff%fe", 404),
        ("POST", "/v1/models/%ff/predict", 404),
        ("GET", PATH, 405),
        ("DELETE", "/v1/models/m", 405),
        ("POST", "/", 405),
    ] {
        let answer = server.send(method, path, &[], ROW.as_bytes());
        assert_eq!(answer.status, status, "{method} {path} {answer:?}");
        assert!(answer.json()["detail"].is_string());
    }
    let answer = server.send("POST", PATH, &["content-type: image/png"], ROW.as_bytes());
    assert_eq!(answer.status, 415, "{answer:?}");
    let answer = server.send("POST", PATH, &["content-encoding: gzip"], ROW.as_bytes());
    assert_eq!(answer.status, 415, "{answer:?}");
    let answer = server.send("POST", PATH, &["content-encoding: identity"], ROW.as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    // Deeper than any stack: read, and found to be something else than a row.
    let deep = format!("{{\"rows\": [{}{}]}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(server.send("POST", PATH, &[], deep.as_bytes()).status, 422);
    // What can be asked of an address, for who asks it wrongly.
    assert!(server.send("OPTIONS", PATH, &[], b"").head.contains("allow: POST"));
    // No list is no fault: nothing was asked, and nothing is answered.
    assert_eq!(server.post(PATH, &json!({"rows": []})).json()["predictions"], json!([]));
    server.end();
}

#[test]
fn probes_the_page_ids_and_the_log() {
    let (_world, server) = serving(&["--log", "requests"]);
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/readyz").status, 200);
    let page = server.get("/");
    assert!(page.head.contains("text/html") && page.head.contains("content-security-policy"));
    for part in ["page.js", "page.css"] {
        assert!(page.body.contains(part), "{}", page.body);
        assert_eq!(server.get(&format!("/{part}")).status, 200);
    }
    let answer = server.send("POST", PATH, &["x-request-id: my-1"], b"{}");
    assert!(answer.head.contains("x-request-id: my-1"), "{}", answer.head);
    assert_eq!(answer.json()["instance"], "urn:request:my-1");
    // Without being told, no page of another origin may call.
    let cross = server.send(
        "OPTIONS",
        PATH,
        &["origin: http://a.example", "access-control-request-method: POST"],
        b"",
    );
    assert!(!cross.head.contains("access-control"), "{}", cross.head);
    let log = server.end();
    let lines: Vec<Value> =
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mine = lines.iter().find(|line| line["id"] == "my-1").unwrap();
    assert_eq!((&mine["status"], &mine["path"]), (&json!(422), &json!(PATH)));
    assert!(mine["time"].as_str().unwrap().ends_with('Z') && mine["ms"].is_number());
}

#[test]
fn a_name_that_addresses_escape_is_counted() {
    let world = World::with_model(&[]);
    let server = Serving::start(&world, &["grün=m.lineal", "--log", "errors"]);
    let answer = server.send("POST", "/v1/models/gr%C3%BCn/predict", &[], ROW.as_bytes());
    assert_eq!((answer.status, &answer.json()["model"]), (200, &json!("grün")));
    server.get("/v1/models/made-up");
    let name = "lineal_requests_total{route=\"predict\",model=\"grün\",status=\"200\"}";
    assert_eq!(server.metric(name), 1.0);
    assert_eq!(
        server.metric("lineal_requests_total{route=\"model\",model=\"\",status=\"404\"}"),
        1.0
    );
    server.end();
}

#[test]
fn a_token_keeps_strangers_out_and_origins_are_let_in() {
    let world = World::with_model(&[]);
    world.file("token", "correct-horse\nnot this\n");
    world.file("short", "a\n");
    world.run(&["serve", "m.lineal", "--token-file", "short"]).failed(1, &["8 visible"]);
    world.run(&["serve", "m.lineal", "x=m.lineal", "m=m.lineal"]).failed(2, &["NAME=FILE"]);
    world.file("garbage.lineal", "no model");
    world.run(&["serve", "garbage.lineal"]).failed(1, &["garbage.lineal"]);
    world.run(&["serve", "m.lineal", "--host", "here"]).failed(2, &["give an IP address"]);
    let flags = [
        "m.lineal",
        "--host",
        "localhost",
        "--token-file",
        "token",
        "--allow-origin",
        "http://a.example",
    ];
    let server = Serving::start(&world, &[&flags[..], &["--log", "errors"]].concat());
    for (header, status) in [
        ("x: y", 401),
        ("authorization: Bearer correct-hors", 401),
        ("authorization: Bearer correct-horsf", 401),
        ("authorization: Basic correct-horse", 401),
        ("authorization: Bearer correct-horse", 200),
        ("authorization: bearer correct-horse", 200),
    ] {
        let answer = server.send("POST", PATH, &[header], ROW.as_bytes());
        assert_eq!(answer.status, status, "{header} {answer:?}");
        assert_eq!(server.send("GET", "/metrics", &[header], b"").status, status);
    }
    assert_eq!(server.get("/healthz").status, 200);
    let cross = server.send("GET", "/healthz", &["origin: http://a.example"], b"");
    assert!(cross.head.contains("access-control-allow-origin: http://a.example"), "{}", cross.head);
    let cross = server.send("GET", "/healthz", &["origin: http://b.example"], b"");
    assert!(!cross.head.contains("allow-origin: http://b"), "{}", cross.head);
    server.end();
}

#[test]
fn limits_on_bodies_rows_time_and_memory() {
    let limits =
        ["--max-body", "2kB", "--max-rows", "3", "--timeout", "0.5", "--max-memory", "3kB"];
    let (_world, server) = serving(&limits);
    let rows = |n: usize| json!({"rows": vec![json!([1, "red"]); n]});
    assert_eq!(server.post(PATH, &rows(3)).status, 200);
    let answer = server.post(PATH, &rows(4));
    assert_eq!((answer.status, &answer.json()["pointer"]), (413, &json!("/rows")));

    // Ten gigabytes that are declared are refused before one is sent.
    let mut stream = server.connect();
    write!(stream, "POST {PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 10737418240\r\n\r\n")
        .unwrap();
    assert_eq!(http::read(&mut stream).status, 413);
    // Those that are not declared, when the limit is reached.
    let mut stream = server.connect();
    write!(stream, "POST {PATH} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        .unwrap();
    for _ in 0..10_000 {
        if write!(stream, "400\r\n{}\r\n", " ".repeat(1024)).is_err() {
            break;
        }
    }
    assert_eq!(http::read(&mut stream).status, 413);
    // Half a body, and half a head.
    let mut half = server.connect();
    write!(half, "POST {PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{{\"rows\"")
        .unwrap();
    let mut head = server.connect();
    head.write_all(b"POST /v1/mod").unwrap();
    // Bodies that come slowly hold what has come, and the rest of the memory is for others.
    let mut slow = server.connect();
    write!(
        slow,
        "POST {PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 1900\r\n\r\n{}",
        " ".repeat(1800)
    )
    .unwrap();
    while server.metric("lineal_memory_bytes") < 1800.0 {}
    let answer = server.send("POST", PATH, &[], " ".repeat(1500).as_bytes());
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.head.contains("retry-after"), "{}", answer.head);
    assert_eq!(server.post(PATH, &rows(1)).status, 200);
    assert_eq!(http::read(&mut half).status, 408);
    assert_eq!(http::read(&mut slow).status, 408);
    while server.metric("lineal_memory_bytes") > 0.0 {}
    drop(head);
    server.end();
}

/// More than a block of examples: the answer is one list, places are those of the whole, and the answer counts as memory while it grows.
#[test]
fn large_requests_are_answered_in_blocks() {
    let (_world, server) = serving(&["--max-memory", "2MB"]);
    let request = |last: &str, more: &str| {
        let row = format!("[150.{}, \"red\"]", "0".repeat(120));
        let rows = vec![row; 9_999].join(",");
        format!("{{\"rows\": [{rows},[{last}, \"red\"]]{more}}}")
    };
    let answer = server.send("POST", PATH, &[], request("150", "").as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    let found = answer.json();
    let found = found["predictions"].as_array().unwrap();
    let one = &server.send("POST", PATH, &[], ROW.as_bytes()).json()["predictions"][0];
    assert!(found.len() == 10_000 && found.iter().all(|prediction| prediction == one));
    let answer = server.send("POST", PATH, &[], request("\"heavy\"", "").as_bytes());
    assert_eq!((answer.status, &answer.json()["pointer"]), (422, &json!("/rows/9999/weight")));
    let large = request("150", ", \"proba\": true, \"scores\": true");
    let answer = server.send("POST", PATH, &[], large.as_bytes());
    assert_eq!(answer.status, 503, "{}", answer.head);
    assert!(answer.body.contains("the answer is larger"), "{}", answer.body);
    while server.metric("lineal_memory_bytes") > 0.0 {}
    server.end();
}

#[test]
fn connections_beyond_the_limit_are_refused_and_idle_ones_closed() {
    let (_world, server) = serving(&["--max-connections", "50", "--idle", "2"]);
    let mut idle: Vec<_> = (0..49).map(|_| server.connect()).collect();
    while server.metric("lineal_connections") < 50.0 {}
    let _last = server.connect();
    let mut refused = false;
    while !refused {
        refused = server.get("/healthz").status == 503;
    }
    // They are closed from the other side, all of them.
    for stream in &mut idle {
        let mut nothing = Vec::new();
        let _ = stream.read_to_end(&mut nothing);
    }
    assert_eq!(server.get("/healthz").status, 200);
    assert!(server.metric("lineal_connections_refused_total") >= 1.0);
    server.end();
}

#[test]
fn a_model_is_replaced_and_garbage_is_not() {
    let (world, server) = serving(&["--watch", "0.02"]);
    let (stop, n_answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    let version =
        || server.send("POST", PATH, &[], ROW.as_bytes()).json()["version"].as_u64().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let answer = server.send("POST", PATH, &[], ROW.as_bytes());
                    assert_eq!(answer.status, 200, "{answer:?}");
                    n_answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let good = world.bytes("m.lineal");
        // In place, as `cp` does: what is in use must not change under a request.
        world.file("m.lineal", &good[..good.len() / 2]);
        while server.metric("lineal_model_load_errors_total{model=\"m\"}") < 1.0 {}
        world.file("m.lineal", "garbage");
        while server.metric("lineal_model_load_errors_total{model=\"m\"}") < 2.0 {}
        assert_eq!(version(), 1);
        // Gone is not replaced.
        std::fs::remove_file(world.path("m.lineal")).unwrap();
        assert_eq!(version(), 1);
        world.file("m.lineal", &good);
        while version() < 2 {}
        // Another model altogether, put in place by renaming as `train` does.
        world
            .run(&["train", "fruit.csv", "--label", "fruit", "-o", "m.lineal", "-q", "-C", "7"])
            .done();
        while version() < 3 {}
        stop.store(true, Ordering::Relaxed);
    });
    assert!(n_answers.into_inner() > 0);
    let log = server.end();
    assert_eq!(log.matches("model not loaded").count(), 2, "{log}");
    assert_eq!(log.matches("model loaded").count(), 2, "{log}");
}

/// One request on a connection that stays open: whether it was answered; and the connection, unless the server said that it ends.
fn ask(connection: std::net::TcpStream) -> (bool, Option<std::net::TcpStream>) {
    let mut connection = std::io::BufReader::new(connection);
    let request =
        format!("POST {PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{ROW}", ROW.len());
    if connection.get_mut().write_all(request.as_bytes()).is_err() {
        return (false, None);
    }
    let (mut length, mut closes, mut line) = (0, false, String::new());
    loop {
        line.clear();
        if std::io::BufRead::read_line(&mut connection, &mut line).unwrap_or(0) == 0 {
            return (false, None);
        }
        let lower = line.to_ascii_lowercase();
        if let Some(n) = lower.strip_prefix("content-length:") {
            length = n.trim().parse().unwrap();
        }
        closes |= lower.starts_with("connection: close");
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    let whole = connection.read_exact(&mut body).is_ok();
    (whole && body.ends_with(b"]}"), (!closes).then(|| connection.into_inner()))
}

#[test]
fn no_request_is_lost_when_it_is_told_to_end_under_load() {
    let (_world, server) = serving(&[]);
    let n_answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut open = Some(server.connect());
                    while let Some(connection) = open {
                        let (answered, still_open) = ask(connection);
                        assert!(answered, "a request was lost");
                        n_answered.fetch_add(1, Ordering::Relaxed);
                        open = still_open;
                    }
                })
            })
            .collect();
        while n_answered.load(Ordering::Relaxed) < 100 {}
        server.signal("-TERM");
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
    let log = server.ended();
    assert!(log.contains("\"drained\":true"), "{log}");
}

#[test]
fn streams_are_answered_line_by_line_and_as_slowly_as_they_are_read() {
    let (_world, server) = serving(&["--timeout", "1"]);
    let rows = "{\"weight\": 150, \"colour\": \"red\"}\n[120, \"yellow\"]\n\n{\"weight\": \"heavy\", \"colour\": null}\nnot json\n[1, \"red\"]";
    let kind = ["content-type: application/x-ndjson"];
    let answer = server.send("POST", &format!("{PATH}?top=1"), &kind, rows.as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    let lines: Vec<Value> = answer.body.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 5, "{answer:?}");
    let one =
        server.post(PATH, &json!({"rows": [{"weight": 150, "colour": "red"}], "top": 1})).json();
    assert_eq!(lines[0], one["predictions"][0]);
    assert_eq!(lines[2]["error"]["pointer"], "/weight");
    assert_eq!((&lines[2]["line"], &lines[3]["line"]), (&json!(3), &json!(4)));
    assert!(lines[4]["label"].is_string());

    // Whether a line is whole does not depend on the lines beside it.
    for beside in ["", "[1, \"red\"]\n", "not json\n"] {
        let rows = format!("{{\"weight\": 150}}\n{beside}");
        let answer = server.send("POST", PATH, &kind, rows.as_bytes());
        let first: Value = serde_json::from_str(answer.body.lines().next().unwrap()).unwrap();
        let detail = first["error"]["detail"].as_str().unwrap();
        assert!(detail.contains("has no \"colour\"") && detail.contains("null"), "{detail}");
    }

    // Who waits to be told to go on is told so.
    let mut stream = server.connect();
    write!(stream, "POST {PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\ncontent-length: 12\r\nexpect: 100-continue\r\n\r\n").unwrap();
    let mut told = [0; 25];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    write!(stream, "[150, \"red\"]").unwrap();
    assert!(http::read(&mut stream).body.contains("\"label\""));

    // Each line is answered when it comes.
    let mut stream = server.connect();
    write!(stream, "POST {PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    let line = "[150, \"red\"]\n";
    for n in 1..=3 {
        write!(stream, "{:x}\r\n{line}\r\n", line.len()).unwrap();
        let mut seen = String::new();
        let mut byte = [0];
        while seen.matches("\"label\"").count() < 1 {
            assert_eq!(stream.read(&mut byte).unwrap(), 1, "{n} {seen}");
            seen.push(byte[0] as char);
        }
    }
    drop(stream);

    // Who sends and does not read is not read from, and cut off in the end.
    let mut stream = server.connect();
    write!(stream, "POST {PATH}?proba HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    let block = line.repeat(2000);
    let chunk = format!("{:x}\r\n{block}\r\n", block.len());
    let mut n_bytes = 0usize;
    while stream.write_all(chunk.as_bytes()).is_ok() {
        n_bytes += chunk.len();
        assert!(n_bytes < 1 << 30, "it takes all that is sent");
    }
    while server.metric("lineal_memory_bytes") > 0.0 {}
    server.end();
}

/// Bodies that are almost right: none ends the server, or is a fault of its own.
#[test]
fn mutated_bodies_are_answered() {
    let (_world, server) = serving(&[]);
    let good =
        json!({"rows": [{"weight": 150.5, "colour": "red"}, [1, null]], "proba": true, "top": 2})
            .to_string();
    let mut state = 7u64;
    let mut random = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let parts = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "null",
        "1e999",
        "-",
        "\\u0000",
        "\\ud800",
        "é",
        "\n",
        "true",
        "{\"weight\":",
        "[[[[",
    ];
    for _ in 0..300 {
        let mut body = good.clone().into_bytes();
        for _ in 0..=random(3) {
            let at = random(body.len());
            match random(3) {
                0 => body.truncate(at),
                1 => body[at] = random(256) as u8,
                _ => drop(body.splice(at..at, parts[random(parts.len())].bytes())),
            }
            if body.is_empty() {
                break;
            }
        }
        for route in ["predict", "explain"] {
            let answer = server.send("POST", &format!("/v1/models/m/{route}"), &[], &body);
            let shown = String::from_utf8_lossy(&body).into_owned();
            assert!(matches!(answer.status, 200 | 400 | 422), "{shown} {answer:?}");
        }
    }
    assert_eq!(server.metric("lineal_panics_total"), 0.0);
    server.end();
}

#[test]
fn a_playground_trains_on_points() {
    let world = World::new();
    let server = Serving::playground(&world);
    assert_eq!(server.get("/v1/models").json(), json!({"models": [], "playground": true}));
    let request = json!({
        "points": [[0, 0, "a"], [0, 1, "a"], [3, 0, "b"], [3, 1, "b"]],
        "loss": "hinge", "c": 10, "frame": [-1, -1, 4, 2], "squares": 8,
    });
    let found = server.post("/v1/playground", &request);
    assert_eq!(found.status, 200, "{found:?}");
    assert_eq!(found.json()["grid"].as_array().unwrap().len(), 64);
    for body in ["{", "[]", "{\"points\": 3}", "\u{0}"] {
        let answer = server.send("POST", "/v1/playground", &[], body.as_bytes());
        assert_eq!(answer.status, 422, "{body} {answer:?}");
    }
    server.end();
    let (_world, server) = serving(&[]);
    assert_eq!(server.post("/v1/playground", &request).status, 404);
    server.end();
}

#[test]
fn who_hangs_up_is_no_longer_in_flight_and_counted() {
    let (_world, server) = serving(&["--timeout", "60"]);
    let mut stream = server.connect();
    write!(stream, "POST {PATH} HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{{").unwrap();
    // The one that asks is in flight, too.
    while server.metric("lineal_requests_in_flight") < 2.0 {}
    drop(stream);
    while server.metric("lineal_requests_in_flight") > 1.0 {}
    server.end();
}

#[test]
fn help_says_how_to_begin() {
    let help = World::new().run(&["serve", "--help"]).done().out;
    for part in [
        "--port",
        "--host",
        "--token-file",
        "--certificate",
        "--max-body",
        "--max-rows",
        "--timeout",
        "curl ",
        "NAME=FILE",
        "SIGTERM",
    ] {
        assert!(help.contains(part), "{part}");
    }
}
