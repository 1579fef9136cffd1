//! Bytes into pixels: PNG, JPEG and PNM, known by their first bytes.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, ImageReader, Limits};

use crate::error::{Error, ErrorKind, thousands};

/// Width and height, from the header.
pub(super) fn size(bytes: &[u8], file: &str) -> Result<(usize, usize), Error> {
    let (reader, _) = reader(bytes, file)?;
    let (width, height) = reader.into_dimensions().map_err(|e| broken(file, &e))?;
    if width == 0 || height == 0 {
        let message = format!("the image is {width}×{height} pixels large: it has none");
        return Err(Error::new(ErrorKind::Empty, file, message));
    }
    Ok((width as usize, height as usize))
}

/// An error if an image has more pixels than the caller allows.
pub(super) fn check_size(
    (width, height): (usize, usize),
    file: &str,
    max_pixels: usize,
) -> Result<(), Error> {
    let n_pixels = width.saturating_mul(height);
    if n_pixels <= max_pixels {
        return Ok(());
    }
    let message = format!(
        "the image is {width}×{height} pixels large, which takes {} to read and about {} with the features of its pixels; at most {} pixels are allowed: make it smaller, or raise the limit (options.max_pixels)",
        bytes_as_text(n_pixels.saturating_mul(super::BYTES_PER_PIXEL)),
        bytes_as_text(n_pixels.saturating_mul(700)),
        thousands(max_pixels)
    );
    Err(Error::new(ErrorKind::Size, file, message))
}

/// The pixels, in whatever form the file has them.
pub(super) fn decode(bytes: &[u8], file: &str, max_pixels: usize) -> Result<DynamicImage, Error> {
    check_size(size(bytes, file)?, file, max_pixels)?;
    let (mut reader, format) = reader(bytes, file)?;
    // The decoder of JPEG fills up what is missing at the end with grey.
    if format == ImageFormat::Jpeg
        && !bytes.windows(2).rev().take(1 << 16).any(|w| w == [0xff, 0xd9])
    {
        let message = "the JPEG image is cut short: its end mark is missing; copy the file again";
        return Err(Error::new(ErrorKind::Syntax, file, message));
    }
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some((max_pixels as u64).saturating_mul(16).saturating_add(1 << 24));
    reader.limits(limits);
    reader.decode().map_err(|e| broken(file, &e))
}

/// A decoder of bytes at hand.
type Reader<'a> = ImageReader<Cursor<&'a [u8]>>;

fn reader<'a>(bytes: &'a [u8], file: &str) -> Result<(Reader<'a>, ImageFormat), Error> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let reader =
        reader.map_err(|e| Error::new(ErrorKind::Io, file, format!("cannot be read: {e}")))?;
    match reader.format() {
        Some(format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Pnm)) => {
            Ok((reader, format))
        }
        _ if bytes.is_empty() => Err(Error::new(ErrorKind::Empty, file, "the file is empty")),
        _ => {
            let message =
                "this is not an image that can be read: PNG, JPEG, PPM and PGM are; convert it";
            Err(Error::new(ErrorKind::Format, file, message))
        }
    }
}

/// The kind of an image that cannot be read, by its first bytes.
pub(super) fn other_kind(head: &[u8]) -> Option<&'static str> {
    match head {
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some("BMP"),
        [b'G', b'I', b'F', b'8', ..] => Some("GIF"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("WebP"),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => Some("TIFF"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("HEIC or AVIF"),
        _ => None,
    }
}

/// Whether the first bytes are those of an image.
pub(super) fn is_image(head: &[u8]) -> bool {
    let pnm = |n: u8| (b'1'..=b'7').contains(&n);
    head.starts_with(b"\x89PNG")
        || head.starts_with(&[0xff, 0xd8, 0xff])
        || matches!(head, [b'P', n, space, ..] if pnm(*n) && space.is_ascii_whitespace())
}

fn broken(file: &str, e: &image::ImageError) -> Error {
    let message = format!("the image is broken or cut short: {e}");
    Error::new(ErrorKind::Syntax, file, message)
}

/// `7.2 MB`.
pub(super) fn bytes_as_text(n: usize) -> String {
    match n {
        0..1_000_000 => format!("{} kB", n.div_ceil(1000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// An image in RGB as PNG.
pub fn png(width: usize, height: usize, rgb: Vec<u8>) -> Result<Vec<u8>, String> {
    let size = u32::try_from(width).ok().zip(u32::try_from(height).ok());
    let image = size.and_then(|(w, h)| image::RgbImage::from_raw(w, h, rgb));
    let image =
        image.ok_or_else(|| format!("the colours are not those of {width}×{height} pixels"))?;
    let mut bytes = std::io::Cursor::new(Vec::new());
    image
        .write_to(&mut bytes, image::ImageFormat::Png)
        .map_err(|e| format!("the image cannot be written: {e}"))?;
    Ok(bytes.into_inner())
}
