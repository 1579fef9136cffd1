//! A built-in set of tagged addresses.

use std::fmt::Write;

use crate::random::Random;

const FIRST: [&str; 12] = [
    "Ada", "Bruno", "Carla", "Denis", "Edith", "Florian", "Grace", "Hugo", "Iris", "Jasper",
    "Lincoln", "Victoria",
];
const LAST: [&str; 12] = [
    "Abbott", "Baker", "Carter", "Dean", "Hill", "Kent", "Lake", "Marsh", "Park", "Reed",
    "Victoria", "York",
];
const STREET: [&str; 12] = [
    "Abbey", "Baker", "Bridge", "Castle", "Church", "Hill", "Kent", "Lake", "Lincoln", "Marsh",
    "Park", "Victoria",
];
const WAY: [&str; 5] = ["Street", "Road", "Lane", "Park", "Hill"];
const CITY: [&str; 12] = [
    "York",
    "Lincoln",
    "Bath",
    "Castle Hill",
    "Kent Bridge",
    "Lake Marsh",
    "Old Church",
    "Reed",
    "Dean",
    "Park End",
    "Marsh Hill",
    "New Abbey",
];

/// Addresses whose words come in several roles: the neighbours tell which.
pub(super) fn addresses(n: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for _ in 0..n {
        let mut put = |words: &str, kind: &str| {
            for (i, word) in words.split(' ').enumerate() {
                let place = if i == 0 { "B" } else { "I" };
                let _ = match kind {
                    "O" => writeln!(text, "{word} O"),
                    kind => writeln!(text, "{word} {place}-{kind}"),
                };
            }
        };
        let mut name = FIRST[random.below(12)].to_owned();
        if random.uniform() < 0.3 {
            name.push_str(&format!(" {}.", ["A", "J", "M", "T"][random.below(4)]));
        }
        put(&format!("{name} {}", LAST[random.below(12)]), "NAME");
        if random.uniform() < 0.5 {
            put(",", "O");
        }
        let number = (1 + random.below(180)).to_string();
        let street = format!("{} {}", STREET[random.below(12)], WAY[random.below(5)]);
        if random.uniform() < 0.7 {
            put(&number, "NUMBER");
            put(&street, "STREET");
        } else {
            put(&street, "STREET");
            put(&number, "NUMBER");
        }
        if random.uniform() < 0.5 {
            put(",", "O");
        }
        let code = format!("{}{}", ["YO", "LN", "BA", "KT"][random.below(4)], 1 + random.below(30));
        let city = CITY[random.below(12)];
        if random.uniform() < 0.6 {
            put(city, "CITY");
            put(&code, "CODE");
        } else {
            put(&code, "CODE");
            put(city, "CITY");
        }
        text.push('\n');
    }
    text
}
