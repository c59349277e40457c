//! What of an answer can be handed out.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::collections::VecDeque;

use crate::model::ModelDelta;

/// Deltas in their order. Pieces of one text that came together are handed out together: each
/// delta on its way costs more than what it says.
#[derive(Debug, Default)]
pub(crate) struct Ready(VecDeque<ModelDelta>);

/// The longest id and the longest name that every piece of a call is told with: a server could make
/// many pieces of a few bytes.
const LONGEST_TOLD: usize = 1024;

/// How many deltas there are, and the bytes of the text of the last.
type Mark = (usize, usize);

impl Ready {
    pub(crate) fn next(&mut self) -> Option<ModelDelta> {
        self.0.pop_front()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = ModelDelta> {
        self.0.drain(..)
    }

    pub(crate) fn push(&mut self, delta: ModelDelta) {
        self.0.push_back(delta);
    }

    pub(crate) fn extend(&mut self, deltas: impl Iterator<Item = ModelDelta>) {
        self.0.extend(deltas);
    }

    pub(crate) fn say(&mut self, text: &str) {
        match self.0.back_mut() {
            _ if text.is_empty() => {}
            Some(ModelDelta::Text(last)) => last.push_str(text),
            _ => self.push(ModelDelta::Text(text.to_owned())),
        }
    }

    pub(crate) fn think(&mut self, text: &str) {
        match self.0.back_mut() {
            _ if text.is_empty() => {}
            Some(ModelDelta::Reasoning(last)) => last.push_str(text),
            _ => self.push(ModelDelta::Reasoning(text.to_owned())),
        }
    }

    /// A piece of the call at this place, of which so much is known.
    pub(crate) fn fragment(&mut self, place: usize, (id, name): (&str, &str), arguments: &str) {
        let told = |text| {
            if str::len(text) <= LONGEST_TOLD {
                text
            } else {
                ""
            }
        };
        let (id, name) = (told(id), told(name));
        if let Some(ModelDelta::ToolCallFragment {
            index,
            id: last_id,
            name: last_name,
            arguments: last,
        }) = self.0.back_mut()
            && *index == place
        {
            last.push_str(arguments);
            if last_id != id || last_name != name {
                id.clone_into(last_id);
                name.clone_into(last_name);
            }
            return;
        }
        self.push(ModelDelta::ToolCallFragment {
            index: place,
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
    }

    /// Where it ends, to go back to.
    pub(crate) fn mark(&self) -> Mark {
        let text = match self.0.back() {
            Some(ModelDelta::Text(last) | ModelDelta::Reasoning(last)) => last.len(),
            Some(ModelDelta::ToolCallFragment { arguments, .. }) => arguments.len(),
            _ => 0,
        };
        (self.0.len(), text)
    }

    /// Drops what came since.
    pub(crate) fn back_to(&mut self, (count, text): Mark) {
        self.0.truncate(count);
        match self.0.back_mut() {
            Some(ModelDelta::Text(last) | ModelDelta::Reasoning(last)) => last.truncate(text),
            Some(ModelDelta::ToolCallFragment { arguments, .. }) => arguments.truncate(text),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut ready: Ready) -> Vec<ModelDelta> {
        std::iter::from_fn(|| ready.next()).collect()
    }

    fn fragment(index: usize, id: &str, name: &str, arguments: &str) -> ModelDelta {
        ModelDelta::ToolCallFragment {
            index,
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn pieces_of_one_text_that_came_together_are_one_delta() {
        let mut ready = Ready::default();
        ready.think("We");
        ready.think("ll.");
        ready.say("Let me");
        ready.say("");
        ready.say(" see.");
        ready.fragment(0, ("", "loo"), "");
        ready.fragment(0, ("c1", "look"), "{");
        ready.fragment(0, ("c1", "look"), "}");
        ready.fragment(1, ("c2", "look"), "{}");

        let expected = [
            ModelDelta::Reasoning("Well.".to_owned()),
            ModelDelta::Text("Let me see.".to_owned()),
            fragment(0, "c1", "look", "{}"),
            fragment(1, "c2", "look", "{}"),
        ];
        assert_eq!(all(ready), expected);
    }

    #[test]
    fn back_at_a_mark_nothing_is_left_of_what_came_since() {
        let mut ready = Ready::default();
        ready.say("a");
        let mark = ready.mark();
        ready.say("b");
        ready.think("c");
        ready.back_to(mark);

        assert_eq!(all(ready), [ModelDelta::Text("a".to_owned())]);
    }
}
