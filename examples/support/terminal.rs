//! Shows the events of a run as they come; on a terminal with colour and a spinner.

use std::env;
use std::error::Error;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use agent_core::agent::RunStream;
use agent_core::event::EventKind;
use agent_core::message::{ToolCall, ToolResult};
use agent_core::{Outcome, RunOutput};
use tokio::time::{MissedTickBehavior, interval};

use crate::timeline::{Bar, render};

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const BAR_COLOURS: [&str; 3] = ["36", "33", "35"];
const BAR_WIDTH: usize = 45;

/// Writes runs to stdout.
#[derive(Debug)]
pub struct Terminal {
    has_spinner: bool,
    has_colour: bool,
    line: Line,
    start: Instant,
    running: Vec<(ToolCall, Duration)>,
    bars: Vec<Bar>,
}

/// What stands on the line that is written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Line {
    Nothing,
    Text,
    Spinner,
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Terminal {
    /// Colour and spinner only if stdout is a terminal; no colour if `NO_COLOR` is set.
    #[must_use]
    pub fn new() -> Self {
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_terminal = io::stdout().is_terminal() && !is_dumb;
        let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            has_spinner: is_terminal,
            has_colour: is_terminal && !no_colour,
            line: Line::Nothing,
            start: Instant::now(),
            running: Vec::new(),
            bars: Vec::new(),
        }
    }

    /// Writes a line about the program itself.
    ///
    /// # Errors
    ///
    /// Stdout cannot be written.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint("2", text);
        self.write_line(&text)
    }

    /// Writes what the agent is asked.
    ///
    /// # Errors
    ///
    /// Stdout cannot be written.
    pub fn question(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint("1", text);
        self.write_line(&format!("? {text}"))
    }

    /// Shows a run from its first event to its last.
    ///
    /// # Errors
    ///
    /// The run failed, or stdout cannot be written.
    pub async fn show(&mut self, run: &mut RunStream) -> Result<Option<RunOutput>, Box<dyn Error>> {
        self.start = Instant::now();
        self.running.clear();
        self.bars.clear();
        let mut output = None;
        let mut ticks = interval(Duration::from_millis(80));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = run.next() => match event {
                    Some(Ok(event)) => {
                        if let Some(finished) = self.event(event.kind)? {
                            output = Some(finished);
                        }
                    }
                    Some(Err(error)) => {
                        self.start_line()?;
                        return Err(error.into());
                    }
                    None => break,
                },
                _ = ticks.tick(), if self.has_spinner => self.spin()?,
            }
        }
        self.start_line()?;
        Ok(output)
    }

    /// Draws the tool calls of the last run on one time axis.
    ///
    /// # Errors
    ///
    /// Stdout cannot be written.
    pub fn timeline(&mut self) -> io::Result<()> {
        // Calls end in any order; the picture shows them in the order they began.
        self.bars.sort_by_key(|bar| bar.start);
        let picture = render(&self.bars, BAR_WIDTH, |position, bar| {
            self.paint(BAR_COLOURS[position % BAR_COLOURS.len()], bar)
        });
        if picture.is_empty() {
            return Ok(());
        }
        self.write_line("")?;
        self.write_line(&picture)
    }

    fn event(&mut self, kind: EventKind) -> io::Result<Option<RunOutput>> {
        match kind {
            EventKind::TextDelta(text) => self.write_text(&text)?,
            EventKind::ToolStarted { call } => self.tool_started(call)?,
            EventKind::ToolProgress { tool, value, .. } => {
                let value = self.paint("2", &shorten(&value.to_string(), 70));
                self.write_event(&format!("· {tool} {value}"))?;
            }
            EventKind::ToolFinished { result, .. } => self.tool_finished(&result)?,
            EventKind::RunFinished(output) => {
                match output.outcome() {
                    Outcome::Finished => {}
                    Outcome::LimitReached(limit) => {
                        self.write_event(&format!("stopped by a limit: {limit:?}"))?;
                    }
                    Outcome::Cancelled => self.write_event("cancelled")?,
                    other => self.write_event(&format!("ended: {other:?}"))?,
                }
                return Ok(Some(output));
            }
            _ => {}
        }
        Ok(None)
    }

    fn tool_started(&mut self, call: ToolCall) -> io::Result<()> {
        let arguments = self.paint("2", &shorten(call.arguments(), 70));
        self.write_event(&format!("→ {} {arguments}", call.name()))?;
        self.running.push((call, self.start.elapsed()));
        Ok(())
    }

    fn tool_finished(&mut self, result: &ToolResult) -> io::Result<()> {
        let end = self.start.elapsed();
        let position = self
            .running
            .iter()
            .position(|(call, _)| call.id() == result.call_id());
        let start = position.map_or(end, |position| self.running.remove(position).1);
        self.bars.push(Bar {
            name: result.name().to_owned(),
            start,
            end,
        });
        let (mark, colour) = if result.is_error() {
            ("✗", "31")
        } else {
            ("✓", "32")
        };
        self.write_event(&format!(
            "{} {} in {:.1} s: {}",
            self.paint(colour, mark),
            result.name(),
            (end - start).as_secs_f64(),
            shorten(&result.text(), 70),
        ))
    }

    /// A line that begins with the time since the run's start.
    fn write_event(&mut self, text: &str) -> io::Result<()> {
        let time = format!("{:5.1} s", self.start.elapsed().as_secs_f64());
        let time = self.paint("2", &time);
        self.write_line(&format!("{time}  {text}"))
    }

    fn write_line(&mut self, text: &str) -> io::Result<()> {
        self.start_line()?;
        writeln!(io::stdout(), "{text}")
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        if self.line != Line::Text {
            self.start_line()?;
        }
        self.line = Line::Text;
        write!(io::stdout(), "{text}")?;
        io::stdout().flush()
    }

    fn start_line(&mut self) -> io::Result<()> {
        match self.line {
            Line::Nothing => {}
            Line::Text => writeln!(io::stdout())?,
            Line::Spinner => write!(io::stdout(), "\r\x1b[2K")?,
        }
        self.line = Line::Nothing;
        io::stdout().flush()
    }

    /// Shows that something is going on, unless text is being written.
    fn spin(&mut self) -> io::Result<()> {
        if self.line == Line::Text {
            return Ok(());
        }
        let time = self.start.elapsed();
        let frame = SPINNER[(time.as_millis() / 80) as usize % SPINNER.len()];
        let names: Vec<&str> = self.running.iter().map(|(call, _)| call.name()).collect();
        let what = if names.is_empty() {
            "the model".to_owned()
        } else {
            // A line that wraps could not be wiped.
            shorten(&names.join(", "), 60)
        };
        self.line = Line::Spinner;
        write!(
            io::stdout(),
            "\r\x1b[2K{:5.1} s  {frame} {what}",
            time.as_secs_f64()
        )?;
        io::stdout().flush()
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.has_colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// The text on one line of at most `longest` characters.
fn shorten(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    let start: String = line.chars().take(longest - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_on_one_line() {
        assert_eq!(shorten("two\nlines", 9), "two lines");
        assert_eq!(shorten(&"é".repeat(9), 9), "é".repeat(9));
        assert_eq!(shorten(&"é".repeat(10), 9), format!("{}…", "é".repeat(8)));
    }
}
