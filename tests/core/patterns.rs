//! The stored patterns of queue names, as reqless has them.

use expect_test::expect;
use serde_json::json;

use crate::support::core::Core;

#[test]
fn patterns_are_stored() {
    Core::new().session(expect![[r#"
        == Identifier patterns are stored and always have a default
        queueIdentifierPatterns.getAll 0 → {"default":"[\"*\"]"}
        queueIdentifierPatterns.setAll 0 web '["web-*", "!web-old"]' none [] eu '["*-eu"]' → nil
        queueIdentifierPatterns.getAll 1 → {"default":"[\"*\"]","eu":"[\"*-eu\"]","web":"[\"web-*\", \"!web-old\"]"}
        queueIdentifierPatterns.setAll 2 default '["a"]'
        queueIdentifierPatterns.getAll 3 → {"default":"[\"a\"]"}
        HLEN ql:qp:identifiers → :1

        == The keys of qmore are read until patterns are set
        HSET qmore:dynamic web ["w"]; RPUSH qmore:priority {"pattern":["w"]}
        queueIdentifierPatterns.getAll 0 | web → "[\"w\"]"
        queuePriorityPatterns.getAll 0 → ["{\"pattern\":[\"w\"]}"]
        queueIdentifierPatterns.setAll 1 mail '["m"]'; queuePriorityPatterns.setAll 1
        EXISTS qmore:dynamic qmore:priority → :0
        queueIdentifierPatterns.getAll 2 → {"default":"[\"*\"]","mail":"[\"m\"]"}
        -- A key of another type there is as good as none.
        SET qmore:priority x
        queuePriorityPatterns.getAll 3 → ["{\"fairly\": false, \"pattern\": [\"default\"]}"]

        == Wrong patterns are refused before anything is written
        queueIdentifierPatterns.setAll 0 web '["w"]'; queuePriorityPatterns.setAll 0 '{"pattern":["w"]}'
        queueIdentifierPatterns.setAll 1 web → error Odd number of identifier patterns: 1
        queueIdentifierPatterns.setAll 1 mail '["m"]' web nonsense → error Expected value but found invalid token at character 1
        queueIdentifierPatterns.setAll 1 web 7 → error Patterns(): not a JSON array of patterns
        queueIdentifierPatterns.setAll 1 web '{"a":"b"}' → error Patterns(): not a JSON array of patterns
        queueIdentifierPatterns.setAll 1 web '[1]' → error Patterns(): not a JSON array of patterns
        queuePriorityPatterns.setAll 1 nonsense → error Expected value but found invalid token at character 1
        queuePriorityPatterns.setAll 1 7 → error Patterns(): not a JSON array of patterns
        queuePriorityPatterns.setAll 1 {} → error Patterns(): not a JSON array of patterns
        queuePriorityPatterns.setAll 1 '{"pattern":"w"}' → error Patterns(): not a JSON array of patterns
        -- `check` knows the keys.
        clean 2

        == Priority patterns keep their order and end with a default
        queuePriorityPatterns.getAll 0 → ["{\"fairly\": false, \"pattern\": [\"default\"]}"]
        queuePriorityPatterns.setAll 0 {"fairly":true,"pattern":["b*"]} {"pattern":["a"]}
        queuePriorityPatterns.getAll 1 → ["{\"fairly\":true,\"pattern\":[\"b*\"]}","{\"pattern\":[\"a\"]}","{\"fairly\": false, \"pattern\": [\"default\"]}"]
        queuePriorityPatterns.setAll 2 {"fairly":true,"pattern":["default"]} {"pattern":["a"]}
        queuePriorityPatterns.getAll 3 → ["{\"fairly\":true,\"pattern\":[\"default\"]}","{\"pattern\":[\"a\"]}"]
        queuePriorityPatterns.setAll 4
        queuePriorityPatterns.getAll 5 → ["{\"fairly\": false, \"pattern\": [\"default\"]}"]
        EXISTS ql:qp:priorities → :0
    "#]]);
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
