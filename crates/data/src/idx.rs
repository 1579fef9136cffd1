//! IDX: images of bytes, the format of MNIST, labels in a file of their own.
//!
//! A file is the magic `0 0 type rank`, `rank` lengths of four bytes, most significant first, then the
//! values. Lengths are compared with the bytes that are there before anything is allocated by them.

use std::path::{Path, PathBuf};

use lineal_linalg::{Csr, Dense, Matrix};

use crate::dataset::{Dataset, Targets};
use crate::error::{Error, ErrorKind, thousands};
use crate::format::Format;
use crate::labels::ClassIndex;
use crate::options::ReadOptions;
use crate::schema::{Schema, TargetKind};
use crate::source::Source;

/// Reads images and labels and learns the schema.
pub(crate) fn read(
    bytes: &[u8],
    file: &str,
    source: Option<&Path>,
    options: &ReadOptions,
) -> Result<Dataset, Error> {
    one_label(options.target, file)?;
    let images = Images::parse(bytes, file)?;
    let Some(path) = labels_path(source, options) else {
        let message = "the labels are in another file, which its name does not show \
                       (…-images-idx3-ubyte has …-labels-idx1-ubyte); name it with options.labels_file";
        return Err(Error::new(ErrorKind::Label, file, message));
    };
    let labels = read_labels(&path, images.n, file)?;
    let mut present = [false; 256];
    labels.iter().for_each(|&label| present[usize::from(label)] = true);
    let (classes, y) = match options.target {
        TargetKind::Real => {
            (Vec::new(), Targets::Real(labels.iter().map(|&l| f64::from(l)).collect()))
        }
        TargetKind::Classes | TargetKind::Labels | TargetKind::Grades => {
            let ids = (0..256usize).filter(|&l| present[l]);
            let mut id_of = [0; 256];
            let classes = ids.zip(0..).map(|(l, id)| {
                id_of[l] = id;
                l.to_string()
            });
            let classes: Vec<String> = classes.collect();
            (classes, Targets::Classes(labels.iter().map(|&l| id_of[usize::from(l)]).collect()))
        }
    };
    let schema = Schema {
        format: Some(Format::Idx),
        target: options.target,
        classes,
        n_features: images.height * images.width,
        columns: None,
        feature_ids: None,
        n_computed: 0,
        image: Some([images.height, images.width]),
        no_header: false,
        delimiter: None,
        decimal_comma: false,
        encoding: None,
    };
    let x = images.matrix(file)?;
    let (warnings, source) = (Vec::new(), file.to_owned());
    Ok(Dataset { x, y, weights: None, queries: None, schema, warnings, source })
}

/// Reads images, and labels if their file is there, with the schema of training.
pub(crate) fn read_with(
    bytes: &[u8],
    file: &str,
    source: Option<&Path>,
    options: &ReadOptions,
    schema: &Schema,
) -> Result<Dataset, Error> {
    one_label(schema.target, file)?;
    let images = Images::parse(bytes, file)?;
    if schema.image != Some([images.height, images.width]) {
        let [height, width] = schema.image.unwrap_or_default();
        let message = format!(
            "images of {} × {}, but the model was trained on {height} × {width}",
            images.height, images.width
        );
        return Err(Error::new(ErrorKind::Schema, file, message));
    }
    let path =
        labels_path(source, options).filter(|path| options.labels_file.is_some() || path.exists());
    let labels = path.map(|path| read_labels(&path, images.n, file)).transpose()?;
    let mut warnings = Vec::new();
    let y = match labels {
        None => Targets::None,
        Some(labels) if schema.target == TargetKind::Real => {
            Targets::Real(labels.into_iter().map(f64::from).collect())
        }
        Some(labels) => {
            let mut index = ClassIndex::new(&schema.classes);
            let ids = labels.into_iter().map(|l| index.id_of_number(l.into())).collect();
            warnings.extend(index.warning(file, schema.target));
            Targets::Classes(ids)
        }
    };
    let x = images.matrix(file)?;
    let schema = schema.clone();
    Ok(Dataset { x, y, weights: None, queries: None, schema, warnings, source: file.to_owned() })
}

fn one_label(target: TargetKind, file: &str) -> Result<(), Error> {
    let message = match target {
        TargetKind::Classes | TargetKind::Real => return Ok(()),
        TargetKind::Labels => {
            "IDX has one label per image; multilabel data comes as libsvm, csv, tsv or jsonl"
        }
        TargetKind::Grades => "IDX has no queries; ranking data comes as letor, csv, tsv or jsonl",
    };
    Err(Error::new(ErrorKind::Label, file, message))
}

/// Where the labels are: as said, or beside the images by the usual names.
fn labels_path(source: Option<&Path>, options: &ReadOptions) -> Option<PathBuf> {
    if let Some(path) = &options.labels_file {
        return Some(path.clone());
    }
    let source = source?;
    let name = source.file_name()?.to_str()?;
    let labels = name.replace("images-idx3", "labels-idx1").replace("images.idx3", "labels.idx1");
    if labels == name {
        return None;
    }
    let path = source.with_file_name(&labels);
    // One of the pair may be compressed and the other not.
    let other = match labels.strip_suffix(".gz") {
        Some(bare) => source.with_file_name(bare),
        None => source.with_file_name(format!("{labels}.gz")),
    };
    Some(if !path.exists() && other.exists() { other } else { path })
}

fn read_labels(path: &Path, n_images: usize, images: &str) -> Result<Vec<u8>, Error> {
    let source = Source::from(path);
    let file = source.name();
    let bytes = source.open()?;
    let (lengths, labels) = header(&bytes, &file)?;
    if lengths.len() != 1 {
        let message = format!("an IDX file of rank {}, not of labels (rank 1)", lengths.len());
        return Err(Error::new(ErrorKind::Format, &file, message));
    }
    if labels.len() != n_images {
        let (labels, n_images) = (thousands(labels.len()), thousands(n_images));
        let message = format!("{labels} labels for the {n_images} images of {images}");
        return Err(Error::new(ErrorKind::Label, &file, message));
    }
    Ok(labels.to_vec())
}

struct Images<'a> {
    n: usize,
    height: usize,
    width: usize,
    pixels: &'a [u8],
}

impl<'a> Images<'a> {
    fn parse(bytes: &'a [u8], file: &str) -> Result<Self, Error> {
        let (lengths, pixels) = header(bytes, file)?;
        let [n, height, width] = lengths[..] else {
            let what = if lengths.len() == 1 { " (labels?)" } else { "" };
            let message = format!(
                "an IDX file of rank {}{what}; name the file of images, which has rank 3",
                lengths.len()
            );
            return Err(Error::new(ErrorKind::Format, file, message));
        };
        if n == 0 || height == 0 || width == 0 {
            let message = format!("no images: the header says {n} of {height} × {width}");
            return Err(Error::new(ErrorKind::Empty, file, message));
        }
        Ok(Self { n, height, width, pixels })
    }

    /// Bytes over 255; sparse where fewer than half are not 0.
    fn matrix(&self, file: &str) -> Result<Matrix, Error> {
        let values: [f32; 256] = std::array::from_fn(|b| b as f32 / 255.0);
        let n_features = self.height * self.width;
        let nnz = self.pixels.iter().filter(|&&b| b != 0).count();
        let matrix = if 2 * nnz < self.pixels.len() {
            let mut indptr = Vec::with_capacity(self.n + 1);
            indptr.push(0);
            let (mut idx, mut val) = (Vec::with_capacity(nnz), Vec::with_capacity(nnz));
            for image in self.pixels.chunks_exact(n_features) {
                for (j, &b) in (0..).zip(image).filter(|(_, b)| **b != 0) {
                    idx.push(j);
                    val.push(values[usize::from(b)]);
                }
                indptr.push(idx.len());
            }
            Csr::new(n_features, indptr, idx, val).map(Matrix::Sparse)
        } else {
            let val = self.pixels.iter().map(|&b| values[usize::from(b)]).collect();
            Dense::new(self.n, n_features, val).map(Matrix::Dense)
        };
        matrix.map_err(|e| Error::new(ErrorKind::Value, file, e.to_string()))
    }
}

/// The lengths and the bytes after them, which are as many as the lengths say.
fn header<'a>(bytes: &'a [u8], file: &str) -> Result<(Vec<usize>, &'a [u8]), Error> {
    let refuse = |message: String| Err(Error::new(ErrorKind::Format, file, message));
    let [0, 0, kind, rank, rest @ ..] = bytes else {
        let shown = &bytes[..bytes.len().min(4)];
        return refuse(format!("not an IDX file: it starts with {shown:02x?}, not [00, 00, …]"));
    };
    if *kind != 8 {
        return refuse(format!("IDX values of type 0x{kind:02x}; only bytes (0x08) are read"));
    }
    let n_header = 4 * usize::from(*rank);
    let Some((lengths, values)) = rest.split_at_checked(n_header) else {
        return refuse(format!("cut short in the header: rank {rank} needs {n_header} more bytes"));
    };
    let lengths: Vec<usize> = lengths
        .chunks_exact(4)
        .map(|c| c.iter().fold(0, |n, &b| (n << 8) | usize::from(b)))
        .collect();
    let expected = lengths.iter().try_fold(1usize, |n, &len| n.checked_mul(len));
    if expected != Some(values.len()) {
        let says = lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
        let found = thousands(values.len());
        return refuse(format!(
            "the header says {says} bytes but {found} are there; the file is cut short or not IDX"
        ));
    }
    Ok((lengths, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idx(lengths: &[u32], values: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, lengths.len() as u8];
        bytes.extend(lengths.iter().flat_map(|len| len.to_be_bytes()));
        bytes.extend(values);
        bytes
    }

    #[test]
    fn images_find_their_labels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t-images-idx3-ubyte");
        let images = idx(&[2, 1, 3], &[0, 255, 51, 0, 0, 0]);
        std::fs::write(&path, &images).unwrap();
        let options = ReadOptions::default();
        let error = crate::read(&path, &options).unwrap_err();
        assert!(error.file.ends_with("t-labels-idx1-ubyte"), "{error}");
        std::fs::write(folder.path().join("t-labels-idx1-ubyte"), idx(&[2], &[7, 3])).unwrap();
        let d = crate::read(&path, &options).unwrap();
        assert_eq!(d.schema.classes, ["3", "7"]);
        assert_eq!(d.y, Targets::Classes(vec![1, 0]));
        assert_eq!(d.x.row(0), lineal_linalg::Row::sparse(&[1, 2], &[1.0, 0.2]).unwrap());
        assert_eq!(d.schema.feature_name(2), "r0c2");

        let alone = Source::Memory { name: "x.idx".into(), bytes: images };
        let t = crate::read_with(&alone, &options, &d.schema).unwrap();
        assert_eq!(t.y, Targets::None);
        assert!(crate::read(&alone, &options).unwrap_err().message.contains("options.labels_file"));
    }

    #[test]
    fn hostile_headers_are_refused() {
        for (bytes, said) in [
            (idx(&[u32::MAX, u32::MAX, u32::MAX], &[1]), "cut short"),
            (idx(&[u32::MAX; 200], &[]), "cut short"),
            (idx(&[1, 2, 2], &[1, 2, 3]), "cut short"),
            (idx(&[2], &[1, 2]), "rank 1 (labels?)"),
            (idx(&[0, 2, 2], &[]), "no images"),
            (vec![0, 0, 13, 3], "type 0x0d"),
            (vec![0, 0, 8, 3, 1], "header"),
            (vec![1, 2], "not an IDX file"),
        ] {
            let source = Source::Memory { name: "x.idx".into(), bytes };
            let error = crate::read(source, &ReadOptions::default()).unwrap_err();
            assert!(error.message.contains(said), "{error} / {said}");
        }
    }
}
