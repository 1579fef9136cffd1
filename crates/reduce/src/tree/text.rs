//! Trees as text: a class is its number, a node `(left right)`; `#` starts a comment. `((0 3) (1 2))` asks first
//! "0 or 3, or else 1 or 2?".

use super::{At, Node, Tree};
use crate::Error;
use std::fmt;
use std::str::FromStr;

impl FromStr for Tree {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parser = Parser::default();
        let mut end = (1, 1);
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split('#').next().unwrap_or_default();
            let mut chars = (1..).zip(content.chars()).peekable();
            while let Some((column, c)) = chars.next() {
                let outcome = match c {
                    '(' => parser.open(),
                    ')' => parser.close(),
                    '0'..='9' => {
                        let mut digits = String::from(c);
                        while let Some((_, c)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
                            digits.push(c);
                        }
                        digits
                            .parse()
                            .map_err(|_| format!("`{digits}` is too large for a class"))
                            .and_then(|class| parser.leaf(class))
                    }
                    ',' => Ok(()),
                    c if c.is_whitespace() || c == '\u{feff}' => Ok(()),
                    _ => Err(format!("`{c}` is not a class number or a parenthesis")),
                };
                outcome.map_err(|message| Error::Text { line, column, message })?;
            }
            end = (line, content.chars().count() + 1);
        }
        if !parser.done {
            let message =
                "the tree ends early: a parenthesis is not closed, or there is none".into();
            return Err(Error::Text { line: end.0, column: end.1, message });
        }
        Self::new(parser.order, parser.nodes)
    }
}

/// What has been read so far.
#[derive(Default)]
struct Parser {
    order: Vec<u32>,
    nodes: Vec<Node>,
    /// Open nodes with how many children they have.
    open: Vec<(usize, u8)>,
    done: bool,
}

impl Parser {
    fn open(&mut self) -> Result<(), String> {
        self.check_room()?;
        let at = self.order.len() as u32;
        self.open.push((self.nodes.len(), 0));
        self.nodes.push(Node { lo: at, split: at, hi: at });
        Ok(())
    }

    fn leaf(&mut self, class: u32) -> Result<(), String> {
        self.check_room()?;
        self.order.push(class);
        self.child_ends();
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        match self.open.pop() {
            Some((node, 2)) => {
                self.nodes[node].hi = self.order.len() as u32;
                self.child_ends();
                Ok(())
            }
            Some((_, n)) => Err(format!("a node with {n} of two children is closed")),
            None => Err("no node is open to be closed".into()),
        }
    }

    fn check_room(&self) -> Result<(), String> {
        match self.open.last() {
            Some((_, 2)) => Err("a third child; write ((a b) c) for three".into()),
            None if self.done => Err("the tree has ended before this".into()),
            _ => Ok(()),
        }
    }

    /// A leaf or a closed node is one more child of the node around it, or the tree.
    fn child_ends(&mut self) {
        match self.open.last_mut() {
            Some((node, n_children)) => {
                *n_children += 1;
                if *n_children == 1 {
                    self.nodes[*node].split = self.order.len() as u32;
                }
            }
            None => self.done = true,
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// What is still to be written.
        enum Rest {
            Tree(At),
            Text(&'static str),
        }
        let mut stack = vec![Rest::Tree(self.root())];
        while let Some(rest) = stack.pop() {
            match rest {
                Rest::Text(text) => f.write_str(text)?,
                Rest::Tree(At::Leaf(leaf)) => write!(f, "{}", self.class(leaf))?,
                Rest::Tree(At::Node(node)) => {
                    let [left, right] = self.children(node);
                    f.write_str("(")?;
                    stack.extend([
                        Rest::Text(")"),
                        Rest::Tree(right),
                        Rest::Text(" "),
                        Rest::Tree(left),
                    ]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_there_and_back() {
        for text in ["0", "(0 1)", "((0 3) (1 2))", "(((4 0) 1) (2 3))"] {
            assert_eq!(text.parse::<Tree>().unwrap().to_string(), text);
        }
        let tree = Tree::balanced(1000, 3).unwrap();
        assert_eq!(tree.to_string().parse::<Tree>().unwrap(), tree);
        let spaced = "# animals\n(0, # cat\n (2 1))\n".parse::<Tree>().unwrap();
        assert_eq!(spaced.to_string(), "(0 (2 1))");
        assert_eq!(spaced.depths(), [1, 2, 2]);
    }

    #[test]
    fn a_chain_of_20000_classes_overflows_nothing() {
        let n = 20_000;
        let mut text = "(".repeat(n - 1) + "0";
        for class in 1..n {
            text += &format!(" {class})");
        }
        let tree: Tree = text.parse().unwrap();
        assert_eq!((tree.depth(), tree.to_string()), (n - 1, text));
    }

    #[test]
    fn bad_text_is_refused_with_its_place() {
        let said = |text: &str| text.parse::<Tree>().unwrap_err().to_string();
        assert_eq!(said("(0 1\n 2)"), "line 2, column 2: a third child; write ((a b) c) for three");
        assert_eq!(said("(0)"), "line 1, column 3: a node with 1 of two children is closed");
        assert_eq!(said("0 1"), "line 1, column 3: the tree has ended before this");
        assert_eq!(said("(0 x)"), "line 1, column 4: `x` is not a class number or a parenthesis");
        assert_eq!(said(")"), "line 1, column 1: no node is open to be closed");
        assert_eq!(
            said("(0 99999999999)"),
            "line 1, column 4: `99999999999` is too large for a class"
        );
        assert_eq!(
            said("(0 (1 1))"),
            "the tree has 3 leaves, but class 1 stands 2 times, not once"
        );
        assert_eq!(said("(0 5)"), "the tree has 2 leaves, but class 1 stands 0 times, not once");
        assert!(said("(0 1").contains("ends early") && said("").contains("ends early"));
    }
}
