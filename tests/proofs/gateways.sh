#!/usr/bin/env bash
# The tests of a real model server, through a real gateway: what it makes of our requests, and we of its
# answers, by both APIs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

port=${AGENT_TEST_LLAMA_PORT:-18100}
trap 'bash tests/servers/litellm.sh stop; bash tests/servers/llama-server.sh stop "$port"' EXIT
MODEL_URL=$(bash tests/servers/llama-server.sh "$port")
export MODEL_URL
AGENT_TEST_LLAMA_URL=$(bash tests/servers/litellm.sh)
export AGENT_TEST_LLAMA_URL
cargo test -q -p agent-tests --test llama
