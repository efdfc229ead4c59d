//! Tags and tracking: indexes to find jobs again.

use expect_test::expect;
use serde_json::json;

use crate::support::core::Core;

#[test]
fn jobs_are_tagged() {
    Core::new().session(expect![[r#"
        == Tagged jobs are paged oldest first
        put 3 w q a K {} 0; put 1 w q b K {} 0; put 1 w q c K {} 0; tag 3 add a t; tag 1 add b t; tag 1 add c t
        tag 9 get t → {"jobs":["b","c","a"],"total":3}
        tag 9 get t 1 1 → {"jobs":["c"],"total":3}
        tag 9 get t 5 → {"jobs":{},"total":3}
        tag 9 get t 0 0 | jobs → ["b","c","a"]
        tag 9 get t 0 -1 | jobs → ["b","c"]
        tag 9 get t -1 | jobs → ["a"]
        tag 9 get nope → {"jobs":{},"total":0}

        == Top tags have at least two jobs
        put 0 w q a K {} 0; tag 0 add a x y z; put 0 w q b K {} 0; tag 0 add b x y; put 0 w q c K {} 0
        tag 0 add c x
        tag 1 top → ["x","y"]
        tag 1 top 1 5 → ["y"]
        tag 1 top 9 → {}
        tag 2 add c y
        tag 3 top → ["y","x"]

        == D-48: only real changes are counted
        put 0 w q j K {} 0 tags ["x","x"]
        get 0 j | tags → ["x"]
        tag 1 add j x x y; tag 2 remove j nope; tag 3 add j y
        ZRANGE ql:tags 0 -1 WITHSCORES → x 1 y 1
        put 4 w q j K {} 0 tags ["y","z"]
        ZRANGE ql:tags 0 -1 WITHSCORES → y 1 z 1
        cancel 5 j
        ZRANGE ql:tags 0 -1 WITHSCORES → none

        == D-54: tagging again makes it newer
        put 0 w q a K {} 0; put 0 w q b K {} 0; tag 1 add a t; tag 2 add b t; tag 3 add a t
        tag 4 get t | jobs → ["b","a"]

        == An expired job is removed from its tags
        config.set 0 jobs-history-count 0; put 0 w q j K {} 0 tags ["t"]; pop 1 q w1 1; complete 2 j w1 q {}
        tag 3 get t | total → 0
        EXISTS ql:tags → :0

        == Tags are added in order and removed
        put 0 w q j K {} 0; events
        tag 1 add j b a → ["b","a"]
        tag 2 add j c a → ["b","a","c"]
        tag 3 remove j a nope → ["b","c"]
        tag 4 remove j b c → {}
        tag 4 add j → {}
        HGET ql:j:j tags → {}
        events → none

        == D-48: tags are texts
        put 0 w q j K {} 0 tags [1,"b"]
        get 0 j | tags → ["1","b"]
        tag 0 get 1 | jobs → ["j"]
        tag 1 add j 123456789012345678
        tag 1 get 123456789012345678 | total → 1
        cancel 2 j
        keys ql:t* → none

        == Tags can be changed in every state
        one_of_each
        tag 9 add waiting t → ["t"]
        tag 9 add scheduled t → ["t"]
        tag 9 add depends t → ["t"]
        tag 9 add running t → ["t"]
        tag 9 add stalled t → ["t"]
        tag 9 add failed t → ["t"]
        tag 9 add complete t → ["t"]
        tag 9 get t | total → 7
        tag 9 remove waiting t; tag 9 remove scheduled t; tag 9 remove depends t; tag 9 remove running t
        tag 9 remove stalled t; tag 9 remove failed t; tag 9 remove complete t
        keys ql:t* → none

        == Unreadable tags do not stop a change
        put 0 w q j K {} 0; HSET ql:j:j tags {]; tag 1 add j t; HSET ql:j:j tags {]; tag 1 remove j t
        HSET ql:j:j tags {]; put 1 w q j K {} 0; HSET ql:j:j tags {]; cancel 1 j
        EXISTS ql:j:j → :0
    "#]]);
}

#[test]
fn tags_may_hold_any_bytes() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    core.call(&[b"tag", b"1", b"add", b"j", b"a/b\"\\\x01", b"", b"\xff"])
        .unwrap();
    assert_eq!(core.json("tag 2 get ''")["jobs"], json!(["j"]));
    core.call(&[b"tag", b"3", b"remove", b"j", b"a/b\"\\\x01", b"", b"\xff"])
        .unwrap();
    assert!(!core.dump().has("ql:tags"));
}

// tracking

#[test]
fn jobs_are_tracked() {
    Core::new().session(expect![[r#"
        == A tracked job is listed with its fields
        put 0 w q a K {} 0; put 0 w q b K {} 0; events
        track 2 track b → 1
        track 3 TRACK a → 1
        track 4 track b → 0
        track 5 | jobs.0.jid jobs.1.jid jobs.0.tracked expired → a b true {}
        events →
            * ql:track b
            * ql:track a
            * ql:track b
        track 6 Untrack a → 1
        track 6 untrack a → 0
        get 7 a | tracked → false

        == D-55: an id without a job can be untracked if it is tracked
        put 0 w q j K {} 0; track 0 track j; cancel 1 j; events
        track 2 track j → error Track(): Job does not exist
        track 2 untrack j → 1
        events →
            * ql:untrack j
        EXISTS ql:tracked → :0
        track 3 untrack j → error Track(): Job does not exist

        == D-58: an expired job stays tracked
        put 0 w q j K {} 0; track 0 track j; config.set 0 jobs-history-count 0; pop 1 q w1 1; complete 2 j w1 q {}
        track 3 → {"expired":["j"],"jobs":{}}
        get 3 j → nil

        == Every change of a tracked job is published
        put 0 w q j K {} 0 retries 0; track 0 track j; events; put 1 w q j K {} 0; pop 2 q w1 1
        pop 100 q w1 1; pop 110 q w1 1
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
            * ql:put j
            * ql:popped j
            * ql:stalled j
            * ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j","event":"lock_lost","worker":"w1"}
            * ql:failed j
            * ql:log {"message":"Job exhausted retries in queue \"q\"","jid":"j","group":"failed-retries-q","event":"failed","worker":"w1"}
        unfail 111 q failed-retries-q
        events → none
        pop 112 q w1 1; complete 113 j w1 q {} next p; pop 114 p w1 1; fail 115 j w1 G M; cancel 116 j
        events →
            * ql:popped j
            * ql:completed j
            * ql:log {"jid":"j","to":"p","event":"advanced","queue":"q"}
            * ql:popped j
            * ql:log {"message":"M","jid":"j","group":"G","event":"failed","worker":"w1"}
            * ql:failed j
            * ql:log {"jid":"j","queue":"p","event":"canceled","worker":""}
            * ql:canceled j
    "#]]);
}

#[test]
fn d_48_tags_that_are_an_object_are_none() {
    let mut core = Core::new();
    for object in [r#"{"a":"b"}"#, r#" {"1":"x"}"#, "{}"] {
        core.flush();
        for command in ["put", "requeue"] {
            core.ok(r#"put 0 w q j K {} 0 tags ["x"]"#);
            core.ok(&format!("{command} 1 w q j K {{}} 0 tags '{object}'"));
            assert_eq!(core.field("j", "tags").as_deref(), Some("{}"), "{object}");
            assert!(!core.dump().has("ql:tags"), "{object}");
        }
        core.ok("tag 2 add j y");
        assert_eq!(core.json("get 3 j")["tags"], json!(["y"]));
    }
    core.refused(r#"guard.put 4 {} 7 q k K {} 0 tags {"a":"b"}"#);
}
