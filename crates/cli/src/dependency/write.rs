//! Parsed sentences as CoNLL-U, CSV or JSON lines.

use std::io::{self, Write};

use lineal::data::{ConlluColumn, Sentence, SentenceEdits};
use lineal::{DependencyModel, Parsed, RankedParse};
use serde_json::{Map, Value, json};

use crate::args::{Output, PredictArgs};
use crate::table::quoted;

/// Writes sentences, one after the other.
pub struct Writer<'m> {
    model: &'m DependencyModel,
    form: Output,
    proba: bool,
    begun: bool,
    text: String,
}

impl<'m> Writer<'m> {
    pub fn new(model: &'m DependencyModel, args: &PredictArgs) -> Self {
        Self { model, form: args.output, proba: args.proba, begun: false, text: String::new() }
    }

    /// One sentence; `number` is its place among all, from 0.
    pub fn write(
        &mut self,
        out: &mut dyn Write,
        sentence: Sentence<'_>,
        number: usize,
        parsed: &Parsed,
    ) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        match self.form {
            Output::Text => self.conllu(out, sentence, parsed),
            Output::Csv => {
                if first {
                    let proba = if self.proba { ",proba" } else { "" };
                    writeln!(out, "sentence,word,form,head,relation{proba}")?;
                }
                self.csv(out, sentence, number, parsed)
            }
            Output::Jsonl => self.jsonl(out, sentence, number, parsed),
        }
    }

    /// The sentence with other heads and relations; of several trees, one copy for each with its rank.
    fn conllu(
        &mut self,
        out: &mut dyn Write,
        sentence: Sentence<'_>,
        parsed: &Parsed,
    ) -> io::Result<()> {
        let probabilities: Option<Vec<String>> = self.proba.then(|| {
            let p = |t| parsed.arc_probability(t).map_or_else(String::new, |p| format!("{p:.6}"));
            (0..sentence.len()).map(p).collect()
        });
        if parsed.n_best.is_empty() {
            let comments = self.tree_comment(parsed.probability);
            self.tree(sentence, parsed, &parsed.heads, &parsed.relations, probabilities, comments);
            return out.write_all(self.text.as_bytes());
        }
        for (rank, ranked) in parsed.n_best.iter().enumerate() {
            let mut comments = vec![format!("rank = {}", rank + 1)];
            comments.push(format!("score = {:.6}", ranked.score));
            comments.extend(ranked.probability.map(|p| format!("probability = {p:.6}")));
            self.tree(sentence, parsed, &ranked.heads, &ranked.relations, None, comments);
            out.write_all(self.text.as_bytes())?;
        }
        Ok(())
    }

    fn tree_comment(&self, probability: Option<f64>) -> Vec<String> {
        let probability = probability.filter(|_| self.proba);
        probability.map(|p| format!("probability = {p:.6}")).into_iter().collect()
    }

    fn tree(
        &mut self,
        sentence: Sentence<'_>,
        parsed: &Parsed,
        heads: &[u32],
        relations: &[u32],
        probabilities: Option<Vec<String>>,
        comments: Vec<String>,
    ) {
        let names: Vec<&str> = relations.iter().map(|&r| self.model.relation(r)).collect();
        let probabilities: Vec<&str> = probabilities.iter().flatten().map(String::as_str).collect();
        let misc = [("Prob", &probabilities[..])];
        // The model's own tags stand where the data has none.
        let tags: Vec<&str> = match &parsed.tags {
            Some(tags) => tags
                .iter()
                .enumerate()
                .map(|(t, tag)| match sentence.cell(t, ConlluColumn::Upos) {
                    "_" => tag.as_str(),
                    given => given,
                })
                .collect(),
            None => Vec::new(),
        };
        let columns = [(ConlluColumn::Upos, &tags[..])];
        let comments: Vec<&str> = comments.iter().map(String::as_str).collect();
        let edits = SentenceEdits {
            heads: Some(heads),
            deprels: Some(&names),
            columns: if tags.is_empty() { &[] } else { &columns },
            misc: if probabilities.is_empty() { &[] } else { &misc },
            comments: &comments,
        };
        self.text.clear();
        sentence.write(&edits, &mut self.text);
    }

    fn csv(
        &self,
        out: &mut dyn Write,
        sentence: Sentence<'_>,
        number: usize,
        parsed: &Parsed,
    ) -> io::Result<()> {
        for t in 0..sentence.len() {
            let (form, relation) = (sentence.form(t), self.model.relation(parsed.relations[t]));
            write!(
                out,
                "{},{},{},{},{}",
                number + 1,
                t + 1,
                quoted(form),
                parsed.heads[t],
                quoted(relation)
            )?;
            match parsed.arc_probability(t).filter(|_| self.proba) {
                Some(p) => writeln!(out, ",{p:.6}")?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }

    fn jsonl(
        &self,
        out: &mut dyn Write,
        sentence: Sentence<'_>,
        number: usize,
        parsed: &Parsed,
    ) -> io::Result<()> {
        let names = |relations: &[u32]| -> Vec<&str> {
            relations.iter().map(|&r| self.model.relation(r)).collect()
        };
        let words: Vec<&str> = (0..sentence.len()).map(|t| sentence.form(t)).collect();
        let mut object = Map::new();
        object.insert("sentence".into(), json!(number + 1));
        object.insert("tokens".into(), json!(words));
        object.insert("heads".into(), json!(parsed.heads));
        object.insert("relations".into(), json!(names(&parsed.relations)));
        if let Some(tags) = &parsed.tags {
            object.insert("upos".into(), json!(tags));
        }
        if self.proba {
            object.insert("probability".into(), json!(parsed.probability));
            let arcs = parsed.arcs.iter().flatten().map(|heads| {
                let by_head = heads.iter().map(|(head, p)| (head.to_string(), json!(p)));
                Value::Object(by_head.collect())
            });
            object.insert("proba".into(), arcs.collect());
        }
        if !parsed.n_best.is_empty() {
            let ranked = parsed.n_best.iter().map(|ranked: &RankedParse| {
                let mut one = Map::new();
                one.insert("heads".into(), json!(ranked.heads));
                one.insert("relations".into(), json!(names(&ranked.relations)));
                one.insert("score".into(), json!(ranked.score));
                if let Some(p) = ranked.probability {
                    one.insert("probability".into(), json!(p));
                }
                Value::Object(one)
            });
            object.insert("n_best".into(), ranked.collect());
        }
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)
    }
}
