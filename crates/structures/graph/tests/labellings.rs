//! Labellings, their bounds and min-marginals against enumeration.

use lineal_graph::{Decoder, Effort, Neighbours, Potts, Topology, VOID, columns};
use lineal_linalg::Rng;

fn topologies() -> Vec<Topology> {
    let graph = |n, edges: &[(u32, u32)]| Topology::graph(n, edges.to_vec()).unwrap();
    vec![
        Topology::grid(3, 3, Neighbours::Four).unwrap(),
        Topology::grid(3, 2, Neighbours::Eight).unwrap(),
        Topology::grid(1, 6, Neighbours::Four).unwrap(),
        Topology::grid(1, 1, Neighbours::Four).unwrap(),
        graph(5, &[(0, 1), (1, 2), (2, 0), (3, 1), (4, 3), (0, 4)]),
        graph(6, &[(5, 0), (5, 1), (5, 2), (5, 3), (5, 4)]),
        graph(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
        graph(3, &[]),
    ]
}

fn all(n: usize, k: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..k.pow(n as u32))
        .map(move |number| (0..n).map(|i| (number / k.pow(i as u32) % k) as u8).collect())
}

/// Runs on every topology with random scores, costs and known labels.
fn each(n_labels: usize, seeds: u64, mut f: impl FnMut(&Potts<'_>)) {
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        for topology in &topologies() {
            let n = topology.n_nodes();
            let own: Vec<f64> =
                (0..n * columns(n_labels)).map(|_| 2.0 * rng.unit() - 1.0).collect();
            let strength = [0.1, 0.5, 1.5][(seed % 3) as usize];
            let cost: Vec<f64> = (0..topology.n_edges()).map(|_| strength * rng.unit()).collect();
            let known: Vec<u8> =
                (0..n)
                    .map(|_| {
                        if rng.unit() < 0.2 {
                            (rng.next_u64() % n_labels as u64) as u8
                        } else {
                            VOID
                        }
                    })
                    .collect();
            for known in [&[][..], &known] {
                f(&Potts { topology, n_labels, own: &own, cost: &cost, known });
            }
        }
    }
}

fn allowed(potts: &Potts<'_>, y: &[u8]) -> bool {
    y.iter().enumerate().all(|(node, &label)| potts.known(node).is_none_or(|known| known == label))
}

fn best(potts: &Potts<'_>) -> f64 {
    let all = all(potts.topology.n_nodes(), potts.n_labels).filter(|y| allowed(potts, y));
    all.map(|y| potts.score(&y)).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn two_labels_are_exact() {
    let (mut long, mut short) = (Decoder::<i64>::default(), Decoder::<i32>::default());
    each(2, 60, |potts| {
        let (best, mut y) = (best(potts), Vec::new());
        let found = long.best(potts, &Effort::default(), &mut y);
        assert!(allowed(potts, &y) && found.slack == 0.0 && (found.score - best).abs() < 1e-12);
        assert_eq!(found.score, potts.score(&y));
        let found = short.best(potts, &Effort::default(), &mut y);
        assert!(
            allowed(potts, &y)
                && found.score <= best + 1e-12
                && found.score + found.slack >= best - 1e-12
        );
        assert!(found.slack < 1e-5);
    });
}

#[test]
fn bounds_of_more_labels_are_honest() {
    let mut decoder = Decoder::<i64>::default();
    for n_labels in [3, 4] {
        let (mut n, mut exact, mut proved, mut far) = (0, 0, 0, 0.0f64);
        each(n_labels, 12, |potts| {
            let (best, mut y) = (best(potts), Vec::new());
            for (bound_rounds, enumerate) in [(0, 0), (1, 0), (50, 0), (0, 1 << 20)] {
                let effort = Effort { bound_rounds, enumerate, ..Effort::default() };
                let found = decoder.best(potts, &effort, &mut y);
                assert!(allowed(potts, &y) && (found.score - potts.score(&y)).abs() < 1e-12);
                assert!(
                    found.score <= best + 1e-12 && found.score + found.slack >= best - 1e-12,
                    "{found:?} {best}"
                );
                if enumerate > 0 {
                    assert!((found.score - best).abs() < 1e-12 && found.slack == 0.0);
                }
                if bound_rounds == 50 {
                    n += 1;
                    exact += usize::from((found.score - best).abs() < 1e-12);
                    proved += usize::from(found.slack < 1e-3);
                    far = far.max(found.slack);
                }
            }
        });
        // Expansion is rarely wrong on such graphs, and message passing proves most of it.
        assert!(
            20 * exact >= 19 * n && 10 * proved >= 8 * n && far < 0.5,
            "{exact} and {proved} of {n}, {far}"
        );
    }
}

#[test]
fn costs_of_other_labels_are_those_of_enumeration() {
    let mut decoder = Decoder::<i64>::default();
    for n_labels in [2, 3] {
        each(n_labels, 10, |potts| {
            let n = potts.topology.n_nodes();
            let effort = Effort { enumerate: 1 << 20, ..Effort::default() };
            let found = decoder.marginals(potts, &effort, 0..n);
            let every: Vec<(Vec<u8>, f64)> = all(n, n_labels)
                .filter(|y| allowed(potts, y))
                .map(|y| {
                    let score = potts.score(&y);
                    (y, score)
                })
                .collect();
            let top = every.iter().map(|one| one.1).fold(f64::NEG_INFINITY, f64::max);
            assert!((found.score - top).abs() < 1e-12);
            for node in 0..n {
                let mut next = f64::INFINITY;
                for label in 0..n_labels {
                    let with = every.iter().filter(|(y, _)| usize::from(y[node]) == label);
                    let cost = top - with.map(|one| one.1).fold(f64::NEG_INFINITY, f64::max);
                    let ours = found.of(node)[label];
                    match n_labels {
                        2 => assert!(ours == cost || (ours - cost).abs() < 1e-9, "{ours} {cost}"),
                        // The best that a move reaches.
                        _ => assert!(ours >= cost - 1e-9, "{ours} {cost}"),
                    }
                    if label != usize::from(found.labels[node]) {
                        next = next.min(ours);
                    }
                }
                assert_eq!(found.lead(node), next);
                let sum: f64 = found.of(node).iter().map(|cost| (-cost).exp()).sum();
                assert!((found.confidence(node) - 1.0 / sum).abs() < 1e-12);
            }
        });
    }
}

/// In 32 bits: the edges of the middle together outweigh what fixes a label, unless capacities are made small enough.
#[test]
fn a_known_label_outweighs_any_number_of_strong_edges() {
    for n_labels in [2, 3] {
        let edges: Vec<(u32, u32)> = (1..=300).map(|leaf| (0, leaf)).collect();
        let topology = Topology::graph(301, edges).unwrap();
        // Leaves want label 0, and the middle does, too.
        let of_node: &[f64] = if n_labels == 2 { &[-100.0] } else { &[100.0, 0.0, 0.0] };
        let own = of_node.repeat(301);
        let mut known = vec![VOID; 301];
        known[0] = 1;
        let (cost, known) = (vec![60.0; 300], &known[..]);
        let potts = Potts { topology: &topology, n_labels, own: &own, cost: &cost, known };
        let mut y = Vec::new();
        let found = Decoder::<i32>::default().best(&potts, &Effort::default(), &mut y);
        let mut best = vec![0; 301];
        best[0] = 1;
        assert_eq!(y, best, "{n_labels} labels");
        assert!((found.score - potts.score(&best)).abs() < 1e-6);
    }
}
