//! One JSON object per line on stderr: requests with their ids, models that were loaded, what went wrong.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    /// What went wrong in the server: panics, model files that cannot be loaded.
    Errors,
    /// Also models that were loaded, start and end.
    Events,
    /// Also every request.
    Requests,
}

/// Writes lines.
#[derive(Debug)]
pub(crate) struct Log {
    kind: LogKind,
    seed: u64,
    n_ids: AtomicU64,
}

impl Log {
    pub(crate) fn new(kind: LogKind) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seed = since.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40);
        Self { kind, seed, n_ids: AtomicU64::new(0) }
    }

    /// The request's own id, if it is one that can be printed, or a new one.
    pub(crate) fn id(&self, headers: &HeaderMap) -> String {
        let own = headers.get("x-request-id").and_then(|id| id.to_str().ok());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        match own.filter(|id| (1..=64).contains(&id.len()) && id.chars().all(is_plain)) {
            Some(id) => id.to_owned(),
            None => {
                let n = self.n_ids.fetch_add(1, Ordering::Relaxed);
                format!(
                    "{:016x}",
                    mix(self.seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                )
            }
        }
    }

    pub(crate) fn logs_requests(&self) -> bool {
        self.kind >= LogKind::Requests
    }

    pub(crate) fn error(&self, event: &str, more: Value) {
        write("error", event, more);
    }

    pub(crate) fn event(&self, event: &str, more: Value) {
        if self.kind >= LogKind::Events {
            write("info", event, more);
        }
    }

    pub(crate) fn request(&self, more: Value) {
        if self.logs_requests() {
            write("info", "request", more);
        }
    }
}

/// SplitMix64: every number once.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn write(level: &str, event: &str, more: Value) {
    let mut object = Map::new();
    object.insert("time".into(), json!(timestamp(SystemTime::now())));
    object.insert("level".into(), json!(level));
    object.insert("event".into(), json!(event));
    if let Value::Object(more) = more {
        object.extend(more);
    }
    let mut line = Value::Object(object).to_string();
    line.push('\n');
    // A closed stderr is no reason to stop.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// RFC 3339, in UTC, with milliseconds.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Days to a date of the Gregorian calendar, counted from March (Howard Hinnant, "chrono-compatible low-level date algorithms").
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{:03}Z",
        second % 60,
        since.subsec_millis()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_dates() {
        // `date -u -d @N +%FT%TZ` gave these.
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_102_444_800, "2100-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), date);
        }
    }

    #[test]
    fn ids_are_new_or_the_clients_own() {
        let log = Log::new(LogKind::Errors);
        let mut headers = HeaderMap::new();
        assert_ne!(log.id(&headers), log.id(&headers));
        headers.insert("x-request-id", "a-1".parse().unwrap());
        assert_eq!(log.id(&headers), "a-1");
        headers.insert("x-request-id", "a b\"".parse().unwrap());
        assert_eq!(log.id(&headers).len(), 16);
    }
}
