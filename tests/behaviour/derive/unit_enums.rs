//! Enums of plain names.

use agent_core::ToolSchema;
use serde::Deserialize;

use super::schema;

#[derive(Deserialize, ToolSchema)]
enum Dir {
    Left,
    Right,
    #[serde(rename = "mid")]
    Middle,
}

#[test]
fn plain_names_are_texts() {
    assert_eq!(
        schema::<Dir>(),
        r#"{"type":"string","enum":["Left","Right","mid"]}"#
    );
    assert_eq!(
        schema::<Option<Dir>>(),
        r#"{"type":["string","null"],"enum":["Left","Right","mid",null]}"#
    );
}

/// How warm it is.
#[derive(Deserialize, ToolSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Warmth {
    /// Below zero.
    IceCold,
    Mild,
    #[serde(alias = "boiling")]
    /** Above 30 °C */
    Hot,
    #[serde(skip)]
    Secret,
    #[serde(other)]
    Unknown,
}

#[test]
fn what_the_variants_mean_is_gathered_in_the_description() {
    assert_eq!(
        schema::<Warmth>(),
        concat!(
            r#"{"type":"string","enum":["ice-cold","mild","hot"],"#,
            r#""description":"How warm it is.\n\n- `ice-cold`: Below zero.\n- `hot`: Above 30 °C"}"#,
        )
    );
}

macro_rules! cases {
    ($($module:ident $case:literal: $field:literal $variant:literal;)*) => {$(
        mod $module {
            use agent_core::ToolSchema;
            use serde::Deserialize;

            #[derive(Debug, Deserialize, ToolSchema)]
            #[serde(rename_all = $case)]
            pub(super) enum Variants {
                VeryTasty,
            }

            #[derive(Debug, Deserialize, ToolSchema)]
            #[serde(rename_all = $case)]
            #[expect(dead_code, reason = "it is enough that it can be read")]
            pub(super) struct Fields {
                very_tasty: bool,
            }
        }
    )*

        #[test]
        fn every_case_is_that_of_serde() {
            $(
                assert!(schema::<$module::Variants>().contains(concat!("[\"", $variant, "\"]")), $case);
                assert!(serde_json::from_str::<$module::Variants>(concat!("\"", $variant, "\"")).is_ok(), $case);
                assert!(schema::<$module::Fields>().contains(concat!("{\"", $field, "\":")), $case);
                assert!(serde_json::from_str::<$module::Fields>(concat!("{\"", $field, "\":true}")).is_ok(), $case);
            )*
        }
    };
}

cases! {
    lower "lowercase": "very_tasty" "verytasty";
    upper "UPPERCASE": "VERY_TASTY" "VERYTASTY";
    pascal "PascalCase": "VeryTasty" "VeryTasty";
    camel "camelCase": "veryTasty" "veryTasty";
    snake "snake_case": "very_tasty" "very_tasty";
    screaming_snake "SCREAMING_SNAKE_CASE": "VERY_TASTY" "VERY_TASTY";
    kebab "kebab-case": "very-tasty" "very-tasty";
    screaming_kebab "SCREAMING-KEBAB-CASE": "VERY-TASTY" "VERY-TASTY";
}
