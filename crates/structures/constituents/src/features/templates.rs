//! Templates: which properties of a span make a feature together.
//!
//! ```text
//! [label]                       weights for each kind of phrase that the span may be
//! first.word last.tag           one template per line: its atoms, which make one feature together
//! first-1.tag first.tag length
//! [left]                        weights for each parent of which the span may be the left child
//! [right]                       … the right child
//! [span]                        one weight, whatever the phrase: the pruner's
//! ```
//!
//! An atom is a *place* and a *channel*, or a property of the whole span:
//!
//! | atom | what |
//! |---|---|
//! | `first`, `first+1`, `first-1`, … | words near the beginning: `first-1` is the one before the span |
//! | `last`, `last-1`, `last+1`, … | words near the end: `last+1` is the one after the span |
//! | `.word`, `.lower`, `.tag`, `.shape` | the word, in lower case, its part of speech, its capitals, digits and signs |
//! | `.prefixN`, `.suffixN` | its first or last N characters |
//! | `length` | how many words, in steps that grow |
//! | `tags` | all parts of speech of a span of up to eight words |
//! | `outline` | the first two letters of all parts of speech, repeats left out |
//! | `pattern` | what the words look like (capitals, digits, signs), repeats left out |
//! | `bias` | always the same |

use super::TemplateError;

/// What a section describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// A span with its symbol.
    Label,
    /// A span as the left child of a symbol.
    Left,
    /// A span as the right child of a symbol.
    Right,
    /// A span in any derivation.
    Span,
}

impl Section {
    /// All sections.
    pub const ALL: [Section; 4] = [Section::Label, Section::Left, Section::Right, Section::Span];

    /// Its name in a file of templates.
    pub fn name(self) -> &'static str {
        match self {
            Section::Label => "label",
            Section::Left => "left",
            Section::Right => "right",
            Section::Span => "span",
        }
    }
}

/// What is read of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Word,
    Lower,
    Tag,
    Shape,
    Prefix(u8),
    Suffix(u8),
}

/// A property of a whole span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    Length,
    Tags,
    Outline,
    Pattern,
    Bias,
}

/// Words near an end of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Near {
    /// Words after the first or the last one.
    pub(crate) offset: i32,
    /// Which of the templates' channels.
    pub(crate) channel: usize,
}

/// One property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    First(Near),
    Last(Near),
    Whole(Whole),
}

/// Atoms that make one feature together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// As they were written, in that order.
    pub(crate) atoms: Vec<(String, Atom)>,
    pub(crate) first: Vec<Near>,
    pub(crate) last: Vec<Near>,
    pub(crate) whole: Vec<Whole>,
    /// Tells templates apart.
    pub(crate) seed: u64,
}

impl Atom {
    fn first(&self) -> Option<Near> {
        if let Atom::First(near) = self { Some(*near) } else { None }
    }

    fn last(&self) -> Option<Near> {
        if let Atom::Last(near) = self { Some(*near) } else { None }
    }

    fn whole(&self) -> Option<Whole> {
        if let Atom::Whole(whole) = self { Some(*whole) } else { None }
    }
}

/// The templates of all sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Templates {
    pub(crate) channels: Vec<Channel>,
    /// Those without properties of the whole span come first.
    sections: [Vec<Template>; 4],
    n_plain: [usize; 4],
}

/// The templates that are used if there are no others.
pub const BUILT_IN: &str = include_str!("built_in.txt");

impl Templates {
    /// Reads templates.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut all = Self { channels: Vec::new(), sections: Default::default(), n_plain: [0; 4] };
        let mut section = None;
        for (at, line) in text.lines().enumerate() {
            let wrong = |message: String| TemplateError::Syntax { line: at + 1, message };
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                let found = Section::ALL.into_iter().find(|section| section.name() == name);
                let message =
                    || wrong(format!("`[{name}]` is not one of [label], [left], [right], [span]"));
                section = Some(found.ok_or_else(message)?);
                continue;
            }
            let section = section.ok_or_else(|| {
                wrong("a template stands before the first section: add `[label]`".into())
            })?;
            let seed = super::hash::text(format!("{} {line}", section.name()).as_bytes());
            let mut atoms = Vec::new();
            for text in line.split_whitespace() {
                atoms.push((text.to_string(), all.atom(text).map_err(wrong)?));
            }
            let template = Template {
                first: atoms.iter().filter_map(|(_, atom)| atom.first()).collect(),
                last: atoms.iter().filter_map(|(_, atom)| atom.last()).collect(),
                whole: atoms.iter().filter_map(|(_, atom)| atom.whole()).collect(),
                atoms,
                seed,
            };
            all.sections[section as usize].push(template);
        }
        for (templates, n_plain) in all.sections.iter_mut().zip(&mut all.n_plain) {
            templates.sort_by_key(|template| !template.whole.is_empty());
            *n_plain = templates.partition_point(|template| template.whole.is_empty());
        }
        match all.sections[Section::Label as usize].is_empty() {
            true => Err(TemplateError::Missing("label")),
            false => Ok(all),
        }
    }

    /// The built-in ones.
    pub fn built_in() -> Self {
        let empty = Self { channels: Vec::new(), sections: Default::default(), n_plain: [0; 4] };
        Self::parse(BUILT_IN).unwrap_or(empty)
    }

    /// Reads an atom.
    fn atom(&mut self, atom: &str) -> Result<Atom, String> {
        let whole = match atom {
            "length" => Some(Whole::Length),
            "tags" => Some(Whole::Tags),
            "outline" => Some(Whole::Outline),
            "pattern" => Some(Whole::Pattern),
            "bias" => Some(Whole::Bias),
            _ => None,
        };
        if let Some(whole) = whole {
            return Ok(Atom::Whole(whole));
        }
        let unknown = || {
            format!(
                "`{atom}` is not an atom: write a place and a channel, as in `first-1.tag`, or `length`, `tags`, `outline`, `pattern`, `bias`"
            )
        };
        let (place, channel) = atom.split_once('.').ok_or_else(unknown)?;
        let number = |text: &str| text.parse::<u8>().ok().filter(|n| (1..=9).contains(n));
        let channel = match channel {
            "word" => Channel::Word,
            "lower" => Channel::Lower,
            "tag" => Channel::Tag,
            "shape" => Channel::Shape,
            other => {
                let prefix = other.strip_prefix("prefix").and_then(number).map(Channel::Prefix);
                let suffix = other.strip_prefix("suffix").and_then(number).map(Channel::Suffix);
                prefix.or(suffix).ok_or_else(unknown)?
            }
        };
        let (end, offset) = match (place.strip_prefix("first"), place.strip_prefix("last")) {
            (Some(offset), _) => (Atom::First as fn(Near) -> Atom, offset),
            (_, Some(offset)) => (Atom::Last as fn(Near) -> Atom, offset),
            _ => return Err(unknown()),
        };
        let offset = match offset {
            "" => 0,
            offset => offset
                .parse()
                .ok()
                .filter(|offset| (-9..=9).contains(offset))
                .ok_or_else(unknown)?,
        };
        let known = self.channels.iter().position(|known| *known == channel);
        let channel = known.unwrap_or_else(|| {
            self.channels.push(channel);
            self.channels.len() - 1
        });
        Ok(end(Near { offset, channel }))
    }

    /// How many templates a section has: so many features has each span.
    pub fn n_templates(&self, section: Section) -> usize {
        self.sections[section as usize].len()
    }

    /// The templates of a section.
    pub(crate) fn section(&self, section: Section) -> &[Template] {
        &self.sections[section as usize]
    }

    /// How many of them have no property of the whole span.
    pub(crate) fn n_plain(&self, section: Section) -> usize {
        self.n_plain[section as usize]
    }
}

impl Default for Templates {
    fn default() -> Self {
        Self::built_in()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_templates_are_read() {
        let templates = Templates::parse(BUILT_IN).unwrap();
        assert!(Section::ALL.into_iter().all(|section| templates.n_templates(section) > 0));
        assert_eq!(templates, Templates::built_in());
    }

    #[test]
    fn what_is_not_a_template_is_named() {
        let message = |text: &str| Templates::parse(text).unwrap_err().to_string();
        assert!(message("[label]\nfirst").starts_with("line 2: `first` is not an atom"));
        assert!(message("[label]\nfirst+99.tag").starts_with("line 2: `first+99.tag`"));
        assert!(message("length").starts_with("line 1: a template stands before"));
        assert!(message("[labels]").contains("`[labels]` is not one of"));
        assert_eq!(message("[left]\nlength"), "section [label] has no template");
    }
}
