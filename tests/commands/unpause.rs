//! `qless unpause`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;

#[test]
fn an_unpaused_queue_gives_jobs_again() {
    let redis = Redis::start();
    redis.ok(1, "put images K --jid a");
    redis.ok(2, "pause images");
    redis.session(expect![[r#"
        3 $ qless unpause images -n
        --- stderr
        would unpause images
        3 $ qless pop images &>/dev/null
        --- exit 4
        4 $ qless unpause images -o json | jq -c
        {"kind":"done","v":1,"action":"unpause","targets":["images"]}
        5 $ qless unpause images
    "#]]);
    assert_eq!(redis.ok(6, "pop images -o jid"), "a");
}

#[test]
fn resume_and_unpause_mean_the_same_for_queues_and_recurring_jobs() {
    let redis = Redis::start();
    // A queue may be called as a command is.
    redis.ok(1, "put pause K --jid a");
    redis.ok(2, "pause pause");
    redis.at(3).run("resume pause -n").shows(expect![[r#"
        --- stderr
        would unpause pause
    "#]]);
    redis.ok(3, "resume pause");
    assert_eq!(redis.ok(4, "pop pause -o jid"), "a");
    redis.ok(5, "recur put q K --every 1h --jid r");
    redis.ok(6, "recur pause r");
    redis.ok(7, "recur unpause r");
    assert!(!redis.ok(8, "recur ls").contains("paused"));
    let page = |line: &str| redis.ok(1, line);
    assert_eq!(page("help resume"), page("help unpause"));
    assert_eq!(page("resume --help"), page("help unpause"));
    assert_eq!(page("man recur unpause"), page("man recur resume"));
    assert_eq!(page("man resume"), page("man unpause"));
    redis.at(9).run("--read-only resume pause").exits(9);
}

#[test]
fn list_and_ls_mean_the_same() {
    let redis = Redis::start();
    redis.ok(1, "put q K --tag a --tag b");
    redis.ok(1, "throttle set api 3");
    redis.ok(1, r#"defaults q '{"priority":5}'"#);
    redis.ok(1, "recur put q K --every 1h --jid r");
    for of in ["throttle", "recur", "config", "tag", "defaults", "morgue q"] {
        let list = redis.ok(2, &format!("{of} list"));
        assert_eq!(list, redis.ok(2, &format!("{of} ls")), "{of}");
        assert_eq!(list.is_empty(), of == "morgue q", "{of}");
    }
    assert_eq!(redis.ok(2, "tag ls"), redis.ok(2, "tag"));
    redis.at(2).run("defaults ls").shows(expect![[r#"
        q	{"priority":5}
    "#]]);
    redis.ok(2, "context ls --config /dev/null");
}

#[test]
fn unpausing_an_unknown_queue_is_not_found() {
    let redis = Redis::start();
    redis.ok(1, "put images K");
    redis.at(2).run("unpause imags").shows(expect![[r#"
        --- stderr
        error: queue `imags` does not exist
        hint: did you mean `images`?
        --- exit 4
    "#]]);
    redis.at(2).run("unpause").shows(expect![[r#"
        --- stderr
        error: `QUEUE` is missing
        hint: usage: `qless unpause <QUEUE>...`
        --- exit 2
    "#]]);
    redis.at(2).run("unpause --all").shows(expect![[r#""#]]);
}

#[test]
fn a_queue_that_was_not_paused_is_not_said_to_be_unpaused() {
    let redis = Redis::start();
    redis.ok(1, "put images K");
    redis.ok(1, "put mail K");
    let ann = redis.at(2).env("USER", "ann");
    ann.run("pause mail --reason 'disk swap'").ok();
    let mut command = redis.at(62).command();
    command.args(["unpause", "images", "mail"]);
    let printed = terminal::run(command, 100).stdout();
    let host = qless::internals::host_name();
    assert_eq!(
        printed,
        format!("images is not paused\nunpaused mail (was paused 1m (disk swap) by ann@{host})\n")
    );
    let done = redis.json(64, "unpause images -o json");
    assert_eq!(done["targets"], serde_json::json!([]));
}
