#!/bin/sh
# Kills a process at every point of a run, on SQLite and, if a server is named, on PostgreSQL.
#
# Usage: tests/proofs/crash.sh [ROUNDS]   (default 2; a round is about 180 kills on each store)
#
# Each kill is followed by a second process that goes on; then every effect must be there as often
# as it may be, and the history must be whole. The table stands at the end.
set -eu

cd "$(dirname "$0")/../.."
AGENT_TEST_CRASHES=${1:-2} cargo test -q -p agent-tests --test store -- crash:: --nocapture 2>&1 |
    grep -oE '(sqlite|postgres): .*|skipped: .*|test result: .*|.*panicked.*|.* times: .*'
