#!/bin/sh
# The same with curl: a whole answer, a stream, and what it all cost.
# ROUNDHOUSE_API_KEY=rh_… examples/curl.sh
set -eu
base=${ROUNDHOUSE_URL:-http://127.0.0.1:8080/v1}
key=${ROUNDHOUSE_API_KEY:?is the key that the first start printed}

ask() { # ask BODY: prints the answer; --no-buffer shows a stream as it comes
  curl --silent --show-error --fail-with-body --no-buffer "$base/chat/completions" \
    --header "Authorization: Bearer $key" --header 'Content-Type: application/json' --data "$1"
  echo
}

echo '# whole'
ask '{"model": "sandbox-chat", "messages": [{"role": "user", "content": "Count to 10"}]}'

echo '# streamed'
ask '{"model": "sandbox-chat", "stream": true, "max_tokens": 8,
      "messages": [{"role": "user", "content": "Count to 10"}]}'

echo '# used today'
curl --silent --show-error --fail-with-body "$base/activity?date=$(date -u +%F)" --header "Authorization: Bearer $key"
echo
