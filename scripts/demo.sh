#!/usr/bin/env bash
# Plays a night of an operator with the given binary on a private Redis in a temporary directory,
# and fails if a result differs from the story. Leaves nothing behind.
set -euo pipefail

photos=200
videos=100
all=$((photos + videos))

stop() {
  "$qless" local stop --redis "local:$home/night" >"$home/end" 2>&1 || cat "$home/end" >&2
}
. "$(dirname "$0")/stage.sh"

# The jobs of a queue: waiting running stalled scheduled depends.
counts() {
  qless -q queues "$1" --columns waiting,running,stalled,scheduled,depends | tr '\t' ' '
}

# The failure groups: name jobs.
groups() {
  qless -q failed --columns group,jobs | tr '\t' ' '
}

say 'Evening. A private Redis starts with the first command; two queues fill up.'
run 'export QLESS_REDIS_URL=local:$PWD/night'
run "for i in \$(seq $photos); do qless put uploads Photo::Upload \"{\\\"photo\\\":\$i}\" --tag night; done >jids"
run "for i in \$(seq $videos); do qless put videos Video::Upload \"{\\\"video\\\":\$i}\" --tag night; done >>jids"
show "qless queues$table"
check 'jids printed' "$all" "$(sort -u jids | wc -l | tr -d ' ')"
check 'photos put' "$photos 0 0 0 0" "$(counts uploads)"
check 'videos put' "$videos 0 0 0 0" "$(counts videos)"

say 'A worker takes them one by one, and puts each into the bucket. Tonight there is no bucket.'
show 'worker() {
  while jid=$(qless pop "$@" -o jid); do
    if [ -d bucket ]; then
      qless get "$jid" --data >"bucket/$jid" && qless complete "$jid"
    else
      qless fail "$jid" --group "upload error" --message "PUT /bucket: 503 Slow Down"
    fi
  done
}'
run 'worker uploads videos >log 2>&1'
show "qless queues$table"
check 'uploads after the failure' '0 0 0 0 0' "$(counts uploads)"
check 'videos after the failure' '0 0 0 0 0' "$(counts videos)"

say 'The operator inspects them: one failure group, some of its jobs, one in full.'
show "qless failed$table"
show "qless jobs --group 'upload error' --limit 3 --columns jid,klass,queue,detail$table"
show "qless get \$(head -n 1 jids)$table"
check 'jobs failed' "upload error $all" "$(groups)"

say 'The bucket is back. Each job goes back into its own queue.'
run 'mkdir bucket'
show "qless failed --group 'upload error' --retry-all --yes"
show "qless queues$table"
check 'groups after the retry' '' "$(groups)"
check 'photos retried' "$photos 0 0 0 0" "$(counts uploads)"
check 'videos retried' "$videos 0 0 0 0" "$(counts videos)"

say 'The same worker, once more.'
run 'worker uploads videos >log 2>&1'
show "qless queues$table"
show 'ls bucket | wc -l'
show "qless stats uploads$table"
check 'uploads in the end' '0 0 0 0 0' "$(counts uploads)"
check 'videos in the end' '0 0 0 0 0' "$(counts videos)"
check 'groups in the end' '' "$(groups)"
check 'the bucket' "$(sort jids)" "$(ls bucket)"
check 'jobs complete' "$all" "$(qless jobs --state complete -o jid | wc -l | tr -d ' ')"

say 'Noon. Two more photos wait, and a cleanup by hand deletes the wrong key: from now on every pop of
# a client with the reference core fails in this queue.'
run "for i in 1 2; do qless put uploads Photo::Upload --tag noon; done >noon"
run 'redis-cli -s night/redis.sock DEL ql:j:$(head -n 1 noon)'
show "qless check$table || echo exit \$?"
check 'what a check says' 7 "$(qless -q check >/dev/null && echo 0 || echo $?)"

say 'The plan of the repair, as a dry run. Then for real; the undo file can revert it.'
show 'qless check --repair --dry-run'
show "qless check --repair --undo undo.ndjson --yes$table"
show "qless check$table && echo clean"
check 'what a check says after the repair' 0 "$(qless -q check >/dev/null && echo 0 || echo $?)"
check 'the photo that was not deleted' "$(tail -n 1 noon)" "$(qless pop uploads -o jid)"

run 'qless local stop'
check 'the server' $'running\tno' "$(qless local status | head -n 1)"
printf '\n%s# %s%s\n' "$dim" "$all jobs put, failed, retried and completed, each once. Morning." "$plain"
