//! What goes to stderr, and how numbers look in it.

use std::fmt::Display;
use std::io::Write;

use crate::fields::as_flags;

/// Messages on stderr; none with `--quiet`.
#[derive(Clone, Copy, Debug)]
pub struct Talk {
    quiet: bool,
}

impl Talk {
    /// Silent if `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Whether nothing is printed.
    pub fn is_quiet(self) -> bool {
        self.quiet
    }

    /// One line.
    pub fn say(self, text: impl Display) {
        if !self.quiet {
            line(text);
        }
    }

    /// Lines.
    pub fn say_all(self, lines: &[String]) {
        lines.iter().for_each(|line| self.say(line));
    }

    /// One line that the user should not miss.
    pub fn warn(self, text: impl Display) {
        self.say(format_args!("warning: {text}"));
    }
}

/// A line on stderr, said even with `--quiet`, in which fields of the library are flags. A closed stderr is ignored.
pub fn line(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", as_flags(&text.to_string()));
}

/// The message of a failure.
pub fn error(text: &str) {
    line(format_args!("error: {text}"));
}

/// 8913 as `8,913`.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 row`, `2 rows`, `8,913 queries`.
pub fn count(n: usize, noun: &str) -> String {
    let of_y = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o']));
    match of_y {
        _ if n == 1 => format!("1 {noun}"),
        Some(stem) => format!("{} {stem}ies", thousands(n)),
        None if noun.ends_with('s') => format!("{} {noun}es", thousands(n)),
        None => format!("{} {noun}s", thousands(n)),
    }
}

/// `7 ms`, `2.1 s`, `3 min 20 s`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 1.0 => format!("{:.0} ms", (1e3 * s).ceil()),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s % 60.0 < 0.5 => format!("{:.0} min", (s / 60.0).floor()),
        s => format!("{} min {:.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

/// `812 B`, `12.3 kB`, `4.0 MB`.
pub fn bytes(n: u64) -> String {
    match n as f64 {
        b if b < 1e3 => format!("{n} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

/// The shortest digits that read back as `x`, with an exponent where plain digits would be long.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (1e-5..1e16).contains(&size) || !x.is_finite() {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

/// Four significant digits, for people.
pub fn rough(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{x:.2e}");
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    format!("{x:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_alike_everywhere() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(2, "class"), "2 classes");
        assert_eq!(bytes(4_000_000), "4.0 MB");
        assert_eq!((seconds(200.0), seconds(600.0)), ("3 min 20 s".into(), "10 min".into()));
        for x in [0.1, 1.0, -2.5e-9, 1e300, 123_456.789, 0.0] {
            assert_eq!(number(x).parse(), Ok(x));
        }
        assert_eq!(number(1e-300), "1e-300");
        assert_eq!(rough(0.123456), "0.1235");
        assert_eq!(rough(123456.0), "123456");
    }
}
