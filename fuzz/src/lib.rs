//! Adversaries of Lineal. Each tries to make the toolkit break a promise, for as long as it is given:
//!
//! - [`inputs`] mutates files of every format that is read, and model files: no panic, no hang, no allocation beyond the cap.
//! - [`certificates`] searches for problems whose optimum lies below `objective − gap`.
//! - [`faults`] kills the program and injects faults into its files: old or new file, nothing else.
//!
//! Nothing here is part of the library or the program. `cargo xtask soak` runs all of it.

pub mod certificates;
pub mod faults;
pub mod inputs;
