//! How a model's arguments are read.

use std::collections::BTreeMap;

use agent_core::__private as P;
use agent_core::schema::{Property, Schema};
use agent_core::tool::ToolErrorKind;
use agent_core::{ToolContext, ToolSchema};
use serde::Deserialize;
use serde_json::{Value, json};

/// What one parameter `a` of type `T` becomes.
fn read<T: P::ToolParam + 'static>(arguments: &str) -> Result<T, String> {
    let context = ToolContext::default();
    let mut reader = P::ArgumentReader::new(arguments, &context);
    match const { &P::typed::<T>("a") }.take(&mut reader) {
        Some(value) => reader
            .finish()
            .map(|()| value)
            .map_err(|error| without_examples(&error.to_string())),
        None => {
            let error = reader.into_error();
            assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
            Err(without_examples(&error.to_string()))
        }
    }
}

/// The text of an error up to its examples, which tests of their own look at.
fn without_examples(text: &str) -> String {
    let line = |line: &str| {
        line.split("; for example: ")
            .next()
            .unwrap_or(line)
            .to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn misfit(what: &str) -> String {
    format!("argument `a` does not fit its type: expected {what}")
}

#[test]
fn what_has_one_reading_is_read() {
    // nw-60
    assert_eq!(read::<u64>(r#"{"a": "200000"}"#), Ok(200_000));
    assert_eq!(read::<f64>(r#"{"a": " 1.5"}"#), Ok(1.5));
    // nw-61
    assert_eq!(read::<i32>(r#"{"a": 29356.0}"#), Ok(29356));
    assert_eq!(read::<u64>(r#"{"a": 1e3}"#), Ok(1000));
    assert_eq!(read::<i32>(r#"{"a": "1.5E7"}"#), Ok(15_000_000));
    // nw-29
    assert_eq!(
        read::<i64>(r#"{"a": 9007199254740993}"#),
        Ok(9_007_199_254_740_993)
    );
    // nw-65
    for text in ["[1,2]", "42", "true"] {
        let arguments = json!({"a": text}).to_string();
        assert_eq!(read::<String>(&arguments).as_deref(), Ok(text));
        assert_eq!(
            read::<Option<String>>(&arguments),
            Ok(Some(text.to_owned()))
        );
    }
    // nw-66
    assert_eq!(read::<Option<u8>>(r#"{"a": null}"#), Ok(None));
    assert_eq!(read::<Option<u8>>("{}"), Ok(None));
    assert_eq!(read::<Option<Vec<String>>>(r#"{"a": null}"#), Ok(None));
    assert_eq!(read::<Option<u8>>(r#"{"a": "5"}"#), Ok(Some(5)));
    // nw-69
    assert_eq!(read::<i32>(r#"{"a": 1, "explanation": "because"}"#), Ok(1));
    // nw-70
    assert_eq!(read::<bool>(r#"{"a": "true"}"#), Ok(true));
    assert_eq!(read::<bool>(r#"{"a": "False"}"#), Ok(false));

    assert_eq!(read::<Vec<u8>>(r#"{"a": "[1, 2]"}"#), Ok(vec![1, 2]));
    assert_eq!(read::<Vec<u8>>(r#"{"a": ["1", 2.0]}"#), Ok(vec![1, 2]));
    assert_eq!(read::<(u8, bool)>(r#"{"a": ["1", "true"]}"#), Ok((1, true)));
    assert_eq!(
        read::<BTreeMap<String, Vec<u8>>>(r#"{"a": {"x": "[\"7\"]"}}"#),
        Ok(BTreeMap::from([("x".to_owned(), vec![7])]))
    );
    assert_eq!(read::<Value>(r#"{"a": null}"#), Ok(Value::Null));
}

#[test]
fn what_does_not_fit_is_told_by_name() {
    // nw-67
    assert_eq!(
        read::<String>(r#"{"a": null}"#),
        Err(misfit("a string, got null"))
    );
    assert_eq!(
        read::<String>("{}"),
        Err("argument `a` is missing: expected a string".to_owned())
    );
    // nw-70
    assert_eq!(read::<bool>(r#"{"a": 1}"#), Err(misfit("a bool, got 1")));
    assert_eq!(
        read::<String>(r#"{"a": 7}"#),
        Err(misfit("a string, got 7"))
    );
    assert_eq!(
        read::<i32>(r#"{"a": 1.5}"#),
        Err(misfit("an integer, got 1.5"))
    );
    assert_eq!(
        read::<i32>(r#"{"a": "seven"}"#),
        Err(misfit(r#"an integer, got "seven""#))
    );
    assert_eq!(
        read::<u8>(r#"{"a": 300}"#),
        Err(misfit("an integer from 0 to 255, got 300"))
    );
    assert_eq!(
        read::<u8>(r#"{"a": "300"}"#),
        Err(misfit("an integer from 0 to 255, got 300"))
    );
    assert_eq!(
        read::<usize>(r#"{"a": -1}"#),
        Err(misfit("an integer of at least 0, got -1"))
    );
    assert_eq!(
        read::<Option<bool>>(r#"{"a": 1}"#),
        Err(misfit("a bool, got 1"))
    );
    assert_eq!(
        read::<[u8; 2]>(r#"{"a": [1]}"#),
        Err(misfit("a list of 2 items, got [1]"))
    );
    assert_eq!(
        read::<char>(r#"{"a": "ab"}"#),
        Err(misfit(r#"a string of one character, got "ab""#))
    );
    assert_eq!(
        read::<Vec<u8>>(r#"{"a": "one"}"#),
        Err(misfit(r#"a list, got "one""#))
    );
    // A float this large stands for many whole numbers.
    assert_eq!(
        read::<i64>(r#"{"a": 1e17}"#),
        Err(misfit("an integer, got 1e+17"))
    );
    assert_eq!(
        read::<i32>(r#"{"a": 3000000000}"#),
        Err(
            "argument `a` does not fit its type: invalid value: integer `3000000000`, expected i32"
                .to_owned()
        )
    );
    assert_eq!(
        read::<Vec<BTreeMap<String, bool>>>(r#"{"a": [{"x": true, "y": 1}, 2]}"#),
        Err("argument `a[0].y` does not fit its type: expected a bool, got 1\nargument `a[1]` does not fit its type: expected an object, got 2".to_owned())
    );
}

#[test]
fn a_long_value_is_shortened_between_characters() {
    let arguments = json!({"a": "é".repeat(100)}).to_string();

    assert_eq!(
        read::<bool>(&arguments),
        Err(misfit(&format!("a bool, got \"{}…", "é".repeat(59))))
    );
}

#[test]
fn all_faults_of_a_call_are_told_at_once() {
    let context = ToolContext::default();
    let mut reader = P::ArgumentReader::new(r#"{"b": 1}"#, &context);

    let text = const { &P::typed::<String>("a") }.take(&mut reader);
    let bool = const { &P::typed::<bool>("b") }.take(&mut reader);

    assert_eq!((text, bool), (None, None));
    assert_eq!(
        reader.into_error().model_text(),
        concat!(
            "Error: argument `a` is missing: expected a string; for example: \"text\"\n",
            "argument `b` does not fit its type: expected a bool, got 1; for example: true"
        )
    );
}

#[test]
fn a_default_stands_for_absent_and_for_null() {
    let context = ToolContext::default();
    for (arguments, expected) in [("{}", 1), (r#"{"a": null}"#, 1), (r#"{"a": "5"}"#, 5)] {
        let mut reader = P::ArgumentReader::new(arguments, &context);

        assert_eq!(
            const { &P::typed::<u8>("a") }.take_or(&mut reader, || 1),
            Some(expected)
        );
        assert!(reader.finish().is_ok());
    }
}

#[test]
fn no_text_is_no_arguments() {
    // nw-28
    for arguments in ["", "  ", "null", "{}"] {
        assert_eq!(read::<Option<u8>>(arguments), Ok(None));
    }
}

#[test]
fn what_is_no_object_is_an_error_and_never_replaced() {
    // nw-25
    for (arguments, expected) in [
        ("[1]", "the arguments are not a JSON object, got [1]"),
        (
            r#"{"a": NaN}"#,
            "the arguments are not valid JSON: expected value at line 1 column 7",
        ),
        (
            r#"{"a": 1"#,
            "the arguments are not valid JSON: EOF while parsing an object at line 1 column 7",
        ),
        (r#"{"a": 1, "a": 2}"#, "argument `a` is given twice"),
    ] {
        assert_eq!(read::<Option<u8>>(arguments), Err(expected.to_owned()));
        let context = ToolContext::default();
        let mut reader = P::ArgumentReader::new(arguments, &context);
        assert_eq!(
            const { &P::typed::<u8>("b") }.take_or(&mut reader, || 1),
            None
        );
    }
}

#[test]
fn nested_properties_are_read_by_their_schema() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Point {
        x: i32,
        #[serde(default)]
        y: i32,
    }

    impl ToolSchema for Point {
        const SCHEMA: Schema = Schema::Object(&[
            Property::of::<i32>("x"),
            Property::of::<i32>("y").with_default(None),
        ]);
    }

    assert_eq!(
        read::<Point>(r#"{"a": {"x": "3", "y": null}}"#),
        Ok(Point { x: 3, y: 0 })
    );
    assert_eq!(
        read::<Point>(r#"{"a": {}}"#),
        Err("argument `a.x` is missing: expected an integer".to_owned())
    );
}

#[test]
fn context_and_host_values_come_from_the_host() {
    struct Database;
    let context = ToolContext::default();
    let mut reader = P::ArgumentReader::new(r#"{"context": 1}"#, &context);

    let taken = const { &P::typed::<ToolContext>("context") }.take(&mut reader);
    assert!(taken.is_some());
    let taken = const { &P::typed::<P::Host<Database>>("database") }.take(&mut reader);
    assert!(taken.is_none());
    let error = reader.into_error();
    assert_eq!(error.kind(), ToolErrorKind::Fatal);
    assert!(error.to_string().contains("Database"), "{error}");

    let hosts = definition![P::Parameter::of::<P::Host<String>>("name")].required_hosts();
    assert_eq!(hosts[0].name, std::any::type_name::<String>());
}
