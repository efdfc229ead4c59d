#!/usr/bin/env bash
# Draws the pictures of docs/: plays a night on a private Redis, and photographs its page and `top` with Chromium.
set -euo pipefail

qless=$1
root=$(cd "$(dirname "$0")/.." && pwd)
docs=$root/docs
browser=$("$root/scripts/browser.sh")

# A short name, since the page shows it.
home=$(mktemp -d /tmp/qless-XXXX)
export QLESS_REDIS_URL=local:$home/night QLESS_CONFIG=none
page= busy=
end() {
  kill $page $busy 2>/dev/null || true
  "$qless" -q local stop --redis "local:$home/night" >/dev/null 2>&1 || true
  rm -rf "$home"
}
trap end EXIT
now=$(date +%s)

# Runs a command so many seconds ago.
ago() {
  local seconds=$1
  shift
  QLESS_NOW=$((now - seconds)) "$qless" -q "$@"
}

# Puts jobs: how long ago, how many, the queue, the class.
put() {
  local line="{\"queue\":\"$3\",\"klass\":\"$4\",\"tags\":[\"night\",\"eu\"],\"retries\":3,\"data\":{\"customer\":\"c7\",\"number\":%d,\"sizes\":[160,640,1280]}}\n"
  for number in $(seq "$2"); do printf "$line" "$number"; done | ago "$1" put --from - >/dev/null
}

# A round of work: how long ago it was put, how many, queue, class, worker, how long they wait and run.
work() {
  put "$1" "$2" "$3" "$4"
  local jids
  jids=$(ago $(($1 - $6)) pop "$3" --worker "$5" --count "$2" -o jid)
  ago $(($1 - $6 - $7)) complete $jids --worker "$5" >/dev/null
}

# Jobs that fail: how long ago, how many, queue, class, group, message.
lose() {
  put $(($1 + 30)) "$2" "$3" "$4"
  local jids
  jids=$(ago $(($1 + 12)) pop "$3" --worker mx-1-qless-1.0.0-x8-220-3fa9 --count "$2" -o jid)
  ago "$1" fail $jids --worker mx-1-qless-1.0.0-x8-220-3fa9 --group "$5" --message "$6" >/dev/null
}

round=0
for wait in 1 2 2 3 4 5 5 6 8 9 11 12 14 15 18 22 28 35 50 70 110 200; do
  round=$((round + 1))
  begun=$((3400 - round * 90))
  [ "$begun" -gt $((wait + 20)) ] || begun=$((wait + 20 + round))
  work "$begun" $((6 + (round * 7) % 23)) mail Mail::Welcome mx-1-qless-1.0.0-x8-220-3fa9 "$wait" $((1 + wait % 5))
  work "$begun" $((3 + round % 9)) sync Api::Call mx-4-qless-1.0.0-x24-77-0a1b $((wait / 2)) 1
  work "$begun" $((2 + round % 5)) images Photo::Upload mx-2-qless-1.0.0-x4-188-c0de $((wait / 3)) $((4 + wait % 13))
done
for minutes in 115 90 62 40 21 12 7 4 2; do
  lose $((minutes * 60)) $((12 - minutes / 12 + (minutes < 25 ? 16 : 0))) images Photo::Upload 'upload error' \
    'PUT /bucket/9c1: 503 Slow Down
  at Storage#put (storage.rb:118)
  at Photo::Upload.perform (upload.rb:41)'
done
lose 5400 6 reports Report::Daily timeout 'no reply from warehouse within 30 s'
lose 600 5 reports Report::Daily timeout 'no reply from warehouse within 30 s'
lose 7000 3 mail Mail::Welcome ValueError "ValueError: no such customer: 'c7'"

# A job with a long story.
ago 330 put images Photo::Upload --jid 3bc931b4507b45e7aadda35293ed3126 --retries 3 --tag night --tag eu --priority 10 \
  --arg photo:=77 --arg customer=c7 --arg sizes:='[160,640,1280]' >/dev/null
ago 330 put index Photo::Index --depends 3bc931b4507b45e7aadda35293ed3126 >/dev/null
try() {
  ago "$1" pop images --worker "$2" --count 1 >/dev/null
}
try 328 mx-1-qless-1.0.0-x8-220-3fa9
ago 316 retry 3bc931b4507b45e7aadda35293ed3126 --worker mx-1-qless-1.0.0-x8-220-3fa9 --delay 30s >/dev/null
try 286 mx-2-qless-1.0.0-x4-188-c0de
ago 275 retry 3bc931b4507b45e7aadda35293ed3126 --worker mx-2-qless-1.0.0-x4-188-c0de --delay 60s >/dev/null
try 214 mx-2-qless-1.0.0-x4-188-c0de
ago 204 fail 3bc931b4507b45e7aadda35293ed3126 --worker mx-2-qless-1.0.0-x4-188-c0de --group 'upload error' --message 'PUT /bucket/9c1: 503 Slow Down
  at Storage#put (storage.rb:118)
  at Photo::Upload.perform (upload.rb:41)' >/dev/null

put 252 1204 mail Mail::Welcome
ago 3 pop mail --worker mx-1-qless-1.0.0-x8-220-3fa9 --count 7 >/dev/null
put 14 18 sync Api::Call
ago 2 pop sync --worker mx-4-qless-1.0.0-x24-77-0a1b --count 3 >/dev/null
put 5 9 images Photo::Upload
ago 1 pop images --worker mx-2-qless-1.0.0-x4-188-c0de --count 3 >/dev/null
put 1400 1 reports Report::Daily
ago 1390 pop reports --worker mx-3-qless-1.0.0-x4-91-77aa --count 1 >/dev/null
for number in $(seq 14); do printf '{"queue":"reports","klass":"Report::Daily","delay":%d}\n' $((3600 + number * 60)); done |
  ago 60 put --from - >/dev/null
ago 560 pause reports --reason warehouse >/dev/null
ago 100 recur put reports Report::Hourly --every 1h --jid hourly >/dev/null
ago 100 throttle set api 10 >/dev/null

# What the page would have counted in the last two hours, by the minute, up to now: mail falls behind, and from then on
# the work below goes on at the same rates.
awk -v now="$now" 'BEGIN {
  last = int(now / 60)
  split("mail images sync", queues, " ")
  split("48 40 1180", usual, " ")
  printf "{\"watched\":["
  for (m = 119; m >= 1; m--) printf "[%d,60],", last - m
  printf "[%d,%d]]", last, now % 60
  for (kind = 0; kind < 2; kind++) {
    printf (kind ? "},\"done\":{" : ",\"put\":{")
    for (q = 1; q <= 3; q++) {
      printf "%s\"%s\":[", (q > 1 ? "," : ""), queues[q]
      for (m = 59; m >= 0; m--) {
        rate = usual[q] * (1 + 0.25 * sin(m / (5 + q * 3)) + 0.05 * sin(m * 2.3 + q))
        if (q == 1) rate = usual[q] * (kind ? 0.8 : 1.35 - m * 0.008) + 3 * sin(m * 1.7)
        if (m == 0) rate *= now % 60 / 60
        printf "%s[%d,%.1f]", (m < 59 ? "," : ""), last - m, rate * (kind && q > 1 ? 0.97 + 0.04 * sin(m) : 1)
      }
      printf "]"
    }
  }
  printf "},\"failed\":{\"upload error\":["
  for (m = 119; m >= 1; m--) printf "%s[%d,%.1f]", (m < 119 ? "," : ""), last - m, 120 / (m + 12)
  printf "],\"timeout\":[[%d,6],[%d,5]]}}", last - 90, last - 10
}' >"$home/history.json"

# A job opens the queues again, and the label is that of a protected context.
cat >"$home/config.toml" <<CONFIG
[context.prod]
redis = "local:$home/night"
label = "PROD"
protected = true
CONFIG
chmod 600 "$home/config.toml"
unset QLESS_REDIS_URL
export QLESS_CONFIG=$home/config.toml QLESS_CONTEXT=prod
"$qless" web --listen 127.0.0.1:0 --allow-changes \
  --history "$home/history.json" 2>"$home/said" &
page=$!
until grep -qs listening "$home/said"; do sleep 0.1; done
url=$(sed 's/^listening on //' "$home/said")

# Somebody works meanwhile: how many jobs of a queue, by whom.
pass() {
  local jids
  jids=$("$qless" -q pop "$1" --worker "$2" --count "$3" -o jid)
  "$qless" -q complete $jids --worker "$2" >/dev/null
}
while sleep 0.7; do
  {
    for number in $(seq 20); do echo '{"queue":"sync","klass":"Api::Call"}'; done
    echo '{"queue":"mail","klass":"Mail::Welcome"}'
    echo '{"queue":"images","klass":"Photo::Upload"}'
  } | "$qless" -q put --from - --yes --confirm PROD >/dev/null
  pass sync mx-4-qless-1.0.0-x24-77-0a1b 20
  pass mail mx-1-qless-1.0.0-x8-220-3fa9 1
  pass images mx-2-qless-1.0.0-x4-188-c0de 1
done 2>/dev/null &
busy=$!

# Photographs a page: the file, width, height, path, and further flags.
photograph() {
  local file=$1 size=$2,$3 path=$4
  shift 4
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$home/browser" "$@" \
    --timeout=2000 --window-size="$size" --screenshot="$docs/$file" "$path" >/dev/null 2>&1
}
for _ in 1 2 3; do curl -s "$url" >/dev/null || sleep 1; sleep 2.1; done
photograph web.png 1200 1450 "$url"
photograph web-dark.png 1200 1450 "$url" --blink-settings=preferredColorScheme=0
photograph web-400.png 400 1500 "$url"
photograph web-job.png 1200 980 "${url}jobs/3bc931b4507b45e7aadda35293ed3126"

# The screen of `top`, as a page: the last whole frame that it draws.
TERM=xterm-256color timeout 9 script -qec "stty rows 24 cols 80; $qless top" \
  "$home/screen" < <(sleep 6; printf '\f'; sleep 2; printf 'q') >/dev/null 2>&1 || true
{
  printf '<!doctype html><meta charset="utf-8"><script>const drawn = "'
  base64 -w 0 "$home/screen"
  printf '"</script>'
  cat "$root/scripts/screen.html"
} >"$home/top.html"
photograph top.png 760 460 "file://$home/top.html"
# Few colors: a palette is a third of the size.
! command -v pngquant >/dev/null || pngquant --force --ext .png 64 "$docs"/{web,web-dark,web-400,web-job,top}.png
ls -l "$docs"/*.png
