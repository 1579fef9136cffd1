//! Templates, compiled: which cells a sentence must hash, and for each template the places and cells that it joins.
//!
//! A template's feature at given words is the exclusive or of one *key* per place, so that the keys of all words are computed once per sentence and an arc costs one
//! operation per template: key(h) ⊕ key(m). A key is a hash of the template, the place and the cells there (Zobrist 1970 hashes boards in this way).

use super::syntax::{Atom, Change, Line, SHAPES, Section, parse};
use super::{TemplateError, hash};

/// The templates that Lineal uses unless it is given others.
pub const BUILT_IN: &str = include_str!("built_in.txt");

/// Templates of every section, for given columns.
#[derive(Clone, Debug)]
pub struct Templates {
    columns: Vec<String>,
    text: String,
    pub(crate) channels: Channels,
    programs: [Program; Section::ALL.len()],
}

/// What is read of each word: one number per single channel, a list per split one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    pub(crate) single: Vec<(usize, Change)>,
    pub(crate) split: Vec<usize>,
}

/// The templates of one section.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) section: Section,
    /// First those that give exactly one feature.
    pub(crate) templates: Vec<Template>,
    /// How many these are.
    pub(crate) n_single: usize,
}

/// One line of the file.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

/// The atoms of a template at one place.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) place: usize,
    pub(crate) seed: u64,
    pub(crate) atoms: Vec<CellOf>,
}

/// A cell near a place, or a shape of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellOf {
    Single { channel: usize, offset: i32 },
    Split { channel: usize, offset: i32 },
    Shape(usize),
}

/// How many atoms of a template may have several values.
const MANY: usize = 2;

impl Templates {
    /// Reads templates for sentences with these columns. A template that names another column is an error.
    pub fn parse(text: &str, columns: &[&str]) -> Result<Self, TemplateError> {
        let lines = parse(text)?;
        for line in &lines {
            // Each gives a feature for every value: more of them would give their product.
            let is_many = |atom: &&Atom| match atom {
                Atom::Cell { place, change, .. } => {
                    *change == Change::Split || line.section.is_many(*place)
                }
                Atom::Shape(_) => false,
            };
            if line.atoms.iter().filter(is_many).count() > MANY {
                let message = format!(
                    "at most {MANY} atoms of a template may have several values (`*`, between, child, sibling)"
                );
                return Err(TemplateError::Syntax { line: line.number, message });
            }
            for atom in &line.atoms {
                if let Atom::Cell { column, .. } = atom
                    && !columns.contains(&column.as_str())
                {
                    let message = format!(
                        "there is no column `{column}`: the columns are {}",
                        columns.join(", ")
                    );
                    return Err(TemplateError::Syntax { line: line.number, message });
                }
            }
        }
        Self::compile(text, &lines, columns)
    }

    /// The [built-in templates](BUILT_IN) for these columns. Without lemmas the form stands in, without `xpos` the tag of `upos`; templates that still name a
    /// column that is not there are left out.
    pub fn built_in(columns: &[&str]) -> Result<Self, TemplateError> {
        let missing = |name: &&str| !columns.contains(name);
        let mut text = BUILT_IN.to_string();
        for (column, substitute) in [("lemma", "form"), ("xpos", "upos")] {
            if missing(&column) {
                text = text.replace(&format!(".{column}"), &format!(".{substitute}"));
            }
        }
        let has = |atom: &Atom| match atom {
            Atom::Cell { column, .. } => columns.contains(&column.as_str()),
            Atom::Shape(_) => true,
        };
        let mut lines: Vec<Line> = Vec::new();
        for line in parse(&text)?.into_iter().filter(|line| line.atoms.iter().all(has)) {
            if !lines.iter().any(|known| (known.section, &known.text) == (line.section, &line.text))
            {
                lines.push(line);
            }
        }
        Self::compile(BUILT_IN, &lines, columns)
    }

    fn compile(text: &str, lines: &[Line], columns: &[&str]) -> Result<Self, TemplateError> {
        let mut channels = Channels::default();
        let mut programs =
            Section::ALL.map(|section| Program { section, templates: Vec::new(), n_single: 0 });
        for program in &mut programs {
            let section = program.section;
            let (mut single, mut several) = (Vec::new(), Vec::new());
            for line in lines.iter().filter(|line| line.section == section) {
                let template = channels.template(line, columns);
                let is_single = template.parts.iter().all(|part| {
                    !section.is_many(part.place)
                        && !part.atoms.iter().any(|atom| matches!(atom, CellOf::Split { .. }))
                });
                if is_single { single.push(template) } else { several.push(template) }
            }
            program.n_single = single.len();
            program.templates = single;
            program.templates.append(&mut several);
        }
        let templates = Self {
            columns: columns.iter().map(|&column| column.into()).collect(),
            text: text.into(),
            channels,
            programs,
        };
        if templates.program(Section::Arcs).templates.is_empty() {
            return Err(TemplateError::Missing(Section::Arcs.name()));
        }
        Ok(templates)
    }

    /// The columns of sentences, in their order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The file that they were read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many templates a section has.
    pub fn n_templates(&self, section: Section) -> usize {
        self.program(section).templates.len()
    }

    pub(crate) fn program(&self, section: Section) -> &Program {
        &self.programs[section as usize]
    }
}

impl Channels {
    fn template(&mut self, line: &Line, columns: &[&str]) -> Template {
        let seed = hash::push(
            hash::text(line.section.name().as_bytes()),
            hash::text(line.text.as_bytes()),
        );
        let mut parts: Vec<Part> = Vec::new();
        for atom in &line.atoms {
            let (place, atom) = match atom {
                Atom::Shape(shape) => (line.section.places().len(), CellOf::Shape(*shape)),
                Atom::Cell { place, offset, column, change } => {
                    // The callers have checked that the column is there.
                    let column = columns.iter().position(|c| c == column).unwrap_or_default();
                    (*place, self.cell(column, *change, *offset))
                }
            };
            match parts.iter_mut().find(|part| part.place == place) {
                Some(part) => part.atoms.push(atom),
                None => parts.push(Part {
                    place,
                    seed: hash::push(seed, place as u64),
                    atoms: vec![atom],
                }),
            }
        }
        Template { parts }
    }

    fn cell(&mut self, column: usize, change: Change, offset: i32) -> CellOf {
        fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
            list.iter().position(|known| *known == item).unwrap_or_else(|| {
                list.push(item);
                list.len() - 1
            })
        }
        match change {
            Change::Split => CellOf::Split { channel: place(&mut self.split, column), offset },
            _ => CellOf::Single { channel: place(&mut self.single, (column, change)), offset },
        }
    }
}

/// The names of the shapes of a tree that a template of relations can read, in the order of their numbers.
pub(crate) fn shape_name(shape: usize) -> &'static str {
    SHAPES[shape]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_set_adapts_to_the_columns() {
        let all = Templates::built_in(&["form", "lemma", "upos", "xpos", "feats"]).unwrap();
        let few = Templates::built_in(&["form", "upos"]).unwrap();
        for section in Section::ALL {
            assert!(few.n_templates(section) >= 5, "{section:?}");
            assert!(few.n_templates(section) < all.n_templates(section), "{section:?}");
        }
        assert_eq!(Templates::built_in(&["deprel"]).unwrap_err(), TemplateError::Missing("arcs"));
    }

    #[test]
    fn an_unknown_column_is_an_error() {
        let error = Templates::parse("[arcs]\nh.form\nm.pos", &["form", "upos"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: there is no column `pos`: the columns are form, upos"
        );
    }

    #[test]
    fn templates_with_several_features_come_last() {
        let t =
            Templates::parse("[arcs]\nbetween.upos\nh.upos\nm.feats*\nm.upos", &["upos", "feats"])
                .unwrap();
        assert_eq!((t.program(Section::Arcs).n_single, t.n_templates(Section::Arcs)), (2, 4));
        assert_eq!(t.n_templates(Section::Heads), 0);
    }
}
