//! Queues that a write would create: named where they are seen, refused with `--existing-queue`.

use expect_test::expect;

use crate::support::redis::Redis;

/// A job in each of `mail` and `images`, and a failed one.
fn queues() -> Redis {
    let redis = Redis::start();
    redis.ok(1, "put mail K --jid a");
    redis.ok(2, "put images K --jid b");
    redis.ok(3, "put images K --jid f --priority 5");
    redis.ok(4, "pop images --worker w");
    redis.ok(5, "fail f --group boom --message m --worker w");
    redis
}

#[test]
fn a_queue_in_the_position_of_the_class_is_named() {
    queues().session(expect![[r#"
        9 $ qless put SendMail mail {} -n --jid x
        --- stderr
        note: queue `SendMail` is new
        hint: the queue comes before the class, and `mail` is a queue: did you mean `qless put mail SendMail`?
        would put a job in SendMail, waiting
        9 $ qless put SendMail mail {} --existing-queue
        --- stderr
        error: queue `SendMail` does not exist
        hint: the queue comes before the class, and `mail` is a queue: did you mean `qless put mail SendMail`?
        --- exit 4
        9 $ qless put mail mail {} -n
        --- stderr
        would put a job in mail, waiting
    "#]]);
}

#[test]
fn plans_name_a_new_queue_with_the_nearest_known_one() {
    let redis = queues();
    for line in [
        "put mial K",
        "put elsewhere K",
        "move a b --to mial",
        "move b --to mial",
        "retry --group boom --to image",
        "failed --group boom --retry-all --to image",
        "recur put mial K --every 1h --jid r",
    ] {
        let ran = redis.at(9).run(&format!("{line} --dry-run")).exits(0);
        ran.says(" is new");
        let known = line.replace("mial", "mail").replace("image", "images");
        let known = known.replace("elsewhere", "mail");
        let ran = redis.at(9).run(&format!("{known} --dry-run")).exits(0);
        let said = ran.stderr();
        assert!(!said.contains(" is new"), "{line}: {said}");
    }
    redis.session(expect![[r#"
        9 $ qless put mial K --jid x -n
        --- stderr
        note: queue `mial` is new; did you mean `mail`?
        would put a job in mial, waiting
        9 $ qless retry --group boom --to image -n
        --- stderr
        Retry 1 failed job on unix://DIR/s

          images	failed	1	1970-01-01T00:00:05.000Z	1970-01-01T00:00:05.000Z

          all go to `image` with 5 fresh retries
          queue `image` is new; did you mean `images`?
        would retry 1
        9 $ qless pop mail --worker w &>/dev/null
        9 $ qless complete a --worker w --next mial -n
        --- stderr
        note: queue `mial` is new; did you mean `mail`?
        would advance a to mial
        9 $ printf '{"queue":"mial","klass":"K"}\n{"queue":"mail","klass":"K"}\n' | qless put --from - -n
        --- stderr
        note: queue `mial` is new; did you mean `mail`?
        would put 2
    "#]]);
}

#[test]
fn plans_name_a_paused_queue_with_the_command_that_resumes_it() {
    let redis = queues();
    redis.ok(6, "pause mail --yes");
    redis.session(expect![[r#"
        9 $ qless put mail K --jid x -n
        --- stderr
        note: queue `mail` is paused; its jobs wait for `qless unpause mail`
        would put a job in mail, waiting
        9 $ qless move b --to mail -n
        --- stderr
        note: queue `mail` is paused; its jobs wait for `qless unpause mail`
        would move b
        9 $ qless retry --group boom --to mail -n
        --- stderr
        Retry 1 failed job on unix://DIR/s

          images	failed	1	1970-01-01T00:00:05.000Z	1970-01-01T00:00:05.000Z

          all go to `mail` with 5 fresh retries
          queue `mail` is paused; its jobs wait for `qless unpause mail`
        would retry 1
    "#]]);
    // Nobody reads a note of a script.
    let ran = redis.at(9).run("put mail K --existing-queue --jid x -v");
    assert!(!ran.stderr().contains("paused"), "{}", ran.stderr());
}

#[test]
fn options_of_a_queue_name_a_similar_one_if_theirs_is_new() {
    let redis = queues();
    redis.session(expect![[r#"
        9 $ qless config set mial-max-concurrency 3 mail-heartbeat 30 heartbeat 40 -n
        --- stderr
        note: queue `mial` is new; did you mean `mail`?
        would set mial-max-concurrency to 3, mail-heartbeat to 30, heartbeat to 40
        9 $ qless config set elsewhere-heartbeat 30 -n
        --- stderr
        would set elsewhere-heartbeat to 30
        9 $ qless defaults mial '{"retries":3}' -n
        {"retries":3}
        --- stderr
        note: queue `mial` is new; did you mean `mail`?
        would set the defaults of queue mial to {"retries":3}
        9 $ qless defaults mail '{"retries":3}' -n
        {"retries":3}
        --- stderr
        would set the defaults of queue mail to {"retries":3}
    "#]]);
    let ran = redis.at(9).run("config set mial-heartbeat 9 -v").exits(0);
    assert!(!ran.stderr().contains("look.queues"), "{}", ran.stderr());
}

#[test]
fn existing_queue_refuses_a_new_one() {
    let redis = queues();
    redis.ok(6, "pop mail --worker w");
    redis.ok(7, "recur put mail K --every 1h --jid r");
    let before = redis.dump();
    redis.session(expect![[r#"
        9 $ qless put mial K --existing-queue
        --- stderr
        error: queue `mial` does not exist
        hint: did you mean `mail`?
        --- exit 4
    "#]]);
    for line in [
        "move b --to mial",
        "move b f --to mial",
        "retry f --to mial",
        "retry --group boom --to mial --yes",
        "failed --group boom --retry-all --to mial --yes",
        "complete a --worker w --next mial",
        "recur put mial K --every 1h",
        "recur set r --queue mial",
        "put mial --from -",
        "unfail boom --to mial --yes",
    ] {
        let input = "{\"klass\":\"K\"}\n";
        let run = redis.at(9).input(input);
        run.run(&format!("{line} --existing-queue")).exits(4);
    }
    assert_eq!(redis.dump(), before);
    redis.ok(9, "put mail K --existing-queue");
    // A queue with nothing but a template or a pause exists.
    redis.ok(9, "recur put nightly K --every 1h --jid n --offset 1h");
    redis.ok(9, "put nightly K --existing-queue");
}

#[test]
fn a_new_queue_is_named_on_a_terminal_and_costs_no_call_elsewhere() {
    let redis = queues();
    let seen = redis.on_terminal(9.0, "put mial K --jid t");
    assert!(
        seen.starts_with("note: queue `mial` is new; did you mean `mail`?\n"),
        "{seen}"
    );
    for line in ["put mial K --jid u", "put mila K --quiet"] {
        let seen = redis.on_terminal(9.0, line);
        assert!(!seen.contains("is new"), "{seen}");
    }
    let said = redis.at(9).run("put mali K -v").exits(0).stderr();
    assert!(!said.contains("look.queues"), "{said}");
    assert!(!said.contains("is new"), "{said}");
}
