//! From values to places on an axis, and where its ticks are.

use crate::talk::rough;

/// An axis, linear or logarithmic.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    lo: f64,
    hi: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Holds all of `values`, from pixel `from` to pixel `to`; a linear one ends at round numbers.
    pub fn around(values: impl Iterator<Item = f64>, log: bool, from: f64, to: f64) -> Self {
        let usable = values.filter(|v| has_place(*v, log));
        let (mut lo, mut hi) =
            usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        if lo > hi {
            (lo, hi) = if log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        if log {
            (lo, hi) = (lo.log10().floor(), hi.log10().ceil());
            if lo == hi {
                hi += 1.0;
            }
        } else {
            if hi - lo <= 1e-12 * hi.abs().max(lo.abs()) {
                let pad = if lo == 0.0 { 1.0 } else { 0.1 * lo.abs() };
                (lo, hi) = (lo - pad, hi + pad);
            }
            let step = step(hi - lo);
            (lo, hi) = ((lo / step).floor() * step, (hi / step).ceil() * step);
        }
        Self { lo, hi, log, from, to }
    }

    /// From `lo` to `hi`, as given.
    pub fn exactly(lo: f64, hi: f64, from: f64, to: f64) -> Self {
        Self { lo, hi, log: false, from, to }
    }

    /// Its ends.
    pub fn range(&self) -> (f64, f64) {
        (self.lo, self.hi)
    }

    /// The pixel of a value.
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.from + (value - self.lo) / (self.hi - self.lo) * (self.to - self.from)
    }

    /// Whether a value has a place.
    pub fn has(&self, value: f64) -> bool {
        has_place(value, self.log)
    }

    /// Round values with their names.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        if self.log {
            let every = ((self.hi - self.lo) / 6.0).ceil().max(1.0) as usize;
            let powers = (self.lo as i32..=self.hi as i32).step_by(every);
            return powers.map(|p| (10f64.powi(p), format!("1e{p}"))).collect();
        }
        let step = step(self.hi - self.lo);
        // 40k and 1.2M in place of five digits and more.
        let largest = self.lo.abs().max(self.hi.abs());
        let (unit, suffix) = match largest {
            v if v >= 1e12 => (1.0, ""),
            v if v >= 1e9 => (1e9, "G"),
            v if v >= 1e6 => (1e6, "M"),
            v if v >= 1e4 => (1e3, "k"),
            _ => (1.0, ""),
        };
        let decimals = (-(step / unit).log10().floor()).clamp(0.0, 12.0) as usize;
        let name = |v: f64| match v / unit + 0.0 {
            0.0 => "0".to_owned(),
            v if v.abs() >= 1e6 => rough(v),
            v => format!("{v:.decimals$}{suffix}"),
        };
        let first = (self.lo / step - 1e-9).ceil();
        (0..20)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|v| *v <= self.hi + 1e-9 * step)
            .map(|v| (v, name(v)))
            .collect()
    }
}

/// Finite with room to spare for the axis around it.
fn has_place(value: f64, log: bool) -> bool {
    value.abs() < 1e300 && (!log || value > 0.0)
}

/// 1, 2 or 5 times a power of ten: four to ten steps in `range`.
fn step(range: f64) -> f64 {
    let raw = range / 5.0;
    let power = 10f64.powf(raw.log10().floor());
    match raw / power {
        r if r < 1.5 => power,
        r if r < 3.5 => 2.0 * power,
        r if r < 7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        for values in [vec![0.013, 0.97], vec![3.0], vec![-1e9, 1e9], vec![], vec![f64::NAN, 0.0]] {
            let scale = Scale::around(values.iter().copied(), false, 0.0, 100.0);
            let ticks = scale.ticks();
            assert!((3..=12).contains(&ticks.len()), "{values:?}: {ticks:?}");
            assert!(ticks.iter().all(|t| (-0.01..=100.01).contains(&scale.at(t.0))), "{ticks:?}");
        }
        let names = |lo: f64, hi: f64| -> Vec<String> {
            let scale = Scale::around([lo, hi].into_iter(), false, 0.0, 100.0);
            scale.ticks().into_iter().map(|t| t.1).collect()
        };
        assert_eq!(names(0.0, 1.1e6).join(" "), "0 0.2M 0.4M 0.6M 0.8M 1.0M 1.2M");
        assert_eq!(names(-4e5, 4e5).join(" "), "-400k -200k 0 200k 400k");
        assert_eq!(names(-4e4, 4e4).join(" "), "-40k -20k 0 20k 40k");
        assert_eq!(names(0.0, 7900.0).join(" "), "0 2000 4000 6000 8000");
        assert_eq!(names(0.0, 0.5).join(" "), "0 0.1 0.2 0.3 0.4 0.5");
        let log = Scale::around([3e-7, 0.5, 0.0].into_iter(), true, 100.0, 0.0);
        assert!(!log.has(0.0));
        assert_eq!(log.ticks().first().map(|t| t.1.clone()), Some("1e-7".to_owned()));
    }
}
