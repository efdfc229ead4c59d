//! `qless log`

use expect_test::expect;

use crate::support::redis::Redis;

#[test]
fn log_appends_an_entry_to_the_history() {
    Redis::start().session(expect![[r#"
        1 $ qless put mail K --jid a &>/dev/null
        2 $ qless log a 'disk swapped' --data '{"rack":9007199254740993,"l":[]}'
        3 $ qless log a again -o json | jq -c
        {"kind":"done","v":1,"action":"log","targets":["a"]}
        4 $ qless get a -o json | jq -c
        {"kind":"job","v":1,"jid":"a","klass":"K","queue":"mail","state":"waiting","state_stored":"waiting","priority":0,"retries":5,"remaining":5,"worker":null,"expires":null,"tracked":false,"tags":[],"data":{},"failure":null,"dependencies":[],"dependents":[],"spawned_from":null,"scheduled_for":null,"since":"1970-01-01T00:00:01.000Z","history":[{"what":"put","when":"1970-01-01T00:00:01.000Z","queue":"mail"},{"what":"disk swapped","when":"1970-01-01T00:00:02.000Z","rack":9007199254740993,"l":[]},{"what":"again","when":"1970-01-01T00:00:03.000Z"}]}
    "#]]);
}

#[test]
fn entries_reserved_for_the_core_are_refused() {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    redis.session(expect![[r#"
        2 $ qless log a popped
        --- stderr
        error: `MESSAGE` cannot be `popped`: the core writes that itself
        --- exit 2
        2 $ qless log a throttled &>/dev/null
        --- exit 2
        2 $ qless log a ''
        --- stderr
        error: `MESSAGE` is empty
        --- exit 2
        2 $ qless log a x --data '[1]'
        --- stderr
        error: `--data` expects a JSON object
        hint: name the value: `--data '{"value":7}'`
        --- exit 2
        2 $ qless log a x --data '{' &>/dev/null
        --- exit 2
        2 $ qless log a note --data '{"x":1,"when":5}'
        --- stderr
        error: `--data` cannot have a field `when`: the entry has one of its own
        --- exit 2
        2 $ qless log nope x
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        2 $ qless log a x -n
        --- stderr
        would append to the history of a
    "#]]);
}

#[test]
fn a_note_does_not_change_since_when_a_job_is_in_its_state() {
    let redis = Redis::start();
    for jid in ["fails", "ends", "runs"] {
        redis.ok(1, &format!("put mail K --jid {jid}"));
    }
    redis.ok(2, "pop mail --count 3 --worker w");
    for (now, line) in [
        (3, "fail fails --worker w --group g --message m"),
        (3, "complete ends --worker w"),
        (4, "put mail K --jid waits"),
        (4, "put mail K --jid later --delay 1h"),
        (4, "put mail K --jid blocked --depends runs"),
    ] {
        redis.ok(now, line);
    }
    let states = "--state running,failed,scheduled,depends,complete,waiting";
    let old = |now: u32| {
        let line = format!("jobs {states} --older-than 30s -o jid");
        let mut jids: Vec<String> = redis.ok(now, &line).lines().map(str::to_owned).collect();
        jids.sort();
        jids
    };
    let all = old(40);
    assert_eq!(all, ["blocked", "ends", "fails", "later", "runs", "waits"]);
    for jid in &all {
        redis.ok(41, &format!("log {jid} note"));
        redis.ok(41, &format!("tag {jid} --add x"));
    }
    assert_eq!(old(42), all);
}
