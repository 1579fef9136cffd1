//! Flags about features that are made of others.

use clap::Args;
use lineal::map::{Interaction, MapSpec};
use lineal::{FeatureSpec, Standardize};

const HEADING: &str = "Features made of others";

/// Interactions and nonlinear maps.
#[derive(Args, Clone, Debug, Default)]
pub struct MapArgs {
    /// Products of two columns, as features beside them: age*height, age*city, city*job
    #[arg(long, value_name = "A*B,…", value_delimiter = ',', help_heading = HEADING)]
    pub interact: Vec<Interaction>,

    /// A nonlinear map of all columns of numbers: poly:2 adds every product of up to two of them; rff:500 puts 500 random
    /// Fourier features in their place, a model with the kernel exp(−γ‖x−y‖²); rff:500:0.1 says γ
    #[arg(long, value_name = "M", help_heading = HEADING)]
    pub map: Option<MapSpec>,
}

impl MapArgs {
    /// The first flag that was given.
    pub fn first(&self) -> Option<&'static str> {
        let interact = (!self.interact.is_empty()).then_some("--interact");
        interact.or(self.map.map(|_| "--map"))
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// Adds what the flags ask for.
    pub fn add_to(&self, spec: FeatureSpec, seed: u64) -> FeatureSpec {
        FeatureSpec { interact: self.interact.clone(), map: self.map, seed, ..spec }
    }

    /// What is left to training of `--standardize`: where features are made of others, it is of the columns that they are made of, and
    /// [`FeatureSpec::standardize`] says so.
    pub fn standardize_left(&self, standardize: Standardize) -> Standardize {
        if self.is_empty() { standardize } else { Standardize::Never }
    }
}
