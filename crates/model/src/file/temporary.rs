//! Temporary files: made beside their target, renamed or removed, and swept up where a process died between the two.
//!
//! A temporary file is called `.lineal-<process>-<time>-<number>.tmp`, and whoever writes it holds a lock on it. The system gives the lock back when the process
//! ends, however it ends: a file of such a name that can be locked was left behind. That is asked of the lock and not of the process number, because numbers mean
//! nothing in another container or on another machine that shares the folder.

use super::disk::{Disk, retry};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Those of this process, for [`remove_temporaries`].
static OWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders that were swept: once for each process is enough.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file that is removed unless it is renamed.
pub(super) struct Temporary<'d> {
    pub(super) file: File,
    path: PathBuf,
    disk: &'d dyn Disk,
    renamed: bool,
}

impl<'d> Temporary<'d> {
    /// Makes one in the folder of `to`, with the permissions of the file that is there.
    pub(super) fn beside(to: &Path, disk: &'d dyn Disk) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let why = |e: io::Error| {
            let why = format!("no temporary file can be made in {}: {e}", folder_of(to).display());
            io::Error::new(e.kind(), why)
        };
        // The target's name is left out: with more letters it could be too long for the file system.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let temporary = loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{since}-{n}{SUFFIX}", std::process::id());
            let path = to.with_file_name(name);
            // Before the file is there, so that there is no moment at which it is not known.
            note(&OWN, &path);
            match retry(|| disk.create(&path)) {
                Err(e) => {
                    forget(&path);
                    if e.kind() != io::ErrorKind::AlreadyExists {
                        return Err(why(e));
                    }
                }
                Ok(file) => {
                    let temporary = Self { file, path, disk, renamed: false };
                    if temporary.is_ours() {
                        break temporary;
                    }
                }
            }
        };
        if note(&SWEPT, folder_of(to)) {
            temporary.sweep(folder_of(to));
        }
        if let Ok(old) = fs::metadata(to) {
            temporary.file.set_permissions(old.permissions()).map_err(why)?;
        }
        Ok(temporary)
    }

    /// Locks the file. Before it had the lock, another process may have taken it for one that was left behind.
    fn is_ours(&self) -> bool {
        match self.file.try_lock() {
            Ok(()) => is_same(&self.file, &self.path),
            Err(fs::TryLockError::WouldBlock) => false,
            // A file system without locks: nobody can sweep there either.
            Err(fs::TryLockError::Error(_)) => true,
        }
    }

    pub(super) fn rename(mut self, to: &Path) -> io::Result<()> {
        retry(|| self.disk.sync(&self.file))?;
        retry(|| self.disk.rename(&self.path, to))?;
        self.renamed = true;
        // The rename itself lasts once the folder is on the disk; not every file system can be asked for that.
        if let Ok(folder) = File::open(folder_of(to)) {
            let _ = self.disk.sync(&folder);
        }
        Ok(())
    }

    /// Removes what processes that are gone left in the folder. Whatever is in doubt stays: a file that is locked or cannot be, of another owner, or not of a
    /// name that is ours. That it is tidy is no condition of anything, so errors are passed over.
    fn sweep(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let is_temporary = entry.file_name().to_str().is_some_and(is_temporary);
            if !is_file || !is_temporary || path == self.path {
                continue;
            }
            // Opened for writing, as locks of some network file systems demand.
            let Ok(left) = fs::OpenOptions::new().write(true).open(&path) else { continue };
            if has_same_owner(&self.file, &left) && left.try_lock().is_ok() && is_same(&left, &path)
            {
                let _ = self.disk.remove(&path);
            }
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed && retry(|| self.disk.remove(&self.path)).is_err() {
            // For the next write to try again.
            if let Ok(mut swept) = SWEPT.lock() {
                swept.remove(folder_of(&self.path));
            }
        }
        forget(&self.path);
    }
}

/// Removes the temporary files that this process is writing, for a program that is about to end in the middle of it.
///
/// Does not wait, so that it may be called from wherever the program ends: with nothing removed, the next that writes into the folder removes them.
pub fn remove_temporaries() {
    if let Ok(own) = OWN.try_lock() {
        own.iter().for_each(|path| {
            let _ = fs::remove_file(path);
        });
    }
}

const PREFIX: &str = ".lineal-";
const SUFFIX: &str = ".tmp";

/// Whether a file's name is one that [`Temporary`] gives.
fn is_temporary(name: &str) -> bool {
    let Some(numbers) = name.strip_prefix(PREFIX).and_then(|n| n.strip_suffix(SUFFIX)) else {
        return false;
    };
    let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    numbers.split('-').count() == 3 && numbers.split('-').all(is_number)
}

/// Adds a path to a set; whether it is new.
fn note(set: &Mutex<BTreeSet<PathBuf>>, path: &Path) -> bool {
    set.lock().is_ok_and(|mut set| set.insert(path.to_path_buf()))
}

fn forget(path: &Path) {
    if let Ok(mut own) = OWN.lock() {
        own.remove(path);
    }
}

/// The folder that a file is in; `.` for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether a path still leads to an open file.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => place(open) == place(named),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(unix)]
fn has_same_owner(a: &File, b: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    matches!((a.metadata(), b.metadata()), (Ok(a), Ok(b)) if a.uid() == b.uid())
}

#[cfg(not(unix))]
fn has_same_owner(_: &File, _: &File) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_are_temporary() {
        assert!(is_temporary(".lineal-12-1700000000-0.tmp"));
        for other in [
            ".lineal-12-0.tmp",
            ".lineal-12-17-0-1.tmp",
            ".lineal-a-17-0.tmp",
            ".lineal-1--0.tmp",
            ".lineal-1-2-3.tmp.bak",
            "lineal-1-2-3.tmp",
            ".lineal-.tmp",
        ] {
            assert!(!is_temporary(other), "{other}");
        }
    }
}
