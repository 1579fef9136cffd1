//! Searches for problems whose optimum lies below `objective − gap`.
