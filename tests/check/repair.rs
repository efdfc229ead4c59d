//! `qless check --repair` and `--revert`

use std::path::Path;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::support::files::write_private;
use crate::support::jobs::call;
use crate::support::keyboard::answer;
use crate::support::proxy::{forward, listen};
use crate::support::qless::{Qless, RunOutput};
use crate::support::redis::Redis;
use crate::support::terminal;
use crate::support::text::{Shows, words};

/// The time of these tests, long after the jobs were put.
const NOW: u32 = 10_000;

/// Two queues, a tag, a failure group; then a job, a lock and a failure list lose related keys, and
/// a counter is wrong.
fn damaged() -> Redis {
    let redis = Redis::start();
    let lines = [
        "put me mail ghost Mail {} 0",
        "put me mail stays Mail {} 0 tags [\"eu\"]",
        "put me mail waits Mail {} 0 depends [\"stays\"]",
        "put me images runs Image {} 0",
        "put me images fails Image {} 0",
        "pop images w1 2",
        "fail fails w1 boom no",
    ];
    redis.calls(lines.map(|line| call(9_000.0, line)));
    redis.send(&["DEL", "ql:j:ghost"]);
    redis.send(&["ZREM", "ql:q:images-locks", "runs"]);
    redis.send(&["DEL", "ql:f:boom"]);
    redis.send(&["ZADD", "ql:tags", "7", "eu"]);
    redis
}

/// A file in the directory of the server.
fn file(redis: &Redis, name: &str) -> String {
    let path = redis.socket().with_file_name(name);
    path.to_str().unwrap().to_owned()
}

/// The binary at that time.
fn at(redis: &Redis) -> Qless {
    redis.at(NOW)
}

/// Repairs with an undo file. Returns its name.
fn repair_with_undo(redis: &Redis, flags: &str) -> String {
    let undo = file(redis, "undo.ndjson");
    let line = format!("check --repair --undo {undo} --yes -q {flags}");
    at(redis).run(&line).exits(0);
    undo
}

/// Runs a revert of an undo file.
fn revert(redis: &Redis, undo: &str) -> RunOutput {
    at(redis).run(&format!("check --revert {undo} --yes"))
}

#[test]
fn a_repair_fixes_all_findings_and_a_second_run_finds_none() {
    let redis = damaged();
    at(&redis).run("check").exits(7);
    at(&redis).run("check --repair --yes").shows(expect![[r#"
        critical	ghost-waiting	1	0	0	0	removed the id
        error	failed-unlisted	1	0	0	0	listed it in the group of its failure
        error	running-without-lock	1	0	0	0	gave it a lock with the right expiry
        warn	group-set	0	1	0	0	none
        warn	tag-count	1	0	0	0	set it to the number of entries in the index
        info	history-orphan	0	0	0	1	none, needs `--only`
        --- stderr
        scanned 21 keys, 4 jobs, 2 queues in 0.0s
        4 repaired, 1 gone by itself; clean
    "#]]);
    at(&redis).run("check").exits(0);
    let whole = redis.dump();
    at(&redis).run("check --repair --yes").shows(expect![[r#"
        info	history-orphan	1	history of a job that does not exist	j:ghost-history
        --- stderr
        scanned 23 keys, 4 jobs, 2 queues in 0.0s
    "#]]);
    assert!(redis.dump() == whole, "a second repair changed something");
    // The job without a lock got one that expired long ago; its worker gets the usual grace.
    redis.at(20_000).run("pop images --worker w2").exits(4);
    let popped = redis.at(20_100).run("pop images --worker w2 -o jid");
    assert_eq!(popped.ok(), "runs");
}

#[test]
fn a_dry_run_prints_the_commands_in_order_and_changes_nothing() {
    let redis = damaged();
    let before = redis.dump();
    at(&redis)
        .run("check --repair --dry-run")
        .shows(expect![[r#"
            --- stderr
            Repair 5 findings on unix://DIR/s

              FINDING	COUNT	ACTION	EXAMPLES
              ghost-waiting	1	remove the id	mail: ghost
              failed-unlisted	1	list it in the group of its failure	boom: fails
              running-without-lock	1	give it a lock with the right expiry	images: runs
              group-set	1	align it to the lists	boom: empty
              tag-count	1	set it to the number of entries in the index	eu: 7, is 1

              not repaired, because you have to decide:
              history-orphan, 1: history of a job that does not exist
                it is the only trace of a lost job; once you do not need it: `qless check --repair --only history-orphan`
        "#]]);
    at(&redis)
        .run("check --repair --dry-run -v")
        .stdout()
        .shows(expect![[r#"
        # ghost-waiting ghost mail
        ZREM ql:q:mail-work ghost
        # running-without-lock runs images
        ZADD ql:q:images-locks 9060 runs
        # failed-unlisted fails boom
        LPUSH ql:f:boom fails
        # tag-count eu 7, is 1
        ZADD ql:tags 1 eu
    "#]]);
    at(&redis)
        .run("check --repair --only ghost-waiting,tag-count -n -q -o ndjson")
        .shows(expect![[r#"
            {"finding":"ghost-waiting","item":"ghost","detail":"mail","commands":["ZREM ql:q:mail-work ghost"]}
            {"finding":"tag-count","item":"eu","detail":"7, is 1","commands":["ZADD ql:tags 1 eu"]}
        "#]]);
    let document = at(&redis).run("check --repair -n -q -o json").json();
    assert_eq!(document["kind"], "check");
    assert_eq!(document["dry_run"], true);
    assert!(redis.dump() == before);
}

#[test]
fn a_revert_restores_every_key_exactly() {
    let redis = damaged();
    let before = redis.dump();
    repair_with_undo(&redis, "--only all");
    assert!(redis.dump() != before);
    at(&redis).session(expect![[r#"
        $ qless check --revert DIR/undo.ndjson --dry-run
        --- stderr
        Revert 5 changes on unix://DIR/s

          failed-unlisted       1
          ghost-waiting         1
          history-orphan        1
          running-without-lock  1
          tag-count             1
        would revert 5 changes, except values that have changed since
        $ qless check --revert DIR/undo.ndjson --yes
        --- stderr
        5 reverted, 0 skipped
    "#]]);
    assert!(redis.dump() == before, "the damage is not back as it was");
    // A second revert finds everything restored.
    at(&redis).session(expect![[r#"
        $ qless check --revert DIR/undo.ndjson --yes -o json | jq -c
        {"kind":"bulk","v":1,"action":"revert","dry_run":false,"context":null,"matched":5,"done":0,"skipped":5,"failed":0,"remaining":0,"elapsed_s":0,"items":[]}
        --- stderr
        0 reverted, 5 skipped: changed since, or reverted already
    "#]]);
    assert!(redis.dump() == before);
}

#[test]
fn a_revert_restores_names_byte_for_byte() {
    let redis = Redis::start();
    let ghost = b"g\xff\n\"\\ \x1b[31m*";
    redis.ok(9_000, "put 'two words' K --jid stays");
    let mut add = redis::cmd("ZADD");
    add.arg(b"ql:q:two words-work".as_slice()).arg("5.5");
    add.arg(ghost.as_slice());
    add.exec(&mut redis.connection()).unwrap();
    let before = redis.dump();
    expect![[r##"
        # ghost-waiting g\xff\n"\ \x1b[31m* two words
        ZREM "ql:q:two words-work" "g\xff\n\"\\ \x1b[31m*"
    "##]]
    .assert_eq(&at(&redis).run("check --repair -n -q -v").stdout());
    let undo = repair_with_undo(&redis, "");
    revert(&redis, &undo).exits(0);
    assert!(redis.dump() == before);
}

#[test]
fn the_commands_of_a_dry_run_do_what_the_repair_does() {
    let (repaired, typed) = (damaged(), damaged());
    at(&repaired).run("check --repair --yes").exits(0);
    let commands = at(&typed).run("check --repair -n -q -v").stdout();
    for line in commands.lines().filter(|line| !line.starts_with('#')) {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        typed.send(&words);
    }
    assert!(repaired.dump() == typed.dump());
}

/// Runs a repair that asks, answers it, and returns the text on the terminal.
fn asked(redis: &Redis, flags: &str, dialogue: (&str, &str), code: i32) -> String {
    let mut command = at(redis).env("TERM", "dumb").command();
    command.args(["check", "--repair"]).args(words(flags));
    let ran = answer(command, &[dialogue]);
    let written = ran.stdout();
    assert_eq!(ran.code(), code, "{written}");
    written
}

#[test]
fn declining_the_prompt_changes_nothing() {
    let redis = damaged();
    let before = redis.dump();
    at(&redis).run("check --repair").shows(expect![[r#"
        --- stderr
        scanned 21 keys, 4 jobs, 2 queues in 0.0s
        error: cannot ask whether to repair 5 findings on unix://DIR/s; nothing was changed
        hint: add `--yes`
        --- exit 9
    "#]]);
    assert!(redis.dump() == before);
    let written = asked(&redis, "", ("[y/N]", "n\r"), 9);
    assert!(redis.dump() == before);
    let dir = redis.socket().parent().unwrap().display().to_string();
    let (plan, _) = written.split_once("Proceed?").unwrap();
    plan.replace(&dir, "DIR").shows(expect![[r#"
        scanned 21 keys, 4 jobs, 2 queues in 0.0s
        Repair 5 findings on unix://DIR/s

          FINDING               COUNT  ACTION                                        EXAMPLES
          ghost-waiting             1  remove the id                                 mail: ghost
          failed-unlisted           1  list it in the group of its failure           boom: fails
          running-without-lock      1  give it a lock with the right expiry          images: runs
          group-set                 1  align it to the lists                         boom: empty
          tag-count                 1  set it to the number of entries in the index  eu: 7, is 1

          not repaired, because you have to decide:
          history-orphan, 1: history of a job that does not exist
            it is the only trace of a lost job; once you do not need it: `qless check --repair --only history-orphan`

    "#]]);
    asked(&redis, "", ("[y/N]", "y\r"), 0);
    at(&redis).run("check").exits(0);
}

#[test]
fn findings_that_need_a_decision_are_left_and_their_choices_listed() {
    let redis = Redis::start();
    for line in [
        "put mail K --jid gone",
        "put mail K --jid waits --depends gone",
    ] {
        redis.ok(9_000, line);
    }
    redis.send(&["DEL", "ql:j:gone"]);
    redis.send(&["ZREM", "ql:q:mail-work", "gone"]);
    let before = redis.dump();
    at(&redis).run("check --repair --yes").shows(expect![[r#"
        error	dependency-missing	1	job depends on a job that does not exist	waits needs gone
        info	edges-orphan	1	dependencies of a job that does not exist	j:gone-dependents
        info	history-orphan	1	history of a job that does not exist	j:gone-history
        --- stderr
        scanned 7 keys, 1 job, 1 queue in 0.0s
        nothing to repair
          not repaired, because you have to decide:
          dependency-missing, 1: job depends on a job that does not exist
            if the other job is complete or not needed: `qless check --repair --only dependency-missing`
            for one job only: `qless depends JID --off=OTHER`
            if the other job was lost and must run first: `qless put QUEUE KLASS DATA --jid=OTHER`
            cancel the dependent: `qless cancel JID`
        --- exit 7
    "#]]);
    assert!(redis.dump() == before);
    at(&redis)
        .run("check --repair --only dependency-missing --yes")
        .shows(expect![[r#"
            error	dependency-missing	1	0	0	0	dropped the dependency; a job with no other dependency is released
            --- stderr
            scanned 7 keys, 1 job, 1 queue in 0.0s
            1 repaired; nothing left of what was asked
        "#]]);
    assert_eq!(redis.ok(NOW, "pop mail -o jid"), "waits");
}

#[test]
fn keys_set_aside_are_deleted_only_by_naming_their_finding() {
    let redis = Redis::start();
    redis.send(&["HSET", "ql:j:stub", "state", "waiting"]);
    redis.send(&["ZADD", "ql:q:mail-work", "5", "stub"]);
    at(&redis).run("check --repair --yes").exits(0);
    let aside = |redis: &Redis| {
        let keys = redis.dump().into_keys();
        keys.filter(|key| key.starts_with(b"ql:lost:")).count()
    };
    assert_eq!(aside(&redis), 1);
    at(&redis).run("check --repair --only all --yes").exits(0);
    assert_eq!(aside(&redis), 1);
    asked(&redis, "--only lost-key", ("to proceed", "yes\r"), 9);
    asked(&redis, "--only lost-key --yes", ("to proceed", "no\r"), 9);
    let script = |flags: &str| at(&redis).run(&format!("check --repair --only {flags}"));
    script("lost-key --yes -q").exits(9).stderr().shows(expect![[r#"
        error: cannot ask whether to repair 1 finding on unix://DIR/s, and delete 1 key permanently; nothing was changed
        hint: add `--confirm=lost-key`: `--yes` does not cover the deletion of what was set aside
    "#]]);
    script("lost-key --yes --confirm other").exits(9);
    assert_eq!(aside(&redis), 1);
    script("all,lost-key --yes --confirm lost-key").ok();
    assert_eq!(aside(&redis), 0);
    at(&redis)
        .run("check --repair --only all,lost-key --yes --confirm lost-key")
        .ok();

    redis.send(&["HSET", "ql:lost:r0:j:old", "state", "waiting"]);
    assert_eq!(aside(&redis), 1);
    asked(&redis, "--only lost-key", ("to proceed", "1\r"), 0);
    assert_eq!(aside(&redis), 0);
}

#[test]
fn a_file_that_is_not_an_undo_file_is_refused_before_any_call() {
    let redis = damaged();
    let before = redis.dump();
    let other = file(&redis, "other");
    write_private(&other, "my shopping list\n");
    let nowhere = Qless::bare()
        .env("QLESS_REDIS_URL", "unix:///nowhere/at/all")
        .hide(&other, "OTHER");
    nowhere.session(expect![[r#"
        $ qless check --repair --undo OTHER --yes
        --- stderr
        error: `OTHER` exists and is not a qless undo
        hint: name another file
        --- exit 2
        $ qless check --revert OTHER --yes
        --- stderr
        error: `OTHER` is not a file of `qless check --undo`
        hint: name the file that `--undo` wrote
        --- exit 2
        $ qless check --revert /nowhere/undo --yes
        --- stderr
        error: cannot read `/nowhere/undo`: no such file or directory
        --- exit 2
    "#]]);
    assert_eq!(
        std::fs::read_to_string(&other).unwrap(),
        "my shopping list\n"
    );

    let undo = file(&redis, "undo.ndjson");
    let at = || at(&redis).hide(&undo, "UNDO");
    at().run(&format!("check --repair --undo {undo} --yes"))
        .exits(0);
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&undo).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    at().run(&format!("check --repair --only tag-count --undo {undo} --yes"))
    .shows(expect![[r#"
        --- stderr
        error: `DIR/undo.ndjson` was begun by `qless check --repair`, this is `qless check --repair --only=tag-count`; nothing was changed
        hint: name another file
        --- exit 2
    "#]]);
    at().run(&format!("check --revert {undo} --yes --prefix other:"))
        .shows(expect![[r#"
            --- stderr
            error: `DIR/undo.ndjson` is about keys with prefix `ql:`, not `other:`; nothing was changed
            hint: set the prefix with `--prefix`
            --- exit 2
        "#]]);
    assert!(redis.dump() != before);
}

#[test]
fn an_incomplete_last_line_of_an_undo_file_is_ignored() {
    let redis = damaged();
    let before = redis.dump();
    let undo = repair_with_undo(&redis, "");
    let mut text = std::fs::read(&undo).unwrap();
    text.extend_from_slice(b"{\"slice\":9,\"plan\":[{\"find");
    std::fs::write(&undo, &text).unwrap();
    revert(&redis, &undo).exits(0);
    assert!(redis.dump() == before);
    // A damaged line of the undo file is reported with its number.
    let spoilt = text.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    text[spoilt] = b'!';
    std::fs::write(&undo, &text).unwrap();
    at(&redis)
        .hide(&undo, "UNDO")
        .run(&format!("check --revert {undo} --yes"))
        .shows(expect![[r#"
            --- stderr
            error: `DIR/undo.ndjson`, line 2: it was altered after it was written
            hint: nothing was changed; delete the line to revert the others
            --- exit 2
        "#]]);
}

#[test]
fn a_revert_of_an_altered_undo_file_changes_nothing_or_does_the_same() {
    let redis = damaged();
    let before = redis.dump();
    let undo = repair_with_undo(&redis, "");
    let repaired = redis.dump();
    let text = std::fs::read(&undo).unwrap();
    let mut refused = 0;
    let (mut sampled, mut start) = (0, 0);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let last = line.len() - 1;
        for at in [0, last / 3, last / 2, last - 30, last - 10, last] {
            let mut altered = text.clone();
            altered[start + at] ^= 1;
            std::fs::write(&undo, &altered).unwrap();
            sampled += 1;
            if revert(&redis, &undo).code() == 2 {
                refused += 1;
                assert!(redis.dump() == repaired, "byte {at} of {start}");
            } else {
                assert!(redis.dump() == before, "byte {at} of {start}");
                std::fs::remove_file(&undo).unwrap();
                repair_with_undo(&redis, "");
                assert!(redis.dump() == repaired);
            }
        }
        start += line.len();
    }
    assert!(refused >= sampled - 2, "{refused} of {sampled}");
    // Without checksums, as earlier versions wrote it.
    let text = String::from_utf8(text).unwrap();
    let lines = text
        .lines()
        .map(|line| match line.rsplit_once(",\"sum\":") {
            Some((content, _)) => format!("{content}}}\n"),
            None => panic!("a line without checksum: {line}"),
        });
    std::fs::write(&undo, lines.collect::<String>()).unwrap();
    revert(&redis, &undo).exits(0);
    assert!(redis.dump() == before);
}

#[test]
fn a_revert_can_be_of_some_findings() {
    let redis = damaged();
    let undo = repair_with_undo(&redis, "--only all");
    let revert = |flags: &str| {
        let ran = at(&redis).run(&format!("check --revert {undo} --yes {flags} -o json"));
        let sum = ran.json();
        (sum["matched"].clone(), sum["done"].clone())
    };
    assert_eq!(revert("--only lane-order"), (0.into(), 0.into()));
    assert_eq!(revert("--only tag-count"), (1.into(), 1.into()));
    let score = redis.send(&["ZSCORE", "ql:tags", "eu"]);
    assert_eq!(score, redis::Value::BulkString(b"7".to_vec()));
    assert_eq!(
        revert("--skip tag-count,ghost-waiting"),
        (3.into(), 3.into())
    );
    assert_eq!(revert(""), (5.into(), 1.into()));
}

#[test]
fn a_revert_leaves_later_changes_alone() {
    let redis = damaged();
    let undo = repair_with_undo(&redis, "");
    redis.ok(NOW, "tag stays --remove eu");
    revert(&redis, &undo).shows(expect![[r#"
        --- stderr
        3 reverted, 1 skipped: changed since, or reverted already
    "#]]);
    assert_eq!(redis.send(&["ZSCORE", "ql:tags", "eu"]), redis::Value::Nil);
}

#[test]
fn a_finding_whose_repair_the_server_refuses_is_not_reported_as_repaired() {
    let redis = damaged();
    let before = redis.dump();
    redis.send(&["CONFIG", "SET", "maxmemory", "1"]);
    at(&redis)
        .run("check --repair --yes --only failed-unlisted,running-without-lock")
        .shows(expect![[r#"
            error	failed-unlisted	0	0	0	1	none
            error	running-without-lock	0	0	0	1	none
            --- stderr
            scanned 21 keys, 4 jobs, 2 queues in 0.0s
            0 repaired
            error: `unix://DIR/s` is out of memory after 0 of 2 findings were repaired
            hint: `qless cancel` and a shorter `jobs-history` free some
            --- exit 6
        "#]]);
    assert!(redis.dump() == before);
    // Findings that free memory are repaired.
    at(&redis).run("check --repair --yes").shows(expect![[r#"
        critical	ghost-waiting	1	0	0	0	removed the id
        error	failed-unlisted	0	0	0	1	none
        error	running-without-lock	0	0	0	1	none
        warn	group-set	0	0	0	1	none
        warn	tag-count	0	0	0	1	none
        info	history-orphan	0	0	0	1	none, needs `--only`
        info	queue-empty	0	0	0	1	none, report only
        --- stderr
        scanned 21 keys, 4 jobs, 2 queues in 0.0s
        1 repaired
        error: `unix://DIR/s` is out of memory after 1 of 5 findings were repaired
        hint: `qless cancel` and a shorter `jobs-history` free some
        --- exit 6
    "#]]);
    redis.send(&["CONFIG", "SET", "maxmemory", "0"]);
    at(&redis).run("check --repair --yes").exits(0);
}

#[test]
fn a_full_disk_of_the_undo_file_stops_a_repair_that_counts_all_it_has_done() {
    let redis = Redis::start();
    redis.calls((0..600_u32).map(|n| call(f64::from(n), &format!("put me mail j{n} K {{}} 0"))));
    redis.send(&["DEL", "ql:q:mail-work"]);
    let dir = tempfile::tempdir().unwrap();
    let undo = dir.path().join("undo");
    let qless = redis.qless().command();
    // A file of the process may have 40 KiB.
    let limited = r#"trap '' XFSZ; ulimit -f 80; exec "$0" "$@""#;
    let mut command = std::process::Command::new("sh");
    command.args(["-c", limited]).arg(qless.get_program());
    command
        .args(["check", "--repair", "--yes", "--undo"])
        .arg(&undo);
    command.env_clear().envs(
        qless
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let ran = RunOutput::of(&mut command).exits(1);
    let left = redis.qless().run("check -o json").exits(7).stdout();
    let left: serde_json::Value = serde_json::from_str(&left).unwrap();
    let left = left["items"][0]["count"].as_u64().unwrap();
    let said = format!("after {} of 600 findings were repaired", 600 - left);
    assert!(ran.stderr().contains(&said), "{said}: {}", ran.stderr());
    assert!((1..600).contains(&left), "{left}");
}

#[test]
fn a_replica_is_not_repaired() {
    let replica = damaged();
    replica.send(&["REPLICAOF", "127.0.0.1", "1"]);
    at(&replica).run("check --repair --yes").shows(expect![[r#"
        --- stderr
        error: cannot repair `unix://DIR/s`: it is a replica
        hint: point `--redis` at its primary; `--read-only` scans the replica itself
        --- exit 6
    "#]]);
    // A replica may report old data.
    at(&replica).run("check --repair -n -q").exits(6);
}

#[test]
fn read_only_allows_a_dry_run() {
    let redis = damaged();
    at(&redis)
        .run("check --repair --read-only --yes")
        .shows(expect![[r#"
            --- stderr
            error: `qless check` may change something, and `--read-only` was given
            --- exit 9
        "#]]);
    let undo = file(&redis, "undo.ndjson");
    at(&redis)
        .run(&format!("check --revert {undo} --read-only --yes"))
        .exits(9);
    at(&redis).run("check --read-only").exits(7);
    at(&redis).run("check --repair -n --read-only").exits(0);
    assert!(!Path::new(&undo).exists());
}

#[test]
fn many_ghosts_are_repaired_in_slices() {
    let redis = ghosts(5_000);
    let before = redis.dump();
    let undo = file(&redis, "undo.ndjson");
    at(&redis)
        .run(&format!("check --repair --undo {undo} --yes"))
        .shows(expect![[r#"
            critical	ghost-waiting	5000	0	0	0	removed the id
            --- stderr
            scanned 4 keys, 1 job, 1 queue in 0.0s
            5,000 repaired; clean
        "#]]);
    assert_eq!(
        redis.send(&["ZRANGE", "ql:q:mail-work", "0", "-1"]),
        redis::Value::Array(vec![redis::Value::BulkString(b"stays".to_vec())])
    );
    revert(&redis, &undo).shows(expect![[r#"
        --- stderr
        5,000 reverted, 0 skipped
    "#]]);
    assert!(redis.dump() == before);
}

/// Puts this many jobs `x…`, and `y` that depends on all of them.
fn put_with_dependent(redis: &Redis, count: usize) {
    redis.calls((0..count).map(|n| call(9_000.0, &format!("put me mail x{n} K {{}} 0"))));
    let all: Vec<String> = (0..count).map(|n| format!("\"x{n}\"")).collect();
    let put = format!("put me mail y K {{}} 0 depends [{}]", all.join(","));
    redis.calls([call(9_000.0, &put)]);
}

#[test]
fn a_job_that_lost_its_dependencies_gets_all_of_them_back() {
    let redis = Redis::start();
    put_with_dependent(&redis, 150);
    let before = redis.dump();
    redis.send(&["DEL", "ql:j:y-dependencies"]);
    at(&redis).run("check --repair --yes -q").exits(0);
    let wanted = redis::Value::Int(150);
    assert_eq!(redis.send(&["SCARD", "ql:j:y-dependencies"]), wanted);
    assert_eq!(redis.dump().len(), before.len());
}

/// A queue with a job, and this many ids without a job.
fn ghosts(count: usize) -> Redis {
    let redis = Redis::start();
    redis.ok(9_000, "put mail K --jid stays");
    let mut pipe = redis::pipe();
    for number in 0..count {
        pipe.cmd("ZADD")
            .arg("ql:q:mail-work")
            .arg(number)
            .arg(format!("ghost-{number}"));
    }
    pipe.exec(&mut redis.connection()).unwrap();
    redis
}

#[test]
fn a_signal_stops_a_repair_after_the_current_slice() {
    let redis = ghosts(200);
    let running = redis.qless().start("check --repair --yes --rate 100/s");
    let left = || match redis.send(&["ZCARD", "ql:q:mail-work"]) {
        redis::Value::Int(left) => left,
        other => panic!("{other:?}"),
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while left() > 198 {
        assert!(Instant::now() < deadline, "nothing is mended");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(rustix::process::Signal::INT);
    let ran = running.end().exits(130);
    let repaired = 201 - left();
    assert!((2..200).contains(&repaired), "{repaired}");
    ran.says(&format!(
        "error: interrupted after {repaired} of 200 findings"
    ));
    redis.qless().run("check --repair --yes").exits(0);
    assert_eq!(left(), 1);
}

#[test]
fn the_document_gives_the_outcome_of_each_finding() {
    let redis = damaged();
    let document = at(&redis).run("check --repair --yes -q -o json").json();
    assert_eq!(
        (&document["kind"], &document["clean"], &document["mended"]),
        (&"check".into(), &true.into(), &4.into())
    );
    assert!(document["run"].as_str().unwrap().len() > 10);
    let items = document["items"].as_array().unwrap();
    let printed: Vec<String> = items
        .iter()
        .map(|item| {
            let count = |field: &str| item[field].as_u64().unwrap();
            let finding = item["finding"].as_str().unwrap();
            let [repaired, gone, left] = [count("mended"), count("gone"), count("count")];
            format!("{finding} {repaired} {gone} {left}")
        })
        .collect();
    printed.join("\n").shows(expect![[r#"
        ghost-waiting 1 0 0
        failed-unlisted 1 0 0
        running-without-lock 1 0 0
        group-set 0 1 0
        tag-count 1 0 0
        history-orphan 0 0 1"#]]);
    // Nothing remains to repair.
    at(&redis)
        .run("check --repair --yes -q -o ndjson")
        .shows(expect![[r#"
            {"severity":"info","finding":"history-orphan","count":1,"at_least":false,"problem":"history of a job that does not exist","invariants":["I-30"],"mends":0,"asks":1,"choices":["it is the only trace of a lost job; once you do not need it: `qless check --repair --only history-orphan`"],"examples":[{"item":"j:ghost-history","detail":"no job"}],"mended":0,"gone":0,"refused":0}
        "#]]);
    let document = at(&redis).run("check --repair --yes -q -o json").json();
    assert_eq!(
        (&document["run"], &document["mended"]),
        (&().into(), &0.into())
    );
}

#[test]
fn a_protected_context_requires_its_label() {
    let redis = damaged();
    let config = file(&redis, "config.toml");
    let text = format!(
        "default = \"prod\"\n[context.prod]\nredis = \"{}\"\nprotected = true\nlabel = \"PROD\"\n",
        redis.url()
    );
    std::fs::write(&config, text).unwrap();
    let dir = redis.socket().parent().unwrap().display().to_string();
    let prod = Qless::bare()
        .at(NOW)
        .env("QLESS_CONFIG", &config)
        .hide(&dir, "DIR");
    prod.run("check --repair --yes").shows(expect![[r#"
        --- stderr
        scanned 21 keys, 4 jobs, 2 queues in 0.0s
        error: cannot ask whether to repair 5 findings on PROD (unix://DIR/s); nothing was changed
        hint: add `--confirm=PROD`: the context is protected
        --- exit 9
    "#]]);
    prod.run("check --repair --yes --confirm PROD -q").exits(0);
}

#[test]
fn a_repair_of_one_queue_keeps_what_other_queues_record_of_a_job() {
    let redis = Redis::start();
    for line in [
        "put mail K --jid x1",
        "put images K --jid x2",
        "put mail K --jid y --depends x1 --depends x2",
    ] {
        redis.ok(9_000, line);
    }
    redis.send(&["DEL", "ql:j:y-dependencies"]);
    let before = redis.dump();
    at(&redis)
        .run("check --repair --queue mail --yes")
        .shows(expect![[r#"
            error	dependency-one-sided	2	dependency that only one of its two jobs lists	y needs x1, y needs x2
            --- stderr
            scanned 12 keys, 3 jobs, 1 queue in 0.0s
            note: a job that lost its dependencies is repaired only without `--queue`
            --- exit 7
        "#]]);
    assert!(redis.dump() == before);
    at(&redis).run("check --repair --yes").exits(0);
    let wanted = redis::Value::Int(2);
    assert_eq!(redis.send(&["SCARD", "ql:j:y-dependencies"]), wanted);
}

#[test]
fn findings_that_need_no_missing_right_are_repaired() {
    if !Redis::has_selective_rights_or_skips() {
        // Such a server does not name the command.
        return;
    }
    let redis = damaged();
    redis.send(&["HSET", "ql:j:stub", "state", "waiting"]);
    redis.send(&["ZADD", "ql:q:mail-work", "5", "stub"]);
    redis.send(&[
        "ACL", "SETUSER", "ops", "on", "nopass", "~*", "&*", "+@all", "-rename",
    ]);
    let ops = || at(&redis).with_user(&redis.url(), "ops", "x");
    ops().run("check --repair --yes").shows(expect![[r#"
        critical	job-stub	0	0	1	1	none
        critical	ghost-waiting	1	0	0	0	removed the id
        error	failed-unlisted	1	0	0	0	listed it in the group of its failure
        error	running-without-lock	1	0	0	0	gave it a lock with the right expiry
        warn	group-set	0	1	0	0	none
        warn	tag-count	1	0	0	0	set it to the number of entries in the index
        info	history-orphan	0	0	0	1	none, needs `--only`
        --- stderr
        scanned 22 keys, 5 jobs, 2 queues in 0.0s
        4 repaired, 1 gone by itself, 1 refused
        error: user `ops` may not run RENAME on `ql:*` after 4 of 6 findings were repaired
        hint: `qless help acl` prints the line an administrator needs
        --- exit 6
    "#]]);
    ops().run("check --repair --yes").exits(6);
    at(&redis).run("check --repair --yes").exits(0);
}

#[test]
fn a_symbolic_link_is_not_followed() {
    let redis = damaged();
    let (target, link) = (file(&redis, "target"), file(&redis, "link"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    at(&redis)
        .run(&format!("check --repair --yes --undo {link}"))
        .shows(expect![[r#"
            --- stderr
            error: cannot write `DIR/link`: it is a symbolic link
            hint: name the file itself
            --- exit 2
        "#]]);
    assert!(!Path::new(&target).exists());
}

#[test]
fn a_job_with_more_dependents_than_one_call_can_verify_is_left_unchanged() {
    let redis = Redis::start();
    put_with_dependent(&redis, 250);
    redis.send(&["DEL", "ql:j:y-dependencies"]);
    redis.send(&["ZREM", "ql:q:mail-work", "x7"]);
    at(&redis).run("check --repair --yes").shows(expect![[r#"
        error	dependency-one-sided	0	0	0	250	none
        error	in-no-set	1	0	0	0	put it in the set that fits its state
        --- stderr
        scanned 755 keys, 251 jobs, 1 queue in 0.0s
        note: y lost more dependencies than one call can verify: set all of them with `qless depends --on=JID y`, with a `--on` for each
        1 repaired; 250 remaining
        --- exit 7
    "#]]);
    let known = (0..250).filter(|number| {
        let key = format!("ql:j:x{number}-dependents");
        redis.send(&["SISMEMBER", &key, "y"]) == redis::Value::Int(1)
    });
    assert_eq!(known.count(), 250);
    assert_eq!(
        redis.send(&["HGET", "ql:j:y", "state"]),
        redis::Value::BulkString(b"depends".to_vec())
    );
}

#[test]
fn a_lost_queue_is_reported_with_a_hint_to_restore_a_backup() {
    let redis = Redis::start();
    redis.calls((0..12).map(|n| call(9_000.0, &format!("put me mail j{n} K {{}} 0"))));
    redis.send(&["DEL", "ql:q:mail-work"]);
    let plan = at(&redis).run("check --repair -n");
    assert!(plan.stderr().contains("a backup may be better"));
    at(&redis).run("check --repair --yes -q").exits(0);
    let count = redis.send(&["ZCARD", "ql:q:mail-work"]);
    assert_eq!(count, redis::Value::Int(12));
}

/// This many jobs of two queues that depend on a missing job; they list it themselves, or only its
/// leftover keys do.
fn forsaken(count: usize, known: bool) -> Redis {
    let redis = Redis::start();
    redis.ok(9_000, "put up K --jid gone");
    let put = |n: usize| {
        let queue = ["mail", "img"][n % 2];
        call(
            9_000.0,
            &format!("put me {queue} y{n} K {{}} 0 depends [\"gone\"]"),
        )
    };
    redis.calls((0..count).map(put));
    let mut pipe = redis::pipe();
    pipe.cmd("DEL").arg("ql:j:gone").arg("ql:j:gone-history");
    pipe.cmd("ZREM").arg("ql:q:up-work").arg("gone");
    for n in 0..if known { 0 } else { count } {
        pipe.cmd("DEL").arg(format!("ql:j:y{n}-dependencies"));
    }
    pipe.exec(&mut redis.connection()).unwrap();
    redis
}

/// How many jobs of the queues run, and how many still depend on others.
fn freed(redis: &Redis) -> [i64; 4] {
    let keys = ["mail-work", "mail-depends", "img-work", "img-depends"];
    keys.map(|key| match redis.send(&["ZCARD", &format!("ql:q:{key}")]) {
        redis::Value::Int(count) => count,
        other => panic!("{other:?}"),
    })
}

#[test]
fn a_thousand_dependents_of_a_missing_job_are_released_by_queue_or_together() {
    let redis = forsaken(1000, true);
    let repair = |flags: &str| {
        let line = format!("check --repair --yes --only dependency-missing {flags}");
        at(&redis).run(&line).exits(0).says("500 repaired");
    };
    repair("--queue mail");
    assert_eq!(freed(&redis), [500, 0, 0, 500]);
    repair("");
    assert_eq!(freed(&redis), [500, 0, 500, 0]);
    at(&redis).run("check").exits(0);
}

#[test]
fn a_queue_repair_releases_a_job_that_lost_its_dependency_list_only_if_no_other_queue_is_involved()
{
    let redis = forsaken(20, false);
    let printed = |flags: &str, code: i32| {
        let ran = at(&redis).run(&format!("check {flags}")).exits(code);
        (ran.stdout(), ran.stderr())
    };
    let missing = |count: usize| format!("dependency-missing\t{count}\t");
    let (out, _) = printed("--queue mail", 7);
    assert!(
        out.contains(&missing(10)) && !out.contains("orphan"),
        "{out}"
    );
    // One call repairs all dependents.
    let before = redis.dump();
    let (out, err) = printed("--queue mail --repair --yes --only dependency-missing", 7);
    assert!(out.contains(&missing(10)), "{out}");
    assert!(err.contains("is repaired only without `--queue`"), "{err}");
    assert_eq!(redis.dump(), before);
    let all =
        "--queue mail --queue img --repair --yes --only dependency-missing,depends-on-nothing";
    printed(all, 0);
    assert_eq!(freed(&redis), [10, 0, 10, 0]);
    printed("", 0);
}

#[test]
fn a_lost_dependency_list_is_not_rebuilt_while_a_dependency_has_too_many_dependents() {
    let redis = Redis::start();
    let put = |jid: &str, deps: &str| {
        call(
            9_000.0,
            &format!("put me mail {jid} K {{}} 0 depends {deps}"),
        )
    };
    let mut calls: Vec<(f64, Vec<String>)> = vec![put("x", "[]"), put("z", "[]")];
    calls.extend((0..2500).map(|n| match n % 250 {
        0 => put(&format!("y{n}"), "[\"x\",\"z\"]"),
        _ => put(&format!("y{n}"), "[\"x\"]"),
    }));
    redis.calls(calls);
    let without_dependencies: Vec<String> =
        (0..2500).step_by(250).map(|n| format!("y{n}")).collect();
    for jid in &without_dependencies {
        redis.send(&["DEL", &format!("ql:j:{jid}-dependencies")]);
    }
    let before = redis.dump();
    let ran = at(&redis).run("check --repair --yes").exits(7);
    ran.says("lost more dependencies than one call can verify");
    // Rebuilt from `z` alone, their lists would release them before `x` is done.
    assert_eq!(redis.dump(), before);
    for jid in &without_dependencies {
        at(&redis).run(&format!("depends {jid} --on x z")).exits(0);
    }
    at(&redis).run("check").exits(0);
}

#[test]
fn a_key_of_a_wrong_type_does_not_stop_a_repair_of_the_rest() {
    let redis = Redis::start();
    at(&redis).run("put q K {} --jid a").exits(0);
    at(&redis).run("put p K {} --jid b").exits(0);
    redis.send(&["DEL", "ql:q:q-work"]);
    redis.send(&["SET", "ql:q:q-work", "x"]);
    redis.send(&["HSET", "ql:j:b", "tags", "{{"]);
    at(&redis).session(expect![[r#"
        $ qless check
        critical	job-unreadable	1	field or history entry that does not parse	b: tags
        critical	key-type	1	key of a wrong type, or id with a reserved suffix	q:q-work: is a string, not a zset
        --- stderr
        scanned 7 keys, 2 jobs, 2 queues in 0.0s
        hint: show the plan: qless check --repair --dry-run
        --- exit 7
        $ qless check --repair --yes
        critical	key-type	0	0	0	1	none, needs `--only`
        critical	job-unreadable	1	0	0	0	replaced the value if the right one is known; the old text is kept in another field
        --- stderr
        scanned 7 keys, 2 jobs, 2 queues in 0.0s
        1 repaired; 1 remaining
          not repaired, because you have to decide:
          key-type, 1: key of a wrong type, or id with a reserved suffix
            find the program that wrote it: no client of qless does
            set it aside: `qless check --repair --only key-type`
            for a job with a reserved suffix: `qless cancel JID`
        --- exit 7
    "#]]);
    // A repair of a part says nothing about the rest.
    redis.send(&["HSET", "ql:j:b", "tags", "{{"]);
    let ran = at(&redis).run("check --repair --only key-type --yes");
    let printed = ran.exits(0);
    printed.says("1 repaired; nothing left of what was asked\n");
    at(&redis)
        .run("check --repair --yes")
        .shows(expect![[r#"
            critical	job-unreadable	1	0	0	0	replaced the value if the right one is known; the old text is kept in another field
            error	in-no-set	1	0	0	0	put it in the set that fits its state
            info	lost-key	0	0	0	1	none, needs `--only`
            --- stderr
            scanned 7 keys, 2 jobs, 2 queues in 0.0s
            2 repaired; clean
        "#]]);
}

#[test]
fn a_job_that_is_locked_in_an_unlisted_queue_is_not_released() {
    let redis = Redis::start();
    for line in ["put q K {} --jid x", "put q K {} --jid y --depends x"] {
        at(&redis).run(line).exits(0);
    }
    redis.send(&["DEL", "ql:j:x-dependents"]);
    at(&redis).run("pop q --worker w").exits(0);
    at(&redis).run("complete x --worker w").exits(0);
    redis.send(&["ZADD", "ql:q:away-locks", "99000", "y"]);
    redis.send(&["HSET", "ql:j:y", "worker", "w"]);
    let ran = at(&redis).run("check --repair --only dependency-complete --yes");
    ran.exits(7);
    at(&redis).run("check --repair --yes").exits(7);
    let state = || redis.ok(NOW, "get y --field state");
    assert_eq!(state(), "depends");
    // The lock has expired.
    redis.at(100_000).run("check --repair --yes").exits(0);
    assert_eq!(state(), "waiting");
}

#[test]
fn a_job_that_lost_its_dependency_and_its_set_is_released_by_the_repair_that_was_asked_for() {
    let redis = Redis::start();
    for line in [
        "put q K {} --jid x",
        "put q K {} --jid y --depends x",
        "put q K {} --jid other",
        "put q K {} --jid stuck --depends other",
    ] {
        at(&redis).run(line).exits(0);
    }
    redis.send(&["DEL", "ql:j:x", "ql:j:x-history", "ql:j:y-dependencies"]);
    redis.send(&["ZREM", "ql:q:q-work", "x"]);
    redis.send(&["DEL", "ql:j:stuck-dependencies", "ql:j:other-dependents"]);
    at(&redis)
        .run("check --repair --only dependency-missing --yes")
        .shows(expect![[r#"
            error	dependency-missing	1	0	0	0	dropped the dependency; a job with no other dependency is released
            error	depends-on-nothing	1	0	0	0	released it
            --- stderr
            scanned 10 keys, 3 jobs, 1 queue in 0.0s
            2 repaired; nothing left of what was asked
        "#]]);
    let state = |jid: &str| at(&redis).run(&format!("get {jid} --field state")).ok();
    assert_eq!(state("y"), "waiting");
    // Nobody has asked for this one.
    assert_eq!(state("stuck"), "depends");
}

#[test]
fn a_dry_run_ends_with_the_code_of_the_repair() {
    let redis = Redis::start();
    at(&redis).run("put mail Send --jid d").ok();
    redis.send(&["DEL", "ql:j:d"]);
    // The history of the lost job stays: nobody decided.
    for (flags, code) in [
        ("--fail-on info", 7),
        ("", 0),
        ("--only all --fail-on info", 0),
    ] {
        at(&redis)
            .run(&format!("check --repair --dry-run {flags}"))
            .exits(code);
    }
    at(&redis)
        .run("check --repair --yes --fail-on info")
        .exits(7);
    let plan = at(&redis).run("check --repair --dry-run").stderr();
    assert!(
        plan.starts_with("There is nothing to repair\n\n  not repaired"),
        "{plan}"
    );
}

#[test]
fn a_dry_run_names_the_undo_file_unless_it_has_one() {
    let redis = damaged();
    let undo = redis.socket().with_file_name("undo.ndjson");
    let said = |flags: &str| {
        let mut command = at(&redis).command();
        command.args(words(&format!("check --repair --dry-run {flags}")));
        terminal::run(command, 100).stdout()
    };
    let hint =
        "hint: with `--undo FILE`, a repair can be reverted by `qless check --revert FILE`\n";
    assert!(said("").ends_with(hint), "{}", said(""));
    assert!(!said(&format!("--undo {}", undo.display())).contains("hint"));
    assert!(!said("--only score").contains("hint"));
}

#[test]
fn a_revert_on_another_server_names_its_address() {
    let (first, second) = (damaged(), damaged());
    let undo = repair_with_undo(&first, "");
    let before = second.dump();
    repair_with_undo(&second, "");
    let repaired = second.dump();
    let here = second.url();
    let qless = at(&second)
        .hide(&undo, "UNDO")
        .hide(&first.url(), "unix://FIRST")
        .hide(&here, "unix://SECOND");
    qless.session(expect![[r#"
        $ qless check --revert UNDO --yes
        --- stderr
        error: `UNDO` is about `unix://FIRST`, not `unix://DIR/s`; nothing was changed
        hint: if this is a restored copy of that data, add `--confirm=unix://DIR/s`
        --- exit 2
        $ qless check --revert UNDO --dry-run
        --- stderr
        error: `UNDO` is about `unix://FIRST`, not `unix://DIR/s`; nothing was changed
        hint: if this is a restored copy of that data, add `--confirm=unix://DIR/s`
        --- exit 2
        $ qless check --revert UNDO --yes --confirm unix://FIRST
        --- stderr
        error: `UNDO` is about `unix://FIRST`, not `unix://DIR/s`; nothing was changed
        hint: if this is a restored copy of that data, add `--confirm=unix://DIR/s`
        --- exit 2
    "#]]);
    assert!(second.dump() == repaired);
    qless
        .run(&format!("check --revert {undo} --yes --confirm {here}"))
        .exits(0);
    assert!(second.dump() == before);
}

#[test]
fn a_revert_on_another_database_is_refused_and_through_another_address_is_not() {
    let redis = damaged();
    let before = redis.dump();
    let undo = repair_with_undo(&redis, "");
    let line = format!("check --revert {undo} --yes");
    at(&redis)
        .run(&format!("{line} --redis {}?db=1", redis.url()))
        .exits(2);
    let socket = redis.socket();
    let port = listen(move |client| forward(client, &socket, None));
    // A script may always name the address in use.
    let address = format!("redis://127.0.0.1:{port}");
    at(&redis)
        .run(&format!("{line} --redis {address} --confirm {address}/0"))
        .exits(0);
    assert!(redis.dump() == before);
}
