//! `--cost FILE`: a table of costs with the classes' names in the header row and the first column.

use crate::Error;
use lineal_model::cost::CostMatrix;
use std::path::Path;

/// Reads Δ(y, ŷ) for the classes of a dataset: gold classes are rows, predicted ones columns, in any order.
/// Fields are separated by commas or tabs.
pub fn read_cost(path: &Path, classes: &[String]) -> Result<CostMatrix, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    let matrix = parse_cost(&text, classes);
    matrix.map_err(|why| Error::request(format!("{}:{why}", path.display())))
}

fn parse_cost(text: &str, classes: &[String]) -> Result<CostMatrix, String> {
    let k = classes.len();
    let id = |line: usize, name: &str| {
        classes.iter().position(|c| c == name).ok_or(format!(
            "{line}: `{name}` is not a class of the data, which are {}",
            classes.iter().take(10).cloned().collect::<Vec<_>>().join(", ")
        ))
    };
    let mut lines =
        text.lines().enumerate().map(|(i, l)| (i + 1, l)).filter(|(_, l)| !l.trim().is_empty());
    let (line, header) = lines.next().ok_or("1: the cost file is empty")?;
    let separator = if header.contains('\t') { '\t' } else { ',' };
    let fields = |l: &str| -> Vec<String> {
        l.split(separator).map(|f| f.trim().trim_matches('"').to_string()).collect()
    };
    let columns: Vec<usize> =
        fields(header).iter().skip(1).map(|name| id(line, name)).collect::<Result<_, _>>()?;
    let mut cost = vec![f64::NAN; k * k];
    for (line, row) in lines {
        let row = fields(row);
        if row.len() != columns.len() + 1 {
            return Err(format!(
                "{line}: {} fields where the header has {}",
                row.len(),
                columns.len() + 1
            ));
        }
        let y = id(line, &row[0])?;
        for (&y_hat, field) in columns.iter().zip(&row[1..]) {
            let value: f64 =
                field.parse().map_err(|_| format!("{line}: `{field}` is not a number"))?;
            cost[y * k + y_hat] = value;
        }
    }
    if let Some(at) = cost.iter().position(|c| c.is_nan()) {
        return Err(format!(
            "1: no cost for gold `{}` and predicted `{}`; every pair of classes needs one",
            classes[at / k],
            classes[at % k]
        ));
    }
    CostMatrix::new(k, cost).map_err(|why| format!("1: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_come_in_any_order() {
        let classes = ["a".to_string(), "b".to_string()];
        let cost = parse_cost(",b,a\na,5,0\nb,0,1\n", &classes).unwrap();
        assert_eq!(cost.row(0), [0.0, 5.0]);
        assert_eq!(cost.row(1), [1.0, 0.0]);
        for (bad, why) in [
            ("", "empty"),
            (",a,b\na,0,1\n", "no cost for gold `b`"),
            (",a,c\n", "`c` is not a class"),
            (",a,b\na,0\n", "2 fields where the header has 3"),
            (",a,b\na,0,x\nb,1,0\n", "`x` is not a number"),
            (",a,b\na,0,-1\nb,1,0\n", "not a number ≥ 0"),
        ] {
            assert!(parse_cost(bad, &classes).unwrap_err().contains(why), "{bad}");
        }
    }
}
