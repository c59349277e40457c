//! What the crates do, seen from outside.
//!
//! A test that pins a statement of the reference (`TN-5`, `tn.14`) or a case (`ex-05`) names it in
//! the comment above it. Some statements have no test, as they have no counterpart here:
//!
//! | id | why not |
//! |---|---|
//! | KS-18: patterns of keys | a key is declared by its name |
//! | SG-8, SG-9, SG-10: a default saver, copies of a configuration, two savers | a saver is given or there is none, and there is one |
//! | SG-11: an agent's steps have no limit | its [`Limits`](agent_core::agent::Limits) bind it |
//! | EX-5, EX-6, EX-8, EX-11: streams as values, listeners, adapters, tags | a run is one stream of events; a node is a future |
//! | PA-8: executors of a node | a future runs where its run is polled; tools have a runtime |
//! | gr.4, gr.6: routers that see a configuration, edges that update | a router sees the state, a node updates and goes |
//! | gr.14: the merge node says otherwise than the fan-out | how branches run is said in one place |
//! | SB-4, RC-2: reserved metadata | a resume is a method with answers |
//! | CK-3, ck.3: a default thread, versions of a thread | a thread has a name; a fork is another thread |
//! | CK-6: a store of long-term memory | a host value of the user's own |
//! | HI-10, HI-12: copied feedback, names of decisions | a decision is a value of a type |
//! | TN-1, tn.6: a last message of the user is an error | no tool node is called by hand: the model is asked then |
//! | TN-12, TE-6, tn.9: the class name where there is no message | a Rust error has none: `the tool failed without a message` |
//! | TN-16, tn.17: plain callbacks see no state | every tool may take the context |
//! | tn.20: a write of a parallel sub-agent reaches the parent | there is no parallel agent yet; a nested run keeps its state |
//! | CT-9, cc.2, cc.3: `discard` twice, `mergeAll` twice | updates are moved out of a call once, which the compiler holds |
//! | CT-1, CT-7: joined, cancelled and null futures | a future here is awaited or dropped, and is never null |
//! | CT-5, ct.4: a token linked to a future | the token is the run's child; what it is told of is tested |
//! | CT-8, ct.7: null arguments of the adapter | there is no null |
//! | TE-6, ep.1.5: subclasses of a named error, checked exceptions | errors have no subclasses and no such kinds |
//! | TM-2: a null result is an empty text | ours is `null` |
//! | tm.1: a reply without calls is an error | it is the answer |
//! | TM-7: an exception at a limit | an outcome, `LimitReached` |
//! | HK-1: kinds of hooks | one trait with four methods |
//! | HK-4, HK-6, HK-8, HK-9: `canJumpTo` | a jump is a value that names its end; after the agent only the end |
//! | IC-1: a mixed list that resets others | two methods, whose calls add up |
//! | IC-2: four callbacks around a stream | a model around a model sees its pieces, an interceptor whole replies |
//! | SO-1: `outputSchema` wins over `outputType` | one setting with two ways to say it; the later call is right |
//! | ST-1, ST-2, ST-4: kinds of outputs by the names of nodes | an event is one of an enum's kinds |
//! | ST-3: the end of a model node carries no message | `ModelFinished` has the whole one, the deltas are events of their own |
//! | ST-5: markers among a node's messages | a message is removed by its id, not by a message |
//! | LN-4: dynamic tools are lost on resume | tools are found by their names, in the set or by a resolver |
//! | LN-5: provider-side tool execution | no client asks a provider to run tools |
//! | TA-1, ad.1: order of advisors, null parts | there is one loop, and no null |
//! | TA-4, ad.5: the history is switched off | a request holds the whole history; an interceptor may shorten it |
//! | TA-7, TA-8: one generation per result, `toolCallLimitExceeded` | results stand in the history, the end is an outcome |
//! | US-1, US-3, ad.9: native usage, a zero total, a piece of usage alone | counts are numbers of the output |

mod anthropic;
mod api;
mod augment;
mod branches;
mod cancellation;
mod checkpoints;
mod derive;
mod function_tool;
mod fuzz;
mod graph;
mod history;
mod hooks;
mod interceptors;
mod many;
mod merges;
mod model_calls;
mod models;
mod nested;
mod openai;
mod react_agent;
mod resolver;
mod schema;
mod state;
mod structured;
mod structured_threads;
mod tool_call;
mod tool_macro;
mod tool_set;
mod transcript;
mod turns;
mod wire;
