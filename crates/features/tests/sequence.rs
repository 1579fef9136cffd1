//! Attributes against the strings that CRF++ would have built for them.

use lineal_features::sequence::{
    Cut, ExtractScratch, ExtractorBuilder, IndexBuilder, Names, Order, Sentence, Templates,
    named_attributes,
};
use lineal_linalg::SparseRows;
use proptest::prelude::*;
use std::collections::BTreeMap;

const TEMPLATE: &str = "\
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U05:%x[-1,0]/%x[0,0]
U:%x[-1,1]
U:%x[1,1]
U10:%x[-1,1]|%x[0,0]|%x[2,1]
U11
B01:%x[0,1]
B02:%x[-1,1]/%x[0,1]
B
";

/// The text of an attribute, by searching and replacing.
fn plain(template: &str, cells: &[Vec<String>], t: usize) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find("%x[") {
        out.push_str(&rest[..at]);
        let (inside, after) = rest[at + 3..].split_once(']').unwrap();
        let (row, column) = inside.split_once(',').unwrap();
        let (row, column) = (row.parse::<i64>().unwrap(), column.parse::<usize>().unwrap());
        let at = t as i64 + row;
        if at < 0 {
            out.push_str(&format!("_B{at}"));
        } else if at as usize >= cells.len() {
            out.push_str(&format!("_B+{}", at as usize - cells.len() + 1));
        } else {
            out.push_str(&cells[at as usize][column]);
        }
        rest = after;
    }
    out + rest
}

fn sentences() -> impl Strategy<Value = Vec<Vec<Vec<String>>>> {
    let cell = "[abcß]{1,2}".prop_map(|s| s.to_string());
    let token = prop::collection::vec(cell, 2);
    prop::collection::vec(prop::collection::vec(token, 1..6), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn attributes_are_the_strings_of_crf_plus_plus(data in sentences(), by_frequency: bool, min_count in 1u32..3) {
        let flat: Vec<Vec<&str>> =
            data.iter().map(|s| s.iter().flatten().map(String::as_str).collect()).collect();
        let mut builder = ExtractorBuilder::new(Templates::parse(TEMPLATE).unwrap());
        let (mut unary, mut pairs) = (SparseRows::new(), SparseRows::new());
        for cells in &flat {
            builder.add(Sentence::new(cells, 2), &mut unary, &mut pairs).unwrap();
        }
        let order = if by_frequency { Order::Frequency } else { Order::FirstSeen };
        let (extractor, maps) = builder.finish(Cut { min_count, order });
        unary.renumber(|id| maps[0].get(id));
        pairs.renumber(|id| maps[1].get(id));
        let (mut names, mut s) = (Names::default(), ExtractScratch::default());
        for cells in &flat {
            extractor.name(Sentence::new(cells, 2), &mut s, &mut names).unwrap();
        }

        for (kind, x, names) in [('U', &unary, &names.unary), ('B', &pairs, &names.pairs)] {
            let templates: Vec<&str> = TEMPLATE.lines().filter(|l| l.starts_with(kind) && *l != "B").collect();
            // String → (first seen, count), and the strings of each position.
            let mut counts: BTreeMap<String, (usize, u32)> = BTreeMap::new();
            let mut rows: Vec<BTreeMap<String, f32>> = Vec::new();
            for sentence in &data {
                for t in 0..sentence.len() {
                    let mut row = BTreeMap::new();
                    for template in templates.iter().filter(|_| kind == 'U' || t > 0) {
                        let text = plain(template, sentence, t);
                        let next = counts.len();
                        counts.entry(text.clone()).or_insert((next, 0)).1 += 1;
                        *row.entry(text).or_insert(0.0) += 1.0;
                    }
                    rows.push(row);
                }
            }
            let mut kept: Vec<(&String, &(usize, u32))> = counts.iter().filter(|(_, c)| c.1 >= min_count).collect();
            kept.sort_by_key(|(_, c)| (if by_frequency { u32::MAX - c.1 } else { 0 }, c.0));
            let want: Vec<&String> = kept.iter().map(|(text, _)| *text).collect();
            prop_assert_eq!(names.iter().collect::<Vec<_>>(), want);
            for (i, row) in rows.iter().enumerate() {
                let mut got = BTreeMap::new();
                x.row(i).for_each(|j, v| { got.insert(names[j].clone(), v); });
                let mut want = row.clone();
                want.retain(|text, _| counts[text].1 >= min_count);
                prop_assert_eq!(got, want);
            }
        }
    }

    #[test]
    fn no_template_panics(text in "(U|B|#|%x\\[|[-0-9,\\]]|prefix:|\\n){0,30}") {
        let _ = Templates::parse(&text);
    }

    #[test]
    fn no_vocabulary_panics(text in "(word|column|prefix|window|cross|:|,|@|-|[0-9]){0,20}") {
        if let Ok(template) = lineal_features::sequence::expand(&text) {
            prop_assert!(Templates::parse(&template).is_ok(), "{}", template);
        }
    }

    #[test]
    fn names_survive_their_escapes(name in "[a:\\\\=]{1,6}", value in -4i32..4) {
        let value = value as f32 / 2.0;
        let escaped = name.replace('\\', r"\\").replace(':', r"\:");
        let line = format!("label\t{escaped}:{value}\t{escaped}");
        let fields: Vec<_> = named_attributes(&line).collect::<Result<_, _>>().unwrap();
        prop_assert_eq!((&fields[1].name[..], fields[1].value), (&name[..], value));
        prop_assert_eq!((&fields[2].name[..], fields[2].value), (&name[..], 1.0));
    }
}

#[test]
fn named_attributes_go_through_an_index() {
    let lines = ["B\tw=the\tlen:3", "I\tw=dog\tlen:3\tw=dog"];
    let mut index = IndexBuilder::new();
    let mut x = SparseRows::new();
    for line in lines {
        for attribute in named_attributes(line).skip(1) {
            let attribute = attribute.unwrap();
            x.push_value(index.id(attribute.hash()), attribute.value);
        }
        x.end_row();
    }
    let (index, renumber) = index.finish(Cut::default());
    x.renumber(|id| renumber.get(id));
    let id = |name: &str| {
        let attribute = named_attributes(name).next().unwrap().unwrap();
        index.get(attribute.hash()).map(|id| id as usize)
    };
    let mut rows = vec![BTreeMap::new(); 2];
    for (i, row) in rows.iter_mut().enumerate() {
        x.row(i).for_each(|j, v| {
            row.insert(j, v);
        });
    }
    assert_eq!(rows[0], BTreeMap::from([(id("w=the").unwrap(), 1.0), (id("len").unwrap(), 3.0)]));
    assert_eq!(rows[1], BTreeMap::from([(id("w=dog").unwrap(), 2.0), (id("len").unwrap(), 3.0)]));
    assert_eq!(id("w=cat"), None);
}
