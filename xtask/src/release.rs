//! Whether every crate that can be published has what a registry and docs.rs show of it.

use serde_json::Value;
use std::path::Path;

/// Finds what the manifests, as `cargo metadata` tells them, lack.
pub(crate) fn check(packages: &[Value], faults: &mut Vec<String>) {
    let private = |package: &&Value| package["publish"].as_array().is_some_and(Vec::is_empty);
    for package in packages.iter().filter(|package| !private(package)) {
        let name = package["name"].as_str().unwrap_or_default();
        let is_empty = |value: &Value| match value {
            Value::Array(list) => list.is_empty(),
            Value::String(text) => text.is_empty(),
            other => other.is_null(),
        };
        const FIELDS: [&str; 8] = [
            "description",
            "keywords",
            "categories",
            "readme",
            "license",
            "repository",
            "rust_version",
            "metadata",
        ];
        for field in FIELDS.iter().filter(|field| is_empty(&package[**field])) {
            faults.push(format!("the manifest of {name} has no {field}"));
        }
        if is_empty(&package["metadata"]["docs"]["rs"]) {
            faults.push(format!("the manifest of {name} says nothing to docs.rs"));
        }
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent();
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            if !folder.is_some_and(|folder| folder.join(file).exists()) {
                faults.push(format!("crate {name} has no {file} beside its manifest"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_is_named_unless_the_crate_is_private() {
        let (mut public, mut private) = (Vec::new(), Vec::new());
        let bare = json!({"name": "a", "keywords": [], "description": "about", "publish": null});
        check(&[bare], &mut public);
        assert!(public.iter().any(|fault| fault.contains("no keywords")), "{public:?}");
        assert!(!public.iter().any(|fault| fault.contains("description")), "{public:?}");
        check(&[json!({"name": "a", "publish": []})], &mut private);
        assert!(private.is_empty(), "{private:?}");
    }
}
