#!/usr/bin/env bash
# Makes sure of a Redis server and prints the path of its program: the one that REDIS_SERVER or
# QLESS_REDIS_SERVER names, else one on the path, else one installed from the system's packages.
set -uo pipefail

oldest=6.2

# Prints the server that is here, if one is.
find_server() {
  local named=${REDIS_SERVER:-${QLESS_REDIS_SERVER:-}}
  if [ -n "$named" ]; then
    command -v -- "$named" || fail "\`$named\` is no program" "unset REDIS_SERVER, or name a \`redis-server\`"
    return
  fi
  command -v redis-server || command -v valkey-server
}

fail() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

# Runs a command as root; stdin is none of its business.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@" </dev/null
  elif command -v sudo >/dev/null; then
    sudo "$@" </dev/null
  else
    echo "this needs root, and there is no sudo here: $*"
    return 1
  fi >&2
}

# Installs a package by whichever manager is here; Valkey where Redis is no longer packaged.
install_server() {
  if command -v apt-get >/dev/null; then
    told apt-get
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends redis-server ||
      as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends valkey-server
  elif command -v dnf >/dev/null; then
    told dnf
    as_root dnf install -y -q redis || as_root dnf install -y -q valkey
  elif command -v apk >/dev/null; then
    told apk
    as_root apk add --quiet --no-progress redis || as_root apk add --quiet --no-progress valkey
  elif command -v pacman >/dev/null; then
    told pacman
    as_root pacman -Sy --needed --noconfirm valkey || as_root pacman -Sy --needed --noconfirm redis
  elif command -v brew >/dev/null; then
    told brew
    brew install --quiet redis </dev/null >&2 || brew install --quiet valkey </dev/null >&2
  else
    return 1
  fi
}

told() {
  echo "no redis-server here: installing it with $1" >&2
}

server=$(find_server)
if [ -z "$server" ]; then
  [ -z "${REDIS_SERVER:-${QLESS_REDIS_SERVER:-}}" ] || exit 1
  install_server
  hash -r
  server=$(find_server) || fail \
    "there is no \`redis-server\` or \`valkey-server\` here, and none could be installed" \
    "install the package \`redis\` or \`valkey\` of your system, or set REDIS_SERVER to such a program"
fi

# `Redis server v=7.0.15 sha=…`, `Valkey server v=8.1.1 sha=…`; a program that says neither is left
# to say for itself what it is.
version=$("$server" --version 2>/dev/null | sed -n 's/.* v=\([0-9]*\.[0-9]*\).*/\1/p')
if [ -n "$version" ] && [ "$(printf '%s\n' "$oldest" "$version" | sort -V | head -n 1)" != "$oldest" ]; then
  fail "\`$server\` is version $version, $oldest is needed" "set REDIS_SERVER to a newer one"
fi
echo "$server"
