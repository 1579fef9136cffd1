//! Answers to problems that were met before: the same shape, the same scores, the same known labels.

use crate::inference::{Domains, Program, Solution};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Problems with more scores than this are not kept.
const LARGEST: usize = 20_000;
/// Scores of all problems that are kept, 32 MB of them.
const MOST_SCORES: usize = 4_000_000;

/// Answers by problem, for any number of threads. An answer that is found here is the one that would be found again.
#[derive(Debug, Default)]
pub struct AnswerCache {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    by_hash: HashMap<u64, Vec<Entry>>,
    n_scores: usize,
    n_hits: usize,
}

#[derive(Debug)]
struct Entry {
    program: Arc<Program>,
    theta: Vec<f64>,
    domains: Option<Domains>,
    max_nodes: usize,
    solution: Solution,
}

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub program: &'a Arc<Program>,
    pub theta: &'a [f64],
    pub domains: Option<&'a Domains>,
    pub max_nodes: usize,
}

impl Question<'_> {
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.theta.iter().for_each(|score| score.to_bits().hash(&mut hasher));
        (self.program.n_variables(), self.max_nodes, self.domains.is_some()).hash(&mut hasher);
        hasher.finish()
    }

    fn is(&self, entry: &Entry) -> bool {
        let bits = |theta: &[f64]| theta.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
        (Arc::ptr_eq(self.program, &entry.program) || self.program.is_same(&entry.program))
            && self.max_nodes == entry.max_nodes
            && self.domains == entry.domains.as_ref()
            && bits(self.theta) == bits(&entry.theta)
    }
}

impl AnswerCache {
    /// How many answers were found here.
    pub fn n_hits(&self) -> usize {
        self.lock().n_hits
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, if it is here; otherwise the one that `solve` finds, kept for the next time.
    pub(super) fn answer<E>(
        &self,
        question: Question<'_>,
        solve: impl FnOnce() -> Result<Solution, E>,
    ) -> Result<Solution, E> {
        if question.theta.len() > LARGEST {
            return solve();
        }
        let hash = question.hash();
        {
            let mut inner = self.lock();
            let entries = inner.by_hash.get(&hash).into_iter().flatten();
            let known = entries.into_iter().find(|entry| question.is(entry));
            if let Some(solution) = known.map(|entry| entry.solution.clone()) {
                inner.n_hits += 1;
                return Ok(solution);
            }
        }
        let solution = solve()?;
        let mut inner = self.lock();
        if inner.n_scores + question.theta.len() > MOST_SCORES {
            inner.by_hash.clear();
            inner.n_scores = 0;
        }
        inner.n_scores += question.theta.len();
        inner.by_hash.entry(hash).or_default().push(Entry {
            program: question.program.clone(),
            theta: question.theta.to_vec(),
            domains: question.domains.cloned(),
            max_nodes: question.max_nodes,
            solution: solution.clone(),
        });
        Ok(solution)
    }
}
