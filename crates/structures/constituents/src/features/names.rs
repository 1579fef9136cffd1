//! The features of a span in words, in the order of their hashes.

use super::keys::{MOST_TAGS, length_name};
use super::sentences::{coarse, look, read};
use super::templates::{Atom, Near, Section, Templates, Whole};

/// A sentence as text.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a, W, T> {
    pub(crate) words: &'a [W],
    pub(crate) tags: &'a [T],
}

impl<W: AsRef<str>, T: AsRef<str>> Texts<'_, W, T> {
    fn tag(&self, word: usize) -> &str {
        self.tags.get(word).map_or("", AsRef::as_ref)
    }

    /// The names of the features of the words `i` to `j` − 1: `first.tag=DT last.word=dog`.
    pub(crate) fn names(
        &self,
        templates: &Templates,
        section: Section,
        i: usize,
        j: usize,
    ) -> Vec<String> {
        let near = |word: usize, near: Near| {
            let word = word as i64 + i64::from(near.offset);
            match word {
                word if word < 0 => "<start>".into(),
                word if word as usize >= self.words.len() => "<end>".into(),
                word => {
                    let (word, mut buffer) = (word as usize, String::new());
                    let channel = templates.channels[near.channel];
                    read(channel, self.words[word].as_ref(), self.tag(word), &mut buffer)
                        .to_string()
                }
            }
        };
        let value = |atom: &Atom| match *atom {
            Atom::First(place) => near(i, place),
            Atom::Last(place) => near(j - 1, place),
            Atom::Whole(whole) => self.whole(whole, i, j),
        };
        let name = |(text, atom): &(String, Atom)| match atom {
            Atom::Whole(Whole::Bias) => text.clone(),
            atom => format!("{text}={}", value(atom)),
        };
        let names = templates.section(section).iter();
        names.map(|t| t.atoms.iter().map(name).collect::<Vec<_>>().join(" ")).collect()
    }

    fn whole(&self, whole: Whole, i: usize, j: usize) -> String {
        let all = |text: &dyn Fn(usize) -> String, between: &str| {
            let mut texts: Vec<String> = (i..j).map(text).collect();
            texts.dedup();
            texts.join(between)
        };
        match whole {
            Whole::Length => length_name(j - i).into(),
            Whole::Tags if j - i > MOST_TAGS => "<long>".into(),
            Whole::Tags => (i..j).map(|word| self.tag(word)).collect::<Vec<_>>().join("_"),
            Whole::Outline => all(&|word| coarse(self.tag(word)).into(), "_"),
            Whole::Pattern => all(&|word| look(self.words[word].as_ref()).into(), ""),
            Whole::Bias => String::new(),
        }
    }
}
