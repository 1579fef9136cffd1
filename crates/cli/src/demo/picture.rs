//! `lineal demo four-classes --picture FILE.svg`: what three strategies, or maps, make of a set in the plane, side by side.

use std::fmt::Write;

use lineal::map::MapSpec;
use lineal::{
    Dataset, FeatureSpec, Model, Predicted, Source, Strategy, Targets, TrainSpec, Training,
    read_features, train,
};

use super::regions::{Point, classify, regions};
use crate::rows::request::RowOptions;
use crate::train::request::Request;

/// Sides of a panel, of its margins, and of the line with its title.
const SIDE: f64 = 300.0;
const MARGIN: f64 = 14.0;
const TITLE: f64 = 34.0;
const KEYS: f64 = 34.0;
/// A region's colour, and that of its points.
const COLOURS: [[&str; 2]; 4] = [
    ["#cfe0f7", "#1f5fbf"],
    ["#fbdcc0", "#c2570c"],
    ["#cdebdc", "#11734f"],
    ["#e6d5f2", "#7b2fa8"],
];

/// Squares that a side is cut into, where borders are curved.
const SQUARES: usize = 150;

/// A strategy, or a map, on the set.
pub struct Try {
    name: String,
    pub model: Model,
    pub wrong: Vec<bool>,
}

impl Try {
    /// Training rows that are not classified as they should be.
    pub fn n_wrong(&self) -> usize {
        self.wrong.iter().filter(|wrong| **wrong).count()
    }

    /// `one-vs-all (ova): 7 of 200 wrong`.
    pub fn title(&self) -> String {
        format!("{}: {} of {} wrong", self.name, self.n_wrong(), self.wrong.len())
    }

    fn new(name: String, model: Model, data: &Dataset) -> Self {
        let wrong = match (model.predict(data), &data.y) {
            (Ok(Predicted::Classes(y_hat)), Targets::Classes(y)) => {
                y_hat.iter().zip(y).map(|(a, b)| a != b).collect()
            }
            _ => Vec::new(),
        };
        Self { name, model, wrong }
    }
}

/// Three maps where the request has one, else three strategies.
pub fn tries(source: &Source, request: &Request<RowOptions>) -> Result<Vec<Try>, lineal::Error> {
    match request.options.features.map {
        Some(_) => by_map(source, request),
        None => by_strategy(&lineal::read(source.clone(), &request.options.read)?, &request.spec),
    }
}

/// What the tries have in common, to put in front of them.
pub fn heading(request: &Request<RowOptions>) -> &'static str {
    match request.options.features.map {
        Some(_) => "The same loss by three maps, on the rows that it was trained on:",
        None => "The same loss by three strategies, on the rows that it was trained on:",
    }
}

/// No map, products of two, and random Fourier features.
fn by_map(source: &Source, request: &Request<RowOptions>) -> Result<Vec<Try>, lineal::Error> {
    let poly = MapSpec::Poly { degree: 2 };
    let rff = MapSpec::Rff { n_features: 100, gamma: None };
    let one = |map: Option<MapSpec>| {
        let spec = FeatureSpec { map, ..request.options.features.clone() };
        let (data, features) = read_features(source.clone(), &request.options.read, &spec)?;
        let (model, _) = Training::new(&data, &request.spec).features(&features).run()?;
        let name = map.map_or("no map".to_owned(), |map| map.to_string());
        Ok(Try::new(name, model, &data))
    };
    [None, Some(poly), Some(rff)].into_iter().map(one).collect()
}

/// Joint, one-vs-all and one-vs-one, each by the same loss and penalty. To so small a gap that no point's side depends on where training stopped.
fn by_strategy(data: &Dataset, spec: &TrainSpec) -> Result<Vec<Try>, lineal::Error> {
    let tol = spec.tol.min(1e-6);
    let one = |strategy| {
        let (model, _) = train(data, &TrainSpec { strategy, tol, ..spec.clone() })?;
        let name = match strategy {
            Strategy::Joint => "joint",
            Strategy::Ova => "one-vs-all (ova)",
            Strategy::Ovo => "one-vs-one (ovo)",
            other => other.as_str(),
        };
        Ok(Try::new(name.to_owned(), model, data))
    };
    [Strategy::Joint, Strategy::Ova, Strategy::Ovo].into_iter().map(one).collect()
}

/// The whole file.
pub fn svg(tries: &[Try], data: &Dataset) -> anyhow::Result<String> {
    let points = points(data);
    let frame = frame(&points);
    let (width, height) = (tries.len() as f64 * (SIDE + MARGIN) + MARGIN, TITLE + SIDE + KEYS);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" role=\"img\">\n<title>Decision regions of {}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        tries.iter().map(Try::title).collect::<Vec<_>>().join("; ")
    );
    for (i, one) in tries.iter().enumerate() {
        let left = MARGIN + i as f64 * (SIDE + MARGIN);
        panel(&mut svg, one, &points, data, frame, left)?;
    }
    keys(&mut svg, data, height - 13.0);
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn points(data: &Dataset) -> Vec<Point> {
    (0..data.n_rows())
        .map(|i| {
            let mut point = [0.0; 2];
            data.x.row(i).for_each(|j, v| point[j] = f64::from(v));
            point
        })
        .collect()
}

/// A square around all points, with room.
fn frame(points: &[Point]) -> [Point; 2] {
    let range = |i: usize| {
        let values = || points.iter().map(move |p| p[i]);
        [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)]
    };
    let ranges = [range(0), range(1)];
    let half = 0.55 * ranges.iter().map(|[lo, hi]| hi - lo).fold(0.0, f64::max);
    let middle = ranges.map(|[lo, hi]| (lo + hi) / 2.0);
    [middle.map(|m| m - half), middle.map(|m| m + half)]
}

fn panel(
    svg: &mut String,
    one: &Try,
    points: &[Point],
    data: &Dataset,
    [low, high]: [Point; 2],
    left: f64,
) -> anyhow::Result<()> {
    let place = |p: &Point| {
        let x = left + SIDE * (p[0] - low[0]) / (high[0] - low[0]);
        (x, TITLE + SIDE * (high[1] - p[1]) / (high[1] - low[1]))
    };
    let title = one.title();
    let middle = left + SIDE / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"22\" text-anchor=\"middle\" font-size=\"15\" fill=\"#1d2129\">{title}</text>"
    );
    if one.model.features().map().is_some() {
        squares(svg, &one.model, [low, high], left)?;
    }
    for piece in linear_pieces(&one.model, [low, high])? {
        let corners: Vec<String> =
            piece.corners.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let colour = COLOURS[piece.class as usize % COLOURS.len()][0];
        // The stroke hides the seams between pieces.
        let _ = writeln!(
            svg,
            "<polygon points=\"{}\" fill=\"{colour}\" stroke=\"{colour}\" stroke-width=\"0.7\"/>",
            corners.join(" ")
        );
    }
    let Targets::Classes(y) = &data.y else { return Ok(()) };
    for ((point, class), wrong) in points.iter().zip(y).zip(&one.wrong) {
        let (x, y) = place(point);
        let colour = COLOURS[*class as usize % COLOURS.len()][1];
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"/>");
        if *wrong {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"none\" stroke=\"#111\" stroke-width=\"1.2\"/>"
            );
        }
    }
    let _ = writeln!(
        svg,
        "<rect x=\"{left}\" y=\"{TITLE}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#c9ccd1\"/>"
    );
    Ok(())
}

/// Straight borders, where there are such.
fn linear_pieces(model: &Model, frame: [Point; 2]) -> anyhow::Result<Vec<super::regions::Piece>> {
    if model.features().map().is_some() { Ok(Vec::new()) } else { regions(model, frame) }
}

/// Curved borders: small squares, those side by side as one.
fn squares(
    svg: &mut String,
    model: &Model,
    [low, high]: [Point; 2],
    left: f64,
) -> anyhow::Result<()> {
    let at = |i: usize, axis: usize| {
        low[axis] + (i as f64 + 0.5) / SQUARES as f64 * (high[axis] - low[axis])
    };
    let mut points = Vec::with_capacity(SQUARES * SQUARES);
    for y in 0..SQUARES {
        points.extend((0..SQUARES).map(|x| [at(x, 0), at(SQUARES - 1 - y, 1)]));
    }
    let classes = classify(model, &points)?;
    let side = SIDE / SQUARES as f64;
    for class in 0..model.classes().len() as u32 {
        let mut path = String::new();
        for (y, row) in classes.chunks(SQUARES).enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|a, b| a == b) {
                if run[0] == class {
                    let (from, top) = (left + x as f64 * side, TITLE + y as f64 * side);
                    let _ = write!(
                        path,
                        "M{from:.0} {top:.0}h{:.0}v{side}h-{0:.0}z",
                        run.len() as f64 * side
                    );
                }
                x += run.len();
            }
        }
        let colour = COLOURS[class as usize % COLOURS.len()][0];
        let _ = writeln!(svg, "<path d=\"{path}\" fill=\"{colour}\"/>");
    }
    Ok(())
}

fn keys(svg: &mut String, data: &Dataset, y: f64) {
    let mut x = MARGIN + 6.0;
    let mut key = |mark: String, name: &str| {
        let _ = writeln!(
            svg,
            "<g transform=\"translate({x} {y})\">{mark}<text x=\"10\" y=\"4\" font-size=\"13\" fill=\"#444a55\">{name}</text></g>"
        );
        x += 34.0 + 7.5 * name.len() as f64;
    };
    for (class, name) in data.schema.classes.iter().enumerate() {
        let colour = COLOURS[class % COLOURS.len()][1];
        key(format!("<circle r=\"4\" fill=\"{colour}\"/>"), name);
    }
    key("<circle r=\"5\" fill=\"none\" stroke=\"#111\" stroke-width=\"1.2\"/>".to_owned(), "wrong");
}
