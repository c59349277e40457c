//! Runs every wire case of `tests/fixtures/cases`; a file added there needs no code here.

use std::path::Path;

use agent_tests::wire;

// B8, B13, E4
#[tokio::test]
async fn every_case_is_read_as_its_file_says_however_it_is_cut() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut faults = Vec::new();
    let cases = wire::cases(&folder).expect("the cases are there");
    assert!(cases.len() >= 65, "only {} cases", cases.len());
    for (name, case) in cases {
        let found = wire::faults(&case).await;
        faults.extend(found.into_iter().map(|why| format!("{name}: {why}")));
    }

    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
