//! Kills and failing disks against the promise of the file layer: at any moment an output is the old file or the new one, the next run leaves nothing but outputs in
//! the folder, and a stream that is taken up again ends with the same bits as one that was never interrupted.
//!
//! Three adversaries share a model of what may be in the folder ([`World`]):
//!
//! - [`faults`]: random sequences of saves and streams in which the n-th system call of the file layer fails ([`FaultyDisk`]), of truncations, and of predictions.
//! - [`deaths`]: the same in processes of their own, which are killed at their n-th system call.
//! - [`signals`]: the program, killed, terminated or interrupted at random moments.

mod disk;
mod program;
mod world;

pub use disk::{Fault, FaultyDisk};
pub use program::signals;
pub use world::{World, deaths, faults, victim};

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Faults that were injected, or processes that were killed.
    pub n: usize,
    /// Of these, how many came when there was something to disturb.
    pub n_hit: usize,
    /// What broke the promise.
    pub broken: Vec<String>,
}

impl Found {
    /// Adds what another search found.
    pub fn add(&mut self, other: Found) {
        self.n += other.n;
        self.n_hit += other.n_hit;
        self.broken.extend(other.broken);
    }
}
