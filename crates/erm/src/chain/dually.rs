//! Ascent in the dual, a block for each sentence, with the duality gap as certificate.
//!
//! A block that is far from its optimum is worth more than one that is there: after the first pass sentences are drawn in proportion to
//! the gap that their last visit found (*gap sampling*, Osokin et al., ICML 2016), with a share of chance so that none is forgotten. Passes
//! are counted by sentences visited. The gap itself is computed over all sentences now and then, and decides when to stop.

use super::problem::Problem;
use super::{ChainError, ChainPass, learn::OnPass};
use lineal_linalg::Rng;

/// A dual problem with a block for each sentence.
pub(crate) trait Blocks {
    /// Moves block `i` and the weights; returns the block's share of the gap before.
    fn step(&mut self, i: usize) -> Result<f64, ChainError>;
    /// The primal objective at the better of the weights at hand, which become those to return, and its distance from the dual one. The gaps of
    /// all blocks overwrite `gaps`.
    fn certify(&mut self, gaps: &mut [f64]) -> Result<(f64, f64), ChainError>;
    /// The weights to return.
    fn model(&self, problem: &Problem<'_>) -> lineal_chain::PrunedModel;
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ascent {
    pub(crate) passes: usize,
    pub(crate) converged: bool,
    /// At the certificate: objective and gap.
    pub(crate) objective: f64,
    pub(crate) gap: f64,
}

/// The certificate costs a pass: it is computed after this many at most.
const CERTIFY_EVERY: usize = 10;
/// The share of blocks drawn by chance.
const BY_CHANCE: f64 = 0.2;

pub(crate) fn ascend(
    problem: &Problem<'_>,
    blocks: &mut dyn Blocks,
    on_pass: &mut OnPass<'_>,
) -> Result<Ascent, ChainError> {
    let (n, spec) = (problem.sentences.len(), problem.spec);
    let mut rng = Rng::new(spec.seed);
    let mut gaps = vec![f64::INFINITY; n];
    let mut draws: Vec<u32> = (0..n as u32).collect();
    let (mut objective, mut gap) = (f64::INFINITY, f64::INFINITY);
    let mut next_certify = 3;
    for pass in 1.. {
        if pass > 1 {
            draw(&gaps, &mut rng, &mut draws);
        }
        super::online::shuffle(&mut draws, &mut rng);
        for &i in &draws {
            gaps[i as usize] = blocks.step(i as usize)?;
        }
        let estimate: f64 = gaps.iter().sum();
        let last = pass >= spec.passes;
        let seems_done = objective.is_finite() && estimate <= 0.5 * spec.tol * objective;
        let due = last || pass >= next_certify || seems_done;
        if due {
            (objective, gap) = blocks.certify(&mut gaps)?;
            next_certify = pass + CERTIFY_EVERY.min(1 + pass / 2);
            if !objective.is_finite() {
                return Err(ChainError::Diverged { value: objective, pass });
            }
        }
        let state = ChainPass {
            pass,
            loss: estimate,
            objective: due.then_some(objective),
            gap: due.then_some(gap),
            grad_norm: None,
            model: &|| blocks.model(problem),
        };
        let broken = on_pass(&state).is_break();
        if broken && !due {
            (objective, gap) = blocks.certify(&mut gaps)?;
        }
        let converged = objective.is_finite() && gap <= spec.tol * objective.abs();
        if converged || broken || last {
            return Ok(Ascent { passes: pass, converged, objective, gap });
        }
    }
    Ok(Ascent { passes: 0, converged: false, objective, gap })
}

/// As many blocks as there are, most of them in proportion to their gaps.
fn draw(gaps: &[f64], rng: &mut Rng, draws: &mut [u32]) {
    let n = gaps.len();
    let total: f64 = gaps.iter().map(|gap| gap.max(0.0)).sum();
    let by_gap = if total > 0.0 { ((1.0 - BY_CHANCE) * n as f64) as usize } else { 0 };
    // Evenly spaced arrows into the line of gaps: fewer repeats than independent draws.
    let (spacing, mut at) = (total / by_gap.max(1) as f64, 0.0);
    let mut next = rng.unit() * spacing;
    let mut drawn = 0;
    for (i, gap) in gaps.iter().enumerate() {
        at += gap.max(0.0);
        while next < at && drawn < by_gap {
            draws[drawn] = i as u32;
            drawn += 1;
            next += spacing;
        }
    }
    for draw in &mut draws[drawn..] {
        *draw = (rng.next_u64() % n as u64) as u32;
    }
}
