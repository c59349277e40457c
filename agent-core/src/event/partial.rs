//! An answer of a form as far as it is written.

use serde_json::Value;

use super::EventKind;

/// Reads an answer while it is written, from the events of its run.
#[derive(Debug)]
pub(crate) struct Partial {
    /// The tool whose arguments are the answer.
    tool: &'static str,
    /// The member of the arguments, or of the text, that the answer is.
    member: Option<&'static str>,
    text: String,
    arguments: String,
    /// True once the reply is whole: what comes next is another one.
    is_over: bool,
}

impl Partial {
    pub(crate) fn new(tool: &'static str, member: Option<&'static str>) -> Self {
        Self {
            tool,
            member,
            text: String::new(),
            arguments: String::new(),
            is_over: false,
        }
    }

    pub(crate) fn push(&mut self, event: &EventKind) {
        let piece = match event {
            EventKind::TextDelta(piece) => (piece, false),
            EventKind::ToolCallDelta {
                name, arguments, ..
            } if name == self.tool => (arguments, true),
            EventKind::Retried { .. } => return self.clear(),
            EventKind::ModelFinished { .. } => {
                self.is_over = true;
                return;
            }
            _ => return,
        };
        if self.is_over {
            self.clear();
        }
        match piece {
            (piece, true) => self.arguments.push_str(piece),
            (piece, false) => self.text.push_str(piece),
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.arguments.clear();
        self.is_over = false;
    }

    /// The value so far. `None` as long as none has begun.
    pub(crate) fn value(&self) -> Option<Value> {
        let mut value = completed(match self.arguments.is_empty() {
            true => &self.text,
            false => &self.arguments,
        })?;
        match self.member {
            Some(member) => value.get_mut(member).map(Value::take),
            None => Some(value),
        }
    }
}

/// What is said behind the thoughts that some servers leave in the text; nothing while they go on.
pub(crate) fn without_thoughts(text: &str) -> &str {
    let members = text.trim_start().strip_prefix('{');
    match text.rsplit_once("</think>") {
        // It is an answer that speaks of them.
        _ if members.is_some_and(|it| it.trim_start().starts_with('"')) => text,
        Some((_, said)) => said,
        None if text.trim_start().starts_with("<think>") => "",
        None => text,
    }
}

/// False for a bracket of a sentence.
fn may_begin(text: &str) -> bool {
    let inner = text[1..].trim_start();
    let says_nothing = inner.is_empty() || inner.starts_with('"');
    let is_list = text.starts_with('[');
    let item = |first: char| matches!(first, '{' | '[' | ']' | '-' | '0'..='9');
    says_nothing
        || if is_list {
            inner.starts_with(item)
        } else {
            inner.starts_with('}')
        }
}

/// The JSON that begins in this text, with what is open closed and what is half left out.
fn completed(text: &str) -> Option<Value> {
    let text = without_thoughts(text);
    let mut places = text.match_indices(['{', '[']);
    let (begin, _) = places.find(|(at, _)| may_begin(&text[*at..]))?;
    let text = &text[begin..];
    let mut scan = Scan::default();
    let mut end = text.len();
    for (at, byte) in text.bytes().enumerate() {
        scan.byte(at, byte);
        if scan.open.is_empty() && !scan.in_text {
            end = at + 1;
            break;
        }
    }
    let escape = before_pair(text, scan.escape);
    // More digits may come, and 1 is no part of 12.
    let in_number = !scan.open.is_empty() && text.ends_with(|last: char| last.is_ascii_digit());
    let candidates = match scan.in_text {
        // An escape that is cut, or half a pair of surrogates, is left out.
        true => [(end, "\""), (escape, "\""), (scan.safe, "")],
        false if in_number => [(scan.safe, ""); 3],
        false => [(end, ""), (scan.safe, ""), (scan.safe, "")],
    };
    let open = scan.open.iter().rev().map(|it| char::from(*it));
    let open: String = open.collect();
    candidates.into_iter().find_map(|(end, quote)| {
        let text = text.get(..end)?;
        serde_json::from_str(&format!("{text}{quote}{open}")).ok()
    })
}

/// Where the escape begins, or the first of the pair that it is the second of.
fn before_pair(text: &str, escape: usize) -> usize {
    let first = escape
        .checked_sub(6)
        .and_then(|at| Some((at, text.get(at..escape)?)));
    match first {
        Some((at, first)) if first.to_ascii_lowercase().starts_with("\\ud") => at,
        _ => escape,
    }
}

/// Where a JSON text stands.
#[derive(Default)]
struct Scan {
    /// What closes the open lists and objects, the innermost last.
    open: Vec<u8>,
    in_text: bool,
    escaped: bool,
    /// Where the last escape began.
    escape: usize,
    /// The last place at which every value was whole; since then nothing was opened or closed.
    safe: usize,
}

impl Scan {
    fn byte(&mut self, at: usize, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_text => {
                self.escaped = true;
                self.escape = at;
            }
            b'"' => self.in_text = !self.in_text,
            _ if self.in_text => {}
            b'{' | b'[' => {
                self.open.push(if byte == b'{' { b'}' } else { b']' });
                self.safe = at + 1;
            }
            b'}' | b']' => {
                self.open.pop();
                self.safe = at + 1;
            }
            b',' => self.safe = at,
            _ => {}
        }
    }
}
