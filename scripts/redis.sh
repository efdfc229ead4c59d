#!/usr/bin/env bash
# Makes sure of a Redis server and prints the path of its program: the one that REDIS_SERVER or
# QLESS_REDIS_SERVER names, else one on the path, else one installed from the system's packages.
set -uo pipefail

oldest=6.2

# Prints the path of the server if there is one.
find_server() {
  local named=${REDIS_SERVER:-${QLESS_REDIS_SERVER:-}}
  if [ -n "$named" ]; then
    command -v -- "$named" || fail "\`$named\` is not a program" "unset REDIS_SERVER, or name a \`redis-server\`"
    return
  fi
  command -v redis-server || command -v valkey-server
}

fail() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

# Runs a command as root; it gets no stdin.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@" </dev/null
  elif command -v sudo >/dev/null; then
    sudo "$@" </dev/null
  else
    echo "this requires root, and sudo is not installed: $*"
    return 1
  fi >&2
}

# Installs a package with the system's package manager; Valkey if Redis is not packaged.
install_server() {
  if command -v apt-get >/dev/null; then
    announce apt-get
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends redis-server ||
      as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends valkey-server
  elif command -v dnf >/dev/null; then
    announce dnf
    as_root dnf install -y -q redis || as_root dnf install -y -q valkey
  elif command -v apk >/dev/null; then
    announce apk
    as_root apk add --quiet --no-progress redis || as_root apk add --quiet --no-progress valkey
  elif command -v pacman >/dev/null; then
    announce pacman
    as_root pacman -Sy --needed --noconfirm valkey || as_root pacman -Sy --needed --noconfirm redis
  elif command -v brew >/dev/null; then
    announce brew
    brew install --quiet redis </dev/null >&2 || brew install --quiet valkey </dev/null >&2
  else
    return 1
  fi
}

announce() {
  echo "redis-server is not installed: installing it with $1" >&2
}

server=$(find_server)
if [ -z "$server" ]; then
  [ -z "${REDIS_SERVER:-${QLESS_REDIS_SERVER:-}}" ] || exit 1
  install_server
  hash -r
  server=$(find_server) || fail \
    "neither \`redis-server\` nor \`valkey-server\` is installed, and neither could be installed" \
    "install the package \`redis\` or \`valkey\` of your system, or set REDIS_SERVER to a server program"
fi

# `Redis server v=7.0.15 sha=…`, `Valkey server v=8.1.1 sha=…`; a program that prints
# neither is accepted as it is.
version=$("$server" --version 2>/dev/null | sed -n 's/.* v=\([0-9]*\.[0-9]*\).*/\1/p')
if [ -n "$version" ] && [ "$(printf '%s\n' "$oldest" "$version" | sort -V | head -n 1)" != "$oldest" ]; then
  fail "\`$server\` is version $version; qless requires $oldest or later" "set REDIS_SERVER to a newer one"
fi
echo "$server"
