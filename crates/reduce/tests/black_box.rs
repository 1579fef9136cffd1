//! Learners that are not linear, inputs that are not points, trees of 20,000 classes.

mod learners;

use learners::{BestStump, Nearest, Point};
use lineal_linalg::{Csr, Matrix, Row, kernels};
use lineal_reduce::{
    BinaryLearner, BinaryScorer, BinaryTask, Code, Decoding, Examples, FitError, Inputs, LabelTree,
    MarginLoss, OneVsAll, OneVsOne, OutputCode, PairDecision, Scratch, Tree, class_centroids,
};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Four classes in the quadrants of the plane, five points each.
fn quadrants() -> (Vec<Point>, Vec<u32>) {
    let offsets = [[1.0, 1.0], [2.0, 1.5], [1.5, 2.0], [3.0, 2.5], [2.5, 3.5]];
    let mut rows = Vec::new();
    for p in offsets {
        for (class, (a, b)) in
            [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].into_iter().enumerate()
        {
            rows.push(([a * p[0], b * p[1]], class as u32));
        }
    }
    rows.into_iter().unzip()
}

#[test]
fn stumps_tell_quadrants_apart_once_they_are_combined() {
    let (x, y) = quadrants();
    let examples = Examples::new(&x[..], &y, 4).unwrap();
    let mut scratch = Scratch::default();

    // One threshold cannot cut out a quadrant: one-vs-all must err.
    let one_vs_all = OneVsAll::fit(&BestStump, &examples).unwrap();
    assert!(x.iter().zip(&y).any(|(x, &y)| one_vs_all.predict(x) != y));
    // It can tell two quadrants apart, and halves of the plane.
    let one_vs_one = OneVsOne::fit(&BestStump, &examples).unwrap();
    let halves =
        OutputCode::fit(&BestStump, &examples, "++\n-+\n--\n+-\n".parse().unwrap()).unwrap();
    let tree = LabelTree::fit(&BestStump, &examples, "((0 1) (2 3))".parse().unwrap()).unwrap();
    for (x, &y) in x.iter().zip(&y) {
        assert_eq!(one_vs_one.predict(x, PairDecision::Votes, &mut scratch), y);
        assert_eq!(one_vs_one.predict(x, PairDecision::Tournament, &mut scratch), y);
        assert_eq!(halves.predict(x, Decoding::Hamming, &mut scratch), y);
        assert_eq!(tree.predict(x), y);
    }
    assert_eq!(halves.report().problems, 2);
}

#[test]
fn nearest_neighbours_reduced_are_nearest_neighbours() {
    let (x, y) = quadrants();
    let examples = Examples::new(&x[..], &y, 4).unwrap();
    let learner = Nearest(&x);
    let mut scratch = Scratch::default();
    let one_vs_all = OneVsAll::fit(&learner, &examples).unwrap();
    let one_vs_one = OneVsOne::fit(&learner, &examples).unwrap();
    let code = OutputCode::fit(&learner, &examples, Code::exhaustive(4).unwrap()).unwrap();
    let tree = LabelTree::fit(&learner, &examples, Tree::balanced(4, 1).unwrap()).unwrap();
    for i in 0..400 {
        let at = [f64::from(i % 20) / 2.0 - 4.7, f64::from(i / 20) / 2.0 - 4.8];
        let distance = |p: &Point| (p[0] - at[0]).hypot(p[1] - at[1]);
        let nearest =
            (0..x.len()).min_by(|&a, &b| distance(&x[a]).total_cmp(&distance(&x[b]))).unwrap();
        assert_eq!(one_vs_all.predict(&at), y[nearest]);
        assert_eq!(one_vs_one.predict(&at, PairDecision::Votes, &mut scratch), y[nearest]);
        assert_eq!(one_vs_one.predict(&at, PairDecision::Tournament, &mut scratch), y[nearest]);
        assert_eq!(code.predict(&at, Decoding::Hamming, &mut scratch), y[nearest]);
        assert_eq!(code.predict(&at, Decoding::Loss(MarginLoss::Hinge), &mut scratch), y[nearest]);
        assert_eq!(tree.predict(&at), y[nearest]);
    }
}

/// A perceptron over rows of a matrix: inputs that are views, not references to something stored.
struct Perceptron {
    n_cols: usize,
}

struct Weights(Vec<f64>);

impl BinaryScorer for Weights {
    type Inputs = Matrix;
    fn score(&self, x: Row<'_>) -> f64 {
        kernels::dot(x, &self.0)
    }
}

impl BinaryLearner for Perceptron {
    type Scorer = Weights;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, Matrix>) -> Result<Weights, Infallible> {
        let mut w = Weights(vec![0.0; self.n_cols]);
        for _ in 0..100 {
            for example in task.iter() {
                if example.sign * w.score(example.x) <= 0.0 {
                    example
                        .x
                        .for_each(|j, v| w.0[j] += example.weight * example.sign * f64::from(v));
                }
            }
        }
        Ok(w)
    }
}

#[test]
fn rows_of_a_matrix_are_inputs_too() {
    // Class k has column k, and all rows share column 5.
    let y: Vec<u32> = (0..40).map(|i| i % 5).collect();
    let idx = y.iter().flat_map(|&k| [k, 5]).collect();
    let x = Csr::new(6, (0..=40).map(|i| 2 * i).collect(), idx, vec![1.0; 80]).unwrap();
    let x = Matrix::Sparse(x);
    let weights = vec![0.5; 40];
    let examples = Examples::new(&x, &y, 5).unwrap().with_weights(&weights).unwrap();
    let learner = Perceptron { n_cols: 6 };
    let one_vs_all = OneVsAll::fit(&learner, &examples).unwrap();
    let clustered = Tree::clustered(&class_centroids(&examples).unwrap(), 1).unwrap();
    let tree = LabelTree::fit(&learner, &examples, clustered).unwrap();
    for (i, &y) in y.iter().enumerate() {
        assert_eq!(one_vs_all.predict(x.row(i)), y);
        assert_eq!(tree.predict(x.row(i)), y);
    }
}

/// Lines of one borrowed text: a collection of the user's own, whose inputs are neither stored values nor rows.
struct Lines<'d>(Vec<&'d str>);

impl Inputs for Lines<'_> {
    type X<'a>
        = &'a str
    where
        Self: 'a;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, i: usize) -> &str {
        self.0[i]
    }
}

/// Yes if it has a letter that only positive lines have.
struct Letters<'d>(Vec<char>, PhantomData<fn(Lines<'d>)>);

impl<'d> BinaryScorer for Letters<'d> {
    type Inputs = Lines<'d>;
    fn score(&self, x: &str) -> f64 {
        x.chars().filter(|c| self.0.contains(c)).count() as f64 - 0.5
    }
}

struct Spelling<'d>(PhantomData<fn(Lines<'d>)>);

impl<'d> BinaryLearner for Spelling<'d> {
    type Scorer = Letters<'d>;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, Lines<'d>>) -> Result<Letters<'d>, Infallible> {
        let of = |sign: f64| task.iter().filter(move |e| e.sign == sign).flat_map(|e| e.x.chars());
        Ok(Letters(of(1.0).filter(|&c| of(-1.0).all(|other| other != c)).collect(), PhantomData))
    }
}

#[test]
fn a_collection_of_the_users_own_can_be_the_inputs() {
    let text = String::from("straße\ncafé\nroad\ngröße\nété\nwood");
    let lines = Lines(text.lines().collect());
    let y = [0, 1, 2, 0, 1, 2];
    let model =
        OneVsAll::fit(&Spelling(PhantomData), &Examples::new(&lines, &y, 3).unwrap()).unwrap();
    for (line, &y) in lines.0.iter().zip(&y) {
        assert_eq!(model.predict(line), y);
    }
}

/// Knows the class of a row and the classes on the left: counts the questions that it is asked.
struct Oracle {
    asked: AtomicUsize,
}

struct Member<'o> {
    /// Sorted.
    yes: Vec<u32>,
    asked: &'o AtomicUsize,
}

impl BinaryScorer for Member<'_> {
    type Inputs = [u32];
    fn score(&self, x: &u32) -> f64 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.yes.binary_search(x).is_ok() { 1.0 } else { -1.0 }
    }
}

impl<'o> BinaryLearner for &'o Oracle {
    type Scorer = Member<'o>;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, [u32]>) -> Result<Member<'o>, Infallible> {
        let mut yes: Vec<u32> = task.iter().filter(|e| e.sign > 0.0).map(|e| *e.x).collect();
        yes.sort_unstable();
        Ok(Member { yes, asked: &self.asked })
    }
}

#[test]
fn a_tree_of_20000_classes_takes_15_questions() {
    let n = 20_000u32;
    let y: Vec<u32> = (0..2 * n).map(|i| i % n).collect();
    let examples = Examples::new(&y[..], &y, n as usize).unwrap();
    let oracle = Oracle { asked: AtomicUsize::new(0) };
    let tree = Tree::balanced(n as usize, 3).unwrap();
    let model = LabelTree::fit(&&oracle, &examples, tree).unwrap();
    assert_eq!(model.report().problems, n as usize - 1);
    assert!(model.report().rows <= 15 * y.len());
    let (mut scratch, mut best) = (Scratch::default(), Vec::new());
    for class in (0..n).step_by(7) {
        oracle.asked.store(0, Ordering::Relaxed);
        assert_eq!(model.predict(&class), class);
        assert!(oracle.asked.load(Ordering::Relaxed) <= 15);
        model.predict_beam(&class, 4, &mut best, &mut scratch);
        assert_eq!((best.len(), best[0].0), (4, class));
    }
    // Classes without rows cost nothing, and no question is asked on the way to the only class that has some.
    let few = Examples::new(&y[..1], &y[..1], n as usize).unwrap();
    let model = LabelTree::fit(&&oracle, &few, Tree::balanced(n as usize, 3).unwrap()).unwrap();
    assert_eq!((model.report().problems, model.report().skipped), (0, n as usize - 1));
    assert_eq!(model.predict(&5), 0);
}

#[test]
fn a_tournament_asks_one_question_fewer_than_there_are_classes() {
    let y: Vec<u32> = (0..11).collect();
    let examples = Examples::new(&y[..], &y, 11).unwrap();
    let oracle = Oracle { asked: AtomicUsize::new(0) };
    let model = OneVsOne::fit(&&oracle, &examples).unwrap();
    let mut scratch = Scratch::default();
    for class in 0..11 {
        oracle.asked.store(0, Ordering::Relaxed);
        assert_eq!(model.predict(&class, PairDecision::Tournament, &mut scratch), class);
        assert_eq!(oracle.asked.load(Ordering::Relaxed), 10);
    }
}

/// Fails on some problems, as their number says.
struct Moody;

#[derive(Debug)]
struct Constant(f64);

impl BinaryScorer for Constant {
    type Inputs = [u8];
    fn score(&self, _: &u8) -> f64 {
        self.0
    }
}

impl BinaryLearner for Moody {
    type Scorer = Constant;
    type Error = std::fmt::Error;
    fn fit(&self, task: &BinaryTask<'_, [u8]>) -> Result<Constant, std::fmt::Error> {
        if task.number() >= 2 { Err(std::fmt::Error) } else { Ok(Constant(f64::NAN)) }
    }
}

#[test]
fn failures_name_the_first_problem_that_failed() {
    let (x, y) = ([0u8; 5], [0, 1, 2, 3, 4]);
    let examples = Examples::new(&x[..], &y, 5).unwrap();
    for _ in 0..10 {
        let error = OneVsAll::fit(&Moody, &examples).unwrap_err();
        assert!(matches!(error, FitError::Learner { problem: 2, .. }));
        let said = error.to_string();
        assert!(said.starts_with("binary problem 2 (class 2 against the rest): "), "{said}");
    }
    let error = OutputCode::fit(&Moody, &examples, Code::hadamard(4).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the code is for 4 classes, the examples have 5");
    let error = LabelTree::fit(&Moody, &examples, Tree::balanced(6, 1).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the tree is for 6 classes, the examples have 5");
}

#[test]
fn equal_scores_and_nan_go_to_the_lowest_class() {
    // Two problems only, so that nobody fails; every score is NaN, taken for 0.
    let (x, y) = ([0u8; 2], [2, 1]);
    let examples = Examples::new(&x[..], &y, 2 + 1).unwrap();
    let mut scratch = Scratch::default();
    let pairs = OneVsOne::fit(&Perverse, &examples).unwrap();
    for decision in [PairDecision::Votes, PairDecision::Scores, PairDecision::Tournament] {
        assert_eq!(pairs.predict(&0, decision, &mut scratch), 1);
    }
    assert_eq!(OneVsAll::fit(&Perverse, &examples).unwrap().predict(&0), 1);
    let code = OutputCode::fit(&Perverse, &examples, Code::one_vs_all(3).unwrap()).unwrap();
    for decoding in
        [Decoding::Hamming, Decoding::Loss(MarginLoss::Exponential), Decoding::Probability]
    {
        assert_eq!(code.predict(&0, decoding, &mut scratch), 1);
    }
    assert_eq!(
        LabelTree::fit(&Perverse, &examples, "(0 (2 1))".parse().unwrap()).unwrap().predict(&0),
        2
    );
}

/// Learns nothing and scores NaN.
struct Perverse;

impl BinaryLearner for Perverse {
    type Scorer = Constant;
    type Error = Infallible;
    fn fit(&self, _: &BinaryTask<'_, [u8]>) -> Result<Constant, Infallible> {
        Ok(Constant(f64::NAN))
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (x, y) = quadrants();
    let examples = Examples::new(&x[..], &y, 4).unwrap();
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let code = Code::random_dense(4, 5, 9).unwrap();
            let model = OutputCode::fit(&learners::LeastSquares, &examples, code).unwrap();
            (0..5).map(|l| model.scorer(l).unwrap().clone()).collect::<Vec<_>>()
        })
    };
    assert_eq!(fit(1), fit(3));
}
