//! The k best derivations, lazily merged (Huang and Chiang 2005, algorithm 3).
//!
//! The items are those of the chart: a node (span, symbol), made of two sides; a side (span, symbol of the parent), made of one node; and the root, made of one node. The chart has the best
//! score of each. The next best of an item is taken from a heap of (edge, ranks of its tails), and only when a rank is asked for are the next ranks of its tails worked out. Waiting items stand
//! on a stack of their own: sentences may be long.

use super::{MaxChart, Scored};
use crate::derivation::{Derivation, Node};
use crate::grammar::{LEFT, RIGHT};
use lineal_linalg::Scalar;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// What can be made in several ways. Spans and symbols are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Item {
    Root,
    Node(u32, u32),
    Side(usize, u32, u32),
}

/// A way to make an item: its own score, and what it is made of.
#[derive(Clone, Copy, Debug)]
struct Way {
    own: f64,
    tails: [Option<Item>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: f64,
    way: u32,
    ranks: [u32; 2],
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives the greatest first: the highest score, then the first way, then better tails.
        self.score
            .total_cmp(&other.score)
            .then(other.way.cmp(&self.way))
            .then(other.ranks.cmp(&self.ranks))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// An item that was visited.
#[derive(Clone, Debug, Default)]
struct Visited {
    ways: Vec<Way>,
    found: Vec<Candidate>,
    heap: BinaryHeap<Candidate>,
    /// The last one found has not yet put its successors on the heap.
    successor_pending: bool,
}

enum Rank {
    Found(f64),
    /// There are fewer ways.
    Missing,
    Unknown,
}

/// The items that were visited, over a chart that is filled.
pub(crate) struct Ranking<'a, F> {
    chart: &'a MaxChart<F>,
    scored: &'a Scored<'a, F>,
    visited: HashMap<Item, Visited>,
    stack: Vec<(Item, u32)>,
}

impl<'a, F: Scalar> Ranking<'a, F> {
    /// Over a chart that is filled with these scores.
    pub(crate) fn new(chart: &'a MaxChart<F>, scored: &'a Scored<'a, F>) -> Self {
        Self { chart, scored, visited: HashMap::new(), stack: Vec::new() }
    }

    /// The derivation of a rank, from 0; `None` if there are fewer.
    pub(crate) fn derivation(&mut self, rank: u32) -> Option<Derivation> {
        let mut derivation = Derivation::default();
        let mut waiting = vec![(Item::Root, rank)];
        while let Some((item, rank)) = waiting.pop() {
            if !self.ensure(item, rank) {
                return None;
            }
            if let Item::Node(span, symbol) = item {
                let (i, j) = self.scored.spans.words(span as usize);
                derivation.nodes.push(Node { start: i as u32, end: j as u32, symbol });
            }
            let Some(visited) = self.visited.get(&item) else { continue };
            let found = visited.found[rank as usize];
            let tails = visited.ways[found.way as usize].tails;
            for (tail, rank) in tails.into_iter().zip(found.ranks).rev() {
                waiting.extend(tail.map(|tail| (tail, rank)));
            }
        }
        Some(derivation)
    }

    fn is_leaf(&self, item: Item) -> bool {
        match item {
            Item::Node(span, _) => (span as usize) < self.scored.spans.n_words(),
            _ => false,
        }
    }

    /// The best score of an item.
    fn best(&self, item: Item) -> f64 {
        let p = self.scored.n_parents();
        match item {
            Item::Node(span, symbol) if symbol as usize >= p => {
                self.scored.word(span as usize).map_or(f64::NEG_INFINITY, |word| word.1.to_f64())
            }
            Item::Node(span, symbol) => {
                self.chart.inside[span as usize * p + symbol as usize].to_f64()
            }
            Item::Side(side, span, symbol) => {
                self.chart.sides[side][span as usize * p + symbol as usize].to_f64()
            }
            // Nobody is made of the root.
            Item::Root => f64::NEG_INFINITY,
        }
    }

    /// All ways to make an item.
    fn ways(&self, item: Item) -> Vec<Way> {
        let scored = self.scored;
        let node = |span: usize| move |symbol: usize| Some(Item::Node(span as u32, symbol as u32));
        match item {
            Item::Root => {
                let last = scored.spans.len() - 1;
                let symbols = self.chart.symbols(scored, last).map(|(symbol, _)| symbol);
                symbols.map(|symbol| Way { own: 0.0, tails: [node(last)(symbol), None] }).collect()
            }
            Item::Node(span, symbol) => {
                let own = scored.own(span as usize)[symbol as usize].to_f64();
                let side = |side, span: usize| Some(Item::Side(side, span as u32, symbol));
                let way = |(a, b)| Way { own, tails: [side(LEFT, a), side(RIGHT, b)] };
                scored.spans.splits(span as usize).map(way).collect()
            }
            Item::Side(side, span, parent) => {
                let (span, parent) = (span as usize, parent as usize);
                let row = scored.side(span, side)[scored.grammar.categories()[parent] as usize];
                let way = |(child, _)| {
                    let own = row.to_f64() + scored.pair(side, parent, child).to_f64();
                    Way { own, tails: [node(span)(child), None] }
                };
                self.chart.symbols(scored, span).map(way).collect()
            }
        }
    }

    /// Visits an item: its heap has each way with the best of its tails.
    fn visit(&mut self, item: Item) {
        if self.visited.contains_key(&item) {
            return;
        }
        let mut ways = self.ways(item);
        let score = |way: &Way| {
            way.own + way.tails.iter().flatten().map(|&tail| self.best(tail)).sum::<f64>()
        };
        ways.retain(|way| score(way) > f64::NEG_INFINITY);
        let heap = ways
            .iter()
            .zip(0..)
            .map(|(way, number)| Candidate { score: score(way), way: number, ranks: [0, 0] })
            .collect();
        self.visited.insert(item, Visited { ways, heap, ..Visited::default() });
    }

    /// Works out the ways of an item up to a rank. `false` if it has fewer.
    fn ensure(&mut self, item: Item, rank: u32) -> bool {
        if self.is_leaf(item) {
            return rank == 0;
        }
        self.stack.clear();
        self.stack.push((item, rank));
        while let Some(&(item, rank)) = self.stack.last() {
            self.visit(item);
            let Some(visited) = self.visited.get_mut(&item) else { return false };
            if visited.found.len() > rank as usize {
                self.stack.pop();
            } else if visited.successor_pending {
                self.pay(item);
            } else if let Some(next) = visited.heap.pop() {
                visited.found.push(next);
                visited.successor_pending = true;
            } else {
                self.stack.pop();
            }
        }
        self.visited.get(&item).is_some_and(|visited| visited.found.len() > rank as usize)
    }

    /// Puts the successors of the last one found on the heap, if the ranks of its tails are known. Else these are asked for first.
    ///
    /// (i, j) is followed by (i, j + 1), and by (i + 1, j) if j = 0: so each pair of ranks comes once, after a better one.
    fn pay(&mut self, item: Item) {
        let Some(visited) = self.visited.get(&item) else { return };
        let Some(&Candidate { way, ranks, .. }) = visited.found.last() else { return };
        let Way { own, tails } = visited.ways[way as usize];
        let mut successors = [None; 2];
        for (place, successor) in successors.iter_mut().enumerate() {
            let Some(tail) = tails[place] else { continue };
            if place == 0 && ranks[1] > 0 {
                continue;
            }
            let mut next = ranks;
            next[place] += 1;
            let moved = match self.score(tail, next[place]) {
                Rank::Unknown => {
                    self.stack.push((tail, next[place]));
                    return;
                }
                Rank::Missing => continue,
                Rank::Found(moved) => moved,
            };
            let kept = match tails[1 - place] {
                Some(other) => self.score(other, ranks[1 - place]),
                None => Rank::Found(0.0),
            };
            if let Rank::Found(kept) = kept {
                *successor = Some(Candidate { score: own + (moved + kept), way, ranks: next });
            }
        }
        if let Some(visited) = self.visited.get_mut(&item) {
            visited.heap.extend(successors.into_iter().flatten());
            visited.successor_pending = false;
        }
    }

    fn score(&self, item: Item, rank: u32) -> Rank {
        if rank == 0 {
            return Rank::Found(self.best(item));
        }
        if self.is_leaf(item) {
            return Rank::Missing;
        }
        let Some(visited) = self.visited.get(&item) else { return Rank::Unknown };
        match visited.found.get(rank as usize) {
            Some(found) => Rank::Found(found.score),
            None if visited.heap.is_empty() && !visited.successor_pending => Rank::Missing,
            None => Rank::Unknown,
        }
    }
}
