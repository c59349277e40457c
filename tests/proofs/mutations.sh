#!/bin/sh
# Breaks the running of tools, and what is sent of it, in twelve ways, one at a time, and shows that the tests see each.
#
# Usage: tests/proofs/mutations.sh [WORDS]   (only those with WORDS in their name)
#
# Works on a copy of the last commit in a temporary folder, and builds there too if
# CARGO_TARGET_DIR does not say where. Each line says what was broken and which tests failed.
# The exit code is 1 if a mutation was not seen, or no longer applies.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$dir/copy"; rm -rf "$dir"' EXIT
git -C "$root" worktree add -q --detach "$dir/copy" HEAD
cd "$dir/copy"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$dir/target}"
agent=agent-core/src/agent
only=${1:-}
missed=0

# mutate NAME FILE OLD NEW: OLD and NEW are those of perl's `s~OLD~NEW~`, on the whole file.
mutate() {
    case $1 in
    *"$only"*) ;;
    *) return ;;
    esac
    before=$(cksum <"$2")
    perl -0pi -e "s~$3~$4~" "$2"
    if [ "$before" = "$(cksum <"$2")" ]; then
        echo "$1: does not apply"
        missed=1
        return
    fi
    # Under `CARGO_TERM_QUIET` a build that fails is told apart from tests that fail.
    if ! cargo test -q -p agent-tests --test behaviour --no-run 2>"$dir/log"; then
        echo "$1: does not build"
        missed=1
    else
        # Each test is told as it ends, so that those are known that failed before one hangs.
        CARGO_TERM_QUIET=false timeout 300 cargo test -p agent-tests --test behaviour >"$dir/log" 2>&1 || true
        sed -n 's/^test \([a-z0-9_:]*\) .*FAILED$/\1/p' "$dir/log" | sort >"$dir/failed"
        failed=$(wc -l <"$dir/failed")
        named=$(head -3 "$dir/failed" | tr '\n' ' ')
        end=
        if ! grep -q '^test result: ' "$dir/log"; then
            hung=$(sed -n 's/^test \([a-z0-9_:]*\) has been running .*/\1/p' "$dir/log" | head -3 | tr '\n' ' ')
            end="; the tests hang or die${hung:+, such as $hung}"
        fi
        if [ "$failed" -gt 0 ]; then
            echo "$1: $failed tests, such as $named$end"
        elif [ -n "$end" ]; then
            echo "$1: ${end#; }"
        else
            echo "$1: NOT SEEN"
            missed=1
        fi
    fi
    git checkout -q -- .
}

mutate "more calls at once than allowed" $agent/plan.rs \
    'plans\.len\(\) > slots' 'false'
mutate "a result is dropped" $agent/turn_end.rs \
    'Ended::Result\(result\) => self\.results\.push\(result\)' \
    'Ended::Result(result) => if self.results.is_empty() { self.results.push(result) }'
mutate "a failed call keeps its update" $agent/call_end.rs \
    'outcome\.failure\.or\(failure\),\s+StateUpdate::new\(\)' 'outcome.failure.or(failure), outcome.update'
mutate "no deadline while waiting for a slot" $agent/call.rs \
    '\(\) = sleep_until\(time\.deadline\) => return Err\(time\.error\(false\)\),' ''
mutate "a call whose time is over starts" $agent/call.rs \
    '&& Instant::now\(\) >= time\.deadline' '&& false'
mutate "panics are not caught" agent-core/src/tool/executor.rs \
    'catch_unwind\(AssertUnwindSafe\(\|\| (call\.as_mut\(\)\.poll\(task\))\)\)' 'Ok::<_, Box<dyn Any + Send>>($1)'
mutate "cancellation is not seen by a call" agent-core/src/tool/executor.rs \
    'cancelled\.as_mut\(\)\.poll\(task\)\.is_ready\(\)' 'false'
mutate "a fatal call does not stop its siblings" $agent/plan.rs \
    'failed = matches!\(end\.ended, Ended::Failed\(\.\.\)\)' 'failed = false'
mutate "results in another order than their calls" agent-core/src/message/transcript.rs \
    '\.all\(\|\(call, result\)\| call\.id == result\.call_id\)' '.all(|_| true)'
mutate "limits are not counted" $agent/counts.rs \
    'self\.tool_calls = self\.tool_calls\.saturating_add\(1\);' ''
# Two things keep it from that, each enough by itself.
mutate "a blocking call begins after its end" agent-core/src/tool/blocking.rs \
    'let Some\(_on_thread\)[\s\S]*?\};([\s\S]*?)self\.0\.abort\(\);' 'drop((waiting, leftovers));$1'
mutate "the text of a history outlives a change of it" agent-core/src/message/log.rs \
    '\*log\.text\.get_mut\(\)[^;]*;' ''
exit $missed
