//! Labelled data of a request, compared as `eval --report` does.

use std::path::PathBuf;

use lineal::{AnyModel, SceneSchema, SegmentModel, Source};
use lineal_server::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use super::images;
use super::lines::in_fields;
use crate::args::EvalArgs;
use crate::program::{Program, with_opened};
use crate::structured::measure_data;
use crate::talk::Talk;

/// Characters of a file's name.
const NAME: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    file: Option<File>,
    images: Option<Vec<Image>>,
    /// The column of the labels, where its name does not tell.
    label: Option<String>,
}

/// A file in base64, whose name tells its format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    data: String,
}

/// An image and the mask that it should have, in base64.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Image {
    name: String,
    data: String,
    mask: String,
}

/// What `eval --json` prints, and the blocks of the page of `eval --report`.
pub fn evaluate(model: &AnyModel, args: &EvalArgs, request: &str) -> Result<Value, Fault> {
    let request: Request =
        serde_json::from_str(request).map_err(|e| Fault::request("", e.to_string()))?;
    let mut args = args.clone();
    args.file.label = request.label;
    let of_images = match model {
        AnyModel::Segment(model) if matches!(model.schema(), SceneSchema::Images(_)) => Some(model),
        _ => None,
    };
    match (of_images, request.images, request.file) {
        (Some(model), Some(images), None) => of_masks(model, &images, &args),
        (Some(_), ..) => Err(Fault::request(
            "/images",
            "a model of images takes a list of objects with name, data and mask, both files in base64",
        )),
        (None, None, Some(file)) => of_file(model, file, args),
        (None, Some(_), _) => Err(Fault::request("/images", "is for a model of images")),
        (None, None, None) => Err(Fault::request(
            "/file",
            "is missing: an object with the name of a labelled file, which tells its format, and its data in base64",
        )),
    }
}

fn of_masks(model: &SegmentModel, images: &[Image], args: &EvalArgs) -> Result<Value, Fault> {
    let files = images.iter().map(|i| (i.name.clone(), i.data.clone(), i.mask.clone()));
    let scenes = images::labelled(model, &files.collect::<Vec<_>>(), args.file.max_pixels)?;
    let found = measure_data(model, &scenes, args, Talk::new(true)).and_then(|found| {
        Ok((model.measured_json(&found)?, model.measured_page(&found, "images")))
    });
    let (metrics, page) =
        found.map_err(|e| Fault::request("/images", in_fields(&e.to_string())))?;
    Ok(json!({"metrics": metrics, "html": page.blocks()}))
}

fn of_file(model: &AnyModel, file: File, mut args: EvalArgs) -> Result<Value, Fault> {
    let name = name_of(&file.name)?;
    let bytes = images::decoded(images::of_browser(&file.data))
        .ok_or_else(|| images::not_base64("/file/data".to_owned()))?;
    // Few bytes may unpack to more than there is memory.
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Err(Fault::request("/file/data", "is packed: send the file unpacked"));
    }
    args.data = PathBuf::from(&name);
    args.at_hand = Some(Source::Memory { name: name.clone(), bytes });
    let found = with_opened!(model, model => {
        let model = model.as_ref();
        Program::measure(model, &args, Talk::new(true)).and_then(|found| {
            let page = Program::measured_page(model, &found, &name);
            Ok(json!({"metrics": Program::measured_json(model, &found)?, "html": page.blocks()}))
        })
    });
    found.map_err(|error| Fault::request("/file", in_fields(&format!("{error:#}"))))
}

/// The last part of a path, without what a terminal or a page would stumble over.
fn name_of(path: &str) -> Result<String, Fault> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let is_plain = !name.is_empty() && name != "-" && !name.chars().any(char::is_control);
    match is_plain && name.chars().count() <= NAME {
        true => Ok(name.to_owned()),
        false => Err(Fault::request("/file/name", "is not the name of a file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(name_of("C:\\data\\test.csv").unwrap(), "test.csv");
        assert_eq!(name_of("../../etc/passwd").unwrap(), "passwd");
        for bad in ["", "a/", "-", "a\nb", &"x".repeat(NAME + 1)] {
            assert!(name_of(bad).is_err(), "{bad:?}");
        }
    }
}
