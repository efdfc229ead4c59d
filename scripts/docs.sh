#!/usr/bin/env bash
# Builds the book: the pages of this repository, where they link to each other, one page per command and per topic of
# the help of the given binary, and the examples. Installs mdbook below the directory, unless it is on PATH. Fails if
# a link leads nowhere. Takes the binary and the directory; the book is DIR/book/html.
set -euo pipefail
cd "$(dirname "$0")/.."

qless=$(realpath "${1:?usage: docs.sh QLESS DIR}")
mkdir -p "${2:?usage: docs.sh QLESS DIR}"
dir=$(cd "$2" && pwd)
version=0.5.4

mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ]; then
  mdbook=$dir/mdbook-$version/bin/mdbook
  if [ ! -x "$mdbook" ]; then
    "${CARGO:-cargo}" install --quiet --locked --no-default-features --features search --root "$dir/mdbook-$version" "mdbook@$version" || {
      printf 'error: cannot install mdbook %s\nhint: see the message of cargo above\n' "$version" >&2
      exit 1
    }
  fi
fi

book=$dir/book src=$dir/book/src
rm -rf "$book"
mkdir -p "$src/lua" "$src/commands" "$src/topics" "$src/examples"
cp docs/book.toml docs/book.css "$book"
cp -- *.md LICENSE "$src"
cp -R docs examples "$src"
cp lua/README.md "$src/lua/index.md"
cp lua/keys.lua "$src/lua"

# A page of text that this program prints.
page() { # FILE TITLE COMMAND…
  { printf '# %s\n\n```text\n' "$2" && "${@:3}" </dev/null && printf '```\n'; } >"$src/$1"
  printf '  - [%s](%s)\n' "$2" "$1"
}

commands() {
  local name words
  # A command stands before its subcommands.
  for name in $(cd man && printf '%s\n' qless-*.1 | sed 's/^qless-//; s/\.1$//' | LC_ALL=C sort); do
    words=$name
    # The manual of `recur put` is qless-recur-put, and that of `forget-queue` qless-forget-queue.
    "$qless" help "$words" >/dev/null 2>&1 || words=${name/-/ }
    # shellcheck disable=SC2086 # These are words.
    page "commands/$name.md" "qless $words" "$qless" $words --help
  done
}

topics() {
  local topic
  for topic in recipes selectors findings formats environment exit-codes acl work-protocol json; do
    page "topics/$topic.md" "$topic" "$qless" help "$topic"
  done
}

schemas() {
  local kind
  for kind in $("$qless" help json | cut -d ' ' -f 1); do
    printf '== %s\n\n' "$kind" && "$qless" help json "$kind" && printf '\n'
  done
}

examples() {
  local file
  printf '# Workers in five languages\n'
  for file in examples/work.*; do
    printf '\n## %s\n\n```%s\n' "$file" "${file##*.}"
    cat "$file"
    printf '```\n'
  done
}

examples >"$src/workers.md"
{
  sed -n '/^<!-- commands -->$/q;p' docs/SUMMARY.md
  printf '%s\n' '- [Commands](commands/qless.md)'
  { printf '# Commands\n\n```text\n' && "$qless" --help && printf '```\n'; } >"$src/commands/qless.md"
  commands
  printf '%s\n' '- [Topics of the help](topics/topics.md)'
  printf '# Topics of the help\n\n`qless help TOPIC` prints these pages.\n' >"$src/topics/topics.md"
  topics
  page topics/schemas.md 'JSON Schemas of the documents' schemas
} >"$src/SUMMARY.md"
# mdbook makes an index of a README, but does not follow the links to it.
find "$src" -name '*.md' -exec sed -i 's#lua/README\.md#lua/index.md#g' {} +
"$mdbook" build "$book"

lost=0
while IFS=: read -r file target; do
  case $target in '' | http*) continue ;; esac
  [ -e "$(dirname "$file")/$target" ] || { printf 'error: %s links to %s, which does not exist\n' "$file" "$target" >&2 && lost=1; }
done < <(cd "$book/html" && grep -roE --include '*.html' '(href|src)="[^"#?:]*' . | sed -E 's/:(href|src)="/:/' | sort -u | sed "s|^|$book/html/|")
exit $lost
