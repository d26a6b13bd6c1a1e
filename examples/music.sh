#!/bin/sh
# A song with curl: started, heard while it is made, and saved.
# ROUNDHOUSE_API_KEY=rh_… examples/music.sh "Calm piano in the rain" song.mp3
set -eu
base=${ROUNDHOUSE_URL:-http://127.0.0.1:8080/v1}
key=${ROUNDHOUSE_API_KEY:?is the key that the first start printed}
prompt=${1:-Calm piano in the rain}
file=${2:-song.mp3}

ask() { # ask PATH [CURL OPTION…]
  path=$1
  shift
  curl --silent --show-error --fail-with-body "$base$path" --header "Authorization: Bearer $key" "$@"
}
field() { # field NAME: of the JSON on the standard input
  sed "s/.*\"$1\":\"\\{0,1\\}\\([^\",}]*\\).*/\\1/"
}

job=$(ask /music --header 'Content-Type: application/json' --data "{\"model\": \"sandbox-music\", \"prompt\": \"$prompt\", \"duration\": 20}")
id=$(echo "$job" | field id)
echo "$id"

# From its first note, as it is made. A player takes it as well: … | ffplay -nodisp -autoexit -
ask "/music/$id/stream" --no-buffer --output heard.wav

while :; do
  job=$(ask "/music/$id")
  status=$(echo "$job" | field status)
  echo "$status $(echo "$job" | field progress) %"
  case $status in pending | in_progress) sleep 1 ;; *) break ;; esac
done
[ "$status" = completed ] || { echo "$job"; exit 1; }

ask "/music/$id/content" --output "$file"
ls -l heard.wav "$file"
