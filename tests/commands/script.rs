//! `qless script`

use crate::support::qless::Qless;
use crate::support::redis::Redis;

#[test]
fn script_prints_exactly_what_is_loaded() {
    let redis = Redis::start();
    let script = redis.at(0).run("script");
    let script = std::str::from_utf8(script.bytes()).unwrap();
    let redis::Value::BulkString(sha) = redis.send(&["SCRIPT", "LOAD", script]) else {
        panic!("not loaded");
    };
    let sha = String::from_utf8(sha).unwrap();
    assert_eq!(
        redis.at(0).run("version -o json").json()["core"],
        sha.as_str()
    );
    redis.at(0).run("length q").ok();
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
    redis.at(0).run("api config.set heartbeat soon").ok();
    redis.at(0).run("api put w q j K {} 0").ok();
    let printed = redis.at(0).run("api pop q w 1");
    if printed.code() != 0 {
        assert!(
            !printed.stderr().contains("script line"),
            "{}",
            printed.stderr()
        );
    }
}
