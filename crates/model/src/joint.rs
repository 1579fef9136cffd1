//! Joint features Ψ(x, y) with one shared weight vector: a feature looks at the input *and* at a part of the class.
//!
//! Columns of the input come in *regions*. In each region the classes are in groups, such as `NN`, `NNS` and `NNP` in one
//! and `VB`, `VBD` in another: a column has one weight for each group, which all classes of the group share,
//!
//! ```text
//! score(x, y) = Σ regions r  Σ columns j of r   xⱼ · w[start_r + (j − first_r)·G_r + group_r(y)]  + bias_y
//! ```
//!
//! where G_r is the number of groups. Weights are feature-major with the groups contiguous. With one region in which each class
//! is a group of its own this is the multivector model [`Linear`](crate::Linear)`<Classes>`, weight for weight.

use crate::linear::{Bias, Model};
use crate::space::Classes;
use lineal_linalg::{Row, Scalar, Sink, kernels};

/// Some columns, and how they see the classes.
#[derive(Clone, Debug, PartialEq)]
struct Region {
    /// Its columns.
    first: usize,
    end: usize,
    /// Its first weight.
    start: usize,
    n_groups: usize,
    /// Of each class.
    group_of: Vec<u32>,
    /// Each class is a group of its own, in order.
    is_whole: bool,
    /// Classes in the largest group.
    largest: usize,
}

/// A model of classes whose features depend on parts of the class.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    regions: Vec<Region>,
    n_classes: usize,
    n_features: usize,
    n_shared: usize,
    bias: Bias,
}

impl Joint {
    /// `regions` has, for each, its number of columns and the group of each class, numbered from 0 without gaps.
    pub fn new(
        n_classes: usize,
        regions: impl IntoIterator<Item = (usize, Vec<u32>)>,
        bias: Bias,
    ) -> Result<Self, String> {
        let mut this = Self { regions: Vec::new(), n_classes, n_features: 0, n_shared: 0, bias };
        for (n_columns, group_of) in regions {
            let n_groups = group_of.iter().max().map_or(0, |&group| group as usize + 1);
            let mut sizes = vec![0usize; n_groups.min(n_classes)];
            for &group in &group_of {
                *sizes.get_mut(group as usize).ok_or("a group beyond the classes")? += 1;
            }
            if group_of.len() != n_classes || sizes.contains(&0) {
                return Err(format!("groups of {} classes, not of {n_classes}", group_of.len()));
            }
            let is_whole =
                group_of.iter().enumerate().all(|(class, &group)| class == group as usize);
            let n_weights = n_columns.checked_mul(n_groups).ok_or("too many weights")?;
            let (first, start) = (this.n_features, this.n_shared);
            this.n_features = first.checked_add(n_columns).ok_or("too many columns")?;
            this.n_shared = start.checked_add(n_weights).ok_or("too many weights")?;
            let (end, largest) = (this.n_features, sizes.into_iter().max().unwrap_or(0));
            this.regions.push(Region { first, end, start, n_groups, group_of, is_whole, largest });
        }
        Ok(this)
    }

    /// The multivector model: every column with every class.
    pub fn multivector(n_classes: usize, n_features: usize, bias: Bias) -> Result<Self, String> {
        Self::new(n_classes, [(n_features, (0..n_classes as u32).collect())], bias)
    }

    /// Number of columns of the input.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// How scores are shifted.
    pub fn bias(&self) -> Bias {
        self.bias
    }

    /// Number of weights, those of the bias included.
    pub fn n_weights(&self) -> usize {
        self.n_shared + if self.bias == Bias::None { 0 } else { self.n_classes }
    }

    /// The weight of a column for a class.
    ///
    /// # Panics
    /// If there is no such column or class.
    pub fn at(&self, column: usize, class: usize) -> usize {
        let of = self.regions.partition_point(|region| region.end <= column);
        let region = &self.regions[of];
        region.weight(column) + region.group_of[class] as usize
    }

    /// The weights of the bias; nothing without one.
    pub fn bias_weights(&self) -> std::ops::Range<usize> {
        self.n_shared..self.n_weights()
    }

    /// Calls `f(region, columns and values)` for each region that a row has values in.
    #[inline]
    fn for_each_region<'x>(&self, x: Row<'x>, mut f: impl FnMut(&Region, Entries<'x>)) {
        match x {
            Row::Dense(values) => {
                for region in &self.regions {
                    f(region, Entries::Dense(region.first, &values[region.first..region.end]));
                }
            }
            Row::Sparse(row) => {
                let (mut idx, mut val) = (row.idx(), row.val());
                for region in &self.regions {
                    let n = idx.partition_point(|&j| (j as usize) < region.end);
                    let (columns, values);
                    (columns, idx) = idx.split_at(n);
                    (values, val) = val.split_at(n);
                    f(region, Entries::Sparse(columns, values));
                }
            }
        }
    }

    /// Calls `f(region, first weight, value)` for each value that is not 0.
    #[inline]
    fn for_each(&self, x: Row<'_>, mut f: impl FnMut(&Region, usize, f32)) {
        self.for_each_region(x, |region, entries| {
            entries.for_each(|j, v| f(region, region.weight(j), v));
        });
    }
}

impl Region {
    /// The first weight of a column.
    #[inline]
    fn weight(&self, column: usize) -> usize {
        self.start + (column - self.first) * self.n_groups
    }
}

/// Some columns of a row.
#[derive(Clone, Copy)]
enum Entries<'x> {
    Dense(usize, &'x [f32]),
    Sparse(&'x [u32], &'x [f32]),
}

impl Entries<'_> {
    #[inline]
    fn for_each(self, mut f: impl FnMut(usize, f32)) {
        match self {
            Entries::Dense(first, values) => {
                let stored = (first..).zip(values).filter(|&(_, &v)| v != 0.0);
                stored.for_each(|(j, &v)| f(j, v));
            }
            Entries::Sparse(columns, values) => {
                columns.iter().zip(values).for_each(|(&j, &v)| f(j as usize, v));
            }
        }
    }
}

impl<F: Scalar> Model<F> for Joint {
    type Input<'a> = Row<'a>;
    type Space = Classes;

    fn dim(&self) -> usize {
        self.n_weights()
    }

    fn n_penalised(&self) -> usize {
        self.n_shared + if self.bias == Bias::Penalised { self.n_classes } else { 0 }
    }

    #[inline]
    fn space(&self, _: Row<'_>) -> Classes {
        Classes(self.n_classes)
    }

    fn max_parts(&self) -> usize {
        self.n_classes
    }

    fn scores(&self, x: Row<'_>, w: &[F], scores: &mut [F]) {
        if let [region] = &self.regions[..]
            && region.is_whole
        {
            kernels::scores(x, w, scores);
        } else {
            scores.fill(F::ZERO);
            self.for_each(x, |region, at, v| {
                let (v, w) = (F::from_f32(v), &w[at..at + region.n_groups]);
                if region.is_whole {
                    scores.iter_mut().zip(w).for_each(|(s, &w)| *s += v * w);
                } else {
                    for (s, &group) in scores.iter_mut().zip(&region.group_of) {
                        *s += v * w[group as usize];
                    }
                }
            });
        }
        let bias = &w[self.bias_weights()];
        scores.iter_mut().zip(bias).for_each(|(s, &b)| *s += b);
    }

    fn accumulate(&self, x: Row<'_>, parts: &[F], sink: &mut impl Sink<F>) {
        if let [region] = &self.regions[..]
            && region.is_whole
        {
            sink.add_row(0, x, parts);
        } else {
            self.for_each(x, |region, at, v| {
                let one = Row::Dense(std::slice::from_ref(&v));
                if region.is_whole {
                    return sink.add_row(at, one, parts);
                }
                for (part, &group) in parts.iter().zip(&region.group_of) {
                    if *part != F::ZERO {
                        sink.add_row(at + group as usize, one, std::slice::from_ref(part));
                    }
                }
            });
        }
        if self.bias != Bias::None {
            sink.add_block(self.n_shared, parts);
        }
    }

    fn accumulate_squares(&self, x: Row<'_>, parts: &[F], out: &mut [F]) {
        self.for_each(x, |region, at, v| {
            let v = F::from_f32(v) * F::from_f32(v);
            for (&part, &group) in parts.iter().zip(&region.group_of) {
                out[at + group as usize] += v * part;
            }
        });
        for (o, &part) in out[self.bias_weights()].iter_mut().zip(parts) {
            *o += part;
        }
    }

    fn accumulate_outer(&self, x: Row<'_>, block: &[F], out: &mut [F]) {
        let (k, dim) = (self.n_classes, self.n_weights());
        // Each value with the weight that every class sees.
        let mut seen: Vec<(usize, f32, &[u32])> = Vec::new();
        for region in &self.regions {
            x.for_each(|j, v| {
                if (region.first..region.end).contains(&j) && v != 0.0 {
                    seen.push((region.weight(j), v, &region.group_of));
                }
            });
        }
        let own: Vec<u32> = (0..k as u32).collect();
        if self.bias != Bias::None {
            seen.push((self.n_shared, 1.0, &own));
        }
        for (i, &(at, v, groups)) in seen.iter().enumerate() {
            for &(at_2, v_2, groups_2) in &seen[..=i] {
                let v = F::from_f32(v) * F::from_f32(v_2);
                for (row, &group) in block.chunks_exact(k).zip(groups) {
                    let out = &mut out[(at + group as usize) * dim + at_2..];
                    for (&h, &group_2) in row.iter().zip(groups_2) {
                        out[group_2 as usize] += v * h;
                    }
                }
            }
        }
    }

    /// A bound: Ψ(x)Ψ(x)ᵀ ≼ c·I, exact where each class is a group of its own. m classes that share a weight have an
    /// m × m block of v² there, whose largest eigenvalue is m·v².
    fn isotropy(&self, x: Row<'_>) -> Option<f64> {
        let mut bound = f64::from(u8::from(self.bias == Bias::Penalised));
        self.for_each(x, |region, _, v| bound += region.largest as f64 * f64::from(v).powi(2));
        Some(bound)
    }

    fn n_terms(&self, x: Row<'_>) -> usize {
        let mut n = 1;
        self.for_each(x, |_, _, _| n += 1);
        n
    }
}
