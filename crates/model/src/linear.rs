//! The multivector model: one weight vector for each part, scores θ = Wᵀx + b.

use crate::space::OutputSpace;
use lineal_linalg::{Row, Scalar, Sink, kernels};
use serde::{Deserialize, Serialize};

/// Inputs to part scores, and back.
pub trait Model<F: Scalar>: Sync {
    /// What is scored.
    type Input<'a>: Copy;
    /// What is predicted.
    type Space: OutputSpace<F>;

    /// Number of weights.
    fn dim(&self) -> usize;
    /// How many weights, from the front, a penalty covers; the rest is a free bias.
    fn n_penalised(&self) -> usize;
    /// The outputs that `x` may have.
    fn space(&self, x: Self::Input<'_>) -> Self::Space;
    /// The largest number of parts of any input.
    fn max_parts(&self) -> usize;
    /// `scores = Ψ(x) w`, one for each part.
    fn scores(&self, x: Self::Input<'_>, w: &[F], scores: &mut [F]);
    /// Adds Ψ(x)ᵀ `parts` to the sink.
    fn accumulate(&self, x: Self::Input<'_>, parts: &[F], sink: &mut impl Sink<F>);
    /// Whether each part has weights of its own, so that some can be taken alone: [`scores_of`](Self::scores_of) and [`accumulate_on`](Self::accumulate_on).
    fn parts_are_apart(&self) -> bool {
        false
    }
    /// The scores of some parts overwrite `scores`, which has one for each of them. Only where [`parts_are_apart`](Self::parts_are_apart).
    fn scores_of(&self, x: Self::Input<'_>, w: &[F], parts: &[u32], scores: &mut [F]) {
        let _ = (x, w, parts, scores);
    }
    /// Adds Ψ(x)ᵀ g to `w` for a `g` of some parts, a free bias's times `free`. Only where [`parts_are_apart`](Self::parts_are_apart).
    fn accumulate_on(&self, x: Self::Input<'_>, parts: &[u32], g: &[F], free: F, w: &mut [F]) {
        let _ = (x, parts, g, free, w);
    }
    /// Adds (Ψ(x)∘Ψ(x))ᵀ `parts` to `out`: the diagonal of ΨᵀDΨ for a diagonal D.
    fn accumulate_squares(&self, x: Self::Input<'_>, parts: &[F], out: &mut [F]);
    /// Adds Ψ(x)ᵀ `block` Ψ(x) to `out`, `dim × dim` row-major, for a symmetric `block` of parts × parts. Only the lower
    /// triangle of features (and their whole blocks) is written.
    fn accumulate_outer(&self, x: Self::Input<'_>, block: &[F], out: &mut [F]);
    /// c, where Ψ(x)Ψ(x)ᵀ = c·I over the *penalised* weights, or at least ≼ c·I: steps of the dual are then shorter than
    /// they could be.
    fn isotropy(&self, x: Self::Input<'_>) -> Option<f64>;
    /// At most how many products a score of `x` is the sum of: what its rounding error grows with.
    fn n_terms(&self, x: Self::Input<'_>) -> usize;
}

/// What is added to every score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bias {
    /// A weight that no penalty covers.
    #[default]
    Free,
    /// A weight like any other, on a feature that is always 1 (LIBLINEAR's `-B 1`).
    Penalised,
    /// Nothing.
    None,
}

/// One weight a feature and part, feature-major; the bias is a last feature that is always 1.
#[derive(Clone, Copy, Debug)]
pub struct Linear<S> {
    n_features: usize,
    space: S,
    bias: Bias,
}

impl<S> Linear<S> {
    /// A model of `n_features` inputs.
    pub fn new(n_features: usize, space: S, bias: Bias) -> Self {
        Self { n_features, space, bias }
    }

    /// Number of features, the bias not counted.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// How scores are shifted.
    pub fn bias(&self) -> Bias {
        self.bias
    }
}

impl<F: Scalar, S: OutputSpace<F>> Model<F> for Linear<S> {
    type Input<'a> = Row<'a>;
    type Space = S;

    fn dim(&self) -> usize {
        (self.n_features + usize::from(self.bias != Bias::None)) * self.space.n_parts()
    }

    fn n_penalised(&self) -> usize {
        (self.n_features + usize::from(self.bias == Bias::Penalised)) * self.space.n_parts()
    }

    #[inline]
    fn space(&self, _: Row<'_>) -> S {
        self.space
    }

    fn max_parts(&self) -> usize {
        self.space.n_parts()
    }

    #[inline]
    fn scores(&self, x: Row<'_>, w: &[F], scores: &mut [F]) {
        kernels::scores(x, w, scores);
        if self.bias != Bias::None {
            let bias = &w[self.n_features * scores.len()..];
            for (s, &b) in scores.iter_mut().zip(bias) {
                *s += b;
            }
        }
    }

    #[inline]
    fn accumulate(&self, x: Row<'_>, parts: &[F], sink: &mut impl Sink<F>) {
        sink.add_row(0, x, parts);
        if self.bias != Bias::None {
            sink.add_block(self.n_features * parts.len(), parts);
        }
    }

    fn parts_are_apart(&self) -> bool {
        true
    }

    #[inline]
    fn scores_of(&self, x: Row<'_>, w: &[F], parts: &[u32], scores: &mut [F]) {
        let k = self.space.n_parts();
        kernels::scores_of(x, w, k, parts, scores);
        if self.bias != Bias::None {
            let bias = &w[self.n_features * k..];
            scores.iter_mut().zip(parts).for_each(|(score, &part)| *score += bias[part as usize]);
        }
    }

    #[inline]
    fn accumulate_on(&self, x: Row<'_>, parts: &[u32], g: &[F], free: F, w: &mut [F]) {
        let k = self.space.n_parts();
        kernels::add_outer_on(x, parts, g, k, w);
        let by = if self.bias == Bias::Free { free } else { F::ONE };
        if self.bias != Bias::None {
            let bias = &mut w[self.n_features * k..];
            parts.iter().zip(g).for_each(|(&part, &g)| bias[part as usize] += by * g);
        }
    }

    fn accumulate_squares(&self, x: Row<'_>, parts: &[F], out: &mut [F]) {
        let k = parts.len();
        x.for_each(|j, v| {
            let v = F::from_f32(v) * F::from_f32(v);
            for (o, &g) in out[j * k..].iter_mut().zip(parts) {
                *o += v * g;
            }
        });
        if self.bias != Bias::None {
            for (o, &g) in out[self.n_features * k..].iter_mut().zip(parts) {
                *o += g;
            }
        }
    }

    fn accumulate_outer(&self, x: Row<'_>, block: &[F], out: &mut [F]) {
        let k = self.space.n_parts();
        let dim = <Self as Model<F>>::dim(self);
        let mut add = |j: usize, v: F, j2: usize, v2: f32| {
            let v = v * F::from_f32(v2);
            for (a, row) in block.chunks_exact(k).enumerate() {
                let out = &mut out[(j * k + a) * dim + j2 * k..][..k];
                for (o, &h) in out.iter_mut().zip(row) {
                    *o += v * h;
                }
            }
        };
        match x {
            Row::Sparse(x) => {
                for (at, (&j, &v)) in x.idx().iter().zip(x.val()).enumerate() {
                    for (&j2, &v2) in x.idx()[..=at].iter().zip(x.val()) {
                        add(j as usize, F::from_f32(v), j2 as usize, v2);
                    }
                }
            }
            Row::Dense(x) => {
                for (j, &v) in x.iter().enumerate().filter(|&(_, &v)| v != 0.0) {
                    for (j2, &v2) in x[..=j].iter().enumerate() {
                        add(j, F::from_f32(v), j2, v2);
                    }
                }
            }
        }
        if self.bias != Bias::None {
            x.for_each(|j, v| add(self.n_features, F::ONE, j, v));
            add(self.n_features, F::ONE, self.n_features, 1.0);
        }
    }

    fn isotropy(&self, x: Row<'_>) -> Option<f64> {
        Some(x.norm_sq() + f64::from(u8::from(self.bias == Bias::Penalised)))
    }

    fn n_terms(&self, x: Row<'_>) -> usize {
        x.nnz() + 1
    }
}
