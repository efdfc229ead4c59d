//! Queues that a write would create: named where they are seen, refused with `--existing-queue`.

use expect_test::expect;

use crate::support::keyboard;
use crate::support::redis::Redis;

/// A job in each of `mail` and `images`, and a failed one.
fn queues() -> Redis {
    let redis = Redis::start();
    redis.at(1).run("put mail K --jid a").ok();
    redis.at(2).run("put images K --jid b").ok();
    redis.at(3).run("put images K --jid f --priority 5").ok();
    redis.at(4).run("pop images --worker w").ok();
    redis
        .at(5)
        .run("fail f --group boom --message m --worker w")
        .ok();
    redis
}

#[test]
fn a_queue_in_the_position_of_the_class_is_named() {
    let redis = queues();
    redis.at(9).run("put SendMail mail {} -n --jid x").shows(expect![[r#"
            --- stderr
            note: queue `SendMail` is new
            hint: the queue comes before the class, and `mail` is a queue: did you mean `qless put mail SendMail`?
            would put a job in SendMail, waiting
        "#]]);
    let refused = redis
        .at(9)
        .run("put SendMail mail {} --existing-queue")
        .exits(4);
    assert!(
        refused
            .stderr()
            .contains("did you mean `qless put mail SendMail`?")
    );
    let plain = redis.at(9).run("put mail mail {} -n").exits(0);
    assert!(!plain.stderr().contains("hint"), "{}", plain.stderr());
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
        assert!(ran.stderr().contains(" is new"), "{line}: {}", ran.stderr());
        let known = line.replace("mial", "mail").replace("image", "images");
        let known = known.replace("elsewhere", "mail");
        let ran = redis.at(9).run(&format!("{known} --dry-run")).exits(0);
        assert!(
            !ran.stderr().contains(" is new"),
            "{line}: {}",
            ran.stderr()
        );
    }
    redis.at(9).run("put mial K --jid x -n").shows(expect![[r#"
            --- stderr
            note: queue `mial` is new; did you mean `mail`?
            would put a job in mial, waiting
        "#]]);
    redis
        .at(9)
        .run("retry --group boom --to image -n")
        .shows(expect![[r#"
            --- stderr
            Retry 1 failed job on unix://DIR/s

              images	failed	1	1970-01-01T00:00:05.000Z	1970-01-01T00:00:05.000Z

              all go to `image` with 5 fresh retries
              queue `image` is new; did you mean `images`?
            would retry 1
        "#]]);
    redis.at(9).run("pop mail --worker w").ok();
    redis
        .at(9)
        .run("complete a --worker w --next mial -n")
        .shows(expect![[r#"
            --- stderr
            note: queue `mial` is new; did you mean `mail`?
            would advance a to mial
        "#]]);
    let lines = "{\"queue\":\"mial\",\"klass\":\"K\"}\n{\"queue\":\"mail\",\"klass\":\"K\"}\n";
    redis
        .at(9)
        .input(lines)
        .run("put --from - -n")
        .shows(expect![[r#"
            --- stderr
            note: queue `mial` is new; did you mean `mail`?
            would put 2
        "#]]);
}

#[test]
fn existing_queue_refuses_a_new_one() {
    let redis = queues();
    redis.at(6).run("pop mail --worker w").ok();
    redis.at(7).run("recur put mail K --every 1h --jid r").ok();
    let before = redis.dump();
    redis
        .at(9)
        .run("put mial K --existing-queue")
        .shows(expect![[r#"
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
    redis.at(9).run("put mail K --existing-queue").ok();
    // A queue with nothing but a template or a pause exists.
    redis
        .at(9)
        .run("recur put nightly K --every 1h --jid n --offset 1h")
        .ok();
    redis.at(9).run("put nightly K --existing-queue").ok();
}

#[test]
fn a_new_queue_is_named_on_a_terminal_and_costs_no_call_elsewhere() {
    let redis = queues();
    let on_terminal = |line: &[&str]| {
        let mut command = redis.at(9).command();
        command.args(line);
        keyboard::answer(command, &[]).stdout()
    };
    let seen = on_terminal(&["put", "mial", "K", "--jid", "t"]);
    assert!(
        seen.starts_with("note: queue `mial` is new; did you mean `mail`?\n"),
        "{seen}"
    );
    let seen = on_terminal(&["put", "mial", "K", "--jid", "u"]);
    assert!(!seen.contains("is new"), "{seen}");
    let seen = on_terminal(&["put", "mila", "K", "--quiet"]);
    assert!(!seen.contains("is new"), "{seen}");
    let ran = redis.at(9).run("put mali K -v").exits(0);
    assert!(!ran.stderr().contains("look.queues"), "{}", ran.stderr());
    assert!(!ran.stderr().contains("is new"), "{}", ran.stderr());
}
