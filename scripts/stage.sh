# The stage of a demo, to be sourced: a directory of its own with the binary (`$1`) and `redis-cli` on the
# PATH, and the words of the story. The demo defines `stop`, which ends what it has started.
qless=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
for name in ${!QLESS_@} REDIS_URL REDISCLI_AUTH; do
  [ "$name" = QLESS_REDIS_SERVER ] || unset "$name"
done

# Short, because the path of a socket is limited.
home=$(mktemp -d /tmp/qless-demo.XXXXXX)
end() {
  trap - EXIT INT TERM HUP
  stop
  cd / && rm -rf "$home"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cd "$home"
mkdir bin
ln -s "$qless" bin/qless
export PATH="$home/bin:$PATH"
# The server's package includes its command line, perhaps under its other name.
server=$(command -v "${QLESS_REDIS_SERVER:-redis-server}" || command -v valkey-server || true)
for cli in "${server%/*}/redis-cli" redis-cli "${server%/*}/valkey-cli" valkey-cli; do
  if command -v "$cli" >/dev/null; then
    ln -s "$(command -v "$cli")" bin/redis-cli
    break
  fi
done

# One stream, in the order of events.
exec 2>&1

# A terminal gets color and time to read. A file gets the same tables as a terminal.
bold='' dim='' plain='' breath=0 table=' -o table'
if [ -t 1 ]; then
  table=''
  [ -n "${CI:-}" ] || breath=0.9
  if [ -z "${NO_COLOR:-}" ]; then
    bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
  fi
fi

# Prints a line of the story.
say() {
  printf '\n%s# %s%s\n' "$dim" "$1" "$plain"
  sleep "$breath"
}

# Prints a command and runs it.
run() {
  printf '%s$ %s%s\n' "$bold" "${1//$'\n'/$'\n'  }" "$plain"
  eval "$1"
}

# The same, with time to read the output.
show() {
  run "$1"
  sleep "$breath"
}

# Fails if a result is not as expected: name, expected, found.
check() {
  if [ "$2" != "$3" ]; then
    printf '\nerror: %s: %s expected, %s found\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}
