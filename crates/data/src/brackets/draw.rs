//! Trees drawn in text, with lines of Unicode.
//!
//! ```text
//!      S                      S
//!  ┌───┴────┐                 ├─ NP
//! NP       VP                 │  └─ PRP it
//!  │     ┌──┴───┐             └─ VP
//! PRP   VBZ   ADVP               ├─ VBZ rains
//!  │     │      │                └─ ADVP
//! it   rains   RB                   └─ RB hard
//!               │
//!             hard
//! ```
//!
//! On the left each item (phrase, tag or word) has a stretch of columns that is as wide as its label and as its children side by side, and stands above the middle of
//! the outer two of them. On the right, which is for trees that are too wide, each phrase and each word has a line.

use super::indent;
use super::tree::{LabelledTree, Step};

/// Deeper trees are not drawn but indented.
const DEEPEST: usize = 100;

/// Columns between neighbours.
const GAP: usize = 2;

/// The drawing, without the end of the last line.
pub(super) fn drawn(tree: &LabelledTree<'_>, width: usize) -> String {
    let items = items(tree);
    if items.iter().any(|item| item.depth > DEEPEST) {
        return printable(&indent::indented(tree, width));
    }
    let stretches = stretches(&items);
    if stretches.first().is_some_and(|first| *first > width) {
        return branches(&items);
    }
    let mut layout = Layout::new(&items, stretches);
    layout.draw(&items)
}

/// A phrase, a tag or a word.
struct Item {
    text: String,
    parent: Option<usize>,
    depth: usize,
    n_children: usize,
    is_tag: bool,
}

/// The items in preorder. What has no single top is put below an item without a text.
fn items(tree: &LabelledTree<'_>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut push = |text: &str, parent: Option<usize>, is_tag: bool| {
        let depth = parent.map_or(0, |parent: usize| items[parent].depth + 1);
        if let Some(parent) = parent {
            items[parent].n_children += 1;
        }
        items.push(Item { text: printable(text), parent, depth, n_children: 0, is_tag });
        items.len() - 1
    };
    // A root without a label is drawn only where it holds several things.
    let is_one = tree.nodes().first().is_some_and(|n| (n.start, n.end) == (0, tree.words().len()));
    if let Some(root) = tree.written_root().filter(|root| !root.is_empty() || !is_one) {
        open.push(push(root, None, false));
    }
    tree.walk(&mut |step| match step {
        Step::Open(node) => {
            let item = push(tree.nodes()[node].label, open.last().copied(), false);
            open.push(item);
        }
        Step::Word(word) => {
            let tag = push(tree.tags()[word], open.last().copied(), true);
            push(tree.words()[word], Some(tag), false);
        }
        Step::Close(_) => {
            open.pop();
        }
    });
    items
}

/// How many columns each item takes with all that is below it.
fn stretches(items: &[Item]) -> Vec<usize> {
    let mut below = vec![0; items.len()];
    let mut stretches = vec![0; items.len()];
    for (at, item) in items.iter().enumerate().rev() {
        stretches[at] = below[at].max(text_width(&item.text)).max(1);
        if let Some(parent) = item.parent {
            below[parent] += stretches[at] + if below[parent] > 0 { GAP } else { 0 };
        }
    }
    stretches
}

/// Where items are drawn.
struct Layout {
    stretches: Vec<usize>,
    /// The first column of each item's stretch.
    left: Vec<usize>,
    /// The column under which, or above which, its lines meet it.
    centre: Vec<usize>,
    /// The centres of its first and last child.
    outer: Vec<Option<(usize, usize)>>,
}

impl Layout {
    fn new(items: &[Item], stretches: Vec<usize>) -> Self {
        let n = items.len();
        let mut children = vec![0; n];
        for (at, item) in items.iter().enumerate() {
            if let Some(parent) = item.parent {
                children[parent] += stretches[at] + if children[parent] > 0 { GAP } else { 0 };
            }
        }
        let (mut left, mut next) = (vec![0; n], vec![0; n]);
        for (at, item) in items.iter().enumerate() {
            if let Some(parent) = item.parent {
                left[at] = next[parent];
                next[parent] += stretches[at] + GAP;
            }
            next[at] = left[at] + (stretches[at] - children[at]) / 2;
        }
        let mut centre = vec![0; n];
        let mut outer: Vec<Option<(usize, usize)>> = vec![None; n];
        for (at, item) in items.iter().enumerate().rev() {
            centre[at] = match outer[at] {
                Some((first, last)) => (first + last) / 2,
                None => left[at] + stretches[at] / 2,
            };
            if let Some(parent) = item.parent {
                let last = outer[parent].map_or(centre[at], |(_, last)| last);
                outer[parent] = Some((centre[at], last));
            }
        }
        Self { stretches, left, centre, outer }
    }

    fn draw(&mut self, items: &[Item]) -> String {
        let depth = items.iter().map(|item| item.depth).max().unwrap_or(0);
        let width = self.stretches.first().copied().unwrap_or(0);
        let mut grid = vec![vec![' '; width]; 2 * depth + 1];
        for (at, item) in items.iter().enumerate() {
            let row = 2 * item.depth;
            let wide = text_width(&item.text);
            let last = self.left[at] + self.stretches[at].saturating_sub(wide);
            let start = self.centre[at].saturating_sub(wide / 2);
            put(&mut grid[row], start.clamp(self.left[at], last), &item.text);
            if item.depth == 0 {
                continue;
            }
            let is_single = item.parent.is_some_and(|parent| items[parent].n_children == 1);
            grid[row - 1][self.centre[at]] = if is_single { '│' } else { '┬' };
        }
        for (at, item) in items.iter().enumerate() {
            let Some((first, last)) = self.outer[at].filter(|(first, last)| first < last) else {
                continue;
            };
            let line = &mut grid[2 * item.depth + 1];
            for column in &mut line[first + 1..last] {
                if *column == ' ' {
                    *column = '─';
                }
            }
            (line[first], line[last]) = ('┌', '┐');
            let centre = &mut line[self.centre[at]];
            *centre = if *centre == '┬' { '┼' } else { '┴' };
        }
        let lines = grid.iter().map(|row| {
            let line: String = row.iter().filter(|&&c| c != BEHIND).collect();
            line.trim_end().to_owned()
        });
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Stands in the second column of a wide character.
const BEHIND: char = '\0';

fn put(row: &mut [char], mut column: usize, text: &str) {
    for c in text.chars() {
        let Some(cells) = row.get_mut(column..column + char_width(c)) else { return };
        match cells {
            [] => {}
            [first, rest @ ..] => {
                *first = c;
                rest.fill(BEHIND);
            }
        }
        column += char_width(c);
    }
}

/// One line for each phrase and each word, the latter after its tag.
fn branches(items: &[Item]) -> String {
    let mut out = String::new();
    // For each depth, whether more children follow there.
    let mut left: Vec<usize> = Vec::new();
    let mut prefix_of: Vec<&str> = Vec::new();
    for item in items {
        let is_word = item.parent.is_some_and(|parent| items[parent].is_tag);
        if is_word {
            out.push(' ');
            out.push_str(&item.text);
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        left.truncate(item.depth);
        prefix_of.truncate(item.depth.saturating_sub(1));
        if let Some(last) = left.last_mut() {
            *last -= 1;
            prefix_of.iter().for_each(|prefix| out.push_str(prefix));
            out.push_str(if *last > 0 { "├─ " } else { "└─ " });
            prefix_of.push(if *last > 0 { "│  " } else { "   " });
        }
        left.push(item.n_children);
        out.push_str(&item.text);
    }
    out
}

/// Text that does nothing to a terminal.
fn printable(text: &str) -> String {
    let is_plain = |c: char| c == '\n' || !c.is_control();
    text.chars().map(|c| if is_plain(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

fn text_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Columns that terminals give to a character: two for most of East Asia's and for pictures, none for marks on others.
fn char_width(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}
