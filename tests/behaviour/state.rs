//! How updates join a state: key strategies, removals, messages, atomicity.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::collections::BTreeMap;

use agent_core::Message;
use agent_core::graph::{KeyStrategies, KeyStrategy, State, StateError, StateKey, StateUpdate};
use agent_core::message::{AssistantMessage, MessageBody, MessageId, ToolCall, ToolResult};
use serde_json::{Value, json};

const KEY: &str = "key";

/// The value of the key after these updates, one after the other.
fn joined(
    strategy: KeyStrategy,
    updates: impl IntoIterator<Item = StateUpdate>,
) -> Result<Option<Value>, StateError> {
    let strategies = KeyStrategies::new().with(KEY, strategy);
    let mut state = State::new();
    for update in updates {
        strategies.apply(&mut state, update)?;
    }
    Ok(state.value(KEY).cloned())
}

fn put(value: Value) -> StateUpdate {
    StateUpdate::new().put(KEY, value)
}

fn apply(state: &mut State, update: StateUpdate) -> Result<(), StateError> {
    KeyStrategies::new().apply(state, update)
}

fn texts(state: &State) -> Vec<String> {
    state.messages().iter().map(Message::text).collect()
}

fn calls(ids: &[&str]) -> (Message, Vec<ToolCall>) {
    let calls: Vec<ToolCall> = ids
        .iter()
        .map(|id| ToolCall::new(*id, "now", "{}"))
        .collect();
    (AssistantMessage::new("", None, calls.clone()).into(), calls)
}

#[test]
fn a_key_without_strategy_is_replaced_also_by_null() {
    // KS-1, KS-2
    let mut state = State::new();
    apply(&mut state, put(json!("a"))).unwrap();
    apply(&mut state, put(json!("b"))).unwrap();
    assert_eq!(state.value(KEY), Some(&json!("b")));

    apply(&mut state, put(Value::Null)).unwrap();
    assert_eq!(state.value(KEY), Some(&Value::Null));
}

#[test]
fn append_adds_items_and_items_of_lists_and_ignores_null() {
    // KS-3, KS-6, KS-10, KS-11
    for (old, new, expected) in [
        (json!(["a"]), json!("b"), json!(["a", "b"])),
        (json!(["a"]), json!(["b", "c"]), json!(["a", "b", "c"])),
        (json!(["a"]), json!([]), json!(["a"])),
        (json!(["a"]), Value::Null, json!(["a"])),
        (
            json!("orig"),
            json!("_appended"),
            json!(["orig", "_appended"]),
        ),
        (json!(null), json!(["a", "b"]), json!(["a", "b"])),
    ] {
        // A state begins with the old value as it is, so it is written without a strategy.
        let mut state = State::new();
        apply(&mut state, put(old.clone())).unwrap();
        let strategies = KeyStrategies::new().with(KEY, KeyStrategy::Append);
        strategies.apply(&mut state, put(new.clone())).unwrap();

        assert_eq!(state.value(KEY), Some(&expected), "{old} and {new}");
    }
}

#[test]
fn append_to_an_absent_key_makes_a_list() {
    let value = joined(KeyStrategy::Append, [put(json!("a"))]).unwrap();
    assert_eq!(value, Some(json!(["a"])));

    let value = joined(KeyStrategy::Append, [put(Value::Null)]).unwrap();
    assert_eq!(value, None);
}

#[test]
fn replace_all_sets_exactly_this_list() {
    // KS-4
    for items in [vec![], vec![json!("y"), json!("z")]] {
        let replace = StateUpdate::new().replace_all(KEY, items.clone());
        let value = joined(KeyStrategy::Append, [put(json!(["x"])), replace]).unwrap();
        assert_eq!(value, Some(Value::Array(items)));
    }
}

#[test]
fn remove_item_takes_out_the_first_equal_item() {
    // KS-5, KS-8
    let old = put(json!(["a", "b", "a"]));
    let remove = StateUpdate::new().remove_item(KEY, json!("a"));
    let value = joined(KeyStrategy::Append, [old.clone(), remove]).unwrap();
    assert_eq!(value, Some(json!(["b", "a"])));

    let remove = StateUpdate::new().remove_item(KEY, json!("nothing like it"));
    let value = joined(KeyStrategy::Append, [old, remove]).unwrap();
    assert_eq!(value, Some(json!(["a", "b", "a"])));
}

#[test]
fn an_item_written_and_removed_in_one_update_moves_to_the_end() {
    // KS-7
    let write_then_remove = put(json!(["a"])).remove_item(KEY, json!("a"));
    let remove_then_write = StateUpdate::new()
        .remove_item(KEY, json!("a"))
        .put(KEY, json!(["a"]));
    for update in [write_then_remove, remove_then_write] {
        let value = joined(KeyStrategy::Append, [put(json!(["a", "b"])), update]).unwrap();
        assert_eq!(value, Some(json!(["b", "a"])));
    }
}

#[test]
fn removing_an_item_of_an_absent_key_leaves_nothing_behind() {
    // KS-12
    let remove = StateUpdate::new().remove_item(KEY, json!("a"));
    let value = joined(KeyStrategy::Append, [remove.put(KEY, json!("b"))]).unwrap();
    assert_eq!(value, Some(json!(["b"])));
}

#[test]
fn append_distinct_keeps_the_first_of_equal_items_in_order() {
    // KS-9, st.5
    let updates = [put(json!(["a", "b"])), put(json!(["b", "c"]))];
    let value = joined(KeyStrategy::AppendDistinct, updates).unwrap();
    assert_eq!(value, Some(json!(["a", "b", "c"])));
}

#[test]
fn merge_unites_objects_at_every_depth_and_null_keeps_the_old() {
    // KS-14, KS-15, KS-16, st.8
    for (old, new, expected) in [
        (
            json!({"k1": 1}),
            json!({"k2": 2}),
            json!({"k1": 1, "k2": 2}),
        ),
        (
            json!({"a": {"x": 1, "y": 2}, "b": [1]}),
            json!({"a": {"x": null, "y": 3, "z": 4}, "b": [2]}),
            json!({"a": {"x": 1, "y": 3, "z": 4}, "b": [2]}),
        ),
        (json!("Old"), Value::Null, json!("Old")),
        (Value::Null, json!("New"), json!("New")),
        (json!("Old"), json!("New"), json!("New")),
    ] {
        let updates = [put(old.clone()), put(new.clone())];
        let value = joined(KeyStrategy::Merge, updates).unwrap();
        assert_eq!(value, Some(expected), "{old} and {new}");
    }
}

#[test]
fn merging_an_object_with_something_else_is_an_error_that_names_the_key() {
    // KS-17, st.9
    let updates = [
        put(json!({"a": {"b/c": {}}})),
        put(json!({"a": {"b/c": 1}})),
    ];
    let error = joined(KeyStrategy::Merge, updates).unwrap_err();
    assert_eq!(
        error.to_string(),
        "values of key `key` cannot be merged: only one of them is an object at `/a/b~1c`"
    );
}

#[test]
fn a_custom_strategy_sees_old_and_new() {
    // KS-1
    let sum = KeyStrategy::custom(|old, new| {
        let number = |value: &Value| value.as_i64().ok_or("not a number");
        Ok(json!(old.map_or(Ok(0), number)? + number(new)?))
    });
    let value = joined(sum.clone(), [put(json!(2)), put(json!(3))]).unwrap();
    assert_eq!(value, Some(json!(5)));

    let error = joined(sum, [put(json!("two"))]).unwrap_err();
    assert!(matches!(error, StateError::Strategy { key, .. } if key == KEY));
}

#[test]
fn remove_deletes_the_key() {
    // KS-20, st.11
    let remove = StateUpdate::new().remove(KEY);
    let value = joined(KeyStrategy::Append, [put(json!("a")), remove.clone()]).unwrap();
    assert_eq!(value, None);

    let value = joined(KeyStrategy::Append, [remove]).unwrap();
    assert_eq!(value, None);
}

#[test]
fn a_value_of_the_wrong_type_is_an_error_and_not_absence() {
    // KS-22
    const SCORES: StateKey<Vec<i32>> = StateKey::new("scores");
    let mut state = State::new();
    assert_eq!(state.get(&SCORES).unwrap(), None);

    apply(&mut state, StateUpdate::new().with(SCORES, vec![1, 2])).unwrap();
    assert_eq!(state.get(&SCORES).unwrap(), Some(vec![1, 2]));

    apply(&mut state, StateUpdate::new().put("scores", json!("many"))).unwrap();
    let error = state.get(&SCORES).unwrap_err();
    assert!(matches!(&error, StateError::WrongType { key, .. } if key == "scores"));
}

#[test]
fn a_snapshot_does_not_see_later_changes() {
    // KS-10, KS-19, KS-23
    let strategies = KeyStrategies::new().with(KEY, KeyStrategy::Append);
    let mut state = State::new();
    let first = put(json!("a")).message(Message::user("one"));
    strategies.apply(&mut state, first).unwrap();
    let snapshot = state.clone();

    let second = put(json!("b")).message(Message::user("two"));
    strategies.apply(&mut state, second).unwrap();
    assert_eq!(state.value(KEY), Some(&json!(["a", "b"])));
    assert_eq!(snapshot.value(KEY), Some(&json!(["a"])));
    assert_eq!(texts(&snapshot), ["one"]);
    assert_ne!(state, snapshot);
}

#[test]
fn numbers_keep_their_kind() {
    // EX-12
    let values = json!([u64::MAX, i64::MIN, 1.0]);
    let value = joined(KeyStrategy::Replace, [put(values)])
        .unwrap()
        .unwrap();
    assert_eq!(value[0].as_u64(), Some(u64::MAX));
    assert_eq!(value[1].as_i64(), Some(i64::MIN));
    assert!(value[2].is_f64());
}

#[test]
fn an_update_that_fails_changes_nothing() {
    // B2
    let strategies = KeyStrategies::new()
        .with("log", KeyStrategy::Append)
        .with("profile", KeyStrategy::Merge);
    let mut state = State::new();
    let first = StateUpdate::new()
        .put("log", json!("a"))
        .put("profile", json!({"city": "Oslo"}))
        .message(Message::user("Hello"));
    strategies.apply(&mut state, first).unwrap();
    let before = state.clone();

    let (answer, _) = calls(&["c1"]);
    let bad_merge = StateUpdate::new()
        .put("log", json!("b"))
        .put("profile", json!(7))
        .message(Message::user("Again"));
    let bad_messages = StateUpdate::new()
        .put("log", json!("b"))
        .message(answer)
        .message(Message::user("before the result"));
    for update in [bad_merge, bad_messages] {
        strategies.apply(&mut state, update).unwrap_err();
        assert_eq!(state, before);
    }
}

#[test]
fn messages_cannot_be_written_as_a_value() {
    // TN-9
    const MESSAGES: StateKey<Vec<String>> = StateKey::new("messages");
    let mut state = State::new();

    let set = StateUpdate::new().set("messages", ["x"]).unwrap_err();
    assert_eq!(
        set.to_string(),
        "key `messages` is reserved and holds no plain value"
    );
    for update in [
        StateUpdate::new().put("messages", json!([])),
        StateUpdate::new().with(MESSAGES, vec![]),
        StateUpdate::new().remove("messages"),
        StateUpdate::new().replace_all("messages", vec![]),
    ] {
        let error = apply(&mut state, update).unwrap_err();
        assert!(matches!(error, StateError::ReservedKey { .. }));
    }
    assert!(state.get(&MESSAGES).is_err());
}

#[test]
fn a_value_without_json_form_is_an_error_that_names_its_key() {
    const ODD: StateKey<BTreeMap<Vec<u8>, u8>> = StateKey::new("odd");
    let value = BTreeMap::from([(vec![1], 2)]);

    let error = StateUpdate::new().set("odd", &value).unwrap_err();
    assert!(matches!(error, StateError::Serialize { key, .. } if key == "odd"));

    let error = apply(&mut State::new(), StateUpdate::new().with(ODD, value)).unwrap_err();
    assert!(matches!(error, StateError::Serialize { key, .. } if key == "odd"));
}

#[test]
fn results_close_the_calls_of_an_earlier_update() {
    // E1
    let (answer, calls) = calls(&["c1", "c2"]);
    let mut state = State::new();
    apply(&mut state, answer.into()).unwrap();

    let first = StateUpdate::new().answer(ToolResult::ok(&calls[1], vec!["two".into()]));
    apply(&mut state, first.clone()).unwrap();
    assert!(!state.transcript().is_closed());
    apply(&mut state, first).unwrap_err();

    let second = StateUpdate::new()
        .answer(ToolResult::ok(&calls[0], vec!["one".into()]))
        .message(Message::user("Thanks"));
    apply(&mut state, second).unwrap();
    assert!(state.transcript().is_closed());
    assert_eq!(texts(&state), ["", "one\ntwo", "Thanks"]);
}

#[test]
fn messages_are_removed_by_id_and_replaced_as_a_whole() {
    // KS-13, KS-4
    let id = MessageId::new("m1");
    let message = |text: &str| Message::with_id(id.clone(), MessageBody::System(text.to_owned()));
    let mut state = State::new();
    let update = StateUpdate::new().messages([message("old"), Message::user("Hello")]);
    apply(&mut state, update).unwrap();

    // KS-7: the replacement moves to the end.
    let replace = StateUpdate::new()
        .message(message("new"))
        .remove_message(id.clone());
    apply(&mut state, replace).unwrap();
    assert_eq!(texts(&state), ["Hello", "new"]);

    let unknown = StateUpdate::new().remove_message(MessageId::new("nobody"));
    apply(&mut state, unknown).unwrap();
    assert_eq!(texts(&state), ["Hello", "new"]);

    let all = StateUpdate::new().replace_messages(vec![Message::user("Start")]);
    apply(&mut state, all).unwrap();
    assert_eq!(texts(&state), ["Start"]);
}

#[test]
fn removing_a_call_takes_its_results_along() {
    // E1
    let (answer, calls) = calls(&["c1"]);
    let mut state = State::new();
    let turn = StateUpdate::new()
        .message(Message::user("Time?"))
        .message(answer.clone())
        .answer(ToolResult::ok(&calls[0], vec!["12:00".into()]));
    apply(&mut state, turn).unwrap();

    let remove = StateUpdate::new().remove_message(answer.id().clone());
    apply(&mut state, remove).unwrap();
    assert_eq!(texts(&state), ["Time?"]);
}

#[test]
fn adding_a_message_does_not_copy_a_history_nobody_else_holds() {
    // E6
    let mut state = State::new();
    let many = (0..100).map(|n| Message::user(n.to_string()));
    apply(&mut state, StateUpdate::new().messages(many)).unwrap();
    apply(&mut state, Message::user("reserve").into()).unwrap();
    let before = state.messages().as_ptr();

    apply(&mut state, Message::user("next").into()).unwrap();
    assert_eq!(state.messages().as_ptr(), before);
}

#[test]
fn adding_to_a_list_does_not_copy_one_nobody_else_holds() {
    // E6
    let strategies = KeyStrategies::new().with(KEY, KeyStrategy::Append);
    let list = |state: &State| state.value(KEY).and_then(Value::as_array).unwrap().as_ptr();
    let mut state = State::new();
    let many = Value::from((0..100).collect::<Vec<i32>>());
    strategies.apply(&mut state, put(many)).unwrap();
    strategies.apply(&mut state, put(json!(100))).unwrap();
    let before = list(&state);

    strategies.apply(&mut state, put(json!(101))).unwrap();
    assert_eq!(list(&state), before);
}

#[test]
fn updates_are_joined_in_order_and_tell_their_keys() {
    let mut update = StateUpdate::new().put("b", json!(1)).put("a", json!(1));
    assert!(StateUpdate::new().is_empty());
    update.extend(
        StateUpdate::new()
            .put("b", json!(2))
            .message(Message::user("Hello")),
    );
    assert_eq!(update.keys(), ["b", "a", "messages"]);

    let mut state = State::new();
    apply(&mut state, update).unwrap();
    assert_eq!(state.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(state.value("b"), Some(&json!(2)));
    let value = state.to_value();
    assert_eq!(value["b"], json!(2));
    assert_eq!(value["messages"][0]["role"], json!("user"));
    assert_eq!(value["messages"][0]["text"], json!("Hello"));
}

#[test]
fn values_join_as_in_the_reference_cases() {
    // st.1, st.2, st.3, st.4, st.6, st.7, st.10
    let cases: Value =
        serde_json::from_str(include_str!("../fixtures/reference/key-strategies.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let (id, given) = (&case["id"], &case["given"]);
        let strategy = match given["kind"].as_str().unwrap() {
            "replace" => KeyStrategy::Replace,
            "append" => KeyStrategy::Append,
            "merge" => KeyStrategy::Merge,
            other => panic!("{id}: {other}"),
        };
        let strategies = KeyStrategies::new().with(KEY, strategy);
        let mut state = State::new();
        if !given["old"].is_null() {
            // Without a strategy the old value stands as it is.
            apply(&mut state, put(given["old"].clone())).unwrap();
        }
        let before = state.clone();

        let new = &given["new"];
        let items: Vec<&Value> = match new.as_array() {
            Some(items) => items.iter().collect(),
            None => vec![new],
        };
        let mut update = StateUpdate::new();
        let mut plain = Vec::new();
        for item in items {
            if let Some(item) = item.get("$remove") {
                update = update.remove_item(KEY, item.clone());
            } else if let Some(all) = item.get("$replace_all") {
                update = update.replace_all(KEY, all.as_array().unwrap().clone());
            } else {
                plain.push(item.clone());
            }
        }
        match new {
            Value::Array(_) if !plain.is_empty() => update = update.put(KEY, plain.into()),
            Value::Array(_) => {}
            _ if plain.is_empty() => {}
            value => update = update.put(KEY, value.clone()),
        }
        strategies.apply(&mut state, update).unwrap();

        let expected = &case["expect"]["result"];
        assert_eq!(state.value(KEY).unwrap_or(&Value::Null), expected, "{id}");
        assert_eq!(
            before.value(KEY).unwrap_or(&Value::Null),
            &given["old"],
            "{id}"
        );
    }
}
