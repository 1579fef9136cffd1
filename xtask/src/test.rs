//! All tests: the workspace's own, the commands that documents show, then the program against its peers.

use crate::{call, docs, root};
use anyhow::Result;

/// With `peers`, also compares the program with scikit-learn and LIBLINEAR, which `acceptance/run.py` installs into a virtual
/// environment below `target`.
pub(crate) fn run(peers: bool) -> Result<()> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    call(&cargo, &["test", "--workspace", "--quiet"])?;
    if peers {
        call(&cargo, &["build", "--release", "--package", "lineal-cli"])?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
        let program = target.join("release/lineal");
        docs::check_commands(&program)?;
        let program = program.display().to_string();
        call("python3", &["acceptance/run.py", "--lineal", &program])?;
    }
    Ok(())
}
