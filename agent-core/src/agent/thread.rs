//! A run that belongs to a thread: what it takes over, and what others can do to it meanwhile.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::approval::{About, AboutCall, Decision};
use super::earlier::settle;
use super::error::AgentError;
use super::react::{Config, ReactAgent};
use super::run::RunRequest;
use crate::graph::checkpoint::{CheckpointError, Opened, Recorder, RunningThreads};
use crate::graph::{Answer, NodeInterrupt, State};
use crate::message::{Message, ToolCall};
use crate::state::StateUpdate;

/// A thread that was opened for a run of an agent.
pub(super) struct OpenThread {
    pub(super) opened: Opened,
    pub(super) running: Running,
    /// What the thread holds, for a run that begins anew on it.
    pub(super) state: Option<State>,
    /// What closes the calls that were left open.
    pub(super) closing: StateUpdate,
}

impl OpenThread {
    /// Opens the thread of a request, if it has one.
    pub(super) async fn of(request: &mut RunRequest) -> Result<Option<Self>, AgentError> {
        let Some(thread) = request.thread.clone() else {
            return Ok(None);
        };
        let config = &request.agent.config;
        let saver = request.saver.clone().or_else(|| config.saver.clone());
        let Some(saver) = saver else {
            return Err(AgentError::NoSaver { thread });
        };
        request.saver = Some(Arc::clone(&saver));
        let thread: Arc<str> = thread.into();
        let opened = Opened::open(
            saver,
            Arc::clone(&thread),
            request.at.as_ref(),
            request.durability.unwrap_or(config.durability),
        );
        let mut opened = opened.await?;
        let mut closing = StateUpdate::new();
        let running = Running::begin(config, &opened, &thread);
        let repeats_answers = request.repeats_answers;
        let state = match &mut request.answers {
            Some(answers) => {
                if repeats_answers {
                    opened.leave_out_answered(answers);
                }
                let mail = check(&opened, &thread, answers, &request.agent)?;
                running.control.receive(mail);
                None
            }
            None => opened.begin_anew().map(|left| {
                let input = std::mem::take(&mut request.input.0);
                request.input.0 = left.mail.into_iter().chain(input).collect();
                let waiting = left.asked.iter().filter_map(About::of);
                let waiting: HashSet<String> = waiting.filter_map(|about| about.through).collect();
                closing = settle(&left.notes, &waiting, &left.state);
                left.state
            }),
        };
        Ok(Some(Self {
            opened,
            running,
            state,
            closing,
        }))
    }
}

/// Refuses answers that do not fit what was asked, before any of them counts. Gives the messages
/// that the paused run did not get to.
fn check(
    opened: &Opened,
    thread: &str,
    answers: &[Answer],
    agent: &ReactAgent,
) -> Result<Vec<Message>, AgentError> {
    let Some(paused) = opened.check_answers(thread, answers)? else {
        return Err(CheckpointError::ThreadNotFound {
            thread: thread.to_owned(),
        }
        .into());
    };
    let asked = paused.asked.iter().map(|it| (it.id.as_str(), it));
    let asked: HashMap<&str, &NodeInterrupt> = asked.collect();
    let open = paused.state.transcript().open_calls();
    let open: HashMap<&str, &ToolCall> = open.map(|call| (call.id.as_str(), call)).collect();
    for answer in answers {
        let Some(about) = asked.get(answer.id.as_str()).copied().and_then(About::of) else {
            continue;
        };
        let invalid = |source| CheckpointError::InvalidAnswer {
            id: answer.id.clone(),
            source,
        };
        if about.kind.is_decision() {
            let decision = Decision::of(&answer.value).map_err(|error| invalid(error.into()))?;
            // What a run inside of a call is answered it looks at itself.
            if let (None, Some(asked)) = (&about.nested, &about.call) {
                let call = open.get(asked.id.as_str()).copied();
                let call = call.filter(|call| AboutCall::of(call) == *asked);
                let call =
                    call.ok_or_else(|| invalid("the call is not the one asked about".into()))?;
                check_edit(agent, call, decision).map_err(invalid)?;
            }
        }
    }
    Ok(paused.mail)
}

fn check_edit(
    agent: &ReactAgent,
    call: &ToolCall,
    decision: Decision,
) -> Result<(), crate::boxed::BoxError> {
    let Decision::Edit { arguments } = decision else {
        return Ok(());
    };
    if !arguments.is_object() {
        return Err("arguments are an object".into());
    }
    match agent.config.tools.get(&call.name) {
        Some(tool) => {
            let schema = tool.definition().input_schema();
            Ok(schema.check(&arguments.to_string())?)
        }
        // A tool given for one run is not known here; it looks at them itself.
        None => Ok(()),
    }
}

/// How a run of a thread is reached from outside.
pub(super) struct Control {
    /// Pauses the run after its step.
    pub(super) stop: CancellationToken,
    inbox: Mutex<Inbox>,
    recorder: Arc<Recorder>,
}

#[derive(Default)]
struct Inbox {
    messages: Vec<Message>,
    is_closed: bool,
}

/// A run that is known by its thread as long as it goes on: to its agent, and to whoever has
/// the same saver.
pub(super) struct Running {
    known_to: Vec<Arc<RunningThreads>>,
    thread: Arc<str>,
    pub(super) control: Arc<Control>,
}

impl Running {
    fn begin(config: &Config, opened: &Opened, thread: &Arc<str>) -> Self {
        let recorder = opened.recorder();
        let of_saver = recorder.saver().running();
        let running = Self {
            known_to: of_saver
                .into_iter()
                .chain([Arc::clone(&config.threads)])
                .collect(),
            thread: Arc::clone(thread),
            control: Arc::new(Control {
                stop: CancellationToken::new(),
                inbox: Mutex::default(),
                recorder,
            }),
        };
        for runs in &running.known_to {
            runs.begin(thread, running.reached_by());
        }
        running
    }

    fn reached_by(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(&self.control) as _
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let control = self.reached_by();
        for runs in &self.known_to {
            runs.end(&self.thread, &control);
        }
    }
}

/// The run that goes on for a thread.
pub(super) fn find(config: &Config, thread: &str) -> Option<Arc<Control>> {
    let of_saver = config.saver.as_ref().and_then(|saver| saver.running());
    let own = Arc::clone(&config.threads);
    let found = of_saver.into_iter().chain([own]);
    let found = found.filter_map(|runs| runs.find(thread)).next()?;
    found.downcast().ok()
}

/// Hands a message to the run that goes on for a thread.
pub(super) async fn send(config: &Config, thread: &str, message: Message) -> Result<(), SendError> {
    let not_running = |message| SendError::NotRunning {
        thread: thread.to_owned(),
        message,
    };
    let Some(control) = find(config, thread) else {
        return Err(not_running(message));
    };
    control.receive_one(message.clone()).map_err(not_running)?;
    let kept = control.recorder.keep_mail(vec![message.clone()]).await;
    kept.map_err(|source| SendError::Checkpoint {
        message,
        source: Box::new(source),
    })
}

/// Why a message was not handed to a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// No run takes it: there is none that could be reached, or it is at its end.
    #[error("no run of thread `{thread}` takes a message here")]
    NotRunning {
        /// The thread.
        thread: String,
        /// The message.
        message: Message,
    },
    /// It could not be written down.
    #[error("the message could not be written down")]
    Checkpoint {
        /// The message.
        message: Message,
        /// What is wrong with the thread.
        source: Box<CheckpointError>,
    },
}

impl SendError {
    /// The message, for example to start a run with it.
    #[must_use]
    pub fn into_message(self) -> Message {
        match self {
            Self::NotRunning { message, .. } | Self::Checkpoint { message, .. } => message,
        }
    }
}

impl Control {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a message to the run, or gives it back if the run takes none any more.
    fn receive_one(&self, message: Message) -> Result<(), Message> {
        let mut inbox = self.inbox();
        if inbox.is_closed {
            return Err(message);
        }
        inbox.messages.push(message);
        Ok(())
    }

    fn receive(&self, mail: Vec<Message>) {
        self.inbox().messages.extend(mail);
    }

    /// The messages that came, for the step that reads them.
    pub(super) fn take(&self) -> Vec<Message> {
        let mail = std::mem::take(&mut self.inbox().messages);
        self.recorder.mail_read(&mail);
        mail
    }

    /// Takes no more messages, unless there are some.
    pub(super) fn close_if_empty(&self) -> bool {
        let mut inbox = self.inbox();
        inbox.is_closed |= inbox.messages.is_empty();
        inbox.is_closed
    }

    /// Takes no more messages, and gives those that are left.
    pub(super) fn close(&self) -> Vec<Message> {
        let mut inbox = self.inbox();
        inbox.is_closed = true;
        std::mem::take(&mut inbox.messages)
    }
}
