//! Sums over all trees whose arcs may cross, by the matrix-tree theorem (Koo, Globerson, Carreras and Collins 2007), without a subtraction.
//!
//! With w(h → m) = exp θ, Σ over trees of Π w is the determinant of the Laplacian L, L[m, m] = Σ over h of w(h → m), L[h, m] = −w(h → m). Elimination of the word v changes
//! what is left into the Laplacian of a smaller graph:
//!
//! ```text
//! D(v) = Σ over h < v of w(h → v)          w(h → m) += w(h → v) · w(v → m) / D(v)   for h, m < v
//! ```
//!
//! so that Z = Π D(v), and the diagonal need not be stored. Nothing is subtracted (Grassmann, Taksar and Heyman 1985), and so nothing cancels, where the determinant of L is
//! wrong as soon as words prefer heads that make a cycle. Words are eliminated from the last to the first; the root is h = 0.
//!
//! **One root.** Count the arcs from the root as infinitely small and keep the leading term: D(v) has no root arc as long as there is another. The first word without one (the last to be
//! eliminated at the latest) is the root's: D(v) = w(0 → v), and it is the root from then on, w(0 → m) = w(v → m).
//!
//! **Marginals** are w · ∂ log Z / ∂w. With g = ∂ log Z / ∂w, back from the first word to the last, for h, m < v:
//!
//! ```text
//! g(v → m) = Σ over h of g(h → m) · w(h → v) / D(v)
//! g(h → v) = (1 − Σ over m of g(v → m) · w(v → m) + Σ over m of g(h → m) · w(v → m)) / D(v)
//! ```
//!
//! where a root arc that is not part of D(v) has the last sum only. Here something is subtracted, but numbers that are at most n.
//!
//! From the scores of a word its best one is taken first. Numbers are f64, as such or, if a product would leave their range, as logarithms.

use crate::Arcs;
use lineal_linalg::Scalar;

/// Buffers of one thread. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatrixTree {
    /// w and g, `[head, modifier]` with stride n + 1.
    w: Vec<f64>,
    g: Vec<f64>,
    /// D(v)
    pivot: Vec<f64>,
    /// Σ over m of g(h → m) · w(v → m), for each h.
    sums: Vec<f64>,
    /// The word that the only root arc goes to in the elimination; 0 if the root may have many.
    root_word: usize,
    /// The best score of each word.
    top: Vec<f64>,
}

/// Why an elimination stopped.
enum Stop {
    NoTree,
    /// A product left the range of f64.
    Range,
}

/// Products smaller than this have lost digits, or will.
const TINY: f64 = 1e-280;
/// Scores that far below the best of their word are not taken as numbers.
const LOWEST: f64 = -600.0;

impl MatrixTree {
    /// log Σ exp score over all trees; with `mu`, the probability of each arc overwrites it. `None` if there is no tree.
    pub(crate) fn sums<F: Scalar>(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        mut mu: Option<&mut [F]>,
    ) -> Option<f64> {
        match self.run::<F, Number>(arcs, theta, mu.as_deref_mut()) {
            Ok(log_partition) => Some(log_partition),
            Err(Stop::NoTree) => None,
            Err(Stop::Range) => self.run::<F, Logarithm>(arcs, theta, mu).ok(),
        }
    }

    fn run<F: Scalar, A: Arithmetic>(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        mu: Option<&mut [F]>,
    ) -> Result<f64, Stop> {
        let n = arcs.n_words();
        self.load::<F, A>(arcs, theta)?;
        self.eliminate::<A>(n, arcs.single_root())?;
        let logs = (1..=n).map(|v| self.top[v] + A::ln(self.pivot[v]));
        let log_partition = logs.sum();
        if let Some(mu) = mu {
            self.differentiate::<A>(n, arcs.single_root());
            for (arc, mu) in mu.iter_mut().enumerate() {
                let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
                let w = A::exp(theta[arc].to_f64() - self.top[modifier]);
                let p = A::exp_ln(A::mul(w, self.g[head * (n + 1) + modifier]));
                if !p.is_finite() {
                    return Err(Stop::Range);
                }
                *mu = F::from_f64(p.min(1.0));
            }
        }
        Ok(log_partition)
    }

    fn load<F: Scalar, A: Arithmetic>(&mut self, arcs: &Arcs, theta: &[F]) -> Result<(), Stop> {
        let s = arcs.n_words() + 1;
        self.w.clear();
        self.w.resize(s * s, A::ZERO);
        self.top.clear();
        self.top.push(0.0);
        for modifier in 1..s {
            let own = &theta[arcs.range(modifier)];
            let top = own.iter().fold(f64::NEG_INFINITY, |top, score| top.max(score.to_f64()));
            self.top.push(top);
            for (&head, score) in arcs.heads(modifier).iter().zip(own) {
                let score = score.to_f64() - top;
                if A::CHECKED && score < LOWEST {
                    return Err(Stop::Range);
                }
                self.w[head as usize * s + modifier] = A::exp(score);
            }
        }
        Ok(())
    }

    fn eliminate<A: Arithmetic>(&mut self, n: usize, single_root: bool) -> Result<(), Stop> {
        let s = n + 1;
        self.pivot.clear();
        self.pivot.resize(s, A::ZERO);
        self.root_word = 0;
        for v in (1..=n).rev() {
            // With one root, its arc goes to a later word or is not needed yet.
            let heads = usize::from(single_root && self.root_word == 0);
            let mut pivot = (heads..v).fold(A::ZERO, |sum, h| A::add(sum, self.w[h * s + v]));
            let becomes_root = pivot == A::ZERO && heads == 1;
            if becomes_root {
                pivot = self.w[v];
            }
            if pivot == A::ZERO {
                return Err(Stop::NoTree);
            }
            self.pivot[v] = pivot;
            let (before, from) = self.w.split_at_mut(v * s);
            let row = &from[..v];
            if becomes_root {
                self.root_word = v;
                before[1..v].copy_from_slice(&row[1..]);
                continue;
            }
            for h in 0..v {
                let into = before[h * s + v];
                if into != A::ZERO {
                    let factor = A::div(into, pivot);
                    let to = &mut before[h * s..h * s + v];
                    if !A::add_product(&mut to[1..], factor, &row[1..]) {
                        return Err(Stop::Range);
                    }
                }
            }
        }
        Ok(())
    }

    fn differentiate<A: Arithmetic>(&mut self, n: usize, single_root: bool) {
        let s = n + 1;
        self.g.clear();
        self.g.resize(s * s, A::ZERO);
        self.sums.clear();
        self.sums.resize(s, A::ZERO);
        for v in 1..=n {
            let pivot = self.pivot[v];
            let (before, from) = self.g.split_at_mut(v * s);
            let (row, w_row) = (&mut from[..v], &self.w[v * s..v * s + v]);
            if v == self.root_word {
                // The root's arcs to the words before are those of v, and its own are not used.
                row[1..].copy_from_slice(&before[1..v]);
                before[1..v].fill(A::ZERO);
                before[v] = A::div(A::ONE, pivot);
                continue;
            }
            for h in 0..v {
                let into = self.w[h * s + v];
                let g_row = &before[h * s..h * s + v];
                self.sums[h] = A::ZERO;
                if into != A::ZERO {
                    A::add_product(&mut row[1..], A::div(into, pivot), &g_row[1..]);
                    self.sums[h] = A::dot(&g_row[1..], &w_row[1..]);
                }
            }
            let rest = 1.0 - A::exp_ln(A::dot(&row[1..], &w_row[1..]));
            let outside = single_root && v > self.root_word;
            for h in 0..v {
                if self.w[h * s + v] != A::ZERO {
                    let rest = if h == 0 && outside { 0.0 } else { rest };
                    before[h * s + v] = A::div(A::add_real(self.sums[h], rest), pivot);
                }
            }
        }
    }
}

/// Non-negative numbers as f64, in one of two ways.
trait Arithmetic {
    const ZERO: f64;
    const ONE: f64;
    /// Whether products may leave the range.
    const CHECKED: bool;
    /// The number eˣ.
    fn exp(x: f64) -> f64;
    /// The logarithm of a number.
    fn ln(a: f64) -> f64;
    /// A number as such.
    fn exp_ln(a: f64) -> f64;
    fn add(a: f64, b: f64) -> f64;
    fn mul(a: f64, b: f64) -> f64;
    fn div(a: f64, b: f64) -> f64;
    /// a + x for a real number x, but not below 0.
    fn add_real(a: f64, x: f64) -> f64;
    /// to += a · x. `false` if a product that is not 0 is too small.
    fn add_product(to: &mut [f64], a: f64, x: &[f64]) -> bool;
    fn dot(a: &[f64], b: &[f64]) -> f64;
}

/// Numbers as such.
struct Number;

impl Arithmetic for Number {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const CHECKED: bool = true;

    fn exp(x: f64) -> f64 {
        x.exp()
    }
    fn ln(a: f64) -> f64 {
        a.ln()
    }
    fn exp_ln(a: f64) -> f64 {
        a
    }
    fn add(a: f64, b: f64) -> f64 {
        a + b
    }
    fn mul(a: f64, b: f64) -> f64 {
        a * b
    }
    fn div(a: f64, b: f64) -> f64 {
        a / b
    }
    fn add_real(a: f64, x: f64) -> f64 {
        (a + x).max(0.0)
    }
    fn add_product(to: &mut [f64], a: f64, x: &[f64]) -> bool {
        let mut small = false;
        for (to, &x) in to.iter_mut().zip(x) {
            let product = a * x;
            small |= (product < TINY) & (x > 0.0);
            *to += product;
        }
        !small
    }
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }
}

/// Numbers as their logarithms.
struct Logarithm;

impl Arithmetic for Logarithm {
    const ZERO: f64 = f64::NEG_INFINITY;
    const ONE: f64 = 0.0;
    const CHECKED: bool = false;

    fn exp(x: f64) -> f64 {
        x
    }
    fn ln(a: f64) -> f64 {
        a
    }
    fn exp_ln(a: f64) -> f64 {
        a.exp()
    }
    fn add(a: f64, b: f64) -> f64 {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
    }
    fn mul(a: f64, b: f64) -> f64 {
        a + b
    }
    fn div(a: f64, b: f64) -> f64 {
        a - b
    }
    fn add_real(a: f64, x: f64) -> f64 {
        // Beyond e⁵⁰ a number of at most n no longer shows; and a alone may be too small to be a number.
        if x == 0.0 || a > 50.0 { a } else { (a.exp() + x).max(0.0).ln() }
    }
    fn add_product(to: &mut [f64], a: f64, x: &[f64]) -> bool {
        for (to, &x) in to.iter_mut().zip(x) {
            *to = Self::add(*to, a + x);
        }
        true
    }
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).fold(Self::ZERO, |sum, (&a, &b)| Self::add(sum, a + b))
    }
}
