//! Graphs in JSON lines, and what is wrong with them.

use std::ops::ControlFlow;

use super::*;
use crate::images::VOID;

fn source(text: &str) -> Source {
    Source::Memory { name: "g.jsonl".into(), bytes: text.into() }
}

fn read(text: &str) -> Result<Graphs, Error> {
    read_graphs(source(text), &GraphReadOptions::default())
}

const NAMED: &str = r#"
{"id": "one", "nodes": [{"b": 1, "a": 2}, {"a": 3.5, "b": 0}], "edges": [[1, 0, {"alike": 0.5}]], "labels": ["x", null], "weight": 2}
{"nodes": [{"c": -1, "a": 1}], "labels": [7]}
"#;

#[test]
fn features_by_name_get_numbers_in_the_order_of_their_coming() {
    let data = read(NAMED).unwrap();
    assert_eq!((data.len(), data.n_nodes(), data.n_edges()), (2, 3, 1));
    assert_eq!(data.schema.labels, ["x", "7"]);
    assert_eq!(data.schema.nodes, FeatureNames::Named(vec!["b".into(), "a".into(), "c".into()]));
    let (first, second) = (data.get(0), data.get(1));
    assert_eq!((first.id(), first.line(), first.weight()), ("one", 2, 2.0));
    assert_eq!((first.node(0).idx(), first.node(0).val()), (&[0, 1][..], &[1.0, 2.0][..]));
    assert_eq!((first.node(1).idx(), first.node(1).val()), (&[1][..], &[3.5][..]));
    assert_eq!((first.edges(), first.edge(0).val()), (&[[0, 1]][..], &[0.5][..]));
    assert_eq!((first.labels(), second.labels()), (&[0, VOID][..], &[1][..]));
    // Sorted, though c came before a.
    assert_eq!(
        (second.id(), second.node(0).idx(), second.node(0).val()),
        ("3", &[1, 2][..], &[1.0, -1.0][..])
    );
}

#[test]
fn a_schema_is_kept_at_prediction() {
    let data = read(NAMED).unwrap();
    let text = r#"{"nodes": [{"a": 1, "new": 2}, {}], "edges": [[0, 1, {"alike": 1, "odd": 1}]], "labels": ["z", "x"]}"#;
    let other = read_graphs_with(source(text), &GraphReadOptions::default(), &data.schema).unwrap();
    assert_eq!(other.schema, data.schema);
    assert_eq!(other.labels, ["x", "7", "z"]);
    assert_eq!(other.get(0).node(0).idx(), [1]);
    assert_eq!(other.get(0).labels(), [2, 0]);
    let said =
        "left out 2 values of features that training did not have: `new` of nodes, `odd` of edges";
    assert_eq!(other.left_out.in_words().as_deref(), Some(said));
    // Lists do not fit it.
    let error =
        read_graphs_with(source(r#"{"nodes": [[1]]}"#), &GraphReadOptions::default(), &data.schema);
    assert_eq!(error.unwrap_err().kind, ErrorKind::Columns);
}

#[test]
fn lists_have_the_same_length_and_edges_may_go_without_features() {
    let data = read(
        "{\"nodes\": [[1, 0, 2], [0, 0, 0]], \"edges\": [[0, 1]], \"labels\": [\"a\", \"b\"]}\n",
    )
    .unwrap();
    assert_eq!(data.schema.nodes, FeatureNames::Numbered(3));
    assert_eq!((data.get(0).node(0).idx(), data.get(0).node(1).idx()), (&[0, 2][..], &[][..]));
    assert_eq!((data.schema.edges.len(), data.get(0).edge(0).val()), (1, &[1.0][..]));
}

#[test]
fn streams_give_the_same_graphs() {
    let data = read(NAMED).unwrap();
    let mut ids = Vec::new();
    stream_graphs(source(NAMED), &GraphReadOptions::default(), &data.schema, &mut |some| {
        ids.extend(some.iter().map(|graph| (graph.id().to_owned(), graph.labels().to_vec())));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(ids, [("one".to_owned(), vec![0, VOID]), ("3".to_owned(), vec![1])]);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let good = r#"{"nodes": [[1], [2]], "edges": [[0, 1, [0.5]]], "labels": ["a", "b"]}"#;
    for (bad, kind, words) in [
        (r#"[1]"#, ErrorKind::Syntax, "not an object"),
        (r#"{"nodes": [[1]"#, ErrorKind::Syntax, "not JSON"),
        (r#"{"edges": []}"#, ErrorKind::Columns, "\"nodes\""),
        (r#"{"nodes": []}"#, ErrorKind::Empty, "no nodes"),
        (
            r#"{"nodes": [[1], [1, 2]]}"#,
            ErrorKind::Columns,
            "node 1 has 2 features, and others have 1",
        ),
        (r#"{"nodes": [[1], {"a": 2}]}"#, ErrorKind::Columns, "node 1 has features by name"),
        (r#"{"nodes": [["x"]]}"#, ErrorKind::Value, "feature 0 of node 0 is \"x\""),
        (r#"{"nodes": [[1e39]]}"#, ErrorKind::Value, "too large"),
        (r#"{"nodes": [[NaN]]}"#, ErrorKind::Syntax, "not JSON"),
        (r#"{"nodes": [3]}"#, ErrorKind::Syntax, "features of node 0 are 3"),
        (
            r#"{"nodes": [[1], [2]], "edges": [[0, 1, [-0.5]]]}"#,
            ErrorKind::Value,
            "feature 0 of edge 0 is -0.5",
        ),
        (
            r#"{"nodes": [[1], [2]], "edges": [[0, 2, [1]]]}"#,
            ErrorKind::Value,
            "edge 0 joins node 2, and there are 2 nodes",
        ),
        (r#"{"nodes": [[1], [2]], "edges": [[0, 0.5, [1]]]}"#, ErrorKind::Value, "node 0.5"),
        (r#"{"nodes": [[1], [2]], "edges": [[1, 1, [1]]]}"#, ErrorKind::Value, "to itself"),
        (
            r#"{"nodes": [[1], [2]], "edges": [[0, 1, [1]], [1, 0, [1]]]}"#,
            ErrorKind::Value,
            "edge 1 joins nodes 0 and 1 as edge 0 does",
        ),
        (r#"{"nodes": [[1], [2]], "edges": [[0]]}"#, ErrorKind::Syntax, "edge 0 is a list of 1"),
        (r#"{"nodes": [[1], [2]], "edges": 3}"#, ErrorKind::Columns, "\"edges\" is 3"),
        (r#"{"nodes": [[1], [2]], "labels": ["a"]}"#, ErrorKind::Label, "1 label for 2 nodes"),
        (r#"{"nodes": [[1]], "labels": [["a"]]}"#, ErrorKind::Label, "label of node 0"),
        (r#"{"nodes": [[1]], "weight": -1}"#, ErrorKind::Weight, "weight -1"),
    ] {
        let error = read(&format!("{good}\n{bad}\n")).unwrap_err();
        assert_eq!((error.line, error.kind), (Some(2), kind), "{bad}: {error}");
        assert!(error.message.contains(words), "{bad}: {error}");
    }
    assert_eq!(read("\n\n").unwrap_err().kind, ErrorKind::Empty);
    assert_eq!(read(r#"{"nodes": [[1]]}"#).unwrap_err().kind, ErrorKind::Label);
    let options = GraphReadOptions { require_labels: true };
    let error =
        read_graphs(source(&format!("{good}\n{{\"nodes\": [[1]]}}")), &options).unwrap_err();
    assert_eq!((error.line, error.kind), (Some(2), ErrorKind::Label));
}
