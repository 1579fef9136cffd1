//! The solvers minimise functions of your own: implement `Objective`.
//!
//!     cargo run --release -p lineal --example own_function

use lineal::solver::{Lbfgs, Objective, lbfgs, silent};

/// The sum of distances from some points in the plane, softened so that it is smooth: the best place for a fire station.
struct Station {
    houses: Vec<[f64; 2]>,
}

impl Objective<f64> for Station {
    fn dim(&self) -> usize {
        2
    }

    fn value_grad(&mut self, w: &[f64], grad: &mut [f64]) -> f64 {
        grad.fill(0.0);
        let mut value = 0.0;
        for house in &self.houses {
            let (dx, dy) = (w[0] - house[0], w[1] - house[1]);
            let distance = (dx * dx + dy * dy + 1e-6).sqrt();
            value += distance;
            grad[0] += dx / distance;
            grad[1] += dy / distance;
        }
        value
    }
}

fn main() -> Result<(), lineal::solver::Error> {
    let mut station =
        Station { houses: vec![[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [1.0, 1.0], [5.0, 5.0]] };
    let mut place = [0.0, 0.0];
    let outcome = lbfgs(&Lbfgs::default(), &mut station, &mut place, &mut silent())?;
    println!("at ({:.3}, {:.3}) after {} passes", place[0], place[1], outcome.passes);
    Ok(())
}
