//! Output files: written beside, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a file so that its name refers to the old content or to all of the new, never to a part.
///
/// `write` gets a buffered writer of a hidden temporary file in the same folder. When it returns, the file is
/// flushed to the disk and renamed; on any failure (a full disk, an error or panic of `write`) the temporary file is
/// removed and the old file stays as it was. Symbolic links are followed, so the link stays a link; the new file
/// has the old one's permissions, and a read-only file is refused.
///
/// What cannot be replaced is written directly: pipes, devices, and the process's own streams (`/dev/stdout`),
/// even where these lead to a file.
///
/// Errors of the file name it, so that a caller can print them as they are; errors of `write` itself pass through.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let about = |e: io::Error| named(path, e);
    match destination(path).map_err(about)? {
        Destination::Direct(to) => {
            // Appending, since `/dev/stdout` may lead to a file in which others have written.
            let file = OpenOptions::new().append(true).open(to).map_err(about)?;
            put(path, &file, write)
        }
        Destination::Replace(to) => {
            let temporary = Temporary::beside(&to).map_err(about)?;
            put(path, &temporary.file, write)?;
            temporary.rename(&to).map_err(about)
        }
    }
}

/// Temporary files that are there now.
static LIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn live() -> MutexGuard<'static, Vec<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all writes that are under way, for a program that ends at once. As long as the result lives, no other is made.
pub fn discard_temporaries() -> impl Sized {
    let live = live();
    for path in live.iter() {
        let _ = fs::remove_file(path);
    }
    live
}

enum Destination {
    Direct(PathBuf),
    Replace(PathBuf),
}

/// Follows links one by one, because the way there matters: a stream of this process is a link in `/proc`.
fn destination(path: &Path) -> io::Result<Destination> {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                "a file name is needed, not a folder",
            ));
        };
        let folder = fs::canonicalize(folder_of(&path)).map_err(|e| {
            io::Error::new(
                e.kind(),
                format!("cannot enter the folder {}: {e}", folder_of(&path).display()),
            )
        })?;
        let full = folder.join(name);
        let is_stream =
            ["/proc", "/dev/fd", "/dev/stdout", "/dev/stderr"].iter().any(|s| full.starts_with(s));
        if is_stream {
            return Ok(Destination::Direct(full));
        }
        match fs::symlink_metadata(&full) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Destination::Replace(full)),
            Err(e) => return Err(e),
            Ok(found) if found.is_symlink() => path = folder.join(fs::read_link(&full)?),
            Ok(found) if found.is_dir() => {
                return Err(io::Error::new(
                    io::ErrorKind::IsADirectory,
                    "is a folder; give a file name in it",
                ));
            }
            Ok(found) if !found.is_file() => return Ok(Destination::Direct(full)),
            Ok(found) if found.permissions().readonly() => {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "is read-only; make it writable or give another name",
                ));
            }
            Ok(_) => return Ok(Destination::Replace(full)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The folder that a file is in; `.` for a bare name.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn put(
    path: &Path,
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(256 << 10, Named { file, path });
    if let Err(e) = write(&mut out) {
        // Without this, dropping the buffer would try once more to write it.
        let _ = out.into_parts();
        return Err(e);
    }
    out.flush()
}

/// A file whose errors say which file it is.
struct Named<'a> {
    file: &'a File,
    path: &'a Path,
}

impl Write for Named<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|e| named(self.path, e))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|e| named(self.path, e))
    }
}

/// The kind stays: callers tell a full disk and a broken pipe by it.
fn named(path: &Path, e: io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("cannot write {}: {e}", path.display()))
}

/// A file that is removed unless it is renamed.
struct Temporary {
    file: File,
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    fn beside(to: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // The target's name is left out: with more letters it could be too long for the file system.
        loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = to.with_file_name(format!(".lineal-{}-{n}.tmp", std::process::id()));
            let mut live = live();
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                // Left by a process that was killed and had this number.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => {
                    let why = format!(
                        "no temporary file can be made in {}: {e}",
                        folder_of(to).display()
                    );
                    return Err(io::Error::new(e.kind(), why));
                }
                Ok(file) => {
                    live.push(path.clone());
                    drop(live);
                    let temporary = Self { file, path, renamed: false };
                    if let Ok(old) = fs::metadata(to) {
                        temporary.file.set_permissions(old.permissions())?;
                    }
                    return Ok(temporary);
                }
            }
        }
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, to)?;
        self.renamed = true;
        // The rename itself lasts once the folder is on the disk; not every file system can be asked for that.
        if let Ok(folder) = File::open(folder_of(to)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut live = live();
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
        live.retain(|path| *path != self.path);
    }
}
