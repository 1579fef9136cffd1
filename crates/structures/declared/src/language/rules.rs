//! Rules: conditions on a variable and what it links to, counts, inequalities, patterns.

use super::declaration::{Declaration, Hop, Literal, RuleBody, Term};
use super::error::LanguageError;
use super::formula::{Formula, clauses};
use super::parse::{names, resolve, subject};
use super::pattern;
use super::words::{Word, Words};
use crate::inference::{DEAD, Dfa};
use std::sync::Arc;

/// Conditions and patterns are read by recursion.
const MOST_NESTED: usize = 200;
/// Each side of an `iff` is written twice.
const MOST_IFF: usize = 8;

pub(super) fn parse(
    words: &mut Words,
    declaration: &Declaration,
) -> Result<RuleBody, LanguageError> {
    if words.count(&["(", "not", "implies"]) > MOST_NESTED {
        return Err(words.wrong("the rule is nested too deeply; split it into several"));
    }
    if words.count(&["iff"]) > MOST_IFF {
        return Err(words.wrong("the rule has too many `iff`; split it into several"));
    }
    let mut ahead = 0;
    let mut is_linear = false;
    while let Some(word) = words.peek_at(ahead) {
        is_linear |=
            word.text == "count" && words.peek_at(ahead + 1).is_some_and(|next| next.text == "(");
        ahead += 1;
    }
    let body = if words.sees("sequence") {
        sequence(words, declaration)?
    } else if is_linear {
        linear(words, declaration)?
    } else if words.sees("at") || words.sees("exactly") {
        count(words, declaration)?
    } else {
        condition(words, declaration)?
    };
    words.finish()?;
    Ok(body)
}

/// `sequence KIND matches PATTERN`
fn sequence(words: &mut Words, declaration: &Declaration) -> Result<RuleBody, LanguageError> {
    words.expect("sequence", "")?;
    let name = words.name("a variable")?;
    let kind = kind_of(words, declaration, &name)?;
    words.expect("matches", " before the pattern")?;
    let dfa = pattern::parse(words, &declaration.variables[kind].labels, &name.text)?;
    Ok(RuleBody::Pattern { kind, dfa: Arc::new(dfa) })
}

fn kind_of(words: &Words, declaration: &Declaration, name: &Word) -> Result<usize, LanguageError> {
    let names = declaration.variables.iter().map(|kind| kind.name.as_str());
    declaration.kind_named(&name.text).ok_or_else(|| words.unknown(name, "variable", names))
}

/// `(at most | at least | exactly) N [of] (CONDITION | spans of NAME [in KIND]) [per LINK]`
fn count(words: &mut Words, declaration: &Declaration) -> Result<RuleBody, LanguageError> {
    let is_exact = words.takes("exactly");
    let mut is_most = is_exact;
    if !is_exact {
        words.expect("at", "")?;
        is_most = words.takes("most");
        if !is_most {
            words.expect("least", ", or `most`,")?;
        }
    }
    let n = words.number()?;
    words.takes("of");
    let low = if is_exact || !is_most { n } else { i64::MIN };
    let high = if is_most { n } else { i64::MAX };
    let term = if words.takes("spans") || words.takes("span") {
        words.expect("of", " before the name of a span")?;
        let spans = spans(words, declaration)?;
        if spans.has_inside && !words.sees("per") {
            return spans.pattern(words, declaration, low, high);
        }
        spans.begins(words, declaration)?
    } else {
        simple(words, declaration)?
    };
    let per = if words.takes("per") {
        let link = words.name("a link")?;
        let kind = &declaration.variables[term.kind];
        let names = || kind.links.iter().map(|link| link.name.as_str());
        let number = names().position(|name| name == link.text);
        Some(
            number
                .ok_or_else(|| words.unknown(&link, &format!("link of {}", kind.name), names()))?,
        )
    } else {
        None
    };
    Ok(RuleBody::Sum { terms: vec![term], low, high, per })
}

/// How many variables have one of some labels.
fn simple(words: &mut Words, declaration: &Declaration) -> Result<Term, LanguageError> {
    let path = names(words)?;
    let kind = kind_of(words, declaration, &path[0])?;
    let path = resolve(words, declaration, kind, &path)?;
    let end = declaration.end_of(kind, &path);
    let labels = labels(words, declaration, end)?;
    Ok(Term { factor: 1, kind, holds: Literal { path, labels } })
}

/// Where a label stands in spans of the type that is counted.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// B: a span begins and may go on.
    Begin,
    /// S and U: a span of its own.
    Single,
    /// I, and any other: it goes on with a span, or begins one where there is none.
    Inside,
    /// E and L: the same, and the span is over.
    End,
    /// Not of this type.
    Outside,
}

/// The spans of one type.
struct Spans {
    name: Word,
    kind: usize,
    places: Vec<Place>,
    /// Whether labels that do not begin a span by themselves are of this type.
    has_inside: bool,
}

fn spans(words: &mut Words, declaration: &Declaration) -> Result<Spans, LanguageError> {
    let name = words.name("the name of a span")?;
    let kind = if words.takes("in") {
        let kind = words.name("a variable")?;
        kind_of(words, declaration, &kind)?
    } else {
        0
    };
    let Some(of) = declaration.variables.get(kind) else {
        return Err(words.at(&name, "a variable must be declared before a rule of spans".into()));
    };
    let place = |label: &String| match label.split_once('-') {
        Some((place, own)) if own == name.text => match place {
            "B" => Place::Begin,
            "S" | "U" => Place::Single,
            "E" | "L" => Place::End,
            _ => Place::Inside,
        },
        _ => Place::Outside,
    };
    let places: Vec<Place> = of.labels.iter().map(place).collect();
    if places.iter().all(|place| *place == Place::Outside) {
        let message = format!(
            "no label of {} is of a span of `{1}`: there is no B-{1}, I-{1}, S-{1} or U-{1}",
            of.name, name.text
        );
        return Err(words.at(&name, message));
    }
    let has_inside = places.iter().any(|place| matches!(place, Place::Inside | Place::End));
    Ok(Spans { name, kind, places, has_inside })
}

/// Spans are counted by an automaton with two states for each count.
const MOST_SPANS: i64 = 4000;

impl Spans {
    /// Spans by the labels that begin one: B-NAME, S-NAME, U-NAME.
    fn begins(self, words: &Words, declaration: &Declaration) -> Result<Term, LanguageError> {
        let begins = |place: &Place| matches!(place, Place::Begin | Place::Single);
        let labels: Vec<bool> = self.places.iter().map(begins).collect();
        if !labels.contains(&true) {
            let message = format!(
                "no label of {} begins a span of `{1}`: there is no B-{1}, S-{1} or U-{1}",
                declaration.variables[self.kind].name, self.name.text
            );
            return Err(words.at(&self.name, message));
        }
        Ok(Term { factor: 1, kind: self.kind, holds: Literal { path: Vec::new(), labels } })
    }

    /// Spans as they are measured (conlleval): an I- or E- that follows no open span of its type begins one. State 2n + 1: n spans so far, and the last one may go on.
    fn pattern(
        self,
        words: &Words,
        declaration: &Declaration,
        low: i64,
        high: i64,
    ) -> Result<RuleBody, LanguageError> {
        let most = if high == i64::MAX { low } else { high };
        if most > MOST_SPANS {
            let message = format!("spans can be counted up to {MOST_SPANS}");
            return Err(words.at(&self.name, message));
        }
        let n_labels = declaration.variables[self.kind].labels.len();
        let most = most.max(0);
        let (mut next, mut accepting) = (Vec::new(), Vec::new());
        for n in 0..=most {
            for is_open in [false, true] {
                accepting.push(low <= n && n <= high);
                for place in &self.places {
                    let begins = match place {
                        Place::Begin | Place::Single => true,
                        Place::Inside | Place::End => !is_open,
                        Place::Outside => false,
                    };
                    let count = n + i64::from(begins);
                    // Without an upper bound what is above is all the same.
                    let count = if high == i64::MAX { count.min(most) } else { count };
                    let stays_open = matches!(place, Place::Begin | Place::Inside);
                    next.push(match count > most {
                        true => DEAD,
                        false => (2 * count + i64::from(stays_open)) as u32,
                    });
                }
            }
        }
        let dfa = Dfa { n_labels, start: 0, next, accepting };
        Ok(RuleBody::Pattern { kind: self.kind, dfa: Arc::new(dfa) })
    }
}

/// `= LABEL`, `!= LABEL`, `in { LABEL … }`, `not in { LABEL … }`
fn labels(
    words: &mut Words,
    declaration: &Declaration,
    kind: usize,
) -> Result<Vec<bool>, LanguageError> {
    let of = &declaration.variables[kind];
    let mut chosen = vec![false; of.labels.len()];
    let mut take = |words: &mut Words| {
        let word = words.name("a label")?;
        let label = of.labels.iter().position(|label| *label == word.text);
        let names = of.labels.iter().map(String::as_str);
        let label =
            label.ok_or_else(|| words.unknown(&word, &format!("label of {}", of.name), names))?;
        chosen[label] = true;
        Ok::<(), LanguageError>(())
    };
    let mut is_negative = words.sees("!=");
    if words.takes("=") || words.takes("!=") {
        take(words)?;
    } else {
        is_negative |= words.takes("not");
        words.expect("in", ", or `=` or `!=`,")?;
        words.expect("{", " before the labels")?;
        while !words.takes("}") {
            take(words)?;
            words.takes(",");
        }
    }
    if is_negative {
        chosen.iter_mut().for_each(|chosen| *chosen = !*chosen);
    }
    Ok(chosen)
}

/// `[N *] count(CONDITION) ± … (>= | <= | = | < | >) …`
fn linear(words: &mut Words, declaration: &Declaration) -> Result<RuleBody, LanguageError> {
    let mut terms = Vec::new();
    let mut constant = 0;
    side(words, declaration, 1, &mut terms, &mut constant)?;
    let compare = words.advance().map(|word| word.text).unwrap_or_default();
    if ![">=", "<=", "=", "<", ">"].contains(&compare.as_str()) {
        return Err(words.wrong("`>=`, `<=`, `=`, `<` or `>` must stand before this"));
    }
    side(words, declaration, -1, &mut terms, &mut constant)?;
    let zero = -constant;
    let (low, high) = match compare.as_str() {
        ">=" => (zero, i64::MAX),
        ">" => (zero + 1, i64::MAX),
        "<=" => (i64::MIN, zero),
        "<" => (i64::MIN, zero - 1),
        _ => (zero, zero),
    };
    Ok(RuleBody::Sum { terms, low, high, per: None })
}

fn side(
    words: &mut Words,
    declaration: &Declaration,
    sign: i32,
    terms: &mut Vec<Term>,
    constant: &mut i64,
) -> Result<(), LanguageError> {
    let mut own = sign;
    if words.takes("-") {
        own = -own;
    }
    loop {
        let mut factor = own;
        let is_number = words.peek().is_some_and(|word| word.text.parse::<i64>().is_ok());
        let number = if is_number { Some(words.number()?) } else { None };
        if let Some(number) = number {
            factor *= number as i32;
        }
        if number.is_none() || words.takes("*") {
            words.expect("count", "")?;
            words.expect("(", " after `count`")?;
            let mut term = simple(words, declaration)?;
            term.factor = factor;
            words.expect(")", " after the condition")?;
            terms.push(term);
        } else {
            *constant += i64::from(factor);
        }
        if words.takes("+") {
            own = sign;
        } else if words.takes("-") {
            own = -sign;
        } else {
            return Ok(());
        }
    }
}

/// A condition before its names are looked up.
enum Raw {
    Is { path: Vec<Word>, not: bool, labels: Vec<Word> },
    Not(Box<Raw>),
    And(Vec<Raw>),
    Or(Vec<Raw>),
    Implies(Box<Raw>, Box<Raw>),
    Iff(Box<Raw>, Box<Raw>),
}

fn condition(words: &mut Words, declaration: &Declaration) -> Result<RuleBody, LanguageError> {
    let raw = implication(words)?;
    let mut paths = Vec::new();
    paths_of(&raw, &mut paths);
    let subject = subject(words, declaration, paths.iter().copied())?;
    let formula = formula(words, declaration, subject, &raw)?;
    let clauses = clauses(&formula).ok_or_else(|| {
        words.wrong("the rule becomes more than 1000 clauses; split it into several")
    })?;
    Ok(RuleBody::Clauses { subject, clauses })
}

fn implication(words: &mut Words) -> Result<Raw, LanguageError> {
    let left = disjunction(words)?;
    if words.takes("implies") {
        return Ok(Raw::Implies(Box::new(left), Box::new(implication(words)?)));
    }
    if words.takes("iff") {
        return Ok(Raw::Iff(Box::new(left), Box::new(disjunction(words)?)));
    }
    Ok(left)
}

fn disjunction(words: &mut Words) -> Result<Raw, LanguageError> {
    let mut all = vec![conjunction(words)?];
    while words.takes("or") {
        all.push(conjunction(words)?);
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Raw::Or(all) })
}

fn conjunction(words: &mut Words) -> Result<Raw, LanguageError> {
    let mut all = vec![negation(words)?];
    while words.takes("and") {
        all.push(negation(words)?);
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Raw::And(all) })
}

fn negation(words: &mut Words) -> Result<Raw, LanguageError> {
    if words.takes("not") {
        return Ok(Raw::Not(Box::new(negation(words)?)));
    }
    if words.takes("(") {
        let inner = implication(words)?;
        words.expect(")", ": a parenthesis is open")?;
        return Ok(inner);
    }
    let path = names(words)?;
    if words.sees("=") || words.sees("!=") {
        let not = words.sees("!=");
        words.advance();
        // A path to another variable, or a label.
        return Ok(Raw::Is { path, not, labels: names(words)? });
    }
    let not = words.takes("not");
    words.expect("in", ", or `=` or `!=`,")?;
    words.expect("{", " before the labels")?;
    let mut labels = Vec::new();
    while !words.takes("}") {
        labels.push(words.name("a label or `}`")?);
        words.takes(",");
    }
    // A mark that these are labels, however few.
    labels.push(Word { text: String::new(), column: 0, quoted: true });
    Ok(Raw::Is { path, not, labels })
}

fn paths_of<'a>(raw: &'a Raw, into: &mut Vec<&'a Vec<Word>>) {
    match raw {
        Raw::Is { path, .. } => into.push(path),
        Raw::Not(inner) => paths_of(inner, into),
        Raw::And(all) | Raw::Or(all) => all.iter().for_each(|one| paths_of(one, into)),
        Raw::Implies(a, b) | Raw::Iff(a, b) => {
            paths_of(a, into);
            paths_of(b, into);
        }
    }
}

fn formula(
    words: &Words,
    declaration: &Declaration,
    subject: usize,
    raw: &Raw,
) -> Result<Formula, LanguageError> {
    let of = |raw: &Raw| formula(words, declaration, subject, raw);
    Ok(match raw {
        Raw::Not(inner) => Formula::Not(Box::new(of(inner)?)),
        Raw::And(all) => Formula::And(all.iter().map(of).collect::<Result<_, _>>()?),
        Raw::Or(all) => Formula::Or(all.iter().map(of).collect::<Result<_, _>>()?),
        Raw::Implies(a, b) => Formula::Or(vec![Formula::Not(Box::new(of(a)?)), of(b)?]),
        Raw::Iff(a, b) => Formula::And(vec![
            Formula::Or(vec![Formula::Not(Box::new(of(a)?)), of(b)?]),
            Formula::Or(vec![Formula::Not(Box::new(of(b)?)), of(a)?]),
        ]),
        Raw::Is { path, not, labels } => {
            let path = resolve(words, declaration, subject, path)?;
            let is = is(words, declaration, subject, path, labels)?;
            if *not { Formula::Not(Box::new(is)) } else { is }
        }
    })
}

fn is(
    words: &Words,
    declaration: &Declaration,
    subject: usize,
    path: Vec<Hop>,
    labels: &[Word],
) -> Result<Formula, LanguageError> {
    let of = &declaration.variables[declaration.end_of(subject, &path)];
    let number = |word: &Word| of.labels.iter().position(|label| *label == word.text);
    let is_list = labels.last().is_some_and(|word| word.column == 0);
    if !is_list && (labels.len() > 1 || number(&labels[0]).is_none()) {
        // Two variables have the same label.
        let starts = declaration.kind_named(&labels[0].text).is_some()
            || declaration.variables[subject].links.iter().any(|link| link.name == labels[0].text)
            || ["next", "previous"].contains(&labels[0].text.as_str());
        if !starts {
            let names = of.labels.iter().map(String::as_str);
            return Err(words.unknown(&labels[0], &format!("label of {}", of.name), names));
        }
        let other = resolve(words, declaration, subject, labels)?;
        let others = &declaration.variables[declaration.end_of(subject, &other)].labels;
        let mut all = Vec::new();
        for label in
            of.labels.iter().chain(others.iter().filter(|label| !of.labels.contains(label)))
        {
            let mine = Literal {
                path: path.clone(),
                labels: of.labels.iter().map(|l| l == label).collect(),
            };
            let yours = Literal {
                path: other.clone(),
                labels: others.iter().map(|l| l == label).collect(),
            };
            let (mine, yours) = (Formula::Is(mine), Formula::Is(yours));
            all.push(Formula::Or(vec![Formula::Not(Box::new(mine)), yours]));
        }
        return Ok(Formula::And(all));
    }
    let mut chosen = vec![false; of.labels.len()];
    for word in labels.iter().filter(|word| word.column > 0) {
        let names = of.labels.iter().map(String::as_str);
        let label = number(word)
            .ok_or_else(|| words.unknown(word, &format!("label of {}", of.name), names))?;
        chosen[label] = true;
    }
    Ok(Formula::Is(Literal { path, labels: chosen }))
}
