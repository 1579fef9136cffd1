//! Minimum cuts: the best of two labels for every node, where neighbours like to agree.
//!
//! With x(i) = 1 for the nodes on the sink's side and 0 for those on the source's side, a cut minimises
//!
//! ```text
//! energy(x) = Σᵢ c(i)·x(i) + Σ over arcs i → j of cap(i, j)·(1 − x(i))·x(j),        cap ≥ 0, c of either sign
//! ```
//!
//! The two terminal capacities of a node are one signed number c: above 0 it is the capacity from the source, below 0 that to the sink. The minimum of the energy is the maximal flow + Σ min(c, 0).
//!
//! | type | nodes | stored |
//! |---|---|---|
//! | [`GridCut`] | pixels with 4 or 8 neighbours | capacities and tree in one record per pixel, no arcs |
//! | [`GraphCut`] | any | arcs, two for each edge |
//!
//! Both run [`Flow`], the algorithm of Boykov and Kolmogorov (`flow.rs`), on integers ([`Capacity`]): residual capacities are exact, and so is the proof that the cut is minimal.
//! [`Scale`] makes integers of floats. A solved flow is kept: after [`Cut::add_terminal`] the next [`Cut::solve`] goes on from it.

mod adopt;
mod capacity;
#[allow(clippy::module_inception)]
mod flow;
mod graph;
mod grid;
mod network;
mod reuse;
mod sweep;
mod waiting;

pub use capacity::{Capacity, Scale};
pub use flow::{Cut, Flow};
pub use graph::{Graph, GraphCut};
pub use grid::{Grid, GridCut};
pub use network::{Edge, Network};
