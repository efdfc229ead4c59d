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
fn arguments_come_from_files_and_stdin_and_the_time_can_be_set() {
    let redis = Redis::start();
    let file = redis.socket().with_file_name("data");
    std::fs::write(&file, br#"{"a":1}"#).unwrap();
    redis.session(expect![[r#"
        0 $ qless api put w mail j K @DIR/data 0 --now 1970-01-01T00:01:11Z
        j
        0 $ printf '{"b":2}' | qless api put w mail k K - 0
        k
    "#]]);
    let bytes = |text: &str| redis::Value::BulkString(text.as_bytes().to_vec());
    for (read, stored) in [
        (["HGET", "ql:j:j", "data"], r#"{"a":1}"#),
        (["HGET", "ql:j:k", "data"], r#"{"b":2}"#),
        (
            ["LINDEX", "ql:j:j-history", "0"],
            r#"[71,"put",{"q":"mail"}]"#,
        ),
    ] {
        assert_eq!(redis.send(&read), bytes(stored));
    }
}

#[test]
fn a_repair_can_be_reverted_by_hand() {
    let redis = Redis::start();
    // The key is an argument like any other.
    redis.session(expect![[r#"
        0 $ qless api put w mail j K {} 0
        j
        0 $ qless api check.revert ql:q:mail-work +ghost +-163 - ql:q:mail-work +j - -
        1
        1
        0 $ printf 'ql:q:mail-work' | qless api check.revert - +other +5 -
        1
        0
    "#]]);
    let score = redis.send(&["ZSCORE", "ql:q:mail-work", "ghost"]);
    assert_eq!(score, redis::Value::BulkString(b"-163".to_vec()));
}

#[test]
fn texts_of_the_core_are_reworded() {
    Redis::start().session(expect![[r#"
        0 $ qless api put w mail j K {} 0
        j
        0 $ qless api complete nope w mail {}
        --- stderr
        error: job `nope` does not exist
        --- exit 4
        0 $ qless api complete nope w mail {} -o json
        --- stderr
        {"kind":"error","v":1,"code":"not_found","exit":4,"message":"job `nope` does not exist","hint":null,"jid":"nope"}
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
    "#]]);
}

#[test]
fn api_arguments_may_be_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let redis = Redis::start();
    let run = |words: &[&[u8]]| {
        let words = words.iter().map(|word| OsStr::from_bytes(word));
        redis.at(0).args(words)
    };
    run(&[b"api", b"put", b"w", b"q\xff", b"j\xfe", b"K", b"{}", b"0"]).ok();
    run(&[b"length", b"q\xff", b"-ondjson"]).shows(expect![[r#"
        {"kind":"length","v":1,"queue":"q\\xff","queue_bytes":"cf8=","length":1}
    "#]]);
    // What the core says about such a name keeps its meaning.
    run(&[b"api", b"complete", b"\xfe", b"w", b"q", b"{}"]).shows(expect![[r#"
        --- stderr
        error: job `\xfe` does not exist
        --- exit 4
    "#]]);
    run(&[b"api", b"pop", b"q\xff", b"w\xfd", b"1"]).ok();
    run(&[b"api", b"complete", b"j\xfe", b"w", b"q\xff", b"{}", b"-ojson"]).shows(expect![[r#"
        --- stderr
        {"kind":"error","v":1,"code":"conflict","exit":5,"message":"cannot complete `j\\xfe`: it is held by `w\\xfd`","hint":"`--as-holder` acts in the name of the holder","jid":"j\\xfe","jid_bytes":"av4="}
        --- exit 5
    "#]]);
    run(&[b"api", b"put", b"w", b"q", b"k", b"K", b"{}", b"\xff"]).shows(expect![[r#"
        --- stderr
        error: put: Arg "delay" not a number: \xff
        --- exit 2
    "#]]);
    run(&[b"api", b"not\xff"]).shows(expect![[r#"
        --- stderr
        error: an argument is not UTF-8
        hint: usage: `qless api [OPTIONS] <COMMAND> [ARGS]...`
        --- exit 2
    "#]]);
}
