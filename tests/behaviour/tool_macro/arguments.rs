//! How arguments reach the function.

use std::borrow::Cow;
use std::path::Path;

use agent_core::tool::ToolErrorKind;
use agent_core::{ToolSchema, tool, tools};
use serde::Deserialize;

use super::{called, told};

#[tool]
#[allow(clippy::ptr_arg)]
async fn borrowed(
    text: &str,
    list: &[u8],
    path: &Path,
    owned: &String,
    cow: Cow<'_, str>,
) -> String {
    format!("{text} {list:?} {} {owned} {cow}", path.display())
}

#[tokio::test]
async fn references_borrow_from_owned_values() {
    let arguments = r#"{"text":"a","list":[1,2],"path":"/b","owned":"c","cow":"d"}"#;

    assert_eq!(
        told(borrowed::callback(), arguments).await,
        "a [1, 2] /b c d"
    );
}

/// Neither `Clone` nor `ToOwned`.
#[derive(Deserialize, ToolSchema)]
struct Route {
    stops: Vec<String>,
}

#[tool]
async fn stops(route: &Route, others: &[Route]) -> usize {
    route.stops.len() + others.iter().map(|route| route.stops.len()).sum::<usize>()
}

#[tokio::test]
async fn a_type_that_cannot_be_cloned_may_be_taken_by_reference() {
    let arguments = r#"{"route": {"stops": ["Oslo"]}, "others": [{"stops": ["Rome", "Bari"]}]}"#;

    assert_eq!(told(stops::callback(), arguments).await, "3");
}

#[tool]
async fn trimmed(text: &str) -> &str {
    text.trim()
}

#[tool]
fn trimmed_in_place(text: &str) -> &str {
    text.trim()
}

#[tokio::test]
async fn a_result_may_borrow_from_an_argument() {
    for tool in tools![trimmed, trimmed_in_place] {
        assert_eq!(told(tool, r#"{"text":" x "}"#).await, "x");
    }
}

#[tool]
async fn two(first: u8, second: u8, _third: Option<u8>) -> u8 {
    first + second
}

#[tokio::test]
async fn all_faults_are_told_at_once() {
    let error = called(two::callback(), r#"{"first":"x"}"#)
        .await
        .unwrap_err();

    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    let text = error.model_text();
    assert!(
        text.contains("`first`") && text.contains("`second`"),
        "{text}"
    );
}

#[tokio::test]
async fn every_advertised_name_is_read() {
    assert_eq!(
        told(two::callback(), r#"{"second":2,"first":1,"third":null}"#).await,
        "3"
    );
}

#[tool]
fn thread_name(mut prefix: String) -> String {
    prefix.push_str(std::thread::current().name().unwrap_or("none"));
    prefix
}

// A1, CT-8, ct.7
#[tokio::test]
async fn a_plain_function_does_not_block_the_runtime() {
    let here = thread_name(String::new());
    let there = told(thread_name::callback(), r#"{"prefix":""}"#).await;

    assert_ne!(here, there);
}
