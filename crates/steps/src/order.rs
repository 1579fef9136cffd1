//! The order of an epoch.

/// Shuffles by a seed, as scikit-learn does: a permutation of the last epoch's order, drawn by Marsaglia's xorshift.
pub fn shuffle(order: &mut [u32], seed: u32) {
    let mut state = seed.max(1);
    let n = order.len();
    for i in 0..n.saturating_sub(1) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let draw = (state & 0x7fff_ffff) as usize;
        order.swap(i, i + draw % (n - i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stays_and_the_seed_decides() {
        let mut order: Vec<u32> = (0..50).collect();
        shuffle(&mut order, 7);
        let mut again: Vec<u32> = (0..50).collect();
        shuffle(&mut again, 7);
        assert_eq!(order, again);
        assert_ne!(order, (0..50).collect::<Vec<u32>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<u32>>());
        shuffle(&mut [], 1);
    }
}
