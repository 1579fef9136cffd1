//! Lists, folders, masks, and what is wrong with them.

use std::fs;
use std::path::Path;

use super::*;
use crate::error::{Error, ErrorKind};
use image::{DynamicImage, GrayImage, ImageFormat, RgbImage};

/// An image of a size whose pixels all differ.
fn picture(width: u32, height: u32) -> DynamicImage {
    RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, 7])).into()
}

fn grey(width: u32, height: u32, f: impl Fn(u32, u32) -> u8) -> DynamicImage {
    GrayImage::from_fn(width, height, |x, y| image::Luma([f(x, y)])).into()
}

fn save(image: &DynamicImage, folder: &Path, name: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    image.save(path).unwrap();
}

fn open(path: &Path) -> Result<ImageSet, Error> {
    ImageSet::open(path, &ImageReadOptions::default())
}

/// What is wrong with a list.
fn refused(folder: &Path, list: &str, options: &ImageReadOptions) -> Error {
    fs::write(folder.join("list.tsv"), list).unwrap();
    ImageSet::open(folder.join("list.tsv"), options).unwrap_err()
}

#[test]
fn lists_name_images_masks_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    save(&picture(5, 4), at, "in/a.ppm");
    save(&grey(5, 4, |x, _| (x > 2) as u8), at, "in/a.pgm");
    save(&picture(3, 3), at, "b.png");
    fs::write(at.join("list.tsv"), "image\tmask\tweight\nin/a.ppm\tin/a.pgm\t2.5\r\n\nb.png\n")
        .unwrap();
    let set = open(&at.join("list.tsv")).unwrap();
    assert_eq!((set.len(), set.size(0), set.size(1)), (2, (5, 4), (3, 3)));
    assert_eq!((set.weight(0), set.weight(1)), (2.5, 1.0));
    assert_eq!((set.n_pixels(), set.memory()), (29, 29 * 7));
    let image = set.read(0).unwrap();
    assert_eq!(&image.rgb[..9], [0, 0, 7, 1, 0, 7, 2, 0, 7]);
    let schema = set.learn_masks().unwrap();
    assert_eq!(schema.names(), ["0", "1"]);
    assert_eq!(set.read_labels(0, &schema).unwrap().unwrap()[..5], [0, 0, 0, 1, 1]);
    assert_eq!(set.read_labels(1, &schema).unwrap(), None);
}

#[test]
fn folders_find_masks_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mask = grey(2, 2, |x, _| x as u8);
    for name in ["set/a.png", "set/b.jpg", "set/c.ppm", "set/d.png", "set/e.png", "set/f.png"] {
        save(&picture(2, 2), at, name);
    }
    for name in [
        "set/a.mask.png",
        "set/b_mask.png",
        "set/c.pgm",
        "set/masks/d.png",
        "masks/e.pgm",
        "set/g.pgm",
    ] {
        save(&mask, at, name);
    }
    fs::write(at.join("set/notes.txt"), "not an image").unwrap();
    let set = open(&at.join("set")).unwrap();
    let stem = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let found: Vec<(String, Option<String>)> =
        (0..set.len()).map(|i| (stem(set.path(i)), set.mask_path(i).map(stem))).collect();
    let expected = [
        ("a.png", Some("a.mask.png")),
        ("b.jpg", Some("b_mask.png")),
        ("c.ppm", Some("c.pgm")),
        ("d.png", Some("d.png")),
        ("e.png", Some("e.pgm")),
        ("f.png", None),
        ("g.pgm", None),
    ];
    assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.map(str::to_owned))));
    // One image by itself.
    assert_eq!(open(&at.join("set/c.ppm")).unwrap().mask_path(0), Some(&*at.join("set/c.pgm")));
    // What cannot be told apart is refused.
    save(&mask, at, "set/a_mask.png");
    assert!(open(&at.join("set")).unwrap_err().message.contains("two masks"));
    fs::remove_file(at.join("set/a_mask.png")).unwrap();
    save(&picture(2, 2), at, "set/b.png");
    assert!(open(&at.join("set")).unwrap_err().message.contains("same name"));
}

#[test]
fn masks_have_grey_values_colours_thresholds_and_void() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    save(&picture(3, 1), at, "a.ppm");
    let colours = [[255, 0, 0], [9, 9, 9], [0, 0, 255]];
    save(&RgbImage::from_fn(3, 1, |x, _| image::Rgb(colours[x as usize])).into(), at, "a.mask.png");
    let options = ImageReadOptions { void: vec![MaskValue::Grey(9)], ..Default::default() };
    let set = ImageSet::open(at, &options).unwrap();
    let schema = set.learn_masks().unwrap();
    assert_eq!(schema.names(), ["#0000ff", "#ff0000"]);
    let labels = set.read_labels(0, &schema).unwrap().unwrap();
    assert_eq!(labels, [1, VOID, 0]);
    // Encoding gives back the same colours.
    let bytes = schema.encode(3, 1, &labels).unwrap();
    let decoded = image::load_from_memory_with_format(&bytes, ImageFormat::Png).unwrap();
    assert_eq!(decoded.to_rgb8().into_raw(), colours.concat());

    save(&grey(3, 1, |x, _| [120, 127, 250][x as usize]), at, "a.mask.png");
    let options = ImageReadOptions { threshold: Some(127), ..Default::default() };
    let set = ImageSet::open(at, &options).unwrap();
    let schema = set.learn_masks().unwrap();
    assert_eq!(schema.names(), ["background", "foreground"]);
    let labels = set.read_labels(0, &schema).unwrap().unwrap();
    assert_eq!(labels, [0, 1, 1]);
    let bytes = schema.encode(3, 1, &labels).unwrap();
    let decoded = image::load_from_memory_with_format(&bytes, ImageFormat::Png).unwrap();
    assert_eq!(decoded, grey(3, 1, |x, _| [0, 255, 255][x as usize]));

    let labels = vec!["sky=120".parse().unwrap(), "ground=127".parse().unwrap()];
    let options = ImageReadOptions { labels, ..Default::default() };
    let set = ImageSet::open(at, &options).unwrap();
    let error = set.read_labels(0, &set.learn_masks().unwrap()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Label);
    assert!(error.message.contains("value 250 at pixel (2, 0)"), "{error}");
    assert!(error.message.contains("sky=120, ground=127"), "{error}");
}

#[test]
fn errors_name_the_line_and_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    save(&picture(4, 4), at, "a.png");
    save(&grey(4, 3, |_, _| 0), at, "small.png");
    let options = ImageReadOptions::default();
    let error = refused(at, "a.png\n\ngone.png\n", &options);
    assert_eq!((error.line, error.kind), (Some(3), ErrorKind::Io));
    assert!(
        error.message.contains("gone.png") && error.message.contains("relative to the list"),
        "{error}"
    );
    let error = refused(at, "a.png\tsmall.png\n", &options);
    assert!(error.message.contains("4×3") && error.message.contains("4×4"), "{error}");
    assert_eq!(error.kind, ErrorKind::Size);
    let error = refused(at, "a.png\t\t-1\n", &options);
    assert_eq!((error.line, error.kind), (Some(1), ErrorKind::Weight));
    assert_eq!(refused(at, "\tsmall.png\n", &options).kind, ErrorKind::Columns);
    assert_eq!(refused(at, "a.png\t\t1\t2\n", &options).kind, ErrorKind::Columns);
    assert_eq!(refused(at, "\n", &options).kind, ErrorKind::Empty);
    let error =
        refused(at, "a.png\n", &ImageReadOptions { require_masks: true, ..Default::default() });
    assert_eq!((error.line, error.kind), (Some(1), ErrorKind::Label));
    fs::write(at.join("text.png"), "no image").unwrap();
    let error = refused(at, "a.png\ntext.png\n", &options);
    assert_eq!((error.line, error.kind), (Some(2), ErrorKind::Format));
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(open(empty.path()).unwrap_err().kind, ErrorKind::Empty);
}

#[test]
fn large_images_are_refused_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    // A header is all there is.
    fs::write(folder.path().join("a.ppm"), "P6 20000 20000 255\n").unwrap();
    let error = open(folder.path()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Size);
    assert!(error.message.contains("20000×20000") && error.message.contains("2.8 GB"), "{error}");
    let options = ImageReadOptions { max_pixels: 1 << 30, ..Default::default() };
    let set = ImageSet::open(folder.path(), &options).unwrap();
    assert_eq!(set.memory(), 2_800_000_000);
}

#[test]
fn broken_images_are_errors_wherever_they_break() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["a.ppm", "a.png", "a.jpg"] {
        let file = at.join(name);
        save(&picture(40, 30), at, name);
        let whole = fs::read(&file).unwrap();
        assert!(open(&file).unwrap().read(0).is_ok());
        // Without its last 12 bytes a PNG still has all its pixels.
        for cut in [0, 1, 5, 20, whole.len() / 2, whole.len() - 20] {
            fs::write(&file, &whole[..cut]).unwrap();
            let read = open(&file).and_then(|set| set.read(0));
            assert!(read.is_err(), "{name} cut at {cut}");
        }
    }
}

#[test]
fn transparent_pixels_of_scribbles_are_not_marked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    save(&picture(3, 1), at, "a.png");
    // Black is a label's value, and most of a scribble's canvas, too.
    let scribble = image::RgbaImage::from_fn(3, 1, |x, _| match x {
        0 => image::Rgba([0, 0, 0, 0]),
        1 => image::Rgba([0, 0, 0, 255]),
        _ => image::Rgba([255, 255, 255, 255]),
    });
    save(&scribble.into(), at, "a_mask.png");
    let set = open(&at.join("a.png")).unwrap();
    let schema = set.learn_masks().unwrap();
    assert_eq!(schema.names(), ["0", "255"]);
    assert_eq!(set.read_known(0, &schema).unwrap().unwrap(), [VOID, 0, 1]);
}

#[test]
fn values_that_are_no_label_are_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    save(&picture(4, 1), at, "a.png");
    save(&grey(4, 1, |x, _| [0, 255, 7, 9][x as usize]), at, "a_mask.png");
    let set = open(&at.join("a.png")).unwrap();
    let label = |text: &str| text.parse::<MaskLabel>().unwrap();
    let schema = MaskSchema { labels: vec![label("a=0"), label("b=255")], ..Default::default() };
    let (labels, unseen) = set.read_labels_and_unseen(0, &schema).unwrap().unwrap();
    assert_eq!((labels, unseen), (vec![0, 1, 2, 2], Some(MaskValue::Grey(7))));
    assert!(set.read_labels(0, &schema).is_err());
}

#[test]
fn images_of_other_kinds_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    save(&picture(2, 2), at, "a.png");
    for (name, bytes, kind) in [
        ("b.bmp", &b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\xff\xff"[..], "BMP"),
        ("c.gif", b"GIF89a\x01\0\x01\0\xff\xff\xff\xff\xff\xff", "GIF"),
        ("d.webp", b"RIFF\x46\0\0\0WEBPVP8 \xff\xff", "WebP"),
    ] {
        fs::write(at.join(name), bytes).unwrap();
        let error = open(&at.join(name)).unwrap_err().to_string();
        assert!(error.contains(&format!("a {kind} image")) && error.contains("PNG"), "{error}");
    }
    let set = open(at).unwrap();
    assert_eq!((set.len(), set.n_skipped()), (1, 3));
}
