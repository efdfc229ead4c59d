#!/usr/bin/env bash
# Prints what is in the static binary that others wrote: the crates with version and licence, the standard
# library of Rust and the C library; then the text of each licence, once, with the crates that have it. Of
# a choice that includes MIT, it is the text of MIT. Takes the target.
set -euo pipefail

target=${1:?usage: crates.sh TARGET}
cargo=${CARGO:-cargo}
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src
texts=$(mktemp -d)
trap 'rm -rf "$texts"' EXIT

"$cargo" fetch --quiet --locked --target "$target"
# Neither macros, which run in the compiler, nor qless itself. A star marks a crate that was printed before.
crates=$("$cargo" tree --locked --target "$target" --edges normal,no-proc-macro --prefix none --format '{p};{l}' |
  sed -E '/^qless /d; s/ \(\*\)$//; s/ v([^;]*);/;\1;/' | sort -u)

# Keeps the texts of a directory for a name. Takes also its licence: of one with AND, all texts count.
keep() {
  local name=$1 dir=$2 licence=$3 file sum found=()
  shopt -s nullglob nocaseglob
  [[ $licence = *AND* ]] || found=("$dir"/licen[cs]e-mit* "$dir"/mit.*)
  [ ${#found[@]} -gt 0 ] || found=("$dir"/*licen[cs]e* "$dir"/copying*)
  found+=("$dir"/notice*)
  shopt -u nullglob nocaseglob
  [ ${#found[@]} -gt 0 ] || without+=("$name")
  for file in "${found[@]}"; do
    [ -f "$file" ] || continue
    sum=$(tr -s '[:space:]' ' ' <"$file" | sha256sum | cut -d ' ' -f 1)
    cp "$file" "$texts/$sum.text"
    echo "$name" >>"$texts/$sum.names"
  done
}

without=()
echo 'The binary of qless has code of others:'
echo
while IFS=';' read -r name version licence; do
  printf '%-26s %-12s %s\n' "$name" "$version" "$licence"
  keep "$name" "$(echo "$registry"/*/"$name-$version")" "$licence"
done <<<"$crates"
sysroot=$(rustc --print sysroot)
printf '%-26s %-12s %s\n' 'standard library of Rust' "$(rustc --version | cut -d ' ' -f 2)" 'MIT OR Apache-2.0'
keep 'standard library of Rust' "$sysroot/share/doc/rust/licenses" 'MIT OR Apache-2.0'
printf '%-26s %-12s %s\n' 'GNU C Library' "$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)" 'LGPL-2.1-or-later'
cat <<'END'

The GNU C Library is linked statically. You may link qless with a changed one: its sources and those of
all crates are public, and `make dist` of qless builds this binary from them.
END
[ ${#without[@]} = 0 ] || printf '\nWithout a text of their licence in the package: %s\n' "${without[*]}"
if [ -f /usr/share/common-licenses/LGPL-2.1 ]; then
  echo 'GNU C Library' >"$texts/zz-lgpl.names"
  cp /usr/share/common-licenses/LGPL-2.1 "$texts/zz-lgpl.text"
fi
for names in "$texts"/*.names; do
  printf '\n%s\n' "$(printf '=%.0s' {1..100})"
  sort -u "$names" | paste -s -d ',' | sed 's/,/, /g' | fold -s -w 100
  echo
  cat "${names%.names}.text"
done
