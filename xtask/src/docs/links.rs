//! Relative links and anchors lead somewhere, and every page of `docs` stands in the table of contents.

use super::page::Page;
use crate::root;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// The table of contents, in mdBook's format.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";

/// Adds a fault for each link that leads nowhere and each page that the table of contents does not list.
pub(crate) fn check(faults: &mut Vec<String>) -> Result<()> {
    let pages = Page::all()?;
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|page| (page.name.as_str(), anchors(page))).collect();
    let mut listed = BTreeSet::new();
    for page in &pages {
        for (line, target) in links(page) {
            let place = format!("{}:{}", page.name, line + 1);
            let (path, anchor) = match target.split_once('#') {
                Some((path, anchor)) => (path, Some(anchor)),
                None => (target.as_str(), None),
            };
            let name = if path.is_empty() {
                Some(page.name.clone())
            } else {
                resolve(page.folder(), path)
            };
            let Some(name) = name else {
                faults.push(format!("{place}: the link {target} leaves the project"));
                continue;
            };
            if !root().join(&name).exists() {
                faults.push(format!(
                    "{place}: the link {target} leads to {name}, which does not exist"
                ));
                continue;
            }
            if let (Some(anchor), Some(known)) = (anchor, anchors.get(name.as_str()))
                && !known.contains(anchor)
            {
                faults.push(format!("{place}: {name} has no heading for #{anchor}"));
            }
            if page.name == SUMMARY {
                listed.insert(name);
            }
        }
    }
    for page in &pages {
        let in_book = page.name.starts_with("docs/") && page.name != SUMMARY;
        if in_book && !listed.contains(&page.name) {
            faults.push(format!("{} is not in {SUMMARY}", page.name));
        }
    }
    Ok(())
}

/// Targets of the relative links of a page, with their line.
pub(crate) fn links(page: &Page) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in page.prose() {
        let line = without_code(line);
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            let Some(end) = rest.find(')') else { continue };
            let target = rest[..end].split_whitespace().next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") && !target.is_empty() {
                found.push((number, target.to_string()));
            }
        }
    }
    found
}

/// A path from a folder, both with `/`; nothing where it climbs above the workspace.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(page: &Page) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for (_, line) in page.prose() {
        let hashes = line.chars().take_while(|c| *c == '#').count();
        if !(1..=6).contains(&hashes) || !line[hashes..].starts_with(' ') {
            continue;
        }
        let slug = slug(line[hashes..].trim());
        let mut anchor = slug.clone();
        let mut repeat = 0;
        while !seen.insert(anchor.clone()) {
            repeat += 1;
            anchor = format!("{slug}-{repeat}");
        }
    }
    seen
}

fn slug(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    // A link's text counts, its target does not.
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, tail)| tail);
    }
    text.push_str(rest);
    text.to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// A line with what stands between backquotes blanked.
fn without_code(line: &str) -> String {
    let mut code = false;
    line.chars()
        .map(|c| {
            if c == '`' {
                code = !code;
            }
            if code || c == '`' { ' ' } else { c }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { name: "docs/a/x.md".into(), text: text.into() }
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let page = page(
            "[a](b.md) ![c](d.svg \"title\") `[e](f)` [g](https://h.org)\n```\n[i](j)\n```\n[k](#l)",
        );
        let found: Vec<String> = links(&page).into_iter().map(|(_, target)| target).collect();
        assert_eq!(found, ["b.md", "d.svg", "#l"]);
    }

    #[test]
    fn paths_are_resolved_within_the_workspace() {
        assert_eq!(resolve("docs/a", "../b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(resolve("", "docs/./b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(resolve("docs", "../../b.md"), None);
    }

    #[test]
    fn anchors_are_those_of_github() {
        let page =
            page("# What `-C` means: a guide\n## Two\n## Two\n## [A link](to.md)'s text\n#no");
        let expected = ["a-links-text", "two", "two-1", "what--c-means-a-guide"];
        assert_eq!(anchors(&page).into_iter().collect::<Vec<_>>(), expected);
    }
}
