//! What the project promises about its own form: layers, paths, sizes, documents, banned words.
//!
//! Each rule is a function from texts to faults, tried on made-up texts beside it, so that a
//! rule which can no longer fail is noticed.

mod documents;
mod layers;
mod paths;
mod sizes;
mod sources;
mod words;

/// Fails with every fault on a line of its own.
fn assert_no_faults(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}
