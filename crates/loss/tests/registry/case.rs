//! A loss on a space with its types forgotten, and the points at which it is tried.

use lineal_linalg::Scalar;
use lineal_loss::{DualLoss, SecondOrder};
use lineal_model::cost::CostMatrix;
use lineal_model::space::{Binary, Classes, OutputSpace, Real};
use proptest::prelude::*;

/// The widest space of the registry.
pub const MAX_PARTS: usize = 7;

/// Where a dual block may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feasible {
    /// Anywhere.
    Free,
    /// Each entry within ± this.
    Interval(f64),
    /// Flows a_r ≥ 0 from the gold class to the others.
    Flow,
    /// Flows of at most 1 each.
    FlowEach,
    /// Flows of at most 1 in total.
    FlowTotal,
}

/// What a dual step says about the gap before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gap {
    Exact,
    Estimate,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Real,
    Binary,
    Classes(usize),
}

/// A space of the registry; gold outputs come as numbers.
pub trait Known<F>: OutputSpace<F> + 'static {
    fn kind(self) -> Kind;
    fn output(gold: f64) -> Self::Output;
}

impl<F: Scalar> Known<F> for Real {
    fn kind(self) -> Kind {
        Kind::Real
    }
    fn output(gold: f64) -> f64 {
        gold
    }
}

impl<F: Scalar> Known<F> for Binary {
    fn kind(self) -> Kind {
        Kind::Binary
    }
    fn output(gold: f64) -> u32 {
        gold as u32
    }
}

impl<F: Scalar> Known<F> for Classes {
    fn kind(self) -> Kind {
        Kind::Classes(self.0)
    }
    fn output(gold: f64) -> u32 {
        gold as u32
    }
}

type ValueGrad<F> = dyn Fn(&[F], f64, &mut [F]) -> f64;
type Conjugate<F> = dyn Fn(f64, &[F]) -> f64;
type DualStep<F> = dyn Fn(f64, &[F], F, &mut [F], &mut [F]) -> f64;
type Hessian<F> = dyn Fn(&[F], f64, &[F], &mut [F], &mut [F]);

pub struct Case<F> {
    pub name: String,
    pub kind: Kind,
    pub feasible: Feasible,
    pub gap: Gap,
    /// scores, gold, grad
    pub value_grad: Box<ValueGrad<F>>,
    /// gold, g
    pub conjugate: Box<Conjugate<F>>,
    /// gold, scores, q, g, delta
    pub dual_step: Box<DualStep<F>>,
    /// scores, gold, dir, H dir, diagonal of H
    pub hessian: Option<Box<Hessian<F>>>,
}

/// A loss with a dual.
pub fn convex<F, S, L>(name: &str, space: S, loss: L, feasible: Feasible, gap: Gap) -> Case<F>
where
    F: Scalar,
    S: Known<F> + std::fmt::Debug,
    L: DualLoss<F, S> + Clone + 'static,
{
    let (for_conjugate, for_step) = (loss.clone(), loss.clone());
    Case {
        name: format!("{name} on {space:?}"),
        kind: space.kind(),
        feasible,
        gap,
        value_grad: Box::new(move |scores, gold, grad| {
            loss.value_grad(space, &mut scores.to_vec(), S::output(gold), grad)
        }),
        conjugate: Box::new(move |gold, g| for_conjugate.conjugate(space, S::output(gold), g)),
        dual_step: Box::new(move |gold, scores, q, g, delta| {
            for_step.dual_step(space, S::output(gold), &mut scores.to_vec(), q, g, delta)
        }),
        hessian: None,
    }
}

/// A loss with a dual and second derivatives.
pub fn smooth<F, S, L>(name: &str, space: S, loss: L, feasible: Feasible, gap: Gap) -> Case<F>
where
    F: Scalar,
    S: Known<F> + std::fmt::Debug,
    L: DualLoss<F, S> + SecondOrder<F, S> + Clone + 'static,
{
    let case = convex(name, space, loss.clone(), feasible, gap);
    let hessian = move |scores: &[F], gold: f64, dir: &[F], out: &mut [F], diag: &mut [F]| {
        let y = S::output(gold);
        let mut state = vec![F::ZERO; scores.len()];
        loss.curve(space, &mut scores.to_vec(), y, &mut state);
        loss.hess_vec(space, y, &state, dir, out);
        loss.hess_diag(space, y, &state, diag);
    };
    Case { hessian: Some(Box::new(hessian)), ..case }
}

impl<F: Scalar> Case<F> {
    pub fn n_parts(&self) -> usize {
        if let Kind::Classes(k) = self.kind { k } else { 1 }
    }

    /// 0 or ∞: it has a conjugate, but no gradient.
    pub fn is_constraint(&self) -> bool {
        self.name.starts_with("HardMargin")
    }

    pub fn value(&self, scores: &[F], gold: f64) -> f64 {
        let mut grad = vec![F::ZERO; scores.len()];
        (self.value_grad)(scores, gold, &mut grad)
    }

    pub fn grad(&self, scores: &[F], gold: f64) -> Vec<F> {
        let mut grad = vec![F::ZERO; scores.len()];
        (self.value_grad)(scores, gold, &mut grad);
        grad
    }

    /// ℓ(θ) + ℓ*(g) − ⟨θ, g⟩ and the size of what was added up.
    pub fn fenchel_young(&self, scores: &[F], gold: f64, g: &[F]) -> (f64, f64) {
        let (value, conjugate) = (self.value(scores, gold), (self.conjugate)(gold, g));
        let products: Vec<f64> =
            scores.iter().zip(g).map(|(s, g)| s.to_f64() * g.to_f64()).collect();
        let sum: f64 = products.iter().sum();
        let size =
            1.0 + value.abs() + conjugate.abs() + products.iter().map(|p| p.abs()).sum::<f64>();
        (value + conjugate - sum, size)
    }

    /// How far a block is outside its domain.
    pub fn outside(&self, gold: f64, g: &[F]) -> f64 {
        let g: Vec<f64> = g.iter().map(|g| g.to_f64()).collect();
        if g.iter().any(|g| g.is_nan()) {
            return f64::INFINITY;
        }
        let flows: Vec<f64> = match self.kind {
            Kind::Real => vec![],
            Kind::Binary => vec![if gold == 0.0 { g[0] } else { -g[0] }],
            Kind::Classes(_) => {
                let others = g.iter().enumerate().filter(|(c, _)| *c != gold as usize);
                others.map(|(_, &g)| g).collect()
            }
        };
        let total: f64 = flows.iter().sum();
        let negative = flows.iter().map(|a| -a).fold(0.0, f64::max);
        let unbalanced = match self.kind {
            Kind::Classes(_) => (total + g[gold as usize]).abs() / (1.0 + total.abs()),
            _ => 0.0,
        };
        match self.feasible {
            Feasible::Free => 0.0,
            Feasible::Interval(most) => (g[0].abs() - most).max(0.0),
            Feasible::Flow => negative.max(unbalanced),
            Feasible::FlowEach => {
                let over = flows.iter().map(|a| a - 1.0).fold(0.0, f64::max);
                over.max(negative).max(unbalanced)
            }
            Feasible::FlowTotal => (total - 1.0).max(negative).max(unbalanced),
        }
    }

    /// A random block of the domain, often on its border; `size` matters where the domain has no end.
    pub fn feasible_block(&self, gold: f64, size: f64, random: &mut Random) -> Vec<F> {
        let n = self.n_parts();
        if let Feasible::Free | Feasible::Interval(_) = self.feasible {
            let size = if let Feasible::Interval(most) = self.feasible { most } else { size };
            return (0..n).map(|_| F::from_f64(size * (2.0 * random.border() - 1.0))).collect();
        }
        let mut flows: Vec<f64> = (0..n.max(2) - 1).map(|_| random.border()).collect();
        match self.feasible {
            Feasible::Flow => flows.iter_mut().for_each(|a| *a *= size),
            Feasible::FlowTotal => {
                let scale = random.border() / flows.iter().sum::<f64>().max(1e-300);
                flows.iter_mut().for_each(|a| *a = (*a * scale).min(1.0));
            }
            _ => {}
        }
        if self.kind == Kind::Binary {
            return vec![F::from_f64(if gold == 0.0 { flows[0] } else { -flows[0] })];
        }
        let mut g: Vec<F> = flows.iter().map(|&a| F::from_f64(a)).collect();
        let total: F = g.iter().copied().sum();
        g.insert(gold as usize, -total);
        g
    }
}

/// The same numbers for the same seed.
pub struct Random(pub u64);

impl Random {
    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [0, 1], each end with probability ¼.
    pub fn border(&mut self) -> f64 {
        (2.0 * self.unit() - 0.5).clamp(0.0, 1.0)
    }
}

/// Where a property is tried: for all cases of the registry at once.
#[derive(Clone)]
pub struct At {
    pub scores: Vec<f64>,
    pub other: Vec<f64>,
    pub gold: usize,
    pub target: f64,
    pub costs: Vec<f64>,
    pub log_q: f64,
    pub seed: u64,
}

/// On one line, for the 49 costs would fill a screen.
impl std::fmt::Debug for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scores, other, gold, target, costs, log_q, seed } = self;
        write!(f, "scores {scores:?}, other {other:?}, gold {gold}, target {target}, ")?;
        write!(f, "costs {costs:?}, log_q {log_q}, seed {seed}")
    }
}

impl At {
    pub fn cost(&self, k: usize) -> CostMatrix {
        let each = (0..k * k).map(|i| {
            let (y, y_hat) = (i / k, i % k);
            if y == y_hat { 0.0 } else { self.costs[y * MAX_PARTS + y_hat] }
        });
        CostMatrix::new(k, each.collect()).expect("a table of costs")
    }

    pub fn gold<F: Scalar>(&self, case: &Case<F>) -> f64 {
        match case.kind {
            Kind::Real => self.target,
            Kind::Binary => (self.gold % 2) as f64,
            Kind::Classes(k) => (self.gold % k) as f64,
        }
    }

    pub fn scores<F: Scalar>(&self, case: &Case<F>) -> Vec<F> {
        self.scores[..case.n_parts()].iter().map(|&s| F::from_f64(s)).collect()
    }

    pub fn other<F: Scalar>(&self, case: &Case<F>) -> Vec<F> {
        self.other[..case.n_parts()].iter().map(|&s| F::from_f64(s)).collect()
    }
}

/// Points with scores up to ± `reach`.
pub fn at(reach: f64) -> impl Strategy<Value = At> {
    let scores = || prop::collection::vec(-reach..reach, MAX_PARTS);
    let cost = prop_oneof![9 => 0.0..3.0f64, 1 => Just(0.0)];
    let costs = prop::collection::vec(cost, MAX_PARTS * MAX_PARTS);
    (scores(), scores(), 0..42usize, -5.0..5.0f64, costs, -4.0..4.0f64, any::<u64>()).prop_map(
        |(scores, other, gold, target, costs, log_q, seed)| At {
            scores,
            other,
            gold,
            target,
            costs,
            log_q,
            seed,
        },
    )
}

pub fn wide<F: Scalar>(v: &[F]) -> Vec<f64> {
    v.iter().map(|v| v.to_f64()).collect()
}
