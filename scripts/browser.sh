#!/usr/bin/env bash
# Prints the path of a Chromium: the one that BROWSER names, else one on the path. Desktops set BROWSER, too, and to any
# browser: one that is no Chromium is named on stderr and left out.
set -uo pipefail

# Whether a program says that it is a Chromium: others do not speak its protocol and would be waited for in vain.
is_chromium() {
  "$1" --version </dev/null 2>/dev/null | grep -q Chrom
}

if [ -n "${BROWSER:-}" ] && ! is_chromium "$BROWSER"; then
  echo "note: BROWSER is \`$BROWSER\`, which is no Chromium: looking for one on the path" >&2
fi
for program in "${BROWSER:-}" chromium chromium-browser google-chrome; do
  if [ -n "$program" ] && is_chromium "$program"; then
    command -v -- "$program"
    exit
  fi
done
printf 'error: no Chromium is installed\nhint: install `chromium`, or name one in BROWSER\n' >&2
exit 1
