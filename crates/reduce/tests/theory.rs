//! What the theory says of reductions, on sets small enough to prove it.

mod learners;

use learners::{LeastSquares, MeanDifference, Point};
use lineal_reduce::{
    BinaryScorer, Code, Decoding, Examples, LabelTree, MarginLoss, OneVsAll, OneVsOne, OutputCode,
    PairDecision, Scratch, Tree,
};
use proptest::prelude::*;

/// Four points around each centre; class k is centre k.
fn crosses(centres: &[Point]) -> (Vec<Point>, Vec<u32>) {
    let arms = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
    let point = |c: &Point, arm: Point| [c[0] + arm[0], c[1] + arm[1]];
    let x = centres.iter().flat_map(|c| arms.map(|arm| point(c, arm))).collect();
    let y = (0..centres.len() as u32).flat_map(|k| [k; 4]).collect();
    (x, y)
}

/// Three corners of a triangle around the origin, and the origin.
const CENTRES: [Point; 4] = [[6.0, 0.0], [-3.0, 5.0], [-3.0, -5.0], [0.0, 0.0]];

fn errors(x: &[Point], y: &[u32], mut predict: impl FnMut(&Point) -> u32) -> usize {
    x.iter().zip(y).filter(|(x, y)| predict(x) != **y).count()
}

#[test]
fn one_vs_all_succeeds_where_each_class_is_apart_from_the_rest() {
    let (x, y) = crosses(&CENTRES[..3]);
    let model = OneVsAll::fit(&LeastSquares, &Examples::new(&x[..], &y, 3).unwrap()).unwrap();
    assert_eq!(errors(&x, &y, |x| model.predict(x)), 0);
}

#[test]
fn a_class_in_the_middle_defeats_linear_one_vs_all_but_not_one_vs_one() {
    let (x, y) = crosses(&CENTRES);
    let examples = Examples::new(&x[..], &y, 4).unwrap();

    // Linearly separable by argmax: "nearest centre" is argmax over k of ⟨2cₖ, x⟩ − ‖cₖ‖², and it makes no error.
    let linear =
        |x: &Point, c: &Point| 2.0 * (c[0] * x[0] + c[1] * x[1]) - (c[0] * c[0] + c[1] * c[1]);
    let argmax = |x: &Point| {
        (0..4u32).max_by(|&a, &b| {
            linear(x, &CENTRES[a as usize]).total_cmp(&linear(x, &CENTRES[b as usize]))
        })
    };
    assert_eq!(errors(&x, &y, |x| argmax(x).unwrap()), 0);

    // No linear f has f > 0 on class 3 and f ≤ 0 on the rest. Proof: each point p of class 3 is a convex combination of
    // points of the rest, Σ λᵢ rᵢ, so that f(p) = Σ λᵢ f(rᵢ) ≤ 0. The three rᵢ are one point of each corner; λ are the
    // barycentric coordinates of p in their triangle, all positive. (All numbers are small integers: no rounding but one
    // division.)
    let corners = [x[0], x[4], x[8]];
    for p in x.iter().zip(&y).filter(|(_, y)| **y == 3).map(|(p, _)| p) {
        let area = |a: Point, b: Point, c: Point| {
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        let whole = area(corners[0], corners[1], corners[2]);
        let lambda = [
            area(*p, corners[1], corners[2]) / whole,
            area(corners[0], *p, corners[2]) / whole,
            area(corners[0], corners[1], *p) / whole,
        ];
        assert!(lambda.iter().all(|&l| l > 0.0));
        assert!((lambda.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for axis in 0..2 {
            let combined: f64 = lambda.iter().zip(&corners).map(|(l, r)| l * r[axis]).sum();
            assert!((combined - p[axis]).abs() < 1e-12);
        }
    }

    // So the fourth problem of one-vs-all keeps errors, whatever linear learner it is given. With least squares its
    // function is constant, −1/2: the classes' means sum to 0, and so do the slopes of the other three, so that for x ≠ 0
    // one of them is above −1/2. Class 3 is never predicted.
    let one_vs_all = OneVsAll::fit(&LeastSquares, &examples).unwrap();
    let middle = one_vs_all.scorer(3).unwrap();
    assert!((middle.bias + 0.5).abs() < 1e-12 && middle.slope.iter().all(|s| s.abs() < 1e-12));
    assert_eq!(errors(&x, &y, |x| one_vs_all.predict(x)), 4);
    let slopes = (0..3).map(|k| one_vs_all.scorer(k).unwrap().slope);
    assert!(
        slopes.fold([0.0; 2], |s, t| [s[0] + t[0], s[1] + t[1]]).iter().all(|s| s.abs() < 1e-12)
    );

    // The same learner on pairs of classes makes no error, by votes or by tournament.
    let one_vs_one = OneVsOne::fit(&LeastSquares, &examples).unwrap();
    let mut scratch = Scratch::default();
    for decision in [PairDecision::Votes, PairDecision::Tournament] {
        assert_eq!(errors(&x, &y, |x| one_vs_one.predict(x, decision, &mut scratch)), 0);
    }
    // Summed scores do err, although each duel is decided rightly: a least-squares score grows without bound, so at
    // the far side of corner 0 the middle's duels with corners 1 and 2 (about 2 each) outweigh its lost one (−1).
    let far = [6.0, 0.0];
    let scores = |a: usize, b: usize| one_vs_one.scorer(a, b).unwrap().score(&far);
    assert!(scores(0, 1) > 0.0 && scores(0, 2) > 0.0 && scores(0, 3) > 0.0);
    assert!(
        -scores(1, 3) - scores(2, 3) - scores(0, 3) > scores(0, 1) + scores(0, 2) + scores(0, 3)
    );
    assert_eq!(one_vs_one.predict(&far, PairDecision::Scores, &mut scratch), 3);
}

#[test]
fn problems_and_rows_are_as_many_as_the_theory_says() {
    let n_rows = 240;
    for k in [2usize, 3, 5, 8, 13] {
        let x: Vec<Point> = (0..n_rows).map(|i| [(i % k) as f64, (i / k) as f64]).collect();
        let y: Vec<u32> = (0..n_rows).map(|i| (i % k) as u32).collect();
        let examples = Examples::new(&x[..], &y, k).unwrap();
        let counts = |r: lineal_reduce::Report| (r.problems, r.skipped, r.rows);

        let one_vs_all = OneVsAll::fit(&MeanDifference, &examples).unwrap();
        assert_eq!(counts(one_vs_all.report()), (k, 0, k * n_rows));
        let one_vs_one = OneVsOne::fit(&MeanDifference, &examples).unwrap();
        assert_eq!(counts(one_vs_one.report()), (k * (k - 1) / 2, 0, (k - 1) * n_rows));
        let code = Code::hadamard(k).unwrap();
        let n_columns = code.n_columns();
        let dense = OutputCode::fit(&MeanDifference, &examples, code).unwrap();
        assert_eq!(counts(dense.report()), (n_columns, 0, n_columns * n_rows));
        let pairs =
            OutputCode::fit(&MeanDifference, &examples, Code::one_vs_one(k).unwrap()).unwrap();
        assert_eq!(pairs.report(), one_vs_one.report());

        // A row is in as many problems of a tree as its class is deep.
        let tree = Tree::balanced(k, 1).unwrap();
        let touched = y.iter().map(|&y| tree.depths()[y as usize]).sum::<usize>();
        let model = LabelTree::fit(&MeanDifference, &examples, tree).unwrap();
        assert_eq!(counts(model.report()), (k - 1, 0, touched));
        assert_eq!(model.tree().depth(), (k as f64).log2().ceil() as usize);
        assert!(touched <= n_rows * model.tree().depth());
    }
}

/// All flips, not a sample of them, of the one small code for which that is cheap; and that one more flip is too many.
#[test]
fn an_exhaustive_code_of_five_classes_survives_every_three_flips_and_not_every_four() {
    let code = Code::exhaustive(5).unwrap();
    assert_eq!((code.n_columns(), code.min_distance(), code.corrects()), (15, 8, 3));
    let mut lost = 0;
    for class in 0..5u32 {
        for flips in (0u32..1 << 15).filter(|flips| flips.count_ones() <= 4) {
            let flip = |l: usize| if flips >> l & 1 == 1 { -1.0 } else { 1.0 };
            let answers: Vec<f64> = code
                .row(class as usize)
                .iter()
                .enumerate()
                .map(|(l, &m)| flip(l) * f64::from(m))
                .collect();
            let survives = code.decode(&answers, Decoding::Hamming) == class;
            assert!(survives || flips.count_ones() == 4);
            lost += usize::from(!survives);
        }
    }
    assert!(lost > 0);
}

/// Random small integer points with classes, some of which may have no rows.
fn points() -> impl Strategy<Value = (usize, Vec<(Point, u32)>)> {
    (2usize..7).prop_flat_map(|k| {
        let point = ((-8i32..8), (-8i32..8), 0..k as u32);
        let point = point.prop_map(|(a, b, y)| ([f64::from(a), f64::from(b)], y));
        (Just(k), prop::collection::vec(point, 1..40))
    })
}

/// Every kind of code for K classes.
fn codes(k: usize, seed: u64) -> Vec<Code> {
    let (dense, sparse) = (Code::usual_dense_columns(k), Code::usual_sparse_columns(k));
    // A BCH code of 7 columns takes from 4 to 16 classes.
    let bch = if k < 4 { Code::exhaustive(k) } else { Code::bch(k, 7) };
    vec![
        bch.unwrap(),
        Code::one_vs_all(k).unwrap(),
        Code::one_vs_one(k).unwrap(),
        Code::exhaustive(k).unwrap(),
        Code::hadamard(k).unwrap(),
        Code::random_dense(k, dense, seed).unwrap(),
        Code::random_sparse(k, sparse, seed).unwrap(),
        Code::greedy(k, dense, seed).unwrap(),
    ]
}

proptest! {
    /// Whatever the columns say where the class has a 0, and whichever ⌊(d−1)/2⌋ columns are wrong.
    #[test]
    fn a_code_survives_as_many_flips_as_it_corrects(
        k in 2usize..9, seed in 0u64..1000, which in any::<prop::sample::Index>(), noise in any::<u64>(),
    ) {
        for code in codes(k, seed) {
            let class = which.index(k);
            let mut noise = noise | 1;
            let mut next = move |below: usize| {
                // Marsaglia's xorshift: enough to pick columns.
                noise ^= noise << 13;
                noise ^= noise >> 7;
                noise ^= noise << 17;
                (noise % below as u64) as usize
            };
            let mut answers: Vec<f64> = code.row(class).iter().map(|&entry| match entry {
                0 => if next(2) == 0 { 1.0 } else { -1.0 },
                entry => f64::from(entry),
            }).collect();
            let mut columns: Vec<usize> = (0..code.n_columns()).collect();
            for _ in 0..code.corrects() {
                let flipped = columns.swap_remove(next(columns.len()));
                answers[flipped] = -answers[flipped];
            }
            if code.min_distance() > 0 {
                prop_assert_eq!(code.decode(&answers, Decoding::Hamming), class as u32, "{}", code);
            }
        }
    }

    #[test]
    fn codes_of_one_vs_all_and_one_vs_one_predict_as_the_reductions_do((k, rows) in points()) {
        let (x, y): (Vec<Point>, Vec<u32>) = rows.into_iter().unzip();
        let examples = Examples::new(&x[..], &y, k).unwrap();
        let mut scratch = Scratch::default();

        let pairs = OneVsOne::fit(&MeanDifference, &examples).unwrap();
        let pairs_as_code =
            OutputCode::fit(&MeanDifference, &examples, Code::one_vs_one(k).unwrap()).unwrap();
        prop_assert_eq!(pairs.report(), pairs_as_code.report());
        let all = OneVsAll::fit(&MeanDifference, &examples).unwrap();
        // Of two classes the code has one column, the direct reduction two that mirror each other.
        let all_as_code = (k > 2)
            .then(|| OutputCode::fit(&MeanDifference, &examples, Code::one_vs_all(k).unwrap()).unwrap());

        for x in &x {
            let direct = pairs.predict(x, PairDecision::Votes, &mut scratch);
            prop_assert_eq!(pairs_as_code.predict(x, Decoding::Hamming, &mut scratch), direct);
            let Some(coded) = &all_as_code else { continue };
            prop_assert_eq!(all.report(), coded.report());
            prop_assert_eq!(coded.predict(x, Decoding::Hamming, &mut scratch), all.predict(x));
            let logistic = Decoding::Loss(MarginLoss::Logistic);
            let scores: Vec<f64> = all.scores(x).collect();
            let y_hat = coded.predict(x, logistic, &mut scratch) as usize;
            prop_assert!(scores[y_hat] >= scores[all.predict(x) as usize] - 1e-9);
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_absent_classes_are_never_predicted((k, rows) in points(), seed in 0u64..100) {
        let (x, y): (Vec<Point>, Vec<u32>) = rows.into_iter().unzip();
        let examples = Examples::new(&x[..], &y, k).unwrap();
        let mut scratch = Scratch::default();
        let (mut p, mut beam) = (Vec::new(), Vec::new());
        let sums_to_one = |p: &[f64]| (p.iter().sum::<f64>() - 1.0).abs() < 1e-9;
        let absent = |class: u32| !y.contains(&class);

        for tree in [Tree::balanced(k, seed).unwrap(), Tree::huffman(&examples.counts()).unwrap()] {
            let model = LabelTree::fit(&MeanDifference, &examples, tree).unwrap();
            for x in &x {
                model.proba(x, &mut p, &mut scratch);
                prop_assert!(sums_to_one(&p));
                model.predict_beam(x, k, &mut beam, &mut scratch);
                let best = p.iter().copied().fold(0.0, f64::max);
                prop_assert_eq!(beam[0].1, best);
                for &(class, q) in &beam {
                    prop_assert_eq!(q, model.probability(x, class));
                    prop_assert_eq!(q, p[class as usize]);
                    prop_assert!(!absent(class));
                }
                model.predict_beam(x, 1, &mut beam, &mut scratch);
                prop_assert_eq!(beam.len(), 1);
                prop_assert_eq!(beam[0].0, model.predict(x));
                prop_assert!(!absent(beam[0].0));
            }
        }
        for code in codes(k, seed) {
            let model = OutputCode::fit(&MeanDifference, &examples, code).unwrap();
            for x in &x {
                model.proba(x, &mut p, &mut scratch);
                prop_assert!(sums_to_one(&p));
                for decoding in [Decoding::Hamming, Decoding::Probability, Decoding::Loss(MarginLoss::Hinge)] {
                    prop_assert!(!absent(model.predict(x, decoding, &mut scratch)));
                }
            }
        }
        let all = OneVsAll::fit(&MeanDifference, &examples).unwrap();
        let pairs = OneVsOne::fit(&MeanDifference, &examples).unwrap();
        for x in &x {
            all.proba(x, &mut p, &mut scratch);
            prop_assert!(sums_to_one(&p) && (0..k as u32).all(|class| !absent(class) || p[class as usize] == 0.0));
            // Sigmoids of the scores, so that the order stays.
            prop_assert!(p.iter().all(|q| *q <= p[all.predict(x) as usize]));
            pairs.proba(x, &mut p, &mut scratch);
            prop_assert!(sums_to_one(&p) && (0..k as u32).all(|class| !absent(class) || p[class as usize] == 0.0));
            for decision in [PairDecision::Votes, PairDecision::Scores, PairDecision::Tournament] {
                prop_assert!(!absent(pairs.predict(x, decision, &mut scratch)));
            }
        }
    }
}
