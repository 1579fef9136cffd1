//! The built-in set of sequences: lines of addresses, made by formula.
