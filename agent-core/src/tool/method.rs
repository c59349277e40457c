//! Tools that are methods: all tools of one object hold that object.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{
    IntoToolOutput, ToolCallback, ToolContext, ToolDefinition, ToolError, ToolMetadata,
    ToolOutcome, ToolProvider,
};
use crate::boxed::BoxFuture;

/// The tools of a type's `#[tool] impl` block with that number. The first block has none
/// written and counts as 1, the others say theirs: `#[tool(block = 2)]`.
///
/// It asks nothing of the type, and what does ask is asked once, so that a type whose values
/// cannot be shared between threads is told of once. Its name is what rustc says where two blocks
/// of a type have no number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `#[tool] impl` block with the number before this one",
    label = "the blocks of a type are counted without a gap",
    note = "the first block is `#[tool] impl {Self}`, the next ones have `block = 2`, `block = 3` and so on"
)]
pub trait WriteToolBlock2AboveTheSecondBlock<const NUMBER: u32>: Sized + 'static {
    /// The tools in the order of their methods, and those of the blocks after this one.
    fn methods() -> Vec<ToolMethod<Self>>
    where
        for<'x> Self: Shared;
}

/// The block of `S` with that number, if there is one.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct NextBlock<S, const NUMBER: u32>(PhantomData<S>);

impl<S: WriteToolBlock2AboveTheSecondBlock<NUMBER> + Shared, const NUMBER: u32>
    NextBlock<S, NUMBER>
{
    /// Its tools and those of the blocks after it.
    #[must_use]
    pub fn __agent_methods() -> Vec<ToolMethod<S>> {
        S::methods()
    }
}

/// What is taken where there is no such block, as method lookup finds it last.
pub trait NoBlock<S> {
    /// No tools.
    #[must_use]
    fn __agent_methods() -> Vec<ToolMethod<S>> {
        Vec::new()
    }
}

impl<S, const NUMBER: u32> NoBlock<S> for NextBlock<S, NUMBER> {}

/// What many calls at once ask of the object.
pub trait Shared: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> Shared for T {}

/// What a method gives that is not there, as that is told elsewhere.
#[derive(Debug)]
pub struct Missing;

impl Future for Missing {
    type Output = Self;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self> {
        Poll::Ready(Self)
    }
}

impl IntoToolOutput for Missing {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        Err(ToolError::fatal("there is no such method"))
    }
}

/// How generated code calls a method of `S`.
type Call<S> = for<'a> fn(
    &'a Arc<S>,
    &'a str,
    &'a ToolContext,
) -> BoxFuture<'a, Result<ToolOutcome, ToolError>>;

/// One method as a tool, without its object.
#[expect(missing_debug_implementations, reason = "only generated code sees it")]
pub struct ToolMethod<S> {
    definition: &'static ToolDefinition,
    metadata: ToolMetadata,
    call: Call<S>,
}

impl<S> ToolMethod<S> {
    /// The tool that makes this call.
    #[must_use]
    pub const fn new(
        definition: &'static ToolDefinition,
        metadata: ToolMetadata,
        call: Call<S>,
    ) -> Self {
        Self {
            definition,
            metadata,
            call,
        }
    }
}

impl<S: WriteToolBlock2AboveTheSecondBlock<1> + Shared> ToolProvider for S {
    fn callbacks(self: Arc<Self>) -> Vec<Arc<dyn ToolCallback>> {
        let with_object = |method| -> Arc<dyn ToolCallback> {
            Arc::new(MethodTool {
                object: Arc::clone(&self),
                method,
            })
        };
        Self::methods().into_iter().map(with_object).collect()
    }
}

struct MethodTool<S> {
    object: Arc<S>,
    method: ToolMethod<S>,
}

impl<S: Shared> ToolCallback for MethodTool<S> {
    fn definition(&self) -> &ToolDefinition {
        self.method.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        &self.method.metadata
    }

    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        (self.method.call)(&self.object, arguments, context)
    }
}
