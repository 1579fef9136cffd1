//! `--task segment` on graphs in JSON lines.

use crate::world::World;
use serde_json::Value;

/// Chains whose first half is warm and whose second half is cold, and that say so.
fn graphs(n: usize) -> String {
    let line = |i: usize| {
        let node = |at: usize| match (i + at) % 4 < 2 {
            true => r#"{"warm": 0.7, "size": 0.1}"#,
            false => r#"{"cold": 1.3, "size": 0.1}"#,
        };
        let label = |at: usize| if (i + at) % 4 < 2 { r#""day""# } else { r#""night""# };
        let list = |f: &dyn Fn(usize) -> String| (0..4).map(f).collect::<Vec<_>>().join(", ");
        format!(
            r#"{{"id": "g{i}", "nodes": [{}], "edges": [[0, 1, [0.3]], [1, 2, [0.1]], [2, 3, [0.3]]], "labels": [{}], "weight": 2}}"#,
            list(&|at| node(at).to_owned()),
            list(&|at| label(at).to_owned()),
        )
    };
    (0..n).map(|i| line(i) + "\n").collect()
}

#[test]
fn predicted_graphs_are_gold_for_eval_and_train() {
    let world = World::new();
    world.file("g.jsonl", graphs(6));
    let train = ["train", "g.jsonl", "--task", "segment", "-C", "10", "-o", "m.lineal", "-q"];
    world.run(&train).done();
    let lines = world.run(&["predict", "m.lineal", "g.jsonl", "--output", "jsonl"]).done().out;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["nodes"][0], serde_json::json!({"warm": 0.7, "size": 0.1}));
    assert_eq!(first["edges"][1], serde_json::json!([1, 2, [0.1]]));
    assert_eq!((&first["weight"], &first["id"]), (&2.0.into(), &"g0".into()));
    world.file("seven.jsonl", graphs(1).replace("\"g0\"", "7"));
    let seven = world.run(&["predict", "m.lineal", "seven.jsonl", "--output", "jsonl"]).done().out;
    assert_eq!(serde_json::from_str::<Value>(&seven).unwrap()["id"], 7);
    world.file("found.jsonl", &lines);
    let eval = world.run(&["eval", "m.lineal", "found.jsonl", "--json", "-q"]).done().out;
    let told: Value = serde_json::from_str(&eval).unwrap();
    assert_eq!(told["pixel_accuracy"], 1.0);
    let again =
        ["train", "found.jsonl", "--task", "segment", "-C", "10", "-o", "again.lineal", "-q"];
    world.run(&again).done();
    // The same graphs, predicted by a model of themselves.
    let same = world.run(&["predict", "again.lineal", "found.jsonl", "--output", "text"]).done();
    let gold = world.run(&["predict", "m.lineal", "g.jsonl", "--output", "text"]).done();
    assert_eq!(same.out, gold.out);
}

#[test]
fn features_that_training_did_not_have_are_said_once() {
    let world = World::new();
    world.file("g.jsonl", graphs(6));
    world
        .run(&["train", "g.jsonl", "--task", "segment", "-C", "10", "-o", "m.lineal", "-q"])
        .done();
    world.file("new.jsonl", graphs(2).replace("warm", "hot"));
    let said = "warning: new.jsonl: left out 4 values of features that training did not have: `hot` of nodes";
    let run = world.run(&["predict", "m.lineal", "new.jsonl"]).done();
    assert_eq!(run.out.lines().count(), 2);
    run.says(&[said]);
    world.run(&["eval", "m.lineal", "new.jsonl"]).done().says(&[said]);
}

#[test]
fn without_all_labels_there_is_no_gap_and_a_sentence_says_so() {
    let world = World::new();
    world.file("g.jsonl", graphs(6).replacen("\"day\"", "null", 3));
    let train = ["train", "g.jsonl", "--task", "segment", "-o", "m.lineal", "--json"];
    let run = world.run(&train).done();
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["gap"], &report["unlabelled"]), (&Value::Null, &3.into()));
    assert!(report["certificate"].as_str().unwrap().contains("no dual and so no gap"));
    // Nothing advises a solver that would be refused.
    assert!(!run.out.contains("--solver dual"), "{}", run.out);
    let refused = world.run(&[&train[..], &["--solver", "dual"]].concat());
    assert_eq!(refused.code, 1);
}

/// An image whose left half is dark and whose right half is bright.
fn picture(width: usize, height: usize) -> Vec<u8> {
    let mut bytes = format!("P6\n{width} {height}\n255\n").into_bytes();
    for pixel in 0..width * height {
        let shade = if pixel % width < width / 2 { 20 } else { 220 } + (pixel % 5) as u8;
        bytes.extend([shade, shade, 255 - shade]);
    }
    bytes
}

/// A mask with 0 on the left and 255 on the right; `also` at some pixel.
fn mask(width: usize, height: usize, also: Option<(usize, u8)>) -> Vec<u8> {
    let mut bytes = format!("P5\n{width} {height}\n255\n").into_bytes();
    bytes.extend((0..width * height).map(|pixel| match also {
        Some((at, value)) if at == pixel => value,
        _ if pixel % width < width / 2 => 0,
        _ => 255,
    }));
    bytes
}

/// With the model `m.lineal` of two images.
fn images(flags: &[&str]) -> World {
    let world = World::new();
    for name in ["a", "b"] {
        world.file(&format!("{name}.ppm"), picture(12, 10));
        world.file(&format!("{name}.pgm"), mask(12, 10, None));
    }
    world.file("train.tsv", "a.ppm\ta.pgm\nb.ppm\tb.pgm\n");
    let train = ["train", "train.tsv", "--task", "segment", "-o", "m.lineal", "-q"];
    world.run(&[&train, flags].concat()).done();
    world
}

#[test]
fn masks_with_a_value_that_training_did_not_see_count_as_wrong() {
    let world = images(&[]);
    world.file("new.pgm", mask(12, 10, Some((5, 77))));
    world.file("test.tsv", "a.ppm\tnew.pgm\nb.ppm\tb.pgm\n");
    let run = world.run(&["eval", "m.lineal", "test.tsv", "--json"]).done();
    let told = run.json();
    assert!((told["pixel_accuracy"].as_f64().unwrap() - 239.0 / 240.0).abs() < 1e-9, "{told}");
    run.says(&["test.tsv: 1 pixel with a label that training did not see, such as `77`"]);
}

#[test]
fn marked_pixels_keep_their_label_with_superpixels() {
    let world = images(&["--superpixels", "6"]);
    // Three pixels of one superpixel are marked, one of them unlike the others; 128 is no label.
    let mut marked = b"P5\n12 10\n255\n".to_vec();
    marked.extend((0..120).map(|pixel| match pixel {
        49 => 255,
        50 | 51 => 0,
        _ => 128,
    }));
    world.file("marked.pgm", marked);
    world.file("known.tsv", "a.ppm\tmarked.pgm\n");
    world.run(&["predict", "m.lineal", "known.tsv", "--known", "-o", "out", "-q"]).done();
    let found = lineal::data::RgbPixels::decode(&world.bytes("out/a.mask.png"), "mask", 1000);
    let found = found.unwrap().rgb;
    assert_eq!([49, 50, 51].map(|pixel| found[3 * pixel]), [255, 0, 0]);
    world.run(&["predict", "m.lineal", "b.ppm", "--known", "-o", "o2"]).done();
    world.file("none.tsv", "a.ppm\n");
    world
        .run(&["predict", "m.lineal", "none.tsv", "--known", "-o", "o3"])
        .failed(1, &["none.tsv: --known", "no image has a mask"]);
}

#[test]
fn outputs_that_are_not_masks_are_refused() {
    let world = images(&[]);
    for out in ["s.csv", "single.jpg"] {
        world
            .run(&["predict", "m.lineal", "a.ppm", "-o", out])
            .failed(2, &[out, "masks are PNG files"]);
        assert!(!world.has(out));
    }
    world.run(&["predict", "m.lineal", "a.ppm", "-o", "one.png"]).done();
    assert!(world.path("one.png").is_file());
    std::fs::create_dir(world.path("other")).unwrap();
    world.file("other/a.ppm", picture(12, 10));
    world.file("twice.tsv", "a.ppm\nother/a.ppm\n");
    world
        .run(&["predict", "m.lineal", "twice.tsv", "-o", "masks"])
        .failed(1, &["would have the same mask"]);
    assert!(!world.has("masks"));
}

#[test]
fn inputs_of_another_kind_are_told_in_words() {
    let world = images(&[]);
    world.file("b.bmp", b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\xff\xff");
    world
        .run(&["predict", "m.lineal", "b.bmp"])
        .failed(1, &["BMP image", "PNG, JPEG, PPM and PGM"]);
    world.file("g.jsonl", graphs(6));
    world.run(&["predict", "m.lineal", "g.jsonl"]).failed(1, &["trained on images", "graphs"]);
    let train = ["train", "-", "--task", "segment", "-o", "n.lineal"];
    world.run_with_input(&train, &graphs(2)).failed(1, &["JSON lines", "--format jsonl"]);
    let train = ["train", "g.jsonl", "--task", "segment", "-o", "g.lineal"];
    world.run(&train).done().says(&["6 graphs, 24 nodes"]);
    let run = world.run(&["predict", "g.lineal", "a.ppm"]);
    run.failed(1, &["trained on graphs"]);
    world
        .run(&[&train[..], &["--superpixels", "5"]].concat())
        .failed(2, &["--superpixels is for images"]);
    world.run(&["predict", "g.lineal", "g.jsonl", "--confidence"]).failed(2, &["--output jsonl"]);
    let told = world.run(&["explain", "g.lineal", "g.jsonl", "--rows", "1", "--token", "3"]).done();
    assert!(told.out.contains("node 3:"), "{}", told.out);
    // C of graphs is 1 unless said; -C 1 is the same model.
    world.run(&["train", "g.jsonl", "--task", "segment", "-C", "1", "-o", "c.lineal", "-q"]).done();
    let weights =
        |model: &str| world.run(&["inspect", model, "--json"]).done().json()["edges"].clone();
    assert_eq!(weights("g.lineal"), weights("c.lineal"));
}

#[test]
fn a_named_label_that_no_pixel_has_is_said() {
    let world = images(&[]);
    let train = ["train", "train.tsv", "--task", "segment", "-o", "n.lineal", "--mask-labels"];
    let run = world.run(&[&train[..], &["ground=0,sky=255,sea=9"]].concat());
    run.done().says(&["no pixel has the label sea"]);
}

#[test]
fn void_pixels_do_not_ask_for_more_epochs() {
    let world = images(&[]);
    world.file("a.pgm", mask(12, 10, Some((5, 77))));
    let train = ["train", "train.tsv", "--task", "segment", "-o", "n.lineal", "--mask-void", "77"];
    let run = world.run(&train).done();
    assert!(!run.err.contains("--epochs"), "{}", run.err);
    world
        .run(&[&train[..], &["--solver", "dual"]].concat())
        .failed(1, &["void pixels", "--solver sgd"]);
}

#[test]
fn tuning_says_when_the_best_c_is_at_the_edge() {
    let world = World::new();
    // Days are three times as many as nights, and hardly look different.
    let line = |i: usize| match i % 4 {
        0 => "{\"nodes\": [[-0.1]], \"labels\": [\"night\"]}\n",
        _ => "{\"nodes\": [[0.1]], \"labels\": [\"day\"]}\n",
    };
    world.file("g.jsonl", (0..24).map(line).collect::<String>());
    let tune = ["tune", "g.jsonl", "--task", "segment", "--folds", "3", "-C"];
    // So little that everything is a day, and enough.
    let said = "the best C, 1000, is the largest that was tried";
    world.run(&[&tune[..], &["0.0000001,1000"]].concat()).done().says(&[said]);
    let run = world.run(&[&tune[..], &["0.0000001,1000,2000"]].concat()).done();
    assert!(!run.err.contains("that was tried"), "{}", run.err);
}
