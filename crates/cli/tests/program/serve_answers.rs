//! `lineal serve` answers as `lineal predict` and `lineal explain` do, to the bit, for every task.

use serde_json::{Value, json};

use crate::http::Serving;
use crate::world::{FRUIT, TINY, World};

const LABELS: &str = "weight,colour,uses\n150,red,\"eat,bake\"\n170,green,eat\n140,red,bake\n130,orange,drink\n160,orange,\"drink,eat\"\n120,yellow,eat\n";
const PRICES: &str =
    "weight,colour,price\n150,red,1.5\n170,green,1.75\n140,red,1.4\n130,orange,2.1\n";
const NEWS: &str = "label,text\nmoney,the bank raised its rates again\nmoney,\"shares fell, and the bank lost\"\nsport,the team won its last game\nsport,a goal in the last minute of the game\nmoney,rates of the bank are high\nsport,the coach praised the team\n";
const CHUNKS: &str = "the DT B-NP\ndog NN I-NP\nbarks VB B-VP\n\nold JJ B-NP\ncats NN I-NP\nsleep VB B-VP\nin IN B-PP\nParis NNP B-NP\n\n";
const TREES: &str = "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n3\tbarks\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n1\tcats\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tVERB\t_\t_\t0\troot\t_\t_\n3\there\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n\n";
const BRACKETS: &str = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))\n(S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN cat))) (. .))\n";
const LETOR: &str =
    "2 qid:a 1:1 2:0.5\n0 qid:a 1:0 2:0.25\n1 qid:b 1:0.5 2:1\n0 qid:b 1:0.125 2:0\n";
const GRAPH: &str = r#"{"id": "g", "nodes": [{"warm": 0.7}, {"cold": 1.3}], "edges": [[0, 1, [0.3]]], "labels": ["day", "night"]}"#;
const RECORD: &str =
    r#"{"items": [{"l": "x", "features": {"f": 1}}, {"l": "y", "features": {"f": -1}}]}"#;

/// A model, the data that the program reads, the same as a request, and what is asked for.
struct Case {
    name: &'static str,
    train: &'static [&'static str],
    data: (&'static str, Vec<u8>),
    request: Value,
    flags: &'static [&'static str],
    fields: Value,
}

/// A picture of two halves, and its mask.
fn picture() -> [Vec<u8>; 2] {
    let (mut image, mut mask) = (b"P6\n8 6\n255\n".to_vec(), b"P5\n8 6\n255\n".to_vec());
    for pixel in 0..48 {
        let left = pixel % 8 < 4;
        image.extend(if left { [200, 40, 40] } else { [30, 60, 180] });
        mask.push(if left { 0 } else { 255 });
    }
    [image, mask]
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = bytes.iter().flat_map(|b| (0..8).rev().map(move |i| b >> i & 1)).collect();
    let letter = |six: &[u8]| {
        let value = six.iter().chain(&[0; 6]).take(6).fold(0, |value, bit| value << 1 | bit);
        LETTERS[usize::from(value)] as char
    };
    bits.chunks(6).map(letter).collect()
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "fruit",
            train: &["fruit.csv", "--label", "fruit", "--loss", "logistic"],
            data: ("new.csv", b"weight,colour\n151.25,red\n,yellow\n0.1e2,blue\n".to_vec()),
            request: json!({"rows": [
                {"weight": 151.25, "colour": "red"}, [null, "yellow"], {"colour": "blue", "weight": 10.0}
            ]}),
            flags: &["--proba", "--scores", "--top", "2"],
            fields: json!({"proba": true, "scores": true, "top": 2}),
        },
        Case {
            name: "tiny",
            train: &["tiny.svm", "--loss", "logistic"],
            data: ("new.svm", b"0 1:0.3 2:-7e-1\n0 2:5\n".to_vec()),
            request: json!({"rows": [[0.3, -0.7], {"2": 5}]}),
            flags: &["--proba"],
            fields: json!({"proba": true}),
        },
        Case {
            name: "labels",
            train: &["labels.csv", "--label", "uses", "--task", "multilabel"],
            data: ("new.csv", b"weight,colour\n145,red\n".to_vec()),
            request: json!({"rows": [{"weight": 145, "colour": "red"}]}),
            flags: &["--scores"],
            fields: json!({"scores": true}),
        },
        Case {
            name: "prices",
            train: &["prices.csv", "--label", "price", "--task", "regress"],
            data: ("new.csv", b"weight,colour\n145,red\n".to_vec()),
            request: json!({"rows": [{"weight": 145, "colour": "red"}]}),
            flags: &[],
            fields: json!({}),
        },
        Case {
            name: "news",
            train: &["news.csv", "--label", "label", "--text", "text", "--loss", "logistic"],
            data: ("new.csv", "text\n\"the bank, its rates\nand the team\"\ngöal – game\n".into()),
            request: json!({"texts": ["the bank, its rates\nand the team", "göal – game"]}),
            flags: &["--proba", "--top", "1"],
            fields: json!({"proba": true, "top": 1}),
        },
        Case {
            name: "chunks",
            train: &["chunks.conll", "--task", "tag", "--loss", "logistic"],
            data: ("new.conll", b"the DT\nmarket NN\nsleeps VB\n\nParis NNP\n".to_vec()),
            request: json!({"sentences": [
                [["the", "DT"], ["market", "NN"], ["sleeps", "VB"]], {"tokens": ["Paris"], "1": ["NNP"]}
            ]}),
            flags: &["--proba", "--top", "2"],
            fields: json!({"proba": true, "top": 2}),
        },
        Case {
            name: "arcs",
            train: &["trees.conllu", "--task", "dependency", "--hash", "14"],
            data: ("new.conllu", b"1\tthe\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tcats\t_\tNOUN\t_\t_\t_\t_\t_\t_\n3\tsleep\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n".to_vec()),
            request: json!({"sentences": [{"tokens": ["the", "cats", "sleep"], "upos": ["DET", "NOUN", "VERB"]}]}),
            flags: &["--top", "2"],
            fields: json!({"top": 2}),
        },
        Case {
            name: "phrases",
            train: &["trees.mrg", "--task", "constituency", "--loss", "logistic", "--hash", "14"],
            data: ("new.txt", b"the dog sees the cat .\n".to_vec()),
            request: json!({"sentences": ["the dog sees the cat ."]}),
            flags: &["--proba"],
            fields: json!({"proba": true}),
        },
        Case {
            name: "ranks",
            train: &["ranks.letor", "--task", "rank"],
            data: ("new.letor", b"0 qid:q1 1:0.5 2:1\n0 qid:q1 1:0.75\n0 qid:2 2:3\n".to_vec()),
            request: json!({"queries": [
                {"id": "q1", "documents": [[0.5, 1], {"1": 0.75}]}, [{"2": 3}]
            ]}),
            flags: &["--top", "1"],
            fields: json!({"top": 1}),
        },
        Case {
            name: "graphs",
            train: &["graphs.jsonl", "--task", "segment"],
            data: ("new.jsonl", GRAPH.into()),
            request: json!({"examples": [serde_json::from_str::<Value>(GRAPH).unwrap()]}),
            flags: &["--confidence"],
            fields: json!({"confidence": true}),
        },
        Case {
            name: "records",
            train: &["records.jsonl", "--task", "declared", "--declaration", "d.declared"],
            data: ("new.jsonl", RECORD.into()),
            request: json!({"examples": [serde_json::from_str::<Value>(RECORD).unwrap()]}),
            flags: &[],
            fields: json!({}),
        },
        Case {
            name: "images",
            train: &["images.tsv", "--task", "segment"],
            data: ("new.ppm", picture()[0].clone()),
            request: json!({"images": [{"name": "new.ppm", "data": base64(&picture()[0])}]}),
            flags: &[],
            fields: json!({}),
        },
    ]
}

fn trained() -> World {
    let world = World::new();
    world.file("fruit.csv", FRUIT);
    world.file("tiny.svm", TINY);
    world.file("labels.csv", LABELS);
    world.file("prices.csv", PRICES);
    world.file("news.csv", NEWS);
    world.file("chunks.conll", CHUNKS.repeat(5));
    world.file("trees.conllu", TREES.repeat(6));
    world.file("trees.mrg", BRACKETS.repeat(4));
    world.file("ranks.letor", LETOR);
    world.file("graphs.jsonl", format!("{GRAPH}\n").repeat(4));
    world.file("records.jsonl", format!("{RECORD}\n").repeat(4));
    world.file("d.declared", "variable item { x y } from items by l\nrule at most 1 item = x\n");
    let [image, mask] = picture();
    world.file("a.ppm", image);
    world.file("a.pgm", mask);
    world.file("images.tsv", "a.ppm\ta.pgm\n");
    world
}

/// The entries of a list, each as a line.
fn lines(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(Value::to_string).collect()
}

/// The training data, compared: the metrics of `eval --json`, the blocks of `eval --report`, those of the page of training.
fn evaluates(world: &World, server: &Serving, case: &Case, model: &str) {
    let (path, file) = (format!("/v1/models/{}", case.name), case.train[0]);
    let told =
        world.run(&["eval", model, file, "--json", "--report", "r.html", "-q"]).done().json();
    let [image, mask] = picture();
    let request = match case.name {
        "images" => {
            json!({"images": [{"name": "a.ppm", "data": base64(&image), "mask": base64(&mask)}]})
        }
        _ => json!({"file": {"name": format!("C:\\{file}"), "data": base64(&world.bytes(file))}}),
    };
    let answer = server.post(&format!("{path}/evaluate"), &request);
    assert_eq!(answer.status, 200, "{}: {answer:?}", case.name);
    let found = answer.json();
    if case.name != "images" {
        assert_eq!(found["metrics"], told, "{}", case.name);
        let page = String::from_utf8(world.bytes("r.html")).unwrap();
        assert!(page.contains(found["html"].as_str().unwrap()), "{}: {found}", case.name);
    }
    for (wrong, pointer) in [
        (json!({}), if case.name == "images" { "/images" } else { "/file" }),
        (
            json!({"file": {"name": "/etc/passwd", "data": ""}}),
            if case.name == "images" { "/images" } else { "/file" },
        ),
        (json!({"images": 1}), ""),
    ] {
        let answer = server.post(&format!("{path}/evaluate"), &wrong);
        assert_eq!(
            (answer.status, &answer.json()["pointer"]),
            (422, &json!(pointer)),
            "{}: {wrong} {answer:?}",
            case.name
        );
    }
    let views = server.get(&format!("{path}/views")).json();
    assert!(views["training"].is_string(), "{views}");
}

#[test]
fn every_task_answers_as_the_program_does() {
    let (world, cases) = (trained(), cases());
    let models: Vec<String> = cases.iter().map(|case| format!("{}.lineal", case.name)).collect();
    for (case, model) in cases.iter().zip(&models) {
        let train = ["train", "-o", model, "-q"];
        world.run(&[&train[..1], case.train, &train[1..]].concat()).done();
    }
    let args: Vec<&str> = models.iter().map(String::as_str).chain(["--log", "events"]).collect();
    let server = Serving::start(&world, &args);
    for (case, model) in cases.iter().zip(&models) {
        let (file, content) = &case.data;
        world.file(file, content);
        let output = ["--output", "jsonl", "-q"];
        let run = world.run(&[&["predict", model, file][..], case.flags, &output].concat()).done();
        let mut request = case.request.clone();
        for (key, value) in case.fields.as_object().unwrap() {
            request[key] = value.clone();
        }
        let path = format!("/v1/models/{}", case.name);
        let answer = server.post(&format!("{path}/predict"), &request);
        assert_eq!(answer.status, 200, "{}: {answer:?}", case.name);
        let mut body = answer.body.clone();
        let mut found = answer.json()["predictions"].clone();
        if case.name == "images" {
            // The mask is beside the file in the one and in the answer in the other.
            assert!(found[0]["mask"].as_str().unwrap().starts_with("iVBOR"), "{found}");
            found[0]["mask"] = Value::Null;
            body = json!({ "predictions": found }).to_string();
        }
        assert_eq!(lines(&found), run.out.lines().collect::<Vec<_>>(), "{}", case.name);
        // Not only the same numbers: the same bytes.
        assert!(body.contains(&run.out.trim_end().replace('\n', ",")), "{}: {body}", case.name);

        let run = world.run(&["explain", model, file, "--output", "jsonl", "-q"]).done();
        let answer = server.post(&format!("{path}/explain"), &case.request);
        assert_eq!(answer.status, 200, "{}: {answer:?}", case.name);
        assert!(
            answer.body.contains(&run.out.trim_end().replace('\n', ",")),
            "{}: {answer:?}",
            case.name
        );

        evaluates(&world, &server, case, model);
        let inspected = world.run(&["inspect", model, "--json"]).done().json();
        let curve = inspected["curve"].as_array().unwrap();
        // Least squares are solved at once, without a pass.
        assert_eq!(curve.is_empty(), case.name == "prices", "{}: {curve:?}", case.name);
        assert!(curve.len() <= 200 && curve.iter().all(|point| point["seconds"].is_null()));
        let about = server.get(&path).json();
        for (key, value) in inspected.as_object().unwrap() {
            assert_eq!(&about[key], value, "{} {key}", case.name);
        }
        // The example that the server gives can be sent as it is.
        let example = &about["served"]["input"]["example"];
        if !example.is_null() {
            let answer = server.post(&format!("{path}/predict"), example);
            assert_eq!(answer.status, 200, "{}: {example} {answer:?}", case.name);
        }
    }
    // A sentence that would take gigabytes is refused.
    let long = json!({"sentences": [["a"], vec!["a"; 50_001]]});
    for name in ["chunks", "arcs", "phrases"] {
        let answer = server.post(&format!("/v1/models/{name}/predict"), &long);
        assert_eq!(answer.status, 422, "{name}");
        let problem = answer.json();
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("50001"), "{name}: {problem}");
    }
    let list = server.get("/v1/models").json();
    assert_eq!(list["models"].as_array().unwrap().len(), cases.len());
    let described = server.get("/openapi.json").json();
    assert_eq!(described["openapi"], "3.1.0");
    let examples = &described["paths"]["/v1/models/{name}/predict"]["post"]["requestBody"]["content"]
        ["application/json"]["examples"];
    assert!(examples["fruit"]["value"]["rows"].is_array(), "{examples}");
    let answers = &described["paths"]["/v1/models/{name}/predict"]["post"]["responses"]["200"]["content"]
        ["application/json"]["examples"];
    assert!(answers["fruit"]["value"]["predictions"][0]["label"].is_string(), "{answers}");
    assert_eq!(server.metric("lineal_panics_total"), 0.0);
    let log = server.end();
    assert!(log.contains("\"event\":\"ended\",\"drained\":true"), "{log}");
}

#[test]
fn words_add_up_to_what_features_add() {
    let world = World::new();
    world.file("news.csv", NEWS);
    world
        .run(&[
            "train",
            "news.csv",
            "--label",
            "label",
            "--text",
            "text",
            "-o",
            "news.lineal",
            "-q",
        ])
        .done();
    let server = Serving::start(&world, &["news.lineal", "--watch", "0", "--log", "events"]);
    let request = json!({"texts": ["the bank – and the team"], "words": true, "top": 100});
    let found = server.post("/v1/models/news/explain", &request).json()["explanations"][0].clone();
    let parts = found["words"][0]["parts"].as_array().unwrap();
    let text: String = parts.iter().map(|part| part[0].as_str().unwrap()).collect();
    assert_eq!(text, "the bank – and the team");
    let of_words: f64 = parts.iter().map(|part| part[1].as_f64().unwrap()).sum();
    let features = found["features"].as_array().unwrap();
    let of_features: f64 = features.iter().map(|f| f["contribution"].as_f64().unwrap()).sum();
    assert!((of_words - of_features).abs() < 1e-9, "{found}");
    let wrong = json!({"texts": ["a"], "class": "weather"});
    let answer = server.post("/v1/models/news/explain", &wrong);
    assert_eq!((answer.status, &answer.json()["pointer"]), (422, &json!("/class")), "{answer:?}");
    server.end();
}

#[test]
fn what_would_be_read_as_something_else_or_take_too_much_is_refused() {
    let world = World::new();
    world.file("q.letor", LETOR);
    world.file("t.conll", CHUNKS);
    world.file("d.conllu", TREES);
    for (data, task, out) in [
        ("q.letor", "rank", "q.lineal"),
        ("t.conll", "tag", "t.lineal"),
        ("d.conllu", "dependency", "d.lineal"),
    ] {
        world.run(&["train", data, "--task", task, "-o", out]).done();
    }
    let [image, mask] = picture();
    world.file("a.ppm", image);
    world.file("a.pgm", mask);
    world.file("i.tsv", "a.ppm\ta.pgm\n");
    world.run(&["train", "i.tsv", "--task", "segment", "-o", "i.lineal"]).done();
    world.file("p.mrg", BRACKETS);
    world
        .run(&["train", "p.mrg", "--task", "constituency", "--hash", "14", "-o", "p.lineal"])
        .done();
    let models = ["q.lineal", "t.lineal", "d.lineal", "i.lineal", "p.lineal", "--log", "errors"];
    let server = Serving::start(&world, &models);
    let words = |n: usize| json!({"sentences": [vec![json!(["dog", "NN"]); n]]});
    let trees = |n: usize| json!({"sentences": [vec!["dog"; n]]});
    let comment = json!({"queries": [{"id": "a#b", "documents": [[1], [2]]}]});
    for (path, body, status) in [
        ("/v1/models/q/predict", comment, 422),
        ("/v1/models/t/predict", words(1001), 200),
        ("/v1/models/t/explain", words(1001), 422),
        ("/v1/models/d/predict", trees(501), 422),
        ("/v1/models/d/predict", trees(40), 200),
    ] {
        let answer = server.post(path, &body);
        assert_eq!(answer.status, status, "{path} {answer:?}");
    }
    // Of a key that stands there twice, only the last would be seen; of two names of a column, one.
    for (model, body, pointer) in [
        ("q", r#"{"queries": [{"documents": [[1]], "documents": [[2]]}]}"#, "/queries/0/documents"),
        ("q", r#"{"queries": [{"documents": [[1]], "a/b": 1}]}"#, "/queries/0/a~1b"),
        ("t", r#"{"sentences": [{"tokens": ["a"], "1": ["NN"], "1": ["DT"]}]}"#, "/sentences/0"),
        ("d", r#"{"sentences": [["a"], {"tokens": ["a"], "form": ["b"]}]}"#, "/sentences/1/tokens"),
        (
            "p",
            r#"{"sentences": [{"tokens": ["a", "b"], "tags": ["DT", "-NONE-"]}]}"#,
            "/sentences/0/tags/1",
        ),
        ("i", r#"{"images": [{"data": "", "data": ""}]}"#, "/images/0/data"),
        ("i", r#"{"images": [{"data": "", "nam": "a"}]}"#, "/images/0/nam"),
        ("i", r#"{"images": [{"data": "", "name": 7}]}"#, "/images/0/name"),
        ("i", r#"{"images": [{"name": "a"}]}"#, "/images/0/data"),
    ] {
        let path = format!("/v1/models/{model}/predict");
        let answer = server.send("POST", &path, &[], body.as_bytes());
        assert_eq!((answer.status, &answer.json()["pointer"]), (422, &json!(pointer)), "{body}");
    }
    let found = server.post(
        "/v1/models/t/predict",
        &json!({"sentences": [[["\u{feff}", "NN"], ["\u{feff}a", "NN"]]]}),
    );
    assert_eq!(found.json()["predictions"][0]["tokens"], json!(["\u{feff}", "\u{feff}a"]));
    let missing = json!({"sentences": [["dog"]], "part": 7});
    let answer = server.post("/v1/models/d/explain", &missing).json();
    assert_eq!(
        (&answer["pointer"], &answer["detail"]),
        (&json!("/part"), &json!("no sentence has a word 7"))
    );
    server.end();
}
