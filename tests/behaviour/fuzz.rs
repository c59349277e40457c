//! What the fuzz targets found, and what they start from.

use std::fs;
use std::path::Path;

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
