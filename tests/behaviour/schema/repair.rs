//! An error about arguments says enough to make the call right.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZeroI8, NonZeroI64, NonZeroU8, NonZeroU64};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_core::__private as P;
use agent_core::schema::Base64;
use agent_core::tool::ToolErrorKind;
use agent_core::{ToolCallback, ToolContext, ToolSchema, tool, tools};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, Deserialize, ToolSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metric,
    Imperial,
}

#[derive(Debug, Deserialize, ToolSchema)]
struct Stop {
    city: String,
    #[param(minimum = 1, maximum = 14)]
    nights: u8,
}

#[tool]
#[allow(clippy::needless_pass_by_value)]
fn trip(
    #[param(min_length = 2, pattern = "^[A-Z]", example = "Ann")] name: &str,
    #[param(min_items = 1, max_items = 2)] stops: Vec<Stop>,
    unit: Unit,
    #[param(exclusive_minimum = 0, maximum = 0.5)] discount: f64,
    seats_wanted: Option<u8>,
    codes: Option<BTreeMap<String, (u8, bool)>>,
    password: Option<char>,
) -> String {
    let nights = stops
        .iter()
        .map(|stop| stop.nights + u8::from(stop.city.is_empty()));
    format!(
        "{name} {} {unit:?} {discount} {seats_wanted:?} {codes:?} {password:?}",
        nights.sum::<u8>()
    )
}

fn good() -> Value {
    json!({
        "name": "Bob",
        "stops": [{"city": "Oslo", "nights": 2}],
        "unit": "metric",
        "discount": 0.25,
    })
}

async fn fault(arguments: &str) -> Option<String> {
    let [tool]: [Arc<dyn ToolCallback>; 1] = tools![trip].try_into().ok()?;
    let error = tool.call(arguments, &ToolContext::default()).await.err()?;
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    Some(error.model_text())
}

/// What a model makes of its arguments that knows nothing but the error.
pub(super) fn repaired(arguments: &str, error: &str) -> String {
    let error = error.strip_prefix("Error: ").expect("how errors open");
    let Ok(mut value) = serde_json::from_str::<Value>(arguments) else {
        return example(error)
            .expect("an example of the whole call")
            .to_string();
    };
    // No arguments are an empty object.
    if value.is_null() {
        value = json!({});
    }
    if !value.is_object() || error.contains("is given twice") {
        return example(error)
            .expect("an example of the whole call")
            .to_string();
    }
    for line in error.lines() {
        if !line.starts_with("argument `") {
            return example(line)
                .expect("an example of the whole call")
                .to_string();
        }
        let path = between(line, "argument `", "`").expect("where it is");
        let target = place(&mut value, path);
        if let Some(example) = example(line) {
            *target = example;
        } else if let Some(meant) = between(line, "did you mean `", "`") {
            let given = target.take();
            value[meant] = given;
        } else {
            panic!("nothing to go by: {line}");
        }
    }
    value.to_string()
}

fn example(line: &str) -> Option<Value> {
    let (_, example) = line.split_once("; for example: ")?;
    Some(serde_json::from_str(example).expect("an example is JSON"))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?
        .1
        .split_once(after)
        .map(|(inside, _)| inside)
}

fn place<'a>(value: &'a mut Value, path: &str) -> &'a mut Value {
    let steps = path.replace('[', ".").replace(']', "");
    steps
        .split('.')
        .fold(value, |value, step| match step.parse::<usize>() {
            Ok(index) => &mut value[index],
            Err(_) => &mut value[step],
        })
}

#[tokio::test]
async fn a_model_that_reads_nothing_but_the_error_repairs_each_call() {
    let mut broken: Vec<String> = vec![
        "[1]".to_owned(),
        "7".to_owned(),
        r#"{"name": "Bob""#.to_owned(),
        r#"{"name": "Bob", "name": "Bob"}"#.to_owned(),
        "{}".to_owned(),
        "null".to_owned(),
    ];
    for (path, wrong) in [
        ("name", json!("B")),
        ("name", json!("bob")),
        ("name", json!(7)),
        ("name", Value::Null),
        ("stops", json!([])),
        ("stops", json!("none")),
        ("stops", json!([1, 2, 3])),
        ("stops[0]", json!("Oslo")),
        ("stops[0].nights", json!(0)),
        ("stops[0].nights", json!("two")),
        ("stops[0]", json!({"nights": 1})),
        ("stops[0]", json!({"citty": "Oslo", "nights": 1})),
        ("unit", json!("metrc")),
        ("unit", json!("kelvin")),
        ("unit", json!(1)),
        ("discount", json!(0)),
        ("discount", json!(0.75)),
        ("discount", json!("half")),
        ("seats_wanted", json!(-1)),
        ("codes", json!({"a": [1, true], "b": [300, true]})),
        ("codes", json!({"a": [1]})),
        ("password", json!("long")),
    ] {
        let mut value = good();
        *place(&mut value, path) = wrong;
        broken.push(value.to_string());
    }
    let mut several = good();
    several["unit"] = json!("metrics");
    several["stops"][0]["nights"] = json!(99);
    several["discount"] = json!(true);
    several["seatsWanted"] = json!(2);
    broken.push(several.to_string());

    assert_eq!(fault(&good().to_string()).await, None);
    for arguments in broken {
        let error = fault(&arguments).await.expect("a fault");
        let repaired = repaired(&arguments, &error);
        assert_eq!(
            fault(&repaired).await,
            None,
            "{arguments}\n{error}\n{repaired}"
        );
    }
}

#[derive(Debug, Deserialize, ToolSchema)]
struct Folder {
    name: String,
    folders: Vec<Folder>,
    link: Option<Box<Folder>>,
}

#[derive(Debug, Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only printed")]
enum Sum {
    Of(Box<Sum>, Box<Sum>),
    Number(f64),
    Negative { of: Box<Sum> },
}

#[tool]
#[allow(clippy::needless_pass_by_value)]
fn recursive(folder: Folder, sum: Sum) -> String {
    let (
        Folder {
            name,
            folders,
            link,
        },
        sum,
    ) = (folder, format!("{sum:?}"));
    format!("{name} {folders:?} {link:?} {sum}")
}

#[tokio::test]
async fn what_is_missing_in_a_recursive_type_is_shown_as_it_is_outside() {
    let arguments = json!({
        "folder": {"name": "a", "folders": [{"name": "b"}]},
        "sum": {"Of": [{"Number": 1}, {"Negative": {"off": 2}}]},
    });
    let context = ToolContext::default();

    let error = recursive::callback()
        .call(&arguments.to_string(), &context)
        .await
        .unwrap_err();

    assert_eq!(
        error.model_text(),
        concat!(
            "Error: argument `folder.folders[0].folders` is missing: expected a list; ",
            "for example: [{\"name\":\"text\",\"folders\":[]}]\n",
            "argument `sum.Of[1].Negative.of` is missing: expected an object with the key \"Of\" ",
            "or an object with the key \"Number\" or an object with the key \"Negative\"; ",
            "`off` was given, which is not known; for example: {\"Number\":1}",
        )
    );
}

/// The error of a call without the argument `a` holds an example that is read as `T`.
fn shows_an_example<T: P::ToolParam + 'static>() {
    let name = std::any::type_name::<T>();
    let context = ToolContext::default();
    let mut reader = P::ArgumentReader::new("{}", &context);
    assert!(
        const { &P::typed::<T>("a") }.take(&mut reader).is_none(),
        "{name}"
    );
    let error = reader.into_error().model_text();
    let Some((_, example)) = error.split_once("; for example: ") else {
        panic!("{name}: no example: {error}");
    };

    let arguments = format!("{{\"a\": {example}}}");
    let mut reader = P::ArgumentReader::new(&arguments, &context);
    let value = const { &P::typed::<T>("a") }.take(&mut reader);

    assert!(value.is_some(), "{name}: {}", reader.into_error());
}

#[test]
fn the_example_of_each_type_is_a_value_of_it() {
    macro_rules! all {
        ($($ty:ty,)*) => { $(shows_an_example::<$ty>();)* };
    }

    all! {
        bool, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64,
        serde_json::Number, NonZeroU8, NonZeroU64, NonZeroI8, NonZeroI64, (), char, String,
        PathBuf, Base64, Duration, Ipv4Addr, Ipv6Addr, IpAddr, SocketAddr, SocketAddrV4,
        SocketAddrV6, Vec<u8>, [u8; 3], BTreeSet<String>, BTreeMap<String, u8>, (u8, String),
        Box<u8>, Unit, Stop, Folder, Sum,
        chrono::DateTime<chrono::Utc>, chrono::NaiveDate, chrono::NaiveTime,
        chrono::NaiveDateTime, chrono::Weekday, chrono::Month,
        jiff::Timestamp, jiff::civil::Date, jiff::civil::Time, jiff::civil::DateTime, jiff::Span,
        jiff::SignedDuration, jiff::ZonedDateTime,
        uuid::Uuid, url::Url,
    }
}

#[tokio::test]
async fn an_error_names_place_expectation_value_and_what_was_meant() {
    let mut value = good();
    value["unit"] = json!("metrc");
    value["stops"][0] = json!({"citty": "Oslo", "nights": 15});
    value["seatsWanted"] = json!(2);

    assert_eq!(
        fault(&value.to_string()).await.unwrap(),
        concat!(
            "Error: argument `stops[0].city` is missing: expected a string; ",
            "`citty` was given, which is not known; for example: \"text\"\n",
            "argument `stops[0].nights` does not fit its type: expected an integer from 1 to 14, ",
            "got 15; for example: 1\n",
            "argument `unit` does not fit its type: expected one of \"metric\", \"imperial\", ",
            "got \"metrc\"; did you mean \"metric\"?; for example: \"metric\"\n",
            "argument `seatsWanted` is not known; did you mean `seats_wanted`?",
        )
    );
}

#[tokio::test]
async fn an_unknown_argument_alone_is_no_fault() {
    let mut value = good();
    value["seatsWanted"] = json!(2);

    assert_eq!(fault(&value.to_string()).await, None);
}

#[tool(schemars)]
fn unlock(token: u64) -> bool {
    token == 1
}

#[tokio::test]
async fn a_secret_is_not_repeated() {
    let mut value = good();
    value["password"] = json!("hunter2");
    value["unit"] = json!(format!("https://ann:{}@host", "pw".repeat(50)));
    let text = fault(&value.to_string()).await.unwrap();
    let arguments = r#"{"token": "hunter2"}"#;
    let error = unlock::callback()
        .call(arguments, &ToolContext::default())
        .await
        .unwrap_err();

    assert!(!error.to_string().contains("hunter"), "{error}");
    assert!(
        text.contains("`password`") && !text.contains("hunter"),
        "{text}"
    );
    assert!(
        text.contains("https://***@host") && !text.contains("pwpw"),
        "{text}"
    );
}

#[tokio::test]
async fn a_call_of_very_many_keys_is_read_in_the_time_of_reading_it() {
    let members: Vec<String> = (0..100_000).map(|key| format!("\"k{key}\":0")).collect();
    let good = good().to_string();
    let wide = format!("{},{}", good.trim_end_matches('}'), members.join(","));

    // Comparing each key with each takes minutes.
    assert_eq!(fault(&format!("{wide}}}")).await, None);
    let twice = fault(&format!("{wide},\"k7\":1}}")).await.unwrap();
    assert!(
        twice.starts_with("Error: argument `k7` is given twice; "),
        "{twice}"
    );
}
