//! Trees as lists of heads.

/// The head of the words that depend on nothing but the sentence.
pub const ROOT: u32 = 0;

/// A tree and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedTree {
    /// The head of each word.
    pub heads: Vec<u32>,
    /// The sum of the scores of its parts.
    pub score: f64,
}

/// Whether every word reaches the root.
pub fn is_tree(heads: &[u32]) -> bool {
    cycle(heads).is_none() && heads.iter().all(|&head| head as usize <= heads.len())
}

/// A word (from 1) on a cycle, if there is one. Heads beyond the sentence end a walk.
pub fn cycle(heads: &[u32]) -> Option<usize> {
    // The walk that last came by, from 1; 0 for none.
    let mut seen = vec![0; heads.len() + 1];
    for start in 1..=heads.len() {
        let mut word = start;
        while word != 0 && word <= heads.len() && seen[word] == 0 {
            seen[word] = start;
            word = heads[word - 1] as usize;
        }
        if word != 0 && word <= heads.len() && seen[word] == start {
            return Some(word);
        }
    }
    None
}

/// How many words depend on the root.
pub fn n_roots(heads: &[u32]) -> usize {
    heads.iter().filter(|&&head| head == ROOT).count()
}

/// Whether no two arcs cross, the root standing before the first word.
pub fn is_projective(heads: &[u32]) -> bool {
    let ends = |word: usize| {
        let head = heads[word - 1] as usize;
        (word.min(head), word.max(head))
    };
    (1..=heads.len()).all(|a| {
        let (start, end) = ends(a);
        (start + 1..end).all(|b| {
            let (left, right) = ends(b);
            left >= start && right <= end
        })
    })
}

/// The relation that all roots and no other words have, if there is one.
pub fn root_relation(heads: &[u32], relations: &[u32]) -> Option<u32> {
    let of_root = |is_root: bool| {
        let words = heads.iter().zip(relations);
        words.filter(move |(head, _)| (**head == ROOT) == is_root).map(|(_, relation)| *relation)
    };
    let root = of_root(true).next()?;
    (of_root(true).all(|r| r == root) && of_root(false).all(|r| r != root)).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_and_others() {
        assert!(is_tree(&[]) && is_tree(&[0]) && is_tree(&[2, 0, 2]) && is_tree(&[0, 0]));
        assert!(!is_tree(&[1]) && !is_tree(&[2, 1]) && !is_tree(&[3, 0]) && !is_tree(&[0, 3, 2]));
        assert_eq!(cycle(&[0, 3, 2]), Some(2));
        assert_eq!(n_roots(&[0, 1, 0]), 2);
    }

    #[test]
    fn crossing_arcs() {
        assert!(is_projective(&[2, 0, 4, 2]));
        // 1 ← 3 crosses 0 → 2.
        assert!(!is_projective(&[3, 0, 2]));
        assert!(!is_projective(&[0, 4, 1, 1]));
    }
}
