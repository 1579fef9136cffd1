//! Mutated files of every format that is read, and mutated model files.
