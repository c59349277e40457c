//! What the examples share: how they show a run. Start with `quickstart.rs`.

#[path = "support/report.rs"]
pub mod report;
#[path = "support/terminal.rs"]
pub mod terminal;
#[path = "support/timeline.rs"]
pub mod timeline;
