//! As much of Protocol Buffers as ONNX files need: <https://protobuf.dev/programming-guides/encoding/>.
//!
//! A message is a list of fields, each a key (number · 8 + wire type) and a value: a varint, 8 bytes, 4 bytes, or a length and so many bytes.

/// Writes the fields of a message.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    /// A whole number.
    pub(super) fn int(mut self, field: u64, value: i64) -> Self {
        self.key(field, VARINT);
        self.varint(value as u64);
        self
    }

    /// Text, or bytes.
    pub(super) fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        self.key(field, BYTES);
        self.varint(value.as_ref().len() as u64);
        self.0.extend_from_slice(value.as_ref());
        self
    }

    /// A message inside.
    pub(super) fn message(self, field: u64, value: Message) -> Self {
        self.bytes(field, value.0)
    }

    /// A list of messages inside.
    pub(super) fn messages(self, field: u64, values: impl IntoIterator<Item = Message>) -> Self {
        values.into_iter().fold(self, |all, value| all.message(field, value))
    }

    /// A packed list of numbers.
    pub(super) fn floats(self, field: u64, values: &[f32]) -> Self {
        self.bytes(field, values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

const VARINT: u64 = 0;
const EIGHT: u64 = 1;
const BYTES: u64 = 2;
const FOUR: u64 = 5;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Int(u64),
    Bytes(&'a [u8]),
    Four([u8; 4]),
    Eight([u8; 8]),
}

impl<'a> Value<'a> {
    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    pub(super) fn text(self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// The numbers of a field that is repeated: all at once, or one.
    pub(super) fn floats(self) -> Option<Vec<f32>> {
        match self {
            Value::Four(one) => Some(vec![f32::from_le_bytes(one)]),
            Value::Bytes(all) if all.len().is_multiple_of(4) => {
                let (all, _) = all.as_chunks();
                Some(all.iter().map(|&v| f32::from_le_bytes(v)).collect())
            }
            _ => None,
        }
    }

    /// The same of whole numbers.
    pub(super) fn ints(self) -> Option<Vec<i64>> {
        match self {
            Value::Int(one) => Some(vec![one as i64]),
            Value::Bytes(mut all) => {
                let mut out = Vec::new();
                while !all.is_empty() {
                    out.push(varint(&mut all)? as i64);
                }
                Some(out)
            }
            _ => None,
        }
    }
}

fn varint(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The next field: its number and value.
fn field<'a>(from: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = varint(from)?;
    let value = match key & 7 {
        VARINT => Value::Int(varint(from)?),
        EIGHT => Value::Eight(*take(from, 8)?.first_chunk()?),
        FOUR => Value::Four(*take(from, 4)?.first_chunk()?),
        BYTES => {
            let n = varint(from)?;
            Value::Bytes(take(from, usize::try_from(n).ok()?)?)
        }
        _ => return None,
    };
    Some((key >> 3, value))
}

fn take<'a>(from: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(n)?;
    *from = rest;
    Some(taken)
}

/// The fields of a message; `None` if it is damaged. Memory is that of its fields, not what lengths in it claim.
pub(super) fn fields(mut from: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut all = Vec::new();
    while !from.is_empty() {
        all.push(field(&mut from)?);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inner = Message::default().int(1, -3).bytes(2, "ä");
        let bytes =
            Message::default().int(8, 300).message(3, inner).floats(7, &[1.5, -2.0]).into_bytes();
        let all = fields(&bytes).unwrap();
        assert_eq!(all[0], (8, Value::Int(300)));
        let inner = fields(all[1].1.bytes().unwrap()).unwrap();
        assert_eq!((inner[0].1.ints(), inner[1].1.text()), (Some(vec![-3]), Some("ä")));
        assert_eq!(all[2].1.floats(), Some(vec![1.5, -2.0]));
    }

    /// 150 is `96 01`, and a message of it in field 3 is `1a 03 08 96 01`: the examples of the specification.
    #[test]
    fn the_examples_of_the_specification() {
        let one = Message::default().int(1, 150);
        assert_eq!(Message::default().message(3, one).into_bytes(), [0x1a, 3, 8, 0x96, 1]);
        let text = Message::default().bytes(2, "testing").into_bytes();
        assert_eq!(text, [0x12, 7, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = Message::default().bytes(2, "testing").into_bytes();
        assert!((1..bytes.len()).all(|n| fields(&bytes[..n]).is_none()));
        assert_eq!(fields(&[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 1]), None);
        assert_eq!(fields(&[0xff; 20]), None);
        assert_eq!(fields(&[0x0b]), None);
    }
}
