//! From the hash of an attribute to its number.

use super::Error;

/// Which numbers attributes get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they come.
    FirstSeen,
    /// The most frequent first, ties in order of appearance: the weights that are used most lie side by side.
    #[default]
    Frequency,
}

/// What becomes of the attributes that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Attributes seen less often are dropped. Default 1: none.
    pub min_count: u32,
    /// Default: by frequency.
    pub order: Order,
}

impl Default for Cut {
    fn default() -> Self {
        Self { min_count: 1, order: Order::default() }
    }
}

/// Hash → number, with open addressing.
#[derive(Clone, Debug, Default)]
struct Table {
    /// (low half of the hash, high half, number), `EMPTY` where the number is.
    slots: Vec<[u32; 3]>,
    /// Number → hash.
    hashes: Vec<u64>,
}

const EMPTY: u32 = u32::MAX;

impl Table {
    #[inline]
    fn find(&self, hash: u64) -> Result<u32, usize> {
        let (low, high) = (hash as u32, (hash >> 32) as u32);
        let mask = self.slots.len() - 1;
        let mut at = high as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot[2] == EMPTY {
                return Err(at);
            }
            if slot[0] == low && slot[1] == high {
                return Ok(slot[2]);
            }
            at = (at + 1) & mask;
        }
    }

    /// The slot where a hash would be if nothing stood in its way. Reading it for many hashes before any is looked for lets the reads overlap.
    #[inline(always)]
    fn first_slot(&self, hash: u64) -> [u32; 3] {
        self.slots[(hash >> 32) as usize & (self.slots.len() - 1)]
    }

    fn with_room_for(n: usize) -> Self {
        // At most five eighths full.
        let n_slots = (n * 8 / 5 + 8).next_power_of_two();
        Self { slots: vec![[0, 0, EMPTY]; n_slots], hashes: Vec::with_capacity(n) }
    }

    fn insert_at(&mut self, at: usize, hash: u64) -> u32 {
        let id = self.hashes.len() as u32;
        self.slots[at] = [hash as u32, (hash >> 32) as u32, id];
        self.hashes.push(hash);
        if self.hashes.len() * 8 > self.slots.len() * 5 {
            let mut wider = Self::with_room_for(self.hashes.len() * 2);
            for &hash in &self.hashes {
                if let Err(at) = wider.find(hash) {
                    wider.insert_new(at, hash);
                }
            }
            *self = wider;
        }
        id
    }

    fn insert_new(&mut self, at: usize, hash: u64) {
        self.slots[at] = [hash as u32, (hash >> 32) as u32, self.hashes.len() as u32];
        self.hashes.push(hash);
    }

    /// `None` if two hashes are the same.
    fn from_hashes(hashes: &[u64]) -> Option<Self> {
        let mut table = Self::with_room_for(hashes.len());
        for &hash in hashes {
            let at = table.find(hash).err()?;
            table.insert_new(at, hash);
        }
        Some(table)
    }
}

/// Numbers attributes as they are seen in the training data, and counts them.
#[derive(Clone, Debug)]
pub struct IndexBuilder {
    table: Table,
    counts: Vec<u32>,
}

impl Default for IndexBuilder {
    fn default() -> Self {
        Self { table: Table::with_room_for(0), counts: Vec::new() }
    }
}

impl IndexBuilder {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// The preliminary number of an attribute, by its hash; a new one if it was not seen before.
    #[inline]
    pub fn id(&mut self, hash: u64) -> u32 {
        let id = match self.table.find(hash) {
            Ok(id) => id,
            Err(at) => {
                self.counts.push(0);
                self.table.insert_at(at, hash)
            }
        };
        let count = &mut self.counts[id as usize];
        *count = count.saturating_add(1);
        id
    }

    /// The preliminary numbers of some attributes, in order: [`id`](Self::id) of each, faster.
    pub(crate) fn ids(
        &mut self,
        hashes: &[u64],
        slots: &mut Vec<[u32; 3]>,
        mut f: impl FnMut(u32),
    ) {
        slots.clear();
        slots.extend(hashes.iter().map(|&hash| self.table.first_slot(hash)));
        for (&hash, slot) in hashes.iter().zip(slots) {
            if is_of(*slot, hash) {
                let count = &mut self.counts[slot[2] as usize];
                *count = count.saturating_add(1);
                f(slot[2]);
            } else {
                f(self.id(hash));
            }
        }
    }

    /// Takes in what was seen of later data, whose attributes have these hashes, in the order in which they came, and counts.
    pub fn add(&mut self, hashes: &[u64], counts: &[u32]) {
        for (&hash, &more) in hashes.iter().zip(counts) {
            let id = self.id(hash);
            // Looking it up counted it once.
            let count = &mut self.counts[id as usize];
            *count = (*count - 1).saturating_add(more);
        }
    }

    /// The hashes of what was seen, in the order in which they came.
    pub fn hashes(&self) -> &[u64] {
        &self.table.hashes
    }

    /// How often each was seen.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// How many attributes were seen.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Was none seen?
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The final numbers, and the map to them from the preliminary ones.
    pub fn finish(self, cut: Cut) -> (AttributeIndex, Renumber) {
        let mut kept: Vec<u32> = (0..self.counts.len() as u32)
            .filter(|&id| self.counts[id as usize] >= cut.min_count)
            .collect();
        if cut.order == Order::Frequency {
            kept.sort_by_key(|&id| std::cmp::Reverse(self.counts[id as usize]));
        }
        let mut map = vec![EMPTY; self.counts.len()];
        let mut table = Table::with_room_for(kept.len());
        for (id, &old) in kept.iter().enumerate() {
            map[old as usize] = id as u32;
            let hash = self.table.hashes[old as usize];
            if let Err(at) = table.find(hash) {
                table.insert_new(at, hash);
            }
        }
        (AttributeIndex(Kind::Table(table)), Renumber(map))
    }
}

#[inline(always)]
fn is_of(slot: [u32; 3], hash: u64) -> bool {
    slot[0] == hash as u32 && slot[1] == (hash >> 32) as u32 && slot[2] != EMPTY
}

/// From preliminary numbers of attributes to the final ones.
#[derive(Clone, Debug)]
pub struct Renumber(Vec<u32>);

impl Renumber {
    /// The final number, if the attribute was kept.
    #[inline]
    pub fn get(&self, id: u32) -> Option<u32> {
        Some(self.0[id as usize]).filter(|&id| id != EMPTY)
    }
}

/// The numbers of the attributes of a model.
#[derive(Clone, Debug)]
pub struct AttributeIndex(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Table(Table),
    Hashed(u32),
}

impl AttributeIndex {
    /// The most bits that [`hashed`](Self::hashed) takes.
    pub const MAX_BITS: u32 = 31;

    /// Every attribute has a number, the last `bits` bits of its hash: no table, and some share one.
    ///
    /// # Panics
    /// If there are more than [`MAX_BITS`](Self::MAX_BITS).
    pub fn hashed(bits: u32) -> Self {
        assert!(bits <= Self::MAX_BITS, "{bits} bits of a hash");
        Self(Kind::Hashed(bits))
    }

    /// The index whose attribute `i` has the hash `hashes[i]`.
    pub fn from_hashes(hashes: &[u64]) -> Result<Self, Error> {
        if hashes.len() >= EMPTY as usize {
            return Err(Error::Damaged(format!("{} attributes are too many", hashes.len())));
        }
        let table = Table::from_hashes(hashes);
        let table = table.ok_or_else(|| Error::Damaged("two attributes have one hash".into()))?;
        Ok(Self(Kind::Table(table)))
    }

    /// The number of an attribute, by its hash; `None` if it is not known.
    #[inline]
    pub fn get(&self, hash: u64) -> Option<u32> {
        match &self.0 {
            Kind::Table(table) => table.find(hash).ok(),
            Kind::Hashed(bits) => Some((hash & ((1 << bits) - 1)) as u32),
        }
    }

    /// The numbers of those attributes that are known, in order: [`get`](Self::get) of each, faster.
    pub(crate) fn get_all(
        &self,
        hashes: &[u64],
        slots: &mut Vec<[u32; 3]>,
        mut f: impl FnMut(u32),
    ) {
        match &self.0 {
            Kind::Table(table) => {
                slots.clear();
                slots.extend(hashes.iter().map(|&hash| table.first_slot(hash)));
                for (&hash, slot) in hashes.iter().zip(slots) {
                    if is_of(*slot, hash) {
                        f(slot[2]);
                    } else if slot[2] != EMPTY
                        && let Ok(id) = table.find(hash)
                    {
                        f(id);
                    }
                }
            }
            Kind::Hashed(_) => hashes.iter().filter_map(|&hash| self.get(hash)).for_each(f),
        }
    }

    /// The index of the attributes that `keep` wants, and the map to its numbers. Without a table nothing changes.
    pub fn retain(&self, mut keep: impl FnMut(u32) -> bool) -> (AttributeIndex, Renumber) {
        let mut map: Vec<u32> = (0..self.len() as u32).collect();
        let Kind::Table(table) = &self.0 else {
            return (self.clone(), Renumber(map));
        };
        let mut kept = Table::with_room_for(0);
        for (id, &hash) in table.hashes.iter().enumerate() {
            map[id] = EMPTY;
            if keep(id as u32)
                && let Err(at) = kept.find(hash)
            {
                map[id] = kept.insert_at(at, hash);
            }
        }
        (AttributeIndex(Kind::Table(kept)), Renumber(map))
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Table(table) => table.hashes.len(),
            Kind::Hashed(bits) => 1 << bits,
        }
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hash of each attribute, to store; `None` if there is no table.
    pub fn hashes(&self) -> Option<&[u64]> {
        match &self.0 {
            Kind::Table(table) => Some(&table.hashes),
            Kind::Hashed(_) => None,
        }
    }

    /// How many bits of the hash are the number, if there is no table.
    pub fn hash_bits(&self) -> Option<u32> {
        match self.0 {
            Kind::Table(_) => None,
            Kind::Hashed(bits) => Some(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::hash::hash_bytes;

    fn hash(i: u32) -> u64 {
        hash_bytes(&i.to_le_bytes())
    }

    #[test]
    fn numbers_are_by_frequency_or_as_seen() {
        let build = |cut| {
            let mut builder = IndexBuilder::new();
            for i in 0..1000u32 {
                for j in 0..=i % 3 {
                    assert_eq!(builder.id(hash(i)), i, "{j}");
                }
            }
            builder.finish(cut)
        };
        let (index, renumber) = build(Cut { min_count: 2, order: Order::FirstSeen });
        assert_eq!(index.len(), 666);
        assert_eq!((renumber.get(0), renumber.get(1), renumber.get(2)), (None, Some(0), Some(1)));
        assert_eq!((index.get(hash(0)), index.get(hash(4))), (None, Some(2)));
        let (index, renumber) = build(Cut::default());
        assert_eq!(index.len(), 1000);
        assert_eq!(
            (renumber.get(2), renumber.get(5), renumber.get(1)),
            (Some(0), Some(1), Some(333))
        );
        assert_eq!(renumber.get(0), Some(666));
        let (odd, map) = index.retain(|id| id % 2 == 1);
        assert_eq!((odd.len(), map.get(0), map.get(3)), (500, None, Some(1)));
        assert_eq!((odd.get(hash(5)), odd.get(hash(2))), (Some(0), None));
        let again = AttributeIndex::from_hashes(index.hashes().unwrap()).unwrap();
        for i in 0..1200 {
            assert_eq!(again.get(hash(i)), index.get(hash(i)));
            assert_eq!(index.get(hash(i)).is_some(), i < 1000);
        }
    }

    /// Data in two parts has the numbers of all of it at once.
    #[test]
    fn counts_of_parts_add_up() {
        let (mut all, mut parts) =
            (IndexBuilder::new(), [IndexBuilder::new(), IndexBuilder::new()]);
        for i in 0..900u32 {
            let attribute = hash(i * i % 301);
            all.id(attribute);
            parts[usize::from(i > 400)].id(attribute);
        }
        let [mut first, second] = parts;
        first.add(second.hashes(), second.counts());
        assert_eq!((first.hashes(), first.counts()), (all.hashes(), all.counts()));
        let cut = Cut { min_count: 3, ..Cut::default() };
        assert_eq!(first.finish(cut).0.hashes(), all.finish(cut).0.hashes());
    }

    #[test]
    fn hashed_numbers_are_bits() {
        let index = AttributeIndex::hashed(5);
        assert_eq!((index.len(), index.hash_bits()), (32, Some(5)));
        assert!((0..100).all(|i| index.get(hash(i)).unwrap() < 32));
        assert!(index.hashes().is_none());
    }

    #[test]
    fn a_repeated_hash_is_refused() {
        assert!(AttributeIndex::from_hashes(&[3, 4, 3]).is_err());
    }
}
