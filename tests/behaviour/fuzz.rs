//! What the fuzz targets found, and what they start from.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

/// The files of a target, as bytes.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/fuzz")
        .join(target);
    let entries = fs::read_dir(&folder).expect("the folder of the target");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry of the folder").path();
        fs::read(path).expect("a readable file")
    };
    entries.map(read).collect()
}

/// JSON made of the words of schemas.
fn json() -> impl Strategy<Value = Value> {
    let words = [
        "type",
        "$ref",
        "$defs",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "prefixItems",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "not",
        "if",
        "default",
        "description",
        "format",
        "pattern",
        "minItems",
        "minimum",
        "nullable",
        "a",
        "b",
    ];
    let leaves = [
        json!(null),
        json!(true),
        json!(false),
        json!(1),
        json!(-0.5),
        json!("a"),
        json!("object"),
        json!("array"),
        json!("string"),
        json!("null"),
        json!("#"),
        json!("#/$defs/a"),
        json!("#/$defs/b"),
        json!("#/properties/a"),
        json!("#/nowhere"),
        json!("int32"),
    ];
    let leaf = prop::sample::select(leaves.to_vec());
    leaf.prop_recursive(6, 40, 6, move |inner| {
        let key = prop::sample::select(words.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::vec((key, inner), 0..6).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_written_in_every_dialect(value in json()) {
        agent_tests::fuzz::dialect(value.to_string().as_bytes());
    }
}

#[test]
fn every_schema_a_fuzzer_found_is_written_in_every_dialect() {
    let corpus = corpus("dialect");
    assert!(corpus.len() >= 10, "{}", corpus.len());

    for data in corpus {
        agent_tests::fuzz::dialect(&data);
    }
}

#[test]
fn every_text_a_fuzzer_found_is_run_or_refused() {
    let corpus = corpus("arguments");
    assert!(corpus.len() >= 10, "{}", corpus.len());

    for data in corpus {
        agent_tests::fuzz::arguments(&data);
    }
}

#[test]
fn every_stream_a_fuzzer_found_is_read_alike_however_it_is_cut() {
    for (target, run) in [
        ("sse", agent_tests::fuzz::sse as fn(&[u8])),
        ("openai_stream", agent_tests::fuzz::openai_stream),
        ("anthropic_stream", agent_tests::fuzz::anthropic_stream),
        ("http", agent_tests::fuzz_http::http),
    ] {
        let corpus = corpus(target);
        assert!(corpus.len() >= 10, "{target}: {}", corpus.len());
        corpus.iter().for_each(|data| run(data));
    }
}
