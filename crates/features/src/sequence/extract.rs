//! Runs templates over sentences.

use super::Error;
use super::hash::{combine, hash_bytes};
use super::table::{AttributeIndex, Cut, IndexBuilder, Renumber};
use super::template::{Template, Templates};
use lineal_linalg::SparseRows;

/// The cells of a sentence, token by token.
#[derive(Clone, Copy, Debug)]
pub struct Sentence<'a> {
    cells: &'a [&'a str],
    n_columns: usize,
}

impl<'a> Sentence<'a> {
    /// `cells[t·n_columns + column]`.
    ///
    /// # Panics
    /// If they do not fill whole tokens.
    pub fn new(cells: &'a [&'a str], n_columns: usize) -> Self {
        assert!(n_columns > 0 && cells.len().is_multiple_of(n_columns), "cells of whole tokens");
        Self { cells, n_columns }
    }

    /// How many tokens.
    pub fn n_tokens(&self) -> usize {
        self.cells.len() / self.n_columns
    }

    fn cell(&self, t: usize, column: usize) -> &'a str {
        self.cells[t * self.n_columns + column]
    }
}

/// Memory that extraction uses and keeps.
#[derive(Clone, Debug, Default)]
pub struct ExtractScratch {
    /// For each source the hashes of all tokens, between those of the borders: sources × (reach + n + reach).
    cells: Vec<u64>,
    buffer: String,
    /// The attributes of one position.
    hashes: Vec<u64>,
    slots: Vec<[u32; 3]>,
}

impl ExtractScratch {
    /// The attributes that templates make at a position. Where there is nothing to read there is none.
    #[inline(always)]
    fn hash(&mut self, templates: &[Template], width: usize, at: usize) {
        self.hashes.clear();
        self.hashes.extend(templates.iter().filter_map(|t| attribute(t, &self.cells, width, at)));
    }
}

/// The hashes of `_B-1` and `_B+1`, `_B-2` and `_B+2`, …
#[derive(Clone, Debug)]
struct Borders(Vec<[u64; 2]>);

impl Borders {
    fn new(reach: usize) -> Self {
        let hash = |i: usize, sign: char| hash_bytes(format!("_B{sign}{i}").as_bytes());
        Self((1..=reach).map(|i| [hash(i, '-'), hash(i, '+')]).collect())
    }

    fn reach(&self) -> usize {
        self.0.len()
    }

    /// Hashes every cell that templates read, once.
    fn read(&self, templates: &Templates, sentence: Sentence<'_>, s: &mut ExtractScratch) {
        let n = sentence.n_tokens();
        s.cells.clear();
        for source in &templates.sources {
            s.cells.extend(self.0.iter().rev().map(|b| b[0]));
            for t in 0..n {
                let cell = sentence.cell(t, source.column);
                s.cells.push(source.view.hash(cell, &mut s.buffer));
            }
            s.cells.extend(self.0.iter().map(|b| b[1]));
        }
    }
}

/// The attribute that a template makes at a position, unless there is nothing to read.
#[inline(always)]
fn attribute(template: &Template, cells: &[u64], width: usize, at: usize) -> Option<u64> {
    let mut hash = template.seed;
    for m in &template.macros {
        let cell = cells[m.source * width + at.wrapping_add_signed(m.offset as isize)];
        if cell == 0 {
            return None;
        }
        hash = combine(hash, cell);
    }
    Some(hash)
}

/// Reads training data, numbering the attributes that it sees.
///
/// ```
/// use lineal_linalg::SparseRows;
/// use lineal_features::sequence::{Cut, ExtractorBuilder, Sentence, Templates};
/// let templates = Templates::parse("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB")?;
/// let mut builder = ExtractorBuilder::new(templates);
/// let (mut unary, mut pairs) = (SparseRows::new(), SparseRows::new());
/// builder.add(Sentence::new(&["the", "dog", "the", "dog"], 1), &mut unary, &mut pairs)?;
/// let (extractor, renumber) = builder.finish(Cut::default());
/// unary.renumber(|id| renumber[0].get(id));
/// // the, dog, _B-1/the, the/dog, dog/the
/// assert_eq!((extractor.n_unary(), unary.nnz()), (5, 8));
/// # Ok::<(), lineal_features::sequence::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExtractorBuilder {
    templates: Templates,
    borders: Borders,
    unary: IndexBuilder,
    pairs: IndexBuilder,
    s: ExtractScratch,
}

impl ExtractorBuilder {
    /// With nothing seen.
    pub fn new(templates: Templates) -> Self {
        let borders = Borders::new(templates.reach());
        let s = ExtractScratch::default();
        Self { templates, borders, unary: IndexBuilder::new(), pairs: IndexBuilder::new(), s }
    }

    /// Adds a row of *preliminary* numbers for each token to `unary`, and to `pairs` one for the transition into each token (empty for the first).
    ///
    /// Give them the final numbers with what [`finish`](Self::finish) returns before use.
    pub fn add(
        &mut self,
        sentence: Sentence<'_>,
        unary: &mut SparseRows,
        pairs: &mut SparseRows,
    ) -> Result<(), Error> {
        self.templates.check_columns(sentence.n_columns)?;
        self.borders.read(&self.templates, sentence, &mut self.s);
        let (n, reach) = (sentence.n_tokens(), self.borders.reach());
        let width = n + 2 * reach;
        let s = &mut self.s;
        for t in 0..n {
            s.hash(&self.templates.unary, width, reach + t);
            self.unary.ids(&s.hashes, &mut s.slots, |id| unary.push(id));
            unary.end_raw_row();
            if t > 0 && self.templates.n_pairs() > 0 {
                s.hash(&self.templates.pairs, width, reach + t);
                self.pairs.ids(&s.hashes, &mut s.slots, |id| pairs.push(id));
            }
            pairs.end_raw_row();
        }
        Ok(())
    }

    /// What was seen so far: unary attributes, and those of transitions.
    pub fn into_seen(self) -> [IndexBuilder; 2] {
        [self.unary, self.pairs]
    }

    /// The extractor, and the maps to its numbers from the preliminary ones of unary attributes and of those of transitions.
    pub fn finish(self, cut: Cut) -> (Extractor, [Renumber; 2]) {
        let (unary, unary_map) = self.unary.finish(cut);
        let (pairs, pairs_map) = self.pairs.finish(cut);
        let extractor =
            Extractor { templates: self.templates, borders: self.borders, unary, pairs };
        (extractor, [unary_map, pairs_map])
    }
}

/// Templates and the numbers of the attributes that they make.
#[derive(Clone, Debug)]
pub struct Extractor {
    templates: Templates,
    borders: Borders,
    unary: AttributeIndex,
    pairs: AttributeIndex,
}

/// The text of attributes, by number; empty where none was met.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Of unary attributes.
    pub unary: Vec<String>,
    /// Of attributes of transitions.
    pub pairs: Vec<String>,
}

impl Extractor {
    /// From stored parts, or with hashing from the start ([`AttributeIndex::hashed`]).
    pub fn new(templates: Templates, unary: AttributeIndex, pairs: AttributeIndex) -> Self {
        let borders = Borders::new(templates.reach());
        Self { templates, borders, unary, pairs }
    }

    /// The templates.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The numbers of unary attributes.
    pub fn unary_index(&self) -> &AttributeIndex {
        &self.unary
    }

    /// The numbers of attributes of transitions.
    pub fn pair_index(&self) -> &AttributeIndex {
        &self.pairs
    }

    /// How many unary attributes there are.
    pub fn n_unary(&self) -> usize {
        self.unary.len()
    }

    /// How many attributes of transitions there are.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Adds a row for each token to `unary`, and to `pairs` one for the transition into each token (empty for the first). Unknown attributes are left out.
    pub fn extract(
        &self,
        sentence: Sentence<'_>,
        s: &mut ExtractScratch,
        unary: &mut SparseRows,
        pairs: &mut SparseRows,
    ) -> Result<(), Error> {
        self.templates.check_columns(sentence.n_columns)?;
        self.borders.read(&self.templates, sentence, s);
        let (n, reach) = (sentence.n_tokens(), self.borders.reach());
        let width = n + 2 * reach;
        for t in 0..n {
            s.hash(&self.templates.unary, width, reach + t);
            self.unary.get_all(&s.hashes, &mut s.slots, |id| unary.push(id));
            unary.end_row();
            if t > 0 && self.templates.n_pairs() > 0 {
                s.hash(&self.templates.pairs, width, reach + t);
                self.pairs.get_all(&s.hashes, &mut s.slots, |id| pairs.push(id));
            }
            pairs.end_row();
        }
        Ok(())
    }

    /// Notes the text of the attributes that a sentence has: run it over the training data to name them all. Where several share a number the first met counts.
    pub fn name(
        &self,
        sentence: Sentence<'_>,
        s: &mut ExtractScratch,
        names: &mut Names,
    ) -> Result<(), Error> {
        self.templates.check_columns(sentence.n_columns)?;
        self.borders.read(&self.templates, sentence, s);
        names.unary.resize(self.unary.len(), String::new());
        names.pairs.resize(self.pairs.len(), String::new());
        let (n, reach) = (sentence.n_tokens(), self.borders.reach());
        let width = n + 2 * reach;
        let kinds = [
            (&self.templates.unary, &self.unary, &mut names.unary, 0),
            (&self.templates.pairs, &self.pairs, &mut names.pairs, 1),
        ];
        for (templates, index, names, first) in kinds {
            for t in first..n {
                for template in templates {
                    let hash = attribute(template, &s.cells, width, reach + t);
                    if let Some(id) = hash.and_then(|hash| index.get(hash))
                        && names[id as usize].is_empty()
                    {
                        names[id as usize] = self.text(template, sentence, t);
                    }
                }
            }
        }
        Ok(())
    }

    fn text(&self, template: &Template, sentence: Sentence<'_>, t: usize) -> String {
        let mut buffer = String::new();
        let mut text = template.text[0].clone();
        for (m, after) in template.macros.iter().zip(&template.text[1..]) {
            let source = self.templates.sources[m.source];
            let at = t as isize + m.offset as isize;
            if at < 0 {
                text.push_str(&format!("_B{at}"));
            } else if at as usize >= sentence.n_tokens() {
                text.push_str(&format!("_B+{}", at as usize - sentence.n_tokens() + 1));
            } else {
                let cell = sentence.cell(at as usize, source.column);
                text.push_str(source.view.read(cell, &mut buffer).unwrap_or_default());
            }
            text.push_str(after);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: [&str; 6] = ["The", "DT", "dog", "NN", "barks", "VBZ"];

    fn build(text: &str) -> (Extractor, [SparseRows; 2], Names) {
        let mut builder = ExtractorBuilder::new(Templates::parse(text).unwrap());
        let (mut unary, mut pairs) = (SparseRows::new(), SparseRows::new());
        let sentence = Sentence::new(&CELLS, 2);
        builder.add(sentence, &mut unary, &mut pairs).unwrap();
        let (extractor, maps) = builder.finish(Cut::default());
        unary.renumber(|id| maps[0].get(id));
        pairs.renumber(|id| maps[1].get(id));
        let mut names = Names::default();
        extractor.name(sentence, &mut ExtractScratch::default(), &mut names).unwrap();
        (extractor, [unary, pairs], names)
    }

    fn named(x: &SparseRows, names: &[String]) -> Vec<Vec<String>> {
        (0..x.n_rows())
            .map(|i| {
                let mut row = Vec::new();
                x.row(i).for_each(|j, v| row.push(format!("{} {v}", names[j])));
                row.sort();
                row
            })
            .collect()
    }

    #[test]
    fn attributes_are_those_of_crf_plus_plus() {
        let (_, [unary, pairs], names) =
            build("U0:%x[0,0]\nU1:%x[-1,0]/%x[1,1]\nU2:%x[2,0]\nB1:%x[-1,1]\nB");
        assert_eq!(
            named(&unary, &names.unary),
            [
                ["U0:The 1", "U1:_B-1/NN 1", "U2:barks 1"],
                ["U0:dog 1", "U1:The/VBZ 1", "U2:_B+1 1"],
                ["U0:barks 1", "U1:dog/_B+1 1", "U2:_B+2 1"],
            ]
        );
        assert_eq!(named(&pairs, &names.pairs), [vec![], vec!["B1:DT 1"], vec!["B1:NN 1"]]);
    }

    #[test]
    fn templates_of_the_same_text_share_their_attributes() {
        let (extractor, [unary, _], names) =
            build("U:%x[-1,1,prefix:1]\nU:%x[1,1,prefix:1]\nU:bias");
        assert_eq!(
            named(&unary, &names.unary),
            [
                vec!["U:N 1", "U:_B-1 1", "U:bias 1"],
                vec!["U:D 1", "U:V 1", "U:bias 1"],
                vec!["U:N 1", "U:_B+1 1", "U:bias 1"]
            ]
        );
        assert_eq!(extractor.n_unary(), 6);
        let (_, [unary, _], names) = build("U:%x[0,1,prefix:1]\nU:%x[0,1,prefix:1]");
        assert_eq!(named(&unary, &names.unary)[0], ["U:D 2"]);
    }

    #[test]
    fn extraction_finds_what_was_built() {
        let text = crate::sequence::expand(
            "word,lower,shape,prefix:1-4,suffix:1-4,window:2,column:1,digits,caps,bias",
        )
        .unwrap();
        let (extractor, [unary, pairs], names) = build(&text);
        assert!(names.unary.iter().all(|name| name.starts_with("U:")));
        assert!(names.unary.iter().any(|name| name == "U:suffix3[0]=rks"));
        let stored = Extractor::new(
            Templates::parse(extractor.templates().text()).unwrap(),
            AttributeIndex::from_hashes(extractor.unary_index().hashes().unwrap()).unwrap(),
            AttributeIndex::from_hashes(extractor.pair_index().hashes().unwrap()).unwrap(),
        );
        let (mut again, mut again_pairs) = (SparseRows::new(), SparseRows::new());
        let mut s = ExtractScratch::default();
        stored.extract(Sentence::new(&CELLS, 2), &mut s, &mut again, &mut again_pairs).unwrap();
        assert_eq!((again.n_rows(), again_pairs.n_rows()), (3, 3));
        for i in 0..3 {
            assert_eq!(unary.row(i), again.row(i));
            assert_eq!(pairs.row(i), again_pairs.row(i));
        }
        // Unknown words keep what they share with known ones.
        again.clear();
        stored
            .extract(Sentence::new(&["xyz", "NN"], 2), &mut s, &mut again, &mut again_pairs)
            .unwrap();
        assert!(again.nnz() > 2 && again.nnz() < unary.nnz());
        let error =
            stored.extract(Sentence::new(&["xyz"], 1), &mut s, &mut again, &mut again_pairs);
        assert!(error.is_err());
    }

    #[test]
    fn hashing_needs_no_table() {
        let templates = Templates::parse("U0:%x[0,0]\nU1:%x[0,1]").unwrap();
        let extractor =
            Extractor::new(templates, AttributeIndex::hashed(10), AttributeIndex::hashed(0));
        let (mut unary, mut pairs) = (SparseRows::new(), SparseRows::new());
        let mut s = ExtractScratch::default();
        extractor.extract(Sentence::new(&CELLS, 2), &mut s, &mut unary, &mut pairs).unwrap();
        assert_eq!((extractor.n_unary(), unary.n_rows(), unary.nnz()), (1024, 3, 6));
    }
}
