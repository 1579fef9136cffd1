//! Rows as they were understood.

use lineal::{Dataset, Features, TargetKind, Targets};

use crate::talk::{count, rough, seconds};
use crate::{maps, text};

/// The columns that are shown of a wide table.
const COLUMNS: usize = 40;

/// The data as it was understood.
pub fn data(data: &Dataset, features: &Features, read_seconds: f64) -> Vec<String> {
    let n_classes = data.schema.classes.len();
    let classes = match (data.schema.target, &data.y) {
        (TargetKind::Classes, _) => format!(", {}", count(n_classes, "class")),
        (TargetKind::Labels, Targets::Labels(y)) => {
            let mean = y.n_labels_total() as f64 / y.n_rows().max(1) as f64;
            format!(", {} ({} per row)", count(n_classes, "label"), rough(mean))
        }
        _ => String::new(),
    };
    let time =
        if read_seconds < 0.1 { String::new() } else { format!(" ({})", seconds(read_seconds)) };
    let (n_rows, n_features) = (count(data.n_rows(), "row"), count(data.n_features(), "feature"));
    let mut lines = vec![format!("{}: {n_rows}, {n_features}{classes}{time}", data.source)];
    lines.extend(details(data, features));
    lines
}

/// Columns, what was made of them, and warnings.
pub fn details(data: &Dataset, features: &Features) -> Vec<String> {
    let mut lines = Vec::new();
    let columns = data.schema.describe();
    lines.extend(columns.iter().take(COLUMNS).map(|column| format!("  {column}")));
    if columns.len() > COLUMNS {
        lines.push(format!("  … and {}", count(columns.len() - COLUMNS, "more column")));
    }
    lines.extend(features.text().map(|encoder| format!("  {}", text::one_line(encoder))));
    let templates =
        features.templates().map(|(templates, _)| maps::templates_in_one_line(templates));
    lines.extend(templates.map(|told| format!("  {told}")));
    let name = |j| features.feature_name(&data.schema, j);
    lines.extend(features.map().map(|map| format!("  {}", maps::one_line(map, name))));
    lines.extend(data.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines
}
