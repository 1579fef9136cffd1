//! Sums over all label sequences: scaled forward–backward (Rabiner 1989, section V.A).
//!
//! With e[t, y] = exp(unary[t, y] + shift[y] − mₜ) and T[y′, y] = exp(transition[y′, y] − shift[y]), where shift[y] is the largest
//! transition into y and mₜ the largest exponent of the position (start and end scores count as unary of the first and last position):
//!
//! ```text
//! alpha[t, y]  = e[t, y] sₜ Σ_y′ alpha[t−1, y′] T[y′, y]            sₜ = 1 / Σ_y alpha[t−1, y], s₀ = 1
//! v[t, y]      = e[t, y] sₜ beta[t, y]                               takes the place of e on the way back
//! beta[t, y′]  = Σ_y T[y′, y] v[t+1, y]                              beta[n−1, y] = 1 / Σ_y alpha[n−1, y]
//! log Z        = Σₜ (ln Σ_y alpha[t, y] + mₜ),   p(yₜ = y) = alpha[t, y] beta[t, y]
//! ```
//!
//! A row is scaled by the sum of the row *before* it, which is known in time: scaling a row by its own sum would wait for it.
//! One exponential for each unary score and K² for the transitions, none in the loops. Rows are padded to a multiple of 8.
//!
//! **When it may be trusted.** Products below the smallest number are lost. Let R be the largest spread of the transitions into one label.
//! Where nothing is forbidden, what follows label y weighs at most e^R times what follows y′, so a label lost at one position could have come to
//! at most e^(2R) times the smallest number: nothing, as long as R is below a bound. Otherwise each row is looked at: if every label that some legal
//! sequence has there (the others are exact zeros) is well above the smallest number, every digit of every sum is good. If not, the sequence
//! is summed anew [in log space](crate::log_space). On the way back values are relative to alpha, so that what is lost there is lost
//! from a probability below 1e-30.

use crate::steps::{self, refill};
use crate::transitions::{self, Sums};
use crate::{Chain, Error, Scratch};
use lineal_linalg::{Scalar, special};

/// Buffers of the scaled sums.
#[derive(Clone, Debug, Default)]
pub(crate) struct SumBuffers<F: Scalar> {
    /// Exponentials of the transitions, where the transitions do not have them.
    own: Sums<F>,
    /// e, then v: n × stride.
    pub(crate) emit: Vec<F>,
    /// n × stride.
    alpha: Vec<F>,
    /// sₜ, n + 1 of them.
    scale: Vec<F>,
    /// Exponentials of the transitions into each position but the first, where they differ: (n − 1) × entries.
    pairs: Vec<F>,
    shift: Vec<F>,
    /// One row.
    beta: Vec<F>,
    /// p(yₜ = y), n × K.
    pub(crate) unary: Vec<F>,
    counts: Vec<F>,
    narrow: Vec<f32>,
}

/// (the largest R for which nothing needs to be looked at, what is well above the smallest number)
fn limits<F: Scalar>() -> (F, F) {
    let (spread, small) = if size_of::<F>() == 4 { (32.0, 1e-30) } else { (320.0, 1e-290) };
    (F::from_f64(spread), F::from_f64(small))
}

impl<F: Scalar> Chain<'_, F> {
    /// log Σ exp score over the legal label sequences.
    ///
    /// ```
    /// use lineal_chain::{Chain, Grammar, Scratch, Transitions};
    /// let transitions = Transitions::new(Grammar::free(3));
    /// let chain = Chain::new(&transitions, &[0.0f64; 12]);
    /// let log_z = chain.log_partition(&mut Scratch::new())?;
    /// assert!((log_z - 4.0 * 3f64.ln()).abs() < 1e-12);
    /// # Ok::<(), lineal_chain::Error>(())
    /// ```
    pub fn log_partition(&self, s: &mut Scratch<F>) -> Result<f64, Error> {
        if self.is_constrained() {
            self.trim(&mut s.useful)?;
        }
        match self.forward(s) {
            Some(log_z) => Ok(log_z),
            None => Ok(self.log_forward(s)),
        }
    }

    /// Fills e and alpha, returns log Z; `None` if digits may be lost. `s.useful` is trimmed if there are constraints.
    pub(crate) fn forward(&self, s: &mut Scratch<F>) -> Option<f64> {
        let (n, k) = (self.n_positions(), self.n_labels());
        if n == 0 {
            return Some(0.0);
        }
        let stride = self.transitions().stride();
        let mut log_z = self.emissions(s);
        let (max_spread, small) = limits::<F>();
        let SumBuffers { own, emit, alpha, scale, pairs, narrow, .. } = &mut s.sums;
        let sums = self.transitions().prepared().unwrap_or(own);
        let proven =
            !self.is_constrained() && !self.has_per_position() && sums.spread <= max_spread;
        let words = k.div_ceil(64);

        if alpha.len() < n * stride {
            alpha.resize(n * stride, F::ZERO);
        }
        refill(scale, n + 1, F::ONE);
        alpha[..stride].copy_from_slice(&emit[..stride]);
        let mut product = 1.0;
        for t in 0..n {
            let (before, row) = alpha[..(t + 1) * stride].split_at_mut(t * stride);
            if t > 0 {
                let before = &before[(t - 1) * stride..][..k];
                if self.has_per_position() {
                    steps::sum_step(
                        before,
                        &pairs[(t - 1) * k * stride..t * k * stride],
                        row,
                        narrow,
                    );
                } else {
                    sums.forward(self.transitions().runs(), before, row, narrow);
                }
                let scale = scale[t];
                for (alpha, &emit) in row.iter_mut().zip(&emit[t * stride..(t + 1) * stride]) {
                    *alpha *= emit * scale;
                }
            }
            let c = steps::sum(row);
            let inverse = F::ONE / c;
            if !proven {
                let floor = steps::larger(small, small * c);
                let n_good: u32 = row.iter().map(|&alpha| u32::from(alpha >= floor)).sum();
                let n_useful = if self.is_constrained() {
                    s.useful[t * words..(t + 1) * words].iter().map(|w| w.count_ones()).sum()
                } else {
                    k as u32
                };
                if n_good != n_useful {
                    return None;
                }
            }
            if c.to_f64() < 1e-4 {
                // Rare: scaled at once, or the way back would have to make up for it in one step and overflow.
                row.iter_mut().for_each(|alpha| *alpha *= inverse);
                scale[t] *= inverse;
            } else {
                scale[t + 1] = inverse;
            }
            product *= c.to_f64();
            if !(1e-200..1e200).contains(&product) {
                log_z += product.ln();
                product = 1.0;
            }
        }
        log_z += product.ln();
        log_z.is_finite().then_some(log_z)
    }

    /// Fills e (n × stride, zero where no legal sequence passes) and what the transitions need; returns Σ mₜ.
    fn emissions(&self, s: &mut Scratch<F>) -> f64 {
        let (n, k) = (self.n_positions(), self.n_labels());
        let transitions = self.transitions();
        let (stride, runs) = (transitions.stride(), transitions.runs());
        let SumBuffers { own, emit, pairs, shift, .. } = &mut s.sums;
        if self.has_per_position() {
            refill(shift, stride, F::ZERO);
            refill(pairs, (n - 1) * k * stride, F::ZERO);
        } else if transitions.prepared().is_none() {
            own.fill(runs, stride, transitions.scores());
        }
        if emit.len() < n * stride {
            emit.resize(n * stride, F::ZERO);
        }
        let mut total = 0.0;
        for t in 0..n {
            let row = &mut emit[t * stride..(t + 1) * stride];
            let shift: &[F] = if t == 0 {
                transitions.start()
            } else if self.has_per_position() {
                let pairs = &mut pairs[(t - 1) * k * stride..t * k * stride];
                transitions::exp_of(runs, self.entries(t, &mut s.entries), shift, pairs);
                shift
            } else {
                &transitions.prepared().unwrap_or(own).shift
            };
            row[..k].copy_from_slice(self.unary_row(t));
            // The padding becomes −∞ here, whatever it was.
            for (emit, &shift) in row.iter_mut().zip(shift) {
                *emit += shift;
            }
            let head = &mut row[..k];
            if t + 1 == n {
                for (emit, &end) in head.iter_mut().zip(transitions.end()) {
                    *emit += end;
                }
            }
            if self.is_constrained() {
                let words = k.div_ceil(64);
                let useful = &s.useful[t * words..(t + 1) * words];
                let n_useful: u32 = useful.iter().map(|w| w.count_ones()).sum();
                if n_useful as usize != k {
                    for (label, emit) in head.iter_mut().enumerate() {
                        if useful[label / 64] >> (label % 64) & 1 == 0 {
                            *emit = -F::INFINITY;
                        }
                    }
                }
            }
            let top = steps::max(row);
            for emit in row.iter_mut() {
                *emit -= top;
            }
            total += top.to_f64();
        }
        special::exp_slice(&mut emit[..n * stride]);
        total
    }

    /// After [`forward`](Self::forward): fills v and the marginals.
    pub(crate) fn backward(&self, s: &mut Scratch<F>) {
        /// Rounding lets a row's marginals drift from a sum of 1; every so often they are brought back.
        const RENORM: usize = 8;
        let (n, k) = (self.n_positions(), self.n_labels());
        if n == 0 {
            return;
        }
        let runs = self.transitions().runs();
        let stride = self.transitions().stride();
        let SumBuffers { own, emit, alpha, scale, pairs, beta, unary, narrow, .. } = &mut s.sums;
        let sums = self.transitions().prepared().unwrap_or(own);
        if unary.len() < n * k {
            unary.resize(n * k, F::ZERO);
        }
        refill(beta, stride, scale[n]);
        for t in (0..n).rev() {
            let (here, after) = emit.split_at_mut((t + 1) * stride);
            let v = &mut here[t * stride..];
            if t + 1 < n {
                let after = &after[..stride];
                if self.has_per_position() {
                    let pairs = &pairs[t * k * stride..(t + 1) * k * stride];
                    transitions::backward_rows(runs, pairs, after, beta);
                } else {
                    sums.backward(runs, &after[..k], beta, narrow);
                }
            }
            let alpha = &alpha[t * stride..(t + 1) * stride];
            if t % RENORM == 0 {
                let mut acc = F::ZERO;
                for (&alpha, &beta) in alpha.iter().zip(&*beta) {
                    acc += alpha * beta;
                }
                let scale = F::ONE / acc;
                beta.iter_mut().for_each(|beta| *beta *= scale);
            }
            for ((p, &alpha), &beta) in unary[t * k..(t + 1) * k].iter_mut().zip(alpha).zip(&*beta)
            {
                *p = alpha * beta;
            }
            let scale = scale[t];
            for (v, &beta) in v.iter_mut().zip(&*beta) {
                *v = *v * scale * beta;
            }
        }
    }

    /// After [`backward`](Self::backward): `f(from, first, counts)` with the expected numbers of the transitions from a label to `first` and
    /// those that follow it; a label comes once for each block of positions.
    pub(crate) fn expected_transitions(
        &self,
        s: &mut SumBuffers<F>,
        mut f: impl FnMut(usize, usize, &[F]),
    ) {
        let (n, k) = (self.n_positions(), self.n_labels());
        let runs = self.transitions().runs();
        let stride = self.transitions().stride();
        let SumBuffers { own, emit, alpha, pairs, counts, narrow, .. } = s;
        let sums = self.transitions().prepared().unwrap_or(own);
        if self.has_per_position() {
            refill(counts, k, F::ZERO);
            for t in 1..n {
                let (alpha, v) = (&alpha[(t - 1) * stride..][..k], &emit[t * stride..][..k]);
                let pairs = &pairs[(t - 1) * k * stride..t * k * stride];
                for (from, (pairs, &alpha)) in pairs.chunks_exact(stride).zip(alpha).enumerate() {
                    for ((count, &pair), &v) in counts.iter_mut().zip(pairs).zip(v) {
                        *count = alpha * pair * v;
                    }
                    f(from, 0, counts);
                }
            }
            return;
        }
        // Sums of f32 over 10⁵ positions lose four digits; of blocks they do not.
        const BLOCK: usize = 1024;
        let hand_over = |counts: &mut [F], f: &mut dyn FnMut(usize, usize, &[F])| {
            for (count, &exp) in counts.iter_mut().zip(&sums.exp) {
                *count *= exp;
            }
            runs.each(|from, run| f(from, run.first, &counts[run.at..run.at + run.len]));
        };
        refill(counts, runs.n_entries(), F::ZERO);
        for t in 1..n {
            if t % BLOCK == 0 {
                hand_over(counts, &mut f);
                counts.fill(F::ZERO);
            }
            let (alpha, v) = (&alpha[(t - 1) * stride..][..k], &emit[t * stride..][..stride]);
            if runs.dense {
                steps::add_outer(alpha, v, counts, narrow);
            } else {
                runs.each(|from, run| {
                    let (alpha, v) = (alpha[from], &v[run.first..run.first + run.len]);
                    for (count, &v) in counts[run.at..run.at + run.len].iter_mut().zip(v) {
                        *count += alpha * v;
                    }
                });
            }
        }
        hand_over(counts, &mut f);
    }

    /// After [`backward`](Self::backward): `out[from·K + to] = p(yₜ₋₁ = from, yₜ = to)`; what the grammar leaves out is not touched.
    pub(crate) fn pair_probabilities(&self, s: &SumBuffers<F>, t: usize, out: &mut [F]) {
        let k = self.n_labels();
        let stride = self.transitions().stride();
        let (alpha, v) = (&s.alpha[(t - 1) * stride..], &s.emit[t * stride..]);
        let entries = if self.has_per_position() {
            &s.pairs[(t - 1) * k * stride..t * k * stride]
        } else {
            &self.transitions().prepared().unwrap_or(&s.own).exp
        };
        self.transitions().runs().each(|from, run| {
            let alpha = alpha[from];
            let out = &mut out[from * k + run.first..][..run.len];
            let entries = &entries[run.at..run.at + run.len];
            for ((out, &entry), &v) in out.iter_mut().zip(entries).zip(&v[run.first..]) {
                *out = alpha * entry * v;
            }
        });
    }

    /// After [`backward`](Self::backward): `out[to] ∝ p(y₍t+1₎ = to | yₜ = from)`, not yet scaled.
    pub(crate) fn onward(&self, s: &SumBuffers<F>, t: usize, from: usize, out: &mut [f64]) {
        let stride = self.transitions().stride();
        let run = self.transitions().runs().row(from);
        let row = if self.has_per_position() {
            &s.pairs[t * self.n_labels() * stride + run.at..][..run.len]
        } else {
            &self.transitions().prepared().unwrap_or(&s.own).exp[run.at..run.at + run.len]
        };
        out.fill(0.0);
        let v = &s.emit[(t + 1) * stride..][run.first..run.first + run.len];
        for ((out, &row), &v) in out[run.first..].iter_mut().zip(row).zip(v) {
            *out = row.to_f64() * v.to_f64();
        }
    }
}
