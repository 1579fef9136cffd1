//! A trained parser: candidates, the best tree over them, its relations, and how sure they are.
//!
//! [`Parser`] borrows the weights of the three [problems](crate::problem) and runs them one after the other on some sentences. What a user allows or forbids comes
//! as one function of sentence, word and head. Where pruning and the user exclude each other, all heads that the user allows are candidates; in long sentences of second order, those of the best tree of arcs.

mod explain;
mod prune;

pub use explain::ArcExplanation;
pub use prune::{best_trees, prune};

use crate::features::{Sentences, Templates};
use crate::problem::{
    Candidates, Heads, PruneSpec, Relations, Tree, TreeKind, TreeParts, TreeSpec, Trees,
    TreesScratch,
};
use crate::{NonProjective, Projective};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Infeasible, MaxOracle, Structure, SumOracle};
use prune::{all_heads, pruned};

/// The weights of a parser, and what they mean.
#[derive(Clone, Copy, Debug)]
pub struct Parser<'m> {
    /// What features read.
    pub templates: &'m Templates,
    /// Which trees there are.
    pub spec: TreeSpec,
    /// The weights of the trees.
    pub trees: &'m [f32],
    /// The weights of [`Heads`], and how many heads they leave; all without.
    pub pruner: Option<(&'m [f32], PruneSpec)>,
    /// The weights of [`Relations`], where relations are not found together with the trees.
    pub relations: Option<&'m [f32]>,
    /// How many relations there are.
    pub n_relations: usize,
    /// The relation that all roots and no other words have, if there is one.
    pub root: Option<u32>,
}

/// What to find beside the best tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseAsk {
    /// Probabilities: of each candidate arc, and of the whole tree.
    pub proba: bool,
    /// Probabilities of the trees that are listed.
    pub n_best_proba: bool,
    /// The number of best trees to list.
    pub n_best: usize,
    /// Take the tree with the most heads expected to be right, in place of the likeliest one.
    pub min_risk: bool,
}

/// Whether a word of a sentence may have a head: `allowed(sentence, word, head)`, with the word from 0, and 0 for the root.
pub type Allowed<'a> = dyn Fn(usize, usize, u32) -> bool + Sync + 'a;

/// The tree of a sentence, with what was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The head of each word; 0 is the root.
    pub heads: Vec<u32>,
    /// The relation of each word to its head.
    pub relations: Vec<u32>,
    /// The score of the tree; the logarithm of its probability, up to a constant of the sentence, where the model has probabilities.
    pub score: f64,
    /// The probability of the tree, if asked for: of its heads, and of its relations as well where these are found together with the heads.
    pub probability: Option<f64>,
    /// For each word the candidate heads with their probabilities, if asked for.
    pub arcs: Option<Vec<Vec<(u32, f64)>>>,
    /// The best trees, if asked for.
    pub n_best: Vec<RankedParse>,
    /// Parts of speech that were found on the way, where a tagger came first.
    pub tags: Option<Vec<String>>,
}

/// One of the best trees.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedParse {
    /// The head of each word.
    pub heads: Vec<u32>,
    /// The relation of each word.
    pub relations: Vec<u32>,
    /// Its score.
    pub score: f64,
    /// Its probability, where the model has any.
    pub probability: Option<f64>,
}

impl Parsed {
    /// The probability of the arc that a word (from 0) got, if probabilities were asked for.
    pub fn arc_probability(&self, word: usize) -> Option<f64> {
        let arcs = &self.arcs.as_ref()?[word];
        arcs.iter().find(|(head, _)| *head == self.heads[word]).map(|(_, p)| *p)
    }

    /// The tree and its rivals: heads, and relations to change.
    pub fn trees_mut(&mut self) -> impl Iterator<Item = (&[u32], &mut Vec<u32>)> {
        let ranked = self.n_best.iter_mut().map(|tree| (&tree.heads[..], &mut tree.relations));
        [(&self.heads[..], &mut self.relations)].into_iter().chain(ranked)
    }
}

impl<'m> Parser<'m> {
    /// The tree of each sentence, in one thread. `trees` are the weights of the trees, in the precision that the answers need. An error names the sentence.
    pub fn parse<F: Scalar>(
        &self,
        sentences: &Sentences,
        trees: &[F],
        allowed: Option<&Allowed<'_>>,
        ask: &ParseAsk,
    ) -> Result<Vec<Parsed>, (usize, Infeasible)> {
        let candidates = self.candidates(sentences, allowed);
        let problem = Trees::new(self.templates, sentences, candidates.as_ref(), self.spec);
        let mut s = Structure::<F>::scratch(&problem);
        let mut parsed = Vec::with_capacity(sentences.len());
        for i in 0..sentences.len() {
            let found = self.tree(sentences, &problem, &mut s, i, trees, ask).or_else(|found| {
                let Some(left) = &candidates else { return Err(found) };
                let wider = self.widened(sentences, left, i, trees, allowed)?;
                let problem = Trees::new(self.templates, sentences, Some(&wider), self.spec);
                let s = &mut Structure::<F>::scratch(&problem);
                self.tree(sentences, &problem, s, i, trees, ask)
            });
            parsed.push(found.map_err(|found| (i, found))?);
        }
        if let Some(weights) = self.relations {
            self.label(sentences, weights, &mut parsed);
        }
        Ok(parsed)
    }

    /// The heads to choose from: those that pruning leaves and the user allows. None where all are.
    fn candidates(
        &self,
        sentences: &Sentences,
        allowed: Option<&Allowed<'_>>,
    ) -> Option<Candidates> {
        let left = self.pruner.map(|(weights, spec)| {
            let bits = weights.len().trailing_zeros();
            pruned(&Heads::new(self.templates, sentences, bits), weights, spec, 0..sentences.len())
        });
        let Some(allowed) = allowed else { return left };
        let mut kept = Candidates::default();
        for i in 0..sentences.len() {
            let n = sentences.words(i).len();
            for (t, word) in sentences.words(i).enumerate() {
                let is_allowed = |head: &u32| allowed(i, t, *head);
                match &left {
                    Some(left) => {
                        kept.push(left.heads(word).iter().copied().filter(is_allowed));
                    }
                    None => kept.push(all_heads(n, t).filter(is_allowed)),
                }
            }
        }
        Some(kept)
    }

    /// Candidates of a sentence in which `left` has no tree: all heads that are allowed or, where so many would take too much memory, those of the best tree of
    /// arcs beside what was left.
    fn widened<F: Scalar>(
        &self,
        sentences: &Sentences,
        left: &Candidates,
        i: usize,
        w: &[F],
        allowed: Option<&Allowed<'_>>,
    ) -> Result<Candidates, Infeasible> {
        let all = self.only(sentences, i, |t, head| allowed.is_none_or(|f| f(i, t, head)));
        let words = sentences.words(i);
        if words.len() <= self.spec.longest(false) {
            return Ok(all);
        }
        let spec = TreeSpec { kind: TreeKind::Projective, ..self.spec };
        let problem = Trees::new(self.templates, sentences, Some(&all), spec);
        let (mut s, mut theta) = (Structure::<F>::scratch(&problem), TreeParts::default());
        let mut tree = Tree::default();
        problem.scores(i, w, F::ONE, &mut s, &mut theta);
        problem.argmax(i, &mut theta, Ask::Plain, &mut s, &mut tree)?;
        let is_kept = |t: usize, head: u32| {
            tree.heads[t] == head || left.heads(words.start + t).contains(&head)
        };
        Ok(self.only(sentences, i, is_kept))
    }

    /// Candidates of one sentence among several: the others have none, and must not be asked for.
    fn only(
        &self,
        sentences: &Sentences,
        i: usize,
        keep: impl Fn(usize, u32) -> bool,
    ) -> Candidates {
        let mut only = Candidates::default();
        let words = sentences.words(i);
        for word in 0..sentences.n_words() {
            match words.contains(&word) {
                true => {
                    let t = word - words.start;
                    only.push(all_heads(words.len(), t).filter(|&head| keep(t, head)));
                }
                false => only.push([]),
            }
        }
        only
    }

    /// The tree of a sentence, with relations only where they are found together with the heads.
    fn tree<F: Scalar>(
        &self,
        sentences: &Sentences,
        problem: &Trees<'_>,
        s: &mut TreesScratch<F>,
        i: usize,
        w: &[F],
        ask: &ParseAsk,
    ) -> Result<Parsed, Infeasible> {
        let (mut theta, mut mu) = (TreeParts::default(), TreeParts::default());
        problem.scores(i, w, F::ONE, s, &mut theta);
        let log_z = match ask.proba || ask.min_risk || (ask.n_best > 0 && ask.n_best_proba) {
            true => Some(problem.expect(i, &theta, Ask::Plain, s, &mut mu)?),
            false => None,
        };
        let mut tree = Tree::default();
        match ask.min_risk {
            false => {
                problem.argmax(i, &mut theta, Ask::Plain, s, &mut tree)?;
            }
            true => {
                let heads = min_risk(&mu, self.spec.kind.is_projective())?;
                // The best relations of these arcs: the best tree where there are no others.
                let only = self.only(sentences, i, |t, head| heads[t] == head);
                let problem = Trees::new(self.templates, sentences, Some(&only), self.spec);
                let (s, theta) =
                    (&mut Structure::<F>::scratch(&problem), &mut TreeParts::default());
                problem.scores(i, w, F::ONE, s, theta);
                problem.argmax(i, theta, Ask::Plain, s, &mut tree)?;
            }
        }
        let score = problem.score(i, &theta, &tree);
        let probability = |score: f64| log_z.map(|z| (score - z).exp().min(1.0));
        let mut n_best = Vec::new();
        if ask.n_best > 0 {
            for (tree, score) in problem.k_best(i, &theta, ask.n_best, s)? {
                let (probability, Tree { heads, relations }) = (probability(score), tree);
                n_best.push(RankedParse { heads, relations, score, probability });
            }
        }
        let Tree { heads, relations } = tree;
        let probability = probability(score).filter(|_| ask.proba);
        let arcs = ask.proba.then(|| marginals(&mu, heads.len()));
        Ok(Parsed { heads, relations, score, probability, arcs, n_best, tags: None })
    }

    /// Gives the trees their relations, the best ones first.
    fn label(&self, sentences: &Sentences, weights: &[f32], parsed: &mut [Parsed]) {
        let most = parsed.iter().map(|tree| tree.n_best.len()).max().unwrap_or(0);
        for rank in 0..=most {
            // Where a sentence has fewer trees its best one stands in, and what comes of it is dropped.
            let heads = parsed.iter_mut().flat_map(|tree| {
                let best = tree.heads.clone();
                tree.trees_mut().nth(rank).map_or(best, |(heads, _)| heads.to_vec())
            });
            let heads: Vec<u32> = heads.collect();
            let found = self.relations_of(sentences, weights, &heads);
            for (i, tree) in parsed.iter_mut().enumerate() {
                if let Some((_, relations)) = tree.trees_mut().nth(rank) {
                    *relations = found[sentences.words(i)].to_vec();
                }
            }
        }
    }

    /// The relation of each word in a tree for each sentence.
    fn relations_of(&self, sentences: &Sentences, weights: &[f32], heads: &[u32]) -> Vec<u32> {
        let bits = weights.len().trailing_zeros();
        let problem = Relations::new(self.templates, sentences, heads, self.n_relations, bits);
        let mut theta = Vec::new();
        let relation = |(word, &head): (usize, &u32)| {
            let mut y = 0;
            problem.scores(word, weights, 1.0, &mut (), &mut theta);
            match self.root {
                Some(root) if head == 0 => return root,
                // With one relation in all there is no other to give.
                Some(root) if self.n_relations > 1 => theta[root as usize] = f32::NEG_INFINITY,
                _ => {}
            }
            // A word has one of the relations whatever the scores: there is always a best one.
            let _ = problem.argmax(word, &mut theta, Ask::Plain, &mut (), &mut y);
            y
        };
        heads.iter().enumerate().map(relation).collect()
    }
}

/// The probability of each candidate arc, by word.
fn marginals<F: Scalar>(mu: &TreeParts<F>, n: usize) -> Vec<Vec<(u32, f64)>> {
    let arcs = mu.arcs();
    let of_word = |m: usize| {
        let p = |arc: usize| mu.values[arc].to_f64().clamp(0.0, 1.0);
        arcs.range(m).map(|arc| (arcs.head(arc) as u32, p(arc))).collect()
    };
    (1..=n).map(of_word).collect()
}

/// The tree with the most heads expected to be right.
fn min_risk<F: Scalar>(mu: &TreeParts<F>, is_projective: bool) -> Result<Vec<u32>, Infeasible> {
    let (mut heads, amounts) = (Vec::new(), &mu.values[..mu.arcs().len()]);
    match is_projective {
        true => Projective::default().max(mu.arcs(), amounts, &mut heads)?,
        false => NonProjective::default().max(mu.arcs(), amounts, &mut heads)?,
    };
    Ok(heads)
}
