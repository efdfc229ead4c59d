//! Why nothing was found.

use expect_test::expect;

use crate::support::config::ConfigHome;
use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::words;

#[test]
fn a_cut_jid_names_the_jobs_that_begin_so() {
    let redis = Redis::start();
    for jid in ["0b6e5c0d9a4f", "0b6e77", "we*rd-1", "werrd"] {
        redis.at(1).args(["put", "q", "K", "--jid", jid]).ok();
    }
    let hint = |jid: &str| {
        let ran = redis.at(2).args(["get", jid]).exits(4);
        let error = format!("error: job `{jid}` does not exist\n");
        ran.stderr().strip_prefix(&error).unwrap().to_owned()
    };
    assert_eq!(hint("0b6e5c0d…"), "hint: did you mean `0b6e5c0d9a4f`?\n");
    assert_eq!(
        hint("0b6e"),
        "hint: jobs begin so: `0b6e5c0d9a4f`, `0b6e77`\n"
    );
    assert_eq!(hint("we*r"), "hint: did you mean `we*rd-1`?\n");
    assert_eq!(hint("0b6"), "");
    for line in [
        "cancel 0b6e5c --yes",
        "log 0b6e5c x",
        "depends 0b6e5c",
        "explain 0b6e5c",
        "tag 0b6e5c",
    ] {
        let ran = redis.at(2).run(line).exits(4);
        ran.says("did you mean `0b6e5c0d9a4f`?");
    }
    for n in 0..9 {
        redis.ok(3, &format!("put q K --jid 0b6e-{n}"));
    }
    assert_eq!(hint("0b6e").matches('`').count(), 10);
    assert!(hint("0b6e").ends_with(", …\n"), "{}", hint("0b6e"));
}

#[test]
fn an_empty_list_and_an_unknown_name_hint_at_the_reason() {
    let redis = Redis::start();
    let shown = |line: &str| {
        let mut command = redis.at(100).command();
        command.args(words(line)).env("TERM", "xterm");
        let written = terminal::run(command, 200).stdout();
        written.replace(&redis.url(), "URL")
    };
    for line in ["queues", "jobs", "failed", "workers"] {
        let hint = "hint: nothing is stored under the prefix `ql:` in `URL`\n";
        assert!(shown(line).ends_with(hint), "{}", shown(line));
        let ran = redis.at(100).run(line).exits(0);
        assert_eq!(ran.stdout(), "");
    }
    // Names that are no jid, but mean something else.
    redis.session(expect![[r#"
        100 $ qless get a
        --- stderr
        error: job `a` does not exist
        hint: nothing is stored under the prefix `ql:` in `unix://DIR/s`
        --- exit 4
        100 $ qless pause mail
        --- stderr
        error: queue `mail` does not exist
        hint: nothing is stored under the prefix `ql:` in `unix://DIR/s`
        --- exit 4
        100 $ qless put mail K '{"user":{"id":42}}' --jid a --priority 5 &>/dev/null
        100 $ qless put mail K --jid b &>/dev/null
        100 $ qless --prefix x: put mail K --jid other &>/dev/null
        100 $ qless pop mail --count 1 --worker w -q &>/dev/null
        100 $ qless fail a --group 'timed out' --message no --worker w &>/dev/null
        100 $ qless get 'timed out'
        --- stderr
        error: job `timed out` does not exist
        hint: `timed out` is a failure group: `--group='timed out'`
        --- exit 4
        100 $ qless retry 'timed out'
        --- stderr
        error: job `timed out` does not exist
        hint: `timed out` is a failure group: `--group='timed out'`
        --- exit 4
        100 $ qless cancel mail
        --- stderr
        error: job `mail` does not exist
        hint: `mail` is a queue: `--queue=mail`
        --- exit 4
        100 $ qless get ql:j:a
        --- stderr
        error: job `ql:j:a` does not exist
        hint: that is a key; its jid is `a`
        --- exit 4
        100 $ qless --prefix x: get a
        --- stderr
        error: job `a` does not exist
        hint: it exists under another prefix: add `--prefix=ql:`
        --- exit 4
        100 $ qless get other
        --- stderr
        error: job `other` does not exist
        --- exit 4
    "#]]);
    assert!(!shown("jobs --where user.id=43").contains("hint"));
    // A value is no glob. What the hint says finds the job.
    assert!(!shown("jobs --where 'user.na*e=c1??' -o jid").contains("hint"));
    for (typed, pattern) in [
        ("customer=c1.?*", r"--where='customer=~^c1\...*$'"),
        ("/a.b=*", "--where='/a.b=~^.*$'"),
    ] {
        let hint =
            format!("hint: a value of `--where` is no glob: `{pattern}` is a regular expression\n");
        for line in [
            format!("jobs --where '{typed}'"),
            format!("cancel --where '{typed}' --yes"),
        ] {
            assert!(shown(&line).contains(&hint), "{}", shown(&line));
        }
    }
    let home = ConfigHome::new("[context.x]\nprefix = \"x:\"\n");
    home.with(redis.at(100)).session(expect![[r#"
        $ qless get other
        --- stderr
        error: job `other` does not exist
        hint: it exists under another prefix: add `--prefix=x:`
        --- exit 4
    "#]]);
}
