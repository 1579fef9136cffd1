//! A declaration, checked: every name is a number, every rule is clauses, a sum or a pattern.

use super::error::LanguageError;
use super::{parse, rules};
use crate::features::Template;
use crate::inference::Dfa;
use std::sync::Arc;

/// Variables with labels, factors, features and rules. See the [language](crate::language).
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    pub(crate) variables: Vec<VariableKind>,
    pub(crate) factors: Vec<Factor>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) text: String,
}

/// Variables of one kind: what they are called and which labels they have.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableKind {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Other variables that each variable of this kind points to.
    pub links: Vec<Link>,
    /// The list of an example that has its instances.
    pub source: String,
    /// The field of an instance that has its label.
    pub label_field: String,
    /// Whether every ordered pair of what the two links point to is an instance; those that an example does not list have the first label.
    pub all_pairs: bool,
    /// What a wrong label costs, by the gold label.
    pub costs: Vec<f64>,
    /// Templates of features.
    pub templates: Vec<Template>,
}

/// A link from each variable of a kind to another variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name, also the field of an instance.
    pub name: String,
    /// The number of the kind that it leads to.
    pub to: usize,
}

/// A score for each joint label of several variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// There is one for each variable of this kind whose links exist.
    pub subject: usize,
    /// Its variables, from the subject.
    pub paths: Vec<Path>,
    /// Their kinds.
    pub kinds: Vec<usize>,
    /// The factor whose weights it has: itself, or an earlier one.
    pub weights_of: usize,
    /// Templates of features; without any, each joint label has one weight.
    pub templates: Vec<Template>,
}

/// Links to follow, one after the other; none is the variable itself.
pub type Path = Vec<Hop>;

/// A link to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hop {
    /// A link of the kind, by its number.
    Link(usize),
    /// The next variable of the same kind.
    Next,
    /// The one before.
    Previous,
}

/// A rule that outputs must keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its line, from 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
    pub(crate) body: RuleBody,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RuleBody {
    /// For each variable of a kind whose links exist: all clauses hold, each by one of its literals.
    Clauses { subject: usize, clauses: Vec<Vec<Literal>> },
    /// low ≤ Σ terms ≤ high, over all variables or over those that share a link.
    Sum { terms: Vec<Term>, low: i64, high: i64, per: Option<usize> },
    /// The labels of all variables of a kind, in their order.
    Pattern { kind: usize, dfa: Arc<Dfa> },
}

/// The variable at the end of a path has one of some labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    pub path: Path,
    pub labels: Vec<bool>,
}

/// factor · how many variables of a kind satisfy a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub factor: i32,
    pub kind: usize,
    pub holds: Literal,
}

impl Declaration {
    /// Reads a declaration.
    ///
    /// ```
    /// use lineal_declared::Declaration;
    ///
    /// let text = "variable entity { Peop Loc }\nrule at most 1 entity = Lco\n";
    /// let error = Declaration::parse(text).unwrap_err();
    /// assert_eq!(error.to_string(), "2:25: there is no label of entity `Lco`; did you mean `Loc`?");
    /// ```
    pub fn parse(text: &str) -> Result<Self, LanguageError> {
        parse::parse(text)
    }

    /// Rules about one sequence of labels, without a declaration around them: the kind is called `label`. For taggers; see [`automaton`](crate::automaton).
    ///
    /// ```
    /// use lineal_declared::Declaration;
    ///
    /// let labels = ["O", "B-PER", "I-PER"].map(String::from);
    /// let rules = Declaration::of_labels(&labels, "at most 1 spans of PER\nlabel = O implies next != I-PER\n")?;
    /// assert_eq!(rules.rules().len(), 2);
    /// # Ok::<(), lineal_declared::LanguageError>(())
    /// ```
    pub fn of_labels(labels: &[String], rules: &str) -> Result<Self, LanguageError> {
        let mut declaration = Self {
            variables: Vec::new(),
            factors: Vec::new(),
            rules: Vec::new(),
            text: rules.to_owned(),
        };
        declaration.variables.push(VariableKind {
            name: "label".into(),
            labels: labels.to_vec(),
            links: Vec::new(),
            source: "label".into(),
            label_field: "label".into(),
            all_pairs: false,
            costs: vec![1.0; labels.len()],
            templates: Vec::new(),
        });
        for (line, n) in rules.lines().zip(1..) {
            let mut words = super::words::Words::new(line, n)?;
            words.takes("rule");
            if !words.is_end() {
                let body = rules::parse(&mut words, &declaration)?;
                declaration.rules.push(Rule { line: n, text: line.trim().to_owned(), body });
            }
        }
        Ok(declaration)
    }

    /// The kinds of variables.
    pub fn variables(&self) -> &[VariableKind] {
        &self.variables
    }

    /// The columns of tokens that templates ask for, each once.
    pub fn columns(&self) -> Vec<String> {
        let of_kinds = self.variables.iter().flat_map(|kind| &kind.templates);
        let of_factors = self.factors.iter().flat_map(|factor| &factor.templates);
        let mut columns: Vec<String> =
            of_kinds.chain(of_factors).flat_map(Template::columns).map(str::to_owned).collect();
        columns.sort();
        columns.dedup();
        columns
    }

    /// The factors.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The kind at the end of a path.
    pub(crate) fn end_of(&self, kind: usize, path: &[Hop]) -> usize {
        path.iter().fold(kind, |kind, hop| match hop {
            Hop::Link(link) => self.variables[kind].links[*link].to,
            Hop::Next | Hop::Previous => kind,
        })
    }

    pub(crate) fn kind_named(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|kind| kind.name == name)
    }
}
