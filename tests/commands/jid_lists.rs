//! Lists of job ids, from `-o jid` or `-o ndjson` to `-` and `@FILE`: each id is read as it was.

use std::collections::BTreeSet;

use expect_test::expect;

use crate::support::qless::RunOutput;
use crate::support::redis::Redis;
use crate::support::text::Shows;

/// Ids that a line holds, and ids that a reader of lines would take for others or for none.
const FIT: [&str; 7] = [
    "a",
    "victim",
    "--all",
    "-",
    "@/etc/hostname",
    "* b",
    "'; rm",
];
const FIT_NO_LINE: [&str; 10] = [
    "x\nvictim",
    "\nvictim",
    "victim\n",
    "victim\r",
    " victim",
    "victim\t",
    "\n",
    "# victim",
    "{",
    "{\"jid\":\"victim\"}",
];
const WITH_NUL: &str = "x\0victim";

fn hostile() -> Redis {
    let redis = Redis::start();
    let jids = FIT.iter().chain(&FIT_NO_LINE).chain([&WITH_NUL]);
    redis.calls(jids.map(|jid| (1.0, vec!["put", "me", "q", jid, "K", "{}", "0"])));
    redis
}

fn planned(redis: &Redis, flags: &str, list: &[u8]) -> RunOutput {
    let line = format!("cancel --dry-run -o ndjson {flags} -");
    redis.at(2).input(list).run(&line)
}

/// The jids of a report in ndjson.
fn jids(ran: &RunOutput) -> BTreeSet<String> {
    let text = ran.ok();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let jids = lines.filter_map(|line: serde_json::Value| Some(line["jid"].as_str()?.to_owned()));
    jids.collect()
}

fn set(jids: &[&str]) -> BTreeSet<String> {
    jids.iter().map(|jid| (*jid).to_owned()).collect()
}

#[test]
fn an_id_that_fits_no_line_is_left_out_and_forges_none() {
    let redis = hostile();
    let listed = redis.at(2).run("jobs -o jid").exits(3);
    listed.stderr().shows(expect![[r#"
        error: left out 10 job ids that fit no line: `{"jid":"victim"}`, `{`, `x\nvictim`, …
        hint: `-0` or `-o ndjson` prints all
    "#]]);
    let fit = [&FIT[..], &[WITH_NUL]].concat();
    assert_eq!(jids(&planned(&redis, "", listed.bytes())), set(&fit));
    // Also the jobs that a command has changed, one by one.
    let forged = redis.ok(2, "jobs --queue q -o ndjson");
    let tagged = redis
        .at(3)
        .input(&forged)
        .run("tag --add t -o jid -")
        .exits(3);
    assert_eq!(jids(&planned(&redis, "", tagged.bytes())), set(&fit));
}

#[test]
fn a_nul_ends_every_id() {
    let redis = hostile();
    let listed = redis.at(2).run("jobs -0 -o jid").exits(3);
    listed.stderr().shows(expect![[r#"
        error: left out 1 job id with a NUL: `x\x00victim`
        hint: `-o ndjson` prints all
    "#]]);
    let without_nul = [&FIT[..], &FIT_NO_LINE].concat();
    assert_eq!(
        jids(&planned(&redis, "-0", listed.bytes())),
        set(&without_nul)
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), listed.bytes()).unwrap();
    let line = format!("cancel -n --null -o ndjson @{}", file.path().display());
    assert_eq!(jids(&redis.at(2).run(&line)), set(&without_nul));
    // The last one needs no end.
    assert_eq!(
        jids(&planned(&redis, "-0", b"a\0x\nvictim")),
        set(&["a", "x\nvictim"])
    );
    assert_eq!(jids(&planned(&redis, "-0", b"")), set(&[]));
}

#[test]
fn ndjson_carries_every_id() {
    let redis = hostile();
    let all = [&FIT[..], &FIT_NO_LINE, &[WITH_NUL]].concat();
    let listed = redis.at(2).run("jobs -o ndjson");
    assert_eq!(jids(&planned(&redis, "", listed.bytes())), set(&all));
    let planned_again = planned(&redis, "", planned(&redis, "", listed.bytes()).bytes());
    assert_eq!(jids(&planned_again), set(&all));
    redis.send(&["FLUSHALL"]);
    let bytes: [&[u8]; 3] = [b"api", b"put", b"me"];
    let job: [&[u8]; 5] = [b"q", b"\xff\n", b"K", b"{}", b"0"];
    let words = bytes.iter().chain(&job);
    use std::os::unix::ffi::OsStrExt;
    redis
        .at(1)
        .args(words.map(|word| std::ffi::OsStr::from_bytes(word)))
        .ok();
    let listed = redis.at(2).run("jobs -o ndjson");
    let ran = planned(&redis, "", listed.bytes()).ok();
    assert!(ran.contains(r#""jid_bytes":"/wo=""#), "{ran}");
    assert!(ran.contains(r#""matched":1"#), "{ran}");
}

#[test]
fn a_changed_job_whose_id_is_left_out_is_named() {
    let redis = Redis::start();
    redis.calls([(1.0, vec!["put", "me", "q", "x\nv", "K", "{}", "0"])]);
    let popped = redis.at(2).run("pop q --yes -o jid").exits(3);
    assert_eq!(popped.bytes(), b"");
    popped.stderr().shows(expect![[r#"
        error: left out 1 job id that fits no line: `x\nv`
        hint: the command was carried out; next time, `-0` or `-o ndjson` prints all
    "#]]);
    // A dry run changes nothing.
    let planned = redis.at(3).run("cancel --dry-run --all -o jid").exits(3);
    assert!(
        planned
            .stderr()
            .ends_with("hint: `-0` or `-o ndjson` prints all\n")
    );
}

#[test]
fn what_is_left_out_is_also_said_with_quiet_and_does_not_hide_another_failure() {
    let redis = hostile();
    let quiet = redis.at(2).run("jobs -q -o jid").exits(3);
    assert!(
        quiet
            .stderr()
            .starts_with("error: left out 10 job ids that fit no line")
    );
    let list = tempfile::NamedTempFile::new().unwrap();
    let lines = "{\"jid\":\"x\\nvictim\"}\n{\"jid\":\"missing\"}\n";
    std::fs::write(list.path(), lines).unwrap();
    let line = format!("get -o jid @{}", list.path().display());
    let both = redis.at(2).run(&line).exits(4);
    both.stderr().shows(expect![[r#"
        error: left out 1 job id that fits no line: `x\nvictim`
        hint: `-0` or `-o ndjson` prints all
        error: job `missing` does not exist
    "#]]);
    let found = redis.at(2).input(b"x\nvictim\0").run("get -0 -o jid -");
    assert_eq!(found.bytes(), b"x\nvictim\0");
}

#[test]
fn a_put_prints_no_id_that_means_another_job() {
    let redis = Redis::start();
    redis.calls([(
        1.0,
        vec!["put", "me", "q", "l\nvictim", "K", "{}", "0", "key", "k"],
    )]);
    for (line, shown) in [
        ("put q K --key=k --unique", ""),
        ("put -0 q K --key=k --unique", "l\nvictim\0"),
        ("put q K --key=k --unique -o raw", "l\nvictim\n"),
    ] {
        let ran = redis.at(2).run(line);
        assert_eq!(ran.bytes(), shown.as_bytes(), "{line}");
        assert_eq!(ran.code(), if shown.is_empty() { 3 } else { 0 }, "{line}");
    }
}
