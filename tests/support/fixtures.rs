//! Files of recorded and made-up answers.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The JSON files of a folder under `tests/fixtures`, by name, in order.
///
/// # Panics
///
/// If the folder or a file cannot be read, or if there is none.
#[must_use]
pub fn json_files(folder: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder:?} holds no JSON file");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        (name.into_owned(), value)
    };
    paths.into_iter().map(read).collect()
}
