//! `qless pause`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::words;

fn queues() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put images K --jid a").ok();
    redis.at(2).run("put images K --jid b").ok();
    redis.at(3).run("put mail K --jid c").ok();
    redis.at(10).run("pop images --worker w").ok();
    redis
}

#[test]
fn a_paused_queue_gives_no_jobs() {
    let redis = queues();
    redis.at(20).run("pause images").shows(expect![[r#""#]]);
    redis.at(21).run("pop images --worker w").exits(4);
    redis
        .at(22)
        .run("queues images --columns queue,waiting,running,state")
        .shows(expect![[r#"
            images	1	1	paused since 1970-01-01T00:00:20.000Z
        "#]]);
    redis
        .at(23)
        .run("pause images mail -o json")
        .shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "pause",
              "targets": [
                "images",
                "mail"
              ]
            }
        "#]]);
}

#[test]
fn a_pause_has_an_end_and_a_reason() {
    let redis = queues();
    redis
        .at(20)
        .run("pause images --for 2h --reason 'disk swap'")
        .ok();
    let doc = redis.at(30).run("queues images -o json").json();
    let queue = &doc["items"][0];
    assert_eq!(queue["paused"], true);
    assert_eq!(queue["paused_since"], "1970-01-01T00:00:20.000Z");
    assert_eq!(queue["paused_until"], "1970-01-01T02:00:20.000Z");
    assert_eq!(queue["paused_reason"], "disk swap");
    let doc = redis.at(7221).run("queues images -o json").json();
    assert_eq!(doc["items"][0]["paused"], false);
    assert_eq!(
        redis.at(7222).run("pop images --worker w2 -o jid").ok(),
        "b"
    );
    redis
        .at(8000)
        .run("pause images --until 1970-01-01T00:00:00Z")
        .shows(expect![[r#"
            --- stderr
            error: `--until` expects a time in the future
            --- exit 2
        "#]]);
    redis
        .at(8000)
        .run("pause images --until 03:00 --for 5m")
        .exits(2);
    redis.at(8000).run("pause images --until +5m").ok();
}

#[test]
fn running_jobs_are_stopped_if_requested() {
    let redis = queues();
    redis.at(20).run("pause images --stop-running").ok();
    redis
        .at(21)
        .run("jobs --queue images --columns jid,state,remaining")
        .shows(expect![[r#"
            a	stalled	5/5
            b	waiting	5/5
        "#]]);
    redis.at(22).run("complete a --worker w").exits(5);
}

#[test]
fn pausing_an_unknown_queue_is_not_found() {
    let redis = queues();
    redis.at(20).run("pause imges").shows(expect![[r#"
        --- stderr
        error: queue `imges` does not exist
        hint: did you mean `images`?
        --- exit 4
    "#]]);
    redis.at(20).run("pause images imges").exits(4);
    assert_eq!(redis.at(21).run("queues images --columns state").ok(), "");
    redis.at(20).run("pause later --force").ok();
    redis
        .at(21)
        .run("queues later --columns queue,state")
        .shows(expect![[r#"
            later	paused since 1970-01-01T00:00:20.000Z
        "#]]);
    redis.at(20).run("pause").shows(expect![[r#"
        --- stderr
        error: `QUEUE` is missing
        hint: usage: `qless pause <QUEUE>...`
        --- exit 2
    "#]]);
    redis.at(20).run("pause images --all").exits(2);
    redis.at(20).run("pause images -o jid").shows(expect![[r#"
        --- stderr
        error: `-o jid` is only for commands whose result is jobs
        --- exit 2
    "#]]);
}

#[test]
fn all_queues_are_paused_and_unpaused() {
    let redis = queues();
    redis.at(20).run("pause --all -o ndjson").shows(expect![[r#"
            {"kind":"done","v":1,"action":"pause","targets":["images","mail"]}
        "#]]);
    redis.at(21).run("pause --all -n").shows(expect![[r#"
        --- stderr
        would pause images, mail
    "#]]);
    redis
        .at(22)
        .run("queues --columns queue,state")
        .shows(expect![[r#"
            images	paused since 1970-01-01T00:00:20.000Z
            mail	paused since 1970-01-01T00:00:20.000Z
        "#]]);
    redis
        .at(23)
        .run("unpause --all -o ndjson")
        .shows(expect![[r#"
            {"kind":"done","v":1,"action":"unpause","targets":["images","mail"]}
        "#]]);
    assert_eq!(
        redis.at(24).run("pop images mail --count 2 -o jid").ok(),
        "b\nc"
    );
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
