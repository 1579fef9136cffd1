//! Rows with computed features beside their own.

use super::learnt::{FeatureMap, Ready};
use crate::Error;
use lineal_linalg::{Csr, Dense, Matrix, Row};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one thread works on at a time.
const CHUNK: usize = 256;

/// The most values of a matrix: 4 GB of them.
const MOST_VALUES: usize = 1 << 30;

/// Rows one after the other.
#[derive(Default)]
struct Rows {
    lens: Vec<usize>,
    idx: Vec<u32>,
    val: Vec<f32>,
}

/// Buffers for one row.
#[derive(Default)]
struct Work {
    numbers: Vec<(u32, f32)>,
    angles: Vec<f64>,
    mapped: Vec<f32>,
}

impl FeatureMap {
    /// The rows with what is made of them to the right. Under `rff` columns of numbers are left empty: the features stand
    /// for them.
    pub fn apply(&self, x: &Matrix) -> Result<Matrix, Error> {
        if x.n_cols() != self.n_inputs() {
            let why = format!("it was made for {}", self.n_inputs());
            return Err(Error::Map { columns: x.n_cols(), why });
        }
        let n_cols = self.n_inputs() + self.n_computed();
        let is_full = self.columns().crosses.iter().flatten().all(|span| span.len() == 1);
        if let (Matrix::Dense(_), true) = (x, is_full) {
            let n = x.n_rows().saturating_mul(n_cols);
            self.check_values(n)?;
            let mut val = vec![0.0; n];
            val.par_chunks_mut(n_cols.max(1)).enumerate().for_each_init(
                Work::default,
                |work, (i, out)| {
                    self.row(x.row(i), work, |j, v| out[j] = v);
                },
            );
            let dense =
                Dense::new(x.n_rows(), n_cols, val).expect("as many rows of as many columns");
            return Ok(Matrix::Dense(dense));
        }
        self.check_values(self.count(x))?;
        let chunks: Vec<Rows> = (0..x.n_rows().div_ceil(CHUNK))
            .into_par_iter()
            .map_init(Work::default, |work, chunk| {
                let mut rows = Rows::default();
                for i in chunk * CHUNK..x.n_rows().min((chunk + 1) * CHUNK) {
                    let before = rows.idx.len();
                    self.row(x.row(i), work, |j, v| {
                        if v != 0.0 {
                            rows.idx.push(j as u32);
                            rows.val.push(v);
                        }
                    });
                    rows.lens.push(rows.idx.len() - before);
                }
                rows
            })
            .collect();
        let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
        for rows in chunks {
            for len in rows.lens {
                indptr.push(indptr.last().copied().unwrap_or(0) + len);
            }
            idx.extend(rows.idx);
            val.extend(rows.val);
        }
        Ok(Matrix::Sparse(Csr::new(n_cols, indptr, idx, val).expect("rows in order of columns")))
    }

    /// Calls `f(column, value)` for each value of a row with all its features, columns rising.
    fn row(&self, x: Row<'_>, work: &mut Work, mut f: impl FnMut(usize, f32)) {
        let columns = self.columns();
        let Work { numbers, angles, mapped } = work;
        numbers.clear();
        positions(x, &columns.numbers, |at, v| numbers.push((at, v)));
        let replaces = self.replaces();
        let mut spans = columns.numbers.iter().peekable();
        x.for_each(|j, v| {
            while spans.next_if(|span| span.end as usize <= j).is_some() {}
            if !replaces || spans.peek().is_none_or(|span| !span.contains(&(j as u32))) {
                f(j, v);
            }
        });
        let mut start = self.n_inputs();
        for [a, b] in &columns.crosses {
            positions(x, std::slice::from_ref(a), |at_a, v_a| {
                positions(x, std::slice::from_ref(b), |at_b, v_b| {
                    f(start + at_a as usize * b.len() + at_b as usize, v_a * v_b);
                });
            });
            start += a.len() * b.len();
        }
        match self.ready() {
            Ready::Plain => {}
            Ready::Poly(order) => order.for_each(numbers, &mut |at, v| f(start + at as usize, v)),
            Ready::Rff(fourier) => {
                mapped.resize(self.n_computed() - self.n_crossed(), 0.0);
                fourier.fill(numbers, angles, mapped);
                mapped.iter().enumerate().for_each(|(at, &v)| f(start + at, v));
            }
        }
    }

    /// How many values the rows would have at most.
    fn count(&self, x: &Matrix) -> usize {
        let columns = self.columns();
        let mapped = self.n_computed() - self.n_crossed();
        let of_row = |i: usize| {
            let row = x.row(i);
            let n_in = |spans: &[Range<u32>]| {
                let mut n = 0usize;
                positions(row, spans, |_, _| n += 1);
                n
            };
            let crossed: usize = columns
                .crosses
                .iter()
                .map(|[a, b]| n_in(std::slice::from_ref(a)) * n_in(std::slice::from_ref(b)))
                .sum();
            let mapped = match (self.ready(), columns.map) {
                (Ready::Poly(_), Some(super::MapSpec::Poly { degree })) => {
                    let n_products =
                        super::monomials::Monomials::count(n_in(&columns.numbers), degree);
                    n_products.map_or(usize::MAX, |n| n as usize)
                }
                _ => mapped,
            };
            row.nnz().saturating_add(crossed).saturating_add(mapped)
        };
        (0..x.n_rows()).into_par_iter().map(of_row).reduce(|| 0, usize::saturating_add)
    }

    fn check_values(&self, n: usize) -> Result<(), Error> {
        if n <= MOST_VALUES {
            return Ok(());
        }
        let what = self.columns().map.map_or("interactions".to_owned(), |map| map.to_string());
        let remedy = format!(
            "the rows would have {n} values, more than memory should hold: make fewer features"
        );
        Err(Error::setting("map", what, remedy))
    }
}

/// Calls `f(position among all spans, value)` for each value of a row within one of the spans, which rise, that is not 0.
fn positions(row: Row<'_>, spans: &[Range<u32>], mut f: impl FnMut(u32, f32)) {
    match row {
        Row::Dense(values) => {
            let mut first = 0;
            for span in spans {
                let inside = &values[span.start as usize..span.end as usize];
                for (at, &v) in (first..).zip(inside) {
                    if v != 0.0 {
                        f(at, v);
                    }
                }
                first += span.len() as u32;
            }
        }
        Row::Sparse(row) => {
            let (mut idx, mut val) = (row.idx(), row.val());
            let mut first = 0;
            for span in spans {
                let skip = idx.partition_point(|&j| j < span.start);
                (idx, val) = (&idx[skip..], &val[skip..]);
                let n = idx.partition_point(|&j| j < span.end);
                for (&j, &v) in idx[..n].iter().zip(val) {
                    if v != 0.0 {
                        f(first + j - span.start, v);
                    }
                }
                first += span.len() as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Columns;

    fn dense(n_cols: usize, values: &[f32]) -> Matrix {
        Matrix::Dense(Dense::new(values.len() / n_cols, n_cols, values.to_vec()).unwrap())
    }

    fn one(span: Range<u32>) -> Vec<Range<u32>> {
        std::iter::once(span).collect()
    }

    fn sparse(x: &Matrix) -> Matrix {
        let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
        for i in 0..x.n_rows() {
            x.row(i).for_each(|j, v| {
                if v != 0.0 {
                    idx.push(j as u32);
                    val.push(v);
                }
            });
            indptr.push(idx.len());
        }
        Matrix::Sparse(Csr::new(x.n_cols(), indptr, idx, val).unwrap())
    }

    #[test]
    fn categories_and_numbers_interact() {
        // age, city=Oslo, city=Rome, pet=cat, pet=dog
        let x = sparse(&dense(5, &[30.0, 0.0, 1.0, 1.0, 0.0, 40.0, 1.0, 0.0, 0.0, 1.0]));
        let crosses = vec![[0..1, 1..3], [1..3, 3..5]];
        let map = FeatureMap::learn(Columns { crosses, ..Columns::default() }, &x).unwrap();
        let names = ["age", "city=Oslo", "city=Rome", "pet=cat", "pet=dog"];
        let name = |j| map.name(j, |i| names[i].into());
        assert_eq!(map.n_computed(), 6);
        assert_eq!((name(1), name(2)), ("age*city=Rome".into(), "city=Oslo*pet=cat".into()));
        let mapped = map.apply(&x).unwrap();
        assert_eq!(
            Some(mapped.row(0)),
            Row::sparse(&[0, 2, 3, 6, 9], &[30.0, 1.0, 1.0, 30.0, 1.0])
        );
        assert_eq!(
            Some(mapped.row(1)),
            Row::sparse(&[0, 1, 4, 5, 8], &[40.0, 1.0, 1.0, 40.0, 1.0])
        );
    }

    #[test]
    fn sparse_and_dense_rows_give_the_same() {
        let x = dense(4, &[1.0, 0.0, 2.0, 1.0, 0.5, -3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        for map in ["poly:3", "rff:6:0.5"] {
            let columns = Columns {
                numbers: vec![0..1, 2..4],
                crosses: vec![[0..1, 1..2]],
                map: Some(map.parse().unwrap()),
                seed: 3,
            };
            let map = FeatureMap::learn(columns, &x).unwrap();
            let (a, b) = (map.apply(&x).unwrap(), map.apply(&sparse(&x)).unwrap());
            assert!(matches!((&a, &b), (Matrix::Dense(_), Matrix::Sparse(_))));
            assert_eq!(sparse(&a), sparse(&b));
            let again: FeatureMap =
                serde_json::from_str(&serde_json::to_string(&map).unwrap()).unwrap();
            assert_eq!(again.apply(&x).unwrap(), a);
        }
    }

    #[test]
    fn fourier_features_take_the_place_of_numbers() {
        let x = dense(2, &[5.0, 7.0]);
        let columns = Columns {
            numbers: one(0..1),
            map: Some("rff:2".parse().unwrap()),
            ..Columns::default()
        };
        let map = FeatureMap::learn(columns, &x).unwrap();
        let mapped = map.apply(&x).unwrap();
        let row = mapped.row(0).values();
        assert_eq!(row[..2], [0.0, 7.0]);
        assert!((row[2] * row[2] + row[3] * row[3] - 1.0).abs() < 1e-6);
        assert_eq!(map.name(1, |_| String::new()), "sin 1");
    }

    #[test]
    fn too_much_is_refused() {
        let x = Matrix::Sparse(Csr::new(100_000, vec![0], vec![], vec![]).unwrap());
        let learn = |map: &str, numbers, crosses| {
            let map = Some(map).filter(|m| !m.is_empty()).map(|m| m.parse().unwrap());
            FeatureMap::learn(Columns { numbers, crosses, map, seed: 0 }, &x)
                .unwrap_err()
                .to_string()
        };
        let message = learn("poly:2", one(0..100_000), vec![]);
        assert!(message.contains("5000050000 products"), "{message}");
        assert!(learn("poly:2", vec![], vec![]).contains("no column of numbers"));
        assert!(learn("rff:100000", one(0..100_000), vec![]).contains("too many"));
        let message = learn("", vec![], vec![[0..50_000, 50_000..100_000]]);
        assert!(message.contains("fewer values"), "{message}");
        assert!(learn("", vec![], vec![[0..1, 5..100_001]]).contains("not there"));
    }
}
