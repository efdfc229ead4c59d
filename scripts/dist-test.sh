#!/usr/bin/env bash
# Tries the static file: what it needs, its size, and its work in an empty root, as a user without a name.
# Servers and names are in a network of its own. Without root it tries only what needs no root. Takes the
# file, and a usual build to compare costs with, if there is one.
set -euo pipefail

file=$(realpath "${1:?usage: dist-test.sh FILE [BUILD]}")
usual=$(realpath -m "${2:-none}")
most=10000000

if [ -z "${IN_OWN_NETWORK:-}" ] && [ "$(id -u)" = 0 ]; then
  # All processes end with the shell.
  if unshare --net --pid --fork --kill-child --mount-proc true 2>/dev/null; then
    IN_OWN_NETWORK=1 exec unshare --net --pid --fork --kill-child --mount-proc "$0" "$@"
  fi
fi

home=$(mktemp -d /tmp/qless-dist.XXXXXX)
trap 'rm -rf "$home"' EXIT
failed=0

# Says whether a result is as expected: name, expected, found.
check() {
  if [ "$2" = "$3" ]; then
    printf 'ok       %s\n' "$1"
  else
    printf 'FAILED   %s: %s expected, %s found\n' "$1" "$2" "$3"
    failed=1
  fi
}

skip() {
  printf 'skipped  %s: %s\n' "$1" "$2"
}

await() {
  for _ in $(seq 500); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.02
  done
  echo "error: nothing answers: $*" >&2
  exit 1
}

check 'needs no library' '' "$(readelf --program-headers "$file" | grep INTERP || true)"
check 'ldd finds nothing' 'statically linked' "$(ldd "$file" 2>&1 | sed 's/not a dynamic executable/statically linked/' | xargs)"
check 'names the commit' "${QLESS_COMMIT:-}" "$("$file" version -o json | sed -n 's/.*"commit": *"\([^"]*\)".*/\1/p')"
size=$(stat -c %s "$file")
closed=0; "$file" version >&- 2>/dev/null || closed=$?
check 'ends with 1 if stdout is not open' 1 "$closed"
check "has fewer than $most bytes" 0 "$((size < most ? 0 : size - most))"

server=$("$(dirname "$0")/redis.sh")
cd "$home"

# CPU of commands on a server, in seconds: the file, then the usual build.
if [ -x "$usual" ]; then
  "$server" --port 0 --unixsocket "$home/cost.sock" --save '' --dir "$home" >/dev/null &
  cost_pid=$!
  export QLESS_REDIS_URL=unix://$home/cost.sock
  await "$file" length q
  seq 20000 | sed 's/.*/{"queue":"bulk","klass":"K","data":{"n":&}}/' >jobs
  put_get() { "$1" -q put q K --jid j; for _ in $(seq 100); do "$1" get j; done; "$1" -q cancel j --yes; }
  put_from() { "$1" -q put --from jobs; "$1" -q cancel --queue bulk --yes; }
  work() { seq 200 | sed 's/.*/{"queue":"w","klass":"K"}/' | "$1" -q put --from -; "$1" -q work w --drain -- /bin/true; }
  cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
  }
  for what in put_get put_from work; do
    "$what" "$file" >/dev/null 2>&1
    static=$(cpu "$what" "$file") dynamic=$(cpu "$what" "$usual")
    printf 'cost     %s: %s s of CPU, the usual build %s s, ratio %s\n' "$what" "$static" "$dynamic" \
      "$(awk "BEGIN { printf \"%.2f\", $static / $dynamic }")"
  done
  kill "$cost_pid"
  unset QLESS_REDIS_URL
else
  skip 'costs' 'no usual build to compare with; `make build` makes one'
fi

if [ -z "${IN_OWN_NETWORK:-}" ]; then
  skip 'an empty root' 'this needs root, and the right to a network of its own'
  exit "$failed"
fi

ip link set lo up
root=$home/root
mkdir -p "$root/dev" "$root/etc/ssl/certs" "$home/tls"
cp "$file" "$root/qless"
# A CA, and a server with a certificate for its name.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=a CA for tests' \
  -keyout tls/ca.key -out "$root/etc/ssl/certs/ca-certificates.crt" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=redis.test -keyout tls/key -out tls/request 2>/dev/null
openssl x509 -req -in tls/request -CA "$root/etc/ssl/certs/ca-certificates.crt" -CAkey tls/ca.key -CAcreateserial -days 2 \
  -extfile <(echo subjectAltName=DNS:redis.test) -out tls/cert 2>/dev/null
"$server" --port 6379 --tls-port 6380 --tls-cert-file tls/cert --tls-key-file tls/key --tls-auth-clients no \
  --bind 127.0.0.1 --save '' --dir "$home" >/dev/null &
printf '127.0.0.1 redis.test\n' >"$root/etc/hosts"
printf '[context.tls]\nredis = "rediss://redis.test:6380/0"\n' >"$root/qless.toml"
chmod -R a+rX "$root"
await "$file" --redis redis://127.0.0.1 length q

# Runs it in the empty root. A failure prints its exit code and message.
inside() {
  chroot --userspec=65534:65534 "$root" "$@" 2>"$home/stderr" || echo "exit $?: $(cat "$home/stderr")"
}
export QLESS_REDIS_URL=redis://redis.test:6379/0 QLESS_CONFIG=/qless.toml

check 'puts a job, with an id of its own' 32 "$(inside /qless -q put mail K '{"n":1}' | tr -d '\n' | wc -c)"
check 'puts to a name of /etc/hosts' a "$(inside /qless -q put mail K --jid a)"
check 'pops it over TLS' a "$(inside /qless --context tls pop mail --count 2 -o jid | grep -x a)"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=another CA' \
  -keyout tls/other.key -out "$root/other.crt" 2>/dev/null
check 'refuses a server of another CA' 6 \
  "$(inside /qless --context tls --tls-ca /other.crt length mail | sed -n 's/exit \([0-9]*\).*/\1/p')"
# `work` gives it to its programs; each container has it.
mknod -m 666 "$root/dev/null" c 1 3
check 'works a queue' 'qless' \
  "$(inside /qless -q put w K --jid w >/dev/null; inside /qless -q work w --drain -- /qless version | head -n 1 | cut -d ' ' -f 1)"

check 'ends with 6 for a name that nobody knows' 6 \
  "$(inside /qless --redis redis://nowhere.test --timeout 2s length mail | sed -n 's/exit \([0-9]*\).*/\1/p')"

# When a job runs that was put for noon of a summer day, by the clock of a zone.
noon() {
  TZ=$1 inside /qless -q put later K --at '2027-06-21 12:00' --jid noon --replace >/dev/null
  inside /qless jobs --queue later -o json | grep -o '"scheduled_for": *"[^"]*"' | cut -d '"' -f 4
}
check 'knows a zone by its rules' 2027-06-21T10:00:00.000Z "$(noon CET-1CEST,M3.5.0,M10.5.0/3)"
check 'takes UTC for a zone without its file' 2027-06-21T12:00:00.000Z "$(noon Europe/Berlin)"
if [ -f /usr/share/zoneinfo/Europe/Berlin ]; then
  install -D -m 644 /usr/share/zoneinfo/Europe/Berlin "$root/usr/share/zoneinfo/Europe/Berlin"
  check 'knows a zone by its file' 2027-06-21T10:00:00.000Z "$(noon Europe/Berlin)"
else
  skip 'a zone by its file' 'this machine has no /usr/share/zoneinfo'
fi

if command -v python3 >/dev/null; then
  # Answers each question for an IPv4 address with 127.0.0.1, and others with nothing.
  python3 - <<'END' &
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
while True:
    query, client = server.recvfrom(512)
    end = query.index(0, 12) + 5
    is_a = query[end - 4 : end - 2] == b"\0\1"
    head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_a else b"\0\0") + b"\0\0\0\0"
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x7f\0\0\1" if is_a else b""
    server.sendto(head + query[12:end] + answer, client)
END
  echo 'nameserver 127.0.0.1' >"$root/etc/resolv.conf"
  # Modules of other names are not in an empty root, and must not stop it.
  echo 'hosts: files mymachines mdns4_minimal [NOTFOUND=return] dns' >"$root/etc/nsswitch.conf"
  : >"$root/etc/hosts"
  await grep -q '0100007F:0035' /proc/net/udp
  check 'puts to a name of DNS' b "$(inside /qless -q put mail K --jid b)"
else
  skip 'a name of DNS' 'python3 is not installed'
fi
exit "$failed"
