//! What `objective`, `gap` and `converged` say is so.

use serde_json::Value;

use crate::world::World;

/// Thirty rows that a search found: features with an offset, where in f32 the gap was short by 3e-6 of the objective.
const OFFSET: &str = include_str!("../../../../testdata/certificates/offset.svm");

fn trained(world: &World, flags: &[&str]) -> Value {
    let args = ["train", "a.svm", "-o", "m.lineal", "--json", "-q"];
    world.run(&[&args[..], flags].concat()).done().json()
}

#[test]
fn a_gap_in_single_precision_holds_on_features_with_an_offset() {
    let world = World::new();
    world.file("a.svm", OFFSET);
    let flags = ["--loss", "hinge", "-C", "4.001683454975977", "--solver", "dual"];
    let run =
        |more: &[&str]| trained(&world, &[&flags[..], &["--max-passes", "20000"], more].concat());
    let rough = run(&["--precision", "f32", "--tol", "1e-3"]);
    let fine = run(&["--precision", "f64", "--tol", "1e-9"]);
    let [objective, gap] = ["objective", "gap"].map(|key| rough[key].as_f64().unwrap());
    let best = fine["objective"].as_f64().unwrap();
    assert!(objective - gap <= best, "{objective} − {gap} is above {best}");
    assert!(gap <= 1.01e-3 * objective, "{objective} {gap}");
}

/// `converged` was once 0.75 above the optimum.
#[test]
fn without_a_penalty_tiny_features_have_not_converged_before_they_are_there() {
    let world = World::new();
    let rows = |unit: f64| -> String {
        let row = |i: i32| {
            let (a, b) = (f64::from(i % 7 - 3), f64::from(i * i % 11 - 5));
            let y = i32::from(a + 0.5 * b + f64::from(i % 3 - 1) > 0.0);
            format!("{y} 1:{:e} 2:{:e}\n", a * unit, b * unit)
        };
        (0..60).map(row).collect()
    };
    for loss in ["logistic", "squared-hinge", "squared"] {
        let flags = ["--l2", "0", "--loss", loss];
        world.file("a.svm", rows(1.0));
        let usual = trained(&world, &flags);
        world.file("a.svm", rows(1e-30));
        let tiny = trained(&world, &flags);
        assert!(usual["gap"].is_null() && tiny["gap"].is_null(), "{usual} {tiny}");
        let [usual, there] = [&usual, &tiny].map(|run| run["objective"].as_f64().unwrap());
        let near = (there - usual).abs() <= 1e-2 * usual.abs();
        assert!(near || tiny["converged"] == false, "{loss}: {there} and {usual}");
        let run = world.run(&["train", "a.svm", "-o", "m.lineal", "--l2", "0", "--loss", loss]);
        run.done().says(&["nothing is proven"]);
    }
}
