//! A declaration made in Rust, line by line: the same object as a text makes.

use super::declaration::Declaration;
use super::error::LanguageError;
use std::fmt::{self, Display, Write};

/// Collects the lines of a declaration.
///
/// ```
/// use lineal_declared::{Condition, Declaration, DeclarationBuilder};
///
/// let is = Condition::is;
/// let built = DeclarationBuilder::new()
///     .variable("entity", &[], &["Peop", "Loc"], "")
///     .variable("relation", &[("head", "entity"), ("tail", "entity")], &["none", "Live_In"], "all pairs")
///     .factor("types", &["relation", "relation.head"])
///     .rule(is("relation", "Live_In").implies(is("head", "Peop").and(is("tail", "Loc"))))
///     .rule("at most 1 relation = Live_In per head")
///     .build()?;
/// let parsed = Declaration::parse(
///     "variable entity { Peop Loc }
/// variable relation(head: entity, tail: entity) { none Live_In } all pairs
/// factor types(relation, relation.head)
/// rule relation = Live_In implies head = Peop and tail = Loc
/// rule at most 1 relation = Live_In per head",
/// )?;
/// assert_eq!((built.variables(), built.factors()), (parsed.variables(), parsed.factors()));
/// # Ok::<(), lineal_declared::LanguageError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct DeclarationBuilder {
    text: String,
}

/// A name as the language writes it.
fn quoted(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "")) }
}

impl DeclarationBuilder {
    /// Nothing is declared yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn line(mut self, line: impl Display) -> Self {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
        self
    }

    /// Variables with links (name and kind) and labels; `rest` is what may follow, such as `from entities by type`.
    pub fn variable(self, name: &str, links: &[(&str, &str)], labels: &[&str], rest: &str) -> Self {
        let labels: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
        let links: Vec<String> = links
            .iter()
            .map(|(link, kind)| format!("{}: {}", quoted(link), quoted(kind)))
            .collect();
        let links =
            if links.is_empty() { String::new() } else { format!("({})", links.join(", ")) };
        self.line(format_args!(
            "variable {}{links} {{ {} }} {rest}",
            quoted(name),
            labels.join(" ")
        ))
    }

    /// A factor over paths like `relation.head`.
    pub fn factor(self, name: &str, paths: &[&str]) -> Self {
        self.line(format_args!("factor {}({})", quoted(name), paths.join(", ")))
    }

    /// A factor with the weights of an earlier one.
    pub fn factor_sharing(self, name: &str, paths: &[&str], with: &str) -> Self {
        self.line(format_args!(
            "factor {}({}) shares {}",
            quoted(name),
            paths.join(", "),
            quoted(with)
        ))
    }

    /// Templates of features of a variable or a factor.
    pub fn features(self, name: &str, templates: &str) -> Self {
        self.line(format_args!("features {}: {templates}", quoted(name)))
    }

    /// What a wrong label costs.
    pub fn cost(self, name: &str, cost: f64) -> Self {
        self.line(format_args!("cost {} {cost}", quoted(name)))
    }

    /// A rule: a [`Condition`], or the text after the word `rule`.
    pub fn rule(self, rule: impl Display) -> Self {
        self.line(format_args!("rule {rule}"))
    }

    /// The declaration, if everything in it has a meaning.
    pub fn build(&self) -> Result<Declaration, LanguageError> {
        Declaration::parse(&self.text)
    }
}

/// A condition of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition(String);

impl Condition {
    /// The variable at the end of a path has a label.
    pub fn is(path: &str, label: &str) -> Self {
        Self(format!("{path} = {}", quoted(label)))
    }

    /// It has one of some labels.
    pub fn is_in(path: &str, labels: &[&str]) -> Self {
        let labels: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
        Self(format!("{path} in {{ {} }}", labels.join(" ")))
    }

    /// Both hold.
    pub fn and(self, other: Self) -> Self {
        Self(format!("({self}) and ({other})"))
    }

    /// One of them holds.
    pub fn or(self, other: Self) -> Self {
        Self(format!("({self}) or ({other})"))
    }

    /// If this holds, the other does.
    pub fn implies(self, other: Self) -> Self {
        Self(format!("({self}) implies ({other})"))
    }

    /// It does not hold.
    pub fn negated(self) -> Self {
        Self(format!("not ({self})"))
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
