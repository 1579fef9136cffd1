//! Output files: written beside, then renamed.

use super::disk::{Disk, SystemDisk};
use super::temporary::{Temporary, folder_of};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file so that its name refers to the old content or to all of the new, never to a part.
///
/// `write` gets a buffered writer of a hidden temporary file in the same folder. When it returns, the file is
/// flushed to the disk and renamed; on any failure (a full disk, an error or panic of `write`) the temporary file is
/// removed and the old file stays as it was. A process that is killed leaves it behind, and the next that writes into the folder
/// removes it. Symbolic links are followed, so the link stays a link; the new file has the old one's permissions, and a read-only file is refused.
///
/// What cannot be replaced is written directly: pipes, devices, and the process's own streams (`/dev/stdout`),
/// even where these lead to a file.
///
/// Errors of the file name it, so that a caller can print them as they are; errors of `write` itself pass through.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    write_atomically_on(&SystemDisk, path, write)
}

/// [`write_atomically`] on a disk of the caller's, for tests of what happens when a disk fails.
pub fn write_atomically_on(
    disk: &dyn Disk,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let about = |e: io::Error| named(path, e);
    match destination(path).map_err(about)? {
        Destination::Direct(to) => {
            // Appending, since `/dev/stdout` may lead to a file in which others have written.
            let file = OpenOptions::new().append(true).open(to).map_err(about)?;
            put(path, disk, &file, write)
        }
        Destination::Replace(to) => {
            let temporary = Temporary::beside(&to, disk).map_err(about)?;
            put(path, disk, &temporary.file, write)?;
            temporary.rename(&to).map_err(about)
        }
    }
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

fn put(
    path: &Path,
    disk: &dyn Disk,
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(256 << 10, Named { disk, file, path });
    if let Err(e) = write(&mut out) {
        // Without this, dropping the buffer would try once more to write it.
        let _ = out.into_parts();
        return Err(e);
    }
    out.flush()
}

/// A file whose errors say which file it is.
struct Named<'a> {
    disk: &'a dyn Disk,
    file: &'a File,
    path: &'a Path,
}

impl Write for Named<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes).map_err(|e| named(self.path, e))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|e| named(self.path, e))
    }
}

/// The kind stays: callers tell a full disk and a broken pipe by it.
fn named(path: &Path, e: io::Error) -> io::Error {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let remedy = match e.kind() {
        StorageFull | QuotaExceeded => "; make room there, or give a file on another disk",
        FileTooLarge => "; raise the limit on the size of files (ulimit -f), or give another place",
        _ => "",
    };
    io::Error::new(e.kind(), format!("cannot write {}: {e}{remedy}", path.display()))
}
