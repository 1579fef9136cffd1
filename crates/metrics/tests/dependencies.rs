//! Dependency metrics: cases counted by hand, and what holds for any trees.

use lineal_metrics::{
    DependencyMetrics, Error, NOT_ANNOTATED, ParsedTrees, RelationScores, dependencies,
};
use proptest::prelude::*;

const NONE: u32 = NOT_ANNOTATED;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Two sentences of 4 and 2 words; the relations are det, nsubj, root, punct and, unseen in training, flat.
fn sample(change: impl FnOnce(&mut ParsedTrees<'_>)) -> Result<DependencyMetrics, Error> {
    let relations = names(&["det", "nsubj", "root", "punct", "flat"]);
    let mut trees = ParsedTrees {
        start: &[0, 4, 6],
        gold_heads: &[2, 3, 0, 3, 2, 0],
        gold_deprels: &[0, 1, 2, 3, 4, 2],
        heads: &[2, 3, 0, 2, 0, 1],
        deprels: &[0, 0, 2, 3, 2, 1],
        relations: &relations,
        n_known: 4,
        is_punct: Some(&[false, false, false, true, false, false]),
    };
    change(&mut trees);
    dependencies(&trees)
}

#[test]
fn counted_by_hand() {
    let m = sample(|_| {}).unwrap();
    // Right heads: words 1, 2, 3 of the first sentence. Right relations: det, root, punct there. Both: det and root.
    assert_eq!((m.sentences, m.tokens, m.unseen), (2, 6, 1));
    assert_eq!(m.uas, 3.0 / 6.0);
    assert_eq!((m.las, m.label_accuracy), (Some(2.0 / 6.0), Some(3.0 / 6.0)));
    assert_eq!((m.uas_no_punct, m.las_no_punct), (Some(3.0 / 5.0), Some(2.0 / 5.0)));
    assert_eq!((m.exact, m.root_accuracy), (Some(0.0), Some(0.5)));
    let scores = |name: &str| {
        let RelationScores { gold, found, right, .. } = m.by_relation[name];
        (gold, found, right)
    };
    assert_eq!(m.by_relation.keys().collect::<Vec<_>>(), ["det", "flat", "nsubj", "punct", "root"]);
    assert_eq!(scores("det"), (1, 2, 1));
    assert_eq!(scores("flat"), (1, 0, 0));
    assert_eq!(scores("nsubj"), (1, 1, 0));
    assert_eq!(scores("punct"), (1, 1, 0));
    assert_eq!(scores("root"), (2, 2, 1));
    let det = m.by_relation["det"];
    assert_eq!((det.precision, det.recall, det.f1), (0.5, 1.0, 2.0 / 3.0));
    assert_eq!(m.by_relation["flat"].f1, 0.0);
    // Gold lengths 1 1 – 1 1 –, predicted 1 1 – 2 – 1.
    let lengths: Vec<_> =
        m.by_length.iter().map(|b| (b.from, b.to, b.gold, b.found, b.right)).collect();
    assert_eq!(
        lengths,
        [(1, Some(1), 4, 3, 2), (2, Some(2), 0, 1, 0), (3, Some(6), 0, 0, 0), (7, None, 0, 0, 0)]
    );
    assert_eq!((m.by_length[0].precision, m.by_length[0].recall), (Some(2.0 / 3.0), Some(0.5)));
    assert_eq!((m.by_length[1].precision, m.by_length[1].recall), (Some(0.0), None));
    let short = m.by_sentence_length[0];
    assert_eq!(
        (short.from, short.to, short.sentences, short.tokens, short.uas),
        (1, Some(10), 2, 6, 0.5)
    );
    assert_eq!(m.by_sentence_length.len(), 1);
}

#[test]
fn words_without_a_gold_head_are_not_counted() {
    let m = sample(|trees| trees.gold_heads = &[2, NONE, 0, NONE, NONE, NONE]).unwrap();
    assert_eq!((m.uas, m.las, m.tokens, m.sentences), (1.0, Some(1.0), 2, 1));
    assert_eq!((m.exact, m.by_relation.len()), (None, 2));
    let m = sample(|trees| trees.gold_deprels = &[NONE; 6]).unwrap();
    assert_eq!((m.uas, m.las, m.label_accuracy, m.las_no_punct), (0.5, None, None, None));
    assert!(m.by_relation.is_empty());
    assert_eq!(sample(|trees| trees.gold_heads = &[NONE; 6]), Err(Error::Empty));
    let m = sample(|trees| trees.deprels = &[NONE; 6]).unwrap();
    assert_eq!((m.las, m.by_relation["root"].found), (Some(0.0), 0));
    let m = sample(|trees| trees.is_punct = None).unwrap();
    assert_eq!((m.uas_no_punct, m.las_no_punct), (None, None));
}

#[test]
fn whole_trees_are_right_with_their_relations() {
    let m = sample(|trees| trees.heads = trees.gold_heads).unwrap();
    assert_eq!((m.uas, m.exact, m.root_accuracy), (1.0, Some(0.0), Some(1.0)));
    let m = sample(|trees| (trees.heads, trees.deprels) = (trees.gold_heads, trees.gold_deprels))
        .unwrap();
    assert_eq!((m.las, m.exact), (Some(1.0), Some(1.0)));
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    assert!(matches!(sample(|trees| trees.start = &[0, 4]), Err(Error::Lists { .. })));
    assert!(matches!(sample(|trees| trees.start = &[]), Err(Error::Lists { .. })));
    assert!(matches!(sample(|trees| trees.start = &[0, 5, 4, 6]), Err(Error::Lists { .. })));
    assert!(matches!(sample(|trees| trees.heads = &[0]), Err(Error::Length { .. })));
    assert!(matches!(sample(|trees| trees.is_punct = Some(&[])), Err(Error::Length { .. })));
    let error = sample(|trees| trees.deprels = &[0, 9, 0, 0, 0, 0]).unwrap_err();
    assert!(matches!(error, Error::Label { row: 2, label: 9, .. }));
}

#[test]
fn json_has_the_names_of_eval() {
    let json = serde_json::to_value(sample(|_| {}).unwrap()).unwrap();
    for name in
        ["uas", "las", "label_accuracy", "uas_no_punct", "las_no_punct", "exact", "root_accuracy"]
    {
        assert!(json[name].is_f64(), "{name}: {json}");
    }
    assert_eq!(json["by_relation"]["det"]["found"], 2);
    assert_eq!(json["by_length"][3]["from"], 7);
    assert!(json["by_length"][3]["to"].is_null() && json["by_sentence_length"][0]["uas"].is_f64());
}

/// Gold head, gold relation, head, relation, and whether it is punctuation.
type Word = (u32, u32, u32, u32, bool);

fn trees() -> impl Strategy<Value = Vec<Vec<Word>>> {
    let head = || prop_oneof![9 => 0..50u32, 1 => Just(NONE)];
    let gold_deprel = prop_oneof![9 => 0..4u32, 1 => Just(NONE)];
    let word = (head(), gold_deprel, head(), 0..3u32, any::<bool>());
    prop::collection::vec(prop::collection::vec(word, 1..50), 1..8)
}

proptest! {
    #[test]
    fn counts_of_parts_add_up(mut sentences in trees()) {
        sentences[0][0].0 = 0;
        let words: Vec<_> = sentences.concat();
        let mut start = vec![0];
        sentences.iter().for_each(|s| start.push(start[start.len() - 1] + s.len()));
        let column = |f: fn(&Word) -> u32| words.iter().map(f).collect::<Vec<_>>();
        let relations = names(&["a", "b", "c", "d"]);
        let is_punct: Vec<bool> = words.iter().map(|w| w.4).collect();
        let m = dependencies(&ParsedTrees {
            start: &start,
            gold_heads: &column(|w| w.0),
            gold_deprels: &column(|w| w.1),
            heads: &column(|w| w.2),
            deprels: &column(|w| w.3),
            relations: &relations,
            n_known: 3,
            is_punct: Some(&is_punct),
        }).unwrap();
        let counted: Vec<_> = words.iter().filter(|w| w.0 != NONE).collect();
        let right = counted.iter().filter(|w| w.0 == w.2).count() as u64;
        prop_assert_eq!(m.tokens, counted.len() as u64);
        prop_assert_eq!(m.uas, right as f64 / m.tokens as f64);
        let labelled: Vec<_> = counted.iter().filter(|w| w.1 != NONE).collect();
        let both = labelled.iter().filter(|w| (w.0, w.1) == (w.2, w.3)).count() as u64;
        prop_assert_eq!(m.las.is_none(), labelled.is_empty());
        prop_assert!((m.las.unwrap_or(0.0) * labelled.len() as f64 - both as f64).abs() < 1e-9);
        let sum = |f: fn(&RelationScores) -> u64| m.by_relation.values().map(f).sum::<u64>();
        prop_assert_eq!(sum(|s| s.gold), labelled.len() as u64);
        prop_assert_eq!(sum(|s| s.found), labelled.len() as u64);
        prop_assert_eq!(sum(|s| s.right), both);
        let roots_right = counted.iter().filter(|w| w.0 == 0 && w.2 == 0).count() as u64;
        prop_assert_eq!(m.by_length.iter().map(|b| b.right).sum::<u64>() + roots_right, right);
        prop_assert_eq!(m.by_sentence_length.iter().map(|b| b.tokens).sum::<u64>(), m.tokens);
        prop_assert_eq!(m.by_sentence_length.iter().map(|b| b.sentences).sum::<u64>(), m.sentences);
        let mean: f64 = m.by_sentence_length.iter().map(|b| b.uas * b.tokens as f64).sum();
        prop_assert!((mean - right as f64).abs() < 1e-9);
    }
}
