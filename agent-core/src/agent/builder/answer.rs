//! What the answer of an agent is, and which reply it is.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ReactAgentBuilder;
use crate::agent::output::{OutputMode, OutputSpec};
use crate::model::ChatResponse;
use crate::schema::ToolSchema;

impl ReactAgentBuilder {
    /// The answer is JSON that a `T` is read from; [`RunOutput::parse`](crate::RunOutput::parse)
    /// gives it. The schema is told to the model as [`output_mode`](Self::output_mode) says, once
    /// the tool loop is done; an answer that does not fit is asked for again. A type that has only
    /// `schemars::JsonSchema` is wrapped in [`Schemars`](crate::schema::Schemars).
    ///
    /// ```
    /// use agent_core::model::{ScriptedModel, scripted::calls};
    /// use agent_core::{ReactAgent, ToolSchema};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, ToolSchema)]
    /// struct Weather {
    ///     city: String,
    ///     degrees: f64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let answer = serde_json::json!({"city": "Oslo", "degrees": 4.5});
    /// let agent = ReactAgent::builder("assistant", ScriptedModel::new([calls("final_answer", answer)]))
    ///     .output_type::<Weather>()
    ///     .build()?;
    ///
    /// let weather: Weather = agent.run("Oslo?").await?.parse()?;
    /// assert_eq!(weather.degrees, 4.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn output_type<T: ToolSchema + DeserializeOwned>(mut self) -> Self {
        self.output = Some(OutputSpec::of_type::<T>());
        self
    }

    /// The answer is JSON of this schema, as [`output_type`](Self::output_type). It is held to
    /// the schema with the feature `validate`, else it is only JSON. Default: any text.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(OutputSpec::of_schema(schema));
        self
    }

    /// How the model is asked for an answer of a form. Default: [`OutputMode::Auto`].
    pub fn output_mode(mut self, mode: OutputMode) -> Self {
        self.output_mode = mode;
        self
    }

    /// How often an answer that does not fit is asked for again, with what is wrong with it. The
    /// calls count for the limit of model calls. Default: 2.
    pub fn output_retries(mut self, retries: u32) -> Self {
        self.output_retries = retries;
        self
    }

    /// Also writes the answer's text to this key of the state. Default: none.
    pub fn output_key(mut self, key: impl Into<String>) -> Self {
        self.output_key = Some(key.into());
        self
    }

    /// Whether a reply leads to its tools. `false` for one with calls: they do not run, and its
    /// text is the answer. `true` for one without: the model is asked again, for providers that
    /// stop in the middle. Default: a reply with calls does.
    pub fn execute_tools_when(
        mut self,
        rule: impl Fn(&ChatResponse) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.runs_tools = Some(Arc::new(rule));
        self
    }
}
