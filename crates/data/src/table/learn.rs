//! Which column is what: the user's word first, then a guess from the whole column.

use super::profile::{Look, MOST_VALUES, Profile, profile};
use super::{FEATURES, Rows, list, no_column};
use crate::error::{Error, ErrorKind, count, quote, thousands};
use crate::format::Format;
use crate::labels::sort_names;
use crate::options::ReadOptions;
use crate::schema::{Column, ColumnKind, Schema, TargetKind};

/// A schema, and what was odd.
pub(super) struct Learnt {
    pub(super) schema: Schema,
    pub(super) warnings: Vec<String>,
}

/// What the user said of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Label,
    Weight,
    Numeric,
    Categorical,
    Ignore,
    Guess,
}

impl Role {
    fn flag(self) -> &'static str {
        match self {
            Role::Label => "--label",
            Role::Weight => "--weight",
            Role::Numeric => "--numeric",
            Role::Categorical => "--categorical",
            Role::Ignore => "--ignore",
            Role::Guess => "nothing",
        }
    }
}

/// Up to so many values are categories even if each row has its own.
const FEW_VALUES: usize = 20;

pub(super) fn learn(
    rows: &dyn Rows,
    file: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Learnt, Error> {
    let names = rows.names();
    let roles = roles(names, file, options)?;
    let mut profiles = profile(rows, &roles.iter().map(|r| look(*r, options)).collect::<Vec<_>>())?;
    let n_rows = profiles.first().map_or(0, |p| p.n_rows);
    if n_rows == 0 {
        return Err(Error::new(ErrorKind::Empty, file, "no rows after the header"));
    }
    // Columns that looked like numbers at first need their values collected after all.
    let late = |(p, role): (&Profile, &Role)| {
        let late = *role == Role::Guess && p.distinct.is_none() && p.n_names > 0;
        if late { Look::Collect(MOST_VALUES) } else { Look::Skip }
    };
    let looks: Vec<Look> = profiles.iter().zip(&roles).map(late).collect();
    if looks.iter().any(|look| *look != Look::Skip) {
        for ((old, new), look) in profiles.iter_mut().zip(profile(rows, &looks)?).zip(&looks) {
            if *look != Look::Skip {
                *old = new;
            }
        }
    }

    let mut warnings = Vec::new();
    let mut classes = Vec::new();
    let mut columns = Vec::new();
    let mut at = 0;
    for ((name, role), profile) in names.iter().zip(roles).zip(profiles) {
        let kind = match role {
            Role::Label => {
                classes = profile.distinct.and_then(|d| d.sorted()).unwrap_or_default();
                classes.retain(|class| !class.is_empty());
                sort_names(&mut classes);
                ColumnKind::Label
            }
            Role::Weight => ColumnKind::Weight,
            Role::Ignore => ColumnKind::Ignored { why: "as asked".to_owned() },
            Role::Numeric if profile.n_lists > 0 => {
                ColumnKind::Vector { at, len: profile.first_len }
            }
            Role::Numeric => ColumnKind::Numeric { at },
            Role::Categorical => {
                let values = profile.distinct.and_then(|d| d.sorted()).unwrap_or_default();
                ColumnKind::Categorical { at, values }
            }
            Role::Guess => {
                warnings.extend(mixed(name, &profile, file));
                guess(name, profile, at)
            }
        };
        at += kind.span().map_or(0, |(_, len)| len);
        columns.push(Column { name: name.clone(), kind });
    }
    if at == 0 {
        let message = "no column became a feature; see --numeric and --categorical";
        warnings.push(format!("{file}: {message}"));
    }
    let schema = Schema {
        format,
        target: options.target,
        classes,
        n_features: at,
        columns: Some(columns),
        feature_ids: None,
        image: None,
    };
    schema.check().map_err(|e| Error::new(ErrorKind::Schema, file, e))?;
    Ok(Learnt { schema, warnings })
}

fn look(role: Role, options: &ReadOptions) -> Look {
    match role {
        Role::Label if options.target == TargetKind::Classes => Look::Collect(usize::MAX),
        Role::Label | Role::Weight | Role::Ignore => Look::Skip,
        Role::Categorical => Look::Collect(usize::MAX),
        Role::Numeric | Role::Guess => Look::Guess,
    }
}

/// The type of a column that the user said nothing of.
fn guess(name: &str, profile: Profile, at: usize) -> ColumnKind {
    let ignored = |why: String| ColumnKind::Ignored { why };
    let n_single = profile.n_numbers + profile.n_names;
    if profile.n_objects > 0 {
        if name == FEATURES {
            return ColumnKind::Named { at, names: profile.keys.into_iter().collect() };
        }
        return ignored(format!("holds objects; only {FEATURES:?} may"));
    }
    if profile.n_lists > 0 {
        if n_single == 0 && profile.n_other_lists == 0 {
            return ColumnKind::Vector { at, len: profile.first_len };
        }
        return ignored("holds lists that are not of numbers alone".to_owned());
    }
    if n_single == 0 {
        return ignored("empty in every row".to_owned());
    }
    if profile.n_names == 0 {
        return ColumnKind::Numeric { at };
    }
    let Some(distinct) = profile.distinct else { return ColumnKind::Numeric { at } };
    let n = distinct.len();
    if n <= FEW_VALUES || n <= MOST_VALUES.min(profile.n_rows / 2) {
        return ColumnKind::Categorical { at, values: distinct.sorted().unwrap_or_default() };
    }
    ignored(format!(
        "looks like free text ({} distinct values of {})",
        thousands(n),
        thousands(profile.n_rows)
    ))
}

/// A column of numbers with a few words in it is often a typing error.
fn mixed(name: &str, profile: &Profile, file: &str) -> Option<String> {
    let (word, line) = profile.first_name.as_ref()?;
    (profile.n_numbers * 2 >= profile.n_rows).then(|| {
        format!(
            "{file}:{line}: column {name:?} is not numeric because of {} ({} of {} are numbers); correct \
             it, or say --categorical {name} or --ignore {name}",
            quote(word),
            thousands(profile.n_numbers),
            count(profile.n_rows, "row")
        )
    })
}

/// What the user said of each column, checked.
fn roles(names: &[String], file: &str, options: &ReadOptions) -> Result<Vec<Role>, Error> {
    let mut roles = vec![Role::Guess; names.len()];
    let mut assign = |name: &str, role: Role| {
        let at = names.iter().position(|n| n == name);
        let old =
            at.and_then(|at| roles.get_mut(at)).ok_or_else(|| no_column(file, name, names))?;
        if *old != Role::Guess && *old != role {
            let (old, new) = (old.flag(), role.flag());
            let message =
                format!("column {name:?} is named by both {old} and {new}; it can be one");
            return Err(Error::new(ErrorKind::Columns, file, message));
        }
        *old = role;
        Ok(())
    };
    for (list, role) in [
        (&options.numeric, Role::Numeric),
        (&options.categorical, Role::Categorical),
        (&options.ignore, Role::Ignore),
    ] {
        for name in list {
            assign(name, role)?;
        }
    }
    if let Some(name) = &options.weight {
        assign(name, Role::Weight)?;
    }
    match &options.label {
        Some(name) => assign(name, Role::Label)?,
        None => assign(&usual_label(names, file)?, Role::Label)?,
    }
    Ok(roles)
}

/// The one column whose name is usual for labels.
fn usual_label(names: &[String], file: &str) -> Result<String, Error> {
    const USUAL: [&str; 4] = ["label", "class", "target", "y"];
    let usual = |name: &&String| USUAL.iter().any(|u| u.eq_ignore_ascii_case(name));
    let found: Vec<&String> = names.iter().filter(usual).collect();
    let problem = match found[..] {
        [name] => return Ok(name.clone()),
        [] => format!("no column is named {}", USUAL.join(", ")),
        [a, b, ..] => format!("both {a:?} and {b:?} could be the label"),
    };
    let message = format!("{problem}; say which one is with --label NAME; {}", list(names));
    Err(Error::new(ErrorKind::Columns, file, message))
}
