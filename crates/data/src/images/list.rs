//! Which images there are, and which masks belong to them: a list in TSV, a folder, or one image.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, quote};
use crate::source::{Source, explain, utf8, without_bom};

/// An image by its file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) image: PathBuf,
    pub(super) mask: Option<PathBuf>,
    pub(super) weight: f32,
    /// The line of the list that names it.
    pub(super) line: Option<usize>,
}

impl Entry {
    fn of(image: PathBuf, mask: Option<PathBuf>) -> Self {
        Self { image, mask, weight: 1.0, line: None }
    }
}

/// The images of a source.
pub(super) fn entries(source: &Source, ignore_masks: bool) -> Result<Vec<Entry>, Error> {
    let name = source.name();
    let found = match source {
        Source::Path(path) if path.is_dir() => folder(path, &name)?,
        Source::Path(path) if is_image_file(source)? => {
            let mask = masks_of(path).into_iter().next();
            vec![Entry::of(path.clone(), mask)]
        }
        source => list(source, &name, ignore_masks)?,
    };
    if found.is_empty() {
        let message = "there are no images; name them in a list, one per line, or put PNG, JPEG, PPM or PGM files into the folder";
        return Err(Error::new(ErrorKind::Empty, &name, message));
    }
    Ok(found)
}

/// Whether a source is an image or a folder, and so not lines of text.
pub fn is_image(source: &Source) -> Result<bool, Error> {
    match source {
        Source::Path(path) if path.is_dir() => Ok(true),
        source => is_image_file(source),
    }
}

fn is_image_file(source: &Source) -> Result<bool, Error> {
    Ok(source.peek(16)?.is_some_and(|head| super::decode::is_image(&head)))
}

/// `image<TAB>mask<TAB>weight` per line; mask and weight may be missing. A first line that begins with `image` is a header.
fn list(source: &Source, name: &str, ignore_masks: bool) -> Result<Vec<Entry>, Error> {
    let bytes = source.clone().open()?;
    if let Some(kind) = super::decode::other_kind(&bytes) {
        let message = format!(
            "this is a {kind} image, which cannot be read: PNG, JPEG, PPM and PGM are; convert it"
        );
        return Err(Error::new(ErrorKind::Format, name, message));
    }
    if without_bom(&bytes).trim_ascii_start().first() == Some(&b'{') {
        let message = "this looks like JSON lines, and a list of images is expected; for graphs say options.format = jsonl";
        return Err(Error::new(ErrorKind::Format, name, message));
    }
    let text = utf8(without_bom(&bytes), name)?;
    let folder = match source {
        Source::Path(path) => path.parent().map(Path::to_owned).unwrap_or_default(),
        Source::Memory { name, .. } => {
            Path::new(name).parent().map(Path::to_owned).unwrap_or_default()
        }
        _ => PathBuf::new(),
    };
    let mut entries = Vec::new();
    for (line, n_line) in text.lines().zip(1..) {
        let refuse = |kind, message: String| Err(Error::in_line(kind, name, n_line, None, message));
        if line.trim().is_empty() {
            continue;
        }
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        if n_line == 1 && cells[0] == "image" && cells.get(1).is_none_or(|&cell| cell == "mask") {
            continue;
        }
        if cells[0].is_empty() {
            return refuse(
                ErrorKind::Columns,
                "the line names no image; write image<TAB>mask".to_owned(),
            );
        }
        if cells.len() > 3 {
            let message = format!(
                "the line has {} columns; there are three at most: image, mask and weight, separated by tabs",
                cells.len()
            );
            return refuse(ErrorKind::Columns, message);
        }
        let weight = match cells.get(2).filter(|cell| !cell.is_empty()) {
            None => 1.0,
            Some(cell) => match cell.parse::<f32>() {
                Ok(weight) if weight.is_finite() && weight >= 0.0 => weight,
                _ => {
                    let message =
                        format!("the weight {} is not a number of 0 or more", quote(cell));
                    return refuse(ErrorKind::Weight, message);
                }
            },
        };
        let mask = cells.get(1).filter(|cell| !cell.is_empty() && !ignore_masks);
        let mask = mask.map(|cell| folder.join(cell));
        let image = folder.join(cells[0]);
        for (what, path) in [("image", Some(&image)), ("mask", mask.as_ref())] {
            if let Some(path) = path
                && let Err(e) = fs::metadata(path)
            {
                let shown = path.display().to_string();
                let spaced = cells.len() == 1 && cells[0].contains(char::is_whitespace);
                let message = format!(
                    "the {what} {} cannot be read: {}; paths are relative to the list{}",
                    quote(shown),
                    explain(&e),
                    if spaced { ", and columns are separated by tabs" } else { "" }
                );
                return refuse(ErrorKind::Io, message);
            }
        }
        entries.push(Entry { image, mask, weight, line: Some(n_line) });
    }
    Ok(entries)
}

/// Images of a folder by name, each with the mask that its name tells.
fn folder(path: &Path, name: &str) -> Result<Vec<Entry>, Error> {
    let refuse = |e: std::io::Error| Error::new(ErrorKind::Io, name, explain(&e));
    let mut files = Vec::new();
    for file in fs::read_dir(path).map_err(refuse)? {
        let file = file.map_err(refuse)?.path();
        if file.is_file() && has_extension(&file, &IMAGE_EXTENSIONS) {
            files.push(file);
        }
    }
    files.sort();
    let mut by_stem: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        let stem = stem(&file);
        if !is_mask_name(&stem) {
            by_stem.entry(stem).or_default().push(file);
        }
    }
    let mut entries = Vec::new();
    for files in by_stem.into_values() {
        // Beside an image of the same name a PGM is its mask.
        let is_pgm = |file: &PathBuf| has_extension(file, &["pgm"]);
        let (pgms, others): (Vec<_>, Vec<_>) = files.into_iter().partition(is_pgm);
        let images = if others.is_empty() { &pgms } else { &others };
        if let [first, second, ..] = &images[..] {
            let message = format!(
                "{} and {} have the same name: which is the image? Name a mask like the image with _mask at the end, or put it into a folder masks",
                quote(first.display().to_string()),
                quote(second.display().to_string())
            );
            return Err(Error::new(ErrorKind::Columns, name, message));
        }
        for image in images {
            let masks = masks_of(image);
            if let [first, second, ..] = &masks[..] {
                let message = format!(
                    "{} has two masks, {} and {}; remove one, or name the right one in a list",
                    quote(image.display().to_string()),
                    quote(first.display().to_string()),
                    quote(second.display().to_string())
                );
                return Err(Error::new(ErrorKind::Columns, name, message));
            }
            entries.push(Entry::of(image.clone(), masks.into_iter().next()));
        }
    }
    Ok(entries)
}

/// Images of a folder that are of a kind that cannot be read.
pub(super) fn n_skipped(source: &Source) -> usize {
    let Source::Path(path) = source else { return 0 };
    let Ok(files) = fs::read_dir(path) else { return 0 };
    let paths = files.flatten().map(|file| file.path());
    paths.filter(|path| has_extension(path, &OTHER_EXTENSIONS) && path.is_file()).count()
}

const OTHER_EXTENSIONS: [&str; 8] = ["bmp", "gif", "webp", "tif", "tiff", "heic", "avif", "jp2"];
const IMAGE_EXTENSIONS: [&str; 6] = ["ppm", "pnm", "pgm", "png", "jpg", "jpeg"];
const MASK_EXTENSIONS: [&str; 4] = ["png", "pgm", "ppm", "pnm"];

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    extensions.iter().any(|e| extension.eq_ignore_ascii_case(e))
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a file is a mask, or a picture that `lineal predict` wrote.
fn is_mask_name(stem: &str) -> bool {
    [".mask", "_mask", ".overlay", ".confidence"].iter().any(|end| stem.ends_with(end))
}

/// The masks that the name of an image leads to: of `x.jpg`, `x.mask.png`, `x_mask.png`, `x.pgm`, `masks/x.png` and `../masks/x.png`, and the other extensions of masks.
fn masks_of(image: &Path) -> Vec<PathBuf> {
    let (Some(folder), stem) = (image.parent(), stem(image)) else { return Vec::new() };
    let mut stems: Vec<PathBuf> = Vec::new();
    for name in [format!("{stem}.mask"), format!("{stem}_mask")] {
        stems.push(folder.join(name));
    }
    stems.push(folder.join("masks").join(&stem));
    // A folder without a name in the path has its neighbours above it all the same.
    if folder.file_name().is_none_or(|name| name != "masks") {
        stems.push(folder.join("..").join("masks").join(&stem));
    }
    let mut found = Vec::new();
    let pgm = folder.join(format!("{stem}.pgm"));
    if !has_extension(image, &["pgm"]) && pgm.is_file() {
        found.push(pgm);
    }
    for stem in stems {
        for extension in MASK_EXTENSIONS {
            let mut name = stem.clone().into_os_string();
            name.push(format!(".{extension}"));
            let path = PathBuf::from(name);
            if path.is_file() {
                found.push(path);
            }
        }
    }
    found
}
