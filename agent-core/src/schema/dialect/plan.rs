//! Which tools of one request are sent strict: what a provider limits over all of them.

use super::{Dialect, DialectSchema};

/// How a tool is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// As its schema in the dialect says.
    AsWritten,
    /// In the lenient dialect: with it, all strict tools together would have more of
    /// something than the provider takes.
    Lenient {
        /// What there would be too much of.
        what: &'static str,
        /// How much there would be.
        is: usize,
        /// How much there can be.
        limit: usize,
    },
}

/// Decides for the tools of a request, in order: the first ones are sent strict for as long
/// as the limits allow.
pub(crate) fn plan<'a>(
    dialect: Dialect,
    tools: impl IntoIterator<Item = &'a DialectSchema>,
) -> Vec<Sent> {
    let limits = dialect.limits();
    let mut sums = [
        ("strict tools", 0, limits.strict_tools),
        (
            "properties that are not required, in all strict tools",
            0,
            limits.optional_properties,
        ),
        ("unions, in all strict tools", 0, limits.unions),
    ];
    let mut send = |tool: &DialectSchema| {
        if !tool.strict {
            return Sent::AsWritten;
        }
        let adds = [1, tool.size.optional_properties, tool.size.unions];
        for ((what, sum, limit), adds) in sums.iter().zip(adds) {
            if let Some(limit) = limit.filter(|limit| sum + adds > *limit) {
                let is = sum + adds;
                return Sent::Lenient { what, is, limit };
            }
        }
        for ((_, sum, _), adds) in sums.iter_mut().zip(adds) {
            *sum += adds;
        }
        Sent::AsWritten
    };
    tools.into_iter().map(&mut send).collect()
}
