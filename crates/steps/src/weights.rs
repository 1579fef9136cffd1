//! Weights as a number times a vector, so that shrinking all of them is one multiplication; and their average, as a mix of that vector and another.

use lineal_linalg::Row;

/// Below this the number is multiplied into the vector.
const SMALLEST: f64 = 1e-9;

/// An average is a sum of two parts that grow and cancel as the number falls: below this share of what it was, the sum begins anew.
const FALL: f64 = 1e-3;

/// w = scale · v; their average is c · v + d · z.
#[derive(Clone, Debug)]
pub(crate) struct ScaledWeights {
    v: Vec<f64>,
    scale: f64,
    norm_sq: f64,
    /// Σ |v|.
    sum_abs: f64,
    average: Option<Average>,
    /// The number when the average's sum began.
    began: f64,
}

#[derive(Clone, Debug)]
struct Average {
    c: f64,
    d: f64,
    z: Vec<f64>,
}

/// Calls `f` with every feature of a sparse row, and with all of a dense one.
fn each(row: &Row<'_>, mut f: impl FnMut(usize, f64)) {
    row.for_each(|j, value| f(j, f64::from(value)));
}

impl ScaledWeights {
    pub(crate) fn new(v: Vec<f64>) -> Self {
        let norm_sq = v.iter().map(|w| w * w).sum();
        let sum_abs = v.iter().map(|w| w.abs()).sum();
        Self { v, scale: 1.0, norm_sq, sum_abs, average: None, began: 1.0 }
    }

    pub(crate) fn set_average(&mut self, z: Vec<f64>) {
        self.average = Some(Average { c: 0.0, d: 1.0, z });
    }

    pub(crate) fn dot(&self, row: &Row<'_>) -> f64 {
        let mut sum = 0.0;
        each(row, |j, x| sum += self.v[j] * x);
        sum * self.scale
    }

    pub(crate) fn norm_sq(&self) -> f64 {
        self.norm_sq
    }

    pub(crate) fn norm_1(&self) -> f64 {
        self.sum_abs * self.scale
    }

    /// w ← w + step · x.
    pub(crate) fn add(&mut self, row: &Row<'_>, step: f64) {
        let by = step / self.scale;
        let (mut inner, mut own) = (0.0, 0.0);
        let (v, sum_abs) = (&mut self.v, &mut self.sum_abs);
        each(row, |j, x| {
            inner += v[j] * x;
            own += x * x;
            let old = v[j];
            v[j] += x * by;
            *sum_abs += v[j].abs() - old.abs();
        });
        self.norm_sq += own * step * step + 2.0 * inner * self.scale * step;
    }

    /// w ← by · w.
    pub(crate) fn scale(&mut self, by: f64) {
        self.scale *= by;
        self.norm_sq *= by * by;
        if self.scale < FALL * self.began {
            self.begin_average_anew();
        }
        if self.scale < SMALLEST {
            self.multiply_in();
        }
    }

    fn begin_average_anew(&mut self) {
        self.began = self.scale;
        if let Some(Average { c, d, z }) = &mut self.average {
            z.iter_mut().zip(&self.v).for_each(|(z, v)| *z = *d * *z + *c * v);
            (*c, *d) = (0.0, 1.0);
        }
    }

    fn multiply_in(&mut self) {
        let scale = self.scale;
        self.begin_average_anew();
        self.v.iter_mut().for_each(|v| *v *= scale);
        self.sum_abs = self.v.iter().map(|v| v.abs()).sum();
        (self.scale, self.began) = (1.0, 1.0);
    }

    /// Takes the weights, which just moved by step · x, into the average as its n-th.
    pub(crate) fn take_into_average(&mut self, row: &Row<'_>, step: f64, n: f64) {
        let scale = self.scale;
        let average = self.average.get_or_insert_with(|| Average {
            c: 0.0,
            d: 1.0,
            z: vec![0.0; self.v.len()],
        });
        if n <= 1.0 {
            average.z.fill(0.0);
            (average.c, average.d) = (scale, 1.0);
            return;
        }
        let (by, keep) = (step / scale * average.c / average.d, 1.0 - 1.0 / n);
        if by != 0.0 {
            each(row, |j, x| average.z[j] -= x * by);
        }
        average.c = keep * average.c + scale / n;
        average.d *= keep;
        if average.d < FALL {
            let d = average.d;
            average.z.iter_mut().for_each(|z| *z *= d);
            average.d = 1.0;
        }
    }

    /// Takes what ‖w‖₁ is due from the weights of a row's features, not across 0: Tsuruoka, Tsujii and Ananiadou's cumulative penalty.
    pub(crate) fn truncate(&mut self, row: &Row<'_>, due: f64, paid: &mut [f64]) {
        let scale = self.scale;
        let (v, sum_abs) = (&mut self.v, &mut self.sum_abs);
        each(row, |j, _| {
            let old = v[j];
            if scale * old > 0.0 {
                v[j] = (old - (due + paid[j]) / scale).max(0.0);
            } else if scale * old < 0.0 {
                v[j] = (old + (due - paid[j]) / scale).min(0.0);
            }
            paid[j] += scale * (v[j] - old);
            *sum_abs += v[j].abs() - old.abs();
        });
    }

    /// The vector without the number.
    pub(crate) fn unscaled(&self) -> &[f64] {
        &self.v
    }

    pub(crate) fn to_vec(&self) -> Vec<f64> {
        self.v.iter().map(|v| v * self.scale).collect()
    }

    pub(crate) fn average(&self) -> Vec<f64> {
        match &self.average {
            Some(Average { c, d, z }) => self.v.iter().zip(z).map(|(v, z)| c * v + d * z).collect(),
            None => vec![0.0; self.v.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lazy_weights_and_averages_are_the_plain_ones() {
        let rows = [vec![1.0f32, 0.0, -2.0], vec![0.5, 3.0, 0.0], vec![-1.0, 1.0, 1.0]];
        let mut lazy = ScaledWeights::new(vec![0.1, -0.2, 0.3]);
        let (mut w, mut mean) = (vec![0.1, -0.2, 0.3], vec![0.0; 3]);
        for t in 1..=600u32 {
            let x = &rows[t as usize % 3];
            let (step, shrink) = (0.3 / f64::from(t), 0.93);
            lazy.scale(shrink);
            lazy.add(&Row::Dense(x), step);
            lazy.take_into_average(&Row::Dense(x), step, f64::from(t));
            for j in 0..3 {
                w[j] = shrink * w[j] + step * f64::from(x[j]);
                mean[j] += (w[j] - mean[j]) / f64::from(t);
            }
        }
        let close = |a: Vec<f64>, b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(lazy.to_vec(), &w), "{:?} {w:?}", lazy.to_vec());
        assert!(close(lazy.average(), &mean), "{:?} {mean:?}", lazy.average());
        assert!((lazy.norm_sq() - w.iter().map(|w| w * w).sum::<f64>()).abs() < 1e-12);
        assert!((lazy.norm_1() - w.iter().map(|w| w.abs()).sum::<f64>()).abs() < 1e-9);
    }
}
