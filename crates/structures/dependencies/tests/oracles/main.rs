//! The oracles of dependency trees against sums and maxima over all trees, up to 6 words.

mod augmented;
mod enumeration;
mod first_order;
mod non_projective;
mod second_order;
