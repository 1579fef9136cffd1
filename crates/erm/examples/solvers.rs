//! Times the solvers of flat models on a LIBSVM file, without the program around them: one line of JSON for each run.
//!
//! ```text
//! cargo run --release -p lineal-erm --example solvers -- train a9a.svm --loss hinge --strategy joint -C 1 --tol 1e-3
//! ```
//!
//! Flags are those of `lineal train`, with a penalised bias; flags that are not read here are ignored, with their value. `--solver` is `auto`, `dual`, `newton`, `column` (Newton's method on two classes as one column) or, for the hinge by columns, `multipliers`. `--blocks 10,10` cuts columns.

use lineal_erm::columns::{self, ColumnTask};
use lineal_erm::newton::{NewtonTask, newton, newton_pays};
use lineal_erm::{Dually, Erm, Penalty, Rows};
use lineal_linalg::{Csr, Matrix};
use lineal_loss::{DualLoss, Hinge, Logistic, OfMargin, SecondOrder, SquaredHinge};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Columns, OutputSpace, Signs};
use lineal_model::{Bias, Linear, Model};
use lineal_solver::{Dual, Outcome, Stop, dual, silent};
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

struct Request {
    loss: String,
    strategy: String,
    solver: String,
    c: f64,
    tol: f64,
    max_passes: usize,
    blocks: Vec<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut loss, mut strategy) = (String::from("logistic"), String::from("joint"));
    let (mut solver, mut file) = (String::from("auto"), String::new());
    let (mut c, mut tol, mut max_passes, mut threads, mut repeat) = (1.0, 1e-3, 5000, 1, 1);
    let mut blocks = Vec::new();
    let mut args = std::env::args().skip(2);
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or(format!("{flag} needs a value"));
        match flag.as_str() {
            "--json" | "--quiet" => {}
            "--loss" => loss = value()?,
            "--strategy" => strategy = value()?,
            "--solver" => solver = value()?,
            "--blocks" => blocks = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "-C" => c = value()?.parse()?,
            "--tol" => tol = value()?.parse()?,
            "--max-passes" => max_passes = value()?.parse()?,
            "--threads" => threads = value()?.parse()?,
            "--repeat" => repeat = value()?.parse()?,
            name if name.starts_with('-') => drop(value()?),
            name => file = name.to_owned(),
        }
    }
    let (x, y, k) = read(&std::fs::read_to_string(file)?)?;
    let x = x.densified(1 << 24).unwrap_or(x);
    if solver == "auto" {
        let (n_outputs, l2) = (if k == 2 { 1 } else { k }, 1.0 / (c * y.len() as f64));
        let columns = loss == "logistic" && strategy != "joint" && k > 2;
        let pays = loss == "logistic" && !columns && newton_pays(&x, n_outputs, l2);
        solver = String::from(if pays { "newton" } else { "dual" });
    }
    let request = Request { loss, strategy, solver, c, tol, max_passes, blocks };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    for _ in 0..repeat {
        let start = Instant::now();
        let cpu = cpu_seconds();
        let (objective, outcome) = pool.install(|| run(&request, &x, &y, k));
        println!(
            "{{\"seconds\": {{\"train\": {:.6}}}, \"cpu\": {:.6}, \"objective\": {objective:?}, \"l2\": {:?}, \"gap\": {:?}, \"passes\": {}, \"solver\": \"{}\", \"converged\": {}}}",
            start.elapsed().as_secs_f64(),
            cpu_seconds() - cpu,
            1.0 / (request.c * y.len() as f64),
            outcome.gap.unwrap_or(f64::NAN),
            outcome.passes,
            request.solver,
            outcome.converged,
        );
    }
    Ok(())
}

/// Rows, classes from 0 in the order of their names, and how many there are.
fn read(text: &str) -> Result<(Matrix, Vec<u32>, usize), Box<dyn Error>> {
    let (mut indptr, mut idx, mut val, mut labels) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let mut cells = line.split_ascii_whitespace();
        labels.push(cells.next().ok_or("a line without a label")?.parse::<i64>()?);
        for cell in cells {
            let (j, v) = cell.split_once(':').ok_or("a cell without a colon")?;
            idx.push(j.parse::<u32>()? - 1);
            val.push(v.parse::<f32>()?);
        }
        indptr.push(idx.len());
    }
    let n_cols = idx.iter().max().map_or(0, |&j| j as usize + 1);
    let mut names = labels.clone();
    names.sort_unstable();
    names.dedup();
    let class = |label: &i64| names.binary_search(label).map(|at| at as u32);
    let y = labels.iter().map(class).collect::<Result<Vec<u32>, usize>>().map_err(|_| "a label")?;
    Ok((Matrix::Sparse(Csr::new(n_cols, indptr, idx, val)?), y, names.len()))
}

fn run(request: &Request, x: &Matrix, y: &[u32], k: usize) -> (f64, Outcome) {
    match (request.strategy.as_str(), k, request.loss.as_str()) {
        (_, 2, "hinge") if request.solver == "multipliers" => {
            by_columns(request, x, y, 2, Hinge(ZeroOne))
        }
        (_, 2, "squared-hinge") if request.solver == "column" => {
            by_columns(request, x, y, 1, SquaredHinge(ZeroOne))
        }
        (_, 2, _) if request.solver == "column" => by_columns(request, x, y, 1, Logistic(NoCost)),
        (_, 2, "hinge") => convex(request, x, y, Binary, &Hinge(ZeroOne)),
        (_, 2, "squared-hinge") => smooth(request, x, y, Binary, &SquaredHinge(ZeroOne)),
        (_, 2, _) => smooth(request, x, y, Binary, &Logistic(NoCost)),
        ("joint", _, "hinge") => convex(request, x, y, Classes(k), &Hinge(ZeroOne)),
        ("joint", ..) => smooth(request, x, y, Classes(k), &Logistic(NoCost)),
        (_, _, "hinge") => by_columns(request, x, y, k, Hinge(ZeroOne)),
        (_, _, "squared-hinge") => by_columns(request, x, y, k, SquaredHinge(ZeroOne)),
        _ => by_columns(request, x, y, k, Logistic(NoCost)),
    }
}

fn stop(request: &Request) -> Stop {
    Stop { tol: request.tol, max_passes: request.max_passes }
}

fn smooth<S, L>(request: &Request, x: &Matrix, y: &[u32], space: S, loss: &L) -> (f64, Outcome)
where
    S: OutputSpace<f32, Output = u32> + OutputSpace<f64, Output = u32>,
    L: DualLoss<f32, S> + DualLoss<f64, S> + SecondOrder<f32, S> + SecondOrder<f64, S>,
{
    if request.solver == "dual" {
        return convex(request, x, y, space, loss);
    }
    let l2 = 1.0 / (request.c * y.len() as f64);
    let model = Linear::new(x.n_cols(), space, Bias::Penalised);
    let mut w = vec![0.0; Model::<f64>::dim(&model)];
    let task =
        NewtonTask { x, y, weights: None, space, loss, bias: Bias::Penalised, l2, coupled: true };
    let outcome = newton(&task, stop(request), &mut w, &mut silent());
    let penalty = Penalty { l2, l1: 0.0 };
    let erm = Erm::<f64, _, _, _>::new(&model, loss, Rows::new(x, y, None), penalty);
    (erm.objective(&w), outcome)
}

fn convex<S, L>(request: &Request, x: &Matrix, y: &[u32], space: S, loss: &L) -> (f64, Outcome)
where
    S: OutputSpace<f32, Output = u32> + OutputSpace<f64, Output = u32>,
    L: DualLoss<f32, S> + DualLoss<f64, S>,
{
    let model = Linear::new(x.n_cols(), space, Bias::Penalised);
    let rows = Rows::new(x, y, None);
    let penalty = Penalty { l2: 1.0 / (request.c * y.len() as f64), l1: 0.0 };
    let mut erm = Erm::<f32, _, _, _>::new(&model, loss, rows, penalty);
    let mut problem = Dually::new(&mut erm);
    let mut mu = vec![0.0f32; problem.n_dual()];
    let mut w = vec![0.0f32; Model::<f32>::dim(&model)];
    let config = Dual { stop: stop(request), ..Dual::default() };
    let outcome = dual(&config, &mut problem, &mut mu, &mut w, &mut silent());
    let w: Vec<f64> = w.iter().map(|&w| f64::from(w)).collect();
    (Erm::<f64, _, _, _>::new(&model, loss, rows, penalty).objective(&w), outcome)
}

fn by_columns<L>(request: &Request, x: &Matrix, y: &[u32], k: usize, loss: L) -> (f64, Outcome)
where
    L: OfMargin<f32> + OfMargin<f64>,
{
    let report = vec![1.0; k];
    let task = ColumnTask {
        x,
        kinds: y,
        weights: None,
        space: match k {
            1 => Columns::new(Signs::Table { table: &[-1.0, 1.0], n_columns: 1 }, 1),
            _ => Columns::new(Signs::OneVsAll, k),
        },
        bias: Bias::Penalised,
        l2: 1.0 / (request.c * y.len() as f64),
        report: &report,
        side_by_side: &request.blocks,
    };
    let on = |_| ControlFlow::Continue(());
    let fit = match request.solver.as_str() {
        "dual" => {
            let config = Dual { stop: stop(request), ..Dual::default() };
            columns::dual::<f32, L>(&task, loss, &config, &on)
        }
        "multipliers" => columns::multipliers::<f32>(&task, None, stop(request), &on),
        _ => columns::newton::<f32, L>(&task, loss, None, stop(request), &on),
    };
    let proof = columns::sum(&fit.certificates, &report);
    let outcome = Outcome {
        passes: fit.passes,
        gap: proof.finite_gap(),
        converged: fit.converged,
        ..Outcome::default()
    };
    (proof.objective, outcome)
}

/// CPU time of the process, 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or("");
    let ticks = |at: usize| after_name.split(' ').nth(at).and_then(|t| t.parse::<f64>().ok());
    (ticks(12).unwrap_or(0.0) + ticks(13).unwrap_or(0.0)) / 100.0
}
