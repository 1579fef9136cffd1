//! The frame of a page, and its blocks. Everything that comes from a user is escaped here.

use std::path::Path;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A page that is being put together.
pub struct Page {
    title: String,
    /// The title as a heading, and what stands below it.
    head: String,
    body: String,
}

impl Page {
    /// A page about a file, whose name is in the title, and whose path is shown where the pointer rests.
    pub fn new(what: &str, file: &str, lead: &str) -> Self {
        let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
        let title = format!("{what} {name}");
        let (heading, path, lead) = (escape(&title), escape(file), escape(lead));
        let head = format!("<h1 title=\"{path}\">{heading}</h1>\n<p class=\"lead\">{lead}</p>\n");
        Self { title, head, body: String::new() }
    }

    /// Large numbers with their names.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        self.body.push_str("<div class=\"facts\">");
        for (name, value) in facts {
            let (name, value) = (escape(name), escape(value));
            self.body.push_str(&format!(
                "<div class=\"fact\"><b title=\"{value}\">{value}</b><span>{name}</span></div>"
            ));
        }
        self.body.push_str("</div>\n");
    }

    /// Something not to be missed.
    pub fn warning(&mut self, text: &str) {
        self.body.push_str(&format!(
            "<p class=\"warn\">{}</p>\n",
            escape(&crate::fields::as_flags(text))
        ));
    }

    /// A block with a heading, of HTML that is already escaped.
    pub fn section(&mut self, section: &str) {
        self.body.push_str(section);
    }

    /// Blocks side by side where there is room.
    pub fn grid(&mut self, sections: &[String]) {
        if !sections.is_empty() {
            self.body.push_str(&format!("<div class=\"grid\">{}</div>\n", sections.concat()));
        }
    }

    /// Its blocks alone, for a page that has a heading of its own.
    #[cfg(feature = "serve")]
    pub fn blocks(self) -> String {
        self.body
    }

    /// The whole file.
    pub fn finish(self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body><main>\n{}{}\
             <footer>Made by lineal {}</footer>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            escape(&self.title),
            self.head,
            self.body,
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// A block with a heading and a note below, around HTML that is already escaped.
pub fn section(title: &str, html: &str, note: &str) -> String {
    let note = if note.is_empty() {
        String::new()
    } else {
        format!("<p class=\"note\">{}</p>", escape(note))
    };
    format!("<section><h2>{}</h2>{html}{note}</section>\n", escape(title))
}

/// A table of names and values.
pub fn pairs(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| {
        format!("<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(value))
    };
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table>{}</table></div>",
        rows.iter().map(row).collect::<String>()
    )
}

/// A table with heads: first column names, the others numbers. A click on a head sorts it.
pub fn numbers(heads: &[&str], rows: &[Vec<String>]) -> String {
    let class = |i: usize| if i > 0 { " class=\"n\"" } else { "" };
    let mut html =
        String::from("<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\"><thead><tr>");
    for (i, head) in heads.iter().enumerate() {
        html.push_str(&format!("<th{}>{}</th>", class(i), escape(head)));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            html.push_str(&format!("<td{}>{}</td>", class(i), escape(cell)));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

/// Text that cannot become markup.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let mut page = Page::new("On", "<script>", "a & b");
        page.facts(&[("x", "<b>".to_owned())]);
        page.section(&section("'\"", &pairs(&[("<i>", "<u>".to_owned())]), "<p>"));
        let html = page.finish();
        // The page has one script of its own.
        assert_eq!(html.matches("<script>").count(), 1);
        for markup in ["<b><b>", "<i>", "<u>", "<p>"] {
            assert!(!html.contains(markup), "{markup}");
        }
        assert!(html.contains("&lt;script&gt;"));
    }
}
