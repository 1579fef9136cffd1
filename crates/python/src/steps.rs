//! Stochastic steps, epoch by epoch.

use crate::arrays::Features;
use crate::errors::refused;
use crate::run::brief;
use lineal_steps::{Loss, Rate, Settings, shuffle};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};

/// Weights on their way, and the rows that they walk over.
#[pyclass(frozen, module = "lineal._lineal")]
pub(crate) struct Steps {
    steps: Mutex<lineal_steps::Steps>,
    x: lineal::linalg::Matrix,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
}

/// A number of a dictionary.
fn get(from: &Bound<'_, PyDict>, name: &str) -> PyResult<f64> {
    match from.get_item(name)? {
        Some(value) => value.extract(),
        None => Err(refused(format!("{name} is missing"))),
    }
}

fn settings(from: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let name = |key: &str| -> PyResult<String> {
        from.get_item(key)?.ok_or_else(|| refused(format!("{key} is missing")))?.extract()
    };
    let (epsilon, eta) = (get(from, "epsilon")?, get(from, "eta")?);
    let loss = match name("loss")?.as_str() {
        "hinge" => Loss::Hinge { margin: 1.0 },
        "perceptron" => Loss::Hinge { margin: 0.0 },
        "squared_hinge" => Loss::SquaredHinge,
        "log_loss" => Loss::Logistic,
        "modified_huber" => Loss::ModifiedHuber,
        "squared_error" => Loss::Squared,
        "huber" => Loss::Huber { delta: epsilon },
        "epsilon_insensitive" => Loss::Epsilon { epsilon },
        "squared_epsilon_insensitive" => Loss::SquaredEpsilon { epsilon },
        other => return Err(refused(format!("unknown loss {other}"))),
    };
    let rate = match name("learning_rate")?.as_str() {
        "constant" | "adaptive" => Rate::Constant { eta },
        "optimal" => Rate::Optimal,
        "invscaling" => Rate::Inverse { eta, power: get(from, "power_t")? },
        "pa1" => Rate::PassiveAggressive { longest: eta },
        "pa2" => Rate::SoftPassiveAggressive { firmness: eta },
        other => return Err(refused(format!("unknown learning_rate {other}"))),
    };
    let l1_ratio: Option<f64> =
        from.get_item("l1_ratio")?.map(|ratio| ratio.extract()).transpose()?.flatten();
    Ok(Settings {
        loss,
        rate,
        alpha: get(from, "alpha")?,
        l1_ratio,
        bias: get(from, "bias")? != 0.0,
        bias_decay: get(from, "bias_decay")?,
        weight_positive: get(from, "weight_positive")?,
        weight_negative: get(from, "weight_negative")?,
        average_from: get(from, "average_from")? as u64,
    })
}

#[pymethods]
impl Steps {
    #[new]
    #[pyo3(signature = (x, y, weights, coef, bias, t, average=None))]
    fn new(
        x: Features<'_>,
        y: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        coef: PyReadonlyArray1<'_, f64>,
        bias: f64,
        t: f64,
        average: Option<(PyReadonlyArray1<'_, f64>, f64)>,
    ) -> PyResult<Self> {
        // The steps outlive this call, so they have a copy of the rows.
        let x = x.with(|x| Ok(x.select(&(0..x.n_rows()).collect::<Vec<_>>())))?;
        let vector = |array: &PyReadonlyArray1<'_, f64>| {
            array.as_slice().map(<[f64]>::to_vec).map_err(refused)
        };
        let (y, coef) = (vector(&y)?, vector(&coef)?);
        let weights = weights.as_ref().map(vector).transpose()?;
        let n_rows = x.n_rows();
        if y.len() != n_rows || weights.as_ref().is_some_and(|weights| weights.len() != n_rows) {
            return Err(refused(format!(
                "targets and weights must be as many as the {n_rows} rows"
            )));
        }
        if coef.len() != x.n_cols() {
            return Err(refused(format!("{} weights for {} features", coef.len(), x.n_cols())));
        }
        let average = match &average {
            Some((coef, bias)) => Some((vector(coef)?, *bias)),
            None => None,
        };
        let steps = Mutex::new(lineal_steps::Steps::new(coef, bias).resume(t, average));
        Ok(Self { steps, x, y, weights })
    }

    /// A step for each row of `order`; returns the sums of losses and of objectives that it saw.
    fn epoch(
        &self,
        py: Python<'_>,
        with: &Bound<'_, PyDict>,
        order: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<(f64, f64)> {
        let (with, order) = (settings(with)?, order.as_slice().map_err(refused)?);
        let n_rows = self.x.n_rows() as u32;
        if order.iter().any(|&i| i >= n_rows) {
            return Err(refused("a row of the order is not there"));
        }
        let seen = brief(py, 1, || {
            let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(steps.epoch(&with, &self.x, &self.y, self.weights.as_deref(), order))
        })?;
        Ok((seen.loss, seen.objective))
    }

    /// Weights and bias.
    fn weights<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, f64) {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        (steps.weights().into_pyarray(py), steps.bias())
    }

    /// Weights but for a common factor: see `lineal_steps::Steps::unscaled`.
    fn unscaled<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.unscaled().into_pyarray(py)
    }

    /// Averages of weights and bias.
    fn averages<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, f64) {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let (weights, bias) = steps.averages();
        (weights.into_pyarray(py), bias)
    }
}

/// Shuffles the order of an epoch in place.
#[pyfunction]
pub(crate) fn shuffle_order(mut order: PyReadwriteArray1<'_, u32>, seed: u32) -> PyResult<()> {
    shuffle(order.as_slice_mut().map_err(refused)?, seed);
    Ok(())
}
