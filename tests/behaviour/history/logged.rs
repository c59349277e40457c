//! What the log is told.

use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// The fields of each event, with their values as text.
#[derive(Clone, Default)]
pub(super) struct Logged(Arc<Mutex<Vec<(&'static str, String)>>>);

impl Logged {
    /// Keeps what this thread logs until the guard is dropped.
    pub(super) fn kept() -> (Self, DefaultGuard) {
        // As long as there is only one subscriber, `tracing` asks that of the thread which comes to
        // an event first, and a thread without one would switch the event off for all.
        static OTHERS: LazyLock<[Dispatch; 2]> =
            LazyLock::new(|| [(); 2].map(|()| Dispatch::new(Logged::default())));
        LazyLock::force(&OTHERS);
        let logged = Self::default();
        let guard = tracing::subscriber::set_default(logged.clone());
        (logged, guard)
    }

    /// The values of this field, in the order in which they came.
    pub(super) fn of(&self, field: &str) -> Vec<String> {
        let fields = self.0.lock().unwrap();
        let fields = fields.iter().filter(|(name, _)| *name == field);
        fields.map(|(_, value)| value.clone()).collect()
    }
}

impl Subscriber for Logged {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Visit for Logged {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0
            .lock()
            .unwrap()
            .push((field.name(), value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0
            .lock()
            .unwrap()
            .push((field.name(), format!("{value:?}")));
    }
}
