//! Numbers: rows, matrices, kernels. No word of machine learning.
//!
//! Data is `f32` with `u32` column indices; weights are an `F:` [`Scalar`] (`f32` or `f64`), stored
//! *feature-major with the outputs contiguous*: the `k` weights of column `j` are `w[j*k..(j+1)*k]`.
//! A [`Row`] is matched once, then a kernel runs over its entries.
//!
//! This crate must not know labels, losses, files or threads. It is the only crate with `unsafe`;
//! each such block has a safe twin that its tests compare it with, bit for bit.
//!
//! ```
//! use lineal_linalg::{Csr, kernels};
//!
//! let x = Csr::new(3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 5.0]).unwrap();
//! let w = [0.5f64, 1.0, 0.25];
//! assert_eq!(kernels::dot(x.row(0), &w), 1.0);
//! assert_eq!(kernels::dot(x.row(1), &w), 5.0);
//! ```

mod adaptive;
mod arrays;
mod buffer;
pub mod bytes;
pub mod dense;
pub mod entropy;
mod exp;
pub mod kernels;
pub mod logistic;
mod mapped;
mod matrix;
pub mod memory;
pub mod process;
mod rng;
mod rows;
mod scalar;
pub mod simplex;
mod sink;
pub mod special;
mod vectors;

pub use adaptive::adapt;
pub use arrays::{ArrayError, Integers, Numbers, Order};
pub use buffer::{Buffer, Loan, lend};
pub use mapped::{AlignedBytes, MappedFile, cast_f32, cast_f64, cast_u32};
pub use matrix::{Csr, Dense, Matrix, Row, ShapeError, SparseRow};
pub use memory::{prefer_large_pages, return_free_pieces, return_large_blocks};
pub use rng::Rng;
pub use rows::SparseRows;
pub use scalar::Scalar;
pub use sink::{DenseSink, Sink};
