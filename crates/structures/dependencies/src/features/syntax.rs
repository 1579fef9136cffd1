//! The syntax of template files: sections of lines, one template per line.
//!
//! ```text
//! # A comment.
//! [arcs]
//! h.form m.upos                          the head's form together with the modifier's tag
//! h.upos h+1.upos m-1.upos m.upos        with the word after the head and the word before the modifier
//! h.upos between.upos m.upos             one feature for each tag between them
//! h.feats* m.feats*                      one feature for each pair of values (cells are split at `|`)
//! h.form:lower m.form:suffix3            lower case; the last three characters
//! ```
//!
//! An atom is a place, an optional offset and a column. What follows an atom changes its cell: `:lower`, `:shape` (Xxxx, dd), `:prefixN`, `:suffixN`, or `*` (each
//! part of a cell that is split at `|`). The places of a section:
//!
//! | section | its templates describe | places |
//! |---|---|---|
//! | `heads` | an arc, for the pruner | `h` head, `m` modifier, `between` each word between them |
//! | `arcs` | an arc | `h`, `m`, `between` |
//! | `siblings` | two successive modifiers of one head on one side | `h`, `s` the one nearer to the head (or none), `m` |
//! | `grandparents` | an arc and the head's head | `g`, `h`, `m` |
//! | `labels` | an arc with its relation, learnt jointly | `h`, `m`, `between` |
//! | `relations` | a word whose relation is chosen when the tree is known | `m`, `h`, `g`, `prev` and `next` the neighbouring modifiers of the same head, `left` and `right` the outermost modifiers of `m`, `child` each modifier of `m`, `sibling` each modifier of `h` |
//!
//! Templates of `relations` may also have `direction` and `distance` of the arc, `position` (first, last or only modifier of its head on its side) and `children` (how
//! many modifiers the word has). In the other sections direction and distance are part of every feature.

use super::TemplateError;

/// What a group of templates describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Arcs, for the pruner.
    Heads,
    /// Arcs.
    Arcs,
    /// Successive modifiers of one head.
    Siblings,
    /// An arc and the arc above it.
    Grandparents,
    /// Arcs with their relation.
    Labels,
    /// Relations of words in a known tree.
    Relations,
}

impl Section {
    /// All sections.
    pub const ALL: [Section; 6] = [
        Section::Heads,
        Section::Arcs,
        Section::Siblings,
        Section::Grandparents,
        Section::Labels,
        Section::Relations,
    ];

    /// As it stands between brackets.
    pub fn name(self) -> &'static str {
        match self {
            Section::Heads => "heads",
            Section::Arcs => "arcs",
            Section::Siblings => "siblings",
            Section::Grandparents => "grandparents",
            Section::Labels => "labels",
            Section::Relations => "relations",
        }
    }

    /// The names of places; an atom's place is a position in this list.
    pub fn places(self) -> &'static [&'static str] {
        match self {
            Section::Heads | Section::Arcs | Section::Labels => &["h", "m", "between"],
            Section::Siblings => &["h", "s", "m"],
            Section::Grandparents => &["g", "h", "m"],
            Section::Relations => {
                &["m", "h", "g", "prev", "next", "left", "right", "child", "sibling"]
            }
        }
    }

    /// Whether a place stands for several words.
    pub(crate) fn is_many(self, place: usize) -> bool {
        matches!(self.places().get(place), Some(&("between" | "child" | "sibling")))
    }
}

/// What an atom says of the tree and not of a cell.
pub(crate) const SHAPES: [&str; 4] = ["direction", "distance", "position", "children"];

/// What is done to a cell before it is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    Whole,
    /// Lower case.
    Lower,
    /// Runs of upper case, lower case, digits and others.
    Shape,
    /// The first characters.
    Prefix(u8),
    /// The last characters.
    Suffix(u8),
    /// Each part between bars.
    Split,
}

impl Change {
    /// As it is written after a column.
    pub(crate) fn mark(self) -> String {
        match self {
            Change::Whole => String::new(),
            Change::Lower => ":lower".into(),
            Change::Shape => ":shape".into(),
            Change::Prefix(n) => format!(":prefix{n}"),
            Change::Suffix(n) => format!(":suffix{n}"),
            Change::Split => "*".into(),
        }
    }
}

/// One place of a template with what is read there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A cell.
    Cell { place: usize, offset: i32, column: String, change: Change },
    /// One of [`SHAPES`].
    Shape(usize),
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) section: Section,
    pub(crate) atoms: Vec<Atom>,
    /// The atoms as written, one space between them.
    pub(crate) text: String,
}

/// Reads a file of templates.
pub(crate) fn parse(text: &str) -> Result<Vec<Line>, TemplateError> {
    let mut section = None;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let wrong = |message| TemplateError::Syntax { line: number, message };
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.strip_suffix(']').map(str::trim);
            section = Section::ALL.into_iter().find(|s| Some(s.name()) == name);
            if section.is_none() {
                let names = Section::ALL.map(|s| format!("[{}]", s.name())).join(", ");
                return Err(wrong(format!("`{line}` is not a section: write one of {names}")));
            }
            continue;
        }
        let section = section.ok_or_else(|| {
            wrong("a template before the first section: start with a line such as [arcs]".into())
        })?;
        let atoms = line
            .split_whitespace()
            .map(|word| atom(word, section).map_err(wrong))
            .collect::<Result<Vec<_>, _>>()?;
        let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.push(Line { number, section, atoms, text });
    }
    Ok(lines)
}

fn atom(word: &str, section: Section) -> Result<Atom, String> {
    if let Some(shape) = SHAPES.iter().position(|&name| name == word) {
        if section == Section::Relations {
            return Ok(Atom::Shape(shape));
        }
        return Err(format!(
            "`{word}` belongs to [relations]: in [{}] direction and distance are part of every feature",
            section.name()
        ));
    }
    let Some((position, cell)) = word.split_once('.') else {
        return Err(format!("`{word}` is not an atom: write place.column, for example h.upos"));
    };
    let digits = position.find(['+', '-']).unwrap_or(position.len());
    let (name, offset) = position.split_at(digits);
    let Some(place) = section.places().iter().position(|&place| place == name) else {
        return Err(format!(
            "`{name}` in `{word}` is not a place of [{}]: choose from {}",
            section.name(),
            section.places().join(", ")
        ));
    };
    let offset = match offset {
        "" => 0,
        digits => digits
            .parse::<i32>()
            .ok()
            .filter(|offset| offset.unsigned_abs() <= 100)
            .ok_or_else(|| format!("`{digits}` in `{word}` is not an offset: write -1 or +2"))?,
    };
    let (column, change) = change(cell).ok_or_else(|| {
        format!("`{cell}` in `{word}`: after a column come :lower, :shape, :prefix1 to :prefix9, :suffix1 to :suffix9, or *")
    })?;
    if column.is_empty() {
        return Err(format!("`{word}` names no column"));
    }
    Ok(Atom::Cell { place, offset, column: column.into(), change })
}

fn change(cell: &str) -> Option<(&str, Change)> {
    if let Some(column) = cell.strip_suffix('*') {
        return Some((column, Change::Split));
    }
    let Some((column, name)) = cell.split_once(':') else {
        return Some((cell, Change::Whole));
    };
    let length = |digits: &str| digits.parse().ok().filter(|n| (1..=9).contains(n));
    let change = match name {
        "lower" => Change::Lower,
        "shape" => Change::Shape,
        _ => match (name.strip_prefix("prefix"), name.strip_prefix("suffix")) {
            (Some(digits), _) => Change::Prefix(length(digits)?),
            (_, Some(digits)) => Change::Suffix(length(digits)?),
            _ => return None,
        },
    };
    Some((column, change))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_atoms() {
        let lines = parse("# set\n[arcs]\n\nh.form   m-1.feats*  # both\n[relations]\nchild.form:suffix3 distance").unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].number, lines[0].text.as_str()), (4, "h.form m-1.feats*"));
        assert_eq!(
            lines[0].atoms[1],
            Atom::Cell { place: 1, offset: -1, column: "feats".into(), change: Change::Split }
        );
        assert_eq!(lines[1].atoms[1], Atom::Shape(1));
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = [
            ("h.form", "line 1: a template before the first section"),
            ("[arc]", "line 1: `[arc]` is not a section"),
            ("[arcs]\nh.form\nform", "line 3: `form` is not an atom"),
            (
                "[arcs]\ns.form",
                "line 2: `s` in `s.form` is not a place of [arcs]: choose from h, m, between",
            ),
            ("[arcs]\nh+x.form", "line 2: `+x` in `h+x.form` is not an offset"),
            ("[arcs]\nh+999.form", "line 2: `+999` in `h+999.form` is not an offset"),
            ("[arcs]\nh.form:upper", "line 2: `form:upper` in `h.form:upper`"),
            ("[arcs]\nh.form:prefix0", "line 2: `form:prefix0` in"),
            ("[arcs]\nh.", "line 2: `h.` names no column"),
            ("[arcs]\nh.form distance", "line 2: `distance` belongs to [relations]"),
        ];
        for (text, message) in wrong {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
