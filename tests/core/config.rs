//! Options: the answers for set, unset and unknown ones.

use serde_json::json;

use crate::support::core::{Core, Reply};

#[test]
fn unset_options_answer_their_defaults_in_their_own_type() {
    let mut core = Core::new();
    assert_eq!(core.ok("config.get 0 heartbeat"), Reply::Int(60));
    assert_eq!(core.ok("config.get 0 application").text(), "qless");
    assert_eq!(
        core.ok("config.get 0 jobs-history-count"),
        Reply::Int(50000)
    );
    for option in [
        "max-job-history",
        "max-worker-age",
        "q-heartbeat",
        "nope",
        "''",
    ] {
        assert_eq!(
            core.ok(&format!("config.get 0 {option}")),
            Reply::Nil,
            "{option}"
        );
    }
}

#[test]
fn all_options_are_the_defaults_overlaid_with_what_is_stored() {
    let mut core = Core::new();
    core.all("config.set 0 heartbeat 30; config.set 0 max-job-history 5; config.set 0 mine ''");
    assert_eq!(
        core.json("config.get 0"),
        json!({
            "application": "qless", "grace-period": 10, "heartbeat": "30", "histogram-history": 7,
            "jobs-history": 604800, "jobs-history-count": 50000, "stats-history": 30,
            "max-job-history": "5", "mine": "",
        })
    );
    assert_eq!(core.ok("config.get 0 mine").text(), "");
}

#[test]
fn setting_and_unsetting_publish_to_the_log() {
    let mut core = Core::new();
    assert_eq!(core.ok("config.set 0 a/b 'x \"y\"'"), Reply::Nil);
    assert_eq!(core.ok("config.unset 0 a/b"), Reply::Nil);
    assert_eq!(core.ok("config.unset 0 a/b"), Reply::Nil);
    assert_eq!(
        core.published(),
        [
            r#"ql:log {"option":"a\/b","event":"config_set","value":"x \"y\""}"#,
            r#"ql:log {"event":"config_unset","option":"a\/b"}"#,
            r#"ql:log {"event":"config_unset","option":"a\/b"}"#,
        ]
    );
    assert!(core.dump().0.is_empty());
}

#[test]
fn a_negative_heartbeat_makes_every_lock_expire_immediately() {
    let mut core = Core::new();
    core.all("config.set 0 heartbeat -10; config.set 0 grace-period 0; put 0 w q j K {} 0");
    assert_eq!(core.jids("pop 1 q w1 1"), ["j"]);
    assert_eq!(core.jids("pop 1 q w2 1"), ["j"]);
}
