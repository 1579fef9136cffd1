//! The best tree, the sum over all trees, and the cost.
//!
//! Relations are chosen given the arc, so that they are folded into its score: by their maximum for the best tree, by their log-sum-exp for sums. The cost
//! is the number of wrong heads and, with joint relations, of wrong relations: a sum over arcs and labelled arcs, so that the augmented argmax adds 1
//! to the score of each wrong one.

use super::{Trees, TreesScratch};
use crate::problem::parts::Shape;
use crate::problem::{Tree, TreeKind, TreeParts};
use lineal_linalg::Scalar;
use lineal_linalg::special::softmax;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};

impl<F: Scalar> MaxOracle<F> for Trees<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut TreeParts<F>,
        ask: Ask,
        s: &mut TreesScratch<F>,
        y: &mut Tree,
    ) -> Result<Found, Infeasible> {
        match ask {
            Ask::Gold => self.gold_tree(i, y),
            Ask::Augmented => self.add_costs(i, theta),
            Ask::Plain => {}
        }
        if ask != Ask::Gold {
            self.fold_best(theta, s);
            let values = if self.spec.n_relations > 0 { &s.folded } else { &theta.values };
            let Shape { arcs, second, .. } = &*theta.shape;
            match self.spec.kind {
                TreeKind::Projective => s.projective.max(arcs, values, &mut y.heads),
                TreeKind::SecondOrder => s.second_order.max(second, values, &mut y.heads),
                TreeKind::NonProjective => s.non_projective.max(arcs, values, &mut y.heads),
            }?;
            self.read_relations(theta, s, y);
        }
        Ok(Found::exact(self.score(i, theta, y)))
    }

    fn cost(&self, i: usize, y: &Tree) -> f64 {
        let wrong =
            |y: &[u32], gold: &[u32]| y.iter().zip(gold).filter(|(y, gold)| y != gold).count();
        (wrong(&y.heads, self.heads_of(i)) + wrong(&y.relations, self.relations_of(i))) as f64
    }
}

impl<F: Scalar> SumOracle<F> for Trees<'_> {
    fn log_partition(
        &self,
        i: usize,
        theta: &TreeParts<F>,
        ask: Ask,
        s: &mut TreesScratch<F>,
    ) -> Result<f64, Infeasible> {
        if ask == Ask::Gold {
            return Ok(self.gold_score(i, theta));
        }
        self.fold_sums(theta, s, None);
        let values = if self.spec.n_relations > 0 { &s.folded } else { &theta.values };
        let Shape { arcs, second, .. } = &*theta.shape;
        match self.spec.kind {
            TreeKind::Projective => s.projective.log_partition(arcs, values),
            TreeKind::SecondOrder => s.second_order.log_partition(second, values),
            TreeKind::NonProjective => s.non_projective.log_partition(arcs, values),
        }
    }

    fn expect(
        &self,
        i: usize,
        theta: &TreeParts<F>,
        ask: Ask,
        s: &mut TreesScratch<F>,
        mu: &mut TreeParts<F>,
    ) -> Result<f64, Infeasible> {
        mu.shape = theta.shape.clone();
        mu.values.clear();
        mu.values.resize(theta.values.len(), F::ZERO);
        if ask == Ask::Gold {
            let mut gold = Tree::default();
            self.gold_tree(i, &mut gold);
            self.add_output(i, &gold, F::ONE, mu);
            return Ok(self.gold_score(i, theta));
        }
        let Shape { arcs, second, .. } = &*theta.shape;
        let n_bare = self.n_bare(&theta.shape);
        let (bare, labelled) = mu.values.split_at_mut(n_bare);
        self.fold_sums(theta, s, Some(labelled));
        let values = if self.spec.n_relations > 0 { &s.folded } else { &theta.values };
        let log_z = match self.spec.kind {
            TreeKind::Projective => s.projective.expect(arcs, values, bare),
            TreeKind::SecondOrder => s.second_order.expect(second, values, bare),
            TreeKind::NonProjective => s.non_projective.expect(arcs, values, bare),
        }?;
        for (run, &arc) in labelled.chunks_exact_mut(self.spec.n_relations.max(1)).zip(&*bare) {
            run.iter_mut().for_each(|p| *p *= arc);
        }
        Ok(log_z)
    }
}

impl Trees<'_> {
    /// The `k` best trees of sentence `i`, best first, with their scores. With joint relations each has the best ones for its arcs.
    pub fn k_best<F: Scalar>(
        &self,
        i: usize,
        theta: &TreeParts<F>,
        k: usize,
        s: &mut TreesScratch<F>,
    ) -> Result<Vec<(Tree, f64)>, Infeasible> {
        self.fold_best(theta, s);
        let values = if self.spec.n_relations > 0 { &s.folded } else { &theta.values };
        let Shape { arcs, second, .. } = &*theta.shape;
        let ranked = match self.spec.kind {
            TreeKind::Projective => s.projective.k_best(arcs, values, k),
            TreeKind::SecondOrder => s.second_order.k_best(second, values, k),
            TreeKind::NonProjective => s.non_projective.k_best(arcs, values, k),
        }?;
        let with_relations = |heads| {
            let mut tree = Tree { heads, relations: Vec::new() };
            self.read_relations(theta, s, &mut tree);
            let score = self.score(i, theta, &tree);
            (tree, score)
        };
        Ok(ranked.into_iter().map(|ranked| with_relations(ranked.heads)).collect())
    }

    fn gold_tree(&self, i: usize, y: &mut Tree) {
        Structure::<f32>::gold(self, i, y);
    }

    fn gold_score<F: Scalar>(&self, i: usize, theta: &TreeParts<F>) -> f64 {
        let mut gold = Tree::default();
        self.gold_tree(i, &mut gold);
        self.score(i, theta, &gold)
    }

    fn add_costs<F: Scalar>(&self, i: usize, theta: &mut TreeParts<F>) {
        let TreeParts { values, shape } = theta;
        let (arcs, first, n) = (&shape.arcs, self.n_bare(shape), self.spec.n_relations);
        for (m, &head) in (1..).zip(self.heads_of(i)) {
            for arc in arcs.range(m).filter(|&arc| arcs.head(arc) != head as usize) {
                values[arc] += F::ONE;
            }
        }
        if n > 0 {
            for (m, &relation) in (1..).zip(self.relations_of(i)) {
                for arc in arcs.range(m) {
                    let run = &mut values[first + arc * n..first + (arc + 1) * n];
                    let wrong = run.iter_mut().enumerate().filter(|(k, _)| *k != relation as usize);
                    wrong.for_each(|(_, value)| *value += F::ONE);
                }
            }
        }
    }

    /// Arcs with their best relation, in `s.folded` and `s.best`.
    fn fold_best<F: Scalar>(&self, theta: &TreeParts<F>, s: &mut TreesScratch<F>) {
        let n = self.spec.n_relations;
        if n == 0 {
            return;
        }
        let (bare, labelled) = theta.values.split_at(self.n_bare(&theta.shape));
        s.folded.clear();
        s.folded.extend_from_slice(bare);
        s.best.clear();
        for (arc, run) in labelled.chunks_exact(n).enumerate() {
            let best = (1..n).fold(0, |best, k| if run[k] > run[best] { k } else { best });
            s.folded[arc] += run[best];
            s.best.push(best as u32);
        }
    }

    /// The relations of a tree that was found after [`fold_best`](Self::fold_best).
    fn read_relations<F: Scalar>(&self, theta: &TreeParts<F>, s: &TreesScratch<F>, y: &mut Tree) {
        y.relations.clear();
        if self.spec.n_relations > 0 {
            let arcs = theta.shape.arcs.of_tree(&y.heads);
            y.relations.extend(arcs.map(|arc| arc.map_or(0, |arc| s.best[arc])));
        }
    }

    /// Arcs with the log-sum-exp of their relations, in `s.folded`; the shares of relations given the arc in `shares`.
    fn fold_sums<F: Scalar>(
        &self,
        theta: &TreeParts<F>,
        s: &mut TreesScratch<F>,
        shares: Option<&mut [F]>,
    ) {
        let n = self.spec.n_relations;
        if n == 0 {
            return;
        }
        let (bare, labelled) = theta.values.split_at(self.n_bare(&theta.shape));
        s.folded.clear();
        s.folded.extend_from_slice(bare);
        match shares {
            Some(shares) => {
                let runs = labelled.chunks_exact(n).zip(shares.chunks_exact_mut(n));
                for (arc, (run, shares)) in runs.enumerate() {
                    s.folded[arc] += softmax(run, shares);
                }
            }
            None => {
                s.run.resize(n, F::ZERO);
                for (arc, run) in labelled.chunks_exact(n).enumerate() {
                    s.folded[arc] += softmax(run, &mut s.run[..n]);
                }
            }
        }
    }
}
