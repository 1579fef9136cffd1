//! Trees over several lines.

use super::tree::{LabelledTree, Step};

/// Lines of phrases below this depth are indented like it.
const DEEPEST: usize = 40;

/// The tree, without the end of the last line.
pub(super) fn indented(tree: &LabelledTree<'_>, width: usize) -> String {
    let lengths = lengths(tree);
    let root = tree.written_root();
    let mut out = String::new();
    // Phrases that are open and broken over lines, and those within one that fits.
    let (mut depth, mut n_flat) = (0, 0);
    let root_length = tree.nodes().len();
    if let Some(root) = root {
        out.push('(');
        out.push_str(root);
        match lengths[root_length] <= width {
            true => n_flat = 1,
            false => depth = 1,
        }
    }
    tree.walk(&mut |step| {
        if !matches!(step, Step::Close(_)) {
            if n_flat > 0 {
                out.push(' ');
            } else if !out.is_empty() {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent(depth)));
            }
        }
        match step {
            Step::Open(node) => {
                out.push('(');
                out.push_str(tree.nodes()[node].label);
                match n_flat > 0 || indent(depth) + lengths[node] <= width {
                    true => n_flat += 1,
                    false => depth += 1,
                }
            }
            Step::Word(word) => tree.push_word(word, &mut out),
            Step::Close(_) => {
                out.push(')');
                match n_flat > 0 {
                    true => n_flat -= 1,
                    false => depth -= 1,
                }
            }
        }
    });
    if root.is_some() {
        out.push(')');
    }
    out
}

fn indent(depth: usize) -> usize {
    2 * depth.min(DEEPEST)
}

/// How many characters each phrase takes on one line, then the whole tree.
fn lengths(tree: &LabelledTree<'_>) -> Vec<usize> {
    let n_chars = |text: &str| text.chars().count();
    let mut lengths = vec![0; tree.nodes().len() + 1];
    let mut open: Vec<usize> = vec![tree.nodes().len()];
    let add = |lengths: &mut Vec<usize>, open: &[usize], n: usize| {
        if let Some(&last) = open.last() {
            lengths[last] += 1 + n;
        }
    };
    lengths[tree.nodes().len()] = 2 + tree.written_root().map_or(0, n_chars);
    let mut word_text = String::new();
    tree.walk(&mut |step| match step {
        Step::Open(node) => {
            lengths[node] = 2 + n_chars(tree.nodes()[node].label);
            open.push(node);
        }
        Step::Word(word) => {
            word_text.clear();
            tree.push_word(word, &mut word_text);
            add(&mut lengths, &open, n_chars(&word_text));
        }
        Step::Close(node) => {
            open.pop();
            let n = lengths[node];
            add(&mut lengths, &open, n);
        }
    });
    lengths
}
