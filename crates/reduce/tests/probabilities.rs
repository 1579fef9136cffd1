//! Probabilities of classes where those of the binary questions are exactly known.

use lineal_reduce::{
    BinaryLearner, BinaryScorer, BinaryTask, Code, Examples, LabelTree, OneVsAll, OneVsOne,
    OutputCode, Scratch, Tree,
};
use proptest::prelude::*;
use std::convert::Infallible;

/// An input that carries the probabilities of its classes, and which it drew.
#[derive(Clone, Debug)]
struct Open {
    p: Vec<f64>,
    y: u32,
}

/// Knows which classes the question is about.
struct Teller {
    yes: Vec<u32>,
    no: Vec<u32>,
}

impl BinaryScorer for Teller {
    type Inputs = [Open];
    fn score(&self, x: &Open) -> f64 {
        self.proba(x).unwrap() - 0.5
    }
    fn proba(&self, x: &Open) -> Option<f64> {
        let mass = |side: &[u32]| side.iter().map(|&k| x.p[k as usize]).sum::<f64>();
        Some(mass(&self.yes) / (mass(&self.yes) + mass(&self.no)))
    }
}

struct Telling;

impl BinaryLearner for Telling {
    type Scorer = Teller;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, [Open]>) -> Result<Teller, Infallible> {
        let side = |sign: f64| {
            let rows = task.iter().filter(|e| e.sign == sign);
            let mut classes: Vec<u32> = rows.map(|e| e.x.y).collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        };
        Ok(Teller { yes: side(1.0), no: side(-1.0) })
    }
}

/// One input a class, all with the same probabilities.
fn inputs() -> impl Strategy<Value = Vec<Open>> {
    (2usize..9).prop_flat_map(|k| prop::collection::vec(0.02..1.0f64, k)).prop_map(|mut p| {
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        (0..p.len() as u32).map(|y| Open { p: p.clone(), y }).collect()
    })
}

proptest! {
    #[test]
    fn true_answers_give_the_true_probabilities(x in inputs(), seed in 0u64..100) {
        let k = x.len();
        let y: Vec<u32> = (0..k as u32).collect();
        let examples = Examples::new(&x[..], &y, k).unwrap();
        let (mut p, mut scratch) = (Vec::new(), Scratch::default());
        let truth = &x[0].p;
        let off = |p: &[f64]| p.iter().zip(truth).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);

        OneVsAll::fit(&Telling, &examples).unwrap().proba(&x[0], &mut p, &mut scratch);
        prop_assert!(off(&p) < 1e-12, "{p:?} {truth:?}");
        OneVsOne::fit(&Telling, &examples).unwrap().proba(&x[0], &mut p, &mut scratch);
        prop_assert!(off(&p) < 1e-9, "{p:?} {truth:?}");
        let tree = LabelTree::fit(&Telling, &examples, Tree::balanced(k, seed).unwrap()).unwrap();
        tree.proba(&x[0], &mut p, &mut scratch);
        prop_assert!(off(&p) < 1e-12, "{p:?} {truth:?}");
        // Up to the small prior.
        for code in [Code::hadamard(k).unwrap(), Code::one_vs_one(k).unwrap(), Code::exhaustive(k).unwrap()] {
            let model = OutputCode::fit(&Telling, &examples, code).unwrap();
            model.proba(&x[0], &mut p, &mut scratch);
            prop_assert!(off(&p) < 0.02, "{p:?} {truth:?} {}", model.code());
        }
    }
}

#[test]
fn one_class_seen_is_certain_and_others_are_impossible() {
    let x = [Open { p: vec![1.0; 3], y: 1 }];
    let examples = Examples::new(&x[..], &[1], 3).unwrap();
    let (mut p, mut scratch) = (Vec::new(), Scratch::default());
    OneVsAll::fit(&Telling, &examples).unwrap().proba(&x[0], &mut p, &mut scratch);
    assert_eq!(p, [0.0, 1.0, 0.0]);
    OneVsOne::fit(&Telling, &examples).unwrap().proba(&x[0], &mut p, &mut scratch);
    assert_eq!(p, [0.0, 1.0, 0.0]);
    let code = OutputCode::fit(&Telling, &examples, Code::one_vs_all(3).unwrap()).unwrap();
    code.proba(&x[0], &mut p, &mut scratch);
    assert_eq!(p, [0.0, 1.0, 0.0]);
    let tree = LabelTree::fit(&Telling, &examples, "(0 (1 2))".parse().unwrap()).unwrap();
    tree.proba(&x[0], &mut p, &mut scratch);
    assert_eq!(p, [0.0, 1.0, 0.0]);
}
