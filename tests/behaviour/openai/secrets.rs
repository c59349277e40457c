//! What is secret is in no text, whoever says it.

use super::*;

// ex-19
#[tokio::test]
async fn the_key_is_never_printed_not_even_if_the_server_repeats_it() {
    let said =
        r#"{"error":{"message":"Incorrect API key provided: sk-live-9","code":"sk-live-9"}}"#;
    let server = ReplayServer::start([
        Answer::status(401).piece(said),
        Answer::events(format!("data: {said}\n\n")),
    ])
    .await;
    let url = server.url().replace("//", "//k:sk-live-9@") + "?key=sk-live-9";
    let builder = OpenAi::builder()
        .base_url(&url)
        .model("m")
        .api_key("sk-live-9")
        .header("x-key", "sk-live-9");
    let gone = OpenAi::builder()
        .base_url("http://k:sk-live-9@127.0.0.1:1/v1?key=sk-live-9")
        .model("m");
    let wrong = OpenAi::builder()
        .base_url("http://k:sk-live-9@:x/v1")
        .model("m")
        .build()
        .unwrap_err();

    let shown = format!("{builder:?}");
    let model = builder.build().unwrap();
    let refused = model.chat(request()).await.unwrap_err();
    let reported = stream(&model).await.result.unwrap_err();
    let unreachable = gone.build().unwrap().chat(request()).await.unwrap_err();

    let all = [
        shown,
        format!("{model:?}"),
        printed(&refused),
        printed(&reported),
        printed(&unreachable),
        printed(&wrong),
    ];
    for text in &all {
        assert!(!text.contains("sk-live-9"), "{text}");
    }
    assert_eq!(refused.kind(), ModelErrorKind::Auth);
    assert!(
        refused
            .to_string()
            .ends_with("Incorrect API key provided: ***"),
        "{refused}"
    );
    assert_eq!(
        server.requests()[0].header("authorization"),
        "Bearer sk-live-9"
    );
    assert_eq!(
        server.requests()[0].target,
        "POST /v1/chat/completions?key=sk-live-9"
    );
}

#[tokio::test]
async fn a_value_of_the_query_and_a_doubled_bearer_are_masked() {
    let said = r#"{"error":{"message":"no: sk-query-9 and sk-header-9"}}"#;
    let server = ReplayServer::start([Answer::status(401).piece(said)]).await;
    let model = client(&server)
        .base_url(format!("{}?version=2&key=sk-query-9", server.url()))
        .api_key("Bearer sk-header-9")
        .build()
        .unwrap();

    let error = printed(&model.chat(request()).await.unwrap_err());

    assert!(!error.contains("sk-query-9"), "{error}");
    assert!(!error.contains("sk-header-9"), "{error}");
}

/// What is printed of the error that an answer of this server is, with the key as a part of it.
async fn said(answer: Answer, key: &str) -> String {
    let server = ReplayServer::start([answer]).await;
    let model = client(&server).api_key(key).build().unwrap();
    printed(&model.chat(request()).await.unwrap_err())
}

#[tokio::test]
async fn a_page_a_value_of_the_wrong_kind_and_a_long_text_hide_the_key_too() {
    let page = "<html><title>no sk-live-9</title></html>";
    let long = format!("{}sk-live-9", "x".repeat(590));
    for answer in [
        Answer::status(200)
            .header("content-type", "text/html")
            .piece(page),
        Answer::json(r#"{"choices":"sk-live-9"}"#),
        Answer::status(500).piece(long.clone()),
        Answer::json(format!(r#"{{"error":{{"message":"{long}"}}}}"#)),
    ] {
        let printed = said(answer, "sk-live-9").await;
        // Nor is a part of it left where a text is cut.
        assert!(!printed.contains("sk-l"), "{printed}");
    }
}

#[tokio::test]
async fn a_secret_of_the_url_is_masked_as_it_stands_and_as_it_is_meant() {
    let all = "user-9@x user-9%40x pass/word pass%2Fword query/9 query%2F9";
    let server = ReplayServer::start([Answer::status(400).piece(all)]).await;
    let url = server.url().replace("//", "//user-9%40x:pass%2Fword@") + "?key=query%2F9";
    let model = client(&server).base_url(url).build().unwrap();

    let error = model.chat(request()).await.unwrap_err();

    assert!(
        error.to_string().ends_with(": *** *** *** *** *** ***"),
        "{error}"
    );
}

#[tokio::test]
async fn user_and_password_of_the_url_are_sent_unless_there_is_a_key() {
    let answer = || Answer::events(format!("{HELLO}{END}"));
    let server = ReplayServer::start([answer(), answer()]).await;
    let url = server.url().replace("//", "//ann:p%40ss@");
    let by_url = client(&server).base_url(url);
    let by_key = by_url.clone().api_key("sk-live-9");

    for model in [by_url, by_key] {
        model.build().unwrap().chat(request()).await.unwrap();
    }

    let sent = server.requests();
    assert_eq!(sent[0].header("authorization"), "Basic YW5uOnBAc3M=");
    assert_eq!(sent[1].header("authorization"), "Bearer sk-live-9");
}
