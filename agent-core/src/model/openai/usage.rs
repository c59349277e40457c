//! Reads the token counts of an answer.

use crate::model::Usage;
use crate::model::reading::json::{Json, NotJson};

/// The token counts that stand here, under all names they have.
pub(super) fn usage(json: &mut Json<'_>) -> Result<Option<Usage>, NotJson> {
    if !json.object()? {
        return Ok(None);
    }
    let mut counts = Counts::default();
    while let Some(key) = json.key()? {
        match key {
            "prompt_tokens" => counts.prompt = json.number()?,
            "input_tokens" => counts.input = json.number()?,
            "completion_tokens" => counts.completion = json.number()?,
            "output_tokens" => counts.output = json.number()?,
            "total_tokens" => counts.total = json.number()?,
            "prompt_tokens_details" | "input_tokens_details" => counts.take_cached(json)?,
            "prompt_cache_hit_tokens" | "cached_tokens" => counts.cache_hit = json.number()?,
            "completion_tokens_details" | "output_tokens_details" => {
                counts.thought = json.member("reasoning_tokens", Json::number)?
            }
            "reasoning_tokens" => counts.reasoning = json.number()?,
            // Gateways tell them in Anthropic's words; here they are part of the input.
            "cache_read_input_tokens" => counts.cache_read = json.number()?,
            "cache_creation_input_tokens" => counts.cache_creation = json.number()?,
            _ => json.skip()?,
        }
    }
    Ok(counts.usage())
}

#[derive(Debug, Default)]
struct Counts {
    prompt: Option<u64>,
    input: Option<u64>,
    completion: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    cached: Option<u64>,
    cache_hit: Option<u64>,
    cache_write: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    thought: Option<u64>,
    reasoning: Option<u64>,
}

impl Counts {
    fn take_cached(&mut self, json: &mut Json<'_>) -> Result<(), NotJson> {
        if json.object()? {
            while let Some(key) = json.key()? {
                match key {
                    "cached_tokens" => self.cached = json.number()?,
                    // As OpenRouter, DashScope and LiteLLM call it.
                    "cache_write_tokens"
                    | "cache_creation_input_tokens"
                    | "cache_creation_tokens" => self.cache_write = json.number()?,
                    _ => json.skip()?,
                }
            }
        }
        Ok(())
    }

    fn usage(&self) -> Option<Usage> {
        let input = self.prompt.or(self.input);
        let output = self.completion.or(self.output);
        input.or(output).or(self.total)?;
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
        let reasoning = self.thought.or(self.reasoning).unwrap_or(0);
        // xAI counts what is thought beside what is written, as gateways of Gemini do:
        // https://docs.x.ai/docs/key-information/consumption-and-rate-limits
        let whole = output.saturating_add(reasoning);
        let is_beside = match self.total {
            Some(total) => total == input.saturating_add(whole),
            None => reasoning > output,
        };
        let mut read = Usage::new(input, if is_beside { whole } else { output });
        read.total_tokens = self.total.unwrap_or(read.total_tokens);
        let cached = self.cached.or(self.cache_hit).or(self.cache_read);
        read.cached_input_tokens = cached.unwrap_or(0);
        read.cache_write_input_tokens = self.cache_write.or(self.cache_creation).unwrap_or(0);
        read.reasoning_tokens = reasoning;
        Some(read)
    }
}
