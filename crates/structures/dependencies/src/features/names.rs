//! The features of a part by name: the slow walk through the same templates, for explanations and for tests of the fast ones.

use super::hash;
use super::keys::key;
use super::relation::Family;
use super::sentences::{NONE, Spot, changed, parts_of};
use super::syntax::{Change, Section};
use super::templates::{CellOf, Part, Templates, shape_name};

/// A sentence as text: the cells of one word after the other, in the order of the templates' columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    pub(crate) cells: &'a [&'a str],
    pub(crate) n_columns: usize,
}

impl<'a> Words<'a> {
    fn n(&self) -> usize {
        self.cells.len() / self.n_columns.max(1)
    }

    /// The text of a cell, or of what stands in for it, and its hash.
    fn cell(&self, spot: Spot, column: usize, change: Change) -> (String, u64) {
        let name = match spot {
            Spot::Word(word) => {
                let cell = self.cells[(word - 1) * self.n_columns + column];
                let mut buffer = String::new();
                let text = changed(cell, change, &mut buffer);
                return (text.to_string(), hash::text(text.as_bytes()));
            }
            Spot::Root => "<root>",
            Spot::None => "<none>",
            Spot::Before | Spot::After => "<end>",
        };
        (name.into(), spot.stand_in())
    }

    fn list(&self, spot: Spot, column: usize) -> Vec<(String, u64)> {
        match spot {
            Spot::Word(word) => parts_of(self.cells[(word - 1) * self.n_columns + column])
                .map(|part| (part.to_string(), hash::text(part.as_bytes())))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// The features of a section for words at its places: name and hash of each. `at` gives the words at a place, `family` the shapes of [`Section::Relations`].
pub(crate) fn named(
    templates: &Templates,
    section: Section,
    words: Words<'_>,
    at: &dyn Fn(usize) -> Vec<usize>,
    family: Option<(&Family, usize)>,
) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    for template in &templates.program(section).templates {
        let mut combined = vec![(String::new(), 0u32)];
        for part in &template.parts {
            let mut options: Vec<(String, u32)> = Vec::new();
            if part.place == section.places().len() {
                options.extend(family.map(|(family, m)| shapes(part, family, m)));
            } else {
                for word in at(part.place) {
                    options.extend(values(templates, section, part, words, word));
                }
            }
            if section.is_many(part.place) {
                options.sort_by_key(|&(_, key)| key);
                options.dedup_by_key(|&mut (_, key)| key);
            }
            let joined = combined.iter().flat_map(|(name, key)| {
                options.iter().map(move |(more, more_key)| {
                    let space = if name.is_empty() { "" } else { " " };
                    (format!("{name}{space}{more}"), key ^ more_key)
                })
            });
            combined = joined.collect();
        }
        all.append(&mut combined);
    }
    all
}

fn shapes(part: &Part, family: &Family, m: usize) -> (String, u32) {
    let (mut names, mut hash) = (Vec::new(), part.seed);
    for atom in &part.atoms {
        if let CellOf::Shape(shape) = *atom {
            let value = family.shape(shape, m);
            hash = hash::push(hash, hash::mix(value + 1));
            let text = match (shape, value) {
                (0, 0) => "left".into(),
                (0, _) => "right".into(),
                (2, 0) => "middle".into(),
                (2, 1) => "last".into(),
                (2, 2) => "first".into(),
                (2, _) => "only".into(),
                (1, 5..) => ["5-7", "8-14", "15+"][value as usize - 5].into(),
                (3, 4) => "4+".into(),
                _ => value.to_string(),
            };
            names.push(format!("{}={text}", shape_name(shape)));
        }
    }
    (names.join(" "), key(hash))
}

/// The names and keys of the atoms of a template at one place, for one word there.
fn values(
    templates: &Templates,
    section: Section,
    part: &Part,
    words: Words<'_>,
    word: usize,
) -> Vec<(String, u32)> {
    let place = section.places()[part.place];
    let mut all = vec![(Vec::new(), part.seed)];
    for atom in &part.atoms {
        let (offset, column, mark, cells) = match *atom {
            CellOf::Single { channel, offset } => {
                let (column, change) = templates.channels.single[channel];
                let cell = words.cell(Spot::near(word, offset, words.n()), column, change);
                (offset, column, change.mark(), vec![cell])
            }
            CellOf::Split { channel, offset } => {
                let column = templates.channels.split[channel];
                (
                    offset,
                    column,
                    "*".into(),
                    words.list(Spot::near(word, offset, words.n()), column),
                )
            }
            CellOf::Shape(_) => continue,
        };
        let offset = if offset == 0 { String::new() } else { format!("{offset:+}") };
        let name = format!("{place}{offset}.{}{mark}", templates.columns()[column]);
        let longer = all.iter().flat_map(|(names, hash)| {
            cells.iter().map(|(text, cell)| {
                let mut names: Vec<String> = names.clone();
                names.push(format!("{name}={text}"));
                (names, hash::push(*hash, *cell))
            })
        });
        all = longer.collect();
    }
    all.into_iter().map(|(names, hash)| (names.join(" "), key(hash))).collect()
}

/// The words at the places of a section of arcs.
pub(crate) fn places_of_arc(h: usize, m: usize) -> impl Fn(usize) -> Vec<usize> {
    move |place| match place {
        0 => vec![h],
        1 => vec![m],
        _ => (h.min(m) + 1..h.max(m)).collect(),
    }
}

/// The words at the places of a section of three words; none for the sibling of a first modifier.
pub(crate) fn places_of_triple(words: [Option<usize>; 3]) -> impl Fn(usize) -> Vec<usize> {
    move |place| vec![words[place].unwrap_or(NONE)]
}
