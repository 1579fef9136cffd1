//! What is written is read back, bit for bit, from memory and from a mapped file.

use lineal_model::file::{Error, ModelFile, TensorData, encode, save, write_to};
use serde_json::json;
use std::path::Path;

const WEIGHTS: [f64; 5] = [0.5, -0.0, f64::MIN_POSITIVE, f64::NAN, 1e300];

fn sample() -> Vec<u8> {
    let says = json!({"task": "classify", "classes": ["\"quoted\"", "naïve", "\u{0}\n"], "l2": 0.1, "a": null});
    let tensors = [
        ("w", vec![5, 1], TensorData::F64(&WEIGHTS)),
        ("half \"w\"", vec![3], TensorData::F32(&[1.5, f32::INFINITY, -2.0])),
        ("nothing", vec![2, 0], TensorData::F64(&[])),
        ("index", vec![1, 1, 2], TensorData::U32(&[7, u32::MAX])),
        ("text", vec![3], TensorData::U8(b"abc")),
        ("one number", vec![], TensorData::U32(&[1])),
    ];
    encode(&says, &tensors).unwrap()
}

fn check(file: &ModelFile) {
    assert_eq!(file.model()["classes"][0], "\"quoted\"");
    assert_eq!(file.model()["classes"][2], "\u{0}\n");
    let keys: Vec<_> = file.model().as_object().unwrap().keys().collect();
    assert_eq!(keys, ["task", "classes", "l2", "a"], "the order of keys is kept");
    let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(file.f64("w").unwrap().unwrap()), bits(&WEIGHTS));
    assert_eq!(file.f32("half \"w\"").unwrap(), Some(&[1.5, f32::INFINITY, -2.0][..]));
    assert_eq!(file.f64("nothing").unwrap(), Some(&[][..]));
    assert_eq!(file.u32("index").unwrap(), Some(&[7, u32::MAX][..]));
    assert_eq!(file.u8("text").unwrap(), Some(&b"abc"[..]));
    assert_eq!(file.tensor("one number").unwrap(), Some(TensorData::U32(&[1])));
    assert_eq!(file.shape("nothing"), Some(&[2, 0][..]));
    assert_eq!(file.shape("one number"), Some(&[][..]));
    assert_eq!(file.names(), ["half \"w\"", "index", "nothing", "one number", "text", "w"]);
    assert!(file.f64("missing").unwrap().is_none() && file.shape("missing").is_none());
    for name in ["w", "index", "text"] {
        let at = match file.tensor(name).unwrap().unwrap() {
            TensorData::F64(v) => v.as_ptr() as usize,
            TensorData::U32(v) => v.as_ptr() as usize,
            TensorData::F32(v) => v.as_ptr() as usize,
            TensorData::U8(v) => v.as_ptr() as usize,
        };
        assert_eq!(at % 64, 0, "{name}");
    }
    let error = file.f32("w").unwrap_err();
    assert!(matches!(&error, Error::Tensor { name, .. } if name == "w"));
    assert!(error.to_string().contains("is F64 and should be F32"), "{error}");
}

#[test]
fn memory_and_file_give_back_what_was_written() {
    check(&ModelFile::from_bytes(sample()).unwrap());
    // Wherever the caller's bytes happen to lie.
    let mut shifted = vec![0];
    shifted.extend(sample());
    check(&ModelFile::from_bytes(&shifted[1..]).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.lin");
    std::fs::write(&path, sample()).unwrap();
    check(&ModelFile::open(&path).unwrap());
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(sample(), sample());
    let tensors = [("w", vec![5], TensorData::F64(&WEIGHTS))];
    let (mut streamed, folder) = (Vec::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("m");
    write_to(&mut streamed, &json!({}), &tensors).unwrap();
    save(&path, &json!({}), &tensors).unwrap();
    assert_eq!(streamed, encode(&json!({}), &tensors).unwrap());
    assert_eq!(streamed, std::fs::read(&path).unwrap());
}

/// A file of version 1 with one tensor, `1.0, 2.0`, and this between the checksum and the model.
fn version_1(crc: &str, sections: &str) -> Vec<u8> {
    let mut header = format!(
        r#"{{"__metadata__":{{"format":"lineal","version":"1","crc32":"{crc}",{sections}"model":"{{\"a\":1}}"}},"#
    );
    header += r#""w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    header += &" ".repeat(184 - header.len());
    let mut bytes = 184u64.to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend([0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
    bytes
}

/// The layout is a promise to old files: this one changes only with the version. The checksums are from
/// `python -c 'import zlib; print("%08x" % zlib.crc32(…))'` of the tensor, and of these bytes with zeros for the digits of `crc32`.
#[test]
fn the_bytes_are_those_of_version_1() {
    let bytes = encode(&json!({"a": 1}), &[("w", vec![2], TensorData::F32(&[1.0, 2.0]))]).unwrap();
    let expected = version_1("abfe1798", r#""sections":"2e3fa576","#);
    assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&expected));
}

/// Before there were checksums of tensors.
#[test]
fn files_of_earlier_programs_are_read() {
    let file = ModelFile::from_bytes(version_1("8c0a7903", "")).unwrap();
    assert_eq!(file.model(), &json!({"a": 1}));
    assert_eq!(file.f32("w").unwrap(), Some(&[1.0, 2.0][..]));
    assert!(ModelFile::from_bytes(version_1("8c0a7904", "")).is_err());
}

#[test]
fn large_tensors_pass_through_the_buffer() {
    let w: Vec<f32> = (0..100_001).map(|i| i as f32 * 0.25).collect();
    let text: Vec<u8> = (0..100_001).map(|i| i as u8).collect();
    let tensors =
        [("w", vec![w.len()], TensorData::F32(&w)), ("t", vec![text.len()], TensorData::U8(&text))];
    let file = ModelFile::from_bytes(encode(&json!([]), &tensors).unwrap()).unwrap();
    assert_eq!(file.f32("w").unwrap().unwrap(), w);
    assert_eq!(file.u8("t").unwrap().unwrap(), text);
}

#[test]
fn a_model_without_tensors_is_a_file() {
    let file = ModelFile::from_bytes(encode(&json!("constant"), &[]).unwrap()).unwrap();
    assert_eq!(file.model(), "constant");
    assert!(file.names().is_empty());
}

#[test]
fn writing_refuses_what_reading_would() {
    let w = TensorData::F32(&[1.0]);
    for (tensors, why) in [
        (vec![("w", vec![2], w)], "shape [2]"),
        (vec![("w", vec![1], w), ("w", vec![1], w)], "twice"),
        (vec![("__metadata__", vec![1], w)], "keeps for itself"),
        (vec![("__pad0", vec![1], w)], "keeps for itself"),
        (vec![("w", vec![1 << 62, 1 << 62], w)], "shape"),
    ] {
        let error = encode(&json!({}), &tensors).unwrap_err();
        assert!(
            matches!(error, Error::Tensor { .. }) && error.to_string().contains(why),
            "{error}"
        );
    }
}

#[test]
fn what_is_not_a_model_is_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("text"), "1 1:0.5\n-1 2:1\n".repeat(20)).unwrap();
    for (name, why) in
        [("empty", "it is empty"), ("text", "does not begin like one"), ("", "a folder")]
    {
        let error = ModelFile::open(&at(name)).unwrap_err();
        assert!(matches!(error, Error::NotLineal { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(why) && message.contains("lineal train"), "{message}");
        assert!(message.contains(&at(name).display().to_string()), "{message}");
    }
    let error = ModelFile::open(&at("missing")).unwrap_err();
    assert!(
        matches!(&error, Error::Read { why, .. } if why.kind() == std::io::ErrorKind::NotFound)
    );
    assert!(error.to_string().contains("missing"));
    #[cfg(unix)]
    assert!(matches!(ModelFile::open(Path::new("/dev/zero")), Err(Error::NotLineal { .. })));
}

/// Of a file whose header is cut, the message once gave the length of the header as that of the file.
#[test]
fn a_cut_file_says_how_much_is_missing() {
    let bytes = sample();
    let whole = bytes.len() as u64;
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap());
    for keep in [bytes.len() - 1, bytes.len() - 65, header as usize] {
        let error = ModelFile::from_bytes(&bytes[..keep]).unwrap_err();
        let says = format!("it should have {whole} bytes and has {keep};");
        assert!(error.to_string().contains(&says), "{keep}: {error}");
        assert!(
            matches!(error, Error::Truncated { expected, found, at_least: false, .. } if (expected, found) == (whole, keep as u64)),
            "{keep}: {error}"
        );
    }
    // Where the header itself is cut, what follows it is not known.
    let error = ModelFile::from_bytes(&bytes[..100]).unwrap_err();
    let says = format!("it should have at least {header} bytes and has 100;");
    assert!(error.to_string().contains(&says), "{error}");
    let longer = [&bytes[..], b"x"].concat();
    let error = ModelFile::from_bytes(longer).unwrap_err();
    let says = format!("it should have {whole} bytes and has {};", whole + 1);
    assert!(error.to_string().contains(&says), "{error}");
}

#[test]
fn a_later_version_is_named() {
    let bytes = String::from_utf8(encode(&json!({}), &[]).unwrap()).unwrap();
    let later = bytes.replace(r#""version":"1""#, r#""version":"12""#);
    let error = ModelFile::from_bytes(later).unwrap_err();
    assert!(matches!(error, Error::Newer { version: 12, .. }), "{error}");
    assert!(error.to_string().contains("update Lineal"));
    for bad in ["0", "", "x", "99999999999999999999999"] {
        let bad = bytes.replace(r#""version":"1""#, &format!(r#""version":"{bad}""#));
        assert!(matches!(ModelFile::from_bytes(bad), Err(Error::NotLineal { .. })));
    }
}
