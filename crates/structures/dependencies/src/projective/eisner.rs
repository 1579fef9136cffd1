//! The best projective tree, by Eisner's algorithm (1996).
//!
//! Positions are 0 … n, the root first. Over the words i … j stand four scores, each the best of what it stands for:
//!
//! - right(i, j), a complete span: i with all its modifiers up to j and what hangs on them;
//! - left(j, i): j with all its modifiers down to i;
//! - open_right(i, j): the same as right(i, j) with an arc i → j, the modifiers of j beyond it still missing; open_left(j, i) likewise.
//!
//! ```text
//! split(i, j)      = max over i ≤ r < j of right(i, r) + left(j, r + 1)
//! open_right(i, j) = split(i, j) + θ(i → j)                open_left(j, i) = split(i, j) + θ(j → i)
//! right(i, j)      = max over i < m ≤ j of open_right(i, m) + right(m, j)
//! left(j, i)       = max over i ≤ m < j of open_left(j, m) + left(m, i)
//! ```
//!
//! n³/3 additions for each of the two kinds. The best tree is right(0, n); if the root takes one word, its split is at r = 0 alone. Every table has stride n + 1 and is
//! indexed `[head, other end]`; complete spans are stored a second time as `[other end, head]`, so that all maxima run over contiguous numbers. No back
//! pointers are kept: the way back repeats the n maxima that the best tree is made of.
//!
//! From the scores of a word its best one is taken first. This moves all trees alike and keeps the digits that decide, in f32 as well.

use crate::Arcs;
use lineal_linalg::Scalar;

/// Tables of one thread. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart<F> {
    /// θ, `[modifier, head]`; −∞ for arcs that are not candidates.
    scores: Vec<F>,
    pub(super) right: Vec<F>,
    pub(super) left: Vec<F>,
    /// `[end, head]`
    pub(super) right_to: Vec<F>,
    pub(super) left_to: Vec<F>,
    pub(super) open_right: Vec<F>,
    pub(super) open_left: Vec<F>,
    stack: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
enum Span {
    Right(usize, usize),
    Left(usize, usize),
    Split(usize, usize),
}

impl<F: Scalar> Chart<F> {
    /// The best tree, left in `heads`. `false` if there is none.
    pub(crate) fn max(&mut self, arcs: &Arcs, theta: &[F], heads: &mut Vec<u32>) -> bool {
        let n = arcs.n_words();
        heads.clear();
        heads.resize(n, 0);
        if n == 0 {
            return true;
        }
        self.load(arcs, theta);
        self.fill(n, arcs.single_root(), max_sum);
        if self.right[n] == -F::INFINITY {
            return false;
        }
        self.follow(n, arcs.single_root(), heads);
        true
    }

    /// Places the scores of the arcs, each less the best one of its word.
    pub(super) fn load(&mut self, arcs: &Arcs, theta: &[F]) {
        let n = arcs.n_words();
        let stride = n + 1;
        let size = stride * stride;
        for table in [
            &mut self.scores,
            &mut self.right,
            &mut self.left,
            &mut self.right_to,
            &mut self.left_to,
            &mut self.open_right,
            &mut self.open_left,
        ] {
            if table.len() < size {
                table.resize(size, F::ZERO);
            }
        }
        self.scores[..size].fill(-F::INFINITY);
        for modifier in 1..=n {
            let range = arcs.range(modifier);
            let own = &theta[range.clone()];
            let top =
                own.iter().fold(-F::INFINITY, |top, &score| if score > top { score } else { top });
            for (&head, &score) in arcs.heads(modifier).iter().zip(own) {
                self.scores[modifier * stride + head as usize] = score - top;
            }
        }
    }

    /// Fills the tables. `total` is the maximum of the sums a[i] + b[i], or log Σ exp of them; −∞ for none.
    pub(super) fn fill(
        &mut self,
        n: usize,
        single_root: bool,
        mut total: impl FnMut(&[F], &[F]) -> F,
    ) {
        let s = n + 1;
        for i in 0..=n {
            for table in [&mut self.right, &mut self.left, &mut self.right_to, &mut self.left_to] {
                table[i * s + i] = F::ZERO;
            }
        }
        for j in 1..=n {
            for i in (1..j).rev() {
                let (down, up) = (self.scores[j * s + i], self.scores[i * s + j]);
                let mut split = -F::INFINITY;
                if down > split || up > split {
                    split = total(
                        &self.right[i * s + i..i * s + j],
                        &self.left[j * s + i + 1..=j * s + j],
                    );
                }
                self.open_right[i * s + j] = split + down;
                self.open_left[j * s + i] = split + up;
                let right = total(
                    &self.open_right[i * s + i + 1..=i * s + j],
                    &self.right_to[j * s + i + 1..=j * s + j],
                );
                let left = total(
                    &self.open_left[j * s + i..j * s + j],
                    &self.left_to[i * s + i..i * s + j],
                );
                (self.right[i * s + j], self.right_to[j * s + i]) = (right, right);
                (self.left[j * s + i], self.left_to[i * s + j]) = (left, left);
            }
            // The root has no head, and perhaps one modifier only.
            let splits = if single_root { 1 } else { j };
            let split = total(&self.right[..splits], &self.left[j * s + 1..=j * s + splits]);
            self.open_right[j] = split + self.scores[j * s];
            if !single_root || j == n {
                self.right[j] =
                    total(&self.open_right[1..=j], &self.right_to[j * s + 1..=j * s + j]);
            }
        }
    }

    fn follow(&mut self, n: usize, single_root: bool, heads: &mut [u32]) {
        let s = n + 1;
        self.stack.clear();
        self.stack.push(Span::Right(0, n));
        while let Some(span) = self.stack.pop() {
            match span {
                Span::Right(i, j) if i < j => {
                    let m = i
                        + 1
                        + first_max(
                            &self.open_right[i * s + i + 1..=i * s + j],
                            &self.right_to[j * s + i + 1..=j * s + j],
                        );
                    heads[m - 1] = i as u32;
                    self.stack.extend([Span::Split(i, m), Span::Right(m, j)]);
                }
                Span::Left(j, i) if i < j => {
                    let m = i + first_max(
                        &self.open_left[j * s + i..j * s + j],
                        &self.left_to[i * s + i..i * s + j],
                    );
                    heads[m - 1] = j as u32;
                    self.stack.extend([Span::Split(m, j), Span::Left(m, i)]);
                }
                Span::Split(i, j) => {
                    let splits = if i == 0 && single_root { 1 } else { j - i };
                    let r = i + first_max(
                        &self.right[i * s + i..i * s + i + splits],
                        &self.left[j * s + i + 1..j * s + i + 1 + splits],
                    );
                    self.stack.extend([Span::Right(i, r), Span::Left(j, r + 1)]);
                }
                Span::Right(..) | Span::Left(..) => {}
            }
        }
    }
}

/// max over i of a[i] + b[i], −∞ for none.
#[inline(always)]
fn max_sum<F: Scalar>(a: &[F], b: &[F]) -> F {
    const LANES: usize = 8;
    let larger = |a: F, b: F| if b > a { b } else { a };
    let mut top = [-F::INFINITY; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (a_rest, b_rest) = (a_chunks.remainder(), b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            top[lane] = larger(top[lane], a[lane] + b[lane]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(-F::INFINITY, |top, (&a, &b)| larger(top, a + b));
    top.into_iter().fold(rest, larger)
}

/// Where the largest a[i] + b[i] first stands.
fn first_max<F: Scalar>(a: &[F], b: &[F]) -> usize {
    let (mut at, mut top) = (0, -F::INFINITY);
    for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
        if a + b > top {
            (at, top) = (i, a + b);
        }
    }
    at
}
