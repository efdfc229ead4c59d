#!/usr/bin/env bash
# Builds what is handed out, into dist/: one static file for Linux on x86_64, an archive of it with manual
# pages, completions and examples, the list of the crates in it, and their checksums. Takes the directory
# of builds.
set -euo pipefail

built=${1:?usage: dist.sh TARGET_DIR}
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."

target=x86_64-unknown-linux-gnu
sources=$(echo "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*)
# All flags of the static file:
# - `getrandom` must not look for its function in the C library: it finds none in a static file, falls back
#   to /dev/random, and an empty root has none. (Its version 0.2, for ring, makes the system call anyway.)
# - A panic aborts, so nothing reads the tables for unwinding.
# - Fewer functions are copied to where they are called: 0.7 MB less.
# - Relative relocations are packed, which glibc can read since 2.36. Equal functions are kept once.
# - No path of this machine is in the file.
flags=(
  -C target-feature=+crt-static
  --cfg 'getrandom_backend="linux_getrandom"'
  -C force-unwind-tables=no
  -C llvm-args=--inline-threshold=5
  -C "link-arg=-Wl,-z,pack-relative-relocs,--icf=all,--no-eh-frame-hdr"
  -C "link-arg=-Wl,-T,$here/static.ld"
  --remap-path-prefix "$sources/="
  --remap-path-prefix "$built/=target/"
)
# Cargo separates them by this character, since paths may have spaces.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
"${CARGO:-cargo}" build --release --locked --target "$target" --target-dir "$built"
unset CARGO_ENCODED_RUSTFLAGS

name=qless-$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)-$target
rm -rf dist
mkdir -p dist
cp "$built/$target/release/qless" dist/qless
"$here/crates.sh" "$target" >dist/CRATES.txt

# The archive is a prefix: its files are those of `make install`.
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
make --no-print-directory -s install QLESS=dist/qless DESTDIR="$stage" PREFIX="/$name"
install -m 644 README.md LICENSE CHANGELOG.md dist/CRATES.txt "$stage/$name/share/doc/qless"
# The same commit gives the same archive.
tar --create --directory "$stage" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$(git log -1 --format=%ct)" "$name" | gzip -9n >"dist/$name.tar.gz"
(cd dist && sha256sum qless CRATES.txt ./*.tar.gz | sed 's| \./| |' >SHA256SUMS)
ls -l dist
"$here/dist-test.sh" dist/qless "$built/release/qless"
