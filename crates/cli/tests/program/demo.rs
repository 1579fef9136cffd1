//! The built-in sets.

use crate::world::World;

#[test]
fn each_set_trains_and_shows() {
    let world = World::new();
    let list = world.run(&["demo", "--list"]).done().out;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        names,
        ["flowers", "tickets", "letters", "houses", "four-classes", "circles", "xor", "tags"]
    );
    for name in names.into_iter().filter(|name| *name != "tags") {
        let out = world.run(&["demo", name]).done().out;
        for part in [
            &format!("$ lineal train {name}-train."),
            "converged after",
            "of the optimum",
            &format!("$ lineal eval {name}.lineal"),
            "features that weigh most",
            &format!("$ lineal predict {name}.lineal"),
        ] {
            assert!(out.contains(part), "no {part:?} in:\n{out}");
        }
    }
    assert_eq!(world.names(), Vec::<String>::new());
    world.run(&["demo", "roses"]).failed(
        1,
        &["`roses`", "flowers, tickets, letters, houses, four-classes, circles, xor, tags"],
    );
}

#[test]
fn tags_are_trained_tested_reviewed_and_explained() {
    let out = World::new().run(&["demo", "tags"]).done().out;
    for part in [
        "$ lineal train tags-train.conll --task tag --scheme bio ",
        "$ lineal eval tags.lineal tags-test.conll",
        "STREET ",
        "attributes that weigh most",
        "--review-below 0.9",
        "$ lineal explain tags.lineal tags-test.conll --rows ",
        " token 4 `",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
}

#[test]
fn the_default_shows_accuracy_confusions_and_probabilities() {
    let out = World::new().run(&["demo"]).done().out;
    for part in ["flowers", "accuracy", "confusion", "recall", "--proba", "alba:0"] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
}

#[test]
fn written_files_train_by_the_command_that_is_printed() {
    let world = World::new();
    for name in
        ["flowers", "tickets", "letters", "houses", "four-classes", "circles", "xor", "tags"]
    {
        let out = world.run(&["demo", name, "--write", "sets"]).done().out;
        let command =
            out.lines().find_map(|line| line.strip_prefix("now try: lineal ")).unwrap().to_owned();
        let words: Vec<&str> = command.split(' ').collect();
        world.run(&words).done().says(&[" after ", "wrote"]);
        assert!(world.has(&format!("sets/{name}.lineal")));
    }
}

#[test]
fn pictures_show_what_a_map_does() {
    let world = World::new();
    for (name, wrong) in [("circles", "62"), ("xor", "59")] {
        let told = world.run(&["demo", name, "--picture", "map.svg"]).done();
        told.says(&[
            &format!("no map: {wrong} of 200 wrong"),
            "poly:2: 0 of 200 wrong",
            "rff:100: 0 of 200 wrong",
        ]);
        let picture = String::from_utf8(world.bytes("map.svg")).unwrap();
        let kept = format!("{}/../../docs/{name}.svg", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(picture, std::fs::read_to_string(kept).unwrap(), "docs/{name}.svg is old");
    }
}

#[test]
fn a_picture_shows_where_one_vs_all_fails() {
    let world = World::new();
    let run = world.run(&["demo", "four-classes", "--picture", "four.svg"]).done().says(&[
        "joint: 0 of 200 wrong",
        "one-vs-all (ova): 20 of 200 wrong",
        "one-vs-one (ovo): 0 of 200 wrong",
        "wrote four.svg",
    ]);
    assert_eq!(run.out, "");
    let svg = String::from_utf8(world.bytes("four.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for part in ["joint: 0 of 200 wrong</text>", "<polygon", "strip</text>", "wrong</text>"] {
        assert!(svg.contains(part), "{part}");
    }
    assert_eq!(world.run(&["demo", "four-classes", "--picture", "-"]).done().out, svg);
    world.run(&["demo", "houses", "--picture", "h.svg"]).failed(1, &["plane", "four-classes"]);
    world
        .run(&["demo", "four-classes", "--picture", "none/four.svg"])
        .failed(1, &["no folder none"]);
    assert_eq!(world.names(), ["four.svg"]);
}

#[test]
fn the_strip_is_separable_by_argmax_and_not_from_the_rest() {
    let world = World::new();
    world.run(&["demo", "four-classes", "--write", "."]).done();
    let train = ["train", "four-classes-train.csv", "--label", "class", "-q", "-o", "m.lineal"];
    world.run(&[&train[..], &["--hard-margin"]].concat()).done();
    let text = String::from_utf8(world.bytes("four-classes-train.csv")).unwrap();
    let rest = ["lower", "upper", "right"].iter().fold(text, |t, class| t.replace(class, "rest"));
    world.file("rest.csv", rest);
    let train = ["train", "rest.csv", "--label", "class", "-q", "-o", "r.lineal", "--hard-margin"];
    world.run(&train).failed(1, &["row"]);
}
