//! What to make, as it is typed and stored: `poly:2`, `rff:500:0.1`, `a*b`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A nonlinear map of all columns of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MapSpec {
    /// `poly:DEGREE`: every product of up to so many of them, as scikit-learn's `PolynomialFeatures`.
    Poly {
        /// 2 to 6.
        degree: usize,
    },
    /// `rff:D` or `rff:D:GAMMA`: random Fourier features, of which the inner product comes near the kernel
    /// exp(−γ‖x − y‖²) (Rahimi and Recht 2007).
    Rff {
        /// How many, an even number: a cosine and a sine for each direction.
        n_features: usize,
        /// γ; by default 1 / (columns · variance of all values), scikit-learn's `scale`.
        gamma: Option<f64>,
    },
}

const FORMS: &str = "poly:DEGREE, rff:D or rff:D:GAMMA";

impl FromStr for MapSpec {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let mut parts = s.split(':');
        let refuse = |why: &str| Err(format!("`{s}` {why}"));
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("poly"), Some(degree), None, None) => match degree.parse() {
                Ok(degree @ 2..=6) => Ok(Self::Poly { degree }),
                _ => refuse("has a degree that is not a number from 2 to 6"),
            },
            (Some("rff"), Some(n), gamma, None) => {
                let n_features = match n.parse::<usize>() {
                    Ok(n) if n >= 2 && n.is_multiple_of(2) && n <= 1 << 20 => n,
                    _ => {
                        return refuse("needs an even number of features, from 2 to 1048576");
                    }
                };
                let gamma = gamma.map(str::parse::<f64>).transpose();
                match gamma {
                    Ok(gamma) if gamma.is_none_or(|g| g.is_finite() && g > 0.0) => {
                        Ok(Self::Rff { n_features, gamma })
                    }
                    _ => refuse("has a gamma that is not a number above 0"),
                }
            }
            _ => refuse(&format!("is not {FORMS}")),
        }
    }
}

impl fmt::Display for MapSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapSpec::Poly { degree } => write!(f, "poly:{degree}"),
            MapSpec::Rff { n_features, gamma: None } => write!(f, "rff:{n_features}"),
            MapSpec::Rff { n_features, gamma: Some(gamma) } => {
                write!(f, "rff:{n_features}:{gamma}")
            }
        }
    }
}

impl From<MapSpec> for String {
    fn from(spec: MapSpec) -> String {
        spec.to_string()
    }
}

impl TryFrom<String> for MapSpec {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// `a*b`: the product of two columns; of their values' indicators, where they are categories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interaction {
    /// The names of the two columns.
    pub columns: [String; 2],
}

impl FromStr for Interaction {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let columns: Vec<&str> = s.split('*').map(str::trim).collect();
        match columns[..] {
            [a, b] if !a.is_empty() && !b.is_empty() => {
                Ok(Self { columns: [a.to_owned(), b.to_owned()] })
            }
            _ => Err(format!("`{s}` is not two columns with a star between them, as in age*city")),
        }
    }
}

impl fmt::Display for Interaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}*{}", self.columns[0], self.columns[1])
    }
}

impl From<Interaction> for String {
    fn from(interaction: Interaction) -> String {
        interaction.to_string()
    }
}

impl TryFrom<String> for Interaction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_is_shown() {
        for text in ["poly:2", "poly:6", "rff:500", "rff:2:0.125"] {
            assert_eq!(text.parse::<MapSpec>().unwrap().to_string(), text);
            let json = serde_json::to_string(&text.parse::<MapSpec>().unwrap()).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(
                serde_json::from_str::<MapSpec>(&json).unwrap(),
                text.parse::<MapSpec>().unwrap()
            );
        }
        assert_eq!("age * city".parse::<Interaction>().unwrap().to_string(), "age*city");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let message = |text: &str| text.parse::<MapSpec>().unwrap_err();
        assert_eq!(message("spline:3"), "`spline:3` is not poly:DEGREE, rff:D or rff:D:GAMMA");
        assert!(message("poly:1").contains("from 2 to 6"));
        assert!(message("poly:2:3").contains("is not poly"));
        assert!(message("rff:7").contains("even"));
        assert!(message("rff:8:-1").contains("above 0"));
        assert!(message("rff:8:nan").contains("above 0"));
        for text in ["a", "a*", "*b", "a*b*c", ""] {
            assert!(text.parse::<Interaction>().unwrap_err().contains("age*city"));
        }
    }
}
