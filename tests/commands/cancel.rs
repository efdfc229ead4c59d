//! `qless cancel`

use expect_test::expect;

use crate::core::limits::many_dependents;
use crate::support::files::write_private;
use crate::support::jobs::{put_call, put_chain};
use crate::support::keyboard;
use crate::support::redis::Redis;
use crate::support::text::pick;
use crate::support::work::until;

/// `c` depends on `b`, which depends on `a`; `x` waits alone, `done` is complete.
fn chained() -> Redis {
    let redis = Redis::start();
    for (now, line) in [
        (1, "put mail K --jid done"),
        (2, "pop mail --worker w"),
        (3, "complete done --worker w"),
        (4, "put mail K --jid a --tag eu"),
        (5, "put mail K --jid b --depends a"),
        (6, "put mail K --jid c --depends b"),
        (7, "put other K --jid x"),
    ] {
        redis.ok(now, line);
    }
    redis
}

fn jids(redis: &Redis) -> String {
    let jids = redis.ok(90, "jobs -o jid");
    let mut jids: Vec<&str> = jids.lines().collect();
    jids.sort_unstable();
    jids.join(" ")
}

#[test]
fn a_job_is_deleted_and_its_jid_printed_unless_it_is_complete() {
    chained().session(expect![[r#"
        10 $ qless cancel done
        --- stderr
        error: cannot cancel `done`: it is complete
        hint: complete jobs are deleted in time, as `jobs-history` says
        --- exit 5
        10 $ qless cancel done x --yes
        x
        --- stderr
        1 cancelled, 1 skipped
          skipped  1  complete: done
        11 $ qless cancel x -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `x` does not exist","hint":null,"jid":"x"}
        --- exit 4
        12 $ qless cancel c -o ndjson
        {"jid":"c","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"depends","state_after":null}
        {"summary":{"action":"cancel","dry_run":false,"context":null,"matched":1,"done":1,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        13 $ qless cancel b -o raw
        b
        14 $ qless cancel a
        a
    "#]]);
}

#[test]
fn a_job_with_dependents_is_kept_or_cancelled_with_them() {
    let redis = chained();
    redis.session(expect![[r#"
        10 $ qless cancel a
        --- stderr
        error: cannot cancel `a`: `b` waits for it
        hint: `--dependents cancel` also cancels the jobs that wait for it, `--dependents release` lets them run
        --- exit 5
        10 $ qless cancel a x --yes
        x
        --- stderr
        1 cancelled, 1 failed
          failed   1  `b` waits for it: a
        --- exit 3
        10 $ qless cancel a b --yes
        --- stderr
        0 cancelled, 2 failed
          failed   1  `b` waits for it: a
                   1  `c` waits for it: b
        --- exit 5
        10 $ qless cancel a --dry-run &>/dev/null
        --- exit 5
        10 $ qless cancel a --dependents cancel
        --- stderr
        error: cannot ask whether to cancel 3 jobs on unix://DIR/s, 2 of them because they wait for others: b, c; nothing was changed
        hint: add `--yes`
        --- exit 9
        10 $ qless cancel a --dependents cancel --dry-run
        a
        b
        c
        --- stderr
        Cancel 3 jobs on unix://DIR/s, 2 of them because they wait for others: b, c

          mail	depends	2	1970-01-01T00:00:05.000Z	1970-01-01T00:00:06.000Z
          mail	waiting	1	1970-01-01T00:00:04.000Z	1970-01-01T00:00:04.000Z
        would cancel a, and 2 jobs that wait for it
        10 $ qless cancel b --dependents cancel --dry-run
        b
        c
        --- stderr
        Cancel 2 jobs on unix://DIR/s, 1 of them because they wait for others: c

          mail	depends	2	1970-01-01T00:00:05.000Z	1970-01-01T00:00:06.000Z
        would cancel b, and 1 job that waits for it
        10 $ qless cancel c --dependents cancel --dry-run
        c
        --- stderr
        would cancel c
    "#]]);
    assert_eq!(jids(&redis), "a b c");
    redis.session(expect![[r#"
        10 $ qless cancel a --dependents cancel --yes -o ndjson
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"b","result":"done","code":"ok","detail":"waited for a","queue":null,"state_before":null,"state_after":null}
        {"jid":"c","result":"done","code":"ok","detail":"waited for a","queue":null,"state_before":null,"state_after":null}
        {"summary":{"action":"cancel","dry_run":false,"context":null,"matched":3,"done":3,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
    "#]]);
    assert_eq!(jids(&redis), "");
}

#[test]
fn a_job_that_is_named_with_its_dependency_is_reported_once() {
    chained().session(expect![[r#"
        10 $ qless cancel c a --dependents cancel --yes -o ndjson
        {"jid":"c","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"depends","state_after":null}
        {"jid":"a","result":"done","code":"ok","detail":null,"queue":"mail","state_before":"waiting","state_after":null}
        {"jid":"b","result":"done","code":"ok","detail":"waited for a","queue":null,"state_before":null,"state_after":null}
        {"summary":{"action":"cancel","dry_run":false,"context":null,"matched":3,"done":3,"skipped":0,"failed":0,"remaining":0,"elapsed_s":0}}
        --- stderr
        3 cancelled
    "#]]);
    chained().session(expect![[r#"
        10 $ qless cancel a b c --yes
        c
        b
        a
        --- stderr
        3 cancelled
    "#]]);
}

#[test]
fn dependents_are_released_if_requested() {
    let redis = chained();
    redis.session(expect![[r#"
        10 $ qless cancel a --dependents release
        --- stderr
        error: cannot ask whether to cancel 1 waiting job on unix://DIR/s, releasing b; nothing was changed
        hint: add `--yes`
        --- exit 9
    "#]]);
    let mut command = redis.at(10).command();
    command.args(["cancel", "a", "--dependents", "release"]);
    let asked = keyboard::answer(command, &[("[y/N]", "n\r")]).exits(9);
    let printed = asked.stdout() + &asked.stderr();
    assert!(printed.contains(", releasing b"), "{printed}");
    redis.session(expect![[r#"
        10 $ qless cancel a --dependents release --yes
        a
        11 $ qless jobs --queue mail --columns jid,state
        b	waiting
        c	depends
    "#]]);
}

#[test]
fn several_jobs_are_cancelled_only_after_confirmation() {
    let redis = chained();
    redis.session(expect![[r#"
        10 $ qless cancel x c
        --- stderr
        error: cannot ask whether to cancel 2 jobs on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
        10 $ qless cancel x c -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_confirmed","exit":9,"message":"cannot ask whether to cancel 2 jobs on unix://DIR/s; nothing was changed","hint":"add `--yes`","jid":null}
        --- exit 9
        10 $ qless cancel --queue other
        --- stderr
        error: cannot ask whether to cancel 1 waiting job on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
    "#]]);
    redis.at(10).run("cancel --queue other --no-input").exits(9);
    assert_eq!(jids(&redis), "a b c x");
    redis.session(expect![[r#"
        10 $ qless cancel --queue other --yes
        x
        --- stderr
        1 cancelled
        10 $ qless cancel --queue other --yes
        --- stderr
        no jobs to cancel
        10 $ qless cancel nope none --yes
        --- stderr
        0 cancelled, 2 skipped
          skipped  2  gone: nope, none
        --- exit 4
    "#]]);
}

#[test]
fn a_chain_is_cancelled_across_slices() {
    let redis = Redis::start();
    put_chain(&redis, 450);
    let jids: Vec<String> = (0..450).map(|n| format!("j{n}")).collect();
    let ran = redis.at(2).input(jids.join("\n")).run("cancel - --yes");
    assert_eq!(ran.ok().lines().count(), 450);
    assert_eq!(redis.ok(3, "jobs -o jid"), "");
}

/// The jids of the jobs in a file written by `--save`, beside the socket of the server.
fn saved(redis: &Redis, file: &str) -> String {
    let text = std::fs::read_to_string(redis.socket().with_file_name(file)).unwrap();
    saved_jids(&text).join(" ")
}

/// The jids in the text of a file of `--save`.
fn saved_jids(text: &str) -> Vec<String> {
    let lines = text.lines().skip(1);
    let jids = lines.map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["jid"].as_str().unwrap().to_string()
    });
    jids.collect()
}

#[test]
fn jobs_are_saved_before_they_are_deleted() {
    use std::os::unix::fs::PermissionsExt;

    let redis = chained();
    let file = redis.socket().with_file_name("saved");
    redis.session(expect![[r#"
        10 $ qless cancel x --dry-run --save DIR/saved
        x
        --- stderr
        would cancel x
    "#]]);
    assert!(!file.exists());
    let exported = redis.ok(10, "export x");
    // Another command does not write to the file.
    redis.session(expect![[r#"
        10 $ qless cancel x --reason 'was a test' --save DIR/saved
        x
        10 $ qless cancel c --save DIR/saved
        --- stderr
        error: `DIR/saved` was begun by `qless cancel --save=DIR/saved x`, this is `qless cancel --save=DIR/saved c`; nothing was changed
        hint: name another file
        --- exit 2
    "#]]);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, line) = text.split_once('\n').unwrap();
    assert_eq!(
        pick(head, "[.kind, .prefix, .at, .jobs]"),
        r#"["export","ql:","1970-01-01T00:00:10.000Z",null]"#
    );
    assert_eq!(
        pick(line, "[.cancelled.reason, .cancelled.at]"),
        r#"["was a test","1970-01-01T00:00:10.000Z"]"#
    );
    assert!(pick(line, ".cancelled.by").contains('@'));
    let (line, _) = line.split_once(",\"cancelled\":").unwrap();
    assert_eq!(format!("{line}}}"), exported.lines().last().unwrap());
    assert_eq!(saved(&redis, "saved"), "x");
    assert_eq!(jids(&redis), "a b c");
}

#[test]
fn saved_jobs_that_import_refuses_are_named() {
    let redis = chained();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.ndjson");
    redis.send(&["HSET", "ql:j:x", "data", "{broken"]);
    redis.send(&["HSET", "ql:j:c", "data", "false"]);
    let cancel = format!("cancel x c --yes --save {}", file.display());
    redis.at(10).run(&cancel).shows(expect![[r#"
        x
        c
        --- stderr
        2 cancelled
        note: 2 saved jobs have data that `import` refuses: `x`, `c`
    "#]]);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"data\":false", "\"data\":{}")).unwrap();
    let import = format!("import {} --yes", file.display());
    redis.at(11).run(&import).shows(expect![[r#"
        --- stderr
        1 imported, 1 failed
          failed   1  data is not JSON: Expected object key string but found invalid token at character 2:
            x
        --- exit 3
    "#]]);
}

#[test]
fn jobs_that_cannot_be_saved_are_not_deleted() {
    let redis = chained();
    let before = redis.dump();
    let file = redis.socket().with_file_name("mine");
    write_private(&file, "my own notes");
    redis.session(expect![[r#"
        10 $ qless cancel x c --yes --save /dev/full
        --- stderr
        error: cannot write `/dev/full`: no space left on device
        hint: make room on the disk, then run again with the same file
        --- exit 1
        10 $ qless cancel x --save /no/where &>/dev/null
        --- exit 1
        10 $ qless cancel x --save '' &>/dev/null
        --- exit 2
        10 $ qless cancel x --save DIR/mine
        --- stderr
        error: `DIR/mine` exists and was not begun by `--save`
        hint: name another file
        --- exit 2
    "#]]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "my own notes");
    assert!(redis.dump() == before);
}

#[test]
fn cascaded_dependents_are_saved_too() {
    let redis = chained();
    // A leftover of an older client lists it as a dependent of `a`, and it has no dependencies.
    redis.send(&["SADD", "ql:j:a-dependents", "x"]);
    redis.session(expect![[r#"
        10 $ qless cancel a --dependents cancel --save DIR/c &>/dev/null
        --- exit 9
        10 $ qless cancel a --dependents cancel --yes --save DIR/c
        c
        b
        a
        --- stderr
        3 cancelled
    "#]]);
    assert_eq!(saved(&redis, "c"), "c b a");
    assert_eq!(jids(&redis), "x");
    // A tree of more jobs than one call takes, and one job that is released.
    let jid = |at: usize| format!("j{at:04}");
    redis.calls((1..1500).map(|at| put_call(&jid(at), &[jid(at / 2)])));
    redis.session(expect![[r#"
        10 $ qless cancel j0001 --dependents cancel --yes --save DIR/d -o json | jq -c '[.matched, .done]'
        [1499,1499]
        --- stderr
        1499 cancelled
        10 $ qless put q K --jid top &>/dev/null
        10 $ qless put q K --jid low --depends top &>/dev/null
        10 $ qless cancel top --dependents release --yes --save DIR/e
        top
    "#]]);
    assert_eq!(saved(&redis, "d").split(' ').count(), 1499);
    assert_eq!(saved(&redis, "e"), "top");
    assert_eq!(jids(&redis), "low x");
}

#[test]
fn a_job_that_changes_meanwhile_is_not_cancelled() {
    let redis = Redis::start();
    for jid in ["a", "b", "c"] {
        redis.ok(1, &format!("put q K --jid {jid}"));
    }
    let file = redis.socket().with_file_name("c");
    let line = format!("cancel a b c --yes --rate 1/s --save {}", file.display());
    let cancel = redis.qless().start(&line);
    until("the first job is cancelled", || {
        redis.qless().run("get a").code() != 0
    });
    redis.qless().run("log b seen").ok();
    let ran = cancel.end().exits(0);
    assert_eq!(ran.stdout(), "a\nc\n");
    let printed = ran.stderr();
    assert!(printed.starts_with("2 cancelled, 1 skipped"), "{printed}");
    assert!(printed.contains("1  it changed meanwhile"), "{printed}");
    assert_eq!(jids(&redis), "b");
    assert_eq!(saved(&redis, "c"), "a c");
    redis.must_be_clean();
}

#[test]
fn a_job_is_on_the_server_or_in_the_file_whenever_cancel_is_killed() {
    use std::collections::BTreeSet;

    let redis = Redis::start();
    let jids: BTreeSet<String> = (0..900).map(|at| format!("j{at:04}")).collect();
    redis.calls(jids.iter().map(|jid| put_call(jid, &[])));
    let file = redis.socket().with_file_name("c");
    let path = file.to_str().unwrap();
    let line = format!("cancel --queue q --save {path} --yes --rate 1500/s");
    let listed = || -> BTreeSet<String> {
        let jids = redis.qless().run("jobs -o jid").ok();
        jids.lines().map(str::to_owned).collect()
    };
    let mut kills = 0;
    loop {
        let mut running = redis.qless().start(&line);
        let before = listed().len();
        while before - listed().len() < 250 && !running.has_ended() {}
        _ = running.child.kill();
        let done = running.end().code() == 0;
        kills += u32::from(!done);
        let text = std::fs::read_to_string(&file).unwrap();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut there = listed();
        there.extend(saved_jids(whole));
        assert!(there == jids);
        if done || kills > 50 {
            break;
        }
    }
    assert!(kills > 0);
    assert!(listed().is_empty());
    redis.must_be_clean();
    // A job that was saved twice is imported once.
    redis.qless().run(&format!("import {path} --yes")).ok();
    assert!(listed() == jids);
    redis.must_be_clean();
}

#[test]
fn a_dry_run_shows_states_and_the_first_ten_jids() {
    let redis = Redis::start();
    for job in 10..22 {
        redis.ok(job, &format!("put mail K --jid j{job}"));
    }
    redis.ok(1, "put late K --jid l --delay 1h");
    redis.ok(30, "pop mail --count 2 --worker mx-1");
    redis.ok(31, "complete j10 --worker mx-1");
    redis.session(expect![[r#"
        46 $ qless cancel --queue mail --queue late --dry-run
        j11
        j12
        j13
        j14
        j15
        j16
        j17
        j18
        j19
        j20
        --- stderr
        Cancel 12 jobs on unix://DIR/s

          late	scheduled	1	1970-01-01T00:00:01.000Z	1970-01-01T00:00:01.000Z
          mail	running	1	1970-01-01T00:00:30.000Z	1970-01-01T00:00:30.000Z
          mail	waiting	10	1970-01-01T00:00:12.000Z	1970-01-01T00:00:21.000Z

          running  1  j11 on `mx-1` for 16s
        would cancel 12
          the first 10 jids are listed; `-v` or `-o ndjson` lists all
    "#]]);
    for (flags, lines) in [("-v", 11), ("-o ndjson", 12), ("-o jid", 11)] {
        let all = redis.ok(46, &format!("cancel --queue mail --dry-run {flags}"));
        assert_eq!(all.lines().count(), lines, "{flags}");
    }
}

#[test]
fn running_jobs_are_taken_from_their_workers_which_are_named() {
    Redis::start().session(expect![[r#"
        0 $ qless put mail K --jid a &>/dev/null
        1 $ qless put mail K --jid b &>/dev/null
        2 $ qless put mail K --jid c &>/dev/null
        5 $ qless pop mail --count 2 --worker mx-1 &>/dev/null
        20 $ qless log a halfway
        46 $ qless cancel a --dry-run
        a
        --- stderr
        would cancel a, running on `mx-1` for 41s
        46 $ qless cancel a --dry-run -o json | jq -c .items[0].detail
        "running on `mx-1` for 41s"
        --- stderr
        would cancel a, running on `mx-1` for 41s
        46 $ qless cancel a
        a
        --- stderr
        cancelled a, running on `mx-1` for 41s
        46 $ qless complete a --worker mx-1 &>/dev/null
        --- exit 4
        47 $ qless cancel b c --yes
        b
        c
        --- stderr
        2 cancelled
          running  1  b on `mx-1` for 42s
    "#]]);
}

#[test]
fn skipped_jobs_are_named() {
    let redis = Redis::start();
    let many: Vec<String> = (10..32).map(|job| format!("a-missing-job-{job}")).collect();
    redis.qless().input(many.join("\n")).session(expect![[r#"
        1 $ qless put mail K --jid a &>/dev/null
        2 $ qless cancel a no-such-job-with-a-long-name other --yes
        a
        --- stderr
        1 cancelled, 2 skipped
          skipped  2  gone: no-such-job-with-a-long-name, other
        3 $ qless cancel - --yes
        --- stderr
        0 cancelled, 22 skipped
          skipped  22  gone:
            a-missing-job-10, a-missing-job-11, a-missing-job-12, a-missing-job-13,
            a-missing-job-14, a-missing-job-15, a-missing-job-16, a-missing-job-17,
            a-missing-job-18, a-missing-job-19 and 12 more
        --- exit 4
    "#]]);
}

#[test]
fn jobs_with_many_dependents_take_several_calls() {
    let core = many_dependents();
    let qless = core.qless().at(10);
    let found = qless.run("get p0 p1 p2 p3 p4 -o json").json();
    let found = found["items"].as_array().unwrap().iter();
    let counts = found.map(|job| job["dependents"].as_array().unwrap().len());
    assert_eq!(counts.collect::<Vec<_>>(), [9000; 5]);
    qless.session(expect![[r#"
        $ qless cancel p0
        --- stderr
        error: cannot cancel `p0`: `d-1`, `d-10`, `d-100`, `d-1000` and at least 96 more wait for it
        hint: `--dependents cancel` also cancels the jobs that wait for it, `--dependents release` lets them run
        --- exit 5
        $ qless cancel p0 --dependents cancel --yes
        --- stderr
        error: cannot cancel `p0`: more than 5000 jobs below
        hint: `--save FILE` cancels so many in several calls, from the leaves of the tree
        --- exit 1
        $ qless cancel p0 p1 p2 p3 p4 --yes
        --- stderr
        0 cancelled, 5 failed
          failed   5  `d-1`, `d-10`, `d-100`, `d-1000` and at least 96 more wait for it:
            p0, p1, p2, p3, p4
        --- exit 5
        $ qless cancel p0 p1 p2 p3 p4 --dependents release --yes -o jid
        p0
        p1
        p2
        p3
        p4
        --- stderr
        5 cancelled
        $ qless jobs --queue q --state waiting --count -o json | jq -c .waiting
        9000
    "#]]);
}

#[test]
fn a_terminal_gets_the_first_jids_and_the_number_and_a_pipe_all() {
    let redis = Redis::start();
    let fill = || {
        for n in 10..22 {
            redis.ok(1, &format!("put tmp K --jid j{n}"));
        }
    };
    let cancel = |flags: &str| {
        fill();
        let said = redis.on_terminal(2, &format!("cancel --queue tmp --yes {flags}"));
        let listed = said.lines().filter(|line| line.starts_with('j')).count();
        (listed, said)
    };
    let (listed, said) = cancel("");
    assert_eq!(listed, 10);
    let end = "12 cancelled\n  the first 10 jids are listed; `-v` or `-o ndjson` lists all\n";
    assert!(said.ends_with(end), "{said}");
    assert_eq!(cancel("-o jid").0, 12);
    assert_eq!(cancel("-v").0, 12);
    fill();
    let piped = redis.ok(2, "cancel --queue tmp --yes -o table");
    assert_eq!(piped.lines().count(), 13, "{piped}");
}

/// Puts three jobs of one lane.
fn put_lane(redis: &Redis) {
    for at in 1..=3 {
        redis.ok(at, &format!("put mail K --jid l{at} --key k"));
    }
}

#[test]
fn a_job_behind_in_the_lane_is_no_dependent() {
    let redis = Redis::start();
    put_lane(&redis);
    redis.session(expect![[r#"
        10 $ qless cancel l2 --dry-run
        l2
        --- stderr
        would cancel l2
        10 $ qless cancel l2
        l2
        10 $ qless cancel l1 l3 --dry-run
        l3
        l1
        --- stderr
        Cancel 2 jobs on unix://DIR/s

          mail	depends	1	1970-01-01T00:00:03.000Z	1970-01-01T00:00:03.000Z
          mail	waiting	1	1970-01-01T00:00:01.000Z	1970-01-01T00:00:01.000Z
        would cancel 2
        11 $ qless jobs -o jid
        l1
        l3
        11 $ qless cancel l1 l3 --yes &>/dev/null
    "#]]);
    let file = redis.socket().with_file_name("saved");
    for save in [String::new(), format!("--save {}", file.display())] {
        put_lane(&redis);
        redis.ok(10, "put mail K --jid d --depends l1");
        let line = format!("cancel l1 --dependents cancel --yes {save}");
        assert_eq!(redis.ok(11, &line).lines().count(), 2, "{line}");
        assert_eq!(redis.ok(12, "jobs -o jid"), "l2\nl3", "{line}");
        redis.ok(13, "cancel l2 l3 --yes");
    }
    redis.must_be_clean();
}
