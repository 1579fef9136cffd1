//! Facts of the format that reader and writer share.

#[cfg(target_endian = "big")]
compile_error!(
    "model files are little-endian and mapped as they are; this machine would have to convert them"
);

/// The version that this code writes, and the last that it reads.
pub(super) const VERSION: u64 = 1;

/// Tensors start at multiples of this: a cache line, and the widest SIMD register.
pub(super) const ALIGN: usize = 64;

/// No header is longer, as in Python's safetensors. What needs more, such as the names of millions of features,
/// goes into a tensor of bytes, where it is mapped and not parsed.
pub(super) const MAX_HEADER: usize = 100_000_000;

/// No model has more values in its JSON. A parsed value takes 72 bytes and `0,` takes two: without this limit a
/// file of 30 MB was measured to take 1.2 GB.
const MAX_VALUES: usize = 1 << 22;

/// What follows the eight bytes of the header's length, up to the version's digits.
pub(super) const MAGIC: &[u8] = br#"{"__metadata__":{"format":"lineal","version":""#;

/// What stands between the version and the digits of the checksum.
pub(super) const BEFORE_CRC: &[u8] = br#"","crc32":""#;

/// What the digits of the checksum count as when it is computed.
pub(super) const NO_CRC: &[u8; 8] = b"00000000";

/// Names of filling begin with this.
pub(super) const PAD: &str = "__pad";

/// Refuses JSON that would take much memory when parsed, without parsing it.
pub(super) fn check_size(json: &str) -> Result<(), String> {
    let (mut n, mut in_text, mut escaped) = (0, false, false);
    for b in json.bytes() {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b':' | b'[' | b'{' if !in_text => n += 1,
            _ => {}
        }
    }
    if n > MAX_VALUES {
        return Err(format!("its `model` has {n} values, and {MAX_VALUES} are allowed"));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dtype {
    F32,
    F64,
    U32,
    U8,
}

impl Dtype {
    pub(super) fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "F32",
            Dtype::F64 => "F64",
            Dtype::U32 => "U32",
            Dtype::U8 => "U8",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        [Dtype::F32, Dtype::F64, Dtype::U32, Dtype::U8].into_iter().find(|d| d.name() == name)
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Dtype::F64 => 8,
            Dtype::F32 | Dtype::U32 => 4,
            Dtype::U8 => 1,
        }
    }

    /// Bytes of a tensor of that shape, if a `usize` holds them.
    pub(super) fn bytes_of(self, shape: &[usize]) -> Option<usize> {
        // A zero makes the product zero, but not before an overflow is seen: [2^60, 2^60, 0] is refused.
        shape.iter().try_fold(self.bytes(), |n, &d| n.checked_mul(d))
    }
}
