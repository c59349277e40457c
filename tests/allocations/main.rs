//! The schemas of a thousand linked tools cost no allocation at the start of a program.
//!
//! A binary of its own, as it counts the allocations of its whole thread.

use agent_core::{ToolDefinition, tool};

type Visit<'a> = &'a mut dyn FnMut(&'static ToolDefinition);

/// A module for each name, with what `inner` makes of ten more names inside; `tool` ends it.
macro_rules! modules {
    (tool: $($name:ident)*) => {
        $(mod $name {
            use super::*;

            /// The weather to come.
            #[tool(register = false)]
            fn forecast(
                /// City name.
                city: &str,
                days: Option<u8>,
                #[param(default = 1.5)] scale: f64,
                tags: Vec<String>,
                #[param(minimum = 1, maximum = 9)] offset: i32,
            ) -> String {
                format!("{city} {days:?} {scale} {tags:?} {offset}")
            }

            pub(super) fn visit(seen: Visit<'_>) {
                seen(forecast::DEFINITION);
            }
        })*
        pub(super) fn visit(seen: Visit<'_>) {
            $($name::visit(seen);)*
        }
    };
    (ten: $($name:ident)*) => {
        $(mod $name {
            use super::*;
            modules! { tool: a b c d e f g h i j }
        })*
        pub(super) fn visit(seen: Visit<'_>) {
            $($name::visit(seen);)*
        }
    };
    (hundred: $($name:ident)*) => {
        $(mod $name {
            use super::*;
            modules! { ten: a b c d e f g h i j }
        })*
        pub(super) fn visit(seen: Visit<'_>) {
            $($name::visit(seen);)*
        }
    };
}

mod thousand {
    use super::{Visit, tool};

    modules! { hundred: a b c d e f g h i j }
}

#[test]
fn the_schemas_of_a_thousand_tools_cost_no_allocation() {
    let (mut tools, mut bytes) = (0, 0);

    let info = allocation_counter::measure(|| {
        thousand::visit(&mut |definition| {
            tools += 1;
            bytes += definition.name().len() + definition.description().len();
            bytes += definition.input_schema().text().len();
        });
    });

    assert_eq!(tools, 1000);
    assert!(bytes > 300_000, "{bytes}");
    assert_eq!(info.count_total, 0);
}

#[test]
fn an_allocation_is_counted() {
    let info = allocation_counter::measure(|| drop(Box::new(1)));

    assert_eq!(info.count_total, 1);
}
