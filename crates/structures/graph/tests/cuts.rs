//! Cuts against a textbook flow (Edmonds, Karp 1972) and against enumeration, on thousands of small graphs.

use lineal_graph::flow::{Capacity, Cut, Edge, GraphCut, GridCut, Scale};
use lineal_linalg::Rng;
use std::collections::VecDeque;

/// Maximal flow by shortest augmenting paths in a full matrix of capacities.
fn edmonds_karp(mut cap: Vec<Vec<i64>>, source: usize, sink: usize) -> i64 {
    let n = cap.len();
    let mut flow = 0;
    loop {
        let (mut parent, mut queue) = (vec![usize::MAX; n], VecDeque::from([source]));
        parent[source] = source;
        while let Some(at) = queue.pop_front() {
            for to in 0..n {
                if cap[at][to] > 0 && parent[to] == usize::MAX {
                    parent[to] = at;
                    queue.push_back(to);
                }
            }
        }
        if parent[sink] == usize::MAX {
            return flow;
        }
        let path = || {
            std::iter::successors(Some(sink), |&at| Some(parent[at])).take_while(|&at| at != source)
        };
        let amount = path().map(|at| cap[parent[at]][at]).min().unwrap();
        let steps: Vec<usize> = path().collect();
        for at in steps {
            cap[parent[at]][at] -= amount;
            cap[at][parent[at]] += amount;
        }
        flow += amount;
    }
}

/// Terminals, and edges with the capacities of both directions.
#[derive(Clone, Debug)]
struct Instance {
    terminal: Vec<i64>,
    edges: Vec<(usize, usize, i64, i64)>,
}

impl Instance {
    /// Σ min(c, 0) + the maximal flow.
    fn energy(&self) -> i64 {
        let n = self.terminal.len();
        let mut cap = vec![vec![0; n + 2]; n + 2];
        for (node, &c) in self.terminal.iter().enumerate() {
            cap[n][node] = c.max(0);
            cap[node][n + 1] = (-c).max(0);
        }
        for &(a, b, forwards, backwards) in &self.edges {
            cap[a][b] += forwards;
            cap[b][a] += backwards;
        }
        self.terminal.iter().map(|&c| c.min(0)).sum::<i64>() + edmonds_karp(cap, n, n + 1)
    }

    fn of(&self, sink: impl Fn(usize) -> bool) -> i64 {
        let nodes: i64 =
            (0..self.terminal.len()).filter(|&i| sink(i)).map(|i| self.terminal[i]).sum();
        let arc = |a: usize, b: usize, c: i64| if !sink(a) && sink(b) { c } else { 0 };
        nodes + self.edges.iter().map(|&(a, b, f, r)| arc(a, b, f) + arc(b, a, r)).sum::<i64>()
    }
}

fn capacity<C: Capacity>(v: i64) -> C {
    C::from_f64(v as f64)
}

/// Fills, solves, changes terminals and goes on, three times; every cut is as good as the textbook says, and its own energy.
fn check<C: Capacity>(cut: &mut impl Cut<Cap = C>, mut instance: Instance, rng: &mut Rng) {
    let edges = instance.edges.clone();
    cut.fill(
        |node| capacity(instance.terminal[node]),
        |Edge { index, from, to, .. }| {
            let (a, b, forwards, backwards) = edges[index];
            assert_eq!((a, b), (from, to));
            (capacity(forwards), capacity(backwards))
        },
    );
    for round in 0..4 {
        let found = cut.solve();
        let best = instance.energy();
        assert_eq!(found, i128::from(best), "round {round} {instance:?}");
        assert_eq!(instance.of(|node| cut.is_sink(node)), best, "round {round} {instance:?}");
        let n = instance.terminal.len() as u64;
        for _ in 0..=rng.next_u64() % 4 {
            if n > 0 {
                let (node, by) = ((rng.next_u64() % n) as usize, (rng.next_u64() % 41) as i64 - 20);
                instance.terminal[node] += by;
                cut.add_terminal(node, capacity(by));
            }
        }
    }
}

/// Small numbers, so that ties and zeros are common; sometimes all zeros.
fn random(rng: &mut Rng, scale: u64) -> i64 {
    if rng.next_u64().is_multiple_of(5) { 0 } else { (rng.next_u64() % scale) as i64 }
}

fn random_grid(rng: &mut Rng, width: usize, height: usize, eight: bool) -> Instance {
    let scale = [1, 3, 20, 1000][(rng.next_u64() % 4) as usize];
    let terminal =
        (0..width * height).map(|_| random(rng, 2 * scale) - random(rng, 2 * scale)).collect();
    let mut edges = Vec::new();
    for p in 0..width * height {
        let (x, y) = (p % width, p / width);
        let right = x + 1 < width;
        let below = y + 1 < height;
        let to = [
            (right, 1),
            (below, width),
            (eight && below && right, width + 1),
            (eight && below && x > 0, width.wrapping_sub(1)),
        ];
        for (_, by) in to.into_iter().filter(|(there, _)| *there) {
            edges.push((p, p + by, random(rng, scale), random(rng, scale)));
        }
    }
    Instance { terminal, edges }
}

#[test]
fn grids_are_cut_as_the_textbook_says() {
    let mut rng = Rng::new(1);
    for trial in 0..2000 {
        let (width, height) = match trial % 5 {
            0 => (1, 1 + (rng.next_u64() % 7) as usize),
            1 => (1 + (rng.next_u64() % 7) as usize, 1),
            _ => (1 + (rng.next_u64() % 5) as usize, 1 + (rng.next_u64() % 5) as usize),
        };
        let four = random_grid(&mut rng, width, height, false);
        check(&mut GridCut::<i32, 4>::grid(width, height).unwrap(), four.clone(), &mut rng);
        check(&mut GridCut::<i64, 4>::grid(width, height).unwrap(), four, &mut rng);
        let eight = random_grid(&mut rng, width, height, true);
        check(&mut GridCut::<i32, 8>::grid(width, height).unwrap(), eight.clone(), &mut rng);
        check(&mut GridCut::<i64, 8>::grid(width, height).unwrap(), eight, &mut rng);
    }
}

#[test]
fn graphs_are_cut_as_the_textbook_says() {
    let mut rng = Rng::new(2);
    for _ in 0..2000 {
        let n = 1 + (rng.next_u64() % 14) as usize;
        let scale = [1, 3, 20, 1000][(rng.next_u64() % 4) as usize];
        let terminal =
            (0..n).map(|_| random(&mut rng, 2 * scale) - random(&mut rng, 2 * scale)).collect();
        let n_edges = if n > 1 { rng.next_u64() % (3 * n as u64) } else { 0 };
        let edges: Vec<_> = (0..n_edges)
            .map(|_| {
                let a = (rng.next_u64() % n as u64) as usize;
                let b = (a + 1 + (rng.next_u64() % (n as u64 - 1)) as usize) % n;
                (a, b, random(&mut rng, scale), random(&mut rng, scale))
            })
            .collect();
        let pairs: Vec<(u32, u32)> = edges.iter().map(|e| (e.0 as u32, e.1 as u32)).collect();
        let instance = Instance { terminal, edges };
        check(&mut GraphCut::<i32>::graph(n, &pairs).unwrap(), instance.clone(), &mut rng);
        check(&mut GraphCut::<i64>::graph(n, &pairs).unwrap(), instance, &mut rng);
    }
}

/// Graphs are not swept: the same flow is found by the trees alone. Tall enough for the samples of rows that decide whether to sweep.
#[test]
fn swept_grids_are_cut_as_graphs_are() {
    let mut rng = Rng::new(7);
    let (width, height) = (37, 270);
    for (terminals, edges, force) in
        [(1000, 500, false), (200, 400, false), (200, 400, true), (3, 2, false)]
    {
        for eight in [false, true] {
            let mut instance = random_grid(&mut rng, width, height, eight);
            for c in &mut instance.terminal {
                *c = (rng.next_u64() % terminals) as i64 - terminals as i64 / 2;
                if force && rng.next_u64().is_multiple_of(20) {
                    *c = i64::from(i32::FORCE) * c.signum();
                }
            }
            for (_, _, forwards, backwards) in &mut instance.edges {
                (*forwards, *backwards) = (random(&mut rng, edges), random(&mut rng, edges));
            }
            let pairs: Vec<(u32, u32)> =
                instance.edges.iter().map(|e| (e.0 as u32, e.1 as u32)).collect();
            let mut graph = GraphCut::<i64>::graph(width * height, &pairs).unwrap();
            filled(&mut graph, &instance);
            let energy = graph.solve();
            let same = |cut: &mut dyn FnMut() -> i128, sink: &dyn Fn(usize) -> bool| {
                assert_eq!(cut(), energy);
                assert!((0..width * height).all(|node| sink(node) == graph.is_sink(node)));
            };
            let mut four = GridCut::<i32, 4>::grid(width, height).unwrap();
            let mut long = GridCut::<i64, 8>::grid(width, height).unwrap();
            if eight {
                filled(&mut long, &instance);
                let found = long.solve();
                same(&mut || found, &|node| long.is_sink(node));
            } else {
                filled(&mut four, &instance);
                let found = four.solve();
                same(&mut || found, &|node| four.is_sink(node));
            }
        }
    }
}

#[test]
fn larger_grids_with_repeated_changes_agree_with_a_fresh_cut() {
    let mut rng = Rng::new(3);
    for trial in 0..12 {
        let (width, height) = (40, 30);
        let mut instance = random_grid(&mut rng, width, height, trial % 2 == 1);
        let mut kept = GridCut::<i32, 8>::grid(width, height).unwrap();
        let mut four = GridCut::<i32, 4>::grid(width, height).unwrap();
        let eight = trial % 2 == 1;
        let fill = |cut: &mut dyn FnMut(&Instance), instance: &Instance| cut(instance);
        fill(
            &mut |i: &Instance| if eight { filled(&mut kept, i) } else { filled(&mut four, i) },
            &instance,
        );
        for _ in 0..15 {
            let found = if eight { kept.solve() } else { four.solve() };
            let mut fresh4 = GridCut::<i64, 4>::grid(width, height).unwrap();
            let mut fresh8 = GridCut::<i64, 8>::grid(width, height).unwrap();
            let best = if eight {
                filled(&mut fresh8, &instance);
                fresh8.solve()
            } else {
                filled(&mut fresh4, &instance);
                fresh4.solve()
            };
            assert_eq!(found, best);
            let own =
                instance.of(|node| if eight { kept.is_sink(node) } else { four.is_sink(node) });
            assert_eq!(i128::from(own), best);
            for _ in 0..rng.next_u64() % 200 {
                let node = (rng.next_u64() % 1200) as usize;
                let by = (rng.next_u64() % 401) as i64 - 200;
                instance.terminal[node] += by;
                if eight {
                    kept.add_terminal(node, by as i32)
                } else {
                    four.add_terminal(node, by as i32)
                }
            }
        }
    }
}

fn filled<C: Capacity>(cut: &mut impl Cut<Cap = C>, instance: &Instance) {
    cut.fill(
        |node| capacity(instance.terminal[node]),
        |edge| {
            let (_, _, forwards, backwards) = instance.edges[edge.index];
            (capacity(forwards), capacity(backwards))
        },
    );
}

#[test]
fn forced_nodes_have_their_side_and_the_others_the_best() {
    let mut rng = Rng::new(4);
    for _ in 0..500 {
        let (width, height) = (4, 3);
        let instance = random_grid(&mut rng, width, height, true);
        let mut cut = GridCut::<i32, 8>::grid(width, height).unwrap();
        let force = |node: usize| match node {
            1 | 6 => 1i64 << 30,
            11 => -(1i64 << 30),
            _ => 0,
        };
        let seeded = Instance {
            terminal: instance
                .terminal
                .iter()
                .enumerate()
                .map(|(node, c)| c + force(node))
                .collect(),
            ..instance.clone()
        };
        cut.fill(
            |node| {
                if force(node) == 0 {
                    capacity(instance.terminal[node])
                } else {
                    capacity(force(node))
                }
            },
            |edge| (capacity(instance.edges[edge.index].2), capacity(instance.edges[edge.index].3)),
        );
        cut.solve();
        assert!(!cut.is_sink(1) && !cut.is_sink(6) && cut.is_sink(11));
        assert_eq!(seeded.of(|node| cut.is_sink(node)), seeded.energy());
    }
}

#[test]
fn floats_lose_no_more_than_they_say() {
    let mut rng = Rng::new(5);
    for _ in 0..500 {
        let (width, height) = (4, 3);
        let shape = random_grid(&mut rng, width, height, false);
        let terminal: Vec<f64> = shape.terminal.iter().map(|_| 20.0 * (rng.unit() - 0.5)).collect();
        let costs: Vec<f64> = shape.edges.iter().map(|_| 3.0 * rng.unit()).collect();
        let largest = terminal.iter().chain(&costs).fold(0.0f64, |m, c| m.max(c.abs()));
        let total = terminal.iter().chain(&costs).map(|c| c.abs()).sum();
        let energy = |sink: &dyn Fn(usize) -> bool| -> f64 {
            let nodes: f64 = (0..12).filter(|&i| sink(i)).map(|i| terminal[i]).sum();
            let cut = shape.edges.iter().zip(&costs).filter(|(e, _)| sink(e.0) != sink(e.1));
            nodes + cut.map(|(_, c)| c).sum::<f64>()
        };
        let best = (0..1usize << 12)
            .map(|set| energy(&|i| set >> i & 1 == 1))
            .fold(f64::INFINITY, f64::min);
        let n_terms = (terminal.len() + costs.len()) as f64;
        let scale = Scale::new::<i32>(largest, total, 0.0);
        let mut short = GridCut::<i32, 4>::grid(width, height).unwrap();
        short.fill(
            |node| scale.of(terminal[node]),
            |edge| (scale.of(costs[edge.index]), scale.of(costs[edge.index])),
        );
        let found = scale.back(short.solve());
        // The value of the flow is that of the cut, within rounding.
        let own = energy(&|node| short.is_sink(node));
        assert!(
            (found - own).abs() <= n_terms * scale.error() && own - best <= n_terms * scale.error()
        );
        let scale = Scale::new::<i64>(largest, total, 0.0);
        let mut long = GridCut::<i64, 4>::grid(width, height).unwrap();
        long.fill(
            |node| scale.of(terminal[node]),
            |edge| (scale.of(costs[edge.index]), scale.of(costs[edge.index])),
        );
        assert!((scale.back(long.solve()) - best).abs() < 1e-12);
        assert!((energy(&|node| long.is_sink(node)) - best).abs() < 1e-12);
    }
}

#[test]
fn empty_graphs_and_negative_capacities_are_no_trouble() {
    for (width, height) in [(0, 0), (0, 4), (4, 0)] {
        let mut cut = GridCut::<i32, 8>::grid(width, height).unwrap();
        cut.fill(|_| 0, |_| (0, 0));
        assert_eq!(cut.solve(), 0);
    }
    assert!(
        GridCut::<i32, 4>::grid(usize::MAX, 2).is_none()
            && GraphCut::<i64>::graph(2, &[(0, 2)]).is_none()
    );
    let mut cut = GridCut::<i32, 4>::grid(2, 1).unwrap();
    cut.fill(|node| if node == 0 { 5 } else { -5 }, |_| (-3, i32::MIN));
    assert_eq!(cut.solve(), -5);
    assert!(!cut.is_sink(0) && cut.is_sink(1));
    cut.add_terminal(0, i32::MIN);
    cut.add_terminal(0, i32::MIN);
    cut.solve();
    assert!(cut.is_sink(0));
}
