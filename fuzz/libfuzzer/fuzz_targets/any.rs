//! Any target under libFuzzer, with its own mutations of model files: `TARGET=csv` in the environment chooses.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use lineal_fuzz::inputs::{Mutator, TARGETS, Target, find};
use std::sync::LazyLock;

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    find(&name).unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!("TARGET must be one of {}", names.join(", "))
    })
});

static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| (TARGET.seeds)());

fuzz_target!(|input: &[u8]| {
    (TARGET.run)(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if !seed.is_multiple_of(2) {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut mutator = Mutator::new(seed.into(), TARGET.tokens);
    // The target's own seeds take the place of an empty corpus, and lend pieces later.
    let other = SEEDS.get(mutator.below(SEEDS.len())).map_or(&[][..], Vec::as_slice);
    let is_first = size <= TARGET.choices + 1;
    let input = mutator.input(&TARGET, if is_first { other } else { &data[..size] }, other);
    let n = input.len().min(max_size);
    data[..n].copy_from_slice(&input[..n]);
    n
});
