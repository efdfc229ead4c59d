#!/usr/bin/env bash
# Checks the crates in Cargo.lock: licences, sources, bans and known vulnerabilities (deny.toml). Installs
# cargo-deny below a directory, unless it is on PATH. Without the database of vulnerabilities, which is
# fetched from GitHub, checks the rest and says so. Takes the directory.
set -euo pipefail

dir=${1:?usage: deny.sh DIR}
version=0.20.2

deny=$(command -v cargo-deny || true)
if [ -z "$deny" ]; then
  deny=$dir/cargo-deny-$version/bin/cargo-deny
  if [ ! -x "$deny" ]; then
    "${CARGO:-cargo}" install --quiet --locked --root "$dir/cargo-deny-$version" "cargo-deny@$version" || {
      printf 'error: cannot install cargo-deny %s\nhint: see the message of cargo above\n' "$version" >&2
      exit 1
    }
  fi
fi

"$deny" --all-features check licenses bans sources
if ! "$deny" fetch db >"$dir/deny-fetch.log" 2>&1; then
  echo "skipped: advisories, because their database cannot be fetched ($dir/deny-fetch.log)"
  exit 0
fi
"$deny" --all-features check --disable-fetch advisories
