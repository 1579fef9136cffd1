//! Trees as brackets over words: what comes in, and what goes out.

use thiserror::Error;

/// A labelled span of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Its label, without function tags if these are not to be learnt.
    pub label: String,
    /// The first word, from 0.
    pub start: u32,
    /// One after the last word.
    pub end: u32,
}

impl Phrase {
    /// A labelled span of words.
    pub fn new(label: &str, start: u32, end: u32) -> Self {
        Self { label: label.into(), start, end }
    }
}

/// The phrases over the words of a sentence, each before those inside it. Parts of speech are not among them: they are given with the words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    n_words: usize,
    phrases: Vec<Phrase>,
}

/// Why brackets are not a tree. Phrases and words count from 0.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeError {
    /// A phrase without words, or with words that the sentence does not have.
    #[error("phrase {phrase} has no words of the sentence")]
    Words {
        /// Which phrase.
        phrase: usize,
    },
    /// A phrase that overlaps another without being inside it, or comes after one that is inside it.
    #[error("phrase {phrase} is not inside those that were opened before it")]
    Order {
        /// Which phrase.
        phrase: usize,
    },
    /// Several words without a phrase over all of them.
    #[error("no phrase has all words of the sentence")]
    Top,
}

impl Tree {
    /// The tree with these phrases, outer ones before inner ones and earlier ones before later ones.
    ///
    /// ```
    /// use lineal_constituents::{Phrase, Tree};
    ///
    /// // (S (NP dogs) bark)
    /// let tree = Tree::new(2, vec![Phrase::new("S", 0, 2), Phrase::new("NP", 0, 1)])?;
    /// assert_eq!(tree.phrases().len(), 2);
    /// assert!(Tree::new(2, vec![Phrase::new("NP", 0, 1)]).is_err());
    /// # Ok::<(), lineal_constituents::TreeError>(())
    /// ```
    pub fn new(n_words: usize, phrases: Vec<Phrase>) -> Result<Self, TreeError> {
        let mut open: Vec<&Phrase> = Vec::new();
        for (at, phrase) in phrases.iter().enumerate() {
            if phrase.start >= phrase.end || phrase.end as usize > n_words {
                return Err(TreeError::Words { phrase: at });
            }
            while open.last().is_some_and(|last| last.end <= phrase.start) {
                open.pop();
            }
            match open.last() {
                Some(last) if last.start > phrase.start || last.end < phrase.end => {
                    return Err(TreeError::Order { phrase: at });
                }
                None if at > 0 || (phrase.start, phrase.end as usize) != (0, n_words) => {
                    return Err(TreeError::Top);
                }
                _ => open.push(phrase),
            }
        }
        if phrases.is_empty() && n_words > 1 {
            return Err(TreeError::Top);
        }
        Ok(Self { n_words, phrases })
    }

    /// How many words.
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// The phrases, each before those inside it.
    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(n_words: usize, phrases: &[(u32, u32)]) -> Result<Tree, TreeError> {
        Tree::new(
            n_words,
            phrases.iter().map(|&(start, end)| Phrase::new("X", start, end)).collect(),
        )
    }

    #[test]
    fn brackets_must_nest_in_order() {
        assert!(tree(3, &[(0, 3), (0, 3), (0, 2), (0, 1), (2, 3)]).is_ok());
        assert!(tree(1, &[]).is_ok() && tree(0, &[]).is_ok());
        assert_eq!(tree(2, &[]), Err(TreeError::Top));
        assert_eq!(tree(3, &[(0, 2), (2, 3)]), Err(TreeError::Top));
        assert_eq!(tree(3, &[(0, 3), (0, 2), (1, 3)]), Err(TreeError::Order { phrase: 2 }));
        assert_eq!(tree(3, &[(0, 3), (1, 2), (0, 2)]), Err(TreeError::Order { phrase: 2 }));
        assert_eq!(tree(3, &[(0, 3), (1, 1)]), Err(TreeError::Words { phrase: 1 }));
        assert_eq!(tree(3, &[(0, 4)]), Err(TreeError::Words { phrase: 0 }));
    }
}
