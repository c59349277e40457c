//! Where two JSON values differ, for a person.

use serde_json::Value;

/// More places than this are not shown.
const MOST: usize = 12;

/// A longer value is cut.
const LONGEST: usize = 160;

/// How many places of a value differ, and the first of them in lines.
pub(super) struct Difference {
    pub(super) places: usize,
    pub(super) lines: String,
}

/// What `asked` has in place of what was `recorded`.
pub(super) fn difference(recorded: &Value, asked: &Value) -> Difference {
    let mut found = Difference {
        places: 0,
        lines: String::new(),
    };
    found.at("", Some(recorded), Some(asked));
    if found.places > MOST {
        found.lines += &format!("\n… and {} more", found.places - MOST);
    }
    found
}

impl Difference {
    fn at(&mut self, path: &str, recorded: Option<&Value>, asked: Option<&Value>) {
        match (recorded, asked) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                for (key, value) in old {
                    self.at(&format!("{path}/{key}"), Some(value), new.get(key));
                }
                for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    self.at(&format!("{path}/{key}"), None, Some(value));
                }
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) => {
                for place in 0..old.len().max(new.len()) {
                    self.at(&format!("{path}/{place}"), old.get(place), new.get(place));
                }
            }
            (recorded, asked) if recorded == asked => {}
            (recorded, asked) => {
                self.places += 1;
                if self.places <= MOST {
                    self.line('-', path, recorded);
                    self.line('+', path, asked);
                }
            }
        }
    }

    fn line(&mut self, sign: char, path: &str, value: Option<&Value>) {
        let Some(value) = value else { return };
        let text = value.to_string();
        let cut: String = text.chars().take(LONGEST).collect();
        let more = if cut.len() < text.len() { "…" } else { "" };
        self.lines += &format!("\n{sign} {path}: {cut}{more}");
    }
}
