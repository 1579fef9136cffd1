//! Lines of a declaration: variables, factors, features, costs, rules.

use super::declaration::{Declaration, Factor, Hop, Link, Path, Rule, VariableKind};
use super::error::{LanguageError, suggestion};
use super::rules;
use super::words::{Word, Words};
use crate::features;

const STARTS: [&str; 5] = ["variable", "factor", "features", "cost", "rule"];

pub(super) fn parse(text: &str) -> Result<Declaration, LanguageError> {
    let mut declaration = Declaration {
        variables: Vec::new(),
        factors: Vec::new(),
        rules: Vec::new(),
        text: text.to_owned(),
    };
    for (line, n) in text.lines().zip(1..) {
        let mut words = Words::new(line, n)?;
        let Some(start) = words.advance() else { continue };
        match start.text.as_str() {
            "variable" => variable(&mut words, &mut declaration)?,
            "factor" => factor(&mut words, &mut declaration)?,
            "features" => self::features(&mut words, &mut declaration)?,
            "cost" => cost(&mut words, &mut declaration)?,
            "rule" => {
                let body = rules::parse(&mut words, &declaration)?;
                declaration.rules.push(Rule { line: n, text: line.trim().to_owned(), body });
            }
            other => {
                let message = format!(
                    "a line begins with variable, factor, features, cost or rule, not `{other}`{}",
                    suggestion(other, STARTS.into_iter())
                );
                return Err(words.at(&start, message));
            }
        }
    }
    if declaration.variables.is_empty() {
        return Err(LanguageError {
            line: text.lines().count().max(1),
            column: 1,
            word: String::new(),
            message: "no variable is declared; write `variable NAME { LABEL LABEL … }`".into(),
        });
    }
    Ok(declaration)
}

/// `variable NAME [ (LINK: KIND, …) ] { LABEL … } [ from LIST ] [ by FIELD ] [ all pairs ]`
fn variable(words: &mut Words, declaration: &mut Declaration) -> Result<(), LanguageError> {
    let name = words.name("the name of the variables")?;
    fresh(words, declaration, &name)?;
    let mut links: Vec<Link> = Vec::new();
    if words.takes("(") {
        loop {
            let link = words.name("the name of a link")?;
            if links.iter().any(|other| other.name == link.text)
                || ["next", "previous"].contains(&link.text.as_str())
            {
                return Err(words.at(
                    &link,
                    format!("the link `{}` exists already; choose another name", link.text),
                ));
            }
            words.expect(":", " between the name of a link and the kind that it leads to")?;
            let to = words.name("the kind that the link leads to")?;
            let number = if to.text == name.text {
                Some(declaration.variables.len())
            } else {
                declaration.kind_named(&to.text)
            };
            let names = declaration
                .variables
                .iter()
                .map(|kind| kind.name.as_str())
                .chain([name.text.as_str()]);
            let number = number.ok_or_else(|| words.unknown(&to, "variable", names))?;
            links.push(Link { name: link.text, to: number });
            if !words.takes(",") {
                break;
            }
        }
        words.expect(")", " after the links")?;
    }
    words.expect("{", " before the labels")?;
    let mut labels: Vec<String> = Vec::new();
    while !words.takes("}") {
        let label = words.name("a label or `}`")?;
        if labels.contains(&label.text) {
            return Err(words.at(&label, format!("the label `{}` stands here twice", label.text)));
        }
        labels.push(label.text);
        words.takes(",");
    }
    if labels.is_empty() {
        return Err(words
            .at(&name, format!("`{}` has no labels; write them between the braces", name.text)));
    }
    let mut kind = VariableKind {
        source: name.text.clone(),
        name: name.text.clone(),
        costs: vec![1.0; labels.len()],
        labels,
        links,
        label_field: "label".into(),
        all_pairs: false,
        templates: Vec::new(),
    };
    while !words.is_end() {
        if words.takes("from") {
            kind.source = words.name("the list of an example that has the instances")?.text;
        } else if words.takes("by") {
            kind.label_field = words.name("the field that has the label")?.text;
        } else if words.takes("all") {
            words.expect("pairs", " after `all`")?;
            if kind.links.len() != 2 {
                let message = format!(
                    "all pairs need two links, and `{}` has {}",
                    name.text,
                    kind.links.len()
                );
                return Err(words.at(&name, message));
            }
            if kind.links.iter().any(|link| link.to == declaration.variables.len()) {
                let message = format!(
                    "`{}` cannot be all pairs of itself; link it to another variable",
                    name.text
                );
                return Err(words.at(&name, message));
            }
            kind.all_pairs = true;
        } else {
            return Err(words.wrong("here may stand `from LIST`, `by FIELD` or `all pairs`"));
        }
    }
    declaration.variables.push(kind);
    Ok(())
}

fn fresh(words: &Words, declaration: &Declaration, name: &Word) -> Result<(), LanguageError> {
    let factor = declaration.factors.iter().any(|factor| factor.name == name.text);
    if factor || declaration.kind_named(&name.text).is_some() {
        return Err(
            words.at(name, format!("`{}` is declared already; choose another name", name.text))
        );
    }
    Ok(())
}

/// `factor NAME(PATH, PATH, …) [ shares FACTOR ]`
fn factor(words: &mut Words, declaration: &mut Declaration) -> Result<(), LanguageError> {
    let name = words.name("the name of the factor")?;
    fresh(words, declaration, &name)?;
    words.expect("(", " before the variables of the factor")?;
    let mut raw = Vec::new();
    loop {
        raw.push(names(words)?);
        if !words.takes(",") {
            break;
        }
    }
    words.expect(")", " after the variables of the factor")?;
    let subject = subject(words, declaration, raw.iter())?;
    let paths: Vec<Path> = raw
        .iter()
        .map(|path| resolve(words, declaration, subject, path))
        .collect::<Result<_, _>>()?;
    if (1..paths.len()).any(|at| paths[..at].contains(&paths[at])) {
        return Err(words.at(&name, format!("factor `{}` names a variable twice", name.text)));
    }
    let kinds: Vec<usize> = paths.iter().map(|path| declaration.end_of(subject, path)).collect();
    let n_joint =
        kinds.iter().map(|&kind| declaration.variables[kind].labels.len() as f64).product::<f64>();
    if n_joint > 65_536.0 {
        let message = format!(
            "factor `{}` has {n_joint} joint labels; at most 65536 are possible",
            name.text
        );
        return Err(words.at(&name, message));
    }
    let mut weights_of = declaration.factors.len();
    if words.takes("shares") {
        let other = words.name("a factor that is declared above")?;
        let names = || declaration.factors.iter().map(|factor| factor.name.as_str());
        let number = names().position(|name| name == other.text);
        let number = number.ok_or_else(|| words.unknown(&other, "factor", names()))?;
        if declaration.factors[number].kinds != kinds {
            let message = format!(
                "`{}` is over other kinds of variables; weights cannot be shared",
                other.text
            );
            return Err(words.at(&other, message));
        }
        weights_of = declaration.factors[number].weights_of;
    }
    words.finish()?;
    declaration.factors.push(Factor {
        name: name.text,
        subject,
        paths,
        kinds,
        weights_of,
        templates: Vec::new(),
    });
    Ok(())
}

/// `features NAME: TEMPLATE TEMPLATE …`
fn features(words: &mut Words, declaration: &mut Declaration) -> Result<(), LanguageError> {
    let name = words.name("a variable or a factor")?;
    words.expect(":", " before the templates")?;
    if let Some(kind) = declaration.kind_named(&name.text) {
        let templates = features::parse(words, declaration, kind)?;
        declaration.variables[kind].templates.extend(templates);
        return Ok(());
    }
    let Some(at) = declaration.factors.iter().position(|factor| factor.name == name.text) else {
        let kinds = declaration.variables.iter().map(|kind| kind.name.as_str());
        let factors = declaration.factors.iter().map(|factor| factor.name.as_str());
        return Err(words.unknown(&name, "variable or factor", kinds.chain(factors)));
    };
    let templates = features::parse(words, declaration, declaration.factors[at].subject)?;
    declaration.factors[at].templates.extend(templates);
    Ok(())
}

/// `cost VARIABLE NUMBER { LABEL NUMBER }`
fn cost(words: &mut Words, declaration: &mut Declaration) -> Result<(), LanguageError> {
    let name = words.name("a variable")?;
    let names = || declaration.variables.iter().map(|kind| kind.name.as_str());
    let kind = declaration
        .kind_named(&name.text)
        .ok_or_else(|| words.unknown(&name, "variable", names()))?;
    let all = amount(words)?;
    let kind = &mut declaration.variables[kind];
    kind.costs.fill(all);
    while !words.is_end() {
        let label = words.name("a label")?;
        let number = kind.labels.iter().position(|other| *other == label.text);
        let names = kind.labels.iter().map(String::as_str);
        let number = number
            .ok_or_else(|| words.unknown(&label, &format!("label of {}", kind.name), names))?;
        kind.costs[number] = amount(words)?;
    }
    Ok(())
}

/// A number that is not negative, with or without a fraction.
fn amount(words: &mut Words) -> Result<f64, LanguageError> {
    let Some(word) = words.advance() else { return Err(words.wrong("a cost must stand here")) };
    let mut number = word.text.clone();
    if words.takes(".") {
        let fraction = words.advance().map(|word| word.text).unwrap_or_default();
        number = format!("{number}.{fraction}");
    }
    let cost = number.parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost >= 0.0);
    cost.ok_or_else(|| {
        let message =
            format!("`{number}` is not a cost; write a number that is not negative, like 0.5");
        words.at(&word, message)
    })
}

/// `NAME.NAME.…`
pub(crate) fn names(words: &mut Words) -> Result<Vec<Word>, LanguageError> {
    let mut names = vec![words.name("a variable or a link")?];
    while words.takes(".") {
        names.push(words.name("a link")?);
    }
    Ok(names)
}

/// The one kind that paths begin with, or whose links they begin with.
pub(super) fn subject<'a>(
    words: &Words,
    declaration: &Declaration,
    paths: impl Iterator<Item = &'a Vec<Word>> + Clone,
) -> Result<usize, LanguageError> {
    let mut found: Option<usize> = None;
    for path in paths.clone() {
        let Some(kind) = declaration.kind_named(&path[0].text) else { continue };
        if found.is_some_and(|other| other != kind) {
            let message = format!(
                "`{}` and `{}` are two kinds of variables; speak of one and follow its links to the other",
                declaration.variables[found.unwrap_or(kind)].name,
                path[0].text
            );
            return Err(words.at(&path[0], message));
        }
        found = Some(kind);
    }
    if let Some(kind) = found {
        return Ok(kind);
    }
    let has =
        |kind: &VariableKind, word: &Word| kind.links.iter().any(|link| link.name == word.text);
    let first = paths.clone().next();
    let mut kinds = (0..declaration.variables.len())
        .filter(|&kind| paths.clone().all(|path| has(&declaration.variables[kind], &path[0])));
    match (kinds.next(), kinds.next(), first) {
        (Some(kind), None, _) => Ok(kind),
        (_, _, Some(path)) => {
            let names = declaration.variables.iter().map(|kind| kind.name.as_str());
            Err(words.unknown(&path[0], "variable", names))
        }
        (_, _, None) => Err(words.wrong("a variable must stand here")),
    }
}

/// Names as hops from a variable of the subject's kind.
pub(crate) fn resolve(
    words: &Words,
    declaration: &Declaration,
    subject: usize,
    path: &[Word],
) -> Result<Path, LanguageError> {
    let from = usize::from(path[0].text == declaration.variables[subject].name);
    let mut kind = subject;
    let mut hops = Vec::new();
    for word in &path[from..] {
        let of = &declaration.variables[kind];
        hops.push(
            match (of.links.iter().position(|link| link.name == word.text), word.text.as_str()) {
                (Some(link), _) => {
                    kind = of.links[link].to;
                    Hop::Link(link)
                }
                (None, "next") => Hop::Next,
                (None, "previous") => Hop::Previous,
                (None, _) => {
                    let names =
                        of.links.iter().map(|link| link.name.as_str()).chain(["next", "previous"]);
                    return Err(words.unknown(word, &format!("link of {}", of.name), names));
                }
            },
        );
    }
    Ok(hops)
}
