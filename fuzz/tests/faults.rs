//! A small share of what `--bin faults` does: disks that fail, and processes that are killed at a system call.

use lineal_fuzz::faults::{deaths, faults};
use std::path::Path;

#[test]
fn a_failing_disk_leaves_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let found = faults(folder.path(), 200, 1).unwrap();
    assert_eq!(found.broken, Vec::<String>::new());
    assert!(found.n_hit >= 200);
}

#[cfg(unix)]
#[test]
fn a_killed_process_leaves_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_faults"));
    let found = deaths(folder.path(), program, 24, 1).unwrap();
    assert_eq!(found.broken, Vec::<String>::new());
    assert!(found.n_hit >= 24);
}
