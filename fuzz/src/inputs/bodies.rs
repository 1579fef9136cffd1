//! Bodies of HTTP requests: what they ask is taken apart as `lineal serve` does it, and a model of rows answers.

use super::readers::memory;
use super::signature::Signature;
use lineal::{Format, Model, Predicted, ReadOptions, TrainSpec};
use lineal_server::{Ask, Examples, ExplainAsk, Fault, Form, Served, answer_body};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// What mutations begin with. The first byte chooses between predicting and explaining.
pub fn seeds() -> Vec<Vec<u8>> {
    let bodies = [
        r#"{"rows": [{"x": 1, "y": 2.5}, {"x": -1e3, "y": null}], "top": 2}"#,
        r#"{"rows": [[1, 2], [3, "4"]], "proba": true, "scores": false, "min_cost": true}"#,
        r#"{"rows": [{"x": 1, "colour": "re\u0064"}], "class": "a", "words": true, "pixel": [1, 2]}"#,
        r#"{"texts": ["one", "two \ud83d\ude00"], "confidence": true}"#,
        r#"{"sentences": [["the", "dog"], {"tokens": ["a"]}], "part": 1}"#,
    ];
    let of = |body: &&str| [0, 1].map(|choice| [&[choice], body.as_bytes()].concat());
    bodies.iter().flat_map(of).collect()
}

/// A body, answered.
pub fn bodies(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let Some((choice, body)) = input.split_first() else { return s };
    let (status, answer) = answer_body(&*MODEL, body, choice % 2 == 1);
    s.count(usize::from(status));
    let answer: Value = serde_json::from_slice(&answer).expect("every answer is JSON");
    match status {
        200 => {
            let key = if choice % 2 == 1 { "explanations" } else { "predictions" };
            let n = answer[key].as_array().expect("answers are a list").len();
            // What no value can hold, such as 1e400 in a column that plays no part, is not looked at.
            if let Ok(asked) = serde_json::from_slice::<Value>(body) {
                let n_asked = asked["rows"].as_array().map(Vec::len);
                // Of no example it is not asked what it is.
                assert!(n == 0 || Some(n) == n_asked, "one answer for each row");
            }
            s.count(n);
        }
        400 | 413 | 422 => {
            s.message(answer["detail"].as_str().expect("a problem says what is wrong"));
        }
        other => panic!("status {other}: {answer}"),
    }
    s
}

static MODEL: LazyLock<Rows> = LazyLock::new(|| {
    let csv = b"x,y,colour,label\n0,0,red,a\n1,0,blue,a\n0,3,red,b\n4,4,green,c\n";
    let data = lineal::read(memory("rows.csv", csv), &ReadOptions::default());
    let model = data.and_then(|data| lineal::train(&data, &TrainSpec::default()));
    Rows(model.expect("a few rows can be learnt").0)
});

/// Rows become JSON lines.
struct Rows(Model);

impl Rows {
    fn classes(&self, examples: &Examples<'_>) -> Result<Vec<u32>, Fault> {
        if examples.form != Form::Rows {
            return Err(Fault::request(format!("/{}", examples.form.key()), "takes rows"));
        }
        // Raw values may have line breaks between their tokens, where JSON lines have none.
        let lines = examples.values.iter().map(|value| value.replace(['\n', '\r'], " ") + "\n");
        let bytes = lines.collect::<String>().into_bytes();
        let options = ReadOptions { format: Some(Format::Jsonl), ..ReadOptions::default() };
        let wrong = |error: lineal::Error| Fault::request("/rows", error.to_string());
        let data = self.0.read(memory("request.jsonl", &bytes), &options).map_err(wrong)?;
        if data.n_rows() != examples.values.len() {
            return Err(Fault::request("/rows", "an example is read as none, or as several"));
        }
        match self.0.predict(&data).map_err(wrong)? {
            Predicted::Classes(classes) => Ok(classes),
            _ => Err(Fault::internal("the model is one of classes")),
        }
    }
}

impl Served for Rows {
    fn task(&self) -> String {
        self.0.task().to_string()
    }
    fn form(&self) -> Form {
        Form::Rows
    }
    fn input(&self) -> Value {
        json!({"form": "rows"})
    }
    fn describe(&self, _: Option<usize>) -> Value {
        json!({})
    }
    fn predict(&self, examples: &Examples<'_>, _: &Ask, out: &mut Vec<u8>) -> Result<(), Fault> {
        let name = |class: u32| json!({"label": self.0.classes()[class as usize]});
        let classes = self.classes(examples)?;
        classes.into_iter().for_each(|class| out.extend(format!("{}\n", name(class)).bytes()));
        Ok(())
    }
    fn explain(
        &self,
        examples: &Examples<'_>,
        ask: &ExplainAsk,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let n = self.classes(examples)?.len();
        (0..n).for_each(|_| out.extend(format!("{}\n", json!({"top": ask.top})).bytes()));
        Ok(())
    }
}
