//! `qless pause`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::words;

fn queues() -> Redis {
    let redis = Redis::start();
    redis.ok(1, "put images K --jid a");
    redis.ok(2, "put images K --jid b");
    redis.ok(3, "put mail K --jid c");
    redis.ok(10, "pop images --worker w");
    redis
}

#[test]
fn a_paused_queue_gives_no_jobs() {
    let redis = queues();
    redis.session(expect![[r#"
        20 $ qless pause images
        21 $ qless pop images --worker w &>/dev/null
        --- exit 4
        22 $ qless queues images --columns queue,waiting,running,state
        images	1	1	paused since 1970-01-01T00:00:20.000Z
        23 $ qless pause images mail -o json | jq -c
        {"kind":"done","v":1,"action":"pause","targets":["images","mail"]}
    "#]]);
}

#[test]
fn a_pause_has_an_end_and_a_reason() {
    queues().session(expect![[r#"
        20 $ qless pause images --for 2h --reason 'disk swap'
        30 $ qless queues images --columns state
        paused since 1970-01-01T00:00:20.000Z, ends 1970-01-01T02:00:20.000Z (disk swap)
        30 $ qless queues images -o json | jq -c '[.items[0].paused, .items[0].paused_since, .items[0].paused_until, .items[0].paused_reason]'
        [true,"1970-01-01T00:00:20.000Z","1970-01-01T02:00:20.000Z","disk swap"]
        7221 $ qless queues images -o json | jq -c .items[0].paused
        false
        7222 $ qless pop images --worker w2 -o jid
        b
        8000 $ qless pause images --until 1970-01-01T00:00:00Z
        --- stderr
        error: `--until` expects a time in the future
        --- exit 2
        8000 $ qless pause images --until 03:00 --for 5m &>/dev/null
        --- exit 2
        8000 $ qless pause images --until +5m
    "#]]);
}

#[test]
fn running_jobs_are_stopped_if_requested() {
    queues().session(expect![[r#"
        20 $ qless pause images --stop-running
        21 $ qless jobs --queue images --columns jid,state,remaining
        a	stalled	5/5
        b	waiting	5/5
        22 $ qless complete a --worker w &>/dev/null
        --- exit 5
    "#]]);
}

#[test]
fn pausing_an_unknown_queue_is_not_found() {
    let redis = queues();
    redis.session(expect![[r#"
        20 $ qless pause imges
        --- stderr
        error: queue `imges` does not exist
        hint: did you mean `images`?
        --- exit 4
        20 $ qless pause images imges &>/dev/null
        --- exit 4
        21 $ qless queues images --columns state

        20 $ qless pause later --force &>/dev/null
        21 $ qless queues later --columns queue,state
        later	paused since 1970-01-01T00:00:20.000Z
        20 $ qless pause
        --- stderr
        error: `QUEUE` is missing
        hint: usage: `qless pause <QUEUE>...`
        --- exit 2
        20 $ qless pause images --all &>/dev/null
        --- exit 2
        20 $ qless pause images -o jid
        --- stderr
        error: `-o jid` is only for commands whose result is jobs
        --- exit 2
    "#]]);
}

#[test]
fn all_queues_are_paused_and_unpaused() {
    queues().session(expect![[r#"
        20 $ qless pause --all -o ndjson
        {"kind":"done","v":1,"action":"pause","targets":["images","mail"]}
        21 $ qless pause --all -n
        --- stderr
        would pause images, mail
        22 $ qless queues --columns queue,state
        images	paused since 1970-01-01T00:00:20.000Z
        mail	paused since 1970-01-01T00:00:20.000Z
        23 $ qless unpause --all -o ndjson
        {"kind":"done","v":1,"action":"unpause","targets":["images","mail"]}
        24 $ qless pop images mail --count 2 -o jid
        b
        c
    "#]]);
}

#[test]
fn times_on_a_terminal_name_their_zone() {
    let redis = queues();
    let shown = |line: &str| {
        let qless = redis
            .at(90_000)
            .env("TERM", "xterm")
            .env("TZ", "Europe/Berlin");
        let mut command = qless.command();
        command.args(words(line));
        terminal::run(command, 100).stdout()
    };
    assert_eq!(
        shown("pause mail --until 03:00"),
        "paused mail until 1970-01-02 02:00:00 UTC\n"
    );
    let runs = "next runs: 1970-01-02 02:00:00, 1970-01-03 02:00:00, 1970-01-04 02:00:00 UTC\n";
    let text = shown("recur put mail K --jid nightly --at 03:00");
    assert!(text.contains(runs), "{text}");
}

#[test]
fn a_pause_names_each_pause_that_it_cuts_short_or_explains_otherwise() {
    let redis = queues();
    let user = format!("ann@{}", qless::internals::host_name());
    let ann = redis.qless().env("USER", "ann").hide(&user, "ANN");
    ann.session(expect![[r#"
        20 $ qless pause images --reason 'disk swap'
        21 $ qless pause mail --for 1h
        30 $ qless pause images mail --for 10m --reason deploy --dry-run
        --- stderr
        note: replaces the pause of `images`: paused since 1970-01-01T00:00:20.000Z (disk swap) by ANN
        note: replaces the pause of `mail`: paused since 1970-01-01T00:00:21.000Z, ends 1970-01-01T01:00:21.000Z by ANN
        would pause images, mail until 1970-01-01T00:10:30.000Z
        30 $ qless pause images mail --for 10m --reason deploy
        --- stderr
        note: replaces the pause of `images`: paused since 1970-01-01T00:00:20.000Z (disk swap) by ANN
        note: replaces the pause of `mail`: paused since 1970-01-01T00:00:21.000Z, ends 1970-01-01T01:00:21.000Z by ANN
        40 $ qless pause images mail --for 10m --reason deploy
    "#]]);
}

#[test]
fn the_end_of_a_pause_names_the_runs_that_its_recurring_jobs_owe() {
    let redis = Redis::start();
    redis.ok(100, "recur put mail Digest --every 1m --jid digest");
    redis.ok(100, "recur put mail Other --every 1m --jid other");
    redis.ok(100, "put images K");
    redis.ok(110, "pause mail images");
    redis.ok(120, "recur pause other");
    redis.session(expect![[r#"
        760 $ qless unpause mail images --dry-run
        --- stderr
        note: 12 runs owed by recurring jobs: the next pops put them
        would unpause mail, images
        760 $ qless unpause mail images
        --- stderr
        note: 12 runs owed by recurring jobs: the next pops put them
    "#]]);
    let popped = redis.ok(760, "pop mail --count 100 -o jid");
    assert_eq!(popped.lines().count(), 12);
}

#[test]
fn a_duration_as_a_queue_is_answered_with_the_flag() {
    let redis = queues();
    let before = redis.dump();
    redis.session(expect![[r#"
        20 $ qless pause mail 2h
        --- stderr
        error: queue `2h` does not exist
        hint: add `--for=2h` instead to end the pause after that time
        --- exit 4
        20 $ qless pause mail 2h --for 1h
        --- stderr
        error: queue `2h` does not exist
        --- exit 4
        20 $ qless pause mial 2h
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
    assert!(redis.dump() == before);
    redis.ok(21, "put 2h K");
    redis.ok(22, "pause mail 2h");
}
