//! A plain function that an interceptor runs several times in one call, on a pool of one thread.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use agent_core::agent::{ToolInterceptor, ToolNext, ToolRequest};
use agent_core::graph::CancellationToken;
use agent_core::tool::ToolOutcome;
use agent_core::{BoxFuture, RunOutput, ToolContext, ToolError, ToolOutput, tool, tools};
use agent_tests::runs::result_texts;
use agent_tests::tools::Counter;
use tokio::runtime::{Builder, Runtime};

use super::{agent, model, pairs};

type Outcome = Result<ToolOutcome, ToolError>;

/// How a call runs its tool.
#[derive(Clone)]
enum Ways {
    /// Twice at once; both must go well.
    TwiceAtOnce,
    /// Once more when this is told.
    AgainOn(CancellationToken),
    /// Not at all, if it takes its time.
    NotForLong,
}

impl ToolInterceptor for Ways {
    fn intercept<'a>(&'a self, request: ToolRequest, next: ToolNext<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let (one, other) = match self {
                Self::TwiceAtOnce => tokio::join!(next.run(request.clone()), next.run(request)),
                Self::AgainOn(told) => {
                    let again = async {
                        told.cancelled().await;
                        next.run(request.clone()).await
                    };
                    tokio::join!(next.run(request.clone()), again)
                }
                Self::NotForLong => {
                    let run = tokio::time::timeout(Duration::from_millis(10), next.run(request));
                    let given_up = ToolOutcome::Done(ToolOutput::from_text("given up"));
                    return run.await.unwrap_or(Ok(given_up));
                }
            };
            one.and(other)
        })
    }
}

fn pool_of_one() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.max_blocking_threads(1).enable_all();
    builder.build().unwrap()
}

/// Holds the thread of the pool until something is sent.
fn hold(pool: &Runtime) -> Sender<()> {
    let (let_go, go) = channel::<()>();
    pool.spawn_blocking(move || go.recv().unwrap());
    let_go
}

#[tool(register = false)]
fn counts(context: &ToolContext) -> &'static str {
    context.host::<Counter>().unwrap().add();
    "counted"
}

// B10, C3
#[test]
fn an_interceptor_may_run_a_plain_function_twice_at_once() {
    let (pool, ran) = (pool_of_one(), Counter::default());
    let let_go = hold(&pool);
    let agent = agent(&model(&["counts"]), tools![counts])
        .tool_interceptor(Ways::TwiceAtOnce)
        .host(ran.clone());

    let run = pool.block_on(async {
        let mut stream = agent.build().unwrap().run("Go").stream();
        let first = tokio::time::timeout(Duration::from_millis(20), async {
            while stream.next().await.is_some() {}
        });
        first.await.unwrap_err();
        let_go.send(()).unwrap();
        agent_tests::runs::output(&agent_tests::runs::events(stream).await.0)
    });

    assert_eq!(result_texts(run.messages()), pairs(&[("c1", "counted")]));
    assert_eq!(ran.get(), 2);
}

/// Says that it runs, and runs until it is let go.
#[tool(register = false)]
fn stays(context: &ToolContext) {
    context.host::<CancellationToken>().unwrap().cancel();
    let go = context.host::<Mutex<Receiver<()>>>().unwrap();
    go.lock().unwrap().recv().unwrap();
}

// C4: what has begun may have taken effect, whatever else waits
#[test]
fn a_call_whose_tool_has_begun_is_told_as_begun_though_it_waits_once_more() {
    let (pool, began) = (pool_of_one(), CancellationToken::new());
    let (let_go, go) = channel::<()>();
    let agent = agent(&model(&["stays"]), tools![stays])
        .tool_interceptor(Ways::AgainOn(began.clone()))
        .host(began.clone())
        .host(Mutex::new(go))
        .build()
        .unwrap();

    let run: RunOutput = pool.block_on(async {
        let token = CancellationToken::new();
        let cancel = async {
            began.cancelled().await;
            // Lets the call begin to wait once more.
            tokio::time::sleep(Duration::from_millis(20)).await;
            token.cancel();
        };
        let run = agent.run("Go").cancel_token(token.clone());
        tokio::join!(run.into_future(), cancel).0.unwrap()
    });

    let left = agent.leftover_calls();
    let_go.send(()).unwrap();
    let text = "Error: cancelled while it ran; it may have run in part";
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
    assert_eq!(left, 1);
}

// C1, C4
#[test]
fn a_plain_function_that_was_given_up_before_it_had_a_thread_never_runs() {
    let (pool, ran) = (pool_of_one(), Counter::default());
    let let_go = hold(&pool);
    let agent = agent(&model(&["counts"]), tools![counts])
        .tool_interceptor(Ways::NotForLong)
        .host(ran.clone());

    let run = pool.block_on(agent.build().unwrap().run("Go").into_future());
    let_go.send(()).unwrap();
    // Waits for everything that the pool still holds.
    pool.block_on(pool.spawn_blocking(|| ())).unwrap();

    let run = run.unwrap();
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", "given up")]));
    assert_eq!(ran.get(), 0);
}
