//! Values that are one of a few names, or a number in a range.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lineal::Task;
use std::str::FromStr;

/// A parser of one of `names`, each with a line of help.
pub fn choice<T>(names: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    let value = |&(name, help): &(&'static str, &'static str)| PossibleValue::new(name).help(help);
    PossibleValuesParser::new(names.iter().map(value)).try_map(|name| name.parse::<T>())
}

/// A parser of one of the tasks in `names`, each with a line of help; their aliases are understood.
pub fn task(names: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = Task> {
    let value = |&(name, help): &(&'static str, &'static str)| {
        let aliases = Task::named(name).map_or(&[][..], Task::aliases);
        PossibleValue::new(name).help(help).aliases(aliases)
    };
    PossibleValuesParser::new(names.iter().map(value))
        .try_map(|name| Task::named(&name).ok_or(format!("{name} is not a task")))
}

/// A finite number over 0.
pub fn positive(text: &str) -> Result<f64, String> {
    let x = finite(text)?;
    if x > 0.0 { Ok(x) } else { Err("must be over 0".to_owned()) }
}

/// A finite number of at least 0.
pub fn not_negative(text: &str) -> Result<f64, String> {
    let x = finite(text)?;
    if x >= 0.0 { Ok(x) } else { Err("must not be negative".to_owned()) }
}

/// A whole number over 0.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(n) => Ok(n),
        Err(_) => Err("not a whole number".to_owned()),
    }
}

/// A whole number over 1.
pub fn at_least_two(text: &str) -> Result<usize, String> {
    match at_least_one(text)? {
        1 => Err("must be at least 2".to_owned()),
        n => Ok(n),
    }
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or("not a finite number".to_owned())
}
