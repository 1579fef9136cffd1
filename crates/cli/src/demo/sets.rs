//! The built-in sets, made by formula: the project ships no data.

use std::fmt::Write;

use crate::random::Random;

/// A set with the command that trains on it.
pub struct Set {
    pub name: &'static str,
    pub about: &'static str,
    pub extension: &'static str,
    /// Flags of `lineal train` beside the files.
    pub flags: &'static [&'static str],
    /// Rows to train on and to test on.
    pub n_rows: [usize; 2],
    /// Points of the plane, of which a picture can be drawn.
    pub in_plane: bool,
    make: fn(usize, u64) -> String,
}

/// All sets; the first is the default.
pub const SETS: &[Set] = &[
    Set {
        name: "flowers",
        about: "three species by four measurements and the soil they grow on (csv)",
        extension: "csv",
        flags: &["--label", "species"],
        n_rows: [300, 150],
        in_plane: false,
        make: flowers,
    },
    Set {
        name: "tickets",
        about: "support tickets as sparse words, six queues (libsvm)",
        extension: "svm",
        flags: &["--loss", "hinge", "-C", "0.1"],
        n_rows: [2000, 1000],
        in_plane: false,
        make: tickets,
    },
    Set {
        name: "letters",
        about: "letters to a shop as running text, four desks (csv)",
        extension: "csv",
        flags: &["--label", "desk", "--text", "subject,body"],
        n_rows: [600, 300],
        in_plane: false,
        make: letters,
    },
    Set {
        name: "houses",
        about: "prices from area, rooms, age and district: regression (csv)",
        extension: "csv",
        flags: &["--label", "price", "--task", "regress"],
        n_rows: [400, 200],
        in_plane: false,
        make: houses,
    },
    Set {
        name: "four-classes",
        about: "points of the plane, a strip between three other classes, where one-vs-all fails (csv)",
        extension: "csv",
        flags: &["--label", "class", "--loss", "hinge", "-C", "100"],
        n_rows: [200, 100],
        in_plane: true,
        make: four_classes,
    },
    Set {
        name: "circles",
        about: "a disc within a ring, which no line separates and squares of the coordinates do (csv)",
        extension: "csv",
        flags: &["--label", "class", "--map", "poly:2", "-C", "100"],
        n_rows: [200, 100],
        in_plane: true,
        make: circles,
    },
    Set {
        name: "xor",
        about: "four squares of which those across from one another are a class (csv)",
        extension: "csv",
        flags: &["--label", "class", "--map", "rff:100", "-C", "100"],
        n_rows: [200, 100],
        in_plane: true,
        make: xor,
    },
    Set {
        name: "tags",
        about: "the parts of addresses: a label for each word (conll)",
        extension: "conll",
        flags: &["--task", "tag", "--scheme", "bio", "--features", "word,shape,suffix:2,window:2"],
        n_rows: [120, 200],
        in_plane: false,
        make: super::addresses::addresses,
    },
];

impl Set {
    /// The set of that name.
    pub fn find(name: &str) -> Option<&'static Set> {
        SETS.iter().find(|set| set.name == name)
    }

    /// Names and contents of the file to train on and the file to test on.
    pub fn files(&self) -> [(String, String); 2] {
        [("train", self.n_rows[0], 1), ("test", self.n_rows[1], 2)].map(|(part, n, seed)| {
            (format!("{}-{part}.{}", self.name, self.extension), (self.make)(n, seed))
        })
    }
}

/// Three clouds of which two overlap, so that no linear model is perfect.
fn flowers(n_rows: usize, seed: u64) -> String {
    const SPECIES: [&str; 3] = ["alba", "rosea", "viridis"];
    const MEAN: [[f64; 4]; 3] =
        [[14.0, 3.1, 2.2, 0.5], [19.0, 4.6, 4.1, 1.3], [21.0, 5.2, 4.8, 1.7]];
    const DEVIATION: [f64; 4] = [2.4, 0.6, 0.5, 0.25];
    const SOIL: [&str; 3] = ["clay", "loam", "sand"];
    const GROWS_ON: [[f64; 3]; 3] = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.15, 0.35, 0.5]];
    let mut random = Random::new(seed);
    let mut text = String::from("stem_cm,leaf_cm,petal_cm,petal_width_cm,soil,species\n");
    for _ in 0..n_rows {
        let species = random.below(3);
        // A large plant is large in all of its parts.
        let vigour = 0.5 * random.normal();
        for (mean, deviation) in MEAN[species].iter().zip(DEVIATION) {
            let value = mean + deviation * (vigour + 0.85 * random.normal());
            let _ = write!(text, "{:.1},", value.max(0.1));
        }
        let _ = writeln!(text, "{},{}", SOIL[random.pick(&GROWS_ON[species])], SPECIES[species]);
    }
    text
}

/// Words 1 to 5,000 by Zipf's law, with words that each queue prefers; a few tickets are in the wrong queue.
fn tickets(n_rows: usize, seed: u64) -> String {
    const QUEUES: [&str; 6] = ["access", "billing", "delivery", "hardware", "network", "refunds"];
    const N_WORDS: usize = 5000;
    const PREFERRED: usize = 80;
    let mut random = Random::new(seed);
    let mut text = String::new();
    for _ in 0..n_rows {
        let queue = random.below(QUEUES.len());
        let topic = if random.uniform() < 0.04 { random.below(QUEUES.len()) } else { queue };
        let mut words: Vec<usize> = (0..12 + random.below(20))
            .map(|_| match random.uniform() {
                u if u < 0.2 => 100 + topic * PREFERRED + random.below(PREFERRED),
                // u ↦ N^u has the density 1/x.
                _ => (N_WORDS as f64).powf(random.uniform()) as usize,
            })
            .collect();
        words.sort_unstable();
        text.push_str(QUEUES[queue]);
        for same in words.chunk_by(|a, b| a == b) {
            let _ = write!(text, " {}:{}", same[0], same.len());
        }
        text.push('\n');
    }
    text
}

/// Sentences put together from what each desk hears and what all hear; one letter in twenty went to the wrong desk.
fn letters(n_rows: usize, seed: u64) -> String {
    const DESKS: [&str; 4] = ["access", "delivery", "money", "repair"];
    const SUBJECTS: [[&str; 3]; 4] = [
        ["Login", "My account", "Password"],
        ["Parcel", "Where is it?", "My order"],
        ["Invoice", "Refund", "A question about my bill"],
        ["Broken", "It stopped working", "My order"],
    ];
    const SAID: [[&str; 5]; 4] = [
        [
            "I cannot log in",
            "the password is refused",
            "my account is locked",
            "no code was sent to my phone",
            "the page does not know my address",
        ],
        [
            "the parcel did not come",
            "nobody rang at the door",
            "it went to the wrong address",
            "the box was open",
            "the tracking number is not known",
        ],
        [
            "the invoice is wrong",
            "I was charged twice",
            "please refund the second payment",
            "the bill is not mine",
            "the price was lower in the shop",
        ],
        [
            "the screen stays dark",
            "it makes a loud noise",
            "the battery is empty after an hour",
            "a part is missing",
            "it fell and does not turn on",
        ],
    ];
    const ANYWHERE: [&str; 6] = [
        "I wrote to you before",
        "please help me",
        "this is the third time",
        "I have been a customer for years",
        "thank you, and best wishes",
        "I am not happy about it",
    ];
    let mut random = Random::new(seed);
    let mut text = "subject,body,desk\n".to_owned();
    for _ in 0..n_rows {
        let desk = random.below(DESKS.len());
        let topic = if random.uniform() < 0.05 { random.below(DESKS.len()) } else { desk };
        let mut body = Vec::new();
        for _ in 0..2 + random.below(3) {
            body.push(match random.uniform() {
                u if u < 0.45 => SAID[topic][random.below(5)],
                _ => ANYWHERE[random.below(6)],
            });
        }
        let subject = SUBJECTS[topic][random.below(3)];
        let _ = writeln!(text, "{subject},\"{}\",{}", body.join(". "), DESKS[desk]);
    }
    text
}

/// A linear price with noise that grows with the house.
fn houses(n_rows: usize, seed: u64) -> String {
    const DISTRICT: [(&str, f64); 4] =
        [("centre", 95.0), ("harbour", 60.0), ("hill", 35.0), ("valley", 0.0)];
    let mut random = Random::new(seed);
    let mut text = String::from("area_m2,rooms,age_years,district,price\n");
    for _ in 0..n_rows {
        let area = (95.0 + 35.0 * random.normal()).clamp(25.0, 260.0);
        let rooms = (area / 26.0 + 0.8 * random.normal()).round().clamp(1.0, 9.0);
        let age = (80.0 * random.uniform()).floor();
        let (district, premium) = DISTRICT[random.below(4)];
        let price =
            40.0 + 2.4 * area + 9.0 * rooms - 0.7 * age + premium + 0.12 * area * random.normal();
        let _ = writeln!(text, "{area:.0},{rooms},{age},{district},{:.1}", price.max(10.0));
    }
    text
}

/// A strip of points with two classes on its left and a small one on its right. The highest of four linear scores tells them
/// apart, and so does a line between any two; but no line has the strip on one side and all others on the other. The best one for
/// one-vs-all keeps the large classes off and gives up the small one, whose points then score higher as strip than as themselves.
fn four_classes(n_rows: usize, seed: u64) -> String {
    /// Name, share, and the corners of a box.
    const BOXES: [(&str, f64, [f64; 2], [f64; 2]); 4] = [
        ("lower", 0.27, [-2.0, -1.5], [-1.0, -0.3]),
        ("right", 0.1, [0.6, -1.2], [0.9, 1.2]),
        ("strip", 0.36, [-0.15, -1.5], [0.15, 1.5]),
        ("upper", 0.27, [-2.0, 0.3], [-1.0, 1.5]),
    ];
    let mut random = Random::new(seed);
    let mut text = String::from("x,y,class\n");
    for _ in 0..n_rows {
        let (name, _, low, high) = BOXES[random.pick(&BOXES.map(|b| b.1))];
        let [x, y] = [0, 1].map(|i| low[i] + random.uniform() * (high[i] - low[i]));
        let _ = writeln!(text, "{x:.3},{y:.3},{name}");
    }
    text
}

/// A disc of radius 1 and a ring from 1.3 to 2 around it.
fn circles(n_rows: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from("x,y,class\n");
    for _ in 0..n_rows {
        let (name, low, high) = [("disc", 0.0, 1.0), ("ring", 1.3, 2.0)][random.below(2)];
        // Evenly over the area.
        let u: f64 = random.uniform();
        let radius: f64 = (low * low + u * (high * high - low * low)).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * random.uniform()).sin_cos();
        let _ = writeln!(text, "{:.3},{:.3},{name}", radius * cos, radius * sin);
    }
    text
}

/// Squares with a gap between them; the class is whether the signs of the coordinates are the same.
fn xor(n_rows: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from("x,y,class\n");
    for _ in 0..n_rows {
        let [x, y] = [(); 2].map(|()| {
            let size = 0.15 + 0.85 * random.uniform();
            if random.below(2) == 0 { size } else { -size }
        });
        let name = if (x > 0.0) == (y > 0.0) { "same" } else { "different" };
        let _ = writeln!(text, "{x:.3},{y:.3},{name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_they_were_and_train_differs_from_test() {
        for set in SETS {
            let [train, test] = set.files();
            assert_eq!(set.files(), [train.clone(), test.clone()]);
            assert_ne!(train.1, test.1);
            let rows = match set.extension {
                "csv" => train.1.lines().count() - 1,
                // Sequences end with a line that is empty.
                "conll" => train.1.lines().filter(|line| line.is_empty()).count(),
                _ => train.1.lines().count(),
            };
            assert_eq!(rows, set.n_rows[0], "{}", set.name);
        }
        let [(name, text), _] = SETS[0].files();
        assert_eq!(name, "flowers-train.csv");
        assert!(text.starts_with("stem_cm,leaf_cm,petal_cm,petal_width_cm,soil,species\n"));
    }
}
