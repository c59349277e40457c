//! Tools made of closures, so that a test can lend them what it watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::tool::{Effect, InputSchema, ToolMetadata, ToolOutcome};
use agent_core::{BoxFuture, IntoToolOutput, ToolCallback, ToolContext, ToolDefinition, ToolError};
use serde_json::{Value, json};

type Run =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolOutcome, ToolError>> + Send + Sync;

/// A tool that is a closure.
pub struct ClosureTool {
    definition: ToolDefinition,
    metadata: ToolMetadata,
    run: Arc<Run>,
}

impl std::fmt::Debug for ClosureTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClosureTool({})", self.definition.name())
    }
}

/// A tool that runs this async closure with a clone of `shared`, its arguments and its
/// context.
pub fn tool<Shared, Run, Running, Output>(
    name: &'static str,
    shared: Shared,
    run: Run,
) -> ClosureTool
where
    Shared: Clone + Send + Sync + 'static,
    Run: Fn(Shared, Value, ToolContext) -> Running + Send + Sync + 'static,
    Running: Future<Output = Output> + Send + 'static,
    Output: IntoToolOutput,
{
    let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
    ClosureTool {
        definition: ToolDefinition::new(name, "A tool of a test.", schema),
        metadata: ToolMetadata::new(),
        run: Arc::new(move |arguments, context| {
            let running = run(shared.clone(), arguments, context);
            Box::pin(async move { running.await.into_tool_output() })
        }),
    }
}

/// A tool that always answers with this text.
#[must_use]
pub fn answers(name: &'static str, text: &'static str) -> ClosureTool {
    tool(name, text, async |text, _, _| text)
}

/// A tool with this input schema; it answers with its arguments.
#[must_use]
pub fn with_input(name: &str, description: &str, input: &Value) -> ClosureTool {
    let schema = InputSchema::from_value(input.clone());
    ClosureTool {
        definition: ToolDefinition::new(name.to_owned(), description.to_owned(), schema),
        ..tool("", (), async |(), arguments: Value, _| {
            arguments.to_string()
        })
    }
}

/// A tool that never returns.
#[must_use]
pub fn never(name: &'static str) -> ClosureTool {
    tool(name, (), async |(), _, _| {
        std::future::pending::<()>().await
    })
}

impl ClosureTool {
    /// Its result is the run's answer.
    #[must_use]
    pub fn direct(mut self) -> Self {
        self.metadata = self.metadata.return_direct(true);
        self
    }

    /// What running it twice would do.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.metadata = self.metadata.effect(effect);
        self
    }

    /// How many of its calls run at once.
    #[must_use]
    pub fn max_parallel(mut self, limit: u32) -> Self {
        self.metadata = self.metadata.max_parallel(limit);
        self
    }

    /// No other call of the turn runs at the same time.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.metadata = self.metadata.sequential(true);
        self
    }

    /// Its own limit of calls.
    #[must_use]
    pub fn max_calls(mut self, limit: u32) -> Self {
        self.metadata = self.metadata.max_calls(limit);
        self
    }

    /// Its own time limit.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.metadata = self.metadata.timeout(limit);
        self
    }
}

impl ToolCallback for ClosureTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        &self.metadata
    }

    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        let arguments = serde_json::from_str(arguments).unwrap_or(Value::Null);
        (self.run)(arguments, context.clone())
    }
}

/// Counts; clones share the count.
#[derive(Debug, Clone, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    /// Adds one and gives what was there before.
    pub fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// The count.
    #[must_use]
    pub fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// A value that counts when it is dropped.
    #[must_use]
    pub fn on_drop(&self) -> CountsDrop {
        CountsDrop(self.clone())
    }
}

/// Counts when it is dropped.
#[derive(Debug)]
pub struct CountsDrop(Counter);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.add();
    }
}
