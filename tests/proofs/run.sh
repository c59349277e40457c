#!/bin/sh
# The long proofs, which are run by hand and not in CI. Each prints its figures.
#
# Usage: tests/proofs/run.sh [turns|soak|mutations|crashes|gateways]...   (default: all, about an hour on 2 cores)
set -eu

cd "$(dirname "$0")/../.."
for proof in ${*:-turns soak mutations crashes gateways}; do
    echo "== $proof"
    case $proof in
    # One million cases of `tests/behaviour/turns.rs`, each streamed and plain.
    turns) AGENT_TEST_TURNS=${CASES:-1000000} cargo test --release -q -p agent-tests --test behaviour -- turns::any_turn --nocapture 2>/dev/null | grep -E "cases|result" ;;
    soak) cargo run --release -q -p agent-tests --bin soak -- "${TURNS:-1000000}" ;;
    mutations) tests/proofs/mutations.sh ;;
    # A process killed at every point of a run, twice over on each store.
    crashes) tests/proofs/crash.sh ;;
    # The tests of a real model server, with a gateway before it.
    gateways) tests/proofs/gateways.sh ;;
    *) echo "no such proof: $proof" >&2; exit 2 ;;
    esac
done
