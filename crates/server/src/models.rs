//! Models by name, each replaced when its file is.
//!
//! Files are read into memory, not mapped: whoever overwrites a file in place cannot touch the model that is in use.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::log::{Log, timestamp};
use crate::metrics::Metrics;
use crate::options::ModelFile;
use crate::served::Served;

/// Makes a model from its name and the bytes of its file, or says why not.
pub type Loader = Arc<dyn Fn(&str, &[u8]) -> Result<Box<dyn Served>, String> + Send + Sync>;

/// A model in use.
pub(crate) struct Loaded {
    pub(crate) served: Box<dyn Served>,
    /// How often the name was loaded, this time included.
    pub(crate) version: u64,
    n_bytes: usize,
    at: SystemTime,
}

struct Entry {
    file: ModelFile,
    current: RwLock<Arc<Loaded>>,
    seen: Mutex<Seen>,
}

/// What was seen of a file.
#[derive(Default)]
struct Seen {
    /// As it was when it was last tried.
    tried: Option<Stamp>,
    /// As it was at the last look.
    last: Option<Stamp>,
}

/// Differs if a file was written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
    inode: u64,
}

/// All models.
pub(crate) struct Models {
    entries: BTreeMap<String, Entry>,
    loader: Loader,
}

impl Models {
    /// Loads every file, or says which cannot be.
    pub(crate) fn open(
        files: &[ModelFile],
        loader: Loader,
        metrics: &Metrics,
    ) -> Result<Self, String> {
        let mut entries = BTreeMap::new();
        for file in files {
            let stamp = stamp(&file.path);
            let loaded = load(file, &loader, 1)?;
            metrics.load(&file.name, false);
            let entry = Entry {
                file: file.clone(),
                current: RwLock::new(Arc::new(loaded)),
                seen: Mutex::new(Seen { tried: stamp, last: stamp }),
            };
            if entries.insert(file.name.clone(), entry).is_some() {
                return Err(format!(
                    "two models have the name {}: say NAME=FILE for one of them",
                    file.name
                ));
            }
        }
        Ok(Self { entries, loader })
    }

    /// The model of a name, as it is now.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Loaded>> {
        let entry = self.entries.get(name)?;
        Some(entry.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// What the list of models says of one.
    pub(crate) fn summary(&self, name: &str) -> Option<Value> {
        let loaded = self.get(name)?;
        Some(json!({
            "name": name,
            "task": loaded.served.task(),
            "version": loaded.version,
            "loaded": timestamp(loaded.at),
            "bytes": loaded.n_bytes,
            "input": loaded.served.input(),
        }))
    }

    /// Loads files that were replaced. One that is still being written is left for the next look.
    pub(crate) fn look(&self, metrics: &Metrics, log: &Log) {
        for (name, entry) in &self.entries {
            let now = stamp(&entry.file.path);
            let mut seen = entry.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let settled = seen.last == now;
            seen.last = now;
            if !settled || now.is_none() || seen.tried == now {
                continue;
            }
            seen.tried = now;
            let version = self.get(name).map_or(1, |loaded| loaded.version + 1);
            let path = entry.file.path.display().to_string();
            match load(&entry.file, &self.loader, version) {
                Ok(loaded) => {
                    *entry.current.write().unwrap_or_else(PoisonError::into_inner) =
                        Arc::new(loaded);
                    metrics.load(name, false);
                    log.event(
                        "model loaded",
                        json!({"model": name, "file": path, "version": version}),
                    );
                }
                Err(why) => {
                    metrics.load(name, true);
                    log.error(
                        "model not loaded",
                        json!({"model": name, "file": path, "error": why, "in_use": version - 1}),
                    );
                }
            }
        }
    }
}

/// Looks at the files from time to time, until what `models` belongs to is gone.
pub(crate) fn watch<T: Send + Sync + 'static>(
    owner: Weak<T>,
    every: Duration,
    look: impl Fn(&T) + Send + 'static,
) -> std::io::Result<()> {
    let watch = move || {
        loop {
            std::thread::sleep(every);
            match owner.upgrade() {
                Some(owner) => look(&owner),
                None => return,
            }
        }
    };
    std::thread::Builder::new().name("watch".into()).spawn(watch).map(drop)
}

fn load(file: &ModelFile, loader: &Loader, version: u64) -> Result<Loaded, String> {
    let path = file.path.display();
    let bytes = read(&file.path)?;
    // A file that makes the loader panic is a file that cannot be loaded.
    let load = std::panic::AssertUnwindSafe(|| loader(&file.name, &bytes));
    let served = std::panic::catch_unwind(load)
        .unwrap_or_else(|_| Err("the program failed while it loaded the file".to_owned()))
        .map_err(|why| format!("{path}: {why}"))?;
    Ok(Loaded { served, version, n_bytes: bytes.len(), at: SystemTime::now() })
}

/// The bytes of a model file. What has no end, or does not fit into memory, is not read.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let wrong = |error: std::io::Error| unreadable(path, &error);
    let about = std::fs::metadata(path).map_err(wrong)?;
    // To open a pipe is to wait for its other end.
    if !about.is_file() && !about.is_dir() {
        return Err(format!("{} is a device or a pipe, not a file", path.display()));
    }
    if free_memory().is_some_and(|free| about.len() > free) {
        return Err(format!(
            "the model file {} has {} bytes, which is more than there is free memory",
            path.display(),
            about.len()
        ));
    }
    let mut bytes = Vec::new();
    // Whoever writes on while it is read is seen at the next look.
    let mut file = std::fs::File::open(path).map_err(wrong)?.take(about.len());
    file.read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}

/// Bytes that can be had without swapping, where the system tells.
fn free_memory() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// What to say of a file that cannot be read, and what to do about it.
fn unreadable(path: &Path, error: &std::io::Error) -> String {
    let name = path.display();
    let inside = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match error.kind() {
        std::io::ErrorKind::NotFound => match inside.filter(|folder| !folder.exists()) {
            Some(folder) => format!(
                "there is no model file {name}: its folder {} does not exist; check the path, or train a model into it with `lineal train DATA -o {name}`",
                folder.display()
            ),
            None => format!(
                "there is no model file {name}; check the path, or train a model with `lineal train DATA -o {name}`"
            ),
        },
        std::io::ErrorKind::PermissionDenied => {
            format!(
                "the model file {name} may not be read; give this user the right to (`chmod +r {name}`)"
            )
        }
        _ if path.is_dir() => format!("{name} is a folder; name the model files in it"),
        _ => format!("the model file {name} cannot be read: {error}"),
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let inode = 0;
    Some(Stamp { modified: about.modified().ok(), len: about.len(), inode })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_end_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        std::fs::write(&path, "model").unwrap();
        assert_eq!(read(&path).unwrap(), b"model");
        assert!(read(folder.path()).unwrap_err().contains("is a folder"));
        assert!(read(&folder.path().join("no")).unwrap_err().contains("there is no model file"));
        if cfg!(target_os = "linux") {
            assert!(read(Path::new("/dev/zero")).unwrap_err().contains("is a device"));
            // A hole of a petabyte, where the file system has such files.
            if std::fs::File::create(&path).unwrap().set_len(1 << 50).is_ok() {
                assert!(read(&path).unwrap_err().contains("more than there is free memory"));
            }
        }
    }
}
