//! A disk that fails, or ends the process, at its n-th operation.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use lineal::{Disk, SystemDisk};

/// What happens at the n-th operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// From here on nothing can be written: ENOSPC.
    NoSpace,
    /// This operation fails: EIO.
    Io,
    /// This operation is interrupted by a signal, and would succeed if tried again: EINTR.
    Interrupted,
    /// A write takes a part of its bytes only; other operations succeed.
    Short,
    /// The process is killed before the operation.
    KilledBefore,
    /// The process is killed after the operation; of a write, after a part of it.
    KilledAfter,
}

/// See [`Fault`].
#[derive(Debug)]
pub struct FaultyDisk {
    fault: Fault,
    at: usize,
    n: AtomicUsize,
    is_full: AtomicBool,
    /// A temporary file could not be removed.
    kept: AtomicBool,
}

impl FaultyDisk {
    /// The operation `at`, counted from 0, meets this fault.
    pub fn new(fault: Fault, at: usize) -> Self {
        Self { fault, at, n: 0.into(), is_full: false.into(), kept: false.into() }
    }

    /// Whether the fault has come.
    pub fn was_hit(&self) -> bool {
        self.n.load(Relaxed) > self.at
    }

    /// Whether a temporary file may be left because removing it failed.
    pub fn may_leave_files(&self) -> bool {
        self.kept.load(Relaxed)
    }

    fn fault(&self) -> Option<Fault> {
        let n = self.n.fetch_add(1, Relaxed);
        (n == self.at).then_some(self.fault)
    }

    /// An operation that takes no bytes.
    fn run<R>(&self, needs_room: bool, go: impl Fn() -> io::Result<R>) -> io::Result<R> {
        match self.fault() {
            Some(Fault::NoSpace) => self.is_full.store(true, Relaxed),
            Some(Fault::Io) => return Err(error(Fault::Io)),
            Some(Fault::Interrupted) => return Err(error(Fault::Interrupted)),
            Some(Fault::KilledBefore) => die(),
            Some(Fault::KilledAfter) => {
                let _ = go();
                die()
            }
            Some(Fault::Short) | None => {}
        }
        if needs_room && self.is_full.load(Relaxed) { Err(error(Fault::NoSpace)) } else { go() }
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.run(true, || SystemDisk.create(path))
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let some = &bytes[..bytes.len().div_ceil(2)];
        match self.fault() {
            Some(Fault::NoSpace) => {
                self.is_full.store(true, Relaxed);
                return SystemDisk.write(file, some);
            }
            Some(Fault::Short) => return SystemDisk.write(file, some),
            Some(Fault::KilledBefore) => die(),
            Some(Fault::KilledAfter) => {
                let _ = SystemDisk.write(file, some);
                die()
            }
            Some(fault) => return Err(error(fault)),
            None => {}
        }
        if self.is_full.load(Relaxed) {
            Err(error(Fault::NoSpace))
        } else {
            SystemDisk.write(file, bytes)
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.run(true, || SystemDisk.sync(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(true, || SystemDisk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let done = self.run(false, || SystemDisk.remove(path));
        if done.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted) {
            self.kept.store(true, Relaxed);
        }
        done
    }
}

/// As the system reports it.
fn error(fault: Fault) -> io::Error {
    const EINTR: i32 = 4;
    const EIO: i32 = 5;
    const ENOSPC: i32 = 28;
    io::Error::from_raw_os_error(match fault {
        Fault::NoSpace => ENOSPC,
        Fault::Interrupted => EINTR,
        _ => EIO,
    })
}

/// No destructor runs, as when the power fails; what the system holds for the process it gives back.
fn die() -> ! {
    let pid = std::process::id().to_string();
    let _ = std::process::Command::new("kill").args(["-KILL", &pid]).status();
    std::process::abort()
}
