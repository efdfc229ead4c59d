//! `qless api`

use expect_test::expect;

use crate::support::redis::Redis;

#[test]
fn replies_are_printed_as_they_are() {
    let redis = Redis::start();
    redis.session(expect![[r#"
        0 $ qless api put w mail j K '{"n":9007199254740993}' 0
        j
        0 $ qless api length mail
        1
        0 $ qless api get nope
        0 $ qless api jobs scheduled mail
        0 $ qless api tag add j a b
        ["a","b"]
        0 $ qless api cancel j
        j
        0 $ qless api look.workers
    "#]]);
}

#[test]
fn arguments_come_from_files_and_stdin() {
    let redis = Redis::start();
    let file = redis.socket().with_file_name("data");
    std::fs::write(&file, br#"{"a":1}"#).unwrap();
    let line = format!("api put w mail j K @{} 0", file.display());
    redis.ok(0, &line);
    redis
        .at(0)
        .input(r#"{"b":2}"#)
        .run("api put w mail k K - 0")
        .ok();
    let data = |jid: &str| redis.send(&["HGET", &format!("ql:j:{jid}"), "data"]);
    assert_eq!(data("j"), redis::Value::BulkString(br#"{"a":1}"#.to_vec()));
    assert_eq!(data("k"), redis::Value::BulkString(br#"{"b":2}"#.to_vec()));
}

#[test]
fn a_repair_can_be_reverted_by_hand() {
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0");
    let line = "api check.revert ql:q:mail-work +ghost +-163 - ql:q:mail-work +j - -";
    redis.at(0).run(line).shows(expect![[r#"
        1
        1
    "#]]);
    let score = redis.send(&["ZSCORE", "ql:q:mail-work", "ghost"]);
    assert_eq!(score, redis::Value::BulkString(b"-163".to_vec()));
    // The key is an argument like any other.
    redis
        .at(0)
        .input("ql:q:mail-work")
        .run("api check.revert - +other +5 -")
        .shows(expect![[r#"
            1
            0
        "#]]);
}

#[test]
fn the_time_can_be_set() {
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0 --now 1970-01-01T00:01:11Z");
    let history = redis.send(&["LINDEX", "ql:j:j-history", "0"]);
    let put = br#"[71,"put",{"q":"mail"}]"#;
    assert_eq!(history, redis::Value::BulkString(put.to_vec()));
}

#[test]
fn texts_of_the_core_are_reworded() {
    let redis = Redis::start();
    redis.ok(0, "api put w mail j K {} 0");
    redis.session(expect![[r#"
        0 $ qless api complete nope w mail {}
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        0 $ qless api complete j w mail {}
        --- stderr
        error: cannot complete `j`: its state is `waiting`
        --- exit 5
        0 $ qless api put w mail j K nope 0
        --- stderr
        error: put: Expected value but found invalid token at character 1
        --- exit 2
        0 $ qless api frobnicate
        --- stderr
        error: the core has no call `frobnicate`
        --- exit 2
        0 $ qless api complete nope w mail {} -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `nope` does not exist","hint":null,"jid":"nope"}
        --- exit 4
    "#]]);
}

#[test]
fn api_arguments_may_be_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let redis = Redis::start();
    let words: [&[u8]; 8] = [b"api", b"put", b"w", b"q\xff", b"j\xfe", b"K", b"{}", b"0"];
    redis.at(0).args(words.map(OsStr::from_bytes)).ok();
    let words: [&[u8]; 3] = [b"length", b"q\xff", b"-ojson"];
    redis
        .at(0)
        .args(words.map(OsStr::from_bytes))
        .shows(expect![[r#"
            {
              "kind": "length",
              "v": 1,
              "queue": "q\\xff",
              "queue_bytes": "cf8=",
              "length": 1
            }
        "#]]);
    // What the core says about such a name keeps its meaning.
    let words: [&[u8]; 6] = [b"api", b"complete", b"\xfe", b"w", b"q", b"{}"];
    redis
        .at(0)
        .args(words.map(OsStr::from_bytes))
        .shows(expect![[r#"
            --- stderr
            error: job `\xfe` does not exist
            --- exit 4
        "#]]);
    let words: [&[u8]; 5] = [b"api", b"pop", b"q\xff", b"w\xfd", b"1"];
    redis.at(0).args(words.map(OsStr::from_bytes)).exits(0);
    let words: [&[u8]; 7] = [
        b"api",
        b"complete",
        b"j\xfe",
        b"w",
        b"q\xff",
        b"{}",
        b"-ojson",
    ];
    redis
        .at(0)
        .args(words.map(OsStr::from_bytes))
        .shows(expect![[r#"
            --- stderr
            {"kind":"error","v":1,"code":"conflict","exit":5,"message":"cannot complete `j\\xfe`: it is held by `w\\xfd`","hint":"`--as-holder` acts in the name of the holder","jid":"j\\xfe","jid_bytes":"av4="}
            --- exit 5
        "#]]);
    let words: [&[u8]; 8] = [b"api", b"put", b"w", b"q", b"k", b"K", b"{}", b"\xff"];
    redis
        .at(0)
        .args(words.map(OsStr::from_bytes))
        .shows(expect![[r#"
            --- stderr
            error: put: Arg "delay" not a number: \xff
            --- exit 2
        "#]]);
    let words: [&[u8]; 2] = [b"api", b"not\xff"];
    redis
        .at(0)
        .args(words.map(OsStr::from_bytes))
        .shows(expect![[r#"
            --- stderr
            error: an argument is not UTF-8
            hint: usage: `qless api [OPTIONS] <COMMAND> [ARGS]...`
            --- exit 2
        "#]]);
}
