#!/usr/bin/env bash
# Looks whether the crates compile with the lowest versions of their dependencies that the
# manifests allow: a program may have pinned any of them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The lock file changes, so this is done in a copy.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$root"
git ls-files -z | xargs -0 cp --no-dereference --parents --target-directory="$copy"

cd "$copy"
export CARGO_TARGET_DIR=$root/target/lowest-versions
# The option is an unstable one of cargo's; what it chooses is compiled by the stable compiler.
RUSTC_BOOTSTRAP=1 cargo update --quiet -Z direct-minimal-versions
cargo check --quiet -p agent-macros -p agent-core -p agent-store --all-features
