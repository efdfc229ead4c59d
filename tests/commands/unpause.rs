//! `qless unpause`

use expect_test::expect;

use crate::support::redis::Redis;
use crate::support::terminal;

#[test]
fn an_unpaused_queue_gives_jobs_again() {
    let redis = Redis::start();
    redis.at(1).run("put images K --jid a").ok();
    redis.at(2).run("pause images").ok();
    redis.at(3).run("unpause images -n").shows(expect![[r#"
        --- stderr
        would unpause images
    "#]]);
    redis.at(3).run("pop images").exits(4);
    redis.at(4).run("unpause images -o json").shows(expect![[r#"
            {
              "kind": "done",
              "v": 1,
              "action": "unpause",
              "targets": [
                "images"
              ]
            }
        "#]]);
    redis.at(5).run("unpause images").shows(expect![[r#""#]]);
    assert_eq!(redis.at(6).run("pop images -o jid").ok(), "a");
}

#[test]
fn resume_and_unpause_mean_the_same_for_queues_and_recurring_jobs() {
    let redis = Redis::start();
    // A queue may be called as a command is.
    redis.at(1).run("put pause K --jid a").ok();
    redis.at(2).run("pause pause").ok();
    redis.at(3).run("resume pause -n").shows(expect![[r#"
        --- stderr
        would unpause pause
    "#]]);
    redis.at(3).run("resume pause").ok();
    assert_eq!(redis.at(4).run("pop pause -o jid").ok(), "a");
    redis.at(5).run("recur put q K --every 1h --jid r").ok();
    redis.at(6).run("recur pause r").ok();
    redis.at(7).run("recur unpause r").ok();
    assert!(!redis.at(8).run("recur ls").ok().contains("paused"));
    let page = |line: &str| redis.at(1).run(line).ok();
    assert_eq!(page("help resume"), page("help unpause"));
    assert_eq!(page("resume --help"), page("help unpause"));
    assert_eq!(page("man recur unpause"), page("man recur resume"));
    assert_eq!(page("man resume"), page("man unpause"));
    redis.at(9).run("--read-only resume pause").exits(9);
}

#[test]
fn list_and_ls_mean_the_same() {
    let redis = Redis::start();
    redis.at(1).run("put q K --tag a --tag b").ok();
    redis.at(1).run("throttle set api 3").ok();
    redis.at(1).run(r#"defaults q '{"priority":5}'"#).ok();
    redis.at(1).run("recur put q K --every 1h --jid r").ok();
    for of in ["throttle", "recur", "config", "tag", "defaults", "morgue q"] {
        let list = redis.at(2).run(&format!("{of} list")).ok();
        assert_eq!(list, redis.at(2).run(&format!("{of} ls")).ok(), "{of}");
        assert_eq!(list.is_empty(), of == "morgue q", "{of}");
    }
    assert_eq!(redis.at(2).run("tag ls").ok(), redis.at(2).run("tag").ok());
    redis.at(2).run("defaults ls").shows(expect![[r#"
        q	{"priority":5}
    "#]]);
    redis.at(2).run("context ls --config /dev/null").ok();
}

#[test]
fn unpausing_an_unknown_queue_is_not_found() {
    let redis = Redis::start();
    redis.at(1).run("put images K").ok();
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
    redis.at(1).run("put images K").ok();
    redis.at(1).run("put mail K").ok();
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
    let done = redis.at(64).run("unpause images -o json").json();
    assert_eq!(done["targets"], serde_json::json!([]));
}
