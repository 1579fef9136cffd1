//! What is wrong in a declaration or an example is said with its place and a remedy; nothing that a user writes panics.

use lineal_declared::{Declaration, Example, Examples, Record, Value};
use lineal_linalg::Rng;

const GOOD: &str = "variable entity { Peop Loc Org }
variable relation(head: entity, tail: entity) { none Live_In Kill } all pairs
factor types(relation, relation.head)
features entity: lower(tokens[start..end]) & shape(tokens[start-1])
features relation: tokens[between head tail] order(head, tail) number(entity, between head tail)
cost relation 0.5
rule relation = Live_In implies head = Peop and (tail = Loc or tail in { Org })
rule at most 1 relation = Kill per head
rule 2*count(entity = Peop) - count(relation != none) >= -1
rule sequence entity matches (Peop | Loc . Org?)* .*
";

#[test]
fn faults_have_line_column_word_and_remedy() {
    for (line, expected) in [
        (
            "varible x { a }",
            "1:1: a line begins with variable, factor, features, cost or rule, not `varible`; did you mean `variable`?",
        ),
        ("variable x { a a }", "1:16: the label `a` stands here twice"),
        ("variable x { a", "1:15: the line ends too early: a label or `}` must stand here"),
        ("variable x(y: z) { a }", "1:15: there is no variable `z`; did you mean `x`?"),
        ("variable x { }", "1:10: `x` has no labels; write them between the braces"),
        ("variable x { \"a }", "1:14: the quote is not closed; write another \" on the same line"),
        (
            "variable x(p: x, q: x) { a } all pairs",
            "1:10: `x` cannot be all pairs of itself; link it to another variable",
        ),
        ("# nothing", "1:1: no variable is declared; write `variable NAME { LABEL LABEL … }`"),
    ] {
        assert_eq!(Declaration::parse(line).unwrap_err().to_string(), expected);
    }
    for (line, expected) in [
        ("rule entity = Pepo", "there is no label of entity `Pepo`; did you mean `Peop`?"),
        (
            "rule relation = Kill implies haed = Peop",
            "there is no link of relation `haed`; did you mean `head`?",
        ),
        (
            "rule entity = Peop and relation = Kill",
            "are two kinds of variables; speak of one and follow its links",
        ),
        ("rule at most relation = Kill", "`relation`: a whole number up to 10000 must stand here"),
        (
            "rule at most 1 relation = Kill per hea",
            "there is no link of relation `hea`; did you mean `head`?",
        ),
        ("rule count(entity = Peop) 1", "must stand before this"),
        ("rule sequence entity matches (Peop", "a parenthesis is open"),
        ("rule sequence entity matches Peop )", "nothing is open that could be closed here"),
        ("rule entity = Peop Loc", "`Loc`: nothing may follow here"),
        ("rule at most 1 spans of PER", "there is no B-PER, I-PER, S-PER or U-PER"),
        ("factor types(entity, entity.next)", "`types` is declared already"),
        ("factor f(entity, entity)", "names a variable twice"),
        (
            "factor f(entity, entity.next) shares typs",
            "there is no factor `typs`; did you mean `types`?",
        ),
        (
            "features entity: lowr(tokens[start])",
            "there is no function `lowr`; did you mean `lower`?",
        ),
        ("features entity: tokens[begin]", "there is no position `begin`"),
        ("cost entity many", "`many` is not a cost"),
    ] {
        let error = Declaration::parse(&format!("{GOOD}{line}\n")).unwrap_err();
        assert!(error.to_string().contains(expected), "{line}: {error}");
        assert_eq!(error.line, 11, "{line}: {error}");
    }
}

#[test]
fn examples_are_checked() {
    let declaration = Declaration::parse(GOOD).unwrap();
    let entity = |label: &str| Record::new([("label", label.into())]);
    let pair = |head: usize, tail: usize, label: &str| {
        Record::new([("head", head.into()), ("tail", tail.into()), ("label", label.into())])
    };
    let check = |entities: Vec<Record>, relations: Vec<Record>| {
        let lists = vec![("entity".into(), entities), ("relation".into(), relations)];
        let columns = vec![("tokens".to_owned(), vec!["a".to_owned()])];
        let example = Example { lists, columns, weight: 1.0 };
        Examples::new(&declaration, vec![example]).map(|_| ()).map_err(|e| e.to_string())
    };
    let two = || vec![entity("Peop"), entity("Loc")];
    check(two(), vec![pair(0, 1, "Kill")]).unwrap();
    let long = Record::new([("start", 0.into()), ("end", 2.into())]);
    for (entities, relations, part) in [
        (
            vec![entity("Pepo")],
            vec![],
            "example 0: entity 0: `Pepo` is not a label; the declaration has Peop, Loc, Org",
        ),
        (
            two(),
            vec![pair(0, 2, "Kill")],
            "relation 0: `tail` is 2, but there are 2 of entity, counted from 0",
        ),
        (two(), vec![pair(1, 1, "Kill")], "`head` and `tail` are the same"),
        (two(), vec![Record::new([("head", 0.into())])], "a pair needs `head` and `tail`"),
        (two(), vec![pair(0, 1, "Kill"), pair(0, 1, "Live_In")], "twice with two labels"),
        (vec![long], vec![], "the span 0..2 is not within 1 tokens"),
        (
            vec![Record::new([("start", Value::Number(0.5)), ("end", 1.into())])],
            vec![],
            "not a whole number",
        ),
    ] {
        let error = check(entities, relations).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

/// Texts with words removed, repeated and swapped are refused or understood, and never panic.
#[test]
fn damaged_declarations_do_not_panic() {
    let mut rng = Rng::new(3);
    let words: Vec<&str> = GOOD.split_inclusive([' ', '(', ')', '{', '}', '.', ',']).collect();
    let mut n_refused = 0;
    for _ in 0..3000 {
        let mut damaged = words.clone();
        for _ in 0..1 + rng.next_u64() % 3 {
            let at = (rng.next_u64() % damaged.len() as u64) as usize;
            let other = (rng.next_u64() % damaged.len() as u64) as usize;
            match rng.next_u64() % 3 {
                0 => drop(damaged.remove(at)),
                1 => damaged.swap(at, other),
                _ => damaged.insert(at, damaged[other]),
            }
        }
        n_refused += usize::from(Declaration::parse(&damaged.concat()).is_err());
    }
    assert!(n_refused > 1000, "{n_refused}");
    let deep = format!("{GOOD}rule {}entity = Peop", "(".repeat(100_000));
    assert!(Declaration::parse(&deep).unwrap_err().message.contains("nested too deeply"));
}

#[test]
fn sums_of_too_many_values_are_refused() {
    let text = "variable a { x y }\nrule 9999*count(a = x) - 9998*count(a = y) >= 0";
    let declaration = Declaration::parse(text).unwrap();
    let of = |n: usize| {
        let lists = vec![("a".to_owned(), vec![Record::default(); n])];
        Examples::new(&declaration, vec![Example { lists, weight: 1.0, ..Example::default() }])
    };
    assert!(of(10).is_ok());
    let message = of(2000).unwrap_err().to_string();
    assert!(message.contains("the rule in line 2") && message.contains("20000000"), "{message}");
}

#[test]
fn unknown_labels_are_kept_where_they_may_be() {
    let declaration = Declaration::parse("variable a { x y }").unwrap();
    let example = || {
        let record = |label: &str| Record::new([("label", Value::from(label))]);
        let lists = vec![("a".to_owned(), vec![record("x"), record("z")])];
        vec![Example { lists, weight: 1.0, ..Example::default() }]
    };
    let message = Examples::new(&declaration, example()).unwrap_err().to_string();
    assert_eq!(message, "example 0: a 1: `z` is not a label; the declaration has x, y");
    let examples = Examples::with_unknown_labels(&declaration, example()).unwrap();
    let ground = examples.get(0);
    assert_eq!(
        (&ground.gold[..], &ground.unknown[..]),
        (&[Some(0), None][..], &[(1, "z".to_owned())][..])
    );
}
