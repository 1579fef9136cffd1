//! Charts of lines and dots in SVG.

use std::fmt::Write;

use super::page::escape;
use super::scale::Scale;
use crate::talk::rough;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;
/// Points of a line that are drawn at most, and that still get a dot each.
const POINTS: usize = 1000;
const DOTS: usize = 60;

/// What is drawn. Values without a place (not finite, or not over 0 on a log axis) are left out.
#[derive(Default)]
pub struct Chart<'a> {
    /// What the page's script knows it by.
    pub id: &'a str,
    /// Lines without a dot at each point.
    pub plain: bool,
    pub x_label: &'a str,
    pub y_label: &'a str,
    /// No ticks between whole numbers.
    pub whole_x: bool,
    pub log_x: bool,
    pub log_y: bool,
    /// Ends of the axes; by the data if not given.
    pub x_range: Option<(f64, f64)>,
    pub y_range: Option<(f64, f64)>,
    pub lines: Vec<Line<'a>>,
    /// Points that no line joins.
    pub dots: Vec<Dot>,
    /// What colours and marks of dots mean: colour, mark, name.
    pub legend: Vec<(usize, Mark, String)>,
    /// Vertical bars (from, to, height) behind the lines.
    pub bars: Vec<(f64, f64, f64)>,
    /// Vertical dashed rules.
    pub rules: Vec<(f64, &'a str)>,
    /// A dashed diagonal from corner to corner.
    pub diagonal: bool,
    /// A dashed horizontal line.
    pub level: Option<f64>,
}

/// One line; the first has colour 0.
pub struct Line<'a> {
    pub name: &'a str,
    pub points: Vec<(f64, f64)>,
}

/// A point with a text to hover for.
pub struct Dot {
    pub at: (f64, f64),
    /// One of five; 5 is none of them.
    pub colour: usize,
    pub mark: Mark,
    pub title: String,
}

/// The shape of a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    /// For clouds of many.
    Speck,
}

impl Mark {
    /// Every mark.
    pub const ALL: [Mark; 5] =
        [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Cross];

    /// Drawn around a place.
    fn path(self, (x, y): (f64, f64)) -> String {
        match self {
            Mark::Circle => {
                format!("M{:.1} {y:.1}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", x - 4.5)
            }
            Mark::Speck => format!("M{:.1} {y:.1}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z", x - 2.0),
            Mark::Square => format!("M{:.1} {:.1}h8v8h-8z", x - 4.0, y - 4.0),
            Mark::Triangle => format!("M{x:.1} {:.1}l5 9h-10z", y - 5.5),
            Mark::Diamond => format!("M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z", y - 5.5),
            Mark::Cross => {
                format!("M{:.1} {:.1}h3v3h3v3h-3v3h-3v-3h-3v-3h3z", x - 1.5, y - 4.5)
            }
        }
    }
}

impl Chart<'_> {
    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        // One point is a number, not a curve.
        self.lines.iter().all(|line| line.points.len() < 2)
    }

    /// Whether its first line has three points or more and comes down by half at least.
    pub fn falls(&self) -> bool {
        let Some(line) = self.lines.first() else { return false };
        let values: Vec<f64> = line.points.iter().map(|p| p.1).filter(|v| *v > 0.0).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        values.len() > 2 && least <= values[0] / 2.0
    }

    /// HTML: keys, if there are several lines, and the drawing.
    pub fn html(&self) -> String {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let points = || {
            let dots = self.dots.iter().map(|dot| &dot.at);
            self.lines.iter().flat_map(|line| &line.points).chain(dots)
        };
        let x = match self.x_range {
            Some((lo, hi)) => Scale::exactly(lo, hi, LEFT, right),
            None => Scale::around(points().map(|p| p.0), self.log_x, LEFT, right),
        };
        let y = match self.y_range {
            Some((lo, hi)) => Scale::exactly(lo, hi, bottom, TOP),
            None => Scale::around(points().map(|p| p.1), self.log_y, bottom, TOP),
        };
        let mut svg = self.keys();
        let label = escape(&format!("{} by {}", self.y_label, self.x_label));
        let id = match self.id {
            "" => String::new(),
            // Where 0 and 1 are on both axes.
            id => format!(" id=\"{id}\" data-frame=\"{LEFT} {right} {bottom} {TOP}\""),
        };
        let _ = write!(
            svg,
            "<svg{id} viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">"
        );
        self.axes(&mut svg, &x, &y);
        for &(from, to, height) in &self.bars {
            let (left, width, top) = (x.at(from) + 1.0, x.at(to) - x.at(from) - 2.0, y.at(height));
            let rest = bottom - top;
            let _ = write!(
                svg,
                "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{rest:.1}\"/>"
            );
        }
        if self.diagonal {
            let _ = write!(
                svg,
                "<line class=\"rule\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{TOP}\"/>"
            );
        }
        if let Some(level) = self.level.filter(|level| y.has(*level)) {
            let at = y.at(level);
            let _ = write!(
                svg,
                "<line class=\"rule\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>"
            );
        }
        for (value, name) in
            self.rules.iter().filter(|(value, _)| (LEFT..=right).contains(&x.at(*value)))
        {
            let at = x.at(*value);
            let _ = write!(
                svg,
                "<line class=\"rule\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\"/>"
            );
            let (at, anchor) =
                if at > right - 120.0 { (at - 4.0, "end") } else { (at + 4.0, "start") };
            let width = CHARACTER * name.chars().count() as f64;
            let from = if anchor == "end" { at - width } else { at };
            let _ = write!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                self.free_height(&x, &y, from, from + width),
                escape(name)
            );
        }
        for (colour, line) in self.lines.iter().enumerate() {
            line.draw(&mut svg, colour % 3, &x, &y, !self.plain);
        }
        for dot in self.dots.iter().filter(|dot| x.has(dot.at.0) && y.has(dot.at.1)) {
            let path = dot.mark.path((x.at(dot.at.0), y.at(dot.at.1)));
            let title = match dot.title.is_empty() {
                true => String::new(),
                false => format!("<title>{}</title>", escape(&dot.title)),
            };
            let speck = if dot.mark == Mark::Speck { " speck" } else { "" };
            let _ =
                write!(svg, "<path class=\"d{}{speck}\" d=\"{path}\">{title}</path>", dot.colour);
        }
        svg.push_str("</svg>");
        svg
    }

    /// Where a name between two places of the x axis is in no line's way: at the top if it can be, else at the bottom, else between.
    fn free_height(&self, x: &Scale, y: &Scale, from: f64, to: f64) -> f64 {
        const LETTERS: f64 = 16.0;
        let heights =
            (0..=10).map(|i| TOP + 10.0 + f64::from(i) * (HEIGHT - BOTTOM - TOP - 16.0) / 10.0);
        let crossed = |height: f64| {
            let is_there = |(px, py): (f64, f64)| {
                (from - 4.0..=to + 4.0).contains(&px) && (py - height + 4.0).abs() < LETTERS
            };
            let of_line = |line: &Line<'_>| {
                let points: Vec<(f64, f64)> = (line.points.iter())
                    .filter(|p| x.has(p.0) && y.has(p.1))
                    .map(|p| (x.at(p.0), y.at(p.1)))
                    .collect();
                points.windows(2).any(|two| {
                    let ((x0, y0), (x1, y1)) = (two[0], two[1]);
                    let steps =
                        ((x1 - x0).abs().max((y1 - y0).abs()) / 4.0).ceil().clamp(1.0, 400.0);
                    let at = |i: u32| f64::from(i) / steps;
                    (0..=steps as u32)
                        .any(|i| is_there((x0 + at(i) * (x1 - x0), y0 + at(i) * (y1 - y0))))
                })
            };
            self.lines.iter().any(of_line)
        };
        let mut tried: Vec<f64> = heights.collect();
        // The bottom is the second choice.
        tried.swap(1, 10);
        tried.iter().copied().find(|height| !crossed(*height)).unwrap_or(tried[0])
    }

    fn keys(&self) -> String {
        if !self.legend.is_empty() {
            let key = |(colour, mark, name): &(usize, Mark, String)| {
                let path = mark.path((6.0, 6.0));
                let svg = format!(
                    "<svg class=\"mark\" viewBox=\"0 0 12 12\"><path class=\"d{}\" d=\"{path}\"/></svg>",
                    colour
                );
                format!("<span>{svg}{}</span>", escape(name))
            };
            return format!(
                "<div class=\"keys\">{}</div>",
                self.legend.iter().map(key).collect::<String>()
            );
        }
        if self.lines.len() < 2 {
            return String::new();
        }
        let key = |(i, line): (usize, &Line<'_>)| {
            format!("<span><i class=\"k{}\"></i>{}</span>", i % 3, escape(line.name))
        };
        format!(
            "<div class=\"keys\">{}</div>",
            self.lines.iter().enumerate().map(key).collect::<String>()
        )
    }

    fn axes(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, name) in y.ticks() {
            let at = y.at(value);
            let _ = write!(
                svg,
                "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>"
            );
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
                LEFT - 8.0,
                at + 4.0
            );
        }
        let whole = |(value, _): &(f64, String)| !self.whole_x || value.fract() == 0.0;
        for (value, name) in x.ticks().into_iter().filter(whole) {
            let name = if self.whole_x { rough_whole(value) } else { name };
            let at = x.at(value);
            let _ = write!(
                svg,
                "<line class=\"axis\" x1=\"{at:.1}\" y1=\"{bottom}\" x2=\"{at:.1}\" y2=\"{:.1}\"/>",
                bottom + 4.0
            );
            // A long number at the right end would be cut off by the border of the picture.
            let is_cut = at + CHARACTER * name.chars().count() as f64 / 2.0 > WIDTH;
            let (x, anchor) = if is_cut { (WIDTH, "end") } else { (at, "middle") };
            let _ = write!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{name}</text>",
                bottom + 18.0
            );
        }
        let high = (TOP + bottom) / 2.0;
        let _ = write!(
            svg,
            "<text class=\"y\" transform=\"translate(14 {high:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(self.y_label)
        );
        let (middle, low) = ((LEFT + right) / 2.0, HEIGHT - 4.0);
        let _ = write!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{low:.1}\" text-anchor=\"middle\">{}</text>",
            escape(self.x_label)
        );
    }
}

/// Width of a digit in the small print of a picture, with some room.
const CHARACTER: f64 = 7.0;

/// 3 and not 3.0.
fn rough_whole(value: f64) -> String {
    format!("{value:.0}")
}

impl Line<'_> {
    fn draw(&self, svg: &mut String, colour: usize, x: &Scale, y: &Scale, dots: bool) {
        let usable: Vec<(f64, f64)> =
            self.points.iter().copied().filter(|p| x.has(p.0) && y.has(p.1)).collect();
        let every = usable.len().div_ceil(POINTS).max(1);
        let last = usable.len().saturating_sub(1);
        let drawn = usable.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
        let path: Vec<String> =
            drawn.map(|(_, p)| format!("{:.1},{:.1}", x.at(p.0), y.at(p.1))).collect();
        if path.len() > 1 {
            let _ = write!(svg, "<polyline class=\"l{colour}\" points=\"{}\"/>", path.join(" "));
        }
        if usable.len() > DOTS || !dots {
            return;
        }
        for &(px, py) in &usable {
            let title = escape(&format!("{} {}: {}", self.name, rough(px), rough(py)));
            let (cx, cy) = (x.at(px), y.at(py));
            let _ = write!(
                svg,
                "<circle class=\"d{colour}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\"><title>{title}</title></circle>"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_beside_a_rule_is_in_no_lines_way() {
        let html = |points: Vec<(f64, f64)>| {
            let lines = vec![Line { name: "margin", points }];
            let (y_range, rules) = (Some((0.0, 1.0)), vec![(0.0, "0: misclassified below")]);
            Chart { lines, y_range, rules, ..Chart::default() }.html()
        };
        let height = |html: &str| -> f64 {
            let text = html.split("<text").find(|text| text.contains("misclassified")).unwrap();
            text.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        // A curve that is at the top beside the rule, and one that is at the bottom.
        let high = vec![(-5.0, 0.0), (-0.5, 0.1), (2.0, 0.6), (5.0, 0.9), (23.0, 1.0)];
        let low = vec![(-1.0, 0.0), (20.0, 0.05), (23.0, 1.0)];
        assert!(height(&html(high)) > HEIGHT - BOTTOM - 20.0);
        assert!(height(&html(low)) < TOP + 20.0);
    }
}
