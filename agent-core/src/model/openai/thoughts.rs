//! Thoughts that stand in the text of an answer, between tags.
//!
//! Gemini gives its thoughts so, and marks the pieces that hold some:
//! <https://ai.google.dev/gemini-api/docs/openai#thinking>. Tags in text without a mark are text.

const OPENS: &str = "<thought>";
const CLOSES: &str = "</thought>";

/// Parts the thoughts from the text.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    place: Place,
    /// What may be the beginning of a tag.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    /// Where a tag may open them.
    Before,
    Inside {
        has_tag: bool,
    },
}

impl Thoughts {
    /// What of a piece was thought, and what is said; `None` if all of it is said.
    pub(super) fn part(&mut self, piece: &str, is_marked: bool) -> Option<(String, String)> {
        if self.place == Place::Outside {
            if !is_marked {
                return None;
            }
            self.place = Place::Before;
        }
        let mut text = std::mem::take(&mut self.held) + piece;
        if self.place == Place::Before {
            if text.len() < OPENS.len() && OPENS.starts_with(&text) {
                self.held = text;
                return Some(Default::default());
            }
            let has_tag = text.starts_with(OPENS);
            text.drain(..if has_tag { OPENS.len() } else { 0 });
            self.place = Place::Inside { has_tag };
        }
        if let Some((thought, said)) = text.split_once(CLOSES) {
            self.place = Place::Outside;
            return Some((thought.to_owned(), said.to_owned()));
        }
        let begins = (1..CLOSES.len())
            .rev()
            .find(|end| text.ends_with(&CLOSES[..*end]));
        self.held = text.split_off(text.len() - begins.unwrap_or(0));
        // Without tags only the mark tells where they end.
        if !is_marked && self.place == (Place::Inside { has_tag: false }) && !text.is_empty() {
            self.place = Place::Outside;
            return Some((String::new(), text + &std::mem::take(&mut self.held)));
        }
        Some((text, String::new()))
    }

    /// What was held back: it is no tag.
    pub(super) fn end(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}
