//! Ranking data, as LETOR and SVMrank have it: `grade qid:NAME index:value …`, the documents of a query on lines that stand together.
//!
//! A name is any word, kept as it stands: `7` and `07` are two queries. SVMrank wants numbers that rise from line to line; here only a query that comes back
//! after another one is refused, because its documents would be two lists.

use std::ops::Range;

use super::scan::{Fault, Piece, skip_blanks};
use super::{Parsed, stream};
use crate::error::{Error, ErrorKind, quote};
use crate::number::token;
use crate::queries::{Queries, QueryIndex, uneven_weights};
use crate::schema::TargetKind;

const PREFIX: &[u8] = b"qid:";

/// Takes the query at `p`, after the grade, and returns the place after it.
pub(super) fn take(text: &[u8], p: usize, piece: &mut Piece) -> Result<usize, Fault> {
    let p = skip_blanks(text, p);
    let fault = |kind, offset, message| Err(Fault { kind, offset, message });
    let word = token(text, p);
    let Some(name) = word.strip_prefix(PREFIX) else {
        let found = if word.is_empty() { "the end of the row".to_owned() } else { quote(word) };
        let message = format!(
            "{found} where the query should be; in ranking data qid:NAME follows the grade, as in `2 qid:7 1:0.5`"
        );
        return fault(ErrorKind::Syntax, p, message);
    };
    if name.is_empty() {
        let message = "no name after qid:; write qid:NAME without blanks".to_owned();
        return fault(ErrorKind::Syntax, p, message);
    }
    if std::str::from_utf8(name).is_err() {
        return fault(ErrorKind::Encoding, p, format!("query {} is not valid UTF-8", quote(name)));
    }
    let at = p + PREFIX.len()..p + word.len();
    if piece.queries.last().is_none_or(|(_, last)| text[last.clone()] != *name) {
        piece.queries.push((piece.row_ends.len(), at.clone()));
    }
    Ok(at.end)
}

/// The name of the query that a line has; empty if it has none.
pub(super) fn of_line(line: &[u8]) -> &[u8] {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.take(2).find_map(|word| word.strip_prefix(PREFIX)).unwrap_or_default()
}

/// The queries of a whole file, where it is read for grades.
pub(super) fn whole(
    parsed: &Parsed,
    text: &[u8],
    file: &str,
    target: TargetKind,
) -> Result<Option<Queries>, Error> {
    if target != TargetKind::Grades {
        return Ok(None);
    }
    collect(parsed, text, 0, &mut QueryIndex::default(), file).map(Some)
}

/// The queries of a text that has so many lines before it. The index has those of the texts before.
pub(super) fn collect(
    parsed: &Parsed,
    text: &[u8],
    n_lines_before: usize,
    index: &mut QueryIndex,
    file: &str,
) -> Result<Queries, Error> {
    let mut queries = Queries::default();
    let (mut line, mut at) = (n_lines_before + 1, 0);
    for (row, Range { start, end }) in &parsed.queries {
        line += memchr::memchr_iter(b'\n', &text[at..*start]).count();
        at = *start;
        let name = String::from_utf8_lossy(&text[*start..*end]);
        index.begin(&name, line).map_err(|message| {
            let error = Error::at(ErrorKind::Value, file, text, start - PREFIX.len(), message);
            error.below(n_lines_before)
        })?;
        queries.push(name.into_owned(), *row);
    }
    queries.end(parsed.indptr.len() - 1);
    if let Some(weights) = &parsed.weights
        && let Some(row) = queries.uneven_weight(weights)
    {
        let at = queries.start().partition_point(|&start| start <= row) - 1;
        let first = weights[queries.rows(at).start];
        let message = uneven_weights(queries.name(at), first, weights[row]);
        let lines = text.split(|&b| b == b'\n').enumerate();
        let mut rows = lines.filter(|(_, line)| stream::is_row(line, TargetKind::Grades));
        let line = n_lines_before + rows.nth(row).map_or(0, |(line, _)| line) + 1;
        return Err(Error::in_line(ErrorKind::Weight, file, line, Some(1), message));
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::super::{PIECE, read, read_with};
    use crate::dataset::{Dataset, Targets};
    use crate::error::Error;
    use crate::schema::TargetKind;

    fn rank(text: &str) -> Result<Dataset, Error> {
        read(text.as_bytes(), "t.letor", TargetKind::Grades)
    }

    #[test]
    fn queries_grades_and_comments() {
        let d =
            rank("2 qid:10 1:0.5 3:1 # d1 a:b\n0.5\tqid:10\n# qid:9\n\n1|2 qid:b 2:1\n").unwrap();
        let queries = d.queries.as_ref().unwrap();
        assert_eq!(queries.iter().collect::<Vec<_>>(), [("10", 0..2), ("b", 2..3)]);
        assert_eq!(d.y, Targets::Real(vec![2.0, 0.5, 1.0]));
        assert_eq!((d.x.n_rows(), d.x.nnz(), d.schema.classes.len()), (3, 3, 0));
        assert_eq!(d.query_weights(), Some(vec![1.0, 2.0]));
        let t = read_with(b"qid:x 1:1\nqid:y 2:1\n", "t", &d.schema).unwrap();
        assert_eq!((t.y, t.queries.unwrap().names().len()), (Targets::None, 2));
    }

    #[test]
    fn queries_go_on_over_pieces() {
        let text: String =
            (0..40).map(|q| format!("{} qid:{q} 1:1 2:0.5\n", q % 3).repeat(PIECE / 100)).collect();
        assert!(text.len() > 4 * PIECE);
        let queries = rank(&text).unwrap().queries.unwrap();
        assert_eq!(queries.len(), 40);
        assert!(queries.iter().all(|(_, rows)| rows.len() == PIECE / 100));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, said) in [
            (
                "1 qid:1 1:1\n1 qid:2\n\n0 qid:1 1:1\n",
                "t.letor:4:3: query `1` comes back: its documents begin in line 1,",
            ),
            ("-1 qid:1 1:1\n", "t.letor:1:1: grade `-1` is negative"),
            ("1 qid:1\n-0.5 qid:1 1:1\n", "t.letor:2:1: grade `-0.5` is negative"),
            ("good qid:1 1:1\n", "t.letor:1:1: grade `good` is not a number"),
            ("1,2 qid:1 1:1\n", "t.letor:1:1: grade `1,2` is not a number"),
            ("inf qid:1 1:1\n", "t.letor:1:1: label `inf` is not a finite number"),
            ("qid:1 1:1\n", "t.letor:1:1: the row has no grade"),
            ("1 1:1\n", "t.letor:1:3: `1:1` where the query should be"),
            ("1\n", "t.letor:1:2: the end of the row where the query should be"),
            ("1 qid: 1:1\n", "t.letor:1:3: no name after qid:"),
            ("1 qid:1 qid:2 1:1\n", "t.letor:1:9: `qid:2` marks ranking data"),
            (
                "1 qid:1 1:1\n1|2 qid:1\n",
                "t.letor:2:1: documents of query `1` have the weights 1 and 2",
            ),
        ] {
            let error = rank(text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
        assert!(read(b"1 qid:\xff 1:1\n", "t", TargetKind::Grades).is_err());
    }
}
