//! Features made of other features, so that a linear model can bend: interactions, polynomials, random Fourier features.
//!
//! ```
//! use lineal_features::map::{Columns, FeatureMap};
//! use lineal_linalg::{Dense, Matrix};
//!
//! let x = Matrix::Dense(Dense::new(1, 2, vec![2.0, 3.0]).unwrap());
//! let columns = Columns { numbers: vec![0..2], map: Some("poly:2".parse().unwrap()), ..Columns::default() };
//! let map = FeatureMap::learn(columns, &x)?;
//! assert_eq!(map.apply(&x)?.row(0).values(), [2.0, 3.0, 4.0, 6.0, 9.0]);
//! assert_eq!(map.name(1, |j| ["a", "b"][j].into()), "a*b");
//! # Ok::<(), lineal_features::Error>(())
//! ```

mod apply;
mod fourier;
mod learnt;
mod monomials;
mod spec;

pub use learnt::{Columns, FeatureMap};
pub use spec::{Interaction, MapSpec};
