//! Agents that remember, pause, and go on after a crash.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::sync::Arc;
use std::sync::Mutex;

use agent_core::agent::{
    AgentTool, Answer, Hook, HookAction, HookContext, HookFuture, HookPosition, InDoubt, Interrupt,
    InterruptKind, ModelInterceptor, ModelNext, ReactAgentBuilder, RunRequest,
};
use agent_core::event::EventKind;
use agent_core::graph::State;
use agent_core::graph::checkpoint::{
    CheckpointError, CheckpointSaver, Durability, MemorySaver, Threads,
};
use agent_core::message::ToolCall;
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{ChatRequest, ChatResponse, ModelError, ModelErrorKind, ScriptedModel};
use agent_core::tool::{FunctionTool, InterruptRequest, ToolOutcome};
use agent_core::{
    AgentError, BoxFuture, Message, Outcome, ReactAgent, RunOutput, ToolContext, ToolError,
    ToolOutput, tool, tools,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What tools did, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Pays a sum.
#[tool]
async fn pay(
    /// How much.
    sum: u32,
    log: agent_core::Host<Log>,
) -> String {
    log.0.add(format!("pay {sum}"));
    format!("paid {sum}")
}

/// Sends a mail.
#[tool]
async fn send_mail(log: agent_core::Host<Log>) -> String {
    log.0.add("mail".to_owned());
    "sent".to_owned()
}

/// Asks how sure somebody is.
#[tool]
async fn ask(question: String, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
    Ok(match context.answer::<String>()? {
        None => ToolOutcome::Interrupt(InterruptRequest::new(question)),
        Some(answer) => ToolOutcome::Done(ToolOutput::from_text(answer)),
    })
}

fn agent(model: &ScriptedModel, log: &Log) -> ReactAgentBuilder {
    ReactAgent::builder("clerk", model.clone())
        .tools(tools![pay, send_mail, ask])
        .host(log.clone())
        .parallel_tool_execution(true)
}

fn needs(name: &'static str) -> impl Fn(&ToolCall, &State) -> bool + Send + Sync + 'static {
    move |call, _| call.name() == name
}

pub(super) fn asked(output: &RunOutput) -> Vec<Interrupt> {
    match output.outcome() {
        Outcome::Interrupted(interrupts) => interrupts.clone(),
        other => panic!("{other:?}"),
    }
}

pub(super) fn refused(result: Result<RunOutput, AgentError>) -> CheckpointError {
    match result {
        Err(AgentError::Thread { source, .. }) => *source,
        other => panic!("{other:?}"),
    }
}

/// Each message as its role and its text.
pub(super) fn told(messages: &[Message]) -> Vec<String> {
    let told = messages.iter().map(|message| match message.tool_results() {
        [] => format!("{:?}: {}", message.role(), message.text()),
        results => {
            let results = results
                .iter()
                .map(|it| format!("{}={}", it.call_id(), it.text()));
            results.collect::<Vec<_>>().join(" ")
        }
    });
    told.collect()
}

#[tokio::test]
async fn what_was_said_on_a_thread_is_there_in_its_next_run() {
    // B15
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 7})),
        says("Paid."),
        says("Seven."),
        says("I know nothing."),
    ]);
    let log = Log::default();
    let agent = agent(&model, &log)
        .instruction("Be brief.")
        .saver(MemorySaver::new())
        .build()
        .unwrap();

    let first = agent.run("Pay 7.").thread("t1").await.unwrap();
    let second = agent.run("How much was it?").thread("t1").await.unwrap();
    agent.run("How much was it?").await.unwrap();

    assert_eq!(
        told(second.messages()),
        [
            "User: Be brief.",
            "User: Pay 7.",
            "Assistant: ",
            &format!("{}=paid 7", first.messages()[2].tool_calls()[0].id()),
            "Assistant: Paid.",
            "User: How much was it?",
            "Assistant: Seven.",
        ]
    );
    assert_eq!(second.new_messages().len(), 2);
    assert_eq!(second.messages()[..5], first.messages()[..]);
    assert_eq!(model.requests()[3].messages().count(), 2);
}

#[tokio::test]
async fn a_call_waits_for_approval_while_its_siblings_run() {
    // cp-10, hi.1, hi.7, HI-1, HI-2; other than in HI-3 the others run before the pause
    let model = ScriptedModel::new([
        calls("send_mail", json!({}))
            .with_id("c1")
            .and_calls("pay", json!({"sum": 7}))
            .with_id("c2"),
        says("Done."),
    ]);
    let log = Log::default();
    let saver = MemorySaver::new();
    let agent = agent(&model, &log)
        .saver(saver.clone())
        .approval(needs("pay"));
    let agent = agent.build().unwrap();

    let paused = agent.run("Go.").thread("t1").await.unwrap();
    let waiting = asked(&paused);
    assert_eq!(log.all(), ["mail"]);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].kind, InterruptKind::Approval);
    assert_eq!((&*waiting[0].call_id, &*waiting[0].tool), ("c2", "pay"));
    assert_eq!(
        waiting[0].request.payload,
        json!({"tool": "pay", "arguments": {"sum": 7}})
    );
    // What ended is stored before the pause.
    let state = Threads::new(saver)
        .state("t1", None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(state.transcript().partial_results().count(), 1);

    let ended = agent.resume("t1", [Answer::approve(&waiting[0].id)]);
    let ended = ended.await.unwrap();
    assert_eq!(ended.text(), "Done.");
    assert_eq!(log.all(), ["mail", "pay 7"]);
    assert_eq!(told(ended.messages())[2], "c1=sent c2=paid 7");
}

#[tokio::test]
async fn a_call_is_approved_edited_rejected_or_answered() {
    // hi.2, hi.3b, HI-5, HI-6, HI-7, cp-21, hp-30
    for (decide, expected, effects) in [
        (
            Answer::approve as fn(String) -> Answer,
            "c1=paid 100",
            &["pay 100"][..],
        ),
        (
            |id| Answer::edit(id, json!({"sum": 10})),
            "c1=paid 10",
            &["pay 10"],
        ),
        (
            |id| Answer::reject(id, "too much"),
            "c1=Error: denied: too much",
            &[],
        ),
        (
            |id| Answer::respond(id, "paid by hand"),
            "c1=paid by hand",
            &[],
        ),
    ] {
        let model = ScriptedModel::new([
            calls("pay", json!({"sum": 100})).with_id("c1"),
            says("Done."),
        ]);
        let log = Log::default();
        let agent = agent(&model, &log).saver(MemorySaver::new());
        let agent = agent.approval(needs("pay")).build().unwrap();
        let paused = agent.run("Pay.").thread("t1").await.unwrap();

        let id = asked(&paused)[0].id.clone();
        let ended = agent.resume("t1", [decide(id)]).await.unwrap();

        assert_eq!(told(ended.messages())[2], expected);
        assert_eq!(log.all(), effects);
        let call = &ended.messages()[1].tool_calls()[0];
        let sum = if effects == ["pay 10"] { 10 } else { 100 };
        assert_eq!(call.arguments_value(), Some(json!({"sum": sum})));
        let result = &ended.messages()[2].tool_results()[0];
        assert_eq!(result.is_error(), expected.contains("denied"));
    }
}

#[tokio::test]
async fn a_decision_that_does_not_fit_is_refused_and_the_call_still_waits() {
    // cp-21, hi.4b, hi.6, hi.8, hi.9, HI-8, HI-9
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 100})).with_id("c1"),
        says("Done."),
    ]);
    let log = Log::default();
    let agent = agent(&model, &log).saver(MemorySaver::new());
    let agent = agent.approval(needs("pay")).build().unwrap();
    let paused = agent.run("Pay.").thread("t1").await.unwrap();
    let id = asked(&paused)[0].id.clone();

    for answer in [
        Answer::edit(&id, json!({"sum": "ten"})),
        Answer::edit(&id, json!({})),
        Answer::edit(&id, json!([1])),
        Answer::new(&id, true),
        Answer::new(&id, json!({"decision": "approve", "arguments": {"sum": 1}})),
    ] {
        let error = refused(agent.resume("t1", [answer]).await);
        assert!(matches!(&error, CheckpointError::InvalidAnswer { id: of, .. } if *of == id));
    }
    let again = agent.resume("t1", []).await.unwrap();
    assert_eq!(asked(&again), asked(&paused));
    assert!(log.all().is_empty());
    let error = refused(agent.resume("t1", [Answer::approve("c1")]).await);
    assert!(matches!(error, CheckpointError::InterruptNotFound { .. }));

    agent.resume("t1", [Answer::approve(&id)]).await.unwrap();
    let error = refused(agent.resume("t1", [Answer::approve(&id)]).await);
    assert!(matches!(error, CheckpointError::AlreadyAnswered { .. }));
    assert_eq!(log.all(), ["pay 100"]);
}

#[tokio::test]
async fn an_edit_is_held_to_the_type_or_the_schema_of_a_closure() {
    #[derive(Deserialize, agent_core::ToolSchema)]
    struct Sum {
        sum: u32,
    }
    let schema = json!({
        "type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"],
    });
    let typed = FunctionTool::new("pay", "Pays.", async |input: Sum| {
        format!("paid {}", input.sum)
    });
    let dynamic = FunctionTool::from_schema("pay", "Pays.", schema, async |input: Value| {
        format!("paid {}", input["sum"])
    });
    for pay in [typed, dynamic.unwrap()] {
        let model = ScriptedModel::new([calls("pay", json!({"sum": 100})), says("Done.")]);
        let agent = ReactAgent::builder("clerk", model).tools([pay]);
        let agent = agent.saver(MemorySaver::new()).approval(needs("pay"));
        let agent = agent.build().unwrap();
        let id = asked(&agent.run("Pay.").thread("t1").await.unwrap())[0]
            .id
            .clone();

        for sum in [json!({"sum": "ten"}), json!({})] {
            let error = refused(agent.resume("t1", [Answer::edit(&id, sum)]).await);
            let CheckpointError::InvalidAnswer { source, .. } = error else {
                panic!("{error:?}");
            };
            assert!(source.to_string().contains("argument `sum`"), "{source}");
        }
        let edit = Answer::edit(&id, json!({"sum": 10}));
        let ended = agent.resume("t1", [edit]).await.unwrap();
        assert!(told(ended.messages())[2].ends_with("=paid 10"));
    }
}

#[tokio::test]
async fn some_are_decided_and_the_others_still_wait() {
    // cp-07, hi.3, hi.4 and HI-4 (who was decided is not asked again), hi.5, HI-7
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 1}))
            .with_id("c1")
            .and_calls("pay", json!({"sum": 2}))
            .with_id("c2")
            .and_calls("pay", json!({"sum": 3}))
            .with_id("c3"),
        calls("pay", json!({"sum": 4})).with_id("c4"),
        says("Done."),
    ]);
    let log = Log::default();
    let agent = agent(&model, &log).saver(MemorySaver::new());
    let agent = agent.approval(needs("pay")).build().unwrap();

    let first = asked(&agent.run("Pay.").thread("t1").await.unwrap());
    let ids: std::collections::HashSet<&str> = first.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids.len(), 3);
    let some = [
        Answer::approve(&first[2].id),
        Answer::reject(&first[0].id, "no"),
    ];
    let rest = asked(&agent.resume("t1", some).await.unwrap());
    assert_eq!(rest, [first[1].clone()]);
    assert_eq!(log.all(), ["pay 3"]);
    let next = agent.resume("t1", [Answer::approve(&rest[0].id)]).await;
    let next = asked(&next.unwrap());
    assert_eq!(&*next[0].call_id, "c4");
    assert_eq!(log.all(), ["pay 3", "pay 2"]);
    let ended = agent.resume("t1", [Answer::approve(&next[0].id)]).await;
    let ended = ended.unwrap();

    assert_eq!(
        told(ended.messages())[2],
        "c1=Error: denied: no c2=paid 2 c3=paid 3"
    );
    assert_eq!(ended.text(), "Done.");
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_tool_asks_and_is_told() {
    let model = ScriptedModel::new([
        calls("ask", json!({"question": "Sure?"})).with_id("c1"),
        says("Fine."),
    ]);
    let agent = agent(&model, &Log::default()).saver(MemorySaver::new());
    let agent = agent.build().unwrap();

    let paused = agent.run("Ask.").thread("t1").await.unwrap();
    let waiting = asked(&paused);
    assert_eq!(waiting[0].kind, InterruptKind::Question);
    assert_eq!(waiting[0].request.payload, json!("Sure?"));
    let mut stream = agent
        .resume("t1", [Answer::new(&waiting[0].id, "quite")])
        .stream();
    let mut finished = None;
    let mut started = Vec::new();
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            EventKind::ToolStarted { call } => started.push(call.id().to_owned()),
            EventKind::RunFinished(output) => finished = Some(output),
            _ => {}
        }
    }

    // A resumed run streams like any other.
    assert_eq!(started, ["c1"]);
    assert_eq!(told(finished.unwrap().messages())[2], "c1=quite");
}

/// Says where it runs.
#[tool]
async fn place(context: &ToolContext) -> String {
    context.thread_id().unwrap_or("nowhere").to_owned()
}

#[tokio::test]
async fn a_tool_knows_the_thread_it_runs_on() {
    // tn.18
    let turn = || [calls("place", json!({})).with_id("c1"), says("Done.")];
    let model = ScriptedModel::new(turn().into_iter().chain(turn()));
    let agent = ReactAgent::builder("a", model).tools(tools![place]);
    let agent = agent.saver(MemorySaver::new()).build().unwrap();

    let with = agent.run("Where?").thread("t1").await.unwrap();
    assert_eq!(told(with.messages())[2], "c1=t1");
    let without = agent.run("Where?").await.unwrap();
    assert_eq!(told(without.messages())[2], "c1=nowhere");
}

/// A hook that asks before the agent begins, and wants approval for large sums.
struct Guard;

impl Hook for Guard {
    fn name(&self) -> &str {
        "guard"
    }

    fn positions(&self) -> &[HookPosition] {
        &[HookPosition::BeforeAgent]
    }

    fn before_agent<'a>(&'a self, _: &'a State, context: &'a HookContext) -> HookFuture<'a> {
        Box::pin(async move {
            Ok(match context.answer::<bool>()? {
                None => HookAction::Interrupt(json!("Begin?")),
                Some(true) => HookAction::Continue,
                Some(false) => return Err("not allowed".into()),
            })
        })
    }

    fn approval(&self, call: &ToolCall, _: &State) -> Option<String> {
        let sum = call.arguments_value()?["sum"].as_u64()?;
        (sum > 100).then(|| format!("Really {sum}?"))
    }
}

#[tokio::test]
async fn a_hook_asks_and_says_which_calls_need_approval() {
    // HK-14, hk.10
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 1}))
            .with_id("c1")
            .and_calls("pay", json!({"sum": 200}))
            .with_id("c2"),
        says("Done."),
    ]);
    let log = Log::default();
    let agent = agent(&model, &log).saver(MemorySaver::new()).hook(Guard);
    let agent = agent.build().unwrap();

    let begin = asked(&agent.run("Pay.").thread("t1").await.unwrap());
    assert_eq!(begin[0].request.payload, json!("Begin?"));
    assert!(model.requests().is_empty());
    let paused = agent.resume("t1", [Answer::new(&begin[0].id, true)]).await;
    let waiting = asked(&paused.unwrap());
    assert_eq!(waiting[0].call_id, "c2");
    assert_eq!(waiting[0].request.payload["question"], "Really 200?");
    assert_eq!(log.all(), ["pay 1"]);
    let ended = agent.resume("t1", [Answer::approve(&waiting[0].id)]).await;
    assert_eq!(ended.unwrap().text(), "Done.");
}

/// Looks.
#[tool(approval, effect = "pure")]
async fn look() -> &'static str {
    "seen"
}

#[tokio::test]
async fn a_tool_needs_approval_by_its_key_and_does_not_start_early() {
    // A1
    let model = ScriptedModel::new([calls("look", json!({})).with_id("c1"), says("Done.")]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![look])
        .eager_tool_start(true)
        .saver(MemorySaver::new())
        .build()
        .unwrap();

    let waiting = asked(&agent.run("Look.").thread("t1").await.unwrap());
    let ended = agent.resume("t1", [Answer::reject(&waiting[0].id, "no")]);
    assert_eq!(
        told(ended.await.unwrap().messages())[2],
        "c1=Error: denied: no"
    );
}

#[tokio::test]
async fn a_nested_agents_questions_reach_the_caller_and_the_answers_go_back() {
    // HI-11, D3
    let log = Log::default();
    let inner = ScriptedModel::new([
        calls("pay", json!({"sum": 1}))
            .with_id("i1")
            .and_calls("pay", json!({"sum": 2}))
            .with_id("i2"),
        says("Inner done."),
    ]);
    let outer = ScriptedModel::new([
        calls("clerk", json!({"input": "Pay."})).with_id("o1"),
        says("Outer done."),
    ]);
    let clerk = agent(&inner, &log).approval(needs("pay")).build().unwrap();
    let boss = ReactAgent::builder("boss", outer.clone())
        .tools(AgentTool::new(clerk))
        .saver(MemorySaver::new())
        .build()
        .unwrap();

    let waiting = asked(&boss.run("Pay.").thread("t1").await.unwrap());
    assert_eq!(waiting.len(), 2);
    assert_eq!(waiting[1].kind, InterruptKind::Approval);
    assert_eq!((&*waiting[1].call_id, &*waiting[1].tool), ("i2", "pay"));
    let rest = boss.resume("t1", [Answer::approve(&waiting[1].id)]).await;
    let rest = asked(&rest.unwrap());
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].call_id, "i1");
    assert_eq!(log.all(), ["pay 2"]);
    let ended = boss.resume("t1", [Answer::reject(&rest[0].id, "no")]).await;
    let ended = ended.unwrap();

    assert_eq!(ended.text(), "Outer done.");
    assert_eq!(told(ended.messages())[2], "o1=Inner done.");
    assert_eq!(inner.requests().len(), 2);
    assert_eq!(log.all(), ["pay 2"]);
}

#[tokio::test]
async fn a_new_message_on_a_paused_thread_answers_what_waits_and_is_read() {
    // cp-17
    let model = ScriptedModel::new([
        calls("send_mail", json!({}))
            .with_id("c1")
            .and_calls("pay", json!({"sum": 1}))
            .with_id("c2"),
        says("As you like."),
    ]);
    let log = Log::default();
    let agent = agent(&model, &log).saver(MemorySaver::new());
    let agent = agent.approval(needs("pay")).build().unwrap();
    agent.run("Pay.").thread("t1").await.unwrap();

    let ended = agent.run("forget it").thread("t1").await.unwrap();

    let told = told(ended.messages());
    assert_eq!(
        told[2],
        "c1=sent c2=Error: denied: nobody answered, and the conversation went on without it"
    );
    assert_eq!(told[3], "User: forget it");
    assert_eq!(ended.text(), "As you like.");
    assert_eq!(log.all(), ["mail"]);
}

#[tokio::test]
async fn a_run_is_stopped_from_outside_and_goes_on() {
    let model = ScriptedModel::new([calls("stop", json!({})).with_id("c1"), says("Done.")]);
    let slot: Arc<Mutex<Option<ReactAgent>>> = Arc::default();
    let stops = Arc::clone(&slot);
    let stop = FunctionTool::new("stop", "Stops.", move || {
        let stopped = stops.lock().unwrap().as_ref().unwrap().interrupt("t1");
        async move { stopped.to_string() }
    });
    let agent = ReactAgent::builder("a", model.clone())
        .tools(stop)
        .saver(MemorySaver::new())
        .build()
        .unwrap();
    *slot.lock().unwrap() = Some(agent.clone());
    assert!(!agent.interrupt("t1"));

    let stopped = agent.run("Go.").thread("t1").await.unwrap();
    let held = asked(&stopped);
    assert_eq!(held[0].kind, InterruptKind::Stop);
    assert_eq!(told(stopped.messages())[2], "c1=true");
    assert_eq!(model.requests().len(), 1);
    assert!(!agent.interrupt("t1"));
    let ended = agent.resume("t1", []).await.unwrap();
    assert_eq!(ended.text(), "Done.");
    slot.lock().unwrap().take();
}

/// Sends a message while the model writes what would be its last reply.
struct Interrupting(Arc<Mutex<Option<ReactAgent>>>);

impl ModelInterceptor for Interrupting {
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            let reply = next.run(request).await?;
            if reply.message.text == "Heard." {
                let agent = self.0.lock().unwrap().clone().unwrap();
                agent.send("t1", "And this.").await.unwrap();
            }
            Ok(reply)
        })
    }
}

/// Sees each reply, and does nothing.
struct Watching;

impl Hook for Watching {
    fn name(&self) -> &str {
        "watching"
    }
}

#[tokio::test]
async fn a_message_reaches_a_run_that_goes_on() {
    for is_watched in [false, true] {
        let slot: Arc<Mutex<Option<ReactAgent>>> = Arc::default();
        let sends = Arc::clone(&slot);
        let send = FunctionTool::new("send", "Sends.", move || {
            let agent = sends.lock().unwrap().clone().unwrap();
            async move {
                let sent = agent.send("t1", "One more thing.").await;
                sent.is_ok().to_string()
            }
        });
        let model = ScriptedModel::new([
            calls("send", json!({})).with_id("c1"),
            says("Heard."),
            says("Also this."),
        ]);
        let mut agent = ReactAgent::builder("a", model.clone())
            .tools(send)
            .model_interceptor(Interrupting(Arc::clone(&slot)))
            .saver(MemorySaver::new());
        if is_watched {
            agent = agent.hook(Watching);
        }
        let agent = agent.build().unwrap();
        *slot.lock().unwrap() = Some(agent.clone());
        let early = agent.send("t1", "Too early.").await.unwrap_err();
        assert_eq!(
            early.to_string(),
            "no run of thread `t1` takes a message here"
        );
        assert_eq!(early.into_message().text(), "Too early.");

        let ended = agent.run("Go.").thread("t1").await.unwrap();

        assert_eq!(
            told(ended.messages()),
            [
                "User: Go.",
                "Assistant: ",
                "c1=true",
                "User: One more thing.",
                "Assistant: Heard.",
                "User: And this.",
                "Assistant: Also this.",
            ]
        );
        assert!(agent.send("t1", "Too late.").await.is_err());
        slot.lock().unwrap().take();
    }
}

#[tokio::test]
async fn a_message_that_a_paused_run_did_not_get_to_is_read_later() {
    let model = ScriptedModel::new([calls("late", json!({})).with_id("c1"), says("Both read.")]);
    let slot: Arc<Mutex<Option<ReactAgent>>> = Arc::default();
    let sends = Arc::clone(&slot);
    let late = FunctionTool::new("late", "Asks.", move |_: Nothing, context: ToolContext| {
        let agent = sends.lock().unwrap().clone().unwrap();
        async move {
            Ok::<_, ToolError>(match context.answer::<Value>()? {
                None => {
                    agent.send("t1", "Meanwhile.").await.unwrap();
                    ToolOutcome::Interrupt(InterruptRequest::new("?"))
                }
                Some(_) => ToolOutcome::Done(ToolOutput::from_text("ok")),
            })
        }
    });
    let agent = ReactAgent::builder("a", model)
        .tools(late)
        .saver(MemorySaver::new())
        .build()
        .unwrap();
    *slot.lock().unwrap() = Some(agent.clone());

    let waiting = asked(&agent.run("Go.").thread("t1").await.unwrap());
    let ended = agent.resume("t1", [Answer::new(&waiting[0].id, 1)]).await;
    assert_eq!(told(ended.unwrap().messages())[3], "User: Meanwhile.");
    slot.lock().unwrap().take();
}

#[derive(Deserialize, Serialize, agent_core::ToolSchema)]
pub(super) struct Nothing {}

/// Five effects side by side, one of which asks for approval.
fn five(log: &Log, model: &ScriptedModel) -> ReactAgent {
    agent(model, log)
        .saver(MemorySaver::new())
        .max_parallel_tools(2)
        .build()
        .unwrap()
}

fn five_calls() -> Turn {
    (2..=5).fold(
        calls("pay", json!({"sum": 1})).with_id("c1"),
        |turn, sum| {
            turn.and_calls("pay", json!({"sum": sum}))
                .with_id(format!("c{sum}"))
        },
    )
}

/// Reads some events of a run, and drops it.
async fn cut(run: RunRequest, taken: usize) -> Option<RunOutput> {
    let mut stream = run.stream();
    for _ in 0..taken {
        if let EventKind::RunFinished(output) = stream.next().await?.unwrap().kind {
            return Some(output);
        }
    }
    None
}

#[tokio::test]
async fn a_run_that_is_cut_anywhere_goes_on_and_no_effect_happens_twice() {
    // E2, cp-12, ck.4: what a crash leaves is what a dropped run leaves
    for taken in 1..200 {
        let log = Log::default();
        let model = ScriptedModel::new([five_calls(), says("Done."), says("Done.")]);
        let agent = five(&log, &model);
        let finished = cut(agent.run("Pay.").thread("t1"), taken).await;
        if finished.is_some() {
            return;
        }
        let ended = match agent.resume("t1", []).await {
            Err(AgentError::Thread { source, .. }) => match *source {
                // The input was not taken in, or the end was.
                CheckpointError::ThreadNotFound { .. } => agent.run("Pay.").thread("t1").await,
                CheckpointError::NothingToResume { .. } => continue,
                other => panic!("{taken}: {other:?}"),
            },
            other => other,
        };
        // A reply that was cut is asked for anew; the script knows no second one then.
        let Ok(ended) = ended else { continue };
        let mut effects = log.all();
        effects.sort();
        let before = effects.len();
        effects.dedup();
        assert_eq!(before, effects.len(), "{taken}: {effects:?}");
        let results = ended.messages()[2].tool_results();
        assert_eq!(results.len(), 5, "{taken}");
        for (position, result) in results.iter().enumerate() {
            let sum = position + 1;
            assert_eq!(result.call_id(), format!("c{sum}"));
            let happened = effects.contains(&format!("pay {sum}"));
            match result.is_error() {
                false => assert!(happened, "{taken}"),
                // Begun and not ended: nobody knows.
                true => assert!(
                    result.text().contains("unknown"),
                    "{taken}: {}",
                    result.text()
                ),
            }
        }
        assert!(ended.state().transcript().is_closed());
    }
    panic!("the run never ends");
}

#[tokio::test]
async fn after_a_cut_anywhere_the_next_message_finds_a_valid_history() {
    // IR-12, in.10, in.11
    for taken in 1..200 {
        let log = Log::default();
        let model = ScriptedModel::new([five_calls(), says("Done."), says("Next."), says("Next.")]);
        let agent = five(&log, &model);
        let finished = cut(agent.run("Pay.").thread("t1"), taken).await;

        let next = agent.run("Next?").thread("t1").await.unwrap();

        let state = next.state();
        assert!(state.transcript().is_closed(), "{taken}");
        let again = agent_core::message::Transcript::from_messages(state.messages().to_vec());
        assert!(again.is_ok(), "{taken}");
        let asked = state.messages().iter().filter(|it| it.text() == "Next?");
        assert_eq!(asked.count(), 1, "{taken}");
        if finished.is_some() {
            assert_eq!(state.messages().len(), 6);
            return;
        }
    }
    panic!("the run never ends");
}

/// Never ends.
#[tool(effect = "once")]
async fn hangs() -> String {
    std::future::pending().await
}

/// Never ends the first time.
#[tool(effect = "idempotent")]
async fn hangs_once(log: agent_core::Host<Log>, context: &ToolContext) -> String {
    log.0.add(context.idempotency_key());
    if log.0.all().len() == 1 {
        std::future::pending::<()>().await;
    }
    "ok".to_owned()
}

pub(super) async fn cut_while(run: RunRequest, tool: &str) {
    let mut stream = run.stream();
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, EventKind::ToolStarted { call } if call.name() == tool) {
            break;
        }
    }
    // It runs until it waits.
    let waits = futures_util::FutureExt::now_or_never(stream.next());
    assert!(waits.is_none());
}

#[tokio::test]
async fn a_call_in_doubt_is_told_asked_about_or_run_again_by_its_effect() {
    // cp-12
    let build = |in_doubt| {
        let model = ScriptedModel::new([calls("hangs", json!({})).with_id("c1"), says("Done.")]);
        let agent = ReactAgent::builder("a", model).tools(tools![hangs]);
        let agent = agent.saver(MemorySaver::new()).in_doubt(in_doubt);
        agent.build().unwrap()
    };
    let agent = build(InDoubt::Tell);
    cut_while(agent.run("Go.").thread("t1"), "hangs").await;
    let ended = agent.resume("t1", []).await.unwrap();
    let result = &ended.messages()[2].tool_results()[0];
    assert!(result.is_error() && result.text().contains("outcome unknown"));

    let agent = build(InDoubt::Ask);
    cut_while(agent.run("Go.").thread("t1"), "hangs").await;
    let waiting = asked(&agent.resume("t1", []).await.unwrap());
    assert_eq!(waiting[0].kind, InterruptKind::InDoubt);
    let answer = Answer::respond(&waiting[0].id, "it was done");
    let ended = agent.resume("t1", [answer]).await.unwrap();
    assert_eq!(told(ended.messages())[2], "c1=it was done");

    let log = Log::default();
    let model = ScriptedModel::new([calls("hangs_once", json!({})).with_id("c1"), says("Done.")]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![hangs_once])
        .host(log.clone())
        .saver(MemorySaver::new())
        .build()
        .unwrap();
    cut_while(agent.run("Go.").thread("t1"), "hangs_once").await;
    let ended = agent.resume("t1", []).await.unwrap();
    assert_eq!(told(ended.messages())[2], "c1=ok");
    // The same key in every attempt.
    let keys = log.all();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
}

#[tokio::test]
async fn a_failed_run_of_a_thread_is_resumed_where_it_failed() {
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 1})).with_id("c1"),
        fails(ModelError::new(ModelErrorKind::Timeout, "slow")),
        says("Done."),
    ]);
    let log = Log::default();
    let agent = agent(&model, &log).saver(MemorySaver::new());
    let agent = agent.build().unwrap();

    let error = agent.run("Pay.").thread("t1").await.unwrap_err();
    assert!(matches!(error, AgentError::Model { .. }));
    let ended = agent.resume("t1", []).await.unwrap();

    assert_eq!(ended.text(), "Done.");
    assert_eq!(log.all(), ["pay 1"]);
}

#[tokio::test]
async fn what_a_turn_writes_does_not_grow_with_its_thread() {
    // E6, 1,000 messages
    let turns = (0..500).map(|_| says("Yes."));
    let model = ScriptedModel::new(turns);
    let saver = MemorySaver::new();
    let agent = ReactAgent::builder("a", model)
        .saver(saver.clone())
        .build()
        .unwrap();
    let mut bytes = Vec::new();
    for _ in 0..500 {
        let before = saver.bytes_written();
        agent.run("Well?").thread("t1").await.unwrap();
        bytes.push(saver.bytes_written() - before);
    }
    let state = Threads::new(saver)
        .state("t1", None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(state.messages().len(), 1000);
    assert!(bytes[499] <= bytes[1] + 16, "{} {}", bytes[1], bytes[499]);
}

#[tokio::test]
async fn history_is_read_forked_cut_and_tells_of_effects() {
    // cp-20, ck.1, IR-8
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 1})).with_id("c1"),
        says("Done."),
        says("Once more."),
        says("In the fork."),
    ]);
    let log = Log::default();
    let saver = MemorySaver::new();
    let agent = agent(&model, &log).saver(saver.clone()).build().unwrap();
    agent.run("Pay.").thread("t1").await.unwrap();
    let threads = Threads::new(saver.clone());

    let history = threads.history("t1", 10).await.unwrap();
    let ran: Vec<&str> = history.iter().map(|it| &*it.ran[0]).collect();
    assert_eq!(ran, ["model", "tools", "model", "__START__"]);
    assert_eq!(history[1].effects, ["pay"]);
    // From before the payment nothing runs but what comes after that point.
    let after_pay = history[1].id.clone();
    let again = agent.resume("t1", []).at(after_pay.clone()).await.unwrap();
    assert_eq!(again.text(), "Once more.");
    assert_eq!(log.all(), ["pay 1"]);
    assert_eq!(threads.history("t1", 10).await.unwrap().len(), 5);

    threads.fork("t1", Some(&after_pay), "t2").await.unwrap();
    assert_eq!(agent.resume("t2", []).await.unwrap().text(), "In the fork.");
    threads.fork("t1", None, "t2").await.unwrap_err();

    let before = threads.state("t1", None).await.unwrap();
    threads.retain("t1", 2).await.unwrap();
    assert_eq!(threads.history("t1", 10).await.unwrap().len(), 2);
    assert_eq!(threads.state("t1", None).await.unwrap(), before);
    assert!(saver.load("t1", Some(&after_pay)).await.is_ok());
    assert!(threads.delete("t1").await.unwrap());
    assert!(!threads.delete("t1").await.unwrap());
}

#[tokio::test]
async fn less_durable_runs_still_keep_what_was_done_before_a_pause() {
    for durability in [Durability::EachStep, Durability::AtEnd] {
        let model = ScriptedModel::new([
            calls("pay", json!({"sum": 1}))
                .with_id("c1")
                .and_calls("ask", json!({"question": "?"}))
                .with_id("c2"),
            says("Done."),
        ]);
        let log = Log::default();
        let agent = agent(&model, &log).saver(MemorySaver::new());
        let agent = agent.durability(durability).build().unwrap();
        let waiting = asked(&agent.run("Pay.").thread("t1").await.unwrap());

        let ended = agent.resume("t1", [Answer::new(&waiting[0].id, "yes")]);
        assert_eq!(told(ended.await.unwrap().messages())[2], "c1=paid 1 c2=yes");
        assert_eq!(log.all(), ["pay 1"]);
    }
}
