//! The problems of dependency parsing against the definitions of `Structure`: linear scores, differences, gradients, costs.

use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::problem::{
    Candidates, Heads, PruneSpec, Relations, Tree, TreeKind, TreeParts, TreeSpec, Trees,
};
use lineal_dependencies::tree::{is_projective, is_tree, n_roots};
use lineal_linalg::Rng;
use lineal_model::structure::{Ask, MaxOracle, PartVector, Structure, SumOracle};

const COLUMNS: [&str; 3] = ["form", "upos", "feats"];

/// Templates of every kind: single, split, between, words that are not there.
const TEMPLATES: &str = "
[heads]
h.form m.upos
h.upos between.upos m.upos
[arcs]
h.form m.upos
h-1.upos h.upos m.form:suffix2
m.feats* h.feats*
h.upos between.upos m.upos
between.feats*
[siblings]
h.upos s.upos m.upos
s.form m.feats*
[grandparents]
g.upos h.upos m.upos
g.feats* m.form
[labels]
h.upos m.upos
m.form
between.upos
[relations]
direction h.upos m.upos
m.form child.upos
position prev.upos next.upos children
sibling.feats* distance
m.form left.form right.form g.upos
";

const SENTENCES: [&str; 3] = [
    "She PRON Case=Nom|Number=Sing saw VERB Tense=Past the DET _ dog NOUN Number=Sing",
    "Dogs NOUN Number=Plur bark VERB _ . PUNCT _",
    "Yes INTJ _",
];

fn cells() -> Vec<Vec<&'static str>> {
    SENTENCES.iter().map(|text| text.split(' ').collect()).collect()
}

const HEADS: [u32; 8] = [2, 0, 4, 2, 2, 0, 2, 0];
const RELATIONS: [u32; 8] = [0, 1, 2, 3, 0, 1, 2, 1];

fn templates() -> Templates {
    Templates::parse(TEMPLATES, &COLUMNS).unwrap()
}

fn hashed(templates: &Templates) -> Sentences {
    Sentences::hash(templates, cells().iter().map(Vec::as_slice))
}

fn random(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.unit() * 2.0 - 1.0).collect()
}

/// Some candidates, the gold heads among them.
fn some_candidates(sentences: &Sentences) -> Candidates {
    let mut candidates = Candidates::default();
    for i in 0..sentences.len() {
        let n = sentences.words(i).len() as u32;
        for (m, word) in (1..=n).zip(sentences.words(i)) {
            let keep = |h: &u32| {
                *h != m && (*h == m - 1 || *h == HEADS[word] || !(h + m).is_multiple_of(3))
            };
            candidates.push((0..=n).filter(keep));
        }
    }
    candidates
}

/// What `Structure` promises of scores and features, for any structure.
fn check_features<S: SumOracle<f64>>(structure: &S, set: impl Fn(&mut S::Parts, &mut Rng)) {
    let mut rng = Rng::new(7);
    let w = random(&mut rng, structure.dim());
    let mut s = structure.scratch();
    for i in 0..structure.n_examples() {
        let (mut theta, mut g) = (S::Parts::default(), S::Parts::default());
        structure.scores(i, &w, 1.0, &mut s, &mut theta);

        // ⟨θ(w), g⟩ = ⟨w, Ψᵀ g⟩, and nothing is touched that was not announced.
        structure.scores(i, &w, 0.5, &mut s, &mut g);
        assert!((g.dot(&theta) - 0.5 * theta.dot(&theta)).abs() < 1e-9);
        set(&mut g, &mut rng);
        let mut gradient = vec![0.0; structure.dim()];
        structure.accumulate(i, &g, &mut s, &mut gradient);
        let inner: f64 = w.iter().zip(&gradient).map(|(w, g)| w * g).sum();
        assert!((inner - theta.dot(&g)).abs() < 1e-9, "{inner} {}", theta.dot(&g));
        let mut touched = vec![false; structure.dim()];
        structure.each_touched(i, &g, &mut s, |range| touched[range].fill(true));
        assert!(gradient.iter().zip(&touched).all(|(g, touched)| *g == 0.0 || *touched));

        // Ψ(gold) − Ψ(ŷ) by differences and by parts; a score is linear in both.
        let (mut gold, mut y) = (S::Output::default(), S::Output::default());
        structure.gold(i, &mut gold);
        let plain = theta.clone();
        let found = structure.argmax(i, &mut theta, Ask::Augmented, &mut s, &mut y).unwrap();
        let expected = structure.score(i, &plain, &y) + structure.cost(i, &y);
        assert!((found.score - expected).abs() < 1e-9, "{} {expected}", found.score);
        assert_eq!(structure.cost(i, &gold), 0.0);
        let mut difference = S::Parts::default();
        structure.add_output(i, &gold, 1.0, &mut difference);
        structure.add_output(i, &y, -1.0, &mut difference);
        let mut by_parts = vec![0.0; structure.dim()];
        structure.accumulate(i, &difference, &mut s, &mut by_parts);
        let mut by_difference = vec![0.0; structure.dim()];
        structure.each_difference(i, &gold, &y, &mut s, |at, v| by_difference[at] += v);
        assert_eq!(by_parts, by_difference);
        let mut nothing = true;
        structure.each_difference(i, &y, &y, &mut s, |_, _| nothing = false);
        assert!(nothing);

        // ∂ log Z / ∂ w by finite differences, along a random direction.
        let direction = random(&mut rng, structure.dim());
        let mut log_z = |step: f64| {
            let moved: Vec<f64> = w.iter().zip(&direction).map(|(w, d)| w + step * d).collect();
            structure.scores(i, &moved, 1.0, &mut s, &mut theta);
            structure.log_partition(i, &theta, Ask::Plain, &mut s).unwrap()
        };
        let slope = (log_z(1e-5) - log_z(-1e-5)) / 2e-5;
        let at_w = log_z(0.0);
        let mut mu = S::Parts::default();
        let sum = structure.expect(i, &plain, Ask::Plain, &mut s, &mut mu).unwrap();
        assert!((sum - at_w).abs() < 1e-9);
        let mut gradient = vec![0.0; structure.dim()];
        structure.accumulate(i, &mu, &mut s, &mut gradient);
        let expected: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        assert!((slope - expected).abs() < 1e-6, "{slope} {expected}");

        // The gold output alone.
        let score = structure.score(i, &plain, &gold);
        assert_eq!(structure.log_partition(i, &plain, Ask::Gold, &mut s).unwrap(), score);
        structure.expect(i, &plain, Ask::Gold, &mut s, &mut mu).unwrap();
        assert!((mu.dot(&plain) - score).abs() < 1e-9);
    }
}

fn set_parts(g: &mut TreeParts<f64>, rng: &mut Rng) {
    let n = g.values.len();
    g.values = random(rng, n);
    g.values.iter_mut().step_by(3).for_each(|g| *g = 0.0);
}

fn set_list(g: &mut Vec<f64>, rng: &mut Rng) {
    *g = random(rng, g.len());
}

fn specs() -> Vec<TreeSpec> {
    let kinds = [TreeKind::Projective, TreeKind::SecondOrder, TreeKind::NonProjective];
    let both = kinds.iter().flat_map(|&kind| [(kind, 0), (kind, 4)]);
    both.map(|(kind, n_relations)| TreeSpec { kind, n_relations, single_root: true, bits: 9 })
        .collect()
}

#[test]
fn trees_keep_the_promises_of_a_structure() {
    let templates = templates();
    let sentences = hashed(&templates);
    let candidates = some_candidates(&sentences);
    for spec in specs() {
        for candidates in [None, Some(&candidates)] {
            let trees = Trees::new(&templates, &sentences, candidates, spec);
            check_features(&trees.with_gold(&HEADS, &RELATIONS), set_parts);
        }
    }
}

#[test]
fn heads_and_relations_keep_the_promises_of_a_structure() {
    let templates = templates();
    let sentences = hashed(&templates);
    check_features(&Heads::new(&templates, &sentences, 9).with_gold(&HEADS), set_list);
    let relations = Relations::new(&templates, &sentences, &HEADS, 4, 9);
    check_features(&relations.with_gold(&RELATIONS), set_list);
}

#[test]
fn features_are_the_same_at_any_number_of_threads() {
    let templates = templates();
    let sentences = hashed(&templates);
    let w = random(&mut Rng::new(2), 512);
    let scores = |threads: usize| -> Vec<Vec<f64>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let relations = pool.install(|| Relations::new(&templates, &sentences, &HEADS, 4, 9));
        let score = |word: usize| {
            let mut theta = Vec::new();
            relations.scores(word, &w, 1.0, &mut (), &mut theta);
            theta
        };
        (0..8).map(score).collect()
    };
    assert_eq!(scores(1), scores(2));
    assert_eq!(scores(1), scores(3));
}

/// All trees over n words with one root, and all their relations.
fn enumerate(n: usize, n_relations: usize) -> Vec<Tree> {
    let digits = |mut code: usize, base: usize| -> Vec<u32> {
        (0..n)
            .map(|_| {
                let digit = code % base;
                code /= base;
                digit as u32
            })
            .collect()
    };
    let heads = (0..(n + 1).pow(n as u32)).map(|code| digits(code, n + 1));
    let trees = heads.filter(|heads| is_tree(heads) && n_roots(heads) == 1);
    trees
        .flat_map(|heads| {
            let count = if n_relations == 0 { 1 } else { n_relations.pow(n as u32) };
            (0..count).map(move |code| Tree {
                heads: heads.clone(),
                relations: if n_relations == 0 { vec![] } else { digits(code, n_relations) },
            })
        })
        .collect()
}

#[test]
fn best_trees_and_sums_are_those_of_enumeration() {
    let templates = templates();
    let sentences = hashed(&templates);
    let mut rng = Rng::new(1);
    for spec in specs().into_iter().map(|s| TreeSpec { n_relations: s.n_relations.min(3), ..s }) {
        let relations: Vec<u32> = RELATIONS.iter().map(|k| k % 3).collect();
        let trees = Trees::new(&templates, &sentences, None, spec).with_gold(&HEADS, &relations);
        let w = random(&mut rng, 1 << spec.bits);
        let mut s = Structure::<f64>::scratch(&trees);
        for i in 0..sentences.len() {
            let n = sentences.words(i).len();
            let (mut theta, mut y) = (TreeParts::default(), Tree::default());
            trees.scores(i, &w, 1.0, &mut s, &mut theta);
            let mut all = enumerate(n, spec.n_relations);
            all.retain(|tree| !spec.kind.is_projective() || is_projective(&tree.heads));
            let cost = |y: &Tree| MaxOracle::<f64>::cost(&trees, i, y);
            let plain = |y: &Tree| trees.score(i, &theta, y);
            let most =
                |f: &dyn Fn(&Tree) -> f64| all.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
            let (best, augmented) = (most(&plain), most(&|y| plain(y) + cost(y)));
            let sum: f64 = all.iter().map(|y| plain(y).exp()).sum();
            let mut scores: Vec<f64> = all.iter().map(plain).collect();
            let found = trees.log_partition(i, &theta, Ask::Plain, &mut s).unwrap();
            assert!((found - sum.ln()).abs() < 1e-9);
            if spec.n_relations == 0 {
                scores.sort_by(|a, b| b.total_cmp(a));
                let ranked = trees.k_best(i, &theta, 3, &mut s).unwrap();
                assert_eq!(ranked.len(), scores.len().min(3));
                assert!(
                    ranked
                        .iter()
                        .zip(&scores)
                        .all(|((_, found), score)| (found - score).abs() < 1e-9)
                );
            }
            let mut copy = theta.clone();
            let found = trees.argmax(i, &mut copy, Ask::Plain, &mut s, &mut y).unwrap();
            assert!((found.score - best).abs() < 1e-9);
            let found = trees.argmax(i, &mut theta, Ask::Augmented, &mut s, &mut y).unwrap();
            assert!((found.score - augmented).abs() < 1e-9, "{spec:?}");
        }
    }
}

#[test]
fn explanations_add_up_to_the_score() {
    let templates = templates();
    let (sentences, cells) = (hashed(&templates), cells());
    let mut rng = Rng::new(5);
    for spec in specs() {
        let trees = Trees::new(&templates, &sentences, None, spec);
        let w = random(&mut rng, 1 << spec.bits);
        let narrow: Vec<f32> = w.iter().map(|&w| w as f32).collect();
        let mut s = Structure::<f64>::scratch(&trees);
        for (i, cells) in cells.iter().enumerate() {
            let words = sentences.words(i);
            let heads = &HEADS[words.clone()];
            let relations = if spec.n_relations > 0 { &RELATIONS[words] } else { &[] };
            let mut theta = TreeParts::default();
            trees.scores(i, &w, 1.0, &mut s, &mut theta);
            let tree = Tree { heads: heads.to_vec(), relations: relations.to_vec() };
            let mut sum = 0.0;
            for m in 1..=heads.len() {
                let of_arc = trees.explain(cells, heads, m, &narrow);
                sum += of_arc.iter().map(|c| f64::from(c.weight)).sum::<f64>();
                if let Some(&relation) = relations.get(m - 1) {
                    let arc = (heads[m - 1] as usize, m);
                    let of_relation = trees.explain_relation(cells, arc, relation, &narrow);
                    sum += of_relation.iter().map(|c| f64::from(c.weight)).sum::<f64>();
                }
            }
            assert!((sum - trees.score(i, &theta, &tree)).abs() < 1e-4, "{spec:?}");
        }
    }
    let trees =
        Trees::new(&templates, &sentences, None, TreeSpec { bits: 9, ..TreeSpec::default() });
    let names: Vec<String> =
        trees.explain_arc(&cells[0], 2, 4, &[0.0; 512]).into_iter().map(|c| c.name).collect();
    assert!(names.contains(&"h.form=saw m.upos=NOUN [right]".into()), "{names:?}");
    assert!(names.contains(&"h.upos=VERB between.upos=DET m.upos=NOUN [right 2]".into()));
    assert!(names.contains(&"h-1.upos=PRON h.upos=VERB m.form:suffix2=og [right 2]".into()));
    assert!(names.contains(&"m.feats*=Number=Sing h.feats*=Tense=Past [right]".into()));
}

#[test]
fn explanations_of_relations_add_up() {
    let templates = templates();
    let (sentences, cells) = (hashed(&templates), cells());
    let w = random(&mut Rng::new(5), 512);
    let narrow: Vec<f32> = w.iter().map(|&w| w as f32).collect();
    let relations = Relations::new(&templates, &sentences, &HEADS, 4, 9);
    for (i, cells) in cells.iter().enumerate() {
        for (m, word) in (1..).zip(sentences.words(i)) {
            let mut theta = Vec::new();
            relations.scores(word, &w, 1.0, &mut (), &mut theta);
            for k in 0..4 {
                let all = Relations::explain(
                    &templates,
                    4,
                    cells,
                    &HEADS[sentences.words(i)],
                    m,
                    k,
                    &narrow,
                );
                let sum: f64 = all.iter().map(|c| f64::from(c.weight)).sum();
                assert!((sum - theta[k as usize]).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn pruning_keeps_the_best_the_gold_and_a_tree() {
    let templates = templates();
    let sentences = hashed(&templates);
    let heads = Heads::new(&templates, &sentences, 9).with_gold(&HEADS);
    let w = random(&mut Rng::new(3), 512);
    let (mut s, mut theta) = (Structure::<f64>::scratch(&heads), Vec::new());
    let (mut few, mut all) = (Candidates::default(), Candidates::default());
    for i in 0..sentences.len() {
        heads.scores(i, &w, 1.0, &mut s, &mut theta);
        heads.prune(i, &theta, PruneSpec { most: 2, threshold: 0.5 }, &mut few);
        heads.prune(i, &theta, PruneSpec { most: 100, threshold: 0.0 }, &mut all);
    }
    assert_eq!((few.recall(&HEADS), all.recall(&HEADS)), (1.0, 1.0));
    assert_eq!(all.n_arcs(), 16 + 9 + 1);
    for word in 0..few.n_words() {
        assert!((1..=2).contains(&few.heads(word).len()));
        assert!(few.heads(word).is_sorted());
    }
    // Without gold heads the word before is what makes a tree sure.
    let blind = Heads::new(&templates, &sentences, 9);
    let mut kept = Candidates::default();
    for i in 0..sentences.len() {
        blind.scores(i, &w, 1.0, &mut s, &mut theta);
        blind.prune(i, &theta, PruneSpec { most: 1, threshold: 1.0 }, &mut kept);
    }
    let trees = Trees::new(
        &templates,
        &sentences,
        Some(&kept),
        TreeSpec { bits: 9, ..TreeSpec::default() },
    );
    let mut s = Structure::<f64>::scratch(&trees);
    for i in 0..sentences.len() {
        let (mut theta, mut y) = (TreeParts::default(), Tree::default());
        trees.scores(i, &w, 1.0, &mut s, &mut theta);
        assert!(trees.argmax(i, &mut theta, Ask::Plain, &mut s, &mut y).is_ok());
    }
}

#[test]
fn known_heads_and_forbidden_arcs() {
    let templates = templates();
    let sentences = hashed(&templates);
    let w = random(&mut Rng::new(9), 512);
    // The first sentence has four words, of which `first` is the head of word 1 and `no_root` must not be the root.
    let candidates = |first: u32, no_root: u32| {
        let mut candidates = Candidates::default();
        for (n, m) in [(4, 1), (4, 2), (4, 3), (4, 4), (3, 1), (3, 2), (3, 3), (1, 1)] {
            let fits =
                |h: &u32| *h != m && (n < 4 || (m != 1 || *h == first) && (*h, m) != (0, no_root));
            candidates.push((0..=n).filter(fits));
        }
        candidates
    };
    // Word 4 over word 1 leaves no place for the root's arc unless arcs may cross.
    let (candidates, crossing) = (candidates(2, 2), candidates(4, 4));
    for kind in [TreeKind::Projective, TreeKind::SecondOrder, TreeKind::NonProjective] {
        let spec = TreeSpec { kind, bits: 9, ..TreeSpec::default() };
        let trees = Trees::new(&templates, &sentences, Some(&candidates), spec);
        let mut s = Structure::<f64>::scratch(&trees);
        let (mut theta, mut y) = (TreeParts::default(), Tree::default());
        trees.scores(0, &w, 1.0, &mut s, &mut theta);
        trees.argmax(0, &mut theta, Ask::Plain, &mut s, &mut y).unwrap();
        assert!(y.heads[0] == 2 && y.heads[1] != 0);
        let trees = Trees::new(&templates, &sentences, Some(&crossing), spec);
        let (mut s, mut theta) = (Structure::<f64>::scratch(&trees), TreeParts::default());
        trees.scores(0, &w, 1.0, &mut s, &mut theta);
        let found = trees.argmax(0, &mut theta, Ask::Plain, &mut s, &mut y);
        assert_eq!(found.is_ok(), !kind.is_projective());
    }
}
