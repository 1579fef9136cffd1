//! Every sentence gets a tree, also where the grammar has none.

use crate::enumeration::Fixture;
use lineal_constituents::features::{Sentences, Templates};
use lineal_constituents::problem::{Candidates, Constituents, Known};
use lineal_constituents::{Derivation, Grammar, GrammarSpec, Phrase, Tree};
use lineal_model::structure::{Ask, MaxOracle, Structure};

#[test]
fn every_sentence_gets_a_tree() {
    for fixture in Fixture::all() {
        let branching = fixture.grammar.spec().branching;
        let tags = ["x", "p p", "p x p v", "d d d d d d d", "n v d n p n v d n p", ""];
        let mut sentences = Sentences::new(&fixture.templates);
        let (mut candidates, mut known) = (Candidates::default(), Vec::new());
        for tags in tags {
            let tags: Vec<&str> = tags.split_whitespace().collect();
            sentences.push(&fixture.templates, &fixture.grammar, &tags, &tags);
            let brackets: &[(u32, u32, Option<&str>)] = match tags.len() {
                0 => &[],
                4 => &[(1, 3, Some("V")), (1, 2, None)],
                n if n > 4 => &[(1, 4, Some("N")), (1, 3, None), (4, 5, Some("S"))],
                _ => &[(0, 1, Some("N"))],
            };
            known.push(Known::new(&fixture.grammar, tags.len(), brackets).unwrap());
            candidates.push(tags.len(), branching, &known[known.len() - 1], []);
        }
        let none = vec![Known::default(); known.len()];
        for (known, candidates) in
            [(&none, None), (&none, Some(&candidates)), (&known, None), (&known, Some(&candidates))]
        {
            let problem =
                Constituents::new(&fixture.grammar, &fixture.templates, &sentences, candidates, 10)
                    .with_known(known);
            let w = vec![0.0f32; Structure::<f32>::dim(&problem)];
            let (mut scratch, mut theta) =
                (Structure::<f32>::scratch(&problem), Default::default());
            for (i, tags) in tags.iter().enumerate() {
                let n = tags.split_whitespace().count();
                let mut y = Derivation::default();
                problem.scores(i, &w, 1.0, &mut scratch, &mut theta);
                problem.argmax(i, &mut theta, Ask::Plain, &mut scratch, &mut y).unwrap();
                assert_eq!(y.nodes.len(), (2 * n).saturating_sub(1));
                let tree = fixture.grammar.restore(&y);
                assert_eq!(tree.n_words(), n);
                if known.iter().any(|known| !known.is_empty()) && n > 4 {
                    for (start, end, label) in [(1, 4, Some("N")), (1, 3, None), (4, 5, Some("S"))]
                    {
                        assert!(tree.phrases().iter().any(|p| (p.start, p.end) == (start, end)
                            && label.is_none_or(|label| label == p.label)));
                    }
                }
                let best = problem.k_best(i, &theta, 3, &mut scratch).unwrap();
                assert!(!best.is_empty());
            }
        }
    }
}

#[test]
fn a_grammar_without_rests_has_a_fallback() {
    let tree = Tree::new(2, vec![Phrase::new("S", 0, 2)]).unwrap();
    let grammar = Grammar::read([(&tree, &["a", "b"][..])].into_iter(), GrammarSpec::default());
    assert!(!grammar.symbols().iter().any(|symbol| symbol.is_rest()));
    let templates = Templates::built_in();
    let mut sentences = Sentences::new(&templates);
    let tags = vec!["q"; 30];
    sentences.push(&templates, &grammar, &tags, &tags);
    let problem = Constituents::new(&grammar, &templates, &sentences, None, 8);
    let w = vec![0.5f32; Structure::<f32>::dim(&problem)];
    let (mut scratch, mut theta) = (Structure::<f32>::scratch(&problem), Default::default());
    problem.scores(0, &w, 1.0, &mut scratch, &mut theta);
    let mut y = Derivation::default();
    problem.argmax(0, &mut theta, Ask::Plain, &mut scratch, &mut y).unwrap();
    // A phrase over each two words or more, and one over each word, since all weights are positive.
    assert_eq!(grammar.restore(&y).phrases().len(), 59);
}
