//! Small random data, and every loss on it.
#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    missing_docs,
    reason = "each test file uses some of it"
)]

use lineal_linalg::{Csr, Matrix};
use lineal_model::Bias;

pub const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised, Bias::None];

/// Entries in [−1, 1), the same every time.
pub fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Rows with gold outputs for every space.
pub struct Small {
    pub x: Matrix,
    pub two: Vec<u32>,
    pub three: Vec<u32>,
    pub real: Vec<f64>,
    pub weights: Vec<f32>,
}

/// Sparse rows, the third without any feature; outputs that follow the features but for some noise; weights of 0 to 3,
/// the second of which is 0.
pub fn small(n: usize, d: usize, seed: u64) -> Small {
    let values = noise(n * d, seed);
    let (mut indptr, mut idx, mut val) = (vec![0], vec![], vec![]);
    let mut sums = vec![];
    for i in 0..n {
        let row = &values[i * d..(i + 1) * d];
        for (j, &v) in row.iter().enumerate() {
            if i != 2 && v.abs() > 0.3 {
                idx.push(j as u32);
                val.push(2.0 * v as f32);
            }
        }
        indptr.push(idx.len());
        sums.push((row[0] + 0.5 * row[1], row[0] - row[d - 1]));
    }
    let off = noise(3 * n, seed ^ 0xabc);
    let class = |i: usize| {
        let (a, b) = (sums[i].0 + 0.4 * off[3 * i], sums[i].1 + 0.4 * off[3 * i + 1]);
        if a > 0.2 { 2 } else { u32::from(b > 0.0) }
    };
    let weight =
        |i: usize| if i == 1 { 0.0 } else { (4.0 * off[3 * i + 2].abs()).floor().min(3.0) as f32 };
    Small {
        x: Matrix::Sparse(Csr::new(d, indptr, idx, val).expect("rows as written above")),
        two: (0..n).map(|i| u32::from(sums[i].0 + 0.3 * off[3 * i] > 0.1)).collect(),
        three: (0..n).map(class).collect(),
        real: (0..n).map(|i| 2.0 * sums[i].0 + off[3 * i]).collect(),
        weights: (0..n).map(weight).collect(),
    }
}

/// A table of costs between three classes.
pub fn costs() -> lineal_model::cost::CostMatrix {
    let table = vec![0.0, 1.0, 2.5, /**/ 0.5, 0.0, 1.5, /**/ 3.0, 1.0, 0.0];
    lineal_model::cost::CostMatrix::new(3, table).expect("a table of costs")
}

/// Calls `f(name, space, loss, outputs, …)` for every smooth loss.
macro_rules! every_smooth_loss {
    ($f:ident, $data:expr $(, $arg:expr)*) => {{
        use lineal_loss::{Huber, Logistic, Squared, SquaredHinge, SumSquaredHinge};
        use lineal_model::cost::{NoCost, ZeroOne};
        use lineal_model::space::{Binary, Classes, Real};
        let (data, costs) = ($data, small::costs());
        $f("squared hinge", Binary, &SquaredHinge(ZeroOne), &data.two $(, $arg)*);
        $f("logistic", Binary, &Logistic(NoCost), &data.two $(, $arg)*);
        $f("squared, binary", Binary, &Squared, &data.two $(, $arg)*);
        $f("sum squared hinge", Classes(3), &SumSquaredHinge(&costs), &data.three $(, $arg)*);
        $f("softmax", Classes(3), &Logistic(NoCost), &data.three $(, $arg)*);
        $f("softmax-margin", Classes(3), &Logistic(&costs), &data.three $(, $arg)*);
        $f("squared, classes", Classes(3), &Squared, &data.three $(, $arg)*);
        $f("squared", Real, &Squared, &data.real $(, $arg)*);
        $f("huber", Real, &Huber { delta: 0.7 }, &data.real $(, $arg)*);
    }};
}

/// Calls `f(name, space, loss, outputs, …)` for every loss.
macro_rules! every_loss {
    ($f:ident, $data:expr $(, $arg:expr)*) => {{
        use lineal_loss::{Epsilon, Hinge, SumHinge};
        every_smooth_loss!($f, $data $(, $arg)*);
        let (data, costs) = ($data, small::costs());
        $f("perceptron", Binary, &Hinge(NoCost), &data.two $(, $arg)*);
        $f("hinge", Binary, &Hinge(ZeroOne), &data.two $(, $arg)*);
        $f("hinge, classes", Classes(3), &Hinge(ZeroOne), &data.three $(, $arg)*);
        $f("hinge with costs", Classes(3), &Hinge(&costs), &data.three $(, $arg)*);
        $f("sum perceptron", Classes(3), &SumHinge(NoCost), &data.three $(, $arg)*);
        $f("sum hinge", Classes(3), &SumHinge(ZeroOne), &data.three $(, $arg)*);
        $f("sum hinge with costs", Classes(3), &SumHinge(&costs), &data.three $(, $arg)*);
        $f("squared hinge, classes", Classes(3), &SquaredHinge(ZeroOne), &data.three $(, $arg)*);
        $f("epsilon", Real, &Epsilon { epsilon: 0.2 }, &data.real $(, $arg)*);
        use lineal_loss::SquaredHinge;
        use lineal_model::cost::{NoCost, ZeroOne};
        use lineal_model::space::{Binary, Classes, Real};
    }};
}

pub(crate) use {every_loss, every_smooth_loss};
