#!/bin/sh
# What one `#[tool]` costs to compile, beside the same parameters as derived structs.
#
# Usage: tests/compile-time/run.sh [number of tools, default 200] [check | build, default check]
#
# Makes crates with that many tools of five parameters, with as many structs of the same
# fields that derive serde's Deserialize and schemars' JsonSchema, and with as many that
# derive Deserialize and our ToolSchema; an empty crate with the same dependencies is taken
# off each. A figure is the least of five runs of `cargo check` (or `cargo build`) of the dev
# profile with warm dependencies, after a touch, in processor time: that of the wall clock
# says more about the machine's other work.
set -eu

count=${1:-200}
command=${2:-check}
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CARGO_TARGET_DIR="$dir/target"

crate() {
    mkdir -p "$dir/$1/src"
    cp "$root/Cargo.lock" "$dir/$1/"
    cat >"$dir/$1/Cargo.toml" <<TOML
[package]
name = "$1"
edition = "2024"
[workspace]
[dependencies]
agent-core = { path = "$root/agent-core", default-features = false, features = ["macros"] }
schemars = { version = "1", default-features = false, features = ["derive", "std"] }
serde = { version = "1", features = ["derive"] }
serde_json = "1"
TOML
    cat >"$dir/$1/src/lib.rs"
}

# fields VISIBILITY: the five of them, as a parameter list or as the inside of a struct.
fields() {
    echo "    /// The place."
    echo "    ${1}place: String,"
    echo "    /// How many days."
    echo "    ${1}days: u32,"
    echo "    /// In short."
    echo "    ${1}short: Option<bool>,"
    echo "    /// Which words to look for."
    echo "    ${1}words: Vec<String>,"
    echo "    /// How sure to be."
    echo "    ${1}share: f64,"
}

# structs DERIVES
structs() {
    for i in $(seq "$count"); do
        echo "/// Looks up place $i."
        echo "#[derive($1)]"
        echo "pub struct Args$i {"
        fields 'pub '
        echo "}"
    done
}

# readers SCHEMA: without a use there would be no code for a struct; a tool has its call.
readers() {
    for i in $(seq "$count"); do
        echo "pub async fn tool_$i(json: &str) -> String {"
        echo "    let args: Args$i = serde_json::from_str(json).unwrap();"
        echo "    let _ = (args.days, args.short, args.words, args.share, $1::<Args$i>());"
        echo "    args.place"
        echo "}"
    done
}

: | crate empty
{
    echo 'use agent_core::tool;'
    for i in $(seq "$count"); do
        echo "/// Looks up place $i."
        echo "#[tool]"
        echo "pub async fn tool_$i("
        fields ''
        echo ") -> String {"
        echo "    let _ = (days, short, words, share);"
        echo "    place"
        echo "}"
    done
} | crate tools
{
    structs 'serde::Deserialize, schemars::JsonSchema'
    echo 'fn schema<T: schemars::JsonSchema>() -> schemars::Schema { schemars::schema_for!(T) }'
    readers schema
} | crate structs
{
    structs 'serde::Deserialize, agent_core::ToolSchema'
    echo 'fn schema<T: agent_core::ToolSchema>() -> agent_core::schema::Schema { T::SCHEMA }'
    readers schema
} | crate derived

# least CRATE: the least processor time of a run, in milliseconds.
least() {
    (
        cd "$dir/$1"
        cargo "$command" --quiet
        best=
        for _ in 1 2 3 4 5; do
            touch src/lib.rs
            took=$(python3 -c 'import resource, subprocess, sys
subprocess.run(["cargo", sys.argv[1], "--quiet"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)))' "$command")
            if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
        done
        echo "$best"
    )
}

empty=$(least empty)
tools=$(least tools)
structs=$(least structs)
derived=$(least derived)
awk -v n="$count" -v e="$empty" -v t="$tools" -v s="$structs" -v d="$derived" 'BEGIN {
    row = "%-28s %7.2f ms each, ratio %.2f\n"
    printf row, "serde + schemars", (s - e) / n, 1
    printf row, "#[tool]", (t - e) / n, (t - e) / (s - e)
    printf row, "serde + derive(ToolSchema)", (d - e) / n, (d - e) / (s - e)
}'
