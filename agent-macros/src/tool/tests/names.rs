//! Which names a model may see.

use crate::tool::names::{property_fault, tool_fault, words};

#[test]
fn names_are_what_every_provider_takes() {
    for good in [
        "a",
        "_",
        "get_weather",
        "get-weather",
        "A1",
        "run_python",
        &"x".repeat(64),
    ] {
        assert_eq!(tool_fault(good), None, "{good}");
    }
    for bad in [
        "",
        "1a",
        "-a",
        "a b",
        "a.b",
        "wetter_für",
        "python",
        &"x".repeat(65),
    ] {
        assert!(tool_fault(bad).is_some(), "{bad}");
    }
    assert!(property_fault("get-weather").is_some());
    assert_eq!(property_fault("get_weather"), None);
}

#[test]
fn a_name_is_split_into_words() {
    assert_eq!(words("get_weather"), "get weather");
    assert_eq!(words("getWeather"), "get weather");
    assert_eq!(words("_get__weather2Day"), "get weather2 day");
    assert_eq!(words("readHTML"), "read html");
    assert_eq!(words("now"), "now");
}
