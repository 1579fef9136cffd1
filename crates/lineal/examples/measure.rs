//! Trains on a file and prints time, certificate and test accuracy: `measure TRAIN TEST loss solver bias C tol [sum]`.

use lineal::*;
use std::time::Instant;

fn main() -> Result<(), Error> {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let spec = TrainSpec {
        loss: Some(a[2].parse().unwrap()),
        solver: a[3].parse().unwrap(),
        bias: match a[4].as_str() {
            "free" => Bias::Free,
            "penalised" => Bias::Penalised,
            _ => Bias::None,
        },
        penalty: Penalty::C(a[5].parse().unwrap()),
        tol: a[6].parse().unwrap(),
        sum: a.get(7).is_some_and(|s| s == "sum"),
        sgd: SgdSpec { epochs: 50, average: true, ..Default::default() },
        ..TrainSpec::default()
    };
    with_threads(Some(1), || {
        let t = Instant::now();
        let data = read(a[0].as_str(), &ReadOptions::default())?;
        let read_s = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let verbose = std::env::var("V").is_ok();
        let mut mon = |p: &CurvePoint| {
            if verbose {
                eprintln!("{} {:?} {:?} {:.3}", p.pass, p.objective, p.gap, p.seconds);
            }
            std::ops::ControlFlow::Continue(())
        };
        let (model, r) = Training::new(&data, &spec).monitor(&mut mon).run()?;
        let train_s = t.elapsed().as_secs_f64();
        let test = model.read(a[1].as_str(), &ReadOptions::default())?;
        let Metrics::Classify(m) = model.evaluate(&test)? else { panic!() };
        println!(
            "{:?} {} {} passes {} obj*n/C-scale {:.9} gap {:.2e} rel {:.1e} conv {} read {:.3}s train {:.3}s acc {:.4}",
            r.precision,
            r.loss,
            r.solver,
            r.passes,
            r.objective,
            r.gap.unwrap_or(f64::NAN),
            r.gap.unwrap_or(f64::NAN) / r.objective,
            r.converged,
            read_s,
            train_s,
            m.accuracy
        );
        Ok(())
    })
}
