//! Rules about sequences as automata, against all sequences.

use lineal_declared::Declaration;
use lineal_declared::automaton::{Automaton, CompileError, decode, k_best};
use lineal_declared::{Example, Examples, Record};
use lineal_linalg::Rng;

const RULES: [&str; 14] = [
    "at most 1 spans of X",
    "at most 2 label = O",
    "at least 1 label in { B-X I-X }",
    "exactly 1 label = B-X",
    "count(label = O) + 2*count(label = B-X) <= 4",
    "count(label = O) >= 2",
    "3 > count(label != O)",
    "label = O implies next != I-X",
    "label = I-X implies previous in { B-X I-X }",
    "label = B-X implies next = next.next",
    "label = O or next = O or next.next = O",
    "sequence label matches (B-X I-X* | O)*",
    "sequence label matches O* B-X .*",
    "not (label = O and next = O)",
];

fn labels() -> Vec<String> {
    ["O", "B-X", "I-X"].map(String::from).to_vec()
}

#[test]
fn decoding_is_enumeration() {
    let mut rng = Rng::new(5);
    let mut n_impossible = 0;
    for _ in 0..400 {
        let n_rules = 1 + rng.next_u64() % 3;
        let rules: Vec<&str> =
            (0..n_rules).map(|_| RULES[(rng.next_u64() % 14) as usize]).collect();
        let declaration = Declaration::of_labels(&labels(), &rules.join("\n")).unwrap();
        let automaton = Automaton::compile(&declaration).unwrap();
        let n = (rng.next_u64() % 6) as usize;
        let unary: Vec<f32> = (0..3 * n).map(|_| rng.unit() as f32).collect();
        let transitions: Vec<f32> = (0..9).map(|_| rng.unit() as f32).collect();
        // Legal sequences, by the constraints of the same rules on variables.
        let records = vec![Record::default(); n];
        let example =
            Example { lists: vec![("label".into(), records)], columns: Vec::new(), weight: 1.0 };
        let examples = Examples::new(&declaration, vec![example]).unwrap();
        let program = &examples.get(0).program;
        let mut all = Vec::new();
        for mut number in 0..3usize.pow(n as u32) {
            let y: Vec<u32> = (0..n)
                .map(|_| {
                    let label = number % 3;
                    number /= 3;
                    label as u32
                })
                .collect();
            let is_legal = program.is_legal(&y);
            assert_eq!(automaton.accepts(&y), is_legal, "{rules:?} {y:?}");
            if is_legal {
                let own: f64 =
                    y.iter().enumerate().map(|(t, &l)| f64::from(unary[3 * t + l as usize])).sum();
                let steps: f64 =
                    y.windows(2).map(|p| f64::from(transitions[(3 * p[0] + p[1]) as usize])).sum();
                all.push((y, own + steps));
            }
        }
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let found = k_best(&unary, &transitions, 3, &automaton, 5);
        assert_eq!(found.len(), all.len().min(5), "{rules:?}");
        for (found, expected) in found.iter().zip(&all) {
            assert!(
                (found.1 - expected.1).abs() < 1e-9 && automaton.accepts(&found.0),
                "{rules:?}"
            );
        }
        let best = decode(&unary, &transitions, 3, &automaton);
        assert_eq!(best.map(|one| one.0), all.first().map(|one| one.0.clone()), "{rules:?}");
        n_impossible += usize::from(all.is_empty());
    }
    assert!(n_impossible > 10);
}

#[test]
fn too_many_states_and_unbounded_sums_are_refused() {
    let many = "count(label = O) <= 300\ncount(label = B-X) <= 300\n";
    let declaration = Declaration::of_labels(&labels(), many).unwrap();
    let error = Automaton::compile(&declaration).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the rules need more than 10000 states together; count less far, or leave a rule out"
    );
    let difference =
        Declaration::of_labels(&labels(), "\ncount(label = O) - count(label = B-X) >= 0").unwrap();
    let error = Automaton::compile(&difference).unwrap_err();
    assert!(matches!(error, CompileError::Rule { line: 2, .. }), "{error}");
}
