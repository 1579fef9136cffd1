//! Schemes that write spans as labels, and the sequences that each makes legal.

use crate::{Error, Grammar};
use std::str::FromStr;

/// How spans are written as one label per token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `B-X` begins a span, `I-X` goes on (IOB2).
    Bio,
    /// `B-X I-X … E-X` for two or more tokens, `S-X` for one.
    Bioes,
    /// `I-X` in a span; `B-X` only where a span follows another of its own type.
    Iob1,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Begin,
    Inside,
    End,
    Single,
    Outside,
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "bio" => Ok(Scheme::Bio),
            "bioes" => Ok(Scheme::Bioes),
            "iob1" => Ok(Scheme::Iob1),
            _ => Err(Error::Scheme(name.to_string())),
        }
    }
}

impl Scheme {
    /// As it is written in a request.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Bio => "bio",
            Scheme::Bioes => "bioes",
            Scheme::Iob1 => "iob1",
        }
    }

    /// What the scheme forbids, for labels of these names.
    ///
    /// ```
    /// use lineal_chain::Scheme;
    /// let grammar = Scheme::Bio.grammar(&["O", "B-NP", "I-NP", "B-VP", "I-VP"])?;
    /// assert!(grammar.permits(1, 2) && !grammar.permits(0, 2) && !grammar.permits(3, 2));
    /// assert!(!grammar.permits_start(2));
    /// # Ok::<(), lineal_chain::Error>(())
    /// ```
    pub fn grammar<S: AsRef<str>>(self, names: &[S]) -> Result<Grammar, Error> {
        let labels =
            names.iter().map(|name| self.parse(name.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let mut grammar = Grammar::free(names.len());
        for (to, &label) in labels.iter().enumerate() {
            for (from, &before) in labels.iter().enumerate() {
                if !self.permits(Some(before), Some(label)) {
                    grammar.forbid(from, to);
                }
            }
            if !self.permits(None, Some(label)) {
                grammar.forbid_start(to);
            }
            if !self.permits(Some(label), None) {
                grammar.forbid_end(to);
            }
        }
        Ok(grammar)
    }

    fn parse(self, label: &str) -> Result<(Place, &str), Error> {
        let unknown = || Error::Label {
            label: label.to_string(),
            scheme: self.name(),
            expected: match self {
                Scheme::Bioes => "`B-`, `I-`, `E-` or `S-` and a type",
                Scheme::Bio | Scheme::Iob1 => "`B-` or `I-` and a type",
            },
        };
        if label == "O" {
            return Ok((Place::Outside, ""));
        }
        let (place, kind) = label.split_once('-').ok_or_else(unknown)?;
        let place = match (place, self) {
            ("B", _) => Place::Begin,
            ("I", _) => Place::Inside,
            ("E", Scheme::Bioes) => Place::End,
            ("S", Scheme::Bioes) => Place::Single,
            _ => return Err(unknown()),
        };
        Ok((place, kind))
    }

    /// May `to` follow `from`, where `None` is the border of the sequence?
    fn permits(self, from: Option<(Place, &str)>, to: Option<(Place, &str)>) -> bool {
        use Place::{Begin, End, Inside, Outside};
        let outside = (Outside, "");
        let ((from, from_kind), (to, to_kind)) = (from.unwrap_or(outside), to.unwrap_or(outside));
        let same = from_kind == to_kind;
        match self {
            Scheme::Bio => to != Inside || (same && matches!(from, Begin | Inside)),
            Scheme::Iob1 => to != Begin || (same && matches!(from, Begin | Inside)),
            Scheme::Bioes => {
                let open = matches!(from, Begin | Inside);
                let goes_on = matches!(to, Inside | End);
                open == goes_on && (!open || same)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal(scheme: Scheme, names: &[&str], sequence: &str) -> bool {
        let grammar = scheme.grammar(names).unwrap();
        let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
        let labels: Vec<usize> = sequence.split(' ').map(at).collect();
        grammar.permits_start(labels[0])
            && labels.windows(2).all(|p| grammar.permits(p[0], p[1]))
            && grammar.permits_end(labels[labels.len() - 1])
    }

    #[test]
    fn each_scheme_has_its_legal_sequences() {
        let bio = ["O", "B-A", "I-A", "B-B", "I-B"];
        for good in ["O", "B-A I-A I-A", "B-A B-A O", "B-A B-B I-B", "B-B O B-A"] {
            assert!(legal(Scheme::Bio, &bio, good), "{good}");
        }
        for bad in ["I-A", "O I-A", "B-A I-B", "I-B I-B"] {
            assert!(!legal(Scheme::Bio, &bio, bad), "{bad}");
        }
        for good in ["I-A I-A", "I-A B-A I-A", "I-A I-B B-B", "O I-B"] {
            assert!(legal(Scheme::Iob1, &bio, good), "{good}");
        }
        for bad in ["B-A", "O B-A", "I-A B-B"] {
            assert!(!legal(Scheme::Iob1, &bio, bad), "{bad}");
        }
        let bioes = ["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"];
        for good in ["S-A S-A S-B", "B-A I-A E-A O", "B-A E-A B-B E-B", "O"] {
            assert!(legal(Scheme::Bioes, &bioes, good), "{good}");
        }
        for bad in ["B-A", "B-A I-A", "B-A O", "E-A", "O I-A", "B-A E-B", "B-A S-A", "S-A E-A"] {
            assert!(!legal(Scheme::Bioes, &bioes, bad), "{bad}");
        }
    }

    #[test]
    fn a_label_of_another_scheme_is_named() {
        let error = Scheme::Bio.grammar(&["O", "S-A"]).unwrap_err().to_string();
        assert!(error.contains("`S-A`") && error.contains("bio"), "{error}");
        assert!(Scheme::Bioes.grammar(&["NP"]).is_err());
        assert!("iobes".parse::<Scheme>().is_err());
        assert_eq!("bioes".parse::<Scheme>().unwrap(), Scheme::Bioes);
    }
}
