//! Dates and times as people write them.

use crate::world::World;

/// A table whose label follows from `day`, written by `write` of year, month and day.
fn days(write: impl Fn(usize, usize, usize) -> String) -> String {
    let row = |i: usize| {
        let (year, month, day) = (2019 + i / 60, i * 7 % 12 + 1, i * 11 % 28 + 1);
        let label = if year < 2022 { "old" } else { "new" };
        format!("{},{label}\n", write(year, month, day))
    };
    format!("day,label\n{}", (0..300).map(row).collect::<String>())
}

#[test]
fn dates_of_two_digit_years_and_without_separators_are_read() {
    for (what, table, one) in [
        ("slashes", days(|y, m, d| format!("{m}/{d}/{:02} 3:05 PM", y % 100)), "12/31/23 1:00 AM"),
        (
            "names",
            days(|y, m, d| format!("{d}-{}-{:02}", ["Jan", "Jul"][m % 2], y % 100)),
            "1-Jul-23",
        ),
        ("numbers", days(|y, m, d| format!("{y}{m:02}{d:02}")), "20231231"),
        // As pandas writes whole numbers beside empty cells.
        ("fractions", days(|y, m, d| format!("{y}{m:02}{d:02}.0")) + ",new\n", "20231231.0"),
    ] {
        let world = World::new();
        world.file("a.csv", table);
        let run = world.run(&["train", "a.csv", "-o", "m.lineal"]).done();
        assert!(run.err.contains("day    date"), "{what}: {}", run.err);
        assert!(!run.err.contains("32 bits"), "{what}: {}", run.err);
        let json = world.run(&["eval", "m.lineal", "a.csv", "--json"]).done().json();
        assert!(json["accuracy"].as_f64().unwrap() > 0.98, "{what}: {json}");
        // Other files may write dates in another way.
        for day in [one, "2023-12-31", "20231231"] {
            world.file("one.csv", format!("day\n{day}\n"));
            assert_eq!(world.run(&["predict", "m.lineal", "one.csv"]).done().out, "new\n", "{day}");
        }
    }
    // In JSON they are numbers.
    let world = World::new();
    let row = |i: usize| {
        let label = if i < 14 { "early" } else { "late" };
        format!("{{\"day\": {}, \"label\": \"{label}\"}}\n", 20_240_301 + i)
    };
    world.file("a.jsonl", (0..28).map(row).collect::<String>());
    let train = ["train", "a.jsonl", "-o", "m.lineal", "-C", "100"];
    world.run(&train).done().says(&["day    date"]);
    let json = world.run(&["eval", "m.lineal", "a.jsonl", "--json"]).done().json();
    assert!(json["accuracy"].as_f64().unwrap() > 0.9, "{json}");
    // The user's word counts.
    let train = ["train", "a.jsonl", "-o", "m.lineal", "--numeric", "day"];
    world.run(&train).done().says(&["day    numeric"]);
}

#[test]
fn times_of_the_day_are_hours() {
    let world = World::new();
    let row = |i: usize| {
        let (hour, minute) = (i * 7 % 24, i * 13 % 60);
        format!("{hour:02}:{minute:02},{}\n", if hour < 12 { "morning" } else { "evening" })
    };
    let rows: String = (0..200).map(row).collect();
    world.file("a.csv", format!("time,label\n{rows},morning\n"));
    world.run(&["train", "a.csv", "-o", "m.lineal"]).done().says(&[
        "time   time of the day, in hours",
        "column \"time\" has 1 missing time, read as the mean",
    ]);
    world.file("b.csv", "time\n09:30:15\n17:45\n5:45 PM\n");
    let out = world.run(&["predict", "m.lineal", "b.csv"]).done().out;
    assert_eq!(out, "morning\nevening\nevening\n");
    assert!(world.run(&["inspect", "m.lineal"]).done().out.contains("time.hours"));
    world.file("c.csv", "time\n17:45\nnoon\n");
    world.run(&["predict", "m.lineal", "c.csv"]).failed(
        1,
        &["c.csv:3:1", "`noon` is not a time of the day", "train again with --ignore time"],
    );
}

#[test]
fn a_cell_that_keeps_a_column_from_being_dates_is_named() {
    let dates = days(|y, m, d| format!("{y}-{m:02}-{d:02}")).replacen("2019-01-01", "unknown", 1);
    let world = World::new();
    world.file("a.csv", &dates);
    world.run(&["train", "a.csv", "-o", "m.lineal"]).done().says(&[
        "a.csv:2: column \"day\" is not a date because of `unknown` (299 of 300 rows are dates)",
        "correct it, leave the cell empty, or say --ignore day",
    ]);
    world.file("b.csv", dates.replacen("unknown", "", 1));
    world.run(&["train", "b.csv", "-o", "m.lineal"]).done().says(&["day    date"]);
    // Long forms are not taken for running text.
    let long = days(|y, m, d| format!("{d} {} {y} at 10:30 AM", ["May", "June"][m % 2]));
    world.file("l.csv", long.replace(" at", "").replacen("1 June 2019", "not known", 1));
    world.run(&["train", "l.csv", "-o", "m.lineal"]).done().says(&["`not known", "are dates)"]);
    // So is a number that is not a day among numbers that are.
    let numbers = days(|y, m, d| format!("{y}{m:02}{d:02}")).replacen("20190101", "20190231", 1);
    world.file("n.csv", numbers);
    world.run(&["train", "n.csv", "-o", "m.lineal"]).done().says(&["a date because of `20190231`"]);
    let times: String = (0..60).map(|i| format!("{:02}:{i:02},{}\n", i % 24, i % 2)).collect();
    world.file("t.csv", format!("time,label\n{times}noon,1\n"));
    world
        .run(&["train", "t.csv", "-o", "m.lineal"])
        .done()
        .says(&["t.csv:62: ", "not a time because of `noon`"]);
    world.file(
        "o.csv",
        "day,label\n3/31/2024,a\n31/3/2024,b\n".to_owned() + &"1/2/2024,a\n".repeat(9),
    );
    world
        .run(&["train", "o.csv", "-o", "m.lineal"])
        .done()
        .says(&["the day comes first in some cells and the month in others", "2024-03-31"]);
}
