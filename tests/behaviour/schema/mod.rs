//! What a model is told about a tool's input, how its arguments are read, and how what a
//! tool returns is shown to it; by code as the macro would write it.

/// A definition with these parameters, as the macro writes it.
macro_rules! definition {
    ($($parameter:expr),* $(,)?) => {{
        const DEFINITION: &P::ToolDefinition = {
            const PARAMETERS: &[P::Parameter] = &[$($parameter),*];
            const INPUT: P::Input = P::Input::of(PARAMETERS);
            const LENGTH: usize = P::text_length(INPUT);
            const BYTES: [u8; LENGTH] = P::text_bytes::<LENGTH>(INPUT);
            static COMPOSED: P::Composed = P::Composed::new();
            &P::ToolDefinition::constant(
                "tool",
                "A tool.",
                P::InputSchema::constant(INPUT, P::text(INPUT, &BYTES), &COMPOSED),
            )
        };
        DEFINITION
    }};
}

mod agreement;
mod arguments;
mod chains;
mod dialect_forms;
mod dialect_page;
mod dialect_roots;
mod dialect_values;
mod dialects;
mod long_errors;
mod output;
mod repair;
mod repair_forms;
mod report;
mod schemars_part;
mod text;
