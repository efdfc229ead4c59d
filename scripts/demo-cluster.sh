#!/usr/bin/env bash
# Plays a night on a Redis Cluster with the given binary: one context of six prefixes on three nodes with a
# replica each, and one node is killed in the middle. Fails if a job is lost. Leaves nothing behind.
set -euo pipefail

prefixes='photos-0 photos-1 photos-2 photos-3 photos-4 photos-5'
jobs=2400

nodes=()
stop() {
  kill -9 "${nodes[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
}
. "$(dirname "$0")/stage.sh"

# Six ports in a row that nobody uses, with their bus ports 10,000 above. All of them are below those that
# systems give to outgoing connections.
is_free() {
  for at in 0 1 2 3 4 5; do
    for port in $(($1 + at)) $(($1 + at + 10000)); do
      if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return 1; fi
    done
  done
}
base=$((20000 + RANDOM % 250 * 10))
until is_free "$base"; do base=$((base + 10)); done

# Returns the port of the node that has a prefix.
owner() {
  slot=$(redis-cli -p $((base + alive)) cluster keyslot "{$1}:")
  redis-cli -p $((base + alive)) cluster nodes | awk -v slot="$slot" '
    $3 ~ /master/ && $3 !~ /fail/ {
      for (i = 9; i <= NF; i++) {
        if ($i ~ /^\[/) continue
        split($i, range, "-")
        if (range[1] <= slot + 0 && slot + 0 <= (range[2] == "" ? range[1] : range[2]) + 0) {
          split($2, place, /[:@]/)
          print place[2]
        }
      }
    }'
}

say 'Evening. A cluster of three nodes, each with a replica.'
alive=0
for at in 0 1 2 3 4 5; do
  mkdir "node$at"
  "$server" --port $((base + at)) --bind 127.0.0.1 --dir "node$at" --save '' --cluster-enabled yes \
    --cluster-node-timeout 1000 --repl-diskless-sync-delay 0 >"node$at/log" 2>&1 &
  nodes+=($!)
done
disown -a
for at in 0 1 2 3 4 5; do
  until redis-cli -p $((base + at)) ping >/dev/null 2>&1; do sleep 0.05; done
done
ports=$(for at in 0 1 2 3 4 5; do echo "127.0.0.1:$((base + at))"; done)
redis-cli --cluster create $ports --cluster-replicas 1 --cluster-yes >create
export QLESS_REDIS_URL=redis-cluster://127.0.0.1:$base,127.0.0.1:$((base + 1)),127.0.0.1:$((base + 2))
printf '%s$ export QLESS_REDIS_URL=%s%s\n' "$bold" "$QLESS_REDIS_URL" "$plain"

say 'The usual prefix has no node of its own, so nothing is written.'
show "qless put uploads Photo::Upload || echo exit \$?"

say 'A prefix with a hash tag is on one node. A context names six of them as one.'
list=$(printf '"{%s}:", ' $prefixes)
cat >qless.toml <<END
default = "photos"

[context.photos]
redis = "$QLESS_REDIS_URL"
prefixes = [${list%, }]
END
chmod 600 qless.toml
unset QLESS_REDIS_URL
export QLESS_CONFIG=$PWD/qless.toml
run 'cat qless.toml'
for at in $(seq "$jobs"); do
  printf '{"queue":"uploads","klass":"Photo::Upload","jid":"photo-%d"}\n' "$at"
done >photos
run 'qless put --from photos -q'
run 'qless queues'
for name in $prefixes; do
  printf '{%s}: is on node %s\n' "$name" "$(owner "$name")"
done

say 'A worker for each of them, and in the middle one node is killed.'
run 'qless -q work uploads --concurrency 2 --drain -- true &'
sleep 1
# Another node than the first, which the story asks.
killed=$(for name in $prefixes; do owner "$name"; done | grep -vx "$base" | head -n 1)
at=$((killed - base))
run "kill -9 ${nodes[at]}   # node $killed"
until [ "$(redis-cli -p "$base" cluster info | grep -c 'cluster_state:ok')" = 1 ] &&
  redis-cli -p "$base" cluster nodes | grep ":$killed@" | grep -q fail; do sleep 0.1; done
run 'wait'

say 'What the lost node had acknowledged and its replica did not have is put again; the rest exists.'
run 'qless put --from photos --if-absent -q'
run 'qless -q work uploads --drain -- true'
complete=$(qless jobs --state complete -o jid --limit "$jobs" | sort -u | wc -l | tr -d ' ')
check 'complete jobs of all prefixes' "$jobs" "$complete"
for name in $prefixes; do
  printf '{%s}: is on node %s\n' "$name" "$(owner "$name")"
done

say 'All namespaces are checked, key by key.'
show 'qless -q check --fail-on warn && echo "all are clean"'

printf '\n%s# %s jobs under %s prefixes, each complete. One node is gone. Morning.%s\n' \
  "$dim" "$jobs" "$(echo $prefixes | wc -w)" "$plain"
