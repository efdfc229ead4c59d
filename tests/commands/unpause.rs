//! `qless unpause`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::text::Shows;

#[test]
fn an_unpaused_queue_gives_jobs_again() {
    Redis::start().session(expect![[r#"
        1 $ qless put images K --jid a &>/dev/null
        2 $ qless pause images
        3 $ qless unpause images -n
        --- stderr
        would unpause images
        3 $ qless pop images &>/dev/null
        --- exit 4
        4 $ qless unpause images -o json | jq -c
        {"kind":"done","v":1,"action":"unpause","targets":["images"]}
        5 $ qless unpause images
        6 $ qless pop images -o jid
        a
        7 $ qless unpause imags
        --- stderr
        error: queue `imags` does not exist
        hint: did you mean `images`?
        --- exit 4
        7 $ qless unpause
        --- stderr
        error: `QUEUE` is missing
        hint: usage: `qless unpause <QUEUE>...`
        --- exit 2
        7 $ qless unpause --all
    "#]]);
}

#[test]
fn resume_and_unpause_mean_the_same_for_queues_and_recurring_jobs() {
    let redis = Redis::start();
    // A queue may be called as a command is.
    redis.session(expect![[r#"
        1 $ qless put pause K --jid a &>/dev/null
        2 $ qless pause pause
        3 $ qless resume pause -n
        --- stderr
        would unpause pause
        3 $ qless resume pause
        4 $ qless pop pause -o jid
        a
        5 $ qless recur put q K --every 1h --jid r &>/dev/null
        6 $ qless recur pause r
        7 $ qless recur unpause r &>/dev/null
        8 $ qless recur ls
        r	q	K	1h	1970-01-01T00:00:05.000Z	0	all	1
        9 $ qless --read-only resume pause &>/dev/null
        --- exit 9
    "#]]);
    let page = |line: &str| redis.ok(1, line);
    assert_eq!(page("help resume"), page("help unpause"));
    assert_eq!(page("resume --help"), page("help unpause"));
    assert_eq!(page("man recur unpause"), page("man recur resume"));
    assert_eq!(page("man resume"), page("man unpause"));
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
    assert_eq!(redis.ok(2, "defaults ls"), "q\t{\"priority\":5}");
    redis.ok(2, "context ls --config /dev/null");
}

#[test]
fn a_queue_that_was_not_paused_is_not_said_to_be_unpaused() {
    let redis = Redis::start();
    redis.ok(1, "put images K");
    redis.ok(1, "put mail K");
    let ann = redis.at(2).env("USER", "ann");
    ann.run("pause mail --reason 'disk swap'").ok();
    let host = qless::internals::host_name();
    let printed = redis.on_terminal(62.0, "unpause images mail");
    printed.replace(&host, "HOST").shows(expect![[r#"
        images is not paused
        unpaused mail (was paused 1m (disk swap) by ann@HOST)
    "#]]);
    redis.session(expect![[r#"
        64 $ qless unpause images -o json | jq -c .targets
        []
    "#]]);
    redis.ok(65, "pause mail --for 2s");
    let printed = redis.on_terminal(70.0, "unpause mail");
    printed.shows(expect![[r#"
        unpaused mail (its pause had ended)
    "#]]);
}
