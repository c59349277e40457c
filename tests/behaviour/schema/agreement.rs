//! What the schema of a type says is what its `Deserialize` takes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::{NonZeroI8, NonZeroU16, NonZeroU128};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use agent_core::__private as P;
use agent_core::schema::Base64;
use agent_core::tool::ToolParam;
use agent_core::{ToolContext, ToolSchema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn schema_of<T: ToolSchema + ?Sized>() -> Value {
    serde_json::from_str(&T::SCHEMA.to_string()).expect("a schema is JSON")
}

fn is_valid<T: ToolSchema>(value: &Value) -> bool {
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(&schema_of::<T>());
    validator.expect("a schema is valid").is_valid(value)
}

fn read<T: ToolParam>(value: &Value) -> Result<T, String> {
    let raw = RawValue::from_string(value.to_string()).expect("a value is JSON");
    T::take(Some(&raw), &ToolContext::default()).map_err(|error| error.to_string())
}

/// The schema and serde both take `value`, and serde writes what it read in the same form.
fn agree<T: ToolSchema + Serialize + DeserializeOwned + Debug>(values: &[Value]) {
    for value in values {
        assert!(is_valid::<T>(value), "{} refuses {value}", schema_of::<T>());
        let written = read::<T>(value).map(serde_json::to_value);
        assert!(
            matches!(&written, Ok(Ok(written)) if written == value),
            "{value}: {written:?}"
        );
    }
}

/// Neither the schema nor serde takes one of these.
fn refuse<T: ToolSchema + DeserializeOwned + Debug>(values: &[Value]) {
    for value in values {
        assert!(!is_valid::<T>(value), "{} takes {value}", schema_of::<T>());
        assert!(read::<T>(value).is_err(), "serde takes {value}");
    }
}

#[test]
fn types_of_std() {
    agree::<bool>(&[json!(true)]);
    agree::<u8>(&[json!(0), json!(255)]);
    refuse::<u8>(&[json!(-1), json!(256), json!(1.5), json!("x")]);
    agree::<i16>(&[json!(i16::MIN), json!(i16::MAX)]);
    refuse::<i16>(&[json!(32768)]);
    agree::<u64>(&[json!(u64::MAX)]);
    refuse::<u64>(&[json!(-1)]);
    agree::<i64>(&[json!(i64::MIN), json!(i64::MAX)]);
    agree::<f64>(&[json!(0.5), json!(-3.0)]);
    agree::<NonZeroU16>(&[json!(1), json!(65535)]);
    refuse::<NonZeroU16>(&[json!(0)]);
    agree::<NonZeroI8>(&[json!(-128), json!(1)]);
    agree::<NonZeroU128>(&[json!(1)]);
    refuse::<NonZeroU128>(&[json!(0)]);
    agree::<char>(&[json!("a"), json!("é"), json!("🦀")]);
    refuse::<char>(&[json!(""), json!("ab")]);
    agree::<Cow<'static, str>>(&[json!("text")]);
    agree::<PathBuf>(&[json!("/a/b"), json!("")]);
    agree::<()>(&[Value::Null]);
    agree::<Option<u8>>(&[Value::Null, json!(1)]);
    agree::<Box<[u8]>>(&[json!([1, 2])]);
}

#[test]
fn addresses() {
    agree::<Ipv4Addr>(&[json!("127.0.0.1")]);
    agree::<Ipv6Addr>(&[json!("::1")]);
    refuse::<Ipv4Addr>(&[json!("::1"), json!("256.0.0.1")]);
    refuse::<Ipv6Addr>(&[json!("127.0.0.1")]);
    agree::<IpAddr>(&[json!("127.0.0.1"), json!("::1")]);
    agree::<SocketAddr>(&[json!("127.0.0.1:80"), json!("[::1]:80")]);
    assert_eq!(schema_of::<IpAddr>()["format"], "ip");
}

#[test]
fn a_duration_is_seconds_and_nanoseconds() {
    agree::<Duration>(&[json!({"secs": 5, "nanos": 999_999_999})]);
    refuse::<Duration>(&[
        json!({"secs": 5}),
        json!(5),
        json!("5s"),
        json!({"secs": -1}),
    ]);
}

#[test]
fn containers() {
    agree::<[u8; 3]>(&[json!([1, 2, 3])]);
    refuse::<[u8; 3]>(&[json!([1, 2]), json!([1, 2, 3, 4])]);
    agree::<(u8, String)>(&[json!([1, "a"])]);
    refuse::<(u8, String)>(&[json!(["a", 1]), json!([1])]);
    agree::<(f64, f64)>(&[json!([1.5, 2.5])]);
    refuse::<(f64, f64)>(&[json!([1.5]), json!([1.5, 2.5, 3.5])]);
    agree::<Vec<Option<bool>>>(&[json!([]), json!([true, null])]);
    agree::<VecDeque<u8>>(&[json!([1, 1])]);
    agree::<LinkedList<u8>>(&[json!([1, 1])]);
    agree::<BinaryHeap<u8>>(&[json!([1])]);
    agree::<BTreeSet<u8>>(&[json!([1, 2])]);
    agree::<HashSet<u8>>(&[json!([1])]);
    agree::<BTreeMap<String, u8>>(&[json!({}), json!({"a": 1})]);
    refuse::<BTreeMap<String, u8>>(&[json!({"a": "x"}), json!([])]);
    agree::<HashMap<String, Vec<u8>>>(&[json!({"a": [1]})]);
}

#[test]
fn a_shared_type_is_told_as_what_it_holds() {
    assert_eq!(schema_of::<Arc<str>>(), schema_of::<String>());
    assert_eq!(schema_of::<Rc<[u8]>>(), schema_of::<Vec<u8>>());
    assert_eq!(schema_of::<Box<Option<u8>>>(), schema_of::<Option<u8>>());
    const { assert!(!<Arc<Option<u8>>>::REQUIRED) };
}

// sc-31
#[test]
fn bytes_are_numbers_or_base64() {
    assert_eq!(
        schema_of::<Vec<u8>>(),
        json!({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}})
    );
    assert_eq!(
        schema_of::<Option<Base64>>(),
        json!({"type": ["string", "null"], "contentEncoding": "base64"})
    );
    agree::<Base64>(&[json!(""), json!("aGk="), json!("+/8=")]);
    assert_eq!(read(&json!("aGk=")), Ok(Base64(b"hi".to_vec())));
    assert_eq!(read(&json!("aGk")), Ok(Base64(b"hi".to_vec())));
    assert_eq!(read(&json!("-_8\n")), Ok(Base64(vec![0xfb, 0xff])));
    assert_eq!(
        read::<Base64>(&json!("not!")),
        Err(
            "the argument does not fit its type: not base64: Invalid symbol 33, offset 3."
                .to_owned()
        )
    );
    assert_eq!(
        read::<Base64>(&json!([1])),
        Err(concat!(
            "the argument does not fit its type: expected a string of base64, got [1]; ",
            r#"for example: "aGVsbG8=""#,
        )
        .to_owned())
    );
}

// sc-32
#[test]
fn dates_and_times_of_chrono() {
    use chrono::{DateTime, FixedOffset, Month, NaiveDate, NaiveDateTime, NaiveTime, Utc, Weekday};

    agree::<DateTime<Utc>>(&[json!("2026-02-28T12:30:00Z")]);
    agree::<DateTime<FixedOffset>>(&[json!("2026-02-28T12:30:00+01:00")]);
    refuse::<DateTime<Utc>>(&[
        json!("yesterday"),
        json!("2026-02-28"),
        json!("2026-02-30T00:00:00Z"),
    ]);
    agree::<NaiveDate>(&[json!("2026-02-28")]);
    refuse::<NaiveDate>(&[json!("28.2.2026"), json!("2026-02-29")]);
    agree::<NaiveTime>(&[json!("12:30:00")]);
    agree::<NaiveDateTime>(&[json!("2026-02-28T12:30:00")]);
    agree::<Weekday>(&[json!("Mon"), json!("Sun")]);
    refuse::<Weekday>(&[json!("Day")]);
    agree::<Month>(&[json!("January"), json!("December")]);
    assert_eq!(
        schema_of::<DateTime<Utc>>(),
        json!({"type": "string", "format": "date-time"})
    );
    let (arguments, context) = (r#"{"at": "yesterday"}"#, ToolContext::default());
    let mut reader = P::ArgumentReader::new(arguments, &context);
    assert_eq!(
        const { &P::typed::<DateTime<Utc>>("at") }.take(&mut reader),
        None
    );
    assert_eq!(
        reader.into_error().to_string(),
        concat!(
            "argument `at` does not fit its type: input contains invalid characters; ",
            r#"for example: "2024-01-31T12:00:00Z""#,
        )
    );
    assert_eq!(schema_of::<NaiveTime>()["format"], "time-local");
    assert_eq!(schema_of::<NaiveDateTime>()["format"], "date-time-local");
    assert_eq!(
        read::<NaiveDate>(&json!(7)),
        Err(concat!(
            "the argument does not fit its type: expected a string of the format date, got 7; ",
            r#"for example: "2024-01-31""#
        )
        .to_owned())
    );
}

#[test]
fn dates_times_and_spans_of_jiff() {
    use jiff::civil::{Date, DateTime, Time};
    use jiff::{SignedDuration, Span, Timestamp, ZonedDateTime};

    agree::<Timestamp>(&[json!("2026-02-28T12:30:00Z")]);
    refuse::<Timestamp>(&[json!("yesterday"), json!("2026-02-28")]);
    agree::<Date>(&[json!("2026-02-28")]);
    refuse::<Date>(&[json!("28.2.2026")]);
    agree::<Time>(&[json!("12:30:00")]);
    agree::<DateTime>(&[json!("2026-02-28T12:30:00")]);
    agree::<ZonedDateTime>(&[json!("2026-02-28T12:30:00+01:00[+01:00]")]);
    agree::<Span>(&[json!("P1Y2M3DT4H5M6S")]);
    agree::<SignedDuration>(&[json!("PT5H30M")]);
    refuse::<SignedDuration>(&[json!("soon")]);
    assert_eq!(
        schema_of::<Span>(),
        json!({"type": "string", "format": "duration"})
    );
    assert_eq!(schema_of::<ZonedDateTime>()["format"], "zoned-date-time");
}

#[test]
fn ids_and_addresses_of_the_web() {
    agree::<uuid::Uuid>(&[json!("67e55044-10b1-426f-9247-bb680e5fe0c8")]);
    refuse::<uuid::Uuid>(&[json!("67e55044")]);
    agree::<url::Url>(&[json!("https://example.org/a?b=c")]);
    refuse::<url::Url>(&[json!("example")]);
    assert_eq!(
        schema_of::<uuid::Uuid>(),
        json!({"type": "string", "format": "uuid"})
    );
    assert_eq!(
        schema_of::<url::Url>(),
        json!({"type": "string", "format": "uri"})
    );
}
