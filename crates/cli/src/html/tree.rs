//! A bracketed tree as a drawing: phrases above their words, each over the middle of what it has below.

use std::fmt::Write;

use lineal::data::LabelledTree;

use super::page::escape;

/// Between levels, and per letter.
const LEVEL: f64 = 34.0;
const LETTER: f64 = 7.2;
const GAP: f64 = 14.0;

/// An SVG of the tree.
pub fn tree(tree: &LabelledTree<'_>) -> String {
    let (words, tags, nodes) = (tree.words(), tree.tags(), tree.nodes());
    let mut x = Vec::with_capacity(words.len());
    let mut right = 0.0;
    for (word, tag) in words.iter().zip(tags) {
        let wide = LETTER * word.chars().count().max(tag.chars().count()) as f64 + GAP;
        x.push(right + wide / 2.0);
        right += wide;
    }
    // Preorder: a phrase comes after those that it is in, and before those in it.
    let mut depth = vec![0usize; nodes.len()];
    let mut parent = vec![None; nodes.len()];
    let mut word_parent = vec![None; words.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        while open.last().is_some_and(|&last| nodes[last].end <= node.start) {
            open.pop();
        }
        parent[at] = open.last().copied();
        depth[at] = open.len();
        open.push(at);
        word_parent[node.start..node.end].fill(Some(at));
    }
    let deepest = depth.iter().max().map_or(0, |d| d + 1);
    let middle = |at: usize| (x[nodes[at].start] + x[nodes[at].end - 1]) / 2.0;
    let y = |level: usize| 16.0 + LEVEL * level as f64;
    let (height, width) = (y(deepest + 1) + 12.0, right.max(40.0));
    let mut svg = format!(
        "<svg class=\"tree\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" role=\"img\" \
         style=\"max-width:100%;height:auto;font:12px sans-serif;text-anchor:middle\">"
    );
    let mut line = |from: (f64, f64), to: (f64, f64)| {
        let _ = write!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"currentColor\" opacity=\".35\"/>",
            from.0, from.1, to.0, to.1
        );
    };
    for (at, above) in parent.iter().enumerate() {
        if let Some(above) = *above {
            line((middle(above), y(depth[above]) + 4.0), (middle(at), y(depth[at]) - 12.0));
        }
    }
    for (t, above) in word_parent.iter().enumerate() {
        if let Some(above) = *above {
            line((middle(above), y(depth[above]) + 4.0), (x[t], y(deepest) - 12.0));
        }
    }
    let mut text = |x: f64, y: f64, text: &str, style: &str| {
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"currentColor\" {style}>{}</text>",
            escape(text)
        );
    };
    for (at, node) in nodes.iter().enumerate() {
        text(middle(at), y(depth[at]), node.label, "font-weight=\"600\"");
    }
    for (t, (word, tag)) in words.iter().zip(tags).enumerate() {
        text(x[t], y(deepest), tag, "opacity=\".6\"");
        text(x[t], y(deepest) + 18.0, word, "");
    }
    svg.push_str("</svg>");
    svg
}
