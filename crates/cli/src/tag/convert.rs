//! `lineal convert` for sequences: columns, CoNLL-U, CRFsuite attributes, JSON lines. What a format has no place for is reported.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::bail;
use lineal::{
    Format, Sequence, SequenceOptions, Sequences, Source, StructuredModel, TagModel, Task,
};
use serde_json::{Map, Value, json};

use crate::args::ConvertArgs;
use crate::exit::usage;
use crate::files;
use crate::talk::{Talk, count};

/// Attributes of CRFsuite files that hold the word, by how they usually begin.
const WORDS: [&str; 6] = ["w[0]", "word", "w", "token", "form", "word.lower()"];

/// Whether what is converted is sequences: one of the two formats holds nothing else, or it is said.
pub fn is_meant(args: &ConvertArgs, to: Format) -> bool {
    let holds = |format: Format| Format::SEQUENCES.contains(&format) && format != Format::Jsonl;
    let named = || Format::from_name(&args.data.to_string_lossy());
    args.task == Task::Tag || holds(to) || args.file.format.or_else(named).is_some_and(holds)
}

/// Reads, writes and says what was lost.
pub fn run(args: &ConvertArgs, source: Source, to: Format) -> anyhow::Result<()> {
    let talk = Talk::new(args.run.quiet);
    if !Format::SEQUENCES.contains(&to) {
        bail!("{to} has no place for sequences; write conll, conllu, crfsuite or jsonl");
    }
    if args.names.is_some() || args.maps.first().is_some() {
        return usage("--names and --map are about rows: leave them out for sequences");
    }
    let options = SequenceOptions {
        format: args.file.format,
        label: args.file.label.clone(),
        unlabelled: None,
        weight: args.file.weight.clone(),
    };
    let model = args.model.as_deref().map(TagModel::load).transpose()?;
    if model.is_some() && to != Format::Crfsuite {
        return usage(
            "--model makes attributes, and these are written to CRFsuite files: say --to crfsuite, or leave it out",
        );
    }
    let data = match &model {
        Some(model) => model.read(source, &options)?,
        None => lineal::read_sequences(source, &options)?,
    };
    let mut writer = Writer::new(&data, args, to, model.as_ref())?;
    let mut failed = None;
    files::write_output(Some(&args.out), |out| {
        data.iter().try_for_each(|sequence| {
            writer.write(out, sequence).map_err(|error| {
                let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
                failed = Some(error);
                io::Error::new(kind.unwrap_or(io::ErrorKind::Other), "not written")
            })
        })
    })
    .or_else(|error| failed.take().map_or(Err(error), Err))?;
    writer.losses().iter().for_each(|loss| talk.say(format_args!("lost: {loss}")));
    talk.say(format_args!(
        "wrote {} of {} to {}",
        count(data.len(), "sequence"),
        count(data.n_tokens(), "token"),
        args.out.display()
    ));
    Ok(())
}

/// Writes sequences in another format.
struct Writer<'a> {
    data: &'a Sequences,
    to: Format,
    model: Option<&'a TagModel>,
    /// The columns to write, with their names; the word's is the first.
    columns: Vec<(usize, String)>,
    /// What begins the attribute that holds the word.
    word: Option<String>,
    n_attributes: usize,
    n_changed: usize,
    n_other_lines: usize,
    n_values: usize,
    lost: BTreeSet<&'static str>,
}

impl<'a> Writer<'a> {
    fn new(
        data: &'a Sequences,
        args: &ConvertArgs,
        to: Format,
        model: Option<&'a TagModel>,
    ) -> anyhow::Result<Self> {
        let schema = &data.schema;
        let from = schema.format;
        let is_empty =
            |column: usize| data.iter().all(|s| (0..s.len()).all(|t| s.cell(t, column) == "_"));
        let mut columns = vec![(schema.words(), "tokens".to_owned())];
        let first = usize::from(from == Format::Conllu);
        for column in first..data.n_columns() {
            let skipped = column == schema.label || column == schema.words();
            if skipped || schema.texts.is_some() || (from == Format::Conllu && is_empty(column)) {
                continue;
            }
            let name = schema.columns.get(column).cloned().unwrap_or_else(|| column.to_string());
            columns.push((column, name));
        }
        let mut writer = Self {
            data,
            to,
            model,
            columns,
            word: None,
            n_attributes: 0,
            n_changed: 0,
            n_other_lines: 0,
            n_values: 0,
            lost: BTreeSet::new(),
        };
        if from == Format::Crfsuite && to != Format::Crfsuite {
            writer.word = Some(word_attribute(data, args)?);
        }
        if data.weights().is_some() && !matches!(to, Format::Jsonl | Format::Crfsuite) {
            writer.lost.insert("the weights of sequences");
        }
        if schema.texts.is_some() {
            writer.lost.insert("the space between words, and the places of words in their texts");
        }
        Ok(writer)
    }

    fn write(&mut self, out: &mut dyn Write, sequence: Sequence<'_>) -> anyhow::Result<()> {
        match (self.data.schema.format, self.to) {
            (from, to) if from == to && self.model.is_none() && from != Format::Jsonl => {
                writeln!(out, "{}\n", sequence.raw().trim_end_matches(['\n', '\r']))?;
            }
            (_, Format::Jsonl) => self.jsonl(out, sequence)?,
            (_, Format::Crfsuite) => self.crfsuite(out, sequence)?,
            (_, Format::Conllu) => self.conllu(out, sequence)?,
            _ => self.columns(out, sequence)?,
        }
        Ok(())
    }

    /// The label of a token; nothing where it has none.
    fn label(&self, sequence: Sequence<'_>, t: usize) -> Option<&'a str> {
        self.data.labels.get(sequence.gold()[t] as usize).map(String::as_str)
    }

    /// The word and the other columns of a token.
    fn cells(&mut self, sequence: Sequence<'_>, t: usize) -> anyhow::Result<Vec<String>> {
        let Some(word) = &self.word else {
            return Ok(self.columns.iter().map(|(c, _)| sequence.cell(t, *c).to_owned()).collect());
        };
        let mut found = None;
        for attribute in lineal::sequence::named_attributes(sequence.cell(t, 0)) {
            let attribute = attribute.map_err(|e| {
                anyhow::Error::from(self.data.error_at(sequence.index(), t, e.to_string()))
            })?;
            match value_of(&attribute.name, word) {
                Some(value) if found.is_none() => found = Some(value.to_owned()),
                _ => self.n_attributes += 1,
            }
        }
        match found {
            Some(found) => Ok(vec![found]),
            None => {
                let message = format!(
                    "the token has no attribute `{word}=…` to take the word from; name one that all tokens have with --text"
                );
                Err(self.data.error_at(sequence.index(), t, message).into())
            }
        }
    }

    fn columns(&mut self, out: &mut dyn Write, sequence: Sequence<'_>) -> anyhow::Result<()> {
        self.note_other_lines(sequence);
        for t in 0..sequence.len() {
            for cell in self.cells(sequence, t)? {
                let cell = self.plain(&cell);
                write!(out, "{cell}\t")?;
            }
            let label = self.label(sequence, t).unwrap_or("_").to_owned();
            let label = self.plain(&label);
            writeln!(out, "{label}")?;
        }
        Ok(writeln!(out)?)
    }

    fn conllu(&mut self, out: &mut dyn Write, sequence: Sequence<'_>) -> anyhow::Result<()> {
        if self.columns.len() > 1 {
            self.lost.insert("columns besides word and label: CoNLL-U has no place for them");
        }
        for t in 0..sequence.len() {
            let word = self.cells(sequence, t)?.swap_remove(0);
            let label = self.label(sequence, t).unwrap_or("_").to_owned();
            let (word, label) = (self.plain(&word), self.plain(&label));
            writeln!(out, "{}\t{word}\t_\t{label}\t_\t_\t_\t_\t_\t_", t + 1)?;
        }
        Ok(writeln!(out)?)
    }

    fn jsonl(&mut self, out: &mut dyn Write, sequence: Sequence<'_>) -> anyhow::Result<()> {
        self.note_other_lines(sequence);
        let mut lists: Vec<Vec<Value>> = vec![Vec::new(); self.columns.len()];
        for t in 0..sequence.len() {
            for (list, cell) in lists.iter_mut().zip(self.cells(sequence, t)?) {
                list.push(cell.into());
            }
        }
        let mut object = Map::new();
        for ((_, name), list) in self.columns.iter().zip(lists) {
            object.insert(name.clone(), list.into());
        }
        let labels = (0..sequence.len()).map(|t| json!(self.label(sequence, t)));
        object.insert("labels".into(), labels.collect());
        if let Some(weights) = self.data.weights() {
            object.insert("weight".into(), json!(weights[sequence.index()]));
        }
        serde_json::to_writer(&mut *out, &object)?;
        Ok(writeln!(out)?)
    }

    fn crfsuite(&mut self, out: &mut dyn Write, sequence: Sequence<'_>) -> anyhow::Result<()> {
        self.note_other_lines(sequence);
        if let Some(weights) = self.data.weights() {
            writeln!(out, "@weight:{}", weights[sequence.index()])?;
        }
        let by_model = self.model.map(|model| model.attributes(sequence)).transpose()?;
        for t in 0..sequence.len() {
            write!(out, "{}", escaped(self.label(sequence, t).unwrap_or_default()))?;
            match &by_model {
                Some(attributes) => {
                    for (name, value) in &attributes[t] {
                        write!(out, "\t{}", escaped(name))?;
                        if *value != 1.0 {
                            write!(out, ":{value}")?;
                        }
                    }
                }
                None => {
                    for (cell, (column, name)) in self.cells(sequence, t)?.iter().zip(&self.columns)
                    {
                        let numbered = name.bytes().all(|b| b.is_ascii_digit());
                        let name = match *column == self.data.schema.words() {
                            true => "w",
                            false => name,
                        };
                        let c = if numbered { "c" } else { "" };
                        write!(out, "\t{}", escaped(&format!("{c}{name}={cell}")))?;
                    }
                }
            }
            writeln!(out)?;
        }
        Ok(writeln!(out)?)
    }

    /// Comments, words that are cut into several and empty nodes have no place elsewhere.
    fn note_other_lines(&mut self, sequence: Sequence<'_>) {
        if self.data.schema.format == Format::Conllu {
            let lines = sequence.raw().lines().filter(|line| !line.trim().is_empty());
            self.n_other_lines += lines.count() - sequence.len();
        }
    }

    /// A cell that keeps to its column.
    fn plain(&mut self, cell: &str) -> String {
        if cell.is_empty() {
            self.n_values += 1;
            return "_".to_owned();
        }
        if cell.contains(char::is_control) {
            self.n_changed += 1;
            return cell.replace(char::is_control, " ");
        }
        cell.to_owned()
    }

    fn losses(&self) -> Vec<String> {
        let mut losses: Vec<String> = self.lost.iter().map(|&lost| lost.to_owned()).collect();
        let counted = [
            (self.n_attributes, "attribute", " besides the word"),
            (self.n_other_lines, "line", " with comments, words of several tokens and empty nodes"),
            (self.n_changed, "cell", " with tabs or line ends, which are written as spaces"),
            (self.n_values, "empty cell", ", written as _"),
        ];
        for (n, what, more) in counted {
            if n > 0 {
                losses.push(format!("{}{more}", count(n, what)));
            }
        }
        losses
    }
}

/// What begins the attribute that holds the word: as said, or as is usual.
fn word_attribute(data: &Sequences, args: &ConvertArgs) -> anyhow::Result<String> {
    if let Some(name) = args.text.text.first() {
        return Ok(name.trim_end_matches('=').to_owned());
    }
    let has = |name: &str| {
        data.iter().all(|sequence| {
            sequence.cells().all(|cell| {
                let mut attributes = lineal::sequence::named_attributes(cell).flatten();
                attributes.any(|attribute| value_of(&attribute.name, name).is_some())
            })
        })
    };
    match WORDS.iter().find(|name| has(name)) {
        Some(name) => Ok((*name).to_owned()),
        None => bail!(
            "{}: a file of CRFsuite attributes has no words; if an attribute of each token holds it, as w[0]=house, name it: --text 'w[0]'",
            data.source
        ),
    }
}

/// `house` of `w[0]=house`.
fn value_of<'n>(attribute: &'n str, name: &str) -> Option<&'n str> {
    attribute.strip_prefix(name)?.strip_prefix('=')
}

/// A name in a CRFsuite file.
fn escaped(name: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    name.replace('\\', "\\\\").replace(':', "\\:").chars().map(plain).collect()
}
