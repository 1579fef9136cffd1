//! Labels for the nodes of grids and graphs whose neighbours like to agree: the segmentation of images.
//!
//! A labelling scores what its nodes score with their labels, less a cost for every edge whose ends differ ([`Potts`]). For two labels the best one is a minimum cut ([`flow`]), exact; for more it is found by expansion moves, with a proof of how
//! far from the best it can be ([`Decoder`]). [`GraphModel`] says where weights lie, [`Labelling`] makes graphs examples for the learners of structures, and [`Marginals`] say how sure each label is.
//!
//! | what | memory | time |
//! |---|---|---|
//! | cut of a grid, 4 neighbours | 32 bytes per pixel (i32) or 48 (i64) | about as long as writing the capacities takes a few times |
//! | cut of a grid, 8 neighbours | 48 bytes per pixel (i32) or 80 (i64) | |
//! | cut of a graph | 20 or 24 bytes per node, 36 or 44 per edge | |
//! | more than two labels | and 16·K bytes per edge for the bound | a cut for each label, two or three times over |
//!
//! This crate must not know files, flags or solvers.
//!
//! ```
//! use lineal_graph::{Decoder, Effort, Neighbours, Potts, Topology};
//!
//! // A row of four pixels: the third would rather differ, but not at the price of two edges.
//! let topology = Topology::grid(4, 1, Neighbours::Four)?;
//! let potts = Potts { topology: &topology, n_labels: 2, own: &[1.0, 2.0, -0.5, 1.0], cost: &[0.6; 3], known: &[] };
//! let mut labels = Vec::new();
//! let found = Decoder::<i64>::default().best(&potts, &Effort::default(), &mut labels);
//! assert_eq!((labels, found.score, found.slack), (vec![1, 1, 1, 1], 3.5, 0.0));
//! # Ok::<(), lineal_graph::TopologyError>(())
//! ```

mod bound;
mod decode;
mod expansion;
pub mod features;
pub mod flow;
mod marginals;
mod model;
mod nodes;
mod potts;
mod problem;
mod topology;

pub use decode::{Decoded, Decoder, Effort};
pub use lineal_model::VOID;
pub use marginals::Marginals;
pub use model::{GraphModel, Input};
pub use nodes::NodeFeatures;
pub use potts::{Potts, columns};
pub use problem::{
    Example, Labelling, LabellingError, LabellingOptions, LabellingScratch, Normalise, Rounded,
    check_input,
};
pub use topology::{Neighbours, Topology, TopologyError};
