//! Files of Arrow, polars and DuckDB against the rows that pyarrow reads from them, and what becomes of damaged ones. `data/make.py` wrote them.

use lineal_parquet::JsonLines;
use serde_json::Value;
use std::io::Read;

const TABLE: &str = include_str!("data/table.jsonl");

const FILES: [(&str, &[u8]); 7] = [
    ("snappy, three row groups", include_bytes!("data/snappy.parquet")),
    ("gzip, small pages", include_bytes!("data/gzip.parquet")),
    ("zstd, second version of pages", include_bytes!("data/zstd.parquet")),
    ("lz4, no dictionaries", include_bytes!("data/lz4.parquet")),
    ("differences, split bytes", include_bytes!("data/delta.parquet")),
    ("polars", include_bytes!("data/polars.parquet")),
    ("DuckDB", include_bytes!("data/duckdb.parquet")),
];

fn lines(bytes: &[u8]) -> std::io::Result<String> {
    let mut text = String::new();
    JsonLines::new(bytes)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Numbers as numbers, whether they are written with a fraction or not.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}

#[test]
fn rows_are_those_that_pyarrow_reads() {
    let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let expected: Vec<Value> = TABLE.lines().map(parse).collect();
    for (name, bytes) in FILES {
        let text = lines(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(text.lines().count(), expected.len(), "{name}");
        for (row, expected) in text.lines().map(parse).zip(&expected) {
            let cells = row.as_object().unwrap();
            assert!(cells.len() >= 8, "{name}: {row}");
            for (column, cell) in cells {
                assert!(same(cell, &expected[column]), "{name}: {column} of {row}");
            }
        }
    }
}

#[test]
fn what_is_not_read_says_why() {
    let said = |bytes: &[u8]| lines(bytes).unwrap_err().to_string();
    let brotli = said(include_bytes!("data/brotli.parquet"));
    assert!(brotli.contains("Brotli") && brotli.contains("zstd"), "{brotli}");
    for bytes in
        [&b""[..], b"PAR1", b"PAR1\0\0\0\0PAR", b"PAR1\xff\xff\0\0PAR1", b"PAR1\x01\0\0\0\0PAR1"]
    {
        assert!(said(bytes).contains("damaged"), "{bytes:?}");
    }
    assert!(said(b"PAR1\0\0\0\0PARE").contains("encrypted"));
    // One column, and a row group that claims 2³⁵ rows of nothing: fields 2 (schema) and 4 (row groups) by hand.
    let footer = [
        0x29, 0x2c, 0x48, 1, b'r', 0x15, 2, 0, 0x15, 2, 0x38, 1, b'x', 0, 0x29, 0x1c, 0x19, 0x1c,
        0x3c, 0x45, 0, 0x16, 2, 0x26, 0, 0x26, 8, 0, 0, 0x26, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 0,
        0,
    ];
    let mut bytes = [&b"PAR1"[..], &footer].concat();
    bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(b"PAR1");
    let endless = said(&bytes);
    assert!(endless.contains("more rows than its bytes"), "{endless}");
    let (_, bytes) = FILES[0];
    assert!(said(&bytes[..bytes.len() - 1]).contains("cut short"));
}

/// One row whose list has `n` times the one value of a dictionary, in pages that take no more room for it: headers by hand.
fn repeated(value: &str, n: u32) -> Vec<u8> {
    let varint = |mut value: u32| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    // Whole numbers of headers are twice themselves.
    let int = |value: usize| varint(2 * value as u32);
    let run = |value: u8| [varint(2 * n), vec![value]].concat();
    let levels = |runs: Vec<u8>| [(runs.len() as u32).to_le_bytes().to_vec(), runs].concat();

    let words = [&(value.len() as u32).to_le_bytes()[..], value.as_bytes()].concat();
    let size = int(words.len());
    // 1: a dictionary, 2 and 3: its size, 7: { 1: one value, 2: plain }.
    let head = [&[0x15, 4, 0x15][..], &size, &[0x15], &size, &[0x4c, 0x15, 2, 0x15, 0, 0, 0]];
    let dictionary = [head.concat(), words].concat();

    // The first entry begins a list and the others go on with it; all have a value, which is number 0, in one bit.
    let begun = [vec![2, 0], varint(2 * (n - 1)), vec![1]].concat();
    let body = [levels(begun), levels(run(1)), vec![1], run(0)].concat();
    let size = int(body.len());
    // 1: data, 2 and 3: its size, 5: { 1: n values, 2: of the dictionary, 3 and 4: levels as runs }.
    let head = [&[0x15, 0, 0x15][..], &size, &[0x15], &size, &[0x2c, 0x15], &int(n as usize)];
    let page = [head.concat(), vec![0x15, 16, 0x15, 6, 0x15, 6, 0, 0], body].concat();

    // 2: a root with one child, and text that is repeated; 4: a group with one column { 4: not packed, 7: its size, 9: data, 11: dictionary } and one row.
    let columns =
        [0x29, 0x2c, 0x48, 1, b'r', 0x15, 2, 0, 0x15, 12, 0x25, 4, 0x18, 1, b'x', 0x25, 0, 0];
    let chunk = [
        &[0x29, 0x1c, 0x19, 0x1c, 0x3c, 0x45, 0, 0x36][..],
        &int(dictionary.len() + page.len()),
        &[0x26],
        &int(4 + dictionary.len()),
        &[0x26, 8, 0, 0, 0x26, 2, 0, 0],
    ];
    let footer = [columns.to_vec(), chunk.concat()].concat();
    let length = (footer.len() as u32).to_le_bytes();
    [&b"PAR1"[..], &dictionary, &page, &footer, &length, b"PAR1"].concat()
}

#[test]
fn a_row_that_repeats_a_value_without_end_takes_little_memory() {
    assert_eq!(lines(&repeated("ab", 3)).unwrap(), "{\"x\":[\"ab\",\"ab\",\"ab\"]}\n");
    // A gigabyte from 60 kB.
    let error = lines(&repeated(&"a".repeat(60_000), 18_000)).unwrap_err().to_string();
    assert!(error.contains("a row of more than 64 MB"), "{error}");
}

/// Bytes that are wrong in one place or several: an error, or other rows, but no panic, no loop and no more memory than a small multiple of the file.
#[test]
fn damaged_files_are_errors_or_rows() {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let (mut n_errors, mut n_read) = (0, 0);
    for (_, bytes) in FILES {
        for _ in 0..1500 {
            let mut damaged = bytes.to_vec();
            for _ in 0..=random(3) {
                // What is where stands at the end.
                let near_end = damaged.len() - 1 - random(damaged.len().min(3000));
                let at = if random(2) == 0 { near_end } else { random(damaged.len()) };
                damaged[at] = match random(4) {
                    0 => random(256) as u8,
                    1 => 0xff,
                    2 => 0,
                    _ => damaged[at] ^ 1 << random(8),
                };
            }
            if random(10) == 0 {
                damaged.truncate(random(damaged.len()));
                damaged.extend_from_slice(b"PAR1");
            }
            // Runs of a value can be as long as a number in the file says, so not all rows are asked for.
            let mut text = Vec::new();
            let read = JsonLines::new(&damaged[..])
                .map_err(std::io::Error::from)
                .and_then(|lines| lines.take(1 << 20).read_to_end(&mut text));
            match read {
                Ok(_) => n_read += 1,
                Err(e) => {
                    assert!(e.to_string().starts_with("the Parquet file"), "{e}");
                    n_errors += 1;
                }
            }
        }
    }
    assert!(n_errors > 1000 && n_read > 1000, "{n_errors} errors, {n_read} read");
}
