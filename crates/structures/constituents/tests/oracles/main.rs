//! Oracles against enumeration of all derivations.

mod best;
mod enumeration;
mod fallback;
mod sums;
