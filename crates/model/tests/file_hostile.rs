//! Damaged and hostile bytes: an error each time, never a panic, never much memory.

use lineal_model::file::{Error, ModelFile, TensorData, encode};
use serde_json::json;

const CRC_AT: usize = 8 + r#"{"__metadata__":{"format":"lineal","version":"1","crc32":""#.len();

fn sample() -> Vec<u8> {
    let says =
        json!({"task": "classify", "classes": ["a", "b", "c"], "nested": [[1, 2.5], {"x": null}]});
    let w: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
    let tensors = [
        ("weights", vec![4, 3], TensorData::F64(&w)),
        ("index", vec![3], TensorData::U32(&[3, 1, 2])),
        ("single", vec![2, 1], TensorData::F32(&[0.5, -1.0])),
    ];
    encode(&says, &tensors).unwrap()
}

/// SplitMix64: a stream of numbers from a seed.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = rng.below(bytes.len());
    match rng.below(9) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.next() as u8,
        2 => bytes.truncate(at),
        3 => bytes.insert(at, rng.next() as u8),
        4 => drop(bytes.remove(at)),
        5 => {
            // The header's length: near the true one, or anything at all.
            let len = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            let new = match rng.below(3) {
                0 => len.wrapping_add(rng.below(129) as u64).wrapping_sub(64),
                1 => rng.next() >> rng.below(64),
                _ => u64::MAX - rng.below(64) as u64,
            };
            bytes[..8].copy_from_slice(&new.to_le_bytes());
        }
        6 => {
            let len = 1 + rng.below(40.min(bytes.len() / 2));
            let (a, b) = (rng.below(bytes.len() - len), rng.below(bytes.len() - len));
            for i in 0..len {
                bytes.swap(a + i, b + i);
            }
        }
        7 => {
            // A digit in the header: shapes, offsets, versions.
            let digits: Vec<usize> =
                (8..bytes.len().min(400)).filter(|&i| bytes[i].is_ascii_digit()).collect();
            if !digits.is_empty() {
                bytes[digits[rng.below(digits.len())]] = b'0' + rng.below(10) as u8;
            }
        }
        _ => bytes.extend((0..rng.below(100)).map(|_| b' ')),
    }
}

/// Makes the checksum right, so that the checks behind it are reached.
fn sign(bytes: &mut [u8]) {
    if bytes.len() >= CRC_AT + 8 {
        bytes[CRC_AT..CRC_AT + 8].copy_from_slice(b"00000000");
        let crc = format!("{:08x}", crc32fast::hash(bytes));
        bytes[CRC_AT..CRC_AT + 8].copy_from_slice(crc.as_bytes());
    }
}

#[test]
fn ten_thousand_mutations_are_all_noticed() {
    let original = sample();
    let mut rng = Rng(1);
    for _ in 0..10_000 {
        let mut bytes = original.clone();
        for _ in 0..1 + rng.below(3) {
            if bytes.len() > 8 {
                mutate(&mut rng, &mut bytes);
            }
        }
        let checked = ModelFile::from_bytes(&bytes).and_then(|f| f.check_all().map(|()| f));
        match checked {
            Ok(file) => {
                assert_eq!(bytes, original);
                assert_eq!(file.f64("weights").unwrap().unwrap()[0], -5.5);
            }
            Err(error) => assert!(bytes != original && !error.to_string().is_empty()),
        }
    }
}

#[test]
fn ten_thousand_signed_mutations_do_not_panic() {
    let original = sample();
    let mut rng = Rng(2);
    let mut n_accepted = 0;
    for _ in 0..10_000 {
        let mut bytes = original.clone();
        for _ in 0..1 + rng.below(3) {
            if bytes.len() > 8 {
                mutate(&mut rng, &mut bytes);
            }
        }
        sign(&mut bytes);
        if let Ok(file) = ModelFile::from_bytes(&bytes) {
            n_accepted += 1;
            for name in file.names() {
                let numbers: usize = file.shape(name).unwrap().iter().product();
                let len = match file.tensor(name).unwrap().unwrap() {
                    TensorData::F32(v) => v.len(),
                    TensorData::F64(v) => v.len(),
                    TensorData::U32(v) => v.len(),
                    TensorData::U8(v) => v.len(),
                };
                assert_eq!(len, numbers);
            }
        }
    }
    // A changed weight with a fitting checksum is a good file: the test would be idle if none came through.
    assert!(n_accepted > 100, "{n_accepted}");
}

/// A damaged tensor is refused when it is asked for, and keeps nobody from the others; nothing is lent unchecked.
#[test]
fn a_tensor_is_checked_when_it_is_first_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lineal");
    let original = sample();
    let data_at = original.len() - 200;
    for (at, damaged) in
        [(data_at, "weights"), (original.len() - 1, "single"), (data_at + 130, "index")]
    {
        let mut bytes = original.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        for file in [ModelFile::open(&path).unwrap(), ModelFile::from_bytes(&bytes).unwrap()] {
            for name in ["weights", "index", "single"] {
                assert_eq!(file.checked_tensor(name), None, "{name}");
                let given = file.tensor(name).map(|tensor| tensor.is_some());
                match name == damaged {
                    true => assert!(matches!(given, Err(Error::Checksum { .. })), "{given:?}"),
                    false => assert!(given.unwrap()),
                }
                assert_eq!(file.checked_tensor(name).is_some(), name != damaged);
            }
            assert!(file.check_all().is_err());
        }
    }
    // Filling belongs to the tensor after it.
    let mut bytes = original.clone();
    bytes[data_at + 100] ^= 1;
    let file = ModelFile::from_bytes(&bytes).unwrap();
    assert!(file.f64("weights").is_ok() && file.u32("index").is_err());
    // A file that shrinks after it was opened.
    std::fs::write(&path, &original).unwrap();
    let file = ModelFile::open(&path).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(300).unwrap();
    let error = file.f64("weights").unwrap_err().to_string();
    assert!(
        error.contains("is incomplete: it should have") && error.contains("has 300;"),
        "{error}"
    );
}

/// As earlier versions wrote it: the same without checksums of tensors.
fn without_sections(bytes: &[u8]) -> Vec<u8> {
    let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[8..8 + len]).unwrap();
    let (before, rest) = header.split_once(r#","sections":""#).unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    let mut header = format!("{before}{}", after.trim_end());
    while !(8 + header.len()).is_multiple_of(64) {
        header.push(' ');
    }
    let mut old = (header.len() as u64).to_le_bytes().to_vec();
    old.extend(header.bytes());
    old.extend(&bytes[8 + len..]);
    sign(&mut old);
    old
}

#[test]
fn files_without_checksums_of_tensors_are_read_and_checked_as_a_whole() {
    let (new, mut old) = (sample(), without_sections(&sample()));
    let (a, b) = (ModelFile::from_bytes(&new).unwrap(), ModelFile::from_bytes(&old).unwrap());
    assert_eq!(a.model(), b.model());
    for name in a.names() {
        assert_eq!(a.tensor(name).unwrap(), b.checked_tensor(name));
    }
    let last = old.len() - 1;
    old[last] ^= 1;
    assert!(matches!(ModelFile::from_bytes(&old), Err(Error::Checksum { .. })));
}

/// A file with the given entries after the metadata, a right checksum and `n_data` bytes of tensors.
fn forge(model: &str, entries: &str, n_data: usize) -> Result<ModelFile, Error> {
    let model = serde_json::Value::from(model);
    let mut header = format!(
        r#"{{"__metadata__":{{"format":"lineal","version":"1","crc32":"00000000","model":{model}}}{entries}}}"#
    );
    while !(8 + header.len()).is_multiple_of(64) {
        header.push(' ');
    }
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(vec![0; n_data]);
    sign(&mut bytes);
    ModelFile::from_bytes(bytes)
}

#[test]
fn forged_tensors_are_refused() {
    let f = |name: &str, dtype: &str, shape: &str, offsets: &str| {
        format!(r#","{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
    };
    let good = forge("{}", &f("w", "F32", "[2]", "[0,8]"), 8).unwrap();
    assert_eq!(good.f32("w").unwrap(), Some(&[0.0, 0.0][..]));
    assert!(
        forge("{}", &(f("w", "F32", "[2]", "[0,8]") + &f("e", "F64", "[0]", "[8,8]")), 8).is_ok()
    );
    for (case, entries, n_data) in [
        ("2^60 elements", f("w", "F32", "[1152921504606846976]", "[0,4611686018427387904]"), 8),
        ("2^60 elements in 8 bytes", f("w", "F32", "[1152921504606846976]", "[0,8]"), 8),
        ("a product over 2^64", f("w", "F32", "[4294967296,4294967296,4294967296]", "[0,0]"), 0),
        ("a product over 2^64, times 0", f("w", "F32", "[4294967296,4294967296,0]", "[0,0]"), 0),
        ("a dimension over 2^64", f("w", "F32", "[99999999999999999999999]", "[0,8]"), 8),
        ("a negative dimension", f("w", "F32", "[-2]", "[0,8]"), 8),
        ("a fraction", f("w", "F32", "[2.0]", "[0,8]"), 8),
        ("the same name twice", f("w", "F32", "[1]", "[0,4]") + &f("w", "F32", "[1]", "[4,8]"), 8),
        (
            "the same name twice, empty",
            f("w", "F32", "[0]", "[0,0]") + &f("w", "F32", "[0]", "[0,0]"),
            0,
        ),
        ("overlap", f("w", "F32", "[2]", "[0,8]") + &f("v", "F32", "[2]", "[4,12]"), 12),
        ("a hole", f("w", "F32", "[1]", "[0,4]") + &f("v", "F32", "[1]", "[8,12]"), 12),
        ("backwards", f("w", "F32", "[2]", "[8,0]"), 8),
        ("out of the file", f("w", "F32", "[4]", "[0,16]"), 8),
        ("bytes to spare", f("w", "F32", "[2]", "[0,8]"), 12),
        ("another length than the type gives", f("w", "F64", "[2]", "[0,8]"), 8),
        ("misaligned", f("a", "U8", "[1]", "[0,1]") + &f("w", "F32", "[1]", "[1,5]"), 5),
        (
            "a misaligned double",
            f("a", "F32", "[1]", "[0,4]") + &f("w", "F64", "[1]", "[4,12]"),
            12,
        ),
        ("an unknown type", f("w", "BF16", "[4]", "[0,8]"), 8),
        ("three offsets", f("w", "F32", "[2]", "[0,8,8]"), 8),
        ("no shape", r#","w":{"dtype":"F32","data_offsets":[0,8]}"#.to_string(), 8),
        ("not an object", r#","w":1"#.to_string(), 8),
        ("metadata twice", r#","__metadata__":{"model":"{}"}"#.to_string(), 0),
        ("broken JSON", r#","w":"#.to_string(), 0),
        ("filling that is out of the file", f("__pad0", "U8", "[99]", "[0,99]"), 9),
    ] {
        let error = forge("{}", &entries, n_data).expect_err(case);
        assert!(
            matches!(error, Error::Tensor { .. } | Error::Header { .. } | Error::Truncated { .. }),
            "{case}: {error:?}"
        );
    }
}

#[test]
fn a_forged_model_is_refused() {
    assert!(matches!(forge("{", "", 0), Err(Error::Header { .. })));
    assert!(matches!(forge("", "", 0), Err(Error::Header { .. })));
    assert!(matches!(forge(&"[".repeat(1 << 20), "", 0), Err(Error::Header { .. })));
    let error = forge(&format!("[{}0]", "0,".repeat(1 << 22)), "", 0).unwrap_err();
    assert!(error.to_string().contains("4194305 values"), "{error}");
    // Commas and brackets in names do not count.
    assert!(forge(&format!(r#"["\"{}"]"#, ",[".repeat(1 << 22)), "", 0).is_ok());
}

#[test]
fn a_header_of_a_great_length_is_refused_before_anything_is_allocated() {
    let mut bytes = sample();
    for len in [u64::MAX, 1 << 60, 100_000_001, 100_000_000, bytes.len() as u64, 0, 1, 60] {
        bytes[..8].copy_from_slice(&len.to_le_bytes());
        assert!(ModelFile::from_bytes(&bytes).is_err(), "{len}");
    }
}
