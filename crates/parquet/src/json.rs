//! Rows as JSON objects: lists and groups are put together from the levels of their columns.

use crate::column::Column;
use crate::schema::{Content, Leaf, Logical, Node, Physical, Repetition};
use crate::values::Raw;
use crate::{Error, LONGEST_ROW};
use std::io::Write;

/// Writes the next row of all columns, and a line break.
pub(crate) fn row(
    nodes: &[Node],
    columns: &mut [Column],
    file: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    group(nodes, columns, file, out)?;
    out.push(b'\n');
    Ok(())
}

fn group(
    nodes: &[Node],
    columns: &mut [Column],
    file: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    out.push(b'{');
    for (i, part) in nodes.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        text(part.name.as_bytes(), out);
        out.push(b':');
        node(part, columns, file, out)?;
        not_too_long(out)?;
    }
    out.push(b'}');
    Ok(())
}

fn not_too_long(out: &[u8]) -> Result<(), Error> {
    let is_short = out.len() <= LONGEST_ROW;
    is_short.then_some(()).ok_or_else(|| Error::unread("has a row of more than 64 MB"))
}

fn node(node: &Node, columns: &mut [Column], file: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    match node.repetition {
        Repetition::Repeated => list(node, node, columns, file, out),
        Repetition::Optional if !is_there(node, columns, file)? => {
            skip(node, columns, file)?;
            out.extend_from_slice(b"null");
            Ok(())
        }
        _ => content(node, columns, file, out),
    }
}

/// Whether the next entry reaches to this node. The first of its leaves tells for all.
fn is_there(node: &Node, columns: &mut [Column], file: &[u8]) -> Result<bool, Error> {
    let first = columns.get_mut(node.leaves.start);
    let next = first.map(|column| column.peek(file)).transpose()?.flatten();
    let short = || Error::damaged("a column has fewer entries than the others");
    Ok(next.ok_or_else(short)?.definition >= node.definition)
}

/// Takes an entry without a value of every leaf.
fn skip(node: &Node, columns: &mut [Column], file: &[u8]) -> Result<(), Error> {
    columns[node.leaves.clone()].iter_mut().try_for_each(|column| column.take(file).map(|_| ()))
}

fn content(
    node: &Node,
    columns: &mut [Column],
    file: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    match &node.content {
        Content::Leaf => {
            let column = &mut columns[node.leaves.start];
            let leaf = column.leaf();
            value(column.take(file)?, leaf, out)
        }
        Content::Group(parts) => group(parts, columns, file, out),
        Content::List(repeated) => {
            // Most writers have a group with one part in between, older ones have not.
            let element = match &repeated.content {
                Content::Group(parts) if parts.len() == 1 && repeated.name != "array" => &parts[0],
                _ => &**repeated,
            };
            list(repeated, element, columns, file, out)
        }
    }
}

/// The repetitions of a node as a list of its elements.
fn list(
    repeated: &Node,
    element: &Node,
    columns: &mut [Column],
    file: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    if !is_there(repeated, columns, file)? {
        skip(repeated, columns, file)?;
        out.extend_from_slice(b"[]");
        return Ok(());
    }
    out.push(b'[');
    loop {
        if std::ptr::eq(repeated, element) {
            content(element, columns, file, out)?;
        } else {
            node(element, columns, file, out)?;
        }
        let next = columns[repeated.leaves.start].peek(file)?;
        if next.is_none_or(|levels| levels.repetition < repeated.level) {
            break;
        }
        not_too_long(out)?;
        out.push(b',');
    }
    out.push(b']');
    Ok(())
}

fn value(raw: Option<Raw<'_>>, leaf: Leaf, out: &mut Vec<u8>) -> Result<(), Error> {
    // Writing into a vector does not fail.
    let mut put = |text: std::fmt::Arguments<'_>| drop(out.write_fmt(text));
    match (raw, leaf.logical) {
        (None, _) => put(format_args!("null")),
        (Some(Raw::Bool(truth)), _) => put(format_args!("{truth}")),
        (Some(Raw::Int(days)), Logical::Date) => match date(days) {
            Some(date) => put(format_args!("\"{date}\"")),
            None => put(format_args!("null")),
        },
        (Some(Raw::Int(time)), Logical::Time(unit)) => {
            let seconds = time.div_euclid(unit);
            let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            put(format_args!("\"{h:02}:{m:02}:{s:02}\""));
        }
        (Some(Raw::Int(time)), Logical::Timestamp(unit)) => moment(time, unit, out),
        (Some(Raw::Int(digits)), Logical::Decimal(scale)) => {
            put(format_args!("{}", decimal(i128::from(digits), scale)));
        }
        (Some(Raw::Int(int)), Logical::Unsigned) => match leaf.physical {
            Physical::Int32 => put(format_args!("{}", int as u32)),
            _ => put(format_args!("{}", int as u64)),
        },
        (Some(Raw::Int(int)), _) => put(format_args!("{int}")),
        // JSON has no such numbers.
        (Some(Raw::Float(x)), _) if x.is_nan() => put(format_args!("null")),
        (Some(Raw::Double(x)), _) if x.is_nan() => put(format_args!("null")),
        (Some(Raw::Float(x)), _) if x.is_infinite() => put(format_args!("\"{x}\"")),
        (Some(Raw::Double(x)), _) if x.is_infinite() => put(format_args!("\"{x}\"")),
        (Some(Raw::Float(x)), _) => put(format_args!("{x:?}")),
        (Some(Raw::Double(x)), _) => put(format_args!("{x:?}")),
        (Some(Raw::Bytes(bytes)), logical) => return bytes_value(bytes, logical, leaf, out),
    }
    Ok(())
}

fn bytes_value(bytes: &[u8], logical: Logical, leaf: Leaf, out: &mut Vec<u8>) -> Result<(), Error> {
    match (logical, leaf.physical) {
        (Logical::Text, _) => text(bytes, out),
        (_, Physical::Int96) => {
            // Nanoseconds of the day, and the Julian day.
            let nanos = i64::from_le_bytes(bytes[..8].try_into().unwrap_or_default());
            let day = i32::from_le_bytes(bytes[8..12].try_into().unwrap_or_default());
            let seconds = (i64::from(day) - 2_440_588) * 86_400 + nanos.div_euclid(1_000_000_000);
            moment(seconds, 1, out);
        }
        (Logical::Decimal(scale), _) => {
            // Two's complement, the highest byte first.
            if bytes.len() > 16 {
                return Err(Error::unread("has decimal numbers of more than 38 digits"));
            }
            let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
            let mut wide = [sign; 16];
            wide[16 - bytes.len()..].copy_from_slice(bytes);
            out.extend_from_slice(decimal(i128::from_be_bytes(wide), scale).as_bytes());
        }
        (Logical::Float16, Physical::Fixed(2)) => {
            let x = half(u16::from_le_bytes([bytes[0], bytes[1]]));
            return value(Some(Raw::Float(x)), leaf, out);
        }
        (Logical::Uuid, _) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            text(hex.as_bytes(), out);
        }
        // Older writers do not say that text is text.
        _ if std::str::from_utf8(bytes).is_ok() => text(bytes, out),
        _ => out.extend_from_slice(b"null"),
    }
    Ok(())
}

/// A string. Bytes that are not UTF-8 stay, as the reader of the lines tells of them.
fn text(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            0..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// `-12.05` for −1205 and a scale of 2.
fn decimal(digits: i128, scale: u32) -> String {
    let scale = scale as usize;
    let sign = if digits < 0 { "-" } else { "" };
    let padded = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// `2024-03-31` for days since 1970, within the years 0 to 9999.
fn date(days: i64) -> Option<String> {
    // Hinnant, "chrono-compatible low-level date algorithms": eras of 400 years that begin in March.
    if !(-719_528..=2_932_896).contains(&days) {
        return None;
    }
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let of_month = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * era + i64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{of_month:02}"))
}

/// `"2024-03-31T12:00:00"`; a date alone at midnight.
fn moment(time: i64, unit: i64, out: &mut Vec<u8>) {
    let seconds = time.div_euclid(unit);
    let Some(date) = date(seconds.div_euclid(86_400)) else {
        out.extend_from_slice(b"null");
        return;
    };
    let s = seconds.rem_euclid(86_400);
    let text = match s {
        0 => format!("\"{date}\""),
        _ => format!("\"{date}T{:02}:{:02}:{:02}\"", s / 3600, s / 60 % 60, s % 60),
    };
    out.extend_from_slice(text.as_bytes());
}

/// A number of 16 bits: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // python: date.fromordinal(719163 + d)
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_813, "2024-03-31"),
            (19_782, "2024-02-29"),
            (11_016, "2000-02-29"),
            (2_932_896, "9999-12-31"),
        ] {
            assert_eq!(date(days).as_deref(), Some(expected));
        }
        assert_eq!((date(2_932_897), date(i64::MIN)), (None, None));
        let mut out = Vec::new();
        moment(1_711_886_400_000, 1000, &mut out);
        moment(-1, 1_000_000, &mut out);
        assert_eq!(out, b"\"2024-03-31T12:00:00\"\"1969-12-31T23:59:59\"");
    }

    #[test]
    fn decimals_halves_and_strings() {
        assert_eq!(decimal(-1205, 2), "-12.05");
        assert_eq!((decimal(5, 3), decimal(0, 0)), ("0.005".to_owned(), "0".to_owned()));
        assert!(decimal(i128::MIN, 38).starts_with("-1.7014"));
        assert_eq!((half(0x3c00), half(0xc000), half(1)), (1.0, -2.0, 5.960_464_5e-8));
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f32::NEG_INFINITY);
        let mut out = Vec::new();
        text("a\"b\\\n\u{1}é".as_bytes(), &mut out);
        assert_eq!(out, "\"a\\\"b\\\\\\n\\u0001é\"".as_bytes());
    }
}
