//! Trees as brackets, drawings, CSV or JSON lines.

use std::io::{self, Write};

use lineal::ParsedTree;
use lineal::constituents::Phrase;
use lineal::data::{BracketSentence, LabelledSpan, LabelledTree};
use serde_json::{Map, Value, json};

use crate::args::{Output, PredictArgs};
use crate::table::quoted;

/// The width of drawings.
const WIDTH: usize = 120;

/// Writes sentences, one after the other.
pub struct Writer {
    form: Output,
    proba: bool,
    draw: bool,
    begun: bool,
}

impl Writer {
    pub fn new(args: &PredictArgs) -> Self {
        Self { form: args.output, proba: args.proba, draw: args.draw, begun: false }
    }

    /// One sentence; `number` is its place among all, from 0.
    pub fn write(
        &mut self,
        out: &mut dyn Write,
        sentence: BracketSentence<'_>,
        number: usize,
        parsed: &ParsedTree,
    ) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        match self.form {
            Output::Text => self.text(out, sentence, parsed),
            Output::Csv => {
                if first {
                    let proba = if self.proba { ",proba" } else { "" };
                    writeln!(out, "sentence,start,end,label,words{proba}")?;
                }
                self.csv(out, sentence, number, parsed)
            }
            Output::Jsonl => self.jsonl(out, sentence, number, parsed),
        }
    }

    /// One tree per line, or a drawing; of several trees one after the other, the best first.
    fn text(
        &self,
        out: &mut dyn Write,
        sentence: BracketSentence<'_>,
        parsed: &ParsedTree,
    ) -> io::Result<()> {
        let all: Vec<&[Phrase]> = match &parsed.n_best[..] {
            [] => vec![&parsed.phrases],
            ranked => ranked.iter().map(|tree| &tree.phrases[..]).collect(),
        };
        for phrases in all {
            let tree = labelled(sentence, &parsed.tags, phrases).map_err(io::Error::other)?;
            match self.draw {
                true => writeln!(out, "{}\n", tree.drawn(WIDTH))?,
                false => writeln!(out, "{}", tree.line())?,
            }
        }
        // A blank line after the trees of a sentence, of which there may be fewer than were asked for.
        if parsed.n_best.is_empty() || self.draw { Ok(()) } else { writeln!(out) }
    }

    fn csv(
        &self,
        out: &mut dyn Write,
        sentence: BracketSentence<'_>,
        number: usize,
        parsed: &ParsedTree,
    ) -> io::Result<()> {
        for phrase in &parsed.phrases {
            let words = words(sentence, phrase);
            let Phrase { label, start, end } = phrase;
            write!(out, "{},{},{end},{},{}", number + 1, start + 1, quoted(label), quoted(&words))?;
            match (self.proba, parsed.phrase_probability(phrase)) {
                (true, Some(p)) => writeln!(out, ",{p:.6}")?,
                (true, None) => writeln!(out, ",")?,
                (false, _) => writeln!(out)?,
            }
        }
        Ok(())
    }

    fn jsonl(
        &self,
        out: &mut dyn Write,
        sentence: BracketSentence<'_>,
        number: usize,
        parsed: &ParsedTree,
    ) -> io::Result<()> {
        let line = |phrases: &[Phrase]| {
            labelled(sentence, &parsed.tags, phrases)
                .map(|tree| tree.line())
                .map_err(io::Error::other)
        };
        let words: Vec<String> = sentence.words().map(unescaped).collect();
        let mut object = Map::new();
        object.insert("sentence".into(), json!(number + 1));
        object.insert("tokens".into(), json!(words));
        object.insert("tags".into(), json!(parsed.tags));
        object.insert("tree".into(), json!(line(&parsed.phrases)?));
        object.insert("phrases".into(), parsed.phrases.iter().map(phrase_json).collect());
        if self.proba {
            object.insert("probability".into(), json!(parsed.probability));
            let spans = parsed.spans.iter().flatten().map(|(phrase, p)| {
                let mut one = phrase_json(phrase);
                one["probability"] = json!(p);
                one
            });
            object.insert("proba".into(), spans.collect());
        }
        if !parsed.n_best.is_empty() {
            let mut ranked = Vec::new();
            for tree in &parsed.n_best {
                let mut one = json!({"tree": line(&tree.phrases)?, "score": tree.score});
                if let Some(p) = tree.probability {
                    one["probability"] = json!(p);
                }
                ranked.push(one);
            }
            object.insert("n_best".into(), ranked.into());
        }
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)
    }
}

/// A word as it is outside trees, where brackets are brackets.
fn unescaped(word: &str) -> String {
    word.replace("-LRB-", "(").replace("-RRB-", ")")
}

/// Words are counted from 1.
fn phrase_json(phrase: &Phrase) -> Value {
    json!({"label": phrase.label, "start": phrase.start + 1, "end": phrase.end})
}

/// The words of a phrase.
pub fn words(sentence: BracketSentence<'_>, phrase: &Phrase) -> String {
    let words: Vec<&str> = sentence.words().collect();
    words[phrase.start as usize..phrase.end as usize].join(" ")
}

/// The tree with the words of its sentence.
pub fn labelled<'a>(
    sentence: BracketSentence<'a>,
    tags: &'a [String],
    phrases: &'a [Phrase],
) -> Result<LabelledTree<'a>, String> {
    let node = |p: &'a Phrase| LabelledSpan {
        label: &p.label,
        start: p.start as usize,
        end: p.end as usize,
    };
    LabelledTree::new(
        sentence.root(),
        sentence.words().collect(),
        tags.iter().map(String::as_str).collect(),
        phrases.iter().map(node).collect(),
    )
}
