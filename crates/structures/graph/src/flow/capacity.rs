//! The integers that flows are made of, and how floats become integers.
//!
//! A residual capacity is never more than the capacities of both directions of an edge together. An edge may have at most [`Capacity::LIMIT`] in each direction, so that the arcs of a
//! pixel (8 at most) together stay below [`Capacity::FORCE`], which therefore decides the label of a node whatever its neighbours say. Where a node of a graph has more edges, [`Scale`] makes all capacities smaller.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// `i32` or `i64`.
pub trait Capacity:
    Copy
    + Ord
    + Default
    + Debug
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + 'static
{
    /// 0
    const ZERO: Self;
    /// The most that an arc may carry, and the largest terminal capacity of either sign.
    const LIMIT: Self;
    /// A terminal capacity that no arcs of a node outweigh.
    const FORCE: Self;
    /// LIMIT as a float, a power of two.
    const LIMIT_F64: f64;
    /// The most that all capacities of a problem together may be.
    const TOTAL_F64: f64;
    /// Rounds; what is not a number is 0, and what is too large is the largest there is.
    fn from_f64(v: f64) -> Self;
    /// Half of a number that is not negative, rounded down.
    fn half(self) -> Self;
    /// The same number.
    fn to_i64(self) -> i64;
    /// The sum, or the number nearest to it.
    fn plus(self, other: Self) -> Self;
}

impl Capacity for i32 {
    const ZERO: Self = 0;
    const LIMIT: Self = 1 << 26;
    const FORCE: Self = 1 << 30;
    const LIMIT_F64: f64 = (1u64 << 26) as f64;
    // Energies are summed in 128 bits.
    const TOTAL_F64: f64 = f64::INFINITY;

    #[inline(always)]
    fn from_f64(v: f64) -> Self {
        v.round_ties_even() as i32
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }

    #[inline(always)]
    fn half(self) -> Self {
        self >> 1
    }

    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl Capacity for i64 {
    const ZERO: Self = 0;
    const LIMIT: Self = 1 << 52;
    const FORCE: Self = 1 << 61;
    const LIMIT_F64: f64 = (1u64 << 52) as f64;
    // A node of a graph may have many arcs: all together stay below FORCE.
    const TOTAL_F64: f64 = (1u64 << 60) as f64;

    #[inline(always)]
    fn from_f64(v: f64) -> Self {
        v.round_ties_even() as i64
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        self
    }

    #[inline(always)]
    fn half(self) -> Self {
        self >> 1
    }

    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

/// Floats as integers: multiplied by a power of two and rounded.
///
/// Floats that are whole numbers (or have few binary digits) and not too large stay exact; of others each loses at most [`error`](Self::error). A cut of the integers is minimal among the
/// integers' cuts, and within 2·error·(number of capacities) of the minimum among those of the floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    factor: f64,
}

impl Scale {
    /// For capacities whose largest has this absolute value, that add up to at most `total`, and at each node to at most `heaviest` over its edges (0 if nodes have at most 8 of them).
    pub fn new<C: Capacity>(largest: f64, total: f64, heaviest: f64) -> Self {
        let force = C::FORCE.to_i64() as f64;
        let room = (C::LIMIT_F64 / largest)
            .min(C::TOTAL_F64 / total.max(largest))
            .min(0.5 * force / heaviest);
        // Beyond 2^1000 nothing is left to gain, and the inverse must be a number.
        let exponent = room.log2().floor().clamp(-1000.0, 1000.0);
        let factor = if largest > 0.0 && exponent.is_finite() { exponent.exp2() } else { 1.0 };
        // log2 may round up to the next power of two.
        Self { factor: if factor > room { 0.5 * factor } else { factor } }
    }

    /// An integer for this float.
    #[inline(always)]
    pub fn of<C: Capacity>(self, v: f64) -> C {
        C::from_f64(v * self.factor)
    }

    /// The energy of integers as one of floats.
    pub fn back(self, energy: i128) -> f64 {
        energy as f64 / self.factor
    }

    /// The most that rounding changes one capacity by.
    pub fn error(self) -> f64 {
        0.5 / self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_stay_exact_and_limits_are_kept() {
        for largest in [1.0, 3.0, 1e-12, 7e8, 0.1, 2.0, 4096.0, 1e-200, 1e200] {
            let (short, long) = (
                Scale::new::<i32>(largest, 1e3 * largest, 0.0),
                Scale::new::<i64>(largest, 1e3 * largest, 0.0),
            );
            assert!(
                short.of::<i32>(largest) <= i32::LIMIT && long.of::<i64>(largest) <= i64::LIMIT,
                "{largest}"
            );
            assert!(
                short.of::<i32>(-largest) < 0 && long.of::<i64>(largest) > i64::LIMIT >> 12,
                "{largest}"
            );
        }
        let scale = Scale::new::<i32>(1000.0, 1e9, 0.0);
        assert_eq!(scale.back(i128::from(scale.of::<i32>(777.0))), 777.0);
        assert_eq!(Scale::new::<i32>(0.0, 0.0, 0.0).of::<i32>(0.0), 0);
        assert_eq!(Scale::new::<i64>(1.0, 1e6, 0.0).of::<i64>(f64::NAN), 0);
    }
}
