//! What is computed once the weights are known: margins, warnings, and weights in the units of the data.

use crate::request::spec::{Penalty, SolverKind, Standardize, TrainSpec};
use crate::train::report::{Margins, Report};
use crate::train::weights::{Number, Weights, with_weights};
use lineal_data::{Standardizer, Targets};
use lineal_erm::Rows;
use lineal_linalg::Matrix;
use lineal_model::space::{Binary, Classes};
use lineal_model::{Bias, Linear};

const QUANTILES: [f64; 7] = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

/// The distribution of training margins; `None` for regression, and where they are too large for numbers.
pub(crate) fn margins(
    weights: &Weights,
    bias: Bias,
    n_classes: usize,
    x: &Matrix,
    y: &Targets,
    classes: &[String],
) -> Option<Margins> {
    let Targets::Classes(y) = y else { return None };
    let rows = Rows::new(x, y, None);
    let margins = with_weights!(weights, w => match n_classes {
        2 => lineal_erm::margins(&Linear::new(x.n_cols(), Binary, bias), &rows, w),
        _ => lineal_erm::margins(&Linear::new(x.n_cols(), Classes(n_classes), bias), &rows, w),
    });
    if margins.is_empty() || !margins.iter().all(|margin| margin.is_finite()) {
        return None;
    }
    let mut by_class: Vec<Vec<f64>> = vec![Vec::new(); n_classes];
    for (&y, &m) in y.iter().zip(&margins) {
        by_class[y as usize].push(m);
    }
    let per_class = by_class
        .iter_mut()
        .zip(classes)
        .filter(|(m, _)| !m.is_empty())
        .map(|(m, name)| (name.clone(), quantiles(m, [0.0, 0.5])))
        .map(|(name, [least, median])| (name, least, median))
        .collect();
    let mut all = margins;
    let [min, max] = quantiles(&mut all, [0.0, 1.0]);
    let at = quantiles(&mut all, QUANTILES);
    let quantiles = QUANTILES.into_iter().zip(at).collect();
    Some(Margins { min, quantiles, max, per_class })
}

/// What sorted numbers have at rising parts of the way, without sorting them all.
fn quantiles<const N: usize>(of: &mut [f64], at: [f64; N]) -> [f64; N] {
    let last = of.len() - 1;
    let mut from = 0;
    at.map(|q| {
        let to = (last as f64 * q).round() as usize;
        let (_, &mut found, _) = of[from..].select_nth_unstable_by(to - from, f64::total_cmp);
        from = to;
        found
    })
}

/// What the user should know about the run, each with the flag to turn.
pub(crate) fn warnings(report: &Report, spec: &TrainSpec, x: &Matrix) -> Vec<String> {
    let mut warnings: Vec<String> = unconverged(report, spec).into_iter().collect();
    if x.nnz() == 0 {
        warnings.push("no row has any feature: the model is its bias".into());
    }
    warnings
}

/// That the tolerance was not met, how far it was, and the flag to turn.
pub(crate) fn unconverged(report: &Report, spec: &TrainSpec) -> Option<String> {
    if report.converged {
        return None;
    }
    let far = match (report.gap, report.grad_norm) {
        (Some(gap), _) => format!("the relative gap is {:.1e}", gap / report.objective.abs()),
        (None, Some(norm)) => format!("the gradient norm is {norm:.1e}"),
        _ => "there is no certificate".into(),
    };
    let partial = report.structured.as_ref().is_some_and(|more| more.unlabelled > 0);
    // Known in part, gold outputs have no dual: no number of epochs ends with a proof, and the certificate says so.
    if partial && report.solver == SolverKind::Sgd {
        return None;
    }
    let weaker = match spec.penalty {
        Penalty::C(c) => format!("lower spec.penalty.c, which is {c:?}"),
        Penalty::L2(l2) => format!("raise spec.penalty.l2, which is {l2:?}"),
    };
    let is_raw = spec.standardize == Standardize::Never && report.structured.is_none();
    let remedy = match report.solver {
        SolverKind::Sgd if report.l2 > 0.0 => {
            "raise spec.sgd.epochs or use spec.solver = dual, which ends with a proof".to_owned()
        }
        SolverKind::Sgd => "raise spec.sgd.epochs".to_owned(),
        _ if is_raw => {
            format!(
                "raise spec.max_passes or spec.tol, leave out spec.standardize = never, or {weaker}"
            )
        }
        SolverKind::Lbfgs if report.structured.is_some() && spec.l1 > 0.0 => {
            "with spec.l1, a gap can seldom be proven, and the run ended because ten passes gained less than a tenth of spec.tol: lower spec.tol to continue, or raise spec.max_passes".to_owned()
        }
        // It ended by itself: another pass would gain nothing.
        _ if report.structured.is_some()
            && report.best_pass.is_none()
            && spec.max_passes.is_some_and(|most| report.passes < most) =>
        {
            format!("it ended because single precision cannot improve it further: raise spec.tol, or {weaker}")
        }
        _ => format!("raise spec.max_passes or spec.tol, or {weaker}"),
    };
    // As progress counts them, and `--max-passes`: a pass of newton takes the work of several.
    let passes = match (report.solver, report.curve.last()) {
        (SolverKind::Newton | SolverKind::Lbfgs | SolverKind::Gd, Some(last)) => last.pass,
        _ => report.passes,
    };
    let passes = format!("{passes} {}", if passes == 1 { "pass" } else { "passes" });
    Some(format!("did not converge to spec.tol = {:.0e} in {passes} ({far}): {remedy}", spec.tol))
}

/// Weights of standardised features as weights of the features themselves: w ← w·scale, b ← b − Σ w·mean.
pub(crate) fn unscale(weights: Weights, scaling: &Standardizer, n_outputs: usize) -> Weights {
    fn fold<F: Number>(mut w: Vec<F>, scaling: &Standardizer, k: usize) -> Weights {
        let d = scaling.scale.len();
        let (rows, bias) = w.split_at_mut(d * k);
        for (j, row) in rows.chunks_exact_mut(k).enumerate() {
            for (c, w) in row.iter_mut().enumerate() {
                *w *= F::from_f32(scaling.scale[j]);
                if let (Some(mean), Some(b)) = (&scaling.mean, bias.get_mut(c)) {
                    *b -= *w * F::from_f32(mean[j]);
                }
            }
        }
        F::own(w)
    }
    match weights {
        Weights::F32(w) => fold(w, scaling, n_outputs),
        Weights::F64(w) => fold(w, scaling, n_outputs),
        mapped => mapped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_sorted_numbers() {
        for n in [1, 2, 3, 10, 101, 1000] {
            let numbers: Vec<f64> =
                (0..n).map(|i| f64::from((i * 7919 + 13) % 997 - 500)).collect();
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            let want = QUANTILES.map(|q| sorted[((n - 1) as f64 * q).round() as usize]);
            assert_eq!(quantiles(&mut numbers.clone(), QUANTILES), want);
            let ends = [sorted[0], sorted[n as usize - 1]];
            assert_eq!(quantiles(&mut numbers.clone(), [0.0, 1.0]), ends);
        }
    }
}
