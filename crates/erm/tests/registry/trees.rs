//! Dependency trees of up to four words for the registry: every kind of them, and the relations of known ones.

use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::problem::{Heads, Relations, Tree, TreeKind, TreeSpec, Trees};
use lineal_dependencies::tree::{is_projective, is_tree, n_roots};
use lineal_model::structure::{Ask, Structure};

const TEMPLATES: &str = "
[heads]
h.upos m.upos
m.form
[arcs]
h.upos m.upos
h.form m.form
[siblings]
h.form s.form m.form
[grandparents]
g.form h.form m.form
[labels]
h.upos m.upos
[relations]
h.upos m.upos
m.form
";

const SENTENCES: [&str; 6] = [
    "she P saw V the D dog N",
    "dogs N bark V",
    "the D old A dog N barks V",
    "saw V she P",
    "bark V",
    "cats N saw V a D tree N",
];
const HEADS: [u32; 17] = [2, 0, 4, 2, 2, 0, 3, 3, 4, 0, 0, 1, 0, 2, 0, 4, 2];
const RELATIONS: [u32; 17] = [0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0];
const BITS: u32 = 9;

fn with_sentences<R>(run: impl FnOnce(&Templates, &Sentences) -> R) -> R {
    let templates = Templates::parse(TEMPLATES, &["form", "upos"]).unwrap();
    let cells: Vec<Vec<&str>> = SENTENCES.iter().map(|s| s.split(' ').collect()).collect();
    let sentences = Sentences::hash(&templates, cells.iter().map(Vec::as_slice));
    run(&templates, &sentences)
}

pub fn with_trees(kind: TreeKind, n_relations: usize, run: &mut dyn FnMut(&Trees<'_>)) {
    with_sentences(|templates, sentences| {
        let spec = TreeSpec { kind, single_root: true, n_relations, bits: BITS };
        let relations = if n_relations > 0 { &RELATIONS[..] } else { &[] };
        run(&Trees::new(templates, sentences, None, spec).with_gold(&HEADS, relations));
    });
}

pub fn with_heads(run: &mut dyn FnMut(&Heads<'_>)) {
    with_sentences(|templates, sentences| {
        run(&Heads::new(templates, sentences, BITS).with_gold(&HEADS));
    });
}

pub fn with_relations(run: &mut dyn FnMut(&Relations<'_>)) {
    with_sentences(|templates, sentences| {
        run(&Relations::new(templates, sentences, &HEADS, 2, BITS).with_gold(&RELATIONS));
    });
}

/// Every way to give each of `n` words one of the others or the root.
fn all_heads(n: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for m in 1..=n as u32 {
        let choices = || (0..=n as u32).filter(move |&h| h != m);
        all = all
            .iter()
            .flat_map(|y: &Vec<u32>| choices().map(|h| [&y[..], &[h]].concat()).collect::<Vec<_>>())
            .collect();
    }
    all
}

fn all_relations(n: usize, k: usize) -> Vec<Vec<u32>> {
    if k == 0 {
        return vec![Vec::new()];
    }
    let digit = |number: usize, t: usize| (number / k.pow(t as u32) % k) as u32;
    (0..k.pow(n as u32)).map(|number| (0..n).map(|t| digit(number, t)).collect()).collect()
}

/// All trees of the kind with all relations, or the gold one.
pub fn trees(s: &Trees<'_>, i: usize, ask: Ask) -> Vec<Tree> {
    let mut gold = Tree::default();
    Structure::<f64>::gold(s, i, &mut gold);
    if ask == Ask::Gold {
        return vec![gold];
    }
    let (spec, n) = (s.spec(), gold.heads.len());
    let is_allowed = |heads: &Vec<u32>| {
        is_tree(heads)
            && n_roots(heads) == 1
            && (spec.kind == TreeKind::NonProjective || is_projective(heads))
    };
    let with_relations = |heads: Vec<u32>| {
        let tree = move |relations| Tree { heads: heads.clone(), relations };
        all_relations(n, spec.n_relations).into_iter().map(tree)
    };
    all_heads(n).into_iter().filter(is_allowed).flat_map(with_relations).collect()
}

pub fn heads(s: &Heads<'_>, i: usize, ask: Ask) -> Vec<Vec<u32>> {
    let mut gold = Vec::new();
    Structure::<f64>::gold(s, i, &mut gold);
    if ask == Ask::Gold { vec![gold] } else { all_heads(gold.len()) }
}

pub fn relations(s: &Relations<'_>, i: usize, ask: Ask) -> Vec<u32> {
    let mut gold = 0;
    Structure::<f64>::gold(s, i, &mut gold);
    if ask == Ask::Gold { vec![gold] } else { vec![0, 1] }
}
