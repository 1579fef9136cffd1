//! Dates in cells: `2024-03-31`, `2024-03-31T17:45:00Z`, `31.03.2024`, `31/3/2024` or `3/31/2024`, `3/31/24`, `31 Mar 2024`, `March 31, 2024`,
//! `20240331`; and times of the day alone: `17:45`, `5:45 PM`.

/// A day of the proleptic Gregorian calendar, and the time of the day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Date {
    pub(super) year: i32,
    /// From 1.
    pub(super) month: u32,
    /// Days since 1970-01-01, with the time as a fraction.
    pub(super) days: f64,
    /// 0 for Monday.
    pub(super) weekday: u32,
}

/// A date as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Written {
    /// Year, month and day are told apart by their form.
    Clear(Date),
    /// Two numbers with slashes, then the year: which is the month?
    Slashes {
        /// The first and second number.
        parts: [u32; 2],
        year: i32,
        /// The time as a fraction of a day.
        time: f64,
    },
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl Written {
    /// The date, if the day comes first or not where that is open.
    pub(super) fn date(self, day_first: bool) -> Option<Date> {
        match self {
            Written::Clear(date) => Some(date),
            Written::Slashes { parts: [a, b], year, time } => {
                let (day, month) = if day_first { (a, b) } else { (b, a) };
                date(year, month, day, time)
            }
        }
    }
}

/// Reads a date.
pub(super) fn parse(text: &str) -> Option<Written> {
    const LONGEST: usize = 40;
    let first = *text.as_bytes().first()?;
    if text.len() < 6 || text.len() > LONGEST || !first.is_ascii_alphanumeric() {
        return None;
    }
    if let Some(date) = compact(text) {
        return Some(Written::Clear(date));
    }
    let (day, time) = match text.find(['T', 't']).filter(|&at| first.is_ascii_digit() && at >= 8) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => match text.find(':').and_then(|colon| text[..colon].rfind(' ')) {
            Some(blank) => (text[..blank].trim_end(), &text[blank + 1..]),
            None => (text, ""),
        },
    };
    let time = time_of_day(time)?;
    let words: Vec<&str> =
        day.split(['-', '/', '.', ' ', ',']).filter(|word| !word.is_empty()).collect();
    let [a, b, c] = words[..] else { return None };
    let separators: Vec<char> = day.chars().filter(|c| "-/.".contains(*c)).collect();
    if let Some(month) = month(b) {
        return date(any_year(c)?, month, small(a)?, time).map(Written::Clear);
    }
    if let Some(month) = month(a) {
        return date(year(c)?, month, small(b)?, time).map(Written::Clear);
    }
    let [x, y] = separators[..] else { return None };
    if x != y {
        return None;
    }
    if a.len() == 4 {
        return date(year(a)?, small(b)?, small(c)?, time).map(Written::Clear);
    }
    match x {
        '.' => date(year(c)?, small(b)?, small(a)?, time).map(Written::Clear),
        _ => {
            let year = if x == '/' { any_year(c)? } else { year(c)? };
            let parts = [small(a)?, small(b)?];
            let ordered =
                date(year, parts[1], parts[0], time).or(date(year, parts[0], parts[1], time));
            ordered.map(|_| Written::Slashes { parts, year, time })
        }
    }
}

/// Four digits.
fn year(text: &str) -> Option<i32> {
    (text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Four digits, or the last two of a year from 1969 to 2068, as POSIX has it.
fn any_year(text: &str) -> Option<i32> {
    if text.len() != 2 {
        return year(text);
    }
    let short = small(text)? as i32;
    Some(if short < 69 { 2000 + short } else { 1900 + short })
}

/// `20240331`, and `20240331.0` as pandas writes it beside empty cells: a day from 1900 to 2100.
pub(super) fn compact(text: &str) -> Option<Date> {
    let digits = text.strip_suffix(".0").unwrap_or(text);
    if digits.len() != 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let year = digits[..4].parse().ok().filter(|year| (1900..=2100).contains(year))?;
    date(year, digits[4..6].parse().ok()?, digits[6..].parse().ok()?, 0.0)
}

/// The hours of a time of the day that stands alone: 17.75 for `17:45`.
pub(super) fn hours(text: &str) -> Option<f64> {
    const LONGEST: usize = 20;
    let first = text.bytes().next()?;
    if text.len() > LONGEST || !first.is_ascii_digit() || !text.is_ascii() {
        return None;
    }
    // A zone or another word after it is not a time of the day alone. Minutes have two digits: `2:1` is a result.
    let clock = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let after = text[clock.len()..].trim_start();
    let has_minutes = clock.split(':').nth(1).is_some_and(|m| m.len() == 2);
    let is_alone = clock.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b'.');
    let is_half = ["", "am", "pm"].iter().any(|half| after.eq_ignore_ascii_case(half));
    (has_minutes && is_alone && is_half).then(|| time_of_day(text))?.map(|days| days * 24.0)
}

/// One or two digits.
fn small(text: &str) -> Option<u32> {
    let fits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

/// A month by its English name or the first three letters of it.
fn month(text: &str) -> Option<u32> {
    const WHOLE: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let name = text.to_ascii_lowercase();
    let is_it = |m: &usize| name == MONTHS[*m] || name == WHOLE[*m] || (*m == 8 && name == "sept");
    (0..12).find(is_it).map(|m| m as u32 + 1)
}

/// `17:45`, `17:45:12.5`, perhaps `PM`, perhaps a zone, which does not count; nothing is midnight.
fn time_of_day(text: &str) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    let lower = text.to_ascii_lowercase();
    let (clock, half) = match (lower.strip_suffix("pm"), lower.strip_suffix("am")) {
        (Some(clock), _) => (clock.trim_end(), 12),
        (_, Some(clock)) => (clock.trim_end(), 0),
        (None, None) => (lower.as_str(), 24),
    };
    let end = clock.find(['z', '+', '-', ' ']).unwrap_or(clock.len());
    let mut parts = clock[..end].split(':');
    let mut hours: f64 = small(parts.next()?)?.into();
    let minutes: f64 = small(parts.next()?)?.into();
    let seconds: f64 = parts.next().map_or(Some(0.0), |s| s.parse().ok())?;
    if half < 24 {
        hours = hours % 12.0 + f64::from(half);
    }
    let inside = hours < 24.0 && minutes < 60.0 && (0.0..61.0).contains(&seconds);
    (inside && parts.next().is_none()).then_some(((seconds / 60.0 + minutes) / 60.0 + hours) / 24.0)
}

fn date(year: i32, month: u32, day: u32, time: f64) -> Option<Date> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    let days = days_since_1970(year, month, day);
    // 1970-01-01 was a Thursday.
    let weekday = (days + 3).rem_euclid(7) as u32;
    Some(Date { year, month, days: days as f64 + time, weekday })
}

/// Years begin in March here, so that the leap day is the last of a year; 400 years are always equally long.
fn days_since_1970(year: i32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month < 3);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let months = (i64::from(month) + 9) % 12;
    let of_year = (153 * months + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(text: &str, day_first: bool) -> Option<f64> {
        parse(text)?.date(day_first).map(|date| date.days)
    }

    #[test]
    fn dates_are_read_as_python_reads_them() {
        // (datetime.date(2024, 3, 31) - datetime.date(1970, 1, 1)).days = 19813; weekday() = 6
        for text in [
            "2024-03-31",
            "2024/3/31",
            "31.03.2024",
            "31.3.2024",
            "31-Mar-2024",
            "31 March 2024",
            "March 31, 2024",
            "Mar 31 2024",
            "2024-03-31T00:00:00Z",
            "2024-03-31 00:00",
            "2024-03-31T00:00:00+02:00",
            "31-Mar-24",
            "20240331",
            "20240331.0",
        ] {
            assert_eq!(days(text, false), Some(19813.0), "{text}");
            assert_eq!(parse(text).unwrap().date(true).unwrap().weekday, 6, "{text}");
        }
        assert_eq!(days("31/03/2024", true), Some(19813.0));
        assert_eq!(days("3/31/2024 6:00 PM", false), Some(19813.75));
        assert_eq!(days("3/31/24 6:00 PM", false), Some(19813.75));
        assert_eq!(days("31/03/24", true), Some(19813.0));
        // datetime.strptime("1/1/69", "%d/%m/%y") is in 1969, that of "1/1/68" in 2068.
        assert_eq!(parse("1/1/69").unwrap().date(true).unwrap().year, 1969);
        assert_eq!(parse("1/1/68").unwrap().date(true).unwrap().year, 2068);
        assert_eq!(days("2024-03-31T18:00", false), Some(19813.75));
        // (datetime.date(1, 1, 1) - datetime.date(1970, 1, 1)).days = -719162
        assert_eq!(days("0001-01-01", false), Some(-719_162.0));
        assert_eq!(days("2000-02-29", false), Some(11016.0));
        let open = parse("03/04/2024").unwrap();
        assert_ne!(open.date(true), open.date(false));
    }

    #[test]
    fn what_is_not_a_date_is_none() {
        for text in [
            "2024-13-01",
            "2023-02-29",
            "31.04.2024",
            "12-34-56",
            "192.168.0.1",
            "1.2.3",
            "a-b-cccc",
            "2024-03",
            "may be so",
            "2024-03/31",
            "2024-03-31T25:00",
            "",
            "Ünïcödé 1 2",
            "10-11",
            "99/99/2024",
            "1-800-4321x",
            "1-2-24",
            "20240231",
            "18991231",
            "21010101",
            "20240331.5",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_of_the_day_are_hours() {
        for (text, expected) in [
            ("17:45", Some(17.75)),
            ("7:45", Some(7.75)),
            ("17:45:18", Some(17.755)),
            ("5:45 PM", Some(17.75)),
            ("12:30am", Some(0.5)),
            ("00:00", Some(0.0)),
            ("24:00", None),
            ("17:60", None),
            ("2:1", None),
            ("17:45 late", None),
            ("17:45:10:11", None),
            ("a:30", None),
            ("", None),
            ("2024-03-31 17:45", None),
            ("17:4é", None),
        ] {
            let hours = hours(text).map(|hours| (hours * 1e9).round() / 1e9);
            assert_eq!(hours, expected, "{text}");
        }
    }
}
