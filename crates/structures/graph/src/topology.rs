//! Which nodes are neighbours: a grid of pixels, or a list of edges.

use crate::flow::Edge;
use thiserror::Error;

/// Nodes and edges of one example.
///
/// The edges of a grid are numbered pixel by pixel, row by row: to the right, down, and with 8 neighbours down and right, down and left, as far as they are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    pub(crate) shape: Shape,
    n_nodes: usize,
    n_edges: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Grid { width: usize, height: usize, eight: bool },
    Graph(Vec<(u32, u32)>),
}

/// How many neighbours a pixel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Neighbours {
    /// Left, right, above, below.
    #[default]
    Four,
    /// And the four across corners.
    Eight,
}

/// Why there is no such graph.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopologyError {
    /// Nodes are numbered in 31 bits.
    #[error("{0} × {1} pixels are too many: at most 2³⁰")]
    TooLarge(usize, usize),
    /// An edge to nowhere.
    #[error(
        "edge {edge} leads from node {from} to node {to}, but nodes are numbered below {n_nodes}"
    )]
    Node {
        /// Which edge.
        edge: usize,
        /// Its first end.
        from: u32,
        /// Its second end.
        to: u32,
        /// How many nodes there are.
        n_nodes: usize,
    },
    /// An edge from a node to itself.
    #[error("edge {0} leads from node {1} to itself: leave it out")]
    Loop(usize, u32),
}

const MOST: usize = 1 << 30;

impl Topology {
    /// The pixels of an image, row by row.
    pub fn grid(
        width: usize,
        height: usize,
        neighbours: Neighbours,
    ) -> Result<Self, TopologyError> {
        // With the border of the cut.
        let padded = width.saturating_add(1).saturating_mul(height.saturating_add(2));
        if padded > MOST {
            return Err(TopologyError::TooLarge(width, height));
        }
        let straight = width.saturating_sub(1) * height + width * height.saturating_sub(1);
        let across = 2 * width.saturating_sub(1) * height.saturating_sub(1);
        let eight = neighbours == Neighbours::Eight;
        let n_edges = if eight { straight + across } else { straight };
        Ok(Self { shape: Shape::Grid { width, height, eight }, n_nodes: width * height, n_edges })
    }

    /// Nodes with these edges. They may be parallel, and their direction means nothing.
    pub fn graph(n_nodes: usize, edges: Vec<(u32, u32)>) -> Result<Self, TopologyError> {
        if n_nodes > MOST || edges.len() > MOST {
            return Err(TopologyError::TooLarge(n_nodes, edges.len()));
        }
        for (edge, &(from, to)) in edges.iter().enumerate() {
            if from as usize >= n_nodes || to as usize >= n_nodes {
                return Err(TopologyError::Node { edge, from, to, n_nodes });
            }
            if from == to {
                return Err(TopologyError::Loop(edge, from));
            }
        }
        let n_edges = edges.len();
        Ok(Self { shape: Shape::Graph(edges), n_nodes, n_edges })
    }

    /// How many nodes.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// How many edges.
    pub fn n_edges(&self) -> usize {
        self.n_edges
    }

    /// Width and height of a grid.
    pub fn size(&self) -> Option<(usize, usize)> {
        match self.shape {
            Shape::Grid { width, height, .. } => Some((width, height)),
            Shape::Graph(_) => None,
        }
    }

    /// `f` of every edge, in their order.
    pub fn each_edge(&self, mut f: impl FnMut(Edge)) {
        match &self.shape {
            Shape::Graph(edges) => {
                for (index, &(from, to)) in edges.iter().enumerate() {
                    f(Edge { index, from: from as usize, to: to as usize, axis: 0 });
                }
            }
            &Shape::Grid { width, height, eight } => {
                let mut index = 0;
                for y in 0..height {
                    for x in 0..width {
                        let from = y * width + x;
                        let mut edge = |axis: usize, to: usize| {
                            f(Edge { index, from, to, axis });
                            index += 1;
                        };
                        if x + 1 < width {
                            edge(0, from + 1);
                        }
                        if y + 1 < height {
                            edge(1, from + width);
                            if eight && x + 1 < width {
                                edge(2, from + width + 1);
                            }
                            if eight && x > 0 {
                                edge(3, from + width - 1);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_as_many_as_promised_and_between_neighbours() {
        for (width, height) in [(0, 0), (0, 3), (1, 1), (1, 5), (5, 1), (2, 2), (4, 3)] {
            for neighbours in [Neighbours::Four, Neighbours::Eight] {
                let grid = Topology::grid(width, height, neighbours).unwrap();
                let mut n = 0;
                grid.each_edge(|edge| {
                    assert_eq!(edge.index, n);
                    let (a, b) = (edge.from, edge.to);
                    let apart = (a % width).abs_diff(b % width) + (a / width).abs_diff(b / width);
                    assert!(
                        a < b && b < width * height && apart == if edge.axis < 2 { 1 } else { 2 }
                    );
                    n += 1;
                });
                assert_eq!(n, grid.n_edges());
            }
        }
    }

    #[test]
    fn edges_to_nowhere_are_refused() {
        let error = Topology::graph(3, vec![(0, 1), (1, 3)]).unwrap_err();
        assert_eq!(error, TopologyError::Node { edge: 1, from: 1, to: 3, n_nodes: 3 });
        assert_eq!(Topology::graph(3, vec![(2, 2)]), Err(TopologyError::Loop(0, 2)));
        assert!(Topology::grid(usize::MAX, 2, Neighbours::Four).is_err());
    }
}
