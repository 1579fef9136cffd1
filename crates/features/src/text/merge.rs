//! Many lanes' strings into one list, in order.

use super::fit::LaneTable;
use super::tables::{PAD, Strings, ZEROS};
use lineal_linalg::kernels::prefetch_at;
use rayon::prelude::*;

/// All strings of a block, in order of their bytes.
pub(crate) struct Merged {
    pub(crate) words: SortedStrings,
    /// Documents with each.
    pub(crate) df: Vec<u32>,
    /// For each lane: its numbers → places in the order.
    pub(crate) places: Vec<Vec<u32>>,
}

/// Strings one after the other, then a pad.
pub(crate) struct SortedStrings {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl SortedStrings {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Asks for where a string ends; then for the string.
    #[inline]
    pub(crate) fn prefetch(&self, i: usize, ends_are_near: bool) {
        if ends_are_near {
            prefetch_at(&self.bytes, self.ends[i] as usize);
        } else {
            prefetch_at(&self.ends, i);
        }
    }

    /// Appends a string.
    #[inline]
    pub(crate) fn write(&self, i: usize, out: &mut Vec<u8>) {
        let mut at = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        let end = self.ends[i] as usize;
        let len = out.len() + end - at;
        // Eight bytes at a time, then cut: most words are one store instead of a call.
        while at < end {
            let eight: [u8; PAD] = self.bytes[at..at + PAD].try_into().expect("a pad follows");
            out.extend_from_slice(&eight);
            at += PAD;
        }
        out.truncate(len);
    }
}

/// Merges the lanes' tables of one block.
pub(crate) fn merge(lanes: Vec<LaneTable>) -> Merged {
    let mut all = Strings::default();
    let mut maps: Vec<Vec<u32>> = Vec::with_capacity(lanes.len());
    let mut dfs = Vec::with_capacity(lanes.len());
    for (l, LaneTable { words, df }) in lanes.into_iter().enumerate() {
        dfs.push(df);
        if l == 0 {
            maps.push((0..words.len() as u32).collect());
            all = words;
            continue;
        }
        let spans: Vec<(usize, usize)> = (0..words.len()).map(|i| words.span(i)).collect();
        let mut map = Vec::with_capacity(words.len());
        all.intern_all(words.buffer(), &spans, &mut map);
        maps.push(map);
    }
    let order = in_order(&all);
    let mut place = vec![0u32; order.len()];
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(order.len()));
    for (at, &id) in order.iter().enumerate() {
        place[id as usize] = at as u32;
        bytes.extend_from_slice(all.get(id as usize));
        ends.push(bytes.len() as u32);
    }
    bytes.extend_from_slice(ZEROS.as_bytes());
    let mut df = vec![0u32; order.len()];
    for (map, of_lane) in maps.iter_mut().zip(dfs) {
        for id in map.iter_mut() {
            *id = place[*id as usize];
        }
        for (&at, n) in map.iter().zip(of_lane) {
            df[at as usize] += n;
        }
    }
    Merged { words: SortedStrings { bytes, ends }, df, places: maps }
}

/// The numbers of all strings, in order of their bytes.
fn in_order(strings: &Strings) -> Vec<u32> {
    let mut order: Vec<(u64, u32)> = (0..strings.len())
        .map(|i| {
            let string = strings.get(i);
            let mut head = [0; 8];
            let n = string.len().min(8);
            head[..n].copy_from_slice(&string[..n]);
            (u64::from_be_bytes(head), i as u32)
        })
        .collect();
    // Most are told apart by their first eight bytes, without a look at the strings.
    order.par_sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| strings.get(a.1 as usize).cmp(strings.get(b.1 as usize)))
    });
    order.into_iter().map(|(_, i)| i).collect()
}
