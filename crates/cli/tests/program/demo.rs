//! The built-in sets.

use crate::world::World;

#[test]
fn each_set_trains_and_shows() {
    let world = World::new();
    let list = world.run(&["demo", "--list"]).done().out;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["flowers", "tickets", "houses"]);
    for name in names {
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
    world.run(&["demo", "roses"]).failed(1, &["`roses`", "flowers, tickets, houses"]);
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
    for name in ["flowers", "tickets", "houses"] {
        let out = world.run(&["demo", name, "--write", "sets"]).done().out;
        let command =
            out.lines().find_map(|line| line.strip_prefix("now try: lineal ")).unwrap().to_owned();
        let words: Vec<&str> = command.split(' ').collect();
        world.run(&words).done().says(&["converged", "wrote"]);
        assert!(world.has(&format!("sets/{name}.lineal")));
    }
}
