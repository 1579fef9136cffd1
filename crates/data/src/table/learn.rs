//! Which column is what: the user's word first, then a guess from the whole column.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::columns::{list, no_column};
use super::guess::{
    guess, is_date, is_id, is_text, lost_precision, may_be_id, mixed, not_dates, open_dates,
};
use super::profile::{Look, MOST_VALUES, Profile, profile};
use super::{Rows, Table};
use crate::error::{Error, ErrorKind, argument, quote};
use crate::format::Format;
use crate::labels::sort_names;
use crate::options::ReadOptions;
use crate::schema::{Column, ColumnKind, MOST_BITS, Schema, TargetKind, bucket_of};
use crate::stream::Learnt;

/// What the user said of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Label,
    Weight,
    Query,
    Numeric,
    Categorical,
    Text,
    Ignore,
    Guess,
}

impl Role {
    fn flag(self) -> &'static str {
        match self {
            Role::Label => "options.label",
            Role::Weight => "options.weight",
            Role::Query => "options.query",
            Role::Numeric => "options.numeric",
            Role::Categorical => "options.categorical",
            Role::Text => "options.text",
            Role::Ignore => "options.ignore",
            Role::Guess => "nothing",
        }
    }
}

/// The schema that the first `most` rows tell.
pub(super) fn learn(rows: &dyn Rows, table: Table<'_>, most: usize) -> Result<Learnt, Error> {
    let Table { file, options, .. } = table;
    if let Some(bits) = options.hash_categories.filter(|bits| !(1..=MOST_BITS).contains(bits)) {
        let message = format!(
            "options.hash_categories = {bits}: between 1 and {MOST_BITS} bits can be hashed into"
        );
        return Err(Error::new(ErrorKind::Columns, file, message));
    }
    let roles = roles(rows.names(), table)?;
    learn_roles(rows, table, most, roles)
}

/// The same, with all columns but the label left out.
pub(super) fn learn_label(rows: &dyn Rows, table: Table<'_>, most: usize) -> Result<Learnt, Error> {
    let roles = roles(rows.names(), table)?;
    let only_label = |role: Role| if role == Role::Label { role } else { Role::Ignore };
    learn_roles(rows, table, most, roles.into_iter().map(only_label).collect())
}

fn learn_roles(
    rows: &dyn Rows,
    table: Table<'_>,
    most: usize,
    roles: Vec<Role>,
) -> Result<Learnt, Error> {
    let Table { file, format, options, .. } = table;
    let names = rows.names();
    // A column without a name is called by its place. The first such one is what pandas and R write in front: the row's number or name.
    let is_cut = matches!(format, Format::Csv | Format::Tsv) && !rows.no_header();
    let is_unnamed = |name: &str| is_cut && name == "1" && names.first().is_some_and(|n| n == name);
    let look = |(role, name): (&Role, &String)| look(*role, name, is_unnamed(name), options);
    let looks: Vec<Look> = roles.iter().zip(names).map(look).collect();
    let (mut profiles, n_rows) = profile(rows, &looks, most)?;
    if n_rows == 0 {
        return Err(Error::new(ErrorKind::Empty, file, "no rows after the header"));
    }
    // Columns that looked like numbers at first need their values collected after all.
    let late = |(p, role): (&Profile, &Role)| {
        let late = *role == Role::Guess && p.distinct.is_none() && p.n_names + p.n_codes > 0;
        if late { Look::Collect(MOST_VALUES) } else { Look::Skip }
    };
    let looks: Vec<Look> = profiles.iter().zip(&roles).map(late).collect();
    if looks.iter().any(|look| *look != Look::Skip) {
        let (again, _) = profile(rows, &looks, most)?;
        for ((old, new), look) in profiles.iter_mut().zip(again).zip(&looks) {
            if *look != Look::Skip {
                *old = new;
            }
        }
    }

    let mut warnings = rows.warnings();
    let mut classes = Vec::new();
    let mut columns = Vec::new();
    let (mut at, mut slot) = (0, 0);
    let (mut not_numeric, mut open, mut rounded) = (Vec::new(), Vec::new(), Vec::new());
    let mut not_date = Vec::new();
    for ((name, role), profile) in names.iter().zip(roles).zip(profiles) {
        if role == Role::Numeric || (role == Role::Guess && !is_date(&profile)) {
            rounded.extend(lost_precision(name, &profile, file));
        }
        let kind = match role {
            Role::Label => {
                classes = profile.distinct.and_then(|d| d.sorted()).unwrap_or_default();
                classes.retain(|class| !class.is_empty());
                sort_names(&mut classes);
                warnings.extend(same_but_for_case(&classes, file));
                warnings.extend(like_missing(&classes, file));
                ColumnKind::Label
            }
            Role::Weight => ColumnKind::Weight,
            Role::Query => ColumnKind::Query,
            Role::Ignore => ColumnKind::Ignored { why: "as asked".to_owned() },
            Role::Text => ColumnKind::Text { slot },
            Role::Numeric if profile.n_lists > 0 => {
                ColumnKind::Vector { at, len: profile.first_len }
            }
            Role::Numeric => ColumnKind::Numeric { at, mean: profile.mean() },
            Role::Categorical => {
                let values = profile.distinct.and_then(|d| d.sorted()).unwrap_or_default();
                ColumnKind::Categorical { at, values }
            }
            Role::Guess if options.guess_text && is_text(name, &profile) => {
                ColumnKind::Text { slot }
            }
            // A row's name or number tells nothing of other rows, and where files were sorted, too much of these.
            Role::Guess if is_id(name, is_unnamed(name), &profile) => ColumnKind::Ignored {
                why: format!(
                    "identifies the row; options.numeric = {0} or options.categorical = {0} keeps it",
                    argument(name)
                ),
            },
            Role::Guess => {
                match not_dates(name, &profile, file) {
                    Some(warning) => not_date.push(warning),
                    None if is_date(&profile) => {}
                    None => not_numeric.extend(mixed(name, &profile, file)),
                }
                open.extend(open_dates(name, &profile, file));
                guess(name, profile, at)
            }
        };
        let kind = match (kind, options.hash_categories) {
            (ColumnKind::Categorical { values, .. }, Some(bits)) => {
                // Where the table starts is known at the end.
                ColumnKind::Hashed { at: 0, bits, names: in_table(name, values, bits) }
            }
            (kind, _) => kind,
        };

        if !matches!(kind, ColumnKind::Hashed { .. }) {
            at += kind.span().map_or(0, |(_, len)| len);
        }
        slot += usize::from(matches!(kind, ColumnKind::Text { .. }));
        columns.push(Column { name: name.clone(), kind });
    }
    warnings.extend(first_and_count(not_numeric));
    warnings.extend(first_and_count(not_date));
    warnings.extend(first_and_count(open));
    warnings.extend(first_and_count(rounded));
    at = place_hashed(&mut columns, at);
    if at + slot == 0 {
        let message =
            "no column became a feature; see options.numeric, options.categorical and options.text";
        warnings.push(format!("{file}: {message}"));
    }
    let schema = Schema {
        format: Some(format),
        target: options.target,
        classes,
        n_features: at,
        columns: Some(columns),
        feature_ids: None,
        n_computed: 0,
        image: None,
        no_header: rows.no_header(),
        delimiter: table.options.delimiter,
        decimal_comma: rows.decimal_comma(),
        encoding: table.options.encoding,
    };
    schema.check().map_err(|e| Error::new(ErrorKind::Schema, file, e))?;
    Ok(Learnt { schema, n_rows, warnings })
}

/// Names that are kept of a hashed column's values.
const MOST_NAMES: usize = 1 << 14;

/// Values with their places in the table, in the order of these.
fn in_table(column: &str, values: Vec<String>, bits: u8) -> Vec<(u32, String)> {
    let place = |value: String| (bucket_of(column, &value, bits) as u32, value);
    let mut names: Vec<(u32, String)> = values.into_iter().map(place).collect();
    names.sort_unstable();
    names
}

/// The table of hashed columns comes last. Returns the number of features.
fn place_hashed(columns: &mut [Column], n_features: usize) -> usize {
    let mut end = n_features;
    for column in columns {
        if let ColumnKind::Hashed { at, bits, .. } = &mut column.kind {
            *at = n_features;
            end = n_features + (1 << *bits);
        }
    }
    end
}

fn look(role: Role, name: &str, is_unnamed: bool, options: &ReadOptions) -> Look {
    match role {
        Role::Label => match options.target {
            TargetKind::Classes => Look::Classes,
            TargetKind::Labels => Look::Labels(options.label_separator),
            TargetKind::Real | TargetKind::Grades => Look::Skip,
        },
        Role::Text => Look::Text,
        Role::Weight | Role::Query | Role::Ignore => Look::Skip,
        Role::Categorical if options.hash_categories.is_some() => Look::First(MOST_NAMES),
        Role::Categorical => Look::Collect(usize::MAX),
        Role::Guess if may_be_id(name, is_unnamed) => Look::Collect(MOST_VALUES),
        Role::Numeric | Role::Guess => Look::Guess,
    }
}

/// What the user said of each column, or the format says, checked.
fn roles(names: &[String], table: Table<'_>) -> Result<Vec<Role>, Error> {
    let Table { file, format, options, .. } = table;
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
        (&options.text, Role::Text),
        (&options.ignore, Role::Ignore),
    ] {
        for name in list {
            assign(name, role)?;
        }
    }
    if let Some(name) = &options.weight {
        assign(name, Role::Weight)?;
    }
    match (&options.query, options.target) {
        (Some(name), TargetKind::Grades) => assign(name, Role::Query)?,
        (None, TargetKind::Grades) => assign(&usual_query(names, file)?, Role::Query)?,
        (Some(name), _) => {
            let message = format!("options.query = {name} is for ranking; use read_ranking");
            return Err(Error::new(ErrorKind::Columns, file, message));
        }
        (None, _) => {}
    }
    match &options.label {
        Some(name) => assign(name, Role::Label)?,
        None => assign(&usual_label(names, file, options.target)?, Role::Label)?,
    }
    match format {
        Format::FastText if !options.ignore.iter().any(|name| name == "text") => {
            assign("text", Role::Text)?;
        }
        Format::Vw => assign("weight", Role::Weight)?,
        _ => {}
    }
    Ok(roles)
}

/// The one column whose name is usual for labels.
fn usual_label(names: &[String], file: &str, target: TargetKind) -> Result<String, Error> {
    let usual: &[&str] = match target {
        TargetKind::Labels => &["label", "class", "target", "y", "labels"],
        TargetKind::Grades => &["label", "class", "target", "y", "grade", "relevance"],
        TargetKind::Classes | TargetKind::Real => &["label", "class", "target", "y"],
    };
    // Beside one of the other names, y is a coordinate.
    let is_y = |name: &str| name.eq_ignore_ascii_case("y");
    let is_named = |name: &String| usual.iter().any(|u| !is_y(u) && u.eq_ignore_ascii_case(name));
    let named = names.iter().any(is_named);
    let usual: Vec<&str> = usual.iter().copied().filter(|u| !(named && is_y(u))).collect();
    usual_column(names, &usual, ("label", "options.label"), file)
}

/// The one column whose name is usual for queries.
fn usual_query(names: &[String], file: &str) -> Result<String, Error> {
    usual_column(names, &["query", "qid", "query_id"], ("query", "options.query"), file)
}

fn usual_column(
    names: &[String],
    usual: &[&str],
    (role, flag): (&str, &str),
    file: &str,
) -> Result<String, Error> {
    let is_usual = |name: &&String| usual.iter().any(|u| u.eq_ignore_ascii_case(name));
    let found: Vec<&String> = names.iter().filter(is_usual).collect();
    let problem = match found[..] {
        [name] => return Ok(name.clone()),
        [] => format!("no column is named {}", usual.join(", ")),
        [a, b, ..] => format!("both {a:?} and {b:?} could be the {role}"),
    };
    let is_numbered = names.iter().zip(1..).all(|(name, i)| *name == i.to_string());
    let header = match is_numbered {
        true => {
            "; the first row was taken as data: say options.header = true if it names the columns"
        }
        false => "",
    };
    let message = format!("{problem}; name the {role} with {flag} = NAME; {}{header}", list(names));
    Err(Error::new(ErrorKind::Columns, file, message))
}

/// What to say of classes that are perhaps one, spelt in two ways.
fn same_but_for_case(classes: &[String], file: &str) -> Option<String> {
    let mut first: HashMap<String, &String> = HashMap::new();
    let mut twins = Vec::new();
    for class in classes {
        match first.entry(class.trim().to_lowercase()) {
            Entry::Vacant(place) => drop(place.insert(class)),
            Entry::Occupied(place) => twins.push((*place.get(), class)),
        }
    }
    let (a, b) = twins.first()?;
    let more = match twins.len() {
        1 => String::new(),
        n => format!(", and {} like them", crate::error::count(n - 1, "more pair")),
    };
    Some(format!(
        "{file}: the classes {} and {}{more} differ only in case or in spaces around them, and are two classes; if they mean the same, write them in the same way",
        quote(a),
        quote(b)
    ))
}

/// What to say of a class whose name most often stands for nothing.
fn like_missing(classes: &[String], file: &str) -> Option<String> {
    const MARKS: [&str; 6] = ["NA", "N/A", "<NA>", "NaN", "NULL", "#N/A"];
    let is_mark = |class: &&String| MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(class));
    let mark = quote(classes.iter().find(is_mark)?);
    Some(format!(
        "{file}: {mark} is a class like the others; if it stands for a missing label, leave these cells empty, and the rows are left out"
    ))
}

/// The first of some warnings that differ in their columns alone, and how many more there are.
pub(super) fn first_and_count(warnings: Vec<String>) -> Option<String> {
    let n_more = warnings.len().saturating_sub(1);
    let first = warnings.into_iter().next()?;
    Some(match n_more {
        0 => first,
        n => format!("{first} (and {} like it)", crate::error::count(n, "more column")),
    })
}
