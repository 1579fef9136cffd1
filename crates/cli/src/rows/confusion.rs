//! Who is taken for whom: the whole table for few classes, the worst pairs for many.

use lineal::confused;
use lineal::metrics::ClassifyMetrics;

use crate::table::{self, Align, cut};
use crate::talk::thousands;

/// With more classes than this a table of all pairs does not fit a screen.
const TABLE: usize = 20;
/// Pairs that are listed instead.
const PAIRS: usize = 15;

/// For the screen.
pub fn lines(metrics: &ClassifyMetrics, classes: &[String]) -> Vec<String> {
    if metrics.confusion.is_empty() {
        return Vec::new();
    }
    if classes.len() <= TABLE {
        return whole(metrics, classes);
    }
    let mut rows = vec![vec!["rows".to_owned(), "true class".to_owned(), "predicted".to_owned()]];
    for (n, y, y_hat) in confused(&metrics.confusion, PAIRS) {
        rows.push(vec![thousands(n as usize), cut(&classes[y], 30), cut(&classes[y_hat], 30)]);
    }
    if rows.len() == 1 {
        return vec!["no class is taken for another".to_owned()];
    }
    let mut lines = vec!["most frequent confusions".to_owned()];
    lines.extend(table::lines(&rows, &[Align::Right, Align::Left], 2));
    lines
}

fn whole(metrics: &ClassifyMetrics, classes: &[String]) -> Vec<String> {
    // Column heads are as wide as the screen allows.
    let head = (90 / classes.len().max(1)).clamp(4, 14);
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(classes.iter().map(|name| cut(name, head)));
    rows[0].extend(["recall", "precision"].map(str::to_owned));
    for (y, counts) in metrics.confusion.iter().enumerate() {
        let mut row = vec![cut(&classes[y], 24)];
        row.extend(
            counts.iter().map(|&n| if n == 0 { "·".to_owned() } else { thousands(n as usize) }),
        );
        let scores = metrics.per_class.get(y);
        row.extend(
            scores
                .map(|s| [format!("{:.3}", s.recall), format!("{:.3}", s.precision)])
                .into_iter()
                .flatten(),
        );
        rows.push(row);
    }
    let mut lines = vec!["confusion: true classes in rows, predicted ones in columns".to_owned()];
    lines.extend(table::lines(&rows, &[Align::Left, Align::Right], 2));
    lines
}
