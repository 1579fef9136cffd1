//! Pictures inside a page.

use super::page::escape;

/// A PNG as part of the page, twice its size where it is small.
pub fn image(png: &[u8], name: &str) -> String {
    let data = base64(png);
    format!(
        r#"<img src="data:image/png;base64,{data}" alt="{}" style="min-width:12rem;max-width:100%;image-rendering:pixelated">"#,
        escape(name)
    )
}

/// RFC 4648.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            match i <= chunk.len() {
                true => out.push(LETTERS[(bits >> (18 - 6 * i) & 63) as usize] as char),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_as_in_the_rfc() {
        // The test vectors of RFC 4648, section 10.
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
