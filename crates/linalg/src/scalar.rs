//! The two number types that weights come in.

use crate::{Row, entropy, kernels, logistic, simplex};
use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// `f32` or `f64`: the type of weights, scores and gradients.
pub trait Scalar:
    Copy
    + Send
    + Sync
    + Default
    + PartialOrd
    + Debug
    + Display
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + 'static
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// +∞
    const INFINITY: Self;
    /// The distance from 1 to the next number.
    const EPSILON: Self;
    /// Widens or keeps.
    fn from_f32(v: f32) -> Self;
    /// Rounds or keeps.
    fn from_f64(v: f64) -> Self;
    /// Widens or keeps.
    fn to_f64(self) -> f64;
    /// Rounds or keeps.
    fn to_f32(self) -> f32;
    /// eˣ
    fn exp(self) -> Self;
    /// ln x
    fn ln(self) -> Self;
    /// √x
    fn sqrt(self) -> Self;
    /// |x|
    fn abs(self) -> Self;
    /// The larger; a NaN loses.
    fn max(self, other: Self) -> Self;
    /// The smaller; a NaN loses.
    fn min(self, other: Self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// See [`exp_slice`](crate::special::exp_slice).
    fn exp_in_place(x: &mut [Self]);
    /// The same of one number, without a branch: for loops that are compiled to vectors.
    fn exp_fast(self) -> Self;
    /// See [`kernels::dot`].
    fn kernel_dot(x: Row<'_>, w: &[Self]) -> Self;
    /// See [`kernels::scores`].
    fn kernel_scores(x: Row<'_>, w: &[Self], out: &mut [Self]);
    /// See [`kernels::scores64`].
    fn kernel_scores64(x: Row<'_>, w: &[Self], out: &mut [f64]);
    /// See [`kernels::squares`].
    fn kernel_squares(w: &[Self], out: &mut [f64]);
    /// See [`kernels::add_outer`].
    fn kernel_add(x: Row<'_>, g: &[Self], w: &mut [Self]);
    /// See [`simplex::step`].
    fn kernel_simplex(scores: &mut [Self], q: Self, p: &mut [Self], delta: &mut [Self]) -> Self;
    /// See [`entropy::step`].
    fn kernel_entropy(scores: &[Self], q: Self, p: &mut [Self], delta: &mut [Self]) -> Self;
    /// See [`logistic::steps`].
    fn kernel_logistic(m: &[Self], q: &[Self], a: &[Self], to: &mut [Self], gap: &mut [Self]);
}

macro_rules! scalar {
    ($t:ident, $exp:path, $exp_slice:path) => {
        impl Scalar for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = $t::INFINITY;
            const EPSILON: Self = $t::EPSILON;
            #[inline(always)]
            fn from_f32(v: f32) -> Self {
                v as $t
            }
            #[inline(always)]
            fn from_f64(v: f64) -> Self {
                v as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $t::exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $t::ln(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $t::max(self, other)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                $t::min(self, other)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            fn exp_in_place(x: &mut [Self]) {
                $exp_slice(x);
            }
            #[inline(always)]
            fn exp_fast(self) -> Self {
                $exp(self)
            }
            fn kernel_dot(x: Row<'_>, w: &[Self]) -> Self {
                kernels::dot_generic(x, w)
            }
            fn kernel_scores(x: Row<'_>, w: &[Self], out: &mut [Self]) {
                kernels::scores_generic(x, w, out);
            }
            fn kernel_scores64(x: Row<'_>, w: &[Self], out: &mut [f64]) {
                kernels::scores_generic(x, w, out);
            }
            fn kernel_squares(w: &[Self], out: &mut [f64]) {
                kernels::squares_generic(w, out);
            }
            fn kernel_add(x: Row<'_>, g: &[Self], w: &mut [Self]) {
                kernels::add_generic(x, g, w);
            }
            fn kernel_simplex(
                scores: &mut [Self],
                q: Self,
                p: &mut [Self],
                delta: &mut [Self],
            ) -> Self {
                simplex::step_generic(scores, q, p, delta)
            }
            fn kernel_entropy(
                scores: &[Self],
                q: Self,
                p: &mut [Self],
                delta: &mut [Self],
            ) -> Self {
                entropy::step_generic(scores, q, p, delta)
            }
            fn kernel_logistic(
                m: &[Self],
                q: &[Self],
                a: &[Self],
                to: &mut [Self],
                gap: &mut [Self],
            ) {
                logistic::steps_generic(m, q, a, to, gap);
            }
        }
    };
}

scalar!(f32, crate::exp::exp_f32, crate::exp::exp_slice_f32);
scalar!(f64, crate::exp::exp_f64, crate::exp::exp_slice_f64);
