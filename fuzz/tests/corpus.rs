//! Every input that once broke something, and every seed, goes through its target: no panic, and no more memory than the cap.

use cap::Cap;
use lineal_fuzz::inputs::{TARGETS, drive, guard};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, guard::MEMORY);

#[test]
fn seeds_and_past_failures_pass() {
    for target in TARGETS {
        for (i, seed) in (target.seeds)().iter().enumerate() {
            eprintln!("{}: seed {i}", target.name);
            (target.run)(seed);
        }
        for (path, input) in drive::files(&drive::corpus(target)) {
            eprintln!("{}", path.display());
            (target.run)(&input);
        }
    }
}

#[test]
fn every_folder_of_the_corpus_has_a_target() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let known = TARGETS.iter().any(|target| target.name == name);
        assert!(known || !entry.path().is_dir(), "fuzz/corpus/{name} has no target");
    }
}

/// Without these, numbers of hostile files would wrap around in silence.
#[test]
fn tests_check_overflow_and_assertions() {
    let one_more = |n: u8| n + std::hint::black_box(1);
    assert!(std::panic::catch_unwind(|| one_more(std::hint::black_box(u8::MAX))).is_err());
    const { assert!(cfg!(debug_assertions)) };
}
