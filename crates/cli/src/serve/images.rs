//! Images of a request, and the masks of the answer.

use std::io::Write;

use lineal::data::RgbPixels;
use lineal::{SceneKind, SceneSchema, Scenes, SegmentModel, StructuredModel};
use lineal_server::{Examples, Fault, Form};
use serde_json::{Value, json};

use super::lines::{Fields, at_field, expect, in_fields, place};
use crate::args::{ExplainArgs, PredictArgs};
use crate::html::base64;
use crate::program::Program;
use crate::structured::{StructuredTask, explain_data};
use crate::talk::Talk;

/// A line for each image as `predict --output jsonl` writes it, with the mask, a PNG in base64, in place of its file.
pub fn predict(
    model: &SegmentModel,
    examples: &Examples<'_>,
    args: &PredictArgs,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let scenes = scenes(model, examples, args.file.max_pixels)?;
    let failed = |error: anyhow::Error| Fault::request("", in_fields(&error.to_string()));
    let answers = StructuredModel::answer(model, &scenes, &SegmentModel::ask(args))
        .map_err(|error| failed(error.into()))?;
    let mut writer = model.writer(args);
    let SceneSchema::Images(schema) = model.schema() else {
        return Err(Fault::internal("the model is not one of images"));
    };
    for (i, found) in answers.iter().enumerate() {
        let mut line = Vec::new();
        SegmentModel::write(&mut writer, &mut line, &scenes, i, examples.first + i, found)
            .map_err(|error| failed(error.into()))?;
        let mut object: Value = serde_json::from_slice(&line).map_err(|e| failed(e.into()))?;
        if let SceneKind::Image(_, image) = &scenes.get(i).kind {
            let labels: Vec<u32> = found.labels.iter().map(|&label| u32::from(label)).collect();
            let mask =
                schema.encode(image.width, image.height, &labels).map_err(Fault::internal)?;
            object["mask"] = json!(base64(&mask));
        }
        serde_json::to_writer(&mut *out, &object).map_err(|e| failed(e.into()))?;
        out.push(b'\n');
    }
    Ok(())
}

/// A line for each pixel that is explained.
pub fn explain(
    model: &SegmentModel,
    examples: &Examples<'_>,
    args: &ExplainArgs,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let scenes = scenes(model, examples, args.file.max_pixels)?;
    let found = explain_data(model, scenes, args, Talk::new(true));
    let written = found.and_then(|found| {
        Program::explained_json(model, &found, args, out)?;
        Ok(out.flush()?)
    });
    written.map_err(|error| Fault::request("", in_fields(&error.to_string())))
}

/// Pixels of an image in a request: each takes some 700 bytes of features.
const PIXELS: usize = 1_000_000;

/// Without the remedy that no request has.
fn told(error: &lineal::data::Error) -> String {
    in_fields(error.message.trim_end_matches(", or raise the limit (options.max_pixels)"))
}

fn scenes(
    model: &SegmentModel,
    examples: &Examples<'_>,
    max_pixels: usize,
) -> Result<Scenes, Fault> {
    expect(examples, &[Form::Images], "images in base64")?;
    let SceneSchema::Images(schema) = model.schema() else {
        return Err(Fault::internal("the model is not one of images"));
    };
    let mut images = Vec::new();
    for (i, value) in examples.values.iter().enumerate() {
        let at = place(examples, i);
        let text = |value: &str, at: &str, what: &str| {
            serde_json::from_str::<String>(value).map_err(|_| Fault::request(at, what))
        };
        let (name, data, at) = match value.as_bytes().first() {
            Some(b'"') => (None, *value, at),
            Some(b'{') => {
                let fields = Fields::of(value, &["name", "data"]);
                let fields = fields.map_err(|why| at_field(&at, why))?;
                let name = fields.get("name");
                let name = name.map(|name| text(name, &format!("{at}/name"), "must be a text"));
                (name.transpose()?, fields.get("data").unwrap_or("null"), format!("{at}/data"))
            }
            _ => {
                return Err(Fault::request(
                    at,
                    "must be a file in base64, or an object with name and data",
                ));
            }
        };
        let name = name.unwrap_or_else(|| format!("image-{}", examples.first + i + 1));
        let data = text(data, &at, "must be a file in base64")?;
        let bytes = decoded(of_browser(&data)).ok_or_else(|| not_base64(at.clone()))?;
        let pixels = RgbPixels::decode(&bytes, &name, max_pixels.min(PIXELS))
            .map_err(|error| Fault::request(at.clone(), told(&error)))?;
        images.push((name, pixels, None));
    }
    Scenes::of_images(schema.clone(), images).map_err(|e| Fault::request("/images", e.to_string()))
}

/// Images with the masks that they should have.
pub fn labelled(
    model: &SegmentModel,
    images: &[(String, String, String)],
    max_pixels: usize,
) -> Result<Scenes, Fault> {
    let SceneSchema::Images(schema) = model.schema() else {
        return Err(Fault::internal("the model is not one of images"));
    };
    let mut scenes = Vec::new();
    for (i, (name, data, mask)) in images.iter().enumerate() {
        let file = |data: &str, key: &str| {
            let at = format!("/images/{i}/{key}");
            let bytes = decoded(of_browser(data));
            bytes.map(|bytes| (bytes, at.clone())).ok_or_else(|| not_base64(at))
        };
        let wrong = |at: String| move |error: lineal::data::Error| Fault::request(at, told(&error));
        let (bytes, at) = file(data, "data")?;
        let pixels = RgbPixels::decode(&bytes, name, max_pixels.min(PIXELS)).map_err(wrong(at))?;
        let (bytes, at) = file(mask, "mask")?;
        let labels = schema.decode(&bytes, name, max_pixels.min(PIXELS)).map_err(wrong(at))?;
        scenes.push((name.clone(), pixels, Some(labels)));
    }
    Scenes::of_images(schema.clone(), scenes).map_err(|e| Fault::request("/images", e.to_string()))
}

/// What a browser makes of a file begins with its type.
pub fn of_browser(data: &str) -> &str {
    data.split_once("base64,").map_or(data, |(_, data)| data)
}

pub fn not_base64(at: String) -> Fault {
    Fault::request(at, "is not base64 (RFC 4648)")
}

/// RFC 4648, with or without `=` at the end; line breaks are left out.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits, mut ended) = (0u32, 0, false);
    for b in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let value = match b {
            b'=' => {
                ended = true;
                continue;
            }
            _ if ended => return None,
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    (n_bits < 6).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_and_back() {
        for n in 0..40u8 {
            let bytes: Vec<u8> = (0..n).map(|i| i.wrapping_mul(67) ^ n).collect();
            let text = base64(&bytes);
            assert_eq!(decoded(&text), Some(bytes.clone()));
            assert_eq!(decoded(text.trim_end_matches('=')), Some(bytes));
        }
        for bad in ["a", "Zg=a", "Z?==", "abcde"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
