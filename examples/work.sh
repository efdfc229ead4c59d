#!/bin/sh
# A worker in shell: qless work thumbs --persistent -- sh examples/work.sh
# jq reads the lines and writes two for each job: the jid and the data, both as JSON. A job that is
# cancelled while it runs is ended by SIGTERM: qless starts this script again.
jq --unbuffered -c 'select(.cancel | not) | .jid, .data' |
while read -r jid && read -r data; do
    case $data in
        *'"fail":true'*) answer='"result":"fail","group":"picture","message":"the file is broken"' ;;
        *'"retry":true'*) answer='"result":"retry","delay":"1s"' ;;
        *) answer='"result":"complete","data":{"by":"sh","input":'$data'}' ;;
    esac
    printf '{"jid":%s,%s}\n' "$jid" "$answer" >&3
done
