#!/usr/bin/env bash
# LiteLLM's proxy, the gateway most people run, before a model server that speaks chat completions.
#   MODEL_URL=http://127.0.0.1:18100 bash litellm.sh [PORT]      default port 18410
# Serves /v1/chat/completions and /v1/messages; the model is `smollm2`. MODEL_URL is by default that of
# llama-server.sh.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
service litellm 18410 "$@"
URL="http://127.0.0.1:$PORT"
if ! alive; then
  py_env litellm 'litellm[proxy]==1.108.7'
  CONFIG="$CACHE/data/litellm-$PORT.yaml"
  cat >"$CONFIG" <<YAML
model_list:
  - model_name: smollm2
    litellm_params:
      model: openai/smollm2
      api_base: ${MODEL_URL:-http://127.0.0.1:18100}/v1
      api_key: none
YAML
  # Prices are asked for over the network unless told not to; no key guards a server on 127.0.0.1.
  export LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_TELEMETRY=False
  export LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true
  start "$(dirname "$PY")/litellm" --config "$CONFIG" --host 127.0.0.1 --port "$PORT"
fi
ready 120 http_ok "$URL/health/liveliness"
echo "$URL"
