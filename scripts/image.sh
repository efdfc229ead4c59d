#!/usr/bin/env bash
# Builds the image of the Dockerfile and runs it. Without a builder that works, lays out the same files, and
# runs the same program in them as an empty root, as the user and with the variables of the Dockerfile.
set -euo pipefail
cd "$(dirname "$0")/.."

certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
[ -f "$certificates" ] || {
  printf 'error: no file of certificates at `%s`\nhint: install the package `ca-certificates`, or set SSL_CERT_FILE\n' "$certificates" >&2
  exit 1
}
cp "$certificates" dist/ca-certificates.crt

# Tries the program: the words that run it.
try() {
  "$@" version
  # Nothing listens there, which it must say: 6.
  local code=0
  "$@" --redis redis://127.0.0.1:1 --timeout 1s length mail || code=$?
  [ "$code" = 6 ] || { echo "error: exit code 6 expected, $code found" >&2; exit 1; }
}

for builder in docker podman buildah; do
  if command -v "$builder" >/dev/null && "$builder" info >/dev/null 2>&1; then
    if [ "$builder" = buildah ]; then
      buildah build --tag qless .
      echo 'built by buildah, which does not run it'
    else
      "$builder" build --tag qless .
      try "$builder" run --rm qless
      "$builder" image inspect --format 'qless has {{.Size}} bytes' qless
    fi
    exit
  fi
done

[ "$(id -u)" = 0 ] || { echo 'skipped: no builder of images works here, and an empty root needs root'; exit; }
echo 'no builder of images works here: trying the files of the Dockerfile as an empty root'
root=$(mktemp -d /tmp/qless-image.XXXXXX)
trap 'rm -rf "$root"' EXIT
variables=()
while read -r word first second; do
  case $word in
    FROM) [ "$first" = scratch ] ;;
    COPY) install -D "$first" "$root$second" ;;
    ENV) variables+=("$first") ;;
    USER) user=$first ;;
    ENTRYPOINT) program=$(sed 's/[]["]//g' <<<"$first") ;;
    '#'* | '') ;;
    *) echo "error: \`$word\` is not known here" >&2; exit 1 ;;
  esac
done <Dockerfile
chmod -R a+rX "$root"
try env -i "${variables[@]}" "$(command -v chroot)" --userspec="$user" "$root" "$program"
printf 'its files have %s bytes\n' "$(du --apparent-size -sb "$root" | cut -f 1)"
