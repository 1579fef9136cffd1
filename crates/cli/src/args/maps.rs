//! Flags about features that are made of others.

use clap::Args;
use lineal::map::{Interaction, MapSpec};
use lineal::{FeatureSpec, Standardize};

const HEADING: &str = "New features from columns";

/// Interactions and nonlinear maps.
#[derive(Args, Clone, Debug, Default)]
pub struct MapArgs {
    /// Add products of two columns as features: age*height, age*city, city*job
    #[arg(long, value_name = "A*B,…", value_delimiter = ',', help_heading = HEADING)]
    pub interact: Vec<Interaction>,

    /// A nonlinear map of all numeric columns: poly:2 adds every product of two columns; rff:500 replaces them by 500 random
    /// Fourier features, which approximate the kernel exp(−γ‖x−y‖²); rff:500:0.1 sets γ
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
