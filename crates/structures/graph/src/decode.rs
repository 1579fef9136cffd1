//! The best labelling: a cut for two labels, expansion moves and a bound for more.

use crate::bound::MessagePassing;
use crate::expansion;
use crate::flow::{Capacity, Cut, Edge, GraphCut, GridCut, Scale};
use crate::potts::Potts;
use crate::topology::{Shape, Topology};
use lineal_model::VOID;

/// How much work more than two labels are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The most rounds over all labels that expansion takes; 10 by default. It ends when no move helps.
    pub rounds: usize,
    /// Rounds of message passing for the upper bound; 20 by default. With 0 the bound is that of nodes alone, or that of expansion (a factor of 2).
    pub bound_rounds: usize,
    /// Where the bound does not prove the labelling and there are at most this many, all labellings are tried; 4096 by default.
    pub enumerate: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { rounds: 10, bound_rounds: 20, enumerate: 4096 }
    }
}

/// What is known about a labelling that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoded {
    /// Its score.
    pub score: f64,
    /// No labelling with the known labels scores more than this much above it. 0 if that is proved: the labelling is the best.
    pub slack: f64,
}

/// Working memory: a cut for the last topology that was seen, and buffers.
#[derive(Clone, Debug)]
pub struct Decoder<C> {
    engine: Option<(Topology, Engine<C>)>,
    pub(crate) messages: MessagePassing,
    pub(crate) terminals: Vec<f64>,
}

/// A cut of whatever shape.
#[derive(Clone, Debug)]
pub(crate) enum Engine<C> {
    Four(GridCut<C, 4>),
    Eight(GridCut<C, 8>),
    Graph(GraphCut<C>),
}

macro_rules! each_engine {
    ($self:expr, $cut:ident => $do:expr) => {
        match $self {
            Engine::Four($cut) => $do,
            Engine::Eight($cut) => $do,
            Engine::Graph($cut) => $do,
        }
    };
}

impl<C: Capacity> Engine<C> {
    fn new(topology: &Topology) -> Option<Self> {
        match &topology.shape {
            &Shape::Grid { width, height, eight: false } => {
                GridCut::grid(width, height).map(Self::Four)
            }
            &Shape::Grid { width, height, eight: true } => {
                GridCut::grid(width, height).map(Self::Eight)
            }
            Shape::Graph(edges) => GraphCut::graph(topology.n_nodes(), edges).map(Self::Graph),
        }
    }
}

impl<C: Capacity> Cut for Engine<C> {
    type Cap = C;

    fn fill(&mut self, terminal: impl FnMut(usize) -> C, edges: impl FnMut(Edge) -> (C, C)) {
        each_engine!(self, cut => cut.fill(terminal, edges));
    }

    fn solve(&mut self) -> i128 {
        each_engine!(self, cut => cut.solve())
    }

    fn add_terminal(&mut self, node: usize, by: C) {
        each_engine!(self, cut => cut.add_terminal(node, by));
    }

    fn is_sink(&self, node: usize) -> bool {
        each_engine!(self, cut => cut.is_sink(node))
    }

    fn n_nodes(&self) -> usize {
        each_engine!(self, cut => cut.n_nodes())
    }
}

impl<C: Capacity> Default for Decoder<C> {
    fn default() -> Self {
        Self { engine: None, messages: MessagePassing::default(), terminals: Vec::new() }
    }
}

impl<C: Capacity> Decoder<C> {
    /// A labelling of the best score, as far as it can be found, left in `y`.
    pub fn best(&mut self, potts: &Potts<'_>, effort: &Effort, y: &mut Vec<u8>) -> Decoded {
        match potts.n_labels {
            0 | 1 => {
                potts.alone(y);
                Decoded { score: potts.score(y), slack: 0.0 }
            }
            2 => self.cut(potts, y),
            _ => expansion::best(self, potts, effort, y),
        }
    }

    /// A cut that fits the shape.
    pub(crate) fn engine(&mut self, topology: &Topology) -> Option<&mut Engine<C>> {
        if self.engine.as_ref().is_none_or(|(seen, _)| seen != topology) {
            self.engine = Engine::new(topology).map(|engine| (topology.clone(), engine));
        }
        self.engine.as_mut().map(|(_, engine)| engine)
    }

    /// The cut that was solved last.
    pub(crate) fn solved(&mut self) -> Option<&mut Engine<C>> {
        self.engine.as_mut().map(|(_, engine)| engine)
    }

    /// Two labels: label 1 is the sink's side.
    fn cut(&mut self, potts: &Potts<'_>, y: &mut Vec<u8>) -> Decoded {
        let (scale, total) = potts.scale::<C>();
        let lost = self.solve_two(potts, scale);
        y.clear();
        let Some(engine) = self.solved() else {
            potts.alone(y);
            return Decoded { score: potts.score(y), slack: total };
        };
        y.extend((0..potts.topology.n_nodes()).map(|node| u8::from(engine.is_sink(node))));
        Decoded { score: potts.score(y), slack: beyond_rounding(lost, total) }
    }

    /// Fills and solves the cut of two labels. Returns the sum of what rounding changed.
    pub(crate) fn solve_two(&mut self, potts: &Potts<'_>, scale: Scale) -> f64 {
        let Some(engine) = self.engine(potts.topology) else { return 0.0 };
        let mut lost = 0.0;
        let mut lost_by_nodes = 0.0;
        let terminal = |node: usize| match potts.known(node) {
            Some(0) => C::FORCE,
            Some(_) => -C::FORCE,
            None => {
                let own = -potts.own[node];
                let rounded: C = scale.of(own);
                lost_by_nodes += (own - scale.back(i128::from(rounded.to_i64()))).abs();
                rounded
            }
        };
        engine.fill(terminal, |edge| {
            let cost = potts.cost[edge.index].max(0.0);
            let rounded: C = scale.of(cost);
            lost += (cost - scale.back(i128::from(rounded.to_i64()))).abs();
            (rounded, rounded)
        });
        engine.solve();
        lost + lost_by_nodes
    }
}

/// What is lost, unless summing up the score loses as much.
pub(crate) fn beyond_rounding(lost: f64, total: f64) -> f64 {
    if lost > 8.0 * f64::EPSILON * total { lost } else { 0.0 }
}

/// Tries all labellings, if they are few: the best one is left in `y`.
pub(crate) fn enumerate(potts: &Potts<'_>, most: usize, y: &mut [u8]) -> bool {
    let free: Vec<usize> = (0..y.len()).filter(|&node| potts.known(node).is_none()).collect();
    let few = |n: usize, _: &usize| n.checked_mul(potts.n_labels).filter(|&n| n <= most);
    let Some(count) = free.iter().try_fold(1usize, few) else { return false };
    let mut trial = y.to_vec();
    let mut best = potts.score(y);
    for number in 0..count {
        let mut rest = number;
        for &node in &free {
            trial[node] = (rest % potts.n_labels) as u8;
            rest /= potts.n_labels;
        }
        let score = potts.score(&trial);
        if score > best {
            best = score;
            y.copy_from_slice(&trial);
        }
    }
    debug_assert!(y.iter().all(|&label| label != VOID));
    true
}
