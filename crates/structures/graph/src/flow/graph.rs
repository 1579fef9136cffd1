//! Any graph: arcs in the order of their tails, two for each edge.
//!
//! ```text
//! first[i] .. first[i + 1]    the arcs of node i                 bytes per edge: 2·(8 + 4 or 8)
//! head[a], back[a]            where arc a leads, the way back    bytes per node: 20 (i32) or 24 (i64)
//! ```

use super::network::{Edge, Network, Node, bounded, bounded_terminal, exchange};
use super::{Capacity, Flow};
use lineal_linalg::kernels::prefetch_at;
use std::ops::Range;

/// Nodes and edges with residual capacities.
#[derive(Clone, Debug)]
pub struct Graph<C> {
    nodes: Vec<Node<C, u32>>,
    first: Vec<u32>,
    head: Vec<u32>,
    back: Vec<u32>,
    residual: Vec<C>,
    /// The arc from the first end of each edge.
    arc: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

/// Minimum cuts of any graph.
pub type GraphCut<C> = Flow<Graph<C>>;

impl<C: Capacity> Graph<C> {
    /// A graph without capacities; `None` if an edge leads to a node that is not there, or if there are more than 2³⁰ nodes or edges. Edges may be parallel.
    pub fn new(n_nodes: usize, edges: &[(u32, u32)]) -> Option<Self> {
        let few = |n: usize| n <= 1 << 30;
        let inside = |&(a, b): &(u32, u32)| (a as usize) < n_nodes && (b as usize) < n_nodes;
        if !few(n_nodes) || !few(edges.len()) || !edges.iter().all(inside) {
            return None;
        }
        let mut first = vec![0u32; n_nodes + 1];
        for &(a, b) in edges {
            first[a as usize + 1] += 1;
            first[b as usize + 1] += 1;
        }
        for i in 0..n_nodes {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut take = |node: u32| {
            let arc = next[node as usize];
            next[node as usize] += 1;
            arc
        };
        let n_arcs = 2 * edges.len();
        let (mut head, mut back) = (vec![0; n_arcs], vec![0; n_arcs]);
        let mut arc = Vec::with_capacity(edges.len());
        for &(a, b) in edges {
            let (there, here) = (take(a), take(b));
            (head[there as usize], head[here as usize]) = (b, a);
            (back[there as usize], back[here as usize]) = (here, there);
            arc.push(there);
        }
        let nodes = vec![Node::default(); n_nodes];
        let residual = vec![C::ZERO; n_arcs];
        Some(Self { nodes, first, head, back, residual, arc, edges: edges.to_vec() })
    }
}

impl<C: Capacity> Network for Graph<C> {
    type Cap = C;
    type Parent = u32;

    fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    fn place(&self, node: usize) -> u32 {
        node as u32
    }

    fn places(&self) -> Range<u32> {
        0..self.nodes.len() as u32
    }

    #[inline(always)]
    fn prefetch(&self, place: u32) {
        prefetch_at(&self.nodes, place as usize);
        prefetch_at(&self.first, place as usize);
    }

    #[inline(always)]
    fn node(&self, place: u32) -> &Node<C, u32> {
        &self.nodes[place as usize]
    }

    #[inline(always)]
    fn node_mut(&mut self, place: u32) -> &mut Node<C, u32> {
        &mut self.nodes[place as usize]
    }

    #[inline(always)]
    fn links(&self, place: u32) -> Range<u32> {
        self.first[place as usize]..self.first[place as usize + 1]
    }

    #[inline(always)]
    fn head(&self, _: u32, link: u32) -> u32 {
        self.head[link as usize]
    }

    #[inline(always)]
    fn back(&self, link: u32) -> u32 {
        self.back[link as usize]
    }

    #[inline(always)]
    fn residual(&self, _: u32, link: u32) -> C {
        self.residual[link as usize]
    }

    #[inline(always)]
    fn push(&mut self, _: u32, link: u32, amount: C) {
        self.residual[link as usize] -= amount;
        self.residual[self.back[link as usize] as usize] += amount;
    }

    fn fill(
        &mut self,
        mut terminal: impl FnMut(usize) -> C,
        mut capacities: impl FnMut(Edge) -> (C, C),
    ) -> i128 {
        let mut energy = 0i128;
        for (index, node) in self.nodes.iter_mut().enumerate() {
            *node = Node { excess: bounded_terminal(terminal(index)), ..Node::default() };
            energy += i128::from(node.excess.min(C::ZERO).to_i64());
        }
        for (index, (&arc, &(a, b))) in self.arc.iter().zip(&self.edges).enumerate() {
            let (from, to) = (a as usize, b as usize);
            let (forwards, backwards) = capacities(Edge { index, from, to, axis: 0 });
            let (forwards, backwards) = (bounded(forwards), bounded(backwards));
            let (own, other) = (self.nodes[from].excess, self.nodes[to].excess);
            let amount = exchange(own, other, forwards, backwards);
            // From a node to itself nothing flows.
            self.nodes[from].excess -= amount;
            self.nodes[to].excess += amount;
            self.residual[arc as usize] = forwards - amount;
            self.residual[self.back[arc as usize] as usize] = backwards + amount;
            energy += i128::from(amount.to_i64().abs());
        }
        energy
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..])
            + size_of_val(&self.residual[..])
            + size_of_val(&self.edges[..])
            + 4 * (self.first.len() + self.head.len() + self.back.len() + self.arc.len())
    }
}

impl<C: Capacity> GraphCut<C> {
    /// A graph without capacities: [`fill`](super::Cut::fill) comes next. See [`Graph::new`] for what is refused.
    pub fn graph(n_nodes: usize, edges: &[(u32, u32)]) -> Option<Self> {
        Graph::new(n_nodes, edges).map(Flow::new)
    }
}
