//! Reductions that learn from costs.

mod learners;

use learners::{BestStump, LeastSquares, MeanDifference, Nearest, Point};
use lineal_reduce::{
    CostAllPairs, CostOneVsAll, Costs, Error, Examples, FilterTree, OneVsAll, OneVsOne,
    PairDecision, Scratch, Tree,
};
use proptest::prelude::*;

const DECISIONS: [PairDecision; 3] =
    [PairDecision::Votes, PairDecision::Scores, PairDecision::Tournament];

fn zero_one(k: usize) -> Vec<f64> {
    (0..k * k).map(|i| if i / k == i % k { 0.0 } else { 1.0 }).collect()
}

/// Different points of a small grid with classes, and a table of costs. They are multiples of 12, whose means over 2, 3 or 4 are
/// whole: sums of weights then have no rounding.
fn problem() -> impl Strategy<Value = (usize, Vec<Point>, Vec<u32>, Vec<f64>)> {
    (2usize..6).prop_flat_map(|k| {
        let points = prop::collection::btree_set((-8i32..8, -8i32..8), 1..30);
        let points = points.prop_map(|set| {
            set.into_iter().map(|(a, b)| [f64::from(a), f64::from(b)]).collect::<Vec<Point>>()
        });
        let costs = prop::collection::vec((0u8..6).prop_map(|c| 12.0 * f64::from(c)), k * k);
        (Just(k), points, costs).prop_flat_map(move |(k, x, costs)| {
            let y = prop::collection::vec(0..k as u32, x.len());
            (Just(k), Just(x), y, Just(costs))
        })
    })
}

proptest! {
    #[test]
    fn if_every_mistake_costs_one_it_is_the_plain_reduction((k, x, y, _) in problem()) {
        let table = zero_one(k);
        let costs = Costs::new(k, &table).unwrap();
        let examples = Examples::new(&x[..], &y, k).unwrap();
        let mut scratch = Scratch::default();
        let (plain, cost) = (
            OneVsOne::fit(&MeanDifference, &examples).unwrap(),
            CostAllPairs::fit(&MeanDifference, &examples, &costs).unwrap(),
        );
        prop_assert_eq!(plain.report(), cost.report());
        let (all, cost_all) = (
            OneVsAll::fit(&MeanDifference, &examples).unwrap(),
            CostOneVsAll::fit(&MeanDifference, &examples, &costs).unwrap(),
        );
        prop_assert_eq!(all.report(), cost_all.report());
        for x in &x {
            for decision in DECISIONS {
                prop_assert_eq!(cost.predict(x, decision, &mut scratch), plain.predict(x, decision, &mut scratch));
            }
            prop_assert_eq!(cost_all.predict(x), all.predict(x));
        }
    }

    /// Where the learner makes no error, and different points never need one, no row costs more than it must.
    #[test]
    fn without_binary_errors_there_is_no_regret((k, x, y, table) in problem(), seed in 0u64..50) {
        let costs = Costs::new(k, &table).unwrap();
        let examples = Examples::new(&x[..], &y, k).unwrap();
        let learner = Nearest(&x);
        let mut scratch = Scratch::default();
        let pairs = CostAllPairs::fit(&learner, &examples, &costs).unwrap();
        let all = CostOneVsAll::fit(&learner, &examples, &costs).unwrap();
        let filter = FilterTree::fit(&learner, &examples, &costs, Tree::balanced(k, seed).unwrap()).unwrap();
        for (x, &y) in x.iter().zip(&y) {
            let row = costs.row(y);
            let least = row.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert_eq!(row[filter.predict(x) as usize], least);
            prop_assert_eq!(row[all.predict(x) as usize], least);
            prop_assert_eq!(row[pairs.predict(x, PairDecision::Tournament, &mut scratch) as usize], least);
            // Of classes that cost the least none has to win all its duels, but only those do.
            if row.iter().filter(|c| **c == least).count() == 1 {
                prop_assert_eq!(row[pairs.predict(x, PairDecision::Votes, &mut scratch) as usize], least);
            }
        }
    }

    /// A weight of 2 is a row that stands there twice.
    #[test]
    fn weights_are_repetitions((k, x, y, table) in problem(), tree_seed in 0u64..50) {
        let costs = Costs::new(k, &table).unwrap();
        let weights: Vec<f32> = y.iter().zip(0u8..).map(|(_, i)| f32::from(i % 3)).collect();
        let repeated = |i: usize| std::iter::repeat_n(i, weights[i] as usize);
        let rows: Vec<usize> = (0..x.len()).flat_map(repeated).collect();
        prop_assume!(!rows.is_empty());
        let x2: Vec<Point> = rows.iter().map(|&i| x[i]).collect();
        let y2: Vec<u32> = rows.iter().map(|&i| y[i]).collect();
        let a = Examples::new(&x[..], &y, k).unwrap().with_weights(&weights).unwrap();
        let b = Examples::new(&x2[..], &y2, k).unwrap();
        let tree = Tree::balanced(k, tree_seed).unwrap();
        let filters = (
            FilterTree::fit(&BestStump, &a, &costs, tree.clone()).unwrap(),
            FilterTree::fit(&BestStump, &b, &costs, tree).unwrap(),
        );
        let all = (
            CostOneVsAll::fit(&BestStump, &a, &costs).unwrap(),
            CostOneVsAll::fit(&BestStump, &b, &costs).unwrap(),
        );
        let pairs = (
            CostAllPairs::fit(&BestStump, &a, &costs).unwrap(),
            CostAllPairs::fit(&BestStump, &b, &costs).unwrap(),
        );
        let mut scratch = Scratch::default();
        for x in &x {
            prop_assert_eq!(filters.0.predict(x), filters.1.predict(x));
            prop_assert_eq!(all.0.predict(x), all.1.predict(x));
            for decision in DECISIONS {
                prop_assert_eq!(pairs.0.predict(x, decision, &mut scratch), pairs.1.predict(x, decision, &mut scratch));
            }
        }
    }
}

/// Class 0 to the left, 1 to the right, and between −1 and 1 both alike.
fn overlap() -> (Vec<Point>, Vec<u32>) {
    let sure = (2..8).flat_map(|i| [([-f64::from(i), 0.0], 0), ([f64::from(i), 0.0], 1)]);
    let between = (-4..=4).flat_map(|i| [0, 1].map(|y| ([f64::from(i) / 4.0, 0.0], y)));
    sure.chain(between).unzip()
}

/// To call 1 a 0 is ten times as dear: where both are likely, 1 is predicted. The other way round, 0.
#[test]
fn costs_move_the_border() {
    let (x, y) = overlap();
    let examples = Examples::new(&x[..], &y, 2).unwrap();
    let mut scratch = Scratch::default();
    for (table, between) in [([0.0, 1.0, 10.0, 0.0], 1), ([0.0, 10.0, 1.0, 0.0], 0)] {
        let costs = Costs::new(2, &table).unwrap();
        let pairs = CostAllPairs::fit(&BestStump, &examples, &costs).unwrap();
        let all = CostOneVsAll::fit(&BestStump, &examples, &costs).unwrap();
        let filter =
            FilterTree::fit(&BestStump, &examples, &costs, "(0 1)".parse().unwrap()).unwrap();
        for (at, expected) in [(-5.0, 0), (-0.6, between), (0.6, between), (5.0, 1)] {
            let x = [at, 0.0];
            assert_eq!(pairs.predict(&x, PairDecision::Votes, &mut scratch), expected, "{at}");
            assert_eq!(all.predict(&x), expected, "{at}");
            assert_eq!(filter.predict(&x), expected, "{at}");
        }
    }
}

/// Class 2 has no rows: it is "ask a human", which costs 0.3 whatever the truth.
#[test]
fn a_class_that_is_never_true_is_predicted_where_it_is_cheapest() {
    let (x, y) = overlap();
    let examples = Examples::new(&x[..], &y, 3).unwrap();
    let table = [0.0, 1.0, 0.3, 1.0, 0.0, 0.3, 1.0, 1.0, 0.0];
    let costs = Costs::new(3, &table).unwrap();
    let pairs = CostAllPairs::fit(&BestStump, &examples, &costs).unwrap();
    // A stump can cut off one end of "1 or 2" and of "0 or the winner of those".
    let filter =
        FilterTree::fit(&BestStump, &examples, &costs, "(0 (1 2))".parse().unwrap()).unwrap();
    assert_eq!(filter.report().problems, 2);
    let mut scratch = Scratch::default();
    for (at, expected) in [(-5.0, 0), (-0.6, 2), (0.0, 2), (0.6, 2), (5.0, 1)] {
        let x = [at, 0.0];
        assert_eq!(pairs.predict(&x, PairDecision::Votes, &mut scratch), expected, "{at}");
        assert_eq!(pairs.predict(&x, PairDecision::Tournament, &mut scratch), expected, "{at}");
        assert_eq!(filter.predict(&x), expected, "{at}");
    }
    // From probabilities, the same.
    assert_eq!(costs.least_expected(&[0.9, 0.1, 0.0]), 0);
    assert_eq!(costs.least_expected(&[0.6, 0.4, 0.0]), 2);
    // One-vs-all asks who is the cheapest of all, which is never 2.
    let all = CostOneVsAll::fit(&BestStump, &examples, &costs).unwrap();
    assert!((-8..8).all(|i| all.predict(&[f64::from(i), 0.0]) != 2));
}

#[test]
fn a_class_that_is_always_cheapest_needs_no_learning() {
    let (x, y) = overlap();
    let examples = Examples::new(&x[..], &y, 3).unwrap();
    let table = [1.0, 1.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0];
    let costs = Costs::new(3, &table).unwrap();
    let mut scratch = Scratch::default();
    let pairs = CostAllPairs::fit(&BestStump, &examples, &costs).unwrap();
    let all = CostOneVsAll::fit(&BestStump, &examples, &costs).unwrap();
    let tree: Tree = "((0 1) 2)".parse().unwrap();
    let filter = FilterTree::fit(&BestStump, &examples, &costs, tree).unwrap();
    assert_eq!(
        (pairs.report().problems, all.report().problems, filter.report().problems),
        (0, 0, 0)
    );
    for decision in DECISIONS {
        assert_eq!(pairs.predict(&x[0], decision, &mut scratch), 2);
    }
    assert_eq!((all.predict(&x[0]), filter.predict(&x[0])), (2, 2));
    // All classes cost the same: nothing to learn, and the lowest is as good as any.
    let same = [1.0; 9];
    let costs = Costs::new(3, &same).unwrap();
    let all = CostOneVsAll::fit(&BestStump, &examples, &costs).unwrap();
    let pairs = CostAllPairs::fit(&BestStump, &examples, &costs).unwrap();
    assert_eq!(
        (all.predict(&x[0]), pairs.predict(&x[0], PairDecision::Votes, &mut scratch)),
        (0, 0)
    );
}

#[test]
fn filter_trees_do_not_depend_on_the_number_of_threads() {
    let x: Vec<Point> = (0..60).map(|i| [f64::from(i % 8), f64::from(i / 8)]).collect();
    let y: Vec<u32> = (0..60).map(|i| i * i % 7).collect();
    let table: Vec<f64> = (0..49u8).map(|i| f64::from(i * 5 % 11)).collect();
    let predict = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (examples, costs) =
                (Examples::new(&x[..], &y, 7).unwrap(), Costs::new(7, &table).unwrap());
            let tree = Tree::balanced(7, 1).unwrap();
            let model = FilterTree::fit(&LeastSquares, &examples, &costs, tree).unwrap();
            (model.report(), x.iter().map(|x| model.predict(x)).collect::<Vec<_>>())
        })
    };
    assert_eq!(predict(1), predict(3));
}

#[test]
fn tables_of_other_sizes_are_refused() {
    let (x, y) = overlap();
    let examples = Examples::new(&x[..], &y, 3).unwrap();
    let table = zero_one(2);
    let costs = Costs::new(2, &table).unwrap();
    let said = CostAllPairs::fit(&BestStump, &examples, &costs).unwrap_err().to_string();
    assert_eq!(said, "the cost table is for 2 classes, the examples have 3");
    assert!(CostOneVsAll::fit(&BestStump, &examples, &costs).is_err());
    let tree = Tree::balanced(3, 1).unwrap();
    assert!(FilterTree::fit(&BestStump, &examples, &costs, tree).is_err());
    let three = zero_one(3);
    let costs = Costs::new(3, &three).unwrap();
    let tree = Tree::balanced(2, 1).unwrap();
    assert!(FilterTree::fit(&BestStump, &examples, &costs, tree).is_err());
    assert_eq!(Costs::new(2, &[0.0; 9]).unwrap_err(), Error::Costs { n_classes: 2, found: 9 });
}
