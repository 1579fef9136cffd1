//! Newton's method by outputs: to the optimum of a solver that shares nothing with it, and with the same bits at any number of threads.

use lineal_erm::newton::{NewtonTask, newton};
use lineal_erm::{Erm, Penalty, Rows};
use lineal_linalg::{Dense, Matrix, Rng};
use lineal_loss::{Logistic, SecondOrder, SquaredHinge};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, OutputSpace};
use lineal_model::{Bias, Linear, Model};
use lineal_solver::{Lbfgs, Stop, lbfgs, silent};

const D: usize = 12;

/// Rows around the centre of their class, on scales from 0.1 to 10.
fn rows(n: usize, k: u32) -> (Matrix, Vec<u32>) {
    let mut rng = Rng::new(5);
    let y: Vec<u32> = (0..n as u32).map(|i| i % k).collect();
    let mut value = |at: usize| {
        let (i, j) = (at / D, at % D);
        let centre = f32::from(u8::from(y[i] as usize == j % k as usize));
        (centre + 2.0 * rng.unit() as f32 - 1.0) * 10f32.powf(j as f32 / 6.0 - 1.0)
    };
    let all: Vec<f32> = (0..n * D).map(&mut value).collect();
    (Matrix::Dense(Dense::new(n, D, all).unwrap()), y)
}

fn agrees<S, L>(space: S, k: u32, loss: &L)
where
    S: OutputSpace<f32, Output = u32> + OutputSpace<f64, Output = u32>,
    L: lineal_loss::DualLoss<f64, S> + SecondOrder<f64, S> + SecondOrder<f32, S>,
{
    let (x, y) = rows(300, k);
    for bias in [Bias::Free, Bias::Penalised, Bias::None] {
        for l2 in [1e-1, 1e-4] {
            let model = Linear::new(D, space, bias);
            let penalty = Penalty { l2, l1: 0.0 };
            let mut erm = Erm::<f64, _, _, _>::new(&model, loss, Rows::new(&x, &y, None), penalty);
            let task =
                NewtonTask { x: &x, y: &y, weights: None, space, loss, bias, l2, coupled: true };
            let mut w = vec![0.0; Model::<f64>::dim(&model)];
            let stop = Stop { tol: 1e-8, max_passes: 2000 };
            let outcome = newton(&task, stop, &mut w, &mut silent());
            assert!(outcome.converged, "{bias:?}, l2 {l2}: {outcome:?}");
            let mut other = vec![0.0; w.len()];
            let config = Lbfgs { stop: Stop { tol: 1e-7, max_passes: 20_000 }, ..Lbfgs::default() };
            lbfgs(&config, &mut erm, &mut other, &mut silent()).unwrap();
            let (ours, theirs) = (erm.objective(&w), erm.objective(&other));
            assert!(ours <= theirs * (1.0 + 1e-7), "{bias:?}, l2 {l2}: {ours} and {theirs}");
        }
    }
}

#[test]
fn classes_reach_the_optimum() {
    agrees(Classes(4), 4, &Logistic(NoCost));
}

#[test]
fn two_classes_reach_the_optimum() {
    agrees(Binary, 2, &Logistic(NoCost));
    agrees(Binary, 2, &SquaredHinge(ZeroOne));
}

#[test]
fn threads_change_no_bit() {
    let (x, y) = rows(5000, 5);
    let (space, loss) = (Classes(5), Logistic(NoCost));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let bias = Bias::Free;
            let task = NewtonTask {
                x: &x,
                y: &y,
                weights: None,
                space,
                loss: &loss,
                bias,
                l2: 1e-4,
                coupled: true,
            };
            let mut w = vec![0.0; (D + 1) * 5];
            newton(&task, Stop { tol: 1e-4, max_passes: 500 }, &mut w, &mut silent());
            w
        })
    };
    let one = run(1);
    assert!(one.iter().any(|&w| w != 0.0));
    assert!(run(2) == one && run(3) == one);
}
