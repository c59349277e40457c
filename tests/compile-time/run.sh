#!/bin/sh
# What one `#[tool]` costs to compile, beside the same parameters as derived structs.
#
# Usage: tests/compile-time/run.sh [number of tools, default 200]
#
# Makes crates with that many tools of three parameters, and with as many structs of the same
# fields that derive serde's Deserialize and schemars' JsonSchema; an empty crate with the
# same dependencies is taken off both. Each figure is the least of three `cargo build`s of
# the dev profile with warm dependencies, after a touch.
set -eu

count=${1:-200}
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

: | crate empty
{
    echo 'use agent_core::tool;'
    for i in $(seq "$count"); do
        echo "/// Looks up place $i."
        echo "#[tool]"
        echo "pub async fn tool_$i("
        echo "    /// The place."
        echo "    place: String,"
        echo "    /// How many days."
        echo "    days: u32,"
        echo "    /// In short."
        echo "    short: Option<bool>,"
        echo ") -> String {"
        echo "    let _ = (days, short);"
        echo "    place"
        echo "}"
    done
} | crate tools
{
    for i in $(seq "$count"); do
        echo "/// Looks up place $i."
        echo "#[derive(serde::Deserialize, schemars::JsonSchema)]"
        echo "pub struct Args$i {"
        echo "    /// The place."
        echo "    pub place: String,"
        echo "    /// How many days."
        echo "    pub days: u32,"
        echo "    /// In short."
        echo "    pub short: Option<bool>,"
        echo "}"
        # Without a use there would be nothing to generate code for; a tool has its call.
        echo "pub async fn tool_$i(json: &str) -> String {"
        echo "    let args: Args$i = serde_json::from_str(json).unwrap();"
        echo "    let _ = (args.days, args.short, schemars::schema_for!(Args$i));"
        echo "    args.place"
        echo "}"
    done
} | crate structs

least() {
    (
        cd "$dir/$1"
        cargo build --quiet
        best=
        for _ in 1 2 3; do
            touch src/lib.rs
            start=$(date +%s%N)
            cargo build --quiet
            took=$((($(date +%s%N) - start) / 1000))
            if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
        done
        echo "$best"
    )
}

empty=$(least empty)
tools=$(least tools)
structs=$(least structs)
awk -v n="$count" -v e="$empty" -v t="$tools" -v s="$structs" 'BEGIN {
    printf "tools:   %d x #[tool]          %7.2f ms each\n", n, (t - e) / n / 1000
    printf "structs: %d x serde + schemars %7.2f ms each\n", n, (s - e) / n / 1000
    printf "ratio:   %.2f\n", (t - e) / (s - e)
}'
