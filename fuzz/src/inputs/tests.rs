use super::*;
use drive::Work;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

#[test]
fn names_are_different_and_seeds_fit() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names.len(), TARGETS.len());
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        assert!(seeds.iter().all(|seed| seed.len() <= target.max_bytes), "{}", target.name);
    }
}

/// A target with a fault behind a word, as a program has it.
fn planted(input: &[u8]) -> Signature {
    let mut signature = Signature::default();
    let n_same = input.iter().zip(b"qid:").take_while(|(a, b)| a == b).count();
    signature.count(n_same);
    assert!(n_same < 4, "the planted fault");
    signature
}

#[test]
fn a_planted_fault_is_found_and_cut_short() {
    let target = target("planted", planted, || vec![b"hello world\n".to_vec()], 0);
    let folder = tempfile::tempdir().unwrap();
    guard::hear_panics();
    let work = |seed| Work {
        target: &target,
        folder: folder.path(),
        time: Duration::from_secs(2),
        seed,
        samples: None,
    };
    // As many rounds as it takes: a slow machine runs fewer inputs in a second.
    let found = (0..50).any(|seed| work(seed).run().unwrap().panics == 1);
    let _ = std::panic::take_hook();
    assert!(found);
    let inputs = drive::files(&folder.path().join("findings/planted"));
    assert_eq!(inputs[0].1, b"qid:");
    let said = fs::read_to_string(inputs[0].0.with_extension("txt")).unwrap();
    assert!(said.contains("the planted fault"), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_mutations() {
    let target = find("csv").unwrap();
    let seed = &(target.seeds)()[0];
    let many = |n: u64| -> Vec<Vec<u8>> {
        let mut mutator = Mutator::new(n, target.tokens);
        (0..100).map(|_| mutator.input(target, seed, b"other")).collect()
    };
    assert_eq!(many(1), many(1));
    assert_ne!(many(1), many(2));
    assert!(many(1).iter().all(|input| input.len() <= target.max_bytes));
}
