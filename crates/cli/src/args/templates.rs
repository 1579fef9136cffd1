//! `--templates`: joint features of input and class.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use lineal::templates::Templates;
use lineal::{FeatureSpec, ReadOptions};

/// Bits that templates are hashed into by default.
const HASH_BITS: u8 = 18;

/// The file of templates.
#[derive(Args, Clone, Debug, Default)]
pub struct TemplateArgs {
    /// A file of templates for joint features of input and class, one per line, such as suffix:3(word) or shape(word) * prefix:1(class). The features
    /// are hashed into 2^18 places (or --hash BITS) for each part of the class; see docs/features.md
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "New features from columns",
        conflicts_with = "text"
    )]
    pub templates: Option<PathBuf>,
}

impl TemplateArgs {
    /// Reads the file of templates, and has the columns that they name read as they are.
    pub fn add_to(
        &self,
        spec: FeatureSpec,
        options: ReadOptions,
    ) -> anyhow::Result<(FeatureSpec, ReadOptions)> {
        let Some(path) = &self.templates else { return Ok((spec, options)) };
        let templates = read(path, spec.text.hash_bits.unwrap_or(HASH_BITS))?;
        let text = templates.columns().to_vec();
        let options = ReadOptions { text, guess_text: false, ..options };
        Ok((FeatureSpec { templates: Some(templates), ..spec }, options))
    }
}

/// What is wrong in the file comes with file and line.
fn read(path: &Path, bits: u8) -> anyhow::Result<Templates> {
    let name = path.display();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) => bail!("{name}: {e}; give a file with one template per line"),
    };
    Templates::parse(&text, bits).map_err(|e| {
        let said = e.to_string();
        match said.strip_prefix("templates, line ") {
            Some(rest) => anyhow::anyhow!("{name}:{rest}"),
            None => anyhow::anyhow!("{name}: {said}"),
        }
    })
}
