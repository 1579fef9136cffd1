//! Kills the program and injects faults into its files.
