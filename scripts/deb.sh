#!/usr/bin/env bash
# Makes the Debian package of dist/qless in dist/, and tries it in a root of its own. Installs cargo-deb below
# a directory, unless it is on PATH. The files are those of `make install`, in the places of a system. Takes
# the directory.
set -euo pipefail

dir=${1:?usage: deb.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
version=3.8.0
target=x86_64-unknown-linux-gnu

deb=$(command -v cargo-deb || true)
if [ -z "$deb" ]; then
  deb=$dir/cargo-deb-$version/bin/cargo-deb
  if [ ! -x "$deb" ]; then
    "${CARGO:-cargo}" install --quiet --locked --root "$dir/cargo-deb-$version" "cargo-deb@$version" || {
      printf 'error: cannot install cargo-deb %s\nhint: see the message of cargo above\n' "$version" >&2
      exit 1
    }
  fi
fi

# cargo-deb takes all files from here.
stage=target/deb
rm -rf "$stage"
make --no-print-directory -s install QLESS=dist/qless DESTDIR="$stage" PREFIX=/usr
# The places of Debian, which differ.
mv "$stage/usr/share/zsh/site-functions" "$stage/usr/share/zsh/vendor-completions"
gzip -9n "$stage"/usr/share/man/man*/*
gzip -9n <CHANGELOG.md >"$stage/usr/share/doc/qless/changelog.gz"
cp dist/CRATES.txt "$stage/usr/share/doc/qless"
gzip -9n "$stage/usr/share/doc/qless/CRATES.txt"
# Who makes the package, as for other tools of Debian.
maintainer="${DEBFULLNAME:-$(git config user.name || git log -1 --format=%an)} <${DEBEMAIL:-$(git config user.email || git log -1 --format=%ae)}>"
release=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)-1
cat <<END | gzip -9n >"$stage/usr/share/doc/qless/changelog.Debian.gz"
qless ($release) stable; urgency=medium

  * The changes are in changelog.gz.

 -- $maintainer  $(git log -1 --format=%cD)
END
install -D -m 644 scripts/lintian-overrides "$stage/usr/share/lintian/overrides/qless"

export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
rm -f dist/*.deb
"$deb" --no-build --no-strip --target "$target" --maintainer "$maintainer" --output dist/ >/dev/null
"$here/deb-test.sh" dist/*.deb
