//! Small aligned tables of text.

use std::borrow::Cow;

/// Which side of its column a cell leans on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// Lines of cells under one another, two blanks apart, each line starting with `indent` blanks. The last alignment
/// holds for all further columns.
pub fn lines(rows: &[Vec<String>], align: &[Align], indent: usize) -> Vec<String> {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|t| len(t)).max();
    let widths: Vec<usize> = (0..n_columns).map(|c| width(c).unwrap_or(0)).collect();
    let side = |c: usize| align.get(c).or(align.last()).copied().unwrap_or(Align::Left);
    let line = |row: &Vec<String>| {
        let mut text = " ".repeat(indent);
        for (c, cell) in row.iter().enumerate() {
            let gap = if c > 0 { 2 } else { 0 };
            let fill = " ".repeat(widths[c] - len(cell));
            text.push_str(&" ".repeat(gap));
            match side(c) {
                Align::Left => text.push_str(&format!("{cell}{fill}")),
                Align::Right => text.push_str(&format!("{fill}{cell}")),
            }
        }
        text.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Names in the first column, values in the second.
pub fn pairs(rows: &[(&str, String)], indent: usize) -> Vec<String> {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    lines(&rows, &[Align::Left], indent)
}

/// A name cut to `width` letters.
pub fn cut(name: &str, width: usize) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if len(&name) <= width {
        return name;
    }
    name.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

fn len(text: &str) -> usize {
    text.chars().count()
}

/// A cell by RFC 4180.
pub fn quoted(cell: &str) -> Cow<'_, str> {
    if !cell.contains([',', '"', '\n', '\r']) && cell.trim() == cell {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "10".to_owned()], vec!["β𝛾".to_owned(), "7".to_owned()]];
        assert_eq!(lines(&rows, &[Align::Left, Align::Right], 1), [" a   10", " β𝛾   7"]);
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
