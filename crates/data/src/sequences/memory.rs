//! Sequences from memory: tokens and attributes in place of files.

use super::schema::SequenceSchema;
use super::table::{Sequences, UNLABELLED};
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use std::fmt::Write;

/// What messages call the data.
const SOURCE: &str = "sequences";

/// What a token is made of.
enum Tokens {
    /// Its word.
    Words,
    /// Its attributes, as CRFsuite has them.
    Attributes,
}

impl Tokens {
    fn schema(&self) -> SequenceSchema {
        let (format, first) = match self {
            // One list of tokens and one of labels: what an object of JSON lines has.
            Tokens::Words => (Format::Jsonl, "tokens"),
            Tokens::Attributes => (Format::Crfsuite, "attributes"),
        };
        let columns = vec![first.to_owned(), "labels".to_owned()];
        SequenceSchema { format, columns, label: 1, labels: Vec::new(), texts: None }
    }
}

impl Sequences {
    /// Sequences of tokens with the label of each.
    ///
    /// ```
    /// # use lineal_data::Sequences;
    /// let data = Sequences::from_tokens(&[vec!["the", "dog"], vec!["barks"]], &[vec!["DT", "NN"], vec!["VBZ"]])?;
    /// assert_eq!((data.len(), data.n_tokens()), (2, 3));
    /// assert_eq!(data.schema.labels, ["DT", "NN", "VBZ"]);
    /// # Ok::<(), lineal_data::Error>(())
    /// ```
    pub fn from_tokens<S: AsRef<[T]>, T: AsRef<str>, L: AsRef<[Y]>, Y: AsRef<str>>(
        tokens: &[S],
        labels: &[L],
    ) -> Result<Self, Error> {
        let mut data = Sequences::new(SOURCE.into(), Tokens::Words.schema());
        data.push_all(tokens, Some(labels), &mut |token, text| text.push_str(token.as_ref()))?;
        data.learnt()
    }

    /// Sequences whose tokens have attributes, each with a value, and a label: what CRFsuite's files hold.
    ///
    /// ```
    /// # use lineal_data::Sequences;
    /// let tokens = [vec![vec![("word=the", 1.0), ("length", 3.0)], vec![("word=dog", 1.0)]]];
    /// let data = Sequences::from_attributes(&tokens, &[["DT", "NN"]])?;
    /// assert_eq!(data.get(0).cell(0, 0), "word=the\tlength:3");
    /// # Ok::<(), lineal_data::Error>(())
    /// ```
    pub fn from_attributes<S, T, N, L, Y>(tokens: &[S], labels: &[L]) -> Result<Self, Error>
    where
        S: AsRef<[T]>,
        T: AsRef<[(N, f64)]>,
        N: AsRef<str>,
        L: AsRef<[Y]>,
        Y: AsRef<str>,
    {
        let mut data = Sequences::new(SOURCE.into(), Tokens::Attributes.schema());
        check_values(tokens)?;
        data.push_all(tokens, Some(labels), &mut |token, text| write_attributes(token, text))?;
        data.learnt()
    }

    /// Tokens without labels, for a model whose schema this is. It must read words and nothing beside them.
    pub fn tokens_for<S: AsRef<[T]>, T: AsRef<str>>(
        schema: &SequenceSchema,
        tokens: &[S],
    ) -> Result<Self, Error> {
        let is_plain = schema.columns.len() == 2 && schema.label == 1 && !schema.has_attributes();
        if !is_plain && schema.format != Format::Conllu {
            let columns: Vec<&str> = schema.columns.iter().map(String::as_str).collect();
            return Err(bad(format!(
                "tokens are words alone, and the model reads the columns {}",
                columns.join(", ")
            )));
        }
        let mut data = Sequences::new(SOURCE.into(), schema.clone());
        if schema.format == Format::Conllu {
            // Nothing is known but the form: what a file would have a `_` for.
            data.push_all(tokens, NO_LABELS, &mut |token, text| {
                let _ = write!(text, "_\t{}\t_\t_\t_\t_\t_\t_\t_\t_", token.as_ref());
            })?;
            data.split_cells(schema.columns.len());
        } else {
            data.push_all(tokens, NO_LABELS, &mut |token, text| text.push_str(token.as_ref()))?;
        }
        Ok(data)
    }

    /// Attributes without labels, for a model whose schema this is.
    pub fn attributes_for<S, T, N>(schema: &SequenceSchema, tokens: &[S]) -> Result<Self, Error>
    where
        S: AsRef<[T]>,
        T: AsRef<[(N, f64)]>,
        N: AsRef<str>,
    {
        if !schema.has_attributes() {
            return Err(bad("the model makes attributes of words itself: give it tokens".into()));
        }
        let mut data = Sequences::new(SOURCE.into(), schema.clone());
        check_values(tokens)?;
        data.push_all(tokens, NO_LABELS, &mut |token, text| write_attributes(token, text))?;
        Ok(data)
    }

    /// How much each sequence counts.
    pub fn with_weights(mut self, weights: Vec<f32>) -> Result<Self, Error> {
        if weights.len() != self.len() {
            return Err(bad(format!("{} weights for {} sequences", weights.len(), self.len())));
        }
        if let Some(at) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            return Err(bad(format!(
                "sequence {at} has the weight {}; weights are numbers of at least 0",
                weights[at]
            )));
        }
        self.weights = weights;
        Ok(self)
    }

    /// Adds sequences of one cell per token.
    fn push_all<S: AsRef<[T]>, T, L: AsRef<[Y]>, Y: AsRef<str>>(
        &mut self,
        tokens: &[S],
        labels: Option<&[L]>,
        cell: &mut dyn FnMut(&T, &mut String),
    ) -> Result<(), Error> {
        if let Some(labels) = labels.filter(|labels| labels.len() != tokens.len()) {
            let message =
                format!("{} sequences of labels for {} of tokens", labels.len(), tokens.len());
            return Err(bad(message));
        }
        self.n_columns = 1;
        self.has_labels = labels.is_some();
        for (at, tokens) in tokens.iter().enumerate() {
            let tokens = tokens.as_ref();
            let labels = labels.map(|labels| labels[at].as_ref());
            if let Some(labels) = labels.filter(|labels| labels.len() != tokens.len()) {
                return Err(bad(format!(
                    "sequence {at} has {} labels for {} tokens",
                    labels.len(),
                    tokens.len()
                )));
            }
            if tokens.is_empty() {
                return Err(bad(format!("sequence {at} has no tokens")));
            }
            let start = self.text.len();
            for (t, token) in tokens.iter().enumerate() {
                let before = self.text.len();
                cell(token, &mut self.text);
                let (from, len) = (before - start, self.text.len() - before);
                self.cells.push((from as u32, len as u32));
                self.text.push('\n');
                let gold = labels.map_or(UNLABELLED, |labels| self.label(labels[t].as_ref()));
                self.gold.push(gold);
            }
            self.end_sequence(start, self.text.len(), at + 1)?;
        }
        match self.is_empty() {
            true => Err(Error::new(ErrorKind::Empty, SOURCE, "there are no sequences")),
            false => Ok(()),
        }
    }

    /// Makes columns of cells whose fields have tabs between them.
    fn split_cells(&mut self, n_columns: usize) {
        let mut cells = Vec::with_capacity(self.cells.len() * n_columns);
        for sequence in 0..self.len() {
            let text = self.raw(sequence);
            for &(start, len) in &self.cells[self.tokens(sequence)] {
                let mut at = start;
                for field in text[start as usize..(start + len) as usize].splitn(n_columns, '\t') {
                    cells.push((at, field.len() as u32));
                    at += field.len() as u32 + 1;
                }
            }
        }
        self.cells = cells;
        self.n_columns = n_columns;
    }

    fn learnt(mut self) -> Result<Self, Error> {
        self.schema.labels = self.labels.clone();
        Ok(self)
    }
}

/// Nobody's labels.
const NO_LABELS: Option<&[Vec<String>]> = None;

fn check_values<S: AsRef<[T]>, T: AsRef<[(N, f64)]>, N: AsRef<str>>(
    tokens: &[S],
) -> Result<(), Error> {
    for (at, token) in
        tokens.iter().enumerate().flat_map(|(i, s)| s.as_ref().iter().map(move |t| (i, t)))
    {
        for (name, value) in token.as_ref() {
            if !(*value as f32).is_finite() {
                return Err(bad(format!(
                    "sequence {at}: the attribute `{}` has the value {value}",
                    name.as_ref()
                )));
            }
        }
    }
    Ok(())
}

/// As a line of CRFsuite has them: `:` and `\` of names escaped, and `#` where they begin, values where they are not 1.
fn write_attributes<N: AsRef<str>>(token: &impl AsRef<[(N, f64)]>, text: &mut String) {
    for (i, (name, value)) in token.as_ref().iter().enumerate() {
        if i > 0 {
            text.push('\t');
        }
        if name.as_ref().starts_with('#') {
            text.push('\\');
        }
        // A line knows no other place for these characters.
        for c in name.as_ref().chars() {
            match c {
                ':' | '\\' => text.extend(['\\', c]),
                '\t' | '\n' | '\r' => text.push(' '),
                c => text.push(c),
            }
        }
        if *value != 1.0 {
            let _ = write!(text, ":{}", *value as f32);
        }
    }
}

fn bad(message: String) -> Error {
    Error::new(ErrorKind::Value, SOURCE, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SequenceOptions, Source, read_sequences};

    #[test]
    fn tokens_are_what_json_lines_hold() {
        let text = "{\"tokens\": [\"a\", \"b c\"], \"labels\": [\"X\", \"Y\"]}\n{\"tokens\": [\"d\"], \"labels\": [\"X\"]}\n";
        let source = Source::Memory { name: "a.jsonl".into(), bytes: text.into() };
        let read = read_sequences(source, &SequenceOptions::default()).unwrap();
        let made =
            Sequences::from_tokens(&[vec!["a", "b c"], vec!["d"]], &[vec!["X", "Y"], vec!["X"]])
                .unwrap();
        assert_eq!(made.schema, read.schema);
        assert_eq!((made.gold(), made.n_columns()), (read.gold(), read.n_columns()));
        for i in 0..2 {
            assert!(made.cells(i).eq(read.cells(i)));
        }
    }

    #[test]
    fn tokens_for_conllu_are_forms() {
        let schema = SequenceSchema {
            format: Format::Conllu,
            columns: super::super::CONLLU.map(str::to_owned).to_vec(),
            label: 3,
            labels: vec!["NOUN".into()],
            texts: None,
        };
        let data = Sequences::tokens_for(&schema, &[["dogs", "bark"]]).unwrap();
        let sequence = data.get(0);
        assert_eq!(
            (sequence.cell(0, 1), sequence.cell(1, 1), sequence.cell(1, 3)),
            ("dogs", "bark", "_")
        );
        assert_eq!(sequence.gold(), [UNLABELLED; 2]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |data: Result<Sequences, Error>, said: &str| {
            let message = data.map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        };
        refused(
            Sequences::from_tokens(&[["a"]], &[["X", "Y"]]),
            "sequence 0 has 2 labels for 1 tokens",
        );
        refused(Sequences::from_tokens(&[["a"]], &[["X"], ["Y"]]), "2 sequences of labels for 1");
        let none: [[&str; 1]; 0] = [];
        refused(Sequences::from_tokens(&none, &none), "no sequences");
        refused(
            Sequences::from_attributes(&[[[("a", f64::NAN)]]], &[["X"]]),
            "`a` has the value NaN",
        );
        let data = Sequences::from_tokens(&[["a"]], &[["X"]]).unwrap();
        refused(Sequences::attributes_for(&data.schema, &[[[("a", 1.0)]]]), "give it tokens");
        refused(data.with_weights(vec![1.0, 2.0]), "2 weights for 1 sequences");
    }

    /// It was the beginning of a comment, and the rest of the token was lost.
    #[test]
    fn a_hash_that_begins_a_name_is_escaped() {
        let token = [("#a#", 1.0), ("b", 2.0)];
        let data = Sequences::from_attributes(&[[token]], &[["X"]]).unwrap();
        assert_eq!(data.get(0).cell(0, 0), "\\#a#\tb:2");
    }
}
