//! The columns of a file: a tree of named nodes, whose leaves hold the values.

use crate::Error;
use crate::thrift::Struct;

/// Nodes within nodes.
const DEEPEST: usize = 64;

/// A column, or a group of columns.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) repetition: Repetition,
    /// The definition level from which on this node is there.
    pub(crate) definition: u32,
    /// The repetition level of this node's own repetitions, and of all above it.
    pub(crate) level: u32,
    pub(crate) content: Content,
    /// The leaves in and below it, by number.
    pub(crate) leaves: std::ops::Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Repetition {
    Required,
    Optional,
    Repeated,
}

#[derive(Debug)]
pub(crate) enum Content {
    Leaf,
    /// Named parts.
    Group(Vec<Node>),
    /// A list, whose one part is repeated: elements are what is in it.
    List(Box<Node>),
}

/// What a leaf holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) physical: Physical,
    pub(crate) logical: Logical,
    pub(crate) max_definition: u32,
    pub(crate) max_repetition: u32,
}

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Physical {
    Boolean,
    Int32,
    Int64,
    Int96,
    Float,
    Double,
    ByteArray,
    Fixed(usize),
}

/// What a stored value means, as far as that changes how it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Logical {
    Plain,
    Unsigned,
    Text,
    /// A whole number times 10 to the power of minus this.
    Decimal(u32),
    Date,
    /// Since midnight, in so many parts of a second.
    Time(i64),
    /// Since 1970, in so many parts of a second.
    Timestamp(i64),
    Float16,
    Uuid,
}

/// The tree, and its leaves from left to right.
pub(crate) fn read(meta: &Struct<'_>) -> Result<(Vec<Node>, Vec<Leaf>), Error> {
    let elements: Vec<&Struct<'_>> = meta.structures(2).collect();
    let mut reader = Reader { elements: &elements, at: 0, leaves: Vec::new() };
    let root = reader.next()?;
    let nodes = reader.children(root, 0, 0, 0)?;
    if nodes.is_empty() {
        return Err(Error::damaged("it has no columns"));
    }
    Ok((nodes, reader.leaves))
}

struct Reader<'a> {
    elements: &'a [&'a Struct<'a>],
    at: usize,
    leaves: Vec<Leaf>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<&'a Struct<'a>, Error> {
        let element = self.elements.get(self.at);
        self.at += 1;
        element.copied().ok_or_else(|| Error::damaged("its schema is cut short"))
    }

    fn children(
        &mut self,
        of: &Struct<'_>,
        definition: u32,
        level: u32,
        depth: usize,
    ) -> Result<Vec<Node>, Error> {
        if depth == DEEPEST {
            return Err(Error::damaged("its columns lie too deep within each other"));
        }
        let n = of.int(5).unwrap_or(0);
        // Each takes an element, so that a false number ends with them.
        let nodes = (0..n).map(|_| {
            let element = self.next()?;
            self.node(element, definition, level, depth)
        });
        nodes.collect()
    }

    fn node(
        &mut self,
        element: &Struct<'_>,
        definition: u32,
        level: u32,
        depth: usize,
    ) -> Result<Node, Error> {
        let name = String::from_utf8_lossy(element.binary(4).unwrap_or_default()).into_owned();
        let repetition = match element.int(3) {
            Some(1) => Repetition::Optional,
            Some(2) => Repetition::Repeated,
            _ => Repetition::Required,
        };
        let definition = definition + u32::from(repetition != Repetition::Required);
        let level = level + u32::from(repetition == Repetition::Repeated);
        let first = self.leaves.len();
        let content = if element.int(5).is_some_and(|n| n > 0) {
            let mut parts = self.children(element, definition, level, depth + 1)?;
            let is_list = element.int(6) == Some(3)
                || element.structure(10).is_some_and(|logical| logical.has(3));
            match (is_list, parts.pop()) {
                (true, Some(only))
                    if parts.is_empty() && only.repetition == Repetition::Repeated =>
                {
                    Content::List(Box::new(only))
                }
                (_, last) => {
                    parts.extend(last);
                    Content::Group(parts)
                }
            }
        } else {
            self.leaves.push(leaf(element, &name, definition, level)?);
            Content::Leaf
        };
        let leaves = first..self.leaves.len();
        Ok(Node { name, repetition, definition, level, content, leaves })
    }
}

fn leaf(
    element: &Struct<'_>,
    name: &str,
    max_definition: u32,
    max_repetition: u32,
) -> Result<Leaf, Error> {
    let physical = match element.int(1) {
        Some(0) => Physical::Boolean,
        Some(1) => Physical::Int32,
        Some(2) => Physical::Int64,
        Some(3) => Physical::Int96,
        Some(4) => Physical::Float,
        Some(5) => Physical::Double,
        Some(6) => Physical::ByteArray,
        Some(7) => match element.int(2).map(usize::try_from) {
            Some(Ok(length)) if length > 0 => Physical::Fixed(length),
            _ => return Err(Error::damaged(format!("column `{name}` has no length"))),
        },
        _ => return Err(Error::damaged(format!("column `{name}` has no type that is known"))),
    };
    let logical = logical(element);
    Ok(Leaf { physical, logical, max_definition, max_repetition })
}

/// The newer annotation, else the older one.
fn logical(element: &Struct<'_>) -> Logical {
    const MILLIS: i64 = 1_000;
    const MICROS: i64 = 1_000_000;
    const NANOS: i64 = 1_000_000_000;
    let scale = |scale: Option<i64>| Logical::Decimal(scale.unwrap_or(0).clamp(0, 100) as u32);
    let unit = |of: &Struct<'_>| match of.structure(2) {
        Some(unit) if unit.has(1) => MILLIS,
        Some(unit) if unit.has(3) => NANOS,
        _ => MICROS,
    };
    if let Some(logical) = element.structure(10) {
        let part = |id| logical.structure(id);
        if logical.has(1) || logical.has(4) || logical.has(12) {
            return Logical::Text;
        }
        if let Some(decimal) = part(5) {
            return scale(decimal.int(1));
        }
        if logical.has(6) {
            return Logical::Date;
        }
        if let Some(time) = part(7) {
            return Logical::Time(unit(time));
        }
        if let Some(time) = part(8) {
            return Logical::Timestamp(unit(time));
        }
        if part(10).is_some_and(|integer| integer.bool(2) == Some(false)) {
            return Logical::Unsigned;
        }
        if logical.has(14) {
            return Logical::Uuid;
        }
        if logical.has(15) {
            return Logical::Float16;
        }
    }
    match element.int(6) {
        Some(0 | 4 | 19) => Logical::Text,
        Some(5) => scale(element.int(7)),
        Some(6) => Logical::Date,
        Some(7) => Logical::Time(MILLIS),
        Some(8) => Logical::Time(MICROS),
        Some(9) => Logical::Timestamp(MILLIS),
        Some(10) => Logical::Timestamp(MICROS),
        Some(11..=14) => Logical::Unsigned,
        _ => Logical::Plain,
    }
}
