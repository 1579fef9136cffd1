//! A map that knows its columns.

use super::fourier::{Fourier, scale_gamma};
use super::monomials::Monomials;
use super::spec::MapSpec;
use crate::Error;
use lineal_linalg::Matrix;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::OnceLock;

/// The most features that are made.
const MOST: u64 = 1 << 24;

/// The most numbers in the directions of `rff`: 512 MB.
const MOST_DIRECTIONS: usize = 1 << 27;

/// What to make of which columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// The features that are numbers, in order: what the map is of.
    pub numbers: Vec<Range<u32>>,
    /// Pairs of columns whose features are multiplied, each with each.
    pub crosses: Vec<[Range<u32>; 2]>,
    /// The map, if there is one.
    pub map: Option<MapSpec>,
    /// Of the random choices of `rff`.
    pub seed: u64,
}

/// Makes more features of a row: products of columns that interact, then those of the map.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FeatureMap {
    n_inputs: usize,
    columns: Columns,
    /// The gamma of `rff`, chosen or learnt; else 0.
    gamma: f64,
    #[serde(skip)]
    ready: OnceLock<Ready>,
}

impl PartialEq for FeatureMap {
    fn eq(&self, other: &Self) -> bool {
        (self.n_inputs, &self.columns, self.gamma) == (other.n_inputs, &other.columns, other.gamma)
    }
}

/// What is computed once.
#[derive(Clone, Debug)]
pub(super) enum Ready {
    Plain,
    Poly(Monomials),
    Rff(Fourier),
}

impl FeatureMap {
    /// Takes up the request, and learns γ where it is not given.
    pub fn learn(columns: Columns, x: &Matrix) -> Result<Self, Error> {
        let gamma = match columns.map {
            Some(MapSpec::Rff { gamma, .. }) => {
                gamma.unwrap_or_else(|| scale_gamma(x, &columns.numbers))
            }
            _ => 0.0,
        };
        let this = Self { n_inputs: x.n_cols(), columns, gamma, ready: OnceLock::new() };
        this.check()?;
        Ok(this)
    }

    /// Refuses what cannot be: also for a map that comes from a file.
    pub fn check(&self) -> Result<(), Error> {
        let Columns { numbers, crosses, map, .. } = &self.columns;
        let inside =
            |span: &Range<u32>| span.start < span.end && span.end as usize <= self.n_inputs;
        let apart = numbers.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if !apart || !numbers.iter().chain(crosses.iter().flatten()).all(inside) {
            return Err(Error::Damaged("a map of columns that are not there".into()));
        }
        let n = self.n_numbers();
        let Some(map) = map else { return self.check_number("interactions") };
        if n == 0 {
            let remedy = "there is no column of numbers to map; see options.numeric";
            return Err(Error::setting("map", map, remedy));
        }
        match *map {
            MapSpec::Poly { degree } => {
                if Monomials::count(n, degree).is_none_or(|n| n > MOST) {
                    let products = Monomials::count(n, degree)
                        .map_or("over 2^64".to_owned(), |n| n.to_string());
                    let remedy = format!(
                        "{n} columns of numbers would make {products} products, more than {MOST}: take a lower degree, \
                         fewer columns, or rff:D"
                    );
                    return Err(Error::setting("map", map, remedy));
                }
            }
            MapSpec::Rff { n_features, .. } => {
                if n.saturating_mul(n_features / 2) > MOST_DIRECTIONS {
                    let remedy =
                        format!("{n} columns of numbers are too many for so many features");
                    return Err(Error::setting("map", map, remedy));
                }
                if !(self.gamma.is_finite() && self.gamma > 0.0) {
                    return Err(Error::setting("map", map, "its gamma is not a number above 0"));
                }
            }
        }
        self.check_number("map")
    }

    fn check_number(&self, what: &'static str) -> Result<(), Error> {
        let mut n_features = self.n_mapped() as u64;
        for [a, b] in &self.columns.crosses {
            n_features = n_features.saturating_add(a.len() as u64 * b.len() as u64);
        }
        if n_features > MOST {
            let remedy =
                format!("more than {MOST} features would be made; take columns of fewer values");
            return Err(Error::setting(what, n_features, remedy));
        }
        Ok(())
    }

    /// What it was asked to make.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The γ of `rff`.
    pub fn gamma(&self) -> Option<f64> {
        matches!(self.columns.map, Some(MapSpec::Rff { .. })).then_some(self.gamma)
    }

    /// How many columns rows have before.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// How many features are made, beside those.
    pub fn n_computed(&self) -> usize {
        self.n_crossed() + self.n_mapped()
    }

    /// Whether columns of numbers are left empty, as others stand for them.
    pub(super) fn replaces(&self) -> bool {
        matches!(self.columns.map, Some(MapSpec::Rff { .. }))
    }

    pub(super) fn n_crossed(&self) -> usize {
        self.columns.crosses.iter().map(|[a, b]| a.len() * b.len()).sum()
    }

    fn n_mapped(&self) -> usize {
        match self.columns.map {
            None => 0,
            Some(MapSpec::Poly { degree }) => {
                Monomials::count(self.n_numbers(), degree).unwrap_or(u64::MAX) as usize
            }
            Some(MapSpec::Rff { n_features, .. }) => n_features,
        }
    }

    fn n_numbers(&self) -> usize {
        self.columns.numbers.iter().map(|span| span.len()).sum()
    }

    pub(super) fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| match self.columns.map {
            None => Ready::Plain,
            Some(MapSpec::Poly { degree }) => Ready::Poly(Monomials::new(self.n_numbers(), degree)),
            Some(MapSpec::Rff { n_features, .. }) => {
                let (n, seed) = (self.n_numbers(), self.columns.seed);
                Ready::Rff(Fourier::new(n, n_features, self.gamma, seed))
            }
        })
    }

    /// What made feature `j`, from 0, is called: `age*city=Rome`, `x*y^2`, `cos 3`.
    ///
    /// # Panics
    /// If there is no such feature.
    pub fn name(&self, mut j: usize, input: impl Fn(usize) -> String) -> String {
        assert!(j < self.n_computed(), "feature {j} of {}", self.n_computed());
        for [a, b] in &self.columns.crosses {
            if j < a.len() * b.len() {
                let (at_a, at_b) = (a.start as usize + j / b.len(), b.start as usize + j % b.len());
                return format!("{}*{}", input(at_a), input(at_b));
            }
            j -= a.len() * b.len();
        }
        match self.ready() {
            Ready::Poly(order) => {
                let factors = order.factors(j as u64);
                let equals = factors.chunk_by(|a, b| a == b).map(|equals| {
                    let name = input(self.number(equals[0]));
                    if equals.len() == 1 { name } else { format!("{name}^{}", equals.len()) }
                });
                equals.collect::<Vec<_>>().join("*")
            }
            _ => format!("{} {}", if j.is_multiple_of(2) { "cos" } else { "sin" }, j / 2 + 1),
        }
    }

    /// The column of the `i`-th number.
    fn number(&self, mut i: usize) -> usize {
        for span in &self.columns.numbers {
            if i < span.len() {
                return span.start as usize + i;
            }
            i -= span.len();
        }
        self.n_inputs
    }
}
