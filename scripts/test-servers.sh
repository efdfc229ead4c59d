#!/usr/bin/env bash
# Runs the tests on each server of servers.sh, and prints a line for each server and each test that failed.
# The output of the tests is in a file beside the server. Takes the directory of the servers, and words
# that select tests.
set -euo pipefail

dir=${1:?usage: test-servers.sh DIR [TEST...]}
shift
here=$(dirname "$0")
servers=$("$here/servers.sh" "$dir")
failed=0

# Whether a server can speak TLS. Those that can say that they lack a certificate.
has_tls() {
  local output
  # The server ends with an error in either case.
  output=$(timeout 5 "$1" --port 0 --tls-port 1 --save '' </dev/null 2>&1) || true
  ! grep -qE 'finding TLS support|FATAL CONFIG' <<<"$output"
}

while read -r name server; do
  server=$(realpath "$server")
  log=$server.log
  skipped=()
  if ! has_tls "$server"; then
    skipped=(--skip tls)
    echo "$name has no TLS: the tests of TLS are skipped"
  fi
  REDIS_SERVER=$server QLESS_REDIS_SERVER=$server \
    "${CARGO:-cargo}" test --locked --test all -- "${skipped[@]}" "$@" </dev/null >"$log" 2>&1 || failed=1
  printf '%-14s%s\n' "$name" "$(grep '^test result' "$log" || tail -n 1 "$log")"
  grep '^test .*FAILED$' "$log" || true
done <<<"$servers"
exit "$failed"
