//! The stored patterns of queue names, as reqless has them.

use serde_json::json;

use crate::check::invariants::Excuses;
use crate::support::core::{Core, Reply};

#[test]
fn identifier_patterns_are_stored_and_always_have_a_default() {
    let mut core = Core::new();
    assert_eq!(
        core.json("queueIdentifierPatterns.getAll 0"),
        json!({"default": r#"["*"]"#})
    );
    let set =
        r#"queueIdentifierPatterns.setAll 0 web '["web-*", "!web-old"]' none [] eu '["*-eu"]'"#;
    assert_eq!(core.ok(set), Reply::Nil);
    assert_eq!(
        core.ok("queueIdentifierPatterns.getAll 1").text(),
        r#"{"default":"[\"*\"]","eu":"[\"*-eu\"]","web":"[\"web-*\", \"!web-old\"]"}"#
    );
    core.ok(r#"queueIdentifierPatterns.setAll 2 default '["a"]'"#);
    assert_eq!(
        core.json("queueIdentifierPatterns.getAll 3"),
        json!({"default": r#"["a"]"#})
    );
    assert_eq!(core.redis("HLEN ql:qp:identifiers"), Reply::Int(1));
}

#[test]
fn priority_patterns_keep_their_order_and_end_with_a_default() {
    let mut core = Core::new();
    let default = r#"{"fairly": false, "pattern": ["default"]}"#;
    assert_eq!(
        core.json("queuePriorityPatterns.getAll 0"),
        json!([default])
    );
    let (one, two) = (
        r#"{"fairly":true,"pattern":["b*"]}"#,
        r#"{"pattern":["a"]}"#,
    );
    core.ok(&format!("queuePriorityPatterns.setAll 0 '{one}' '{two}'"));
    assert_eq!(
        core.json("queuePriorityPatterns.getAll 1"),
        json!([one, two, default])
    );
    let own = r#"{"fairly":true,"pattern":["default"]}"#;
    core.ok(&format!("queuePriorityPatterns.setAll 2 '{own}' '{two}'"));
    assert_eq!(
        core.json("queuePriorityPatterns.getAll 3"),
        json!([own, two])
    );
    core.ok("queuePriorityPatterns.setAll 4");
    assert_eq!(
        core.json("queuePriorityPatterns.getAll 5"),
        json!([default])
    );
    assert!(!core.dump().has("ql:qp:priorities"));
}

#[test]
fn the_keys_of_qmore_are_read_until_patterns_are_set() {
    let mut core = Core::new();
    core.redis("HSET qmore:dynamic web [\"w\"]");
    core.redis("RPUSH qmore:priority {\"pattern\":[\"w\"]}");
    assert_eq!(
        core.json("queueIdentifierPatterns.getAll 0")["web"],
        r#"["w"]"#
    );
    assert_eq!(
        core.json("queuePriorityPatterns.getAll 0"),
        json!([r#"{"pattern":["w"]}"#])
    );
    core.ok(r#"queueIdentifierPatterns.setAll 1 mail '["m"]'"#);
    core.ok("queuePriorityPatterns.setAll 1");
    assert_eq!(
        core.redis("EXISTS qmore:dynamic qmore:priority"),
        Reply::Int(0)
    );
    assert_eq!(
        core.json("queueIdentifierPatterns.getAll 2"),
        json!({"default": r#"["*"]"#, "mail": r#"["m"]"#})
    );
    // A key of another type there is as good as none.
    core.redis("SET qmore:priority x");
    assert_eq!(
        core.json("queuePriorityPatterns.getAll 3")
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn wrong_patterns_are_refused_before_anything_is_written() {
    let mut core = Core::new();
    core.ok(r#"queueIdentifierPatterns.setAll 0 web '["w"]'"#);
    core.ok(r#"queuePriorityPatterns.setAll 0 '{"pattern":["w"]}'"#);
    for line in [
        "queueIdentifierPatterns.setAll 1 web",
        r#"queueIdentifierPatterns.setAll 1 mail '["m"]' web nonsense"#,
        "queueIdentifierPatterns.setAll 1 web 7",
        r#"queueIdentifierPatterns.setAll 1 web '{"a":"b"}'"#,
        "queueIdentifierPatterns.setAll 1 web '[1]'",
        "queuePriorityPatterns.setAll 1 nonsense",
        "queuePriorityPatterns.setAll 1 7",
        "queuePriorityPatterns.setAll 1 {}",
        r#"queuePriorityPatterns.setAll 1 '{"pattern":"w"}'"#,
    ] {
        core.refused(line);
    }
    // `check` knows the keys.
    core.must_be_clean(2.0, Excuses::default());
}

#[test]
fn a_user_without_rights_to_the_keys_of_qmore_does_without_them() {
    let mut core = Core::new();
    core.redis("SET qmore:dynamic x");
    core.redis("ACL SETUSER default resetkeys ~ql:* +@all");
    core.ok(r#"queueIdentifierPatterns.setAll 0 web '["w"]'"#);
    core.ok(r#"queuePriorityPatterns.setAll 0 '{"pattern":["w"]}'"#);
    core.ok("queuePriorityPatterns.setAll 0");
    assert_eq!(
        core.json("queueIdentifierPatterns.getAll 1")["web"],
        r#"["w"]"#
    );
    core.redis("DEL ql:qp:identifiers");
    assert_eq!(
        core.json("queueIdentifierPatterns.getAll 1"),
        json!({"default": r#"["*"]"#})
    );
    assert_eq!(
        core.json("queuePriorityPatterns.getAll 1")
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
