//! The page on dialects says what the tables say.

use agent_core::schema::{Dialect, DialectLimits};

const PAGE: &str = include_str!("../../../docs/dialects.md");

/// The cells of the row that begins with this text, in the table whose head has `column`.
fn cells(row: &str) -> Vec<&'static str> {
    let start = format!("| {row} |");
    let line = PAGE.lines().find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("no row `{row}`"));
    let cells = line.trim_matches('|').split('|').skip(1);
    cells.map(str::trim).collect()
}

/// The dialects of each column of the table of limits.
fn columns() -> Vec<Vec<Dialect>> {
    let dialects = |cell: &str| -> Vec<Dialect> {
        let names = cell.split('`').skip(1).step_by(2);
        names.filter_map(|name| name.parse().ok()).collect()
    };
    cells("limit").into_iter().map(dialects).collect()
}

#[test]
fn every_dialect_has_a_column() {
    let all: Vec<Dialect> = columns().concat();

    for dialect in Dialect::ALL {
        assert!(
            dialect == Dialect::Neutral || all.contains(&dialect),
            "{dialect}"
        );
        assert!(PAGE.contains(&format!("`{dialect}`")), "{dialect}");
    }
}

#[test]
fn every_limit_is_the_one_of_the_table() {
    type Limit = fn(&DialectLimits) -> Option<usize>;
    let limits: [(&str, Limit); 11] = [
        ("tools of a request", |it| it.tools),
        ("characters of a name", |it| it.name),
        ("characters of a description", |it| it.description),
        ("properties of a schema", |it| it.properties),
        ("levels of objects and lists", |it| it.depth),
        ("enum values", |it| it.enum_values),
        ("characters in names and enums", |it| it.characters),
        ("characters in an enum of more than 250 values", |it| {
            it.long_enum
        }),
        ("strict tools", |it| it.strict_tools),
        ("properties not required, in all strict tools", |it| {
            it.optional_properties
        }),
        ("unions, in all strict tools", |it| it.unions),
    ];
    for (row, limit) in limits {
        for (cell, dialects) in cells(row).into_iter().zip(columns()) {
            for dialect in dialects {
                assert_eq!(
                    cell.parse().ok(),
                    limit(dialect.limits()),
                    "{row}, {dialect}"
                );
            }
        }
    }
}
