#!/usr/bin/env bash
# Installs a package in an empty root, runs its program, removes it, and lets lintian read it. Takes the
# package.
set -euo pipefail

package=$(realpath "${1:?usage: deb-test.sh PACKAGE}")
home=$(mktemp -d /tmp/qless-deb.XXXXXX)
trap 'rm -rf "$home"' EXIT

dpkg-deb --info "$package" | sed 's/^/  /'
if [ "$(id -u)" = 0 ]; then
  root=$home/root
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  : >"$root/var/lib/dpkg/status"
  : >"$root/var/lib/dpkg/available"
  dpkg --root="$root" --log=/dev/null --install "$package" >/dev/null
  chroot "$root" /usr/bin/qless version
  listed=$(dpkg-deb --fsys-tarfile "$package" | tar --list | grep -v '/$' | sed 's|^\.||' | sort)
  missing=$(while read -r file; do [ -e "$root$file" ] || echo "$file"; done <<<"$listed")
  [ -z "$missing" ] || { printf 'error: not installed: %s\n' "$missing" >&2; exit 1; }
  dpkg --root="$root" --log=/dev/null --purge qless >/dev/null
  left=$(find "$root" -name '*qless*' -not -path "$root/var/lib/dpkg/*")
  [ -z "$left" ] || { printf 'error: not removed: %s\n' "$left" >&2; exit 1; }
  echo 'installed, run and removed in a root of its own'
else
  dpkg-deb --extract "$package" "$home/root"
  "$home/root/usr/bin/qless" version
  echo 'skipped: installing it, which needs root'
fi

if command -v lintian >/dev/null; then
  # Root may run it, too. Warnings are printed, errors end it.
  lintian --allow-root --fail-on error "$package"
else
  echo 'skipped: lintian is not installed'
fi
