//! One run from its beginning to its end.
//!
//! What a run is given is looked at here, and the thread is opened; the steps themselves are
//! in `graph::line`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::checkpoint::record::{Asked, Entry, Frontier};
use super::checkpoint::{CheckpointError, Loaded, Opened, Recorder};
use super::events::Events;
use super::line::{Line, LineEnd};
use super::way::Way;
use super::{
    Answer, CompiledGraph, Extensions, GraphEvent, GraphRun, NodeInterrupt, RunError, StateUpdate,
};

/// What all the lines of a run share.
pub(super) struct Run {
    pub(super) events: Arc<Events>,
    pub(super) cancellation: CancellationToken,
    pub(super) drain: CancellationToken,
    pub(super) extensions: Arc<Extensions>,
    pub(super) recorder: Option<Arc<Recorder>>,
    step_limit: u64,
    steps: AtomicU64,
    resumed: Mutex<Resumed>,
}

/// What is left of the pause that a run resumes.
#[derive(Default)]
struct Resumed {
    /// What was asked, by the places of those who asked.
    asked: BTreeMap<String, Vec<Arc<Asked>>>,
    answers: HashMap<String, Value>,
    /// The answers that nobody has seen yet.
    fresh: HashSet<String>,
    /// Ids of interrupts that were used.
    used: HashSet<String>,
}

/// What a node that paused is told when it runs again.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// What it asked before, and the answers there are.
    pub(super) asked: Vec<(Arc<Asked>, Option<Value>)>,
    /// False if nothing came since it paused.
    pub(super) is_fresh: bool,
}

impl Run {
    /// A run that tells nobody anything, for what is no run of its own.
    pub(super) fn silent(recorder: Arc<Recorder>) -> Self {
        Self {
            events: Arc::default(),
            cancellation: CancellationToken::new(),
            drain: CancellationToken::new(),
            extensions: Arc::default(),
            recorder: Some(recorder),
            step_limit: 0,
            steps: AtomicU64::new(0),
            resumed: Mutex::default(),
        }
    }

    /// Counts a step. `None` if it is one too many.
    pub(super) fn next_step(&self) -> Option<u64> {
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        (step <= self.step_limit).then_some(step)
    }

    pub(super) fn step_limit(&self) -> u64 {
        self.step_limit
    }

    fn resumed(&self) -> MutexGuard<'_, Resumed> {
        self.resumed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the node at this place asked when the run paused; told once.
    pub(super) fn told(&self, place: &str) -> Told {
        let mut resumed = self.resumed();
        let Some(mut here) = resumed.asked.remove(place) else {
            return Told::default();
        };
        // The run went on behind those.
        here.retain(|asked| !asked.is_after());
        let is_news = |asked: &Arc<Asked>| asked.is_breakpoint || resumed.fresh.contains(&asked.id);
        let is_answered = |asked: &Arc<Asked>| resumed.answers.contains_key(&asked.id);
        let is_fresh = here.iter().any(is_news) || here.iter().all(is_answered);
        let asked = here.into_iter().map(|asked| {
            let answer = resumed.answers.get(&asked.id).cloned();
            (asked, answer)
        });
        let asked = asked.collect();
        Told { asked, is_fresh }
    }

    /// True if the run paused inside of the node at this place.
    pub(super) fn is_asked_inside(&self, place: &str) -> bool {
        let resumed = self.resumed();
        if resumed.asked.is_empty() {
            return false;
        }
        let inside = format!("{place}/");
        let mut from = resumed
            .asked
            .range::<str, _>((Bound::Included(&*inside), Bound::Unbounded));
        from.next()
            .is_some_and(|(place, _)| place.starts_with(&inside))
    }

    /// Those of the questions that have no answer.
    fn waiting(&self, asked: Vec<Arc<Asked>>) -> Vec<NodeInterrupt> {
        let resumed = self.resumed();
        let waiting = asked
            .into_iter()
            .filter(|asked| !resumed.answers.contains_key(&asked.id));
        waiting.map(|asked| NodeInterrupt::of(&asked)).collect()
    }

    /// An id for a question that no other has.
    pub(super) fn fresh_id(&self, place: &str, key: &str) -> String {
        let (thread, step) = match &self.recorder {
            Some(recorder) => (recorder.thread().as_ref(), recorder.step()),
            None => ("", self.steps.load(Ordering::Relaxed)),
        };
        let id = format!("{thread}:{place}:{step}:{key}");
        let mut resumed = self.resumed();
        let free = (1..)
            .map(|times| match times {
                1 => id.clone(),
                times => format!("{id}~{times}"),
            })
            .find(|id| !resumed.used.contains(id))
            .unwrap_or(id);
        resumed.used.insert(free.clone());
        free
    }
}

/// Runs a graph to its end, or to a pause. What it is given is boxed, as its place in the future
/// would stay as long as the run.
pub(super) async fn drive(
    mut given: Box<GraphRun>,
    events: Arc<Events>,
) -> Result<GraphEvent, RunError> {
    let opened = match given.open().await {
        Ok(opened) => opened,
        Err(source) => return Err(RunError::checkpoint(source, given.state)),
    };
    let (recorder, loaded) = match opened {
        None => (None, None),
        Some(Opened { recorder, loaded }) => (Some(recorder), loaded),
    };
    // Boxed, as is what comes before the first step: the run would have room for it to its end.
    let begin = match Box::pin(begin(&mut given, recorder.as_ref(), loaded)).await {
        Ok(begin) => begin,
        Err(source) => return Err(RunError::checkpoint(source, given.state)),
    };
    let run = Run {
        events: Arc::clone(&events),
        cancellation: given.cancellation,
        drain: given.drain,
        extensions: given.extensions,
        recorder,
        step_limit: given.step_limit,
        steps: AtomicU64::new(0),
        resumed: Mutex::new(begin.resumed),
    };
    let mut line = Line::own(&run, given.graph, given.state);
    let ended = match begin.way {
        Some(way) => line.follow(way).await,
        None => match Box::pin(line.enter(given.began, begin.update)).await {
            Ok(way) => line.follow(way).await,
            Err(error) => Err(error),
        },
    };
    // What was kept for the end is written however the run ends.
    let ended = match &run.recorder {
        None => ended?,
        Some(recorder) => {
            let settled = Box::pin(recorder.settle()).await;
            let ended = ended?;
            settled.map_err(|source| RunError::checkpoint(source, line.state.clone()))?;
            ended
        }
    };
    Ok(match ended {
        LineEnd::Paused(asked) => GraphEvent::Interrupted {
            interrupts: run.waiting(asked),
            state: line.state,
        },
        LineEnd::Reached(_) | LineEnd::Halted => GraphEvent::Finished(line.state),
    })
}

/// How a run begins.
struct Begin {
    /// Where it goes on; `None` if it begins anew.
    way: Option<Way>,
    update: StateUpdate,
    resumed: Resumed,
}

async fn begin(
    given: &mut GraphRun,
    recorder: Option<&Arc<Recorder>>,
    loaded: Option<Box<Loaded>>,
) -> Result<Begin, CheckpointError> {
    let update = std::mem::take(&mut given.update);
    let Some(answers) = given.answers.take() else {
        let mut resumed = Resumed::default();
        if let Some(loaded) = loaded {
            check_ended(&loaded, recorder)?;
            resumed.used = loaded.answered;
            given.state = loaded.state;
        }
        return Ok(Begin {
            way: None,
            update,
            resumed,
        });
    };
    let (Some(recorder), Some(mut loaded)) = (recorder, loaded) else {
        let thread = given.thread.as_deref().unwrap_or_default().to_owned();
        return Err(CheckpointError::ThreadNotFound { thread });
    };
    check_answers(&loaded, recorder.thread(), &answers)?;
    let way = Way::of(&given.graph, &loaded.next, recorder.thread())?;
    if loaded.next == Frontier::End {
        if loaded.asked.is_empty() {
            let thread = recorder.thread().to_string();
            return Err(CheckpointError::NothingToResume { thread });
        }
        // It paused behind its last node.
        recorder.end().await?;
    }
    given.state = std::mem::take(&mut loaded.state);
    let mut resumed = Resumed {
        used: loaded.answered,
        answers: loaded.answers,
        fresh: loaded.fresh,
        asked: BTreeMap::new(),
    };
    for asked in loaded.asked {
        resumed.used.insert(asked.id.clone());
        let here = resumed.asked.entry(asked.node.clone());
        here.or_default().push(asked);
    }
    let mut entries = Vec::with_capacity(answers.len());
    for Answer { id, value } in answers {
        resumed.fresh.insert(id.clone());
        resumed.answers.insert(id.clone(), value.clone());
        entries.push(Entry::Answer {
            id,
            value,
            is_read: false,
        });
    }
    if !entries.is_empty() {
        recorder.answers(entries).await?;
    }
    Ok(Begin {
        way: Some(way),
        update,
        resumed,
    })
}

/// Nothing new begins where something waits.
fn check_ended(loaded: &Loaded, recorder: Option<&Arc<Recorder>>) -> Result<(), CheckpointError> {
    let thread = recorder.map_or_else(String::new, |recorder| recorder.thread().to_string());
    if loaded.next == Frontier::End && loaded.asked.is_empty() {
        return Ok(());
    }
    let interrupts: Vec<String> = loaded.pending().map(|asked| asked.id.clone()).collect();
    Err(match interrupts.is_empty() {
        true => CheckpointError::Unfinished { thread },
        false => CheckpointError::Pending { thread, interrupts },
    })
}

/// Refuses answers to what was not asked, before anything is done with the others.
pub(super) fn check_answers(
    loaded: &Loaded,
    thread: &str,
    answers: &[Answer],
) -> Result<(), CheckpointError> {
    let answerable: HashSet<&str> = loaded.answerable().map(|asked| &*asked.id).collect();
    let mut seen = HashSet::new();
    for Answer { id, .. } in answers {
        let (thread, id) = (thread.to_owned(), id.clone());
        if !answerable.contains(&*id) {
            return Err(match loaded.answered.contains(&id) {
                true => CheckpointError::AlreadyAnswered { thread, id },
                false => CheckpointError::InterruptNotFound { thread, id },
            });
        }
        if !seen.insert(id.clone()) {
            return Err(CheckpointError::AnsweredTwice { id });
        }
    }
    Ok(())
}

impl GraphRun {
    /// Opens the run's thread, if it has one that is not open yet.
    pub(super) async fn open(&mut self) -> Result<Option<Opened>, CheckpointError> {
        if let Some(opened) = self.opened.take() {
            return Ok(Some(opened));
        }
        let Some(thread) = self.thread.clone() else {
            return Ok(None);
        };
        let saver = self.saver.clone().or_else(|| self.graph.saver_of());
        let Some(saver) = saver else {
            let thread = thread.to_string();
            return Err(CheckpointError::NoSaver { thread });
        };
        let opened = Opened::open(saver, thread, self.at.as_ref(), self.durability).await?;
        Ok(Some(opened))
    }
}

impl CompiledGraph {
    fn saver_of(&self) -> Option<Arc<dyn super::checkpoint::CheckpointSaver>> {
        self.saver.clone()
    }
}
