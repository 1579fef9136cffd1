//! From attributes to scores of parts, and from parts back to weights.
//!
//! One vector holds all weights, attribute-major with labels contiguous:
//!
//! ```text
//! unary       attribute a, label y            a·stride + y           stride = K rounded up to a multiple of 4; the rest stays 0
//! pairs       attribute b, from, to           … + b·K² + from·K + to
//! transition  from, to                        … + from·K + to
//! start, end  y                               … + y
//! triples     three labels in a row           … + first·K² + second·K + third
//! ```
//!
//! The padding costs 4·(stride − K) bytes an attribute and spares the kernels single columns: 22 labels are scored a third faster as 24.

use crate::Parts;
use lineal_linalg::SparseRows;
use lineal_linalg::{Row, Scalar, Sink, kernels};
use std::ops::Range;

/// The shape of a linear chain's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainModel {
    /// K
    pub n_labels: usize,
    /// Attributes of labels.
    pub n_unary: usize,
    /// Attributes of transitions.
    pub n_pairs: usize,
    /// Whether there are weights of plain transitions.
    pub transitions: bool,
    /// Whether there are weights of the first and the last label.
    pub ends: bool,
    /// Whether there are weights of three labels in a row: order 2.
    pub triples: bool,
}

/// The attributes of a sequence: some rows of larger tables.
#[derive(Clone, Copy, Debug)]
pub struct Observations<'a> {
    /// A row for each position.
    pub unary: &'a SparseRows,
    /// A row for the transition into each position (unused for the first), if the model has such attributes.
    pub pairs: Option<&'a SparseRows>,
    /// The first row of the sequence.
    pub start: usize,
    /// One after its last row.
    pub end: usize,
}

impl Observations<'_> {
    fn n_positions(&self) -> usize {
        self.end - self.start
    }

    fn pair_row(&self, t: usize) -> Row<'_> {
        self.pairs.map_or(Row::Dense(&[]), |pairs| pairs.row(self.start + t))
    }
}

impl ChainModel {
    /// The distance between the weights of two unary attributes.
    pub fn stride(&self) -> usize {
        self.n_labels.next_multiple_of(4)
    }

    /// How many weights there are, padding included.
    pub fn dim(&self) -> usize {
        self.triple_range().end
    }

    /// The weights of a unary attribute.
    pub fn unary_range(&self, attribute: usize) -> Range<usize> {
        let at = attribute * self.stride();
        at..at + self.n_labels
    }

    /// The weights of an attribute of transitions.
    pub fn pair_range(&self, attribute: usize) -> Range<usize> {
        let size = self.n_labels * self.n_labels;
        let at = self.n_unary * self.stride() + attribute * size;
        at..at + size
    }

    /// The weights of plain transitions; empty if there are none.
    pub fn transition_range(&self) -> Range<usize> {
        let at = self.pair_range(self.n_pairs).start;
        at..at + if self.transitions { self.n_labels * self.n_labels } else { 0 }
    }

    /// The weights of the first label; empty if there are none.
    pub fn start_range(&self) -> Range<usize> {
        let at = self.transition_range().end;
        at..at + if self.ends { self.n_labels } else { 0 }
    }

    /// The weights of the last label; empty if there are none.
    pub fn end_range(&self) -> Range<usize> {
        let at = self.start_range().end;
        at..at + self.start_range().len()
    }

    /// Where the weights are that no attribute has, and of how many labels each is: transitions, first labels, last labels, triples.
    pub fn shared(&self) -> [(Range<usize>, u32); 4] {
        let ranges =
            [self.transition_range(), self.start_range(), self.end_range(), self.triple_range()];
        let [transitions, starts, ends, triples] = ranges;
        [(transitions, 2), (starts, 1), (ends, 1), (triples, 3)]
    }

    /// The weights of three labels in a row; empty if there are none.
    pub fn triple_range(&self) -> Range<usize> {
        let at = self.end_range().end;
        at..at + if self.triples { self.n_labels.pow(3) } else { 0 }
    }

    /// The scores of a sequence's parts.
    ///
    /// # Panics
    /// If the weights are not [`dim`](Self::dim) ones or an attribute has none.
    pub fn scores<F: Scalar>(&self, x: Observations<'_>, w: &[F], parts: &mut Parts<F>) {
        assert_eq!(w.len(), self.dim());
        let (n, k, stride) = (x.n_positions(), self.n_labels, self.stride());
        let size = |parts: &mut Vec<F>, len: usize| parts.resize(len, F::ZERO);
        size(&mut parts.unary, n * k);
        size(
            &mut parts.per_position,
            if self.n_pairs > 0 { n.saturating_sub(1) * k * k } else { 0 },
        );
        size(&mut parts.transition, k * k);
        size(&mut parts.start, k);
        size(&mut parts.end, k);
        size(&mut parts.triple, self.triple_range().len());

        let unary = &w[..self.n_unary * stride];
        if stride == k {
            for (t, out) in parts.unary.chunks_exact_mut(k.max(1)).enumerate() {
                kernels::scores(x.unary.row(x.start + t), unary, out);
            }
        } else {
            // Padded rows are written one over the other's padding, the last one apart.
            size(&mut parts.unary, n * k + (stride - k));
            for t in 0..n {
                let out = &mut parts.unary[t * k..t * k + stride];
                kernels::scores(x.unary.row(x.start + t), unary, out);
            }
            parts.unary.truncate(n * k);
        }
        if self.n_pairs > 0 {
            let pairs = &w[self.pair_range(0).start..self.pair_range(self.n_pairs).start];
            for (t, out) in parts.per_position.chunks_exact_mut(k * k).enumerate() {
                kernels::scores(x.pair_row(t + 1), pairs, out);
            }
        }
        let shared = [
            (&mut parts.transition, self.transition_range()),
            (&mut parts.start, self.start_range()),
            (&mut parts.end, self.end_range()),
            (&mut parts.triple, self.triple_range()),
        ];
        for (parts, range) in shared {
            if range.is_empty() {
                parts.fill(F::ZERO);
            } else {
                parts.copy_from_slice(&w[range]);
            }
        }
    }

    /// Hands Ψᵀ times the parts to `sink`: the way back of [`scores`](Self::scores).
    ///
    /// Positions whose parts are all 0 cost nothing.
    ///
    /// # Panics
    /// If the parts are not those of the sequence.
    pub fn accumulate<F: Scalar>(
        &self,
        x: Observations<'_>,
        parts: &mut Parts<F>,
        sink: &mut impl Sink<F>,
    ) {
        let (n, k, stride) = (x.n_positions(), self.n_labels, self.stride());
        assert_eq!(parts.unary.len(), n * k);
        // A row is padded in place: what the padding covers is kept aside and put back.
        parts.unary.resize(n * k + (stride - k), F::ZERO);
        let mut kept = [F::ZERO; 3];
        for t in 0..n {
            let row = &mut parts.unary[t * k..t * k + stride];
            let (g, pad) = row.split_at_mut(k);
            if g.iter().any(|&g| g != F::ZERO) {
                kept[..stride - k].copy_from_slice(pad);
                pad.fill(F::ZERO);
                sink.add_row(0, x.unary.row(x.start + t), row);
                row[k..].copy_from_slice(&kept[..stride - k]);
            }
        }
        parts.unary.truncate(n * k);
        if self.n_pairs > 0 {
            let at = self.pair_range(0).start;
            for (t, g) in parts.per_position.chunks_exact(k * k).enumerate() {
                sink.add_row(at, x.pair_row(t + 1), g);
            }
        }
        if self.transitions {
            sink.add_block(self.transition_range().start, &parts.transition);
        }
        if self.ends {
            sink.add_block(self.start_range().start, &parts.start);
            sink.add_block(self.end_range().start, &parts.end);
        }
        if self.triples {
            sink.add_block(self.triple_range().start, &parts.triple);
        }
    }

    /// `f(weight, value)` for every feature by which Ψ(x, `plus`) and Ψ(x, `minus`) differ, with the sign of its side: the update of a perceptron.
    ///
    /// Where labels agree nothing is asked for.
    ///
    /// # Panics
    /// If there are not as many labels as positions.
    pub fn each_difference(
        &self,
        x: Observations<'_>,
        plus: &[u32],
        minus: &[u32],
        mut f: impl FnMut(usize, f32),
    ) {
        let (n, k, stride) = (x.n_positions(), self.n_labels, self.stride());
        assert_eq!((plus.len(), minus.len()), (n, n));
        let transition = self.transition_range().start;
        for t in 0..n {
            let (p, m) = (plus[t] as usize, minus[t] as usize);
            if p != m {
                x.unary.row(x.start + t).for_each(|a, v| {
                    f(a * stride + p, v);
                    f(a * stride + m, -v);
                });
            }
            if t > 0 && plus[t - 1..=t] != minus[t - 1..=t] {
                let p = plus[t - 1] as usize * k + p;
                let m = minus[t - 1] as usize * k + m;
                if self.transitions {
                    f(transition + p, 1.0);
                    f(transition + m, -1.0);
                }
                if self.n_pairs > 0 {
                    x.pair_row(t).for_each(|b, v| {
                        let at = self.pair_range(b).start;
                        f(at + p, v);
                        f(at + m, -v);
                    });
                }
            }
        }
        if self.triples {
            let at = self.triple_range().start;
            for t in 2..n {
                if plus[t - 2..=t] != minus[t - 2..=t] {
                    f(at + triple(&plus[t - 2..=t], k), 1.0);
                    f(at + triple(&minus[t - 2..=t], k), -1.0);
                }
            }
        }
        if self.ends && n > 0 {
            for (range, t) in [(self.start_range(), 0), (self.end_range(), n - 1)] {
                if plus[t] != minus[t] {
                    f(range.start + plus[t] as usize, 1.0);
                    f(range.start + minus[t] as usize, -1.0);
                }
            }
        }
    }
}

/// first·K² + second·K + third.
pub(crate) fn triple(labels: &[u32], k: usize) -> usize {
    labels.iter().fold(0, |at, &label| at * k + label as usize)
}
