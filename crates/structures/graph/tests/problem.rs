//! What examples are refused, seeds at prediction, and sparse rows as dense ones.

use lineal_graph::{
    Decoder, Effort, Example, GraphModel, Input, Labelling, LabellingError, LabellingOptions,
    Neighbours, Topology, VOID, check_input,
};
use lineal_linalg::{Csr, Dense, Matrix};

const MODEL: GraphModel = GraphModel { n_labels: 2, n_features: 1, n_edge_features: 1, bias: 0.0 };

fn row(x: &[f32]) -> Matrix {
    Matrix::Dense(Dense::new(x.len(), 1, x.to_vec()).unwrap())
}

#[test]
fn examples_that_do_not_fit_are_refused_with_their_number() {
    let topology = Topology::grid(3, 1, Neighbours::Four).unwrap();
    let nodes = row(&[1.0, -1.0, 1.0]);
    let labelling = |model: GraphModel, edges: &[f32], gold: &[u8], weight: f64| {
        let input = Input { topology: &topology, nodes: &nodes, edges };
        let good = Example {
            input: Input { edges: &[1.0, 1.0], ..input },
            gold: &[0, 1, VOID],
            weight: 1.0,
        };
        let examples = vec![good, Example { input, gold, weight }];
        Labelling::new(model, examples, LabellingOptions::default()).map(|_| ()).unwrap_err()
    };
    let (edges, gold) = ([1.0, 1.0], [0, 1, 0]);
    let what = |error: LabellingError| error.to_string();
    assert!(
        what(labelling(MODEL, &[1.0], &gold, 1.0))
            .contains("example 1: the list of features of edges has 1")
    );
    assert!(
        what(labelling(MODEL, &edges, &[0, 1], 1.0)).contains("gold labels has 2 entries, but 3")
    );
    assert!(what(labelling(MODEL, &edges, &[0, 2, 0], 1.0)).contains("node 1 has the label 2"));
    assert!(
        what(labelling(MODEL, &[1.0, -0.5], &gold, 1.0)).contains("edge 1 has the feature -0.5")
    );
    assert!(what(labelling(MODEL, &[1.0, f32::NAN], &gold, 1.0)).contains("edge 1"));
    assert!(what(labelling(MODEL, &edges, &gold, -1.0)).contains("the weight -1"));
    let many = GraphModel { n_labels: 256, ..MODEL };
    assert_eq!(labelling(many, &edges, &gold, 1.0), LabellingError::Labels(256));
}

#[test]
fn seeds_are_kept_and_spread() {
    let topology = Topology::grid(4, 1, Neighbours::Four).unwrap();
    let nodes = row(&[0.1, 0.1, -0.1, -2.0]);
    let input = Input { topology: &topology, nodes: &nodes, edges: &[1.0, 1.0, 1.0] };
    let (mut decoder, mut y) = (Decoder::<i32>::default(), Vec::new());
    let mut label = |known: &[u8]| {
        check_input(&MODEL, 0, &input, known).unwrap();
        MODEL.label(&input, &[1.0, 0.5], known, &Effort::default(), &mut decoder, &mut y);
        y.clone()
    };
    assert_eq!(label(&[]), [0, 0, 0, 0]);
    assert_eq!(label(&[1, VOID, VOID, VOID]), [1, 1, 0, 0]);
    assert_eq!(label(&[1, VOID, 1, 1]), [1, 1, 1, 1]);
    assert!(check_input(&MODEL, 0, &input, &[1, 1]).is_err());
    let marginals = MODEL.marginals(
        &input,
        &[1.0, 0.5],
        &[VOID, 1, VOID, VOID],
        &Effort::default(),
        &mut decoder,
    );
    assert_eq!(marginals.of(1), [f64::INFINITY, 0.0]);
    assert_eq!(marginals.confidence(1), 1.0);
}

#[test]
fn sparse_rows_score_as_dense_ones() {
    let values = vec![0.0, 2.0, 0.5, 0.0, -1.0, 3.0];
    let dense = Matrix::Dense(Dense::new(3, 2, values).unwrap());
    let sparse = Csr::new(2, vec![0, 1, 2, 4], vec![1, 0, 0, 1], vec![2.0, 0.5, -1.0, 3.0]);
    let sparse = Matrix::Sparse(sparse.unwrap());
    let topology = Topology::graph(3, vec![(0, 2)]).unwrap();
    let model = GraphModel { n_labels: 3, n_features: 2, n_edge_features: 1, bias: 0.5 };
    let w: Vec<f64> = (0..model.dim()).map(|at| 0.3 * at as f64 - 1.0).collect();
    let both = [&dense, &sparse].map(|nodes| {
        let input = Input { topology: &topology, nodes, edges: &[2.0] };
        let (mut theta, mut back) = (Vec::new(), vec![0.0; w.len()]);
        model.scores(&input, &w, 2.0, &mut theta);
        model.accumulate(&input, &theta, &mut back);
        (theta, back)
    });
    assert_eq!(both[0], both[1]);
    // Node 1, label 2: 2·(0.5·w[2] + 0.5·w[8]); the edge: −2·2·w[9].
    let (theta, _) = &both[0];
    assert!((theta[5] - (w[2] + w[8])).abs() < 1e-12 && (theta[9] + 4.0 * w[9]).abs() < 1e-12);
}
