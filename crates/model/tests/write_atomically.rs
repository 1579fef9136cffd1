//! Output files are whole or absent.

use lineal_model::file::{self, write_atomically};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_made_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for text in ["first", "the second is longer"] {
        write_atomically(&path, |out| out.write_all(text.as_bytes())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn an_error_or_panic_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let fail = |path: &Path| {
        write_atomically(path, |out| {
            out.write_all(&[b'x'; 1 << 20])?;
            assert_eq!(
                names(folder.path()).iter().filter(|n| n.starts_with(".lineal-")).count(),
                1
            );
            Err(io::Error::other("the reader's own words"))
        })
    };
    assert_eq!(fail(&path).unwrap_err().to_string(), "the reader's own words");
    assert_eq!(names(folder.path()), Vec::<String>::new());
    fs::write(&path, "old").unwrap();
    fail(&path).unwrap_err();
    let panicked =
        std::panic::catch_unwind(|| write_atomically(&path, |_| panic!("on purpose"))).is_err();
    assert!(panicked);
    assert_eq!(names(folder.path()), ["out"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

/// A disk on which nothing can be removed, as when a process is killed.
struct NoRemoval;

impl file::Disk for NoRemoval {
    fn remove(&self, _: &Path) -> io::Result<()> {
        Err(io::Error::other("killed"))
    }
}

#[test]
fn the_next_write_removes_what_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let fail = |_: &mut dyn Write| Err(io::Error::other("on the way"));
    file::write_atomically_on(&NoRemoval, &path, fail).unwrap_err();
    assert_eq!(names(folder.path()).len(), 1);
    // While another one is being written, and afterwards.
    write_atomically(&path, |out| {
        assert_eq!(names(folder.path()).len(), 1);
        out.write_all(b"new")
    })
    .unwrap();
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn what_others_are_writing_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    write_atomically(&one, |out| {
        write_atomically(&other, |out| out.write_all(b"2"))?;
        out.write_all(b"1")
    })
    .unwrap();
    assert_eq!(names(folder.path()), ["one", "other"]);
    assert_eq!(fs::read_to_string(&one).unwrap(), "1");
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/out");
    let error = write_atomically(&missing, |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().contains("no/such/out"), "{error}");
    for path in [folder.path(), Path::new("/"), Path::new("..")] {
        let error = write_atomically(path, |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory, "{error}");
    }
    assert!(write_atomically(Path::new(""), |_| Ok(())).is_err());
    let locked = folder.path().join("locked");
    fs::write(&locked, "old").unwrap();
    let mut permissions = fs::metadata(&locked).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions).unwrap();
    let error = write_atomically(&locked, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn links_stay_links_and_permissions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("store")).unwrap();
        fs::write(at("store/real"), "old").unwrap();
        fs::set_permissions(at("store/real"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink("store/real", at("link")).unwrap();
        symlink("store/new", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        write_atomically(&at("link"), |out| out.write_all(b"new")).unwrap();
        write_atomically(&at("dangling"), |out| out.write_all(b"made")).unwrap();
        assert!(write_atomically(&at("loop"), |_| Ok(())).is_err());
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("store/real")).unwrap(), "new");
        assert_eq!(fs::read_to_string(at("store/new")).unwrap(), "made");
        assert_eq!(fs::metadata(at("store/real")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(&at("store")), ["new", "real"]);
    }

    #[test]
    fn devices_are_written_directly_and_stay_devices() {
        write_atomically(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        if Path::new("/dev/full").exists() {
            let error =
                write_atomically(Path::new("/dev/full"), |out| out.write_all(b"x")).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            assert!(error.to_string().contains("/dev/full"), "{error}");
            let error =
                file::save(Path::new("/dev/full"), &serde_json::json!({}), &[]).unwrap_err();
            assert_eq!(error.to_string().matches("/dev/full").count(), 1, "{error}");
        }
    }

    /// `lineal predict … -o /dev/stdout > file` must write into that file, not put another in its place.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_stream_that_leads_to_a_file_is_appended_to() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let mut file = fs::File::create(folder.path().join("redirected")).unwrap();
        file.write_all(b"before ").unwrap();
        for name in ["/dev/fd", "/proc/self/fd"] {
            let stream = Path::new(name).join(file.as_raw_fd().to_string());
            write_atomically(&stream, |out| out.write_all(b"after ")).unwrap();
        }
        assert_eq!(
            fs::read_to_string(folder.path().join("redirected")).unwrap(),
            "before after after "
        );
        assert_eq!(names(folder.path()), ["redirected"]);
    }
}
