//! Masks as files, and labels as lines.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lineal::data::{ImageSet, RgbPixels, png};
use lineal::{Scene, SceneKind, SceneSchema, SegmentModel, Segmented};
use serde_json::{Map, Value, json};

use super::picture::{overlay, shades};
use crate::args::{Output, PredictArgs};
use crate::table::quoted;

/// Writes answers one after the other: masks into a folder, and a line for each image or graph.
pub struct Writer<'m> {
    model: &'m SegmentModel,
    form: Output,
    out: Option<PathBuf>,
    overlay: bool,
    begun: bool,
    /// Files that were written, so that two images of one name do not overwrite each other.
    written: std::collections::HashSet<PathBuf>,
}

/// Whether an output is one mask, and not a folder of them.
pub fn is_one_mask(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
}

/// Whether an output is named like a file that is not a mask.
pub fn is_other_file(out: &Path) -> bool {
    const FILES: [&str; 19] = [
        "csv", "tsv", "txt", "json", "jsonl", "ndjson", "html", "gz", "zst", "jpg", "jpeg", "ppm",
        "pgm", "pnm", "bmp", "gif", "webp", "tif", "tiff",
    ];
    let extension = out.extension().and_then(|e| e.to_str()).unwrap_or_default();
    !out.is_dir() && FILES.iter().any(|file| extension.eq_ignore_ascii_case(file))
}

/// Where the mask of an image stands in a folder.
fn mask_in(folder: &Path, image: &Path) -> PathBuf {
    let stem = image.file_stem().unwrap_or(image.as_os_str()).to_string_lossy();
    folder.join(format!("{stem}.mask.png"))
}

/// Refuses images of which two would have the same mask, before any is written.
pub fn check_names(images: &ImageSet, folder: &Path) -> anyhow::Result<()> {
    let mut seen = std::collections::HashMap::new();
    for image in (0..images.len()).map(|i| images.path(i)) {
        if let Some(other) = seen.insert(mask_in(folder, image), image) {
            anyhow::bail!(
                "{} and {} would have the same mask {}: give them different names, or predict them one by one",
                other.display(),
                image.display(),
                mask_in(folder, image).display()
            );
        }
    }
    Ok(())
}

impl<'m> Writer<'m> {
    pub fn new(model: &'m SegmentModel, args: &PredictArgs) -> Self {
        let is_images = matches!(model.schema(), SceneSchema::Images(_));
        Self {
            model,
            form: args.output,
            out: args.out.clone().filter(|_| is_images),
            overlay: args.segment.overlay,
            begun: false,
            written: Default::default(),
        }
    }

    pub fn write(
        &mut self,
        out: &mut dyn Write,
        scene: &Scene,
        found: &Segmented,
    ) -> io::Result<()> {
        let mask = match (&scene.kind, self.out.clone()) {
            (SceneKind::Image(path, image), Some(to)) => {
                Some(self.write_files(&to, path, image, found)?)
            }
            _ => None,
        };
        let first = !std::mem::replace(&mut self.begun, true);
        let name = |path: &Path| path.display().to_string();
        match (self.form, &scene.kind) {
            // With a mask the lines are a list as --task segment reads them.
            (Output::Text, SceneKind::Image(..)) => match mask {
                Some(mask) => writeln!(out, "{}\t{}", scene.name, name(&mask)),
                None => writeln!(out, "{}\t{}", scene.name, self.areas_in_words(found)),
            },
            (Output::Text, SceneKind::Graph(_)) => {
                let names: Vec<&str> = found.labels.iter().map(|&l| self.label(l)).collect();
                writeln!(out, "{}", names.join("\t"))
            }
            (Output::Csv, _) => {
                if first {
                    writeln!(out, "image,label,pixels,share")?;
                }
                self.areas(found).into_iter().try_for_each(|(label, n, share)| {
                    writeln!(out, "{},{},{n},{share}", quoted(&scene.name), quoted(label))
                })
            }
            (Output::Jsonl, _) => {
                let mut object = Map::new();
                match scene.size() {
                    Some((width, height)) => {
                        object.insert("image".into(), json!(scene.name));
                        object.insert("width".into(), json!(width));
                        object.insert("height".into(), json!(height));
                        object.insert("mask".into(), json!(mask.as_deref().map(name)));
                        let shares = self.areas(found).into_iter();
                        let shares: Map<String, Value> =
                            shares.map(|(l, _, share)| (l.to_owned(), json!(share))).collect();
                        object.insert("shares".into(), shares.into());
                        if let Some(sure) = &found.confidence {
                            let mean = sure.iter().map(|&c| f64::from(c)).sum::<f64>();
                            object.insert(
                                "confidence".into(),
                                json!(mean / sure.len().max(1) as f64),
                            );
                        }
                    }
                    None => {
                        let number = match &scene.kind {
                            SceneKind::Graph(graph) if graph.id_is_number => {
                                serde_json::from_str::<Value>(&scene.name).ok()
                            }
                            _ => None,
                        };
                        let id = number.unwrap_or_else(|| json!(scene.name));
                        object.insert("id".into(), id);
                        // The graph as it was read, so that the lines are data to train on or to compare with.
                        if let (SceneKind::Graph(graph), SceneSchema::Graphs(schema)) =
                            (&scene.kind, self.model.schema())
                        {
                            let [nodes, edges] = graph.to_json(schema);
                            object.insert("nodes".into(), nodes);
                            object.insert("edges".into(), edges);
                        }
                        if scene.weight != 1.0 {
                            object.insert("weight".into(), json!(scene.weight));
                        }
                        let names: Vec<&str> =
                            found.labels.iter().map(|&l| self.label(l)).collect();
                        object.insert("labels".into(), json!(names));
                        if let Some(sure) = &found.confidence {
                            object.insert("confidence".into(), json!(sure));
                        }
                    }
                }
                object.insert("score".into(), json!(found.score));
                object.insert("slack".into(), json!(found.slack));
                serde_json::to_writer(&mut *out, &object)?;
                writeln!(out)
            }
        }
    }

    fn label(&self, label: u8) -> &'m str {
        self.model.labels().get(usize::from(label)).map_or("", String::as_str)
    }

    /// Each label with its number of pixels and its share of all.
    fn areas(&self, found: &Segmented) -> Vec<(&'m str, usize, f64)> {
        let mut counts = vec![0usize; self.model.labels().len()];
        found.labels.iter().for_each(|&label| counts[usize::from(label)] += 1);
        let n = found.labels.len().max(1) as f64;
        let area =
            |(label, count): (usize, usize)| (self.label(label as u8), count, count as f64 / n);
        counts.into_iter().enumerate().map(area).collect()
    }

    fn areas_in_words(&self, found: &Segmented) -> String {
        let words =
            self.areas(found).into_iter().map(|(label, _, share)| format!("{label}:{share:.4}"));
        words.collect::<Vec<_>>().join("\t")
    }

    /// Writes the mask, and what else was asked for; returns where the mask is.
    fn write_files(
        &mut self,
        out: &Path,
        path: &Path,
        image: &RgbPixels,
        found: &Segmented,
    ) -> io::Result<PathBuf> {
        let SceneSchema::Images(schema) = self.model.schema() else {
            return Err(io::Error::other("the model is not one of images"));
        };
        let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        // `-o mask.png` has its further pictures beside it.
        let (mask, folder, stem) = match is_one_mask(out) {
            true => {
                let own = out.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                (out.to_owned(), out.parent().unwrap_or(Path::new("")).to_owned(), own)
            }
            false => (mask_in(out, path), out.to_owned(), stem),
        };
        if !self.written.insert(mask.clone()) {
            return Err(io::Error::other(format!(
                "two images would have the mask {}: give them different names, or predict them one by one",
                mask.display()
            )));
        }
        let (width, height) = (image.width, image.height);
        let labels: Vec<u32> = found.labels.iter().map(|&label| u32::from(label)).collect();
        let bytes = schema.encode(width, height, &labels).map_err(io::Error::other)?;
        save(&mask, &bytes)?;
        let picture = |rgb: Vec<u8>| png(width, height, rgb).map_err(io::Error::other);
        if self.overlay {
            save(
                &folder.join(format!("{stem}.overlay.png")),
                &picture(overlay(image, &found.labels))?,
            )?;
        }
        if let Some(sure) = &found.confidence {
            let least = 1.0 / self.model.labels().len() as f32;
            save(&folder.join(format!("{stem}.confidence.png")), &picture(shades(sure, least))?)?;
        }
        Ok(mask)
    }
}

fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    lineal::write_atomically(path, |out| out.write_all(bytes))
}
