//! What a mistake looks like: each file in `tool/` and `schema/` has one, and beside it the
//! compiler's words.

#[test]
fn mistakes_in_tools_are_explained_where_they_are() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tool/*.rs");
}

#[test]
fn mistakes_in_types_are_explained_where_they_are() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("schema/*.rs");
}
