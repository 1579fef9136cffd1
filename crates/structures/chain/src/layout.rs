//! Where the weights lie while they are learnt.
//!
//! Most attributes are rare and come with one or two labels; a few come everywhere and with nearly all labels. Frequent ones have a *row* of weights
//! for all labels, which kernels take at once; the others have *entries* for the labels that they came with. On CoNLL-2000 that is an eighth of the
//! weights of all attributes with all labels, and they fit in the cache.
//!
//! ```text
//! rows        slot s < n_rows, label y      s·stride + y            stride = K rounded up to a multiple of 4; the rest stays 0
//! entries     slot s, its i-th label        n_rows·stride + ends[s − n_rows] + i
//! pairs       attribute b, from, to         … + b·K² + from·K + to
//! shared      transitions, start, end, triples as in `ChainModel`
//! ```

use crate::{ChainModel, Error, LabelSets, Observed, Parts, PrunedModel, PrunedParts, Sentences};
use lineal_linalg::{Row, Scalar, SparseRows, kernels};
use std::borrow::Cow;
use std::ops::Range;

/// Which labels an attribute has weights for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainWeights {
    /// All labels for attributes that come with several, those that it came with for the others. Nearly as good as `All` at the cost of `Observed`.
    #[default]
    Frequent,
    /// Those that it came with in the training data, and the transitions that were there: as CRFsuite does it.
    Observed,
    /// Those that it came with, and all transitions: CRFsuite's `feature.possible_transitions`.
    ObservedAttributes,
    /// All labels, and the transitions that were there: CRFsuite's `feature.possible_states`.
    AllAttributes,
    /// All: as CRF++ does it.
    All,
}

impl ChainWeights {
    /// Whether every attribute has weights for all labels.
    pub(crate) fn has_all_attributes(self) -> bool {
        matches!(self, Self::All | Self::AllAttributes)
    }

    /// Whether attributes have weights for the labels that they came with alone.
    pub(crate) fn has_observed_attributes(self) -> bool {
        matches!(self, Self::Observed | Self::ObservedAttributes)
    }

    /// Whether only the transitions that were there have weights.
    pub(crate) fn has_observed_transitions(self) -> bool {
        matches!(self, Self::Observed | Self::AllAttributes)
    }
}

/// The map from features to weights.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) model: ChainModel,
    stride: usize,
    /// The slot of each unary attribute.
    slots: Vec<u32>,
    n_rows: usize,
    /// Where the entries of each slot above `n_rows` begin; one more than slots.
    ends: Vec<u32>,
    labels: Vec<u32>,
    /// Weights of rows that are not there, row by row, and where each row's end; empty if all are there. What kernels add to a row as a whole is taken back there.
    absent: Vec<u32>,
    absent_ends: Vec<u32>,
    /// Weights of pairs, transitions and triples that are not there, rising.
    frozen: Vec<u32>,
    pairs_at: usize,
}

/// The attributes of all positions by their slots.
#[derive(Debug)]
pub(crate) struct Slots<'a> {
    rows: Cow<'a, SparseRows>,
    entries: Entries,
    pairs: Option<Cow<'a, SparseRows>>,
}

impl Slots<'_> {
    /// The same, with nothing borrowed.
    pub(crate) fn into_owned(self) -> Slots<'static> {
        Slots {
            rows: Cow::Owned(self.rows.into_owned()),
            entries: self.entries,
            pairs: self.pairs.map(|pairs| Cow::Owned(pairs.into_owned())),
        }
    }

    /// Bytes in memory.
    pub(crate) fn n_bytes(&self) -> usize {
        let Entries { ends, places, labels, values } = &self.entries;
        let rows = |rows: &SparseRows| 8 * rows.nnz() + 8 * rows.n_rows();
        let entries = 8 * ends.len() + 4 * places.len() + 2 * labels.len() + 4 * values.len();
        rows(&self.rows) + self.pairs.as_deref().map_or(0, rows) + entries
    }
}

/// The weights of single labels that each position meets, written out: reading them is a walk, and the weight itself the only jump.
#[derive(Debug, Default)]
struct Entries {
    /// Where each position's entries end.
    ends: Vec<usize>,
    /// Weights, and their labels.
    places: Vec<u32>,
    labels: Vec<u16>,
    /// Attributes' values; empty if all are 1.
    values: Vec<f32>,
}

impl Entries {
    fn push(&mut self, place: usize, label: u32, value: f32) {
        if value != 1.0 && self.values.is_empty() {
            self.values.resize(self.places.len(), 1.0);
        }
        if value != 1.0 || !self.values.is_empty() {
            self.values.push(value);
        }
        self.places.push(place as u32);
        self.labels.push(label as u16);
    }

    /// `f(weight, label, value)` for each entry of a position.
    #[inline(always)]
    fn each(&self, t: usize, mut f: impl FnMut(usize, usize, f32)) {
        let start = if t == 0 { 0 } else { self.ends[t - 1] };
        let range = start..self.ends[t];
        let both = self.places[range.clone()].iter().zip(&self.labels[range.clone()]);
        if self.values.is_empty() {
            both.for_each(|(&place, &label)| f(place as usize, label as usize, 1.0));
        } else {
            let values = &self.values[range];
            both.zip(values).for_each(|((&p, &l), &v)| f(p as usize, l as usize, v));
        }
    }
}

impl Layout {
    /// Chooses the weights for what was seen in the training data, and for whatever a model to start from has.
    pub(crate) fn new(
        model: ChainModel,
        observed: &Observed,
        weights: ChainWeights,
        start: Option<&PrunedModel>,
    ) -> Self {
        let k = model.n_labels;
        let stride = k.next_multiple_of(4);
        let mut layout = Self {
            model,
            stride,
            slots: Vec::new(),
            n_rows: 0,
            ends: vec![0],
            labels: Vec::new(),
            absent: Vec::new(),
            absent_ends: Vec::new(),
            frozen: Vec::new(),
            pairs_at: 0,
        };
        if weights.has_all_attributes() {
            layout.n_rows = model.n_unary;
            layout.slots = (0..model.n_unary as u32).collect();
        } else {
            layout.choose(&observed.attributes, weights);
        }
        layout.pairs_at = layout.n_rows * stride + layout.labels.len();
        if weights.has_observed_transitions() {
            layout.freeze(observed, start);
        }
        layout
    }

    fn choose(&mut self, seen: &LabelSets, weights: ChainWeights) {
        let k = self.model.n_labels;
        // A row costs about as much as this many entries.
        let enough = k.div_ceil(if weights.has_observed_attributes() { 3 } else { 6 });
        let is_row = |a: usize| seen.len(a) >= enough.max(2);
        let n_rows = (0..self.model.n_unary).filter(|&a| is_row(a)).count();
        self.n_rows = n_rows;
        let (mut next_row, mut next_entries) = (0, n_rows as u32);
        for a in 0..self.model.n_unary {
            if is_row(a) {
                self.slots.push(next_row);
                next_row += 1;
                if weights.has_observed_attributes() {
                    let at = (next_row as usize - 1) * self.stride;
                    let absent = (0..k).filter(|&label| !seen.contains(a, label));
                    self.absent.extend(absent.map(|label| (at + label) as u32));
                    self.absent_ends.push(self.absent.len() as u32);
                }
            } else {
                self.slots.push(next_entries);
                next_entries += 1;
                self.labels.extend(seen.labels(a).map(|label| label as u32));
                self.ends.push(self.labels.len() as u32);
            }
        }
    }

    /// Leaves out pairs and triples of labels that never stand side by side.
    fn freeze(&mut self, observed: &Observed, start: Option<&PrunedModel>) {
        let k = self.model.n_labels;
        let mut given = vec![0.0; self.dim() - self.pairs_at];
        if let Some(start) = start {
            self.load_pairs_and_shared(start, &mut given);
        }
        let (shared, Observed { pairs, triples, .. }) = (self.shared(), observed);
        let ranges = [(self.pairs_at..shared.transition.end, pairs), (shared.triple, triples)];
        for (range, seen) in ranges {
            let rows = seen.n_rows().max(1);
            let gone = range.enumerate().filter(|&(i, at)| {
                !seen.contains(i / k % rows, i % k) && given[at - self.pairs_at] == 0.0
            });
            self.frozen.extend(gone.map(|(_, at)| at as u32));
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.shared().triple.end
    }

    /// How many weights there are to learn.
    pub(crate) fn n_weights(&self) -> usize {
        let rows = self.n_rows * self.model.n_labels - self.absent.len();
        rows + (self.dim() - self.n_rows * self.stride) - self.frozen.len()
    }

    fn shared(&self) -> Shared {
        let from = self.model.pair_range(0).start;
        let moved = |range: Range<usize>| {
            range.start - from + self.pairs_at..range.end - from + self.pairs_at
        };
        Shared {
            transition: moved(self.model.transition_range()),
            start: moved(self.model.start_range()),
            end: moved(self.model.end_range()),
            triple: moved(self.model.triple_range()),
        }
    }

    /// The training data's attributes by slots.
    pub(crate) fn slots<'a>(&self, sentences: &Sentences<'a>) -> Slots<'a> {
        let pairs = sentences.pairs.filter(|_| self.model.n_pairs > 0).map(Cow::Borrowed);
        let n = sentences.unary.n_rows();
        let mut entries = Entries::default();
        if self.n_rows == self.model.n_unary {
            entries.ends.resize(n, 0);
            return Slots { rows: Cow::Borrowed(sentences.unary), entries, pairs };
        }
        let mut rows = SparseRows::new();
        let first = self.n_rows * self.stride;
        for t in 0..n {
            sentences.unary.row(t).for_each(|a, v| {
                let slot = self.slots[a];
                match slot.checked_sub(self.n_rows as u32) {
                    None => rows.push_value(slot, v),
                    Some(slot) => {
                        for i in self.entries(slot as usize) {
                            entries.push(first + i, self.labels[i], v);
                        }
                    }
                }
            });
            rows.end_row();
            entries.ends.push(entries.places.len());
        }
        Slots { rows: Cow::Owned(rows), entries, pairs }
    }

    /// The scores of the parts of the positions `at`.
    pub(crate) fn scores<F: Scalar>(
        &self,
        x: &Slots<'_>,
        at: Range<usize>,
        w: &[F],
        parts: &mut Parts<F>,
    ) {
        let (n, k, stride) = (at.len(), self.model.n_labels, self.stride);
        // Rows are written one over the other's padding.
        parts.unary.resize(n * k + (stride - k), F::ZERO);
        let rows = &w[..self.n_rows * stride];
        for t in 0..n {
            let out = &mut parts.unary[t * k..t * k + stride];
            kernels::scores(x.rows.row(at.start + t), rows, out);
            x.entries.each(at.start + t, |place, label, v| out[label] += F::from_f32(v) * w[place]);
        }
        parts.unary.truncate(n * k);
        let pairs = if self.model.n_pairs > 0 { n.saturating_sub(1) * k * k } else { 0 };
        parts.per_position.resize(pairs, F::ZERO);
        if let Some(pairs) = &x.pairs {
            let w = &w[self.pairs_at..self.pairs_at + self.model.n_pairs * k * k];
            for (t, out) in parts.per_position.chunks_exact_mut(k * k).enumerate() {
                kernels::scores(pairs.row(at.start + t + 1), w, out);
            }
        }
        self.shared_scores(w, parts);
    }

    /// The scores that all positions share.
    pub(crate) fn shared_scores<F: Scalar>(&self, w: &[F], parts: &mut Parts<F>) {
        let k = self.model.n_labels;
        let shared = self.shared();
        let all = [
            (&mut parts.transition, shared.transition, k * k),
            (&mut parts.start, shared.start, k),
            (&mut parts.end, shared.end, k),
            (&mut parts.triple, shared.triple.clone(), shared.triple.len()),
        ];
        for (part, range, len) in all {
            part.resize(len, F::ZERO);
            if range.is_empty() {
                part.fill(F::ZERO);
            } else {
                part.copy_from_slice(&w[range]);
            }
        }
    }

    /// Adds Ψᵀ times the parts to weights: the way back of [`scores`](Self::scores).
    pub(crate) fn accumulate<F: Scalar>(
        &self,
        x: &Slots<'_>,
        at: Range<usize>,
        parts: &Parts<F>,
        into: &mut [F],
    ) {
        let (n, k, stride) = (at.len(), self.model.n_labels, self.stride);
        let mut padded = [F::ZERO; 64];
        let mut long = Vec::new();
        let padded: &mut [F] = if stride <= 64 {
            &mut padded[..stride]
        } else {
            long.resize(stride, F::ZERO);
            &mut long
        };
        for (t, g) in parts.unary.chunks_exact(k).enumerate() {
            if g.iter().all(|&g| g == F::ZERO) {
                continue;
            }
            padded[..k].copy_from_slice(g);
            self.add_row(x.rows.row(at.start + t), padded, &mut into[..self.n_rows * stride]);
            x.entries.each(at.start + t, |place, label, v| {
                into[place] += F::from_f32(v) * g[label];
            });
        }
        if let (Some(pairs), true) = (&x.pairs, n > 1) {
            let into = &mut into[self.pairs_at..self.pairs_at + self.model.n_pairs * k * k];
            for (t, g) in parts.per_position.chunks_exact(k * k).enumerate() {
                kernels::add_outer(pairs.row(at.start + t + 1), g, into);
            }
        }
        let shared = self.shared();
        let all = [
            (&parts.transition, shared.transition),
            (&parts.start, shared.start),
            (&parts.end, shared.end),
            (&parts.triple, shared.triple),
        ];
        for (part, range) in all {
            for (w, &g) in into[range].iter_mut().zip(part) {
                *w += g;
            }
        }
        for &at in &self.frozen {
            into[at as usize] = F::ZERO;
        }
    }

    fn add_row<F: Scalar>(&self, x: Row<'_>, g: &[F], into: &mut [F]) {
        kernels::add_outer(x, g, into);
        if !self.absent.is_empty() {
            x.for_each(|slot, _| {
                self.absent_of(slot).iter().for_each(|&place| into[place as usize] = F::ZERO);
            });
        }
    }

    /// The weights of a row that are not there, rising.
    #[inline]
    fn absent_of(&self, slot: usize) -> &[u32] {
        let start = if slot == 0 { 0 } else { self.absent_ends[slot - 1] };
        &self.absent[start as usize..self.absent_ends[slot] as usize]
    }

    /// The ranges of weights that [`accumulate`](Self::accumulate) of these parts touches. A range may come more than once.
    pub(crate) fn each_touched<F: Scalar>(
        &self,
        x: &Slots<'_>,
        at: Range<usize>,
        parts: &Parts<F>,
        mut f: impl FnMut(Range<usize>),
    ) {
        let (k, stride) = (self.model.n_labels, self.stride);
        for (t, g) in parts.unary.chunks_exact(k).enumerate() {
            if g.iter().all(|&g| g == F::ZERO) {
                continue;
            }
            x.rows.row(at.start + t).for_each(|s, _| f(s * stride..(s + 1) * stride));
            x.entries.each(at.start + t, |place, _, _| f(place..place + 1));
        }
        if let Some(pairs) = &x.pairs {
            for t in 1..at.len() {
                pairs.row(at.start + t).for_each(|b, _| {
                    f(self.pairs_at + b * k * k..self.pairs_at + (b + 1) * k * k);
                });
            }
        }
        f(self.shared().transition.start..self.dim());
    }

    /// `f(weight, value)` for every feature by which the sequences `plus` and `minus` differ, with the sign of its side.
    pub(crate) fn each_difference(
        &self,
        x: &Slots<'_>,
        at: Range<usize>,
        plus: &[u32],
        minus: &[u32],
        mut f: impl FnMut(usize, f32),
    ) {
        let (n, k) = (at.len(), self.model.n_labels);
        for t in (0..n).filter(|&t| plus[t] != minus[t]) {
            for (label, sign) in [(plus[t], 1.0), (minus[t], -1.0)] {
                x.rows.row(at.start + t).for_each(|slot, v| {
                    let place = slot * self.stride + label as usize;
                    if self.absent.is_empty() || !self.absent_of(slot).contains(&(place as u32)) {
                        f(place, sign * v);
                    }
                });
                x.entries.each(at.start + t, |place, l, v| {
                    if l == label as usize {
                        f(place, sign * v);
                    }
                });
            }
        }
        let shared = self.shared();
        let mut f = |place: usize, v: f32| {
            if self.frozen.binary_search(&(place as u32)).is_err() {
                f(place, v);
            }
        };
        for t in 1..n {
            let (two, other) = (&plus[t - 1..=t], &minus[t - 1..=t]);
            if two == other {
                continue;
            }
            for (pair, sign) in [(number(two, k), 1.0), (number(other, k), -1.0)] {
                if self.model.transitions {
                    f(shared.transition.start + pair, sign);
                }
                if let Some(pairs) = &x.pairs {
                    pairs.row(at.start + t).for_each(|b, v| {
                        f(self.pairs_at + b * k * k + pair, sign * v);
                    });
                }
            }
        }
        if self.model.triples {
            for (three, other) in plus.windows(3).zip(minus.windows(3)).filter(|(a, b)| a != b) {
                f(shared.triple.start + number(three, k), 1.0);
                f(shared.triple.start + number(other, k), -1.0);
            }
        }
        if self.model.ends && n > 0 {
            for (range, t) in [(shared.start, 0), (shared.end, n - 1)] {
                if plus[t] != minus[t] {
                    f(range.start + plus[t] as usize, 1.0);
                    f(range.start + minus[t] as usize, -1.0);
                }
            }
        }
    }

    #[inline]
    fn entries(&self, slot: usize) -> Range<usize> {
        self.ends[slot] as usize..self.ends[slot + 1] as usize
    }

    /// The weights as a model for prediction: in f32, without zeros.
    pub(crate) fn pruned<F: Scalar>(&self, w: &[F]) -> Result<PrunedModel, Error> {
        let k = self.model.n_labels;
        if w.len() != self.dim() {
            let what = format!("{} weights for a model that has {}", w.len(), self.dim());
            return Err(Error::Shape(what));
        }
        let mut parts = PrunedParts {
            ends: Vec::with_capacity(self.model.n_unary + self.model.n_pairs),
            columns: Vec::new(),
            weights: Vec::new(),
            shared: w[self.shared().transition.start..].iter().map(|w| w.to_f32()).collect(),
        };
        let push = |parts: &mut PrunedParts, column: u32, w: F| {
            if w.to_f32() != 0.0 {
                parts.columns.push(column);
                parts.weights.push(w.to_f32());
            }
        };
        for &slot in &self.slots {
            let slot = slot as usize;
            match slot.checked_sub(self.n_rows) {
                None => {
                    for (label, &w) in w[slot * self.stride..][..k].iter().enumerate() {
                        push(&mut parts, label as u32, w);
                    }
                }
                Some(slot) => {
                    let w = &w[self.n_rows * self.stride..];
                    for i in self.entries(slot) {
                        push(&mut parts, self.labels[i], w[i]);
                    }
                }
            }
            parts.ends.push(parts.columns.len() as u32);
        }
        for b in 0..self.model.n_pairs {
            for (pair, &w) in w[self.pairs_at + b * k * k..][..k * k].iter().enumerate() {
                push(&mut parts, pair as u32, w);
            }
            parts.ends.push(parts.columns.len() as u32);
        }
        PrunedModel::from_parts(self.model, parts)
    }

    /// The weights of a model to start from. It has the shape of this one.
    pub(crate) fn load<F: Scalar>(&self, start: &PrunedModel, w: &mut [F]) {
        for (a, &slot) in self.slots.iter().enumerate() {
            let slot = slot as usize;
            for &(label, weight) in start.unary(a) {
                let place = match slot.checked_sub(self.n_rows) {
                    None => Some(slot * self.stride + label as usize),
                    Some(slot) => {
                        let mut places = self.entries(slot);
                        places
                            .find(|&i| self.labels[i] == label)
                            .map(|i| self.n_rows * self.stride + i)
                    }
                };
                if let Some(place) = place {
                    w[place] = F::from_f32(weight);
                }
            }
        }
        self.load_pairs_and_shared(start, &mut w[self.pairs_at..]);
    }

    fn load_pairs_and_shared<F: Scalar>(&self, start: &PrunedModel, w: &mut [F]) {
        let size = self.model.n_labels.pow(2);
        for b in 0..self.model.n_pairs {
            for &(pair, weight) in start.pair(b) {
                w[b * size + pair as usize] = F::from_f32(weight);
            }
        }
        for (w, &weight) in w[self.model.n_pairs * size..].iter_mut().zip(start.shared()) {
            *w = F::from_f32(weight);
        }
    }
}

struct Shared {
    transition: Range<usize>,
    start: Range<usize>,
    end: Range<usize>,
    triple: Range<usize>,
}

/// Labels in a row as the digits of a number.
fn number(labels: &[u32], k: usize) -> usize {
    labels.iter().fold(0, |at, &label| at * k + label as usize)
}
