//! The regions of the plane that a model of two features gives to each class, as polygons.
//!
//! Where a model decides by comparing linear functions, borders are straight: between two scores where they are equal,
//! between two classes of a duel where its score is 0. The plane is cut along all of these lines, and the model is asked
//! once in each piece. Duels may end in a tie of votes, which summed scores break along other lines: a piece whose corners
//! disagree is cut further until it is too small to see.

use anyhow::bail;
use lineal::{Model, Predicted, ReadOptions, Source, Strategy};

/// Times that a piece with more than one class is cut.
const DEPTH: usize = 6;

pub type Point = [f64; 2];

/// A convex piece of the plane, and its class.
pub struct Piece {
    pub corners: Vec<Point>,
    pub class: u32,
}

/// All pieces of the rectangle between two corners.
pub fn regions(model: &Model, [low, high]: [Point; 2]) -> anyhow::Result<Vec<Piece>> {
    let mut polygons = vec![vec![low, [high[0], low[1]], high, [low[0], high[1]]]];
    for line in borders(model) {
        polygons = polygons.iter().flat_map(|polygon| cut(polygon, line)).collect();
    }
    let mut pieces = Vec::new();
    for depth in 0..=DEPTH {
        // The middle of each piece, then its corners, a little inside.
        let inside: Vec<Vec<Point>> = polygons.iter().map(|polygon| probes(polygon)).collect();
        let classes = classify(model, &inside.concat())?;
        let mut classes = classes.as_slice();
        let mut rest = Vec::new();
        for (polygon, probes) in polygons.iter().zip(&inside) {
            let (own, others) = classes.split_at(probes.len());
            classes = others;
            if depth == DEPTH || own.iter().all(|class| *class == own[0]) {
                pieces.push(Piece { corners: polygon.clone(), class: own[0] });
            } else {
                rest.extend(fan(polygon, probes[0]));
            }
        }
        polygons = rest;
    }
    Ok(pieces)
}

/// The classes of points of the plane.
pub fn classify(model: &Model, points: &[Point]) -> anyhow::Result<Vec<u32>> {
    if points.is_empty() {
        return Ok(Vec::new());
    }
    let mut csv = String::from("x,y\n");
    points.iter().for_each(|[x, y]| csv.push_str(&format!("{x},{y}\n")));
    let source = Source::Memory { name: "points.csv".into(), bytes: csv.into_bytes() };
    match model.predict(&model.read(source, &ReadOptions::default())?)? {
        Predicted::Classes(classes) => Ok(classes),
        _ => bail!("a picture is of classes"),
    }
}

/// Lines a·x + b·y + c = 0 along which the model may change its mind.
fn borders(model: &Model) -> Vec<[f64; 3]> {
    let bias = model.bias();
    let columns: Vec<[f64; 3]> = bias
        .iter()
        .enumerate()
        .map(|(l, bias)| [model.weight(0, l), model.weight(1, l), *bias])
        .collect();
    if model.report().strategy == Strategy::Ovo {
        return columns;
    }
    let mut lines = Vec::new();
    for (a, one) in columns.iter().enumerate() {
        let minus = |other: &[f64; 3]| [0, 1, 2].map(|i| one[i] - other[i]);
        lines.extend(columns[a + 1..].iter().map(minus));
    }
    lines
}

/// The parts of a polygon on both sides of a line, where there are any.
fn cut(polygon: &[Point], line: [f64; 3]) -> Vec<Vec<Point>> {
    let side = |p: &Point| line[0] * p[0] + line[1] * p[1] + line[2];
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for (i, p) in polygon.iter().enumerate() {
        let q = &polygon[(i + 1) % polygon.len()];
        let (at_p, at_q) = (side(p), side(q));
        if at_p >= 0.0 {
            above.push(*p);
        }
        if at_p <= 0.0 {
            below.push(*p);
        }
        if at_p * at_q < 0.0 {
            let t = at_p / (at_p - at_q);
            let border = [0, 1].map(|i| p[i] + t * (q[i] - p[i]));
            above.push(border);
            below.push(border);
        }
    }
    [above, below].into_iter().filter(|part| area(part) > 1e-9).collect()
}

fn area(polygon: &[Point]) -> f64 {
    let twice: f64 = polygon
        .iter()
        .zip(polygon.iter().cycle().skip(1))
        .map(|(p, q)| p[0] * q[1] - q[0] * p[1])
        .sum();
    twice.abs() / 2.0
}

fn probes(polygon: &[Point]) -> Vec<Point> {
    let n = polygon.len() as f64;
    let middle = [0, 1].map(|i| polygon.iter().map(|p| p[i]).sum::<f64>() / n);
    let inside = |p: &Point| [0, 1].map(|i| p[i] + 0.02 * (middle[i] - p[i]));
    [middle].into_iter().chain(polygon.iter().map(inside)).collect()
}

/// Triangles around a point inside.
fn fan(polygon: &[Point], middle: Point) -> Vec<Vec<Point>> {
    polygon
        .iter()
        .zip(polygon.iter().cycle().skip(1))
        .map(|(p, q)| vec![middle, *p, *q])
        .filter(|triangle| area(triangle) > 1e-9)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_the_area() {
        let square = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let parts = cut(&square, [1.0, 1.0, -0.5]);
        assert_eq!(parts.len(), 2);
        assert!((parts.iter().map(|p| area(p)).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(cut(&square, [1.0, 0.0, 3.0]).len(), 1);
        // Along an edge there is nothing to cut off.
        assert_eq!(cut(&square, [1.0, 0.0, 0.0]).len(), 1);
        assert!(
            (fan(&square, [0.5, 0.5]).iter().map(|p| area(p)).sum::<f64>() - 1.0).abs() < 1e-12
        );
    }
}
