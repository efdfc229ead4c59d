//! `qless script`

use expect_test::expect;

use crate::support::qless::Qless;
use crate::support::redis::Redis;
use crate::support::text::words;

#[test]
fn script_prints_exactly_what_is_loaded() {
    let redis = Redis::start();
    let script = redis.at(0).run("script");
    let script = std::str::from_utf8(script.bytes()).unwrap();
    let redis::Value::BulkString(sha) = redis.send(&["SCRIPT", "LOAD", script]) else {
        panic!("not loaded");
    };
    let sha = String::from_utf8(sha).unwrap();
    assert_eq!(redis.json(0, "version -o json")["core"], sha.as_str());
    redis.ok(0, "length q");
    let known = redis.send(&["SCRIPT", "EXISTS", &sha]);
    assert_eq!(known, redis::Value::Array(vec![redis::Value::Int(1)]));
}

#[test]
fn the_prefix_is_written_into_the_script() {
    let script = Qless::bare().run("script --prefix {t}:");
    assert!(script.stdout().contains("'{t}:"));
    assert!(!script.stdout().contains("'ql:"));
    let other = Qless::bare().run("version --prefix {t}: -o json").json();
    assert_ne!(
        other["core"],
        Qless::bare().run("version -o json").json()["core"]
    );
}

#[test]
fn the_library_form_works_for_plugins() {
    let redis = Redis::start();
    let library = Qless::bare().run("script --lib").stdout();
    let plugin = "return Qless.config.get(ARGV[1]) * ARGV[2]";
    let product = redis.send(&["EVAL", &format!("{library}{plugin}"), "0", "heartbeat", "3"]);
    assert_eq!(product, redis::Value::Int(180));
}

#[test]
fn a_fault_of_the_script_names_file_and_line() {
    let redis = Redis::start();
    // An invalid heartbeat is a fault that the reference has, too.
    redis.ok(0, "api config.set heartbeat soon");
    redis.ok(0, "api put w q j K {} 0");
    let printed = redis.at(0).run("api pop q w 1");
    if printed.code() != 0 {
        assert!(
            !printed.stderr().contains("script line"),
            "{}",
            printed.stderr()
        );
    }
}

#[test]
fn the_script_for_qless_php_serves_the_same_queues() {
    let redis = Redis::start();
    let script = Qless::bare().run("script --for qless-php").stdout();
    let first = "--!df flags=allow-undeclared-keys for qless-php";
    assert_eq!(script.lines().next(), Some(first));
    let redis::Value::BulkString(sha) = redis.send(&["SCRIPT", "LOAD", &script]) else {
        panic!("not loaded");
    };
    let sha = String::from_utf8(sha).unwrap();
    let call = |line: &str| {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        redis.send(&[&["EVALSHA", &sha, "0"], &words[..]].concat())
    };
    // As qless-php puts and pops: what is absent is an empty text.
    call("put 1 '' q a K [] 0 priority 0 tags [] retries 5 depends [] backoff []");
    redis.ok(1.5, "put q K --jid b");
    call("pop 2 q php 1");
    redis.session(expect![[r#"
        2 $ qless pop q --worker w -o jid
        b
        3 $ qless complete b --worker w
        complete
    "#]]);
    let done = call("complete 3 a php q []");
    assert_eq!(done, redis::Value::BulkString(b"complete".to_vec()));
    assert_eq!(redis.ok(4, "jobs --state complete -o jid"), "b\na");
    redis.must_be_clean();
    Qless::bare().run("script --for qless-php --lib").exits(2);
}
