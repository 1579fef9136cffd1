//! Sums over all label sequences in log space, in f64: slower, but no score is too large for it.
//!
//! a[t, y] = log of the sum over beginnings that end in y, less a constant per row; b[t, y] the same of the ends that follow y. Each step takes the
//! largest term out first: K² exponentials a position. See [`sums`](crate::sums) for when this is needed.

use crate::steps::{self, refill};
use crate::{Chain, Scratch};
use lineal_linalg::{Scalar, special};

/// Buffers of the sums in log space, all f64.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogBuffers {
    /// Unary scores with start and end, −∞ where no legal sequence passes: n × K.
    unary: Vec<f64>,
    /// n × K
    a: Vec<f64>,
    b: Vec<f64>,
    /// One position's transition scores, by their runs.
    entries: Vec<f64>,
    work: Vec<f64>,
    top: Vec<f64>,
    sum: Vec<f64>,
}

impl<F: Scalar> Chain<'_, F> {
    /// log Z, with `a` filled. `s.useful` is trimmed if there are constraints.
    pub(crate) fn log_forward(&self, s: &mut Scratch<F>) -> f64 {
        let (n, k) = (self.n_positions(), self.n_labels());
        let runs = self.transitions().runs();
        self.log_unary(s);
        let log = &mut s.log;
        refill(&mut log.a, n * k, 0.0);
        let mut log_z = 0.0;
        for t in 0..n {
            let (before, row) = log.a[..(t + 1) * k].split_at_mut(t * k);
            if t == 0 {
                row.copy_from_slice(&log.unary[..k]);
            } else {
                let before = &before[(t - 1) * k..];
                if t == 1 || self.has_per_position() {
                    let entries = self.entries(t, &mut s.entries);
                    log.entries.clear();
                    log.entries.extend(entries.iter().map(|e| e.to_f64()));
                }
                refill(&mut log.top, k, f64::NEG_INFINITY);
                refill(&mut log.work, log.entries.len(), f64::NEG_INFINITY);
                runs.each(|from, run| {
                    let places = run.at..run.at + run.len;
                    let entries = log.entries[places.clone()].iter();
                    for ((work, &entry), top) in
                        log.work[places].iter_mut().zip(entries).zip(&mut log.top[run.first..])
                    {
                        *work = before[from] + entry;
                        *top = steps::larger(*work, *top);
                    }
                });
                for top in &mut log.top {
                    *top = if *top == f64::NEG_INFINITY { 0.0 } else { *top };
                }
                runs.each(|_, run| {
                    let work = &mut log.work[run.at..run.at + run.len];
                    for (work, &top) in work.iter_mut().zip(&log.top[run.first..]) {
                        *work -= top;
                    }
                });
                special::exp_slice(&mut log.work);
                refill(&mut log.sum, k, 0.0);
                runs.each(|_, run| {
                    let work = &log.work[run.at..run.at + run.len];
                    for (&work, sum) in work.iter().zip(&mut log.sum[run.first..]) {
                        *sum += work;
                    }
                });
                for (label, a) in row.iter_mut().enumerate() {
                    *a = log.top[label] + log.sum[label].ln() + log.unary[t * k + label];
                }
            }
            log_z += take_top(row);
        }
        let last = &log.a[n.saturating_sub(1) * k..];
        if last.is_empty() { 0.0 } else { log_z + last.iter().map(|a| a.exp()).sum::<f64>().ln() }
    }

    /// After [`log_forward`](Self::log_forward): fills `b` and the marginals of `s.sums`.
    pub(crate) fn log_backward(&self, s: &mut Scratch<F>) {
        let (n, k) = (self.n_positions(), self.n_labels());
        let marginals = &mut s.sums.unary;
        if marginals.len() < n * k {
            marginals.resize(n * k, F::ZERO);
        }
        refill(&mut s.log.b, n * k, 0.0);
        for t in (0..n).rev() {
            if t + 1 < n {
                if self.has_per_position() {
                    let entries = self.entries(t + 1, &mut s.entries);
                    s.log.entries.clear();
                    s.log.entries.extend(entries.iter().map(|e| e.to_f64()));
                }
                let LogBuffers { unary, b, entries, work, sum, .. } = &mut s.log;
                let (row, after) = b[t * k..(t + 2) * k].split_at_mut(k);
                let after = after.iter().zip(&unary[(t + 1) * k..]).map(|(&b, &unary)| b + unary);
                sum.clear();
                sum.extend(after);
                self.transitions().runs().each(|from, run| {
                    work.clear();
                    work.extend(
                        entries[run.at..run.at + run.len]
                            .iter()
                            .zip(&sum[run.first..])
                            .map(|(&entry, &after)| entry + after),
                    );
                    row[from] = log_sum_exp(work);
                });
                take_top(row);
            }
            let log = &mut s.log;
            let places = t * k..(t + 1) * k;
            let joint =
                log.a[places.clone()].iter().zip(&log.b[places.clone()]).map(|(a, b)| a + b);
            log.work.clear();
            log.work.extend(joint);
            normalise(&mut log.work);
            for (p, &share) in marginals[places].iter_mut().zip(&log.work) {
                *p = F::from_f64(share);
            }
        }
    }

    /// After [`log_backward`](Self::log_backward): `f(from, first, probabilities)` for each position but the first and each label before, with
    /// the probabilities of the transitions from it to `first` and those that follow.
    pub(crate) fn log_expected_transitions(
        &self,
        s: &mut Scratch<F>,
        mut f: impl FnMut(usize, usize, &[F]),
    ) {
        let mut counts = std::mem::take(&mut s.entries);
        let (n, k) = (self.n_positions(), self.n_labels());
        let runs = self.transitions().runs();
        for t in 1..n {
            if self.has_per_position() {
                let entries = self.entries(t, &mut counts);
                s.log.entries.clear();
                s.log.entries.extend(entries.iter().map(|e| e.to_f64()));
            }
            let LogBuffers { unary, a, b, entries, work, sum, .. } = &mut s.log;
            let after =
                b[t * k..].iter().zip(&unary[t * k..(t + 1) * k]).map(|(&b, &unary)| b + unary);
            sum.clear();
            sum.extend(after);
            refill(work, entries.len(), f64::NEG_INFINITY);
            runs.each(|from, run| {
                let places = run.at..run.at + run.len;
                let a = a[(t - 1) * k + from];
                for ((work, &entry), &after) in
                    work[places.clone()].iter_mut().zip(&entries[places]).zip(&sum[run.first..])
                {
                    *work = a + entry + after;
                }
            });
            normalise(work);
            runs.each(|from, run| {
                counts.clear();
                counts.extend(work[run.at..run.at + run.len].iter().map(|&p| F::from_f64(p)));
                f(from, run.first, &counts);
            });
        }
        s.entries = counts;
    }

    /// After [`log_backward`](Self::log_backward): `out[to] = p(y₍t+1₎ = to | yₜ = from)`.
    pub(crate) fn log_onward(&self, s: &LogBuffers, t: usize, from: usize, out: &mut [f64]) {
        let k = self.n_labels();
        let places = (t + 1) * k..(t + 2) * k;
        let after = s.unary[places.clone()].iter().zip(&s.b[places]);
        for (to, (out, (&unary, &b))) in out.iter_mut().zip(after).enumerate() {
            *out = self.transition(t + 1, from, to).to_f64() + unary + b;
        }
        normalise(out);
    }

    fn log_unary(&self, s: &mut Scratch<F>) {
        let (n, k) = (self.n_positions(), self.n_labels());
        let log = &mut s.log;
        log.unary.clear();
        log.unary.extend(self.unary().iter().map(|u| u.to_f64()));
        if n == 0 {
            return;
        }
        for (label, unary) in log.unary[..k].iter_mut().enumerate() {
            *unary += self.transitions().start()[label].to_f64();
        }
        for (label, unary) in log.unary[(n - 1) * k..].iter_mut().enumerate() {
            *unary += self.transitions().end()[label].to_f64();
        }
        if self.is_constrained() {
            let words = k.div_ceil(64);
            for (i, unary) in log.unary.iter_mut().enumerate() {
                let (t, label) = (i / k, i % k);
                if s.useful[t * words + label / 64] >> (label % 64) & 1 == 0 {
                    *unary = f64::NEG_INFINITY;
                }
            }
        }
    }
}

/// Takes the largest entry out of a row and returns it.
fn take_top(row: &mut [f64]) -> f64 {
    let top = steps::max(row);
    if top == f64::NEG_INFINITY {
        return 0.0;
    }
    row.iter_mut().for_each(|v| *v -= top);
    top
}

fn log_sum_exp(x: &mut [f64]) -> f64 {
    let top = take_top(x);
    special::exp_slice(x);
    top + steps::sum(x).ln()
}

/// Logarithms become shares; all 0 where every one is −∞.
fn normalise(x: &mut [f64]) {
    take_top(x);
    special::exp_slice(x);
    let sum = steps::sum(x);
    if sum > 0.0 {
        let scale = 1.0 / sum;
        x.iter_mut().for_each(|x| *x *= scale);
    }
}
