//! Templates and the jobs that they spawn.

use expect_test::expect;
use serde_json::json;

use crate::support::core::Core;

#[test]
fn templates_spawn_jobs() {
    Core::new().session(expect![[r#"
        == A template has the defaults
        recur 0 q r K {} interval 60 0
        recur.get 1 r → {"backlog":0,"count":0,"data":"{}","interval":60,"jid":"r","klass":"K","priority":0,"queue":"q","retries":0,"state":"recur","tags":{}}
        events → none
        recur.get 1 nope → nil
        jobs 1 recurring q → r

        == The first run is after the offset
        recur 0 q r K {} interval 60 30
        pop 29 q w1 5 | jid → {}
        pop 30 q w1 5 | jid → r-1
        score ql:q:q-recur r → 90

        == A child has the scheduled time of its run
        recur 0 q r K {} interval 60 0 tags ["t"] priority 3 retries 2
        pop 65 q w1 1 | 0.jid 0.spawned_from_jid 0.priority 0.retries 0.remaining 0.tags 0.history.0 → r-1 r 3 2 2 ["t"] {"q":"q","what":"put","when":0}
        stats 65 q 65 | wait.mean → 65
        events → none
        tag 65 get t | jobs → ["r-1"]

        == Missed runs are made up
        recur 0 q r K {} interval 60 0
        pop 180 q w1 10 | jid → r-1 r-2 r-3 r-4
        recur.get 180 r | count → 4

        == D-46: a pop spawns no more jobs than it takes
        recur 0 q r K {} interval 60 0
        pop 180 q w1 1 | jid → r-1
        peek 180 q 2 | jid → r-2 r-3
        recur.get 180 r | count → 3

        == D-50: a negative backlog is zero
        recur 0 q r K {} interval 60 0 backlog -1
        pop 120 q w1 10 | jid → r-1 r-2 r-3

        == D-44: the next run loses its fraction at every call
        recur 0 q r K {} interval 1.5 0.75
        pop 0.75 q w1 1 | jid → r-1
        score ql:q:q-recur r → 1.5
        pop 1.5 q w1 1
        score ql:q:q-recur r → 2.5

        == Templates are spawned by pop and peek only
        recur 0 q r K {} interval 60 0
        queues 100 q | waiting → 0
        queues 100 q | recurring → 1
        length 100 q → :0
        pause 100 q
        pop 100 q w1 1 | jid → {}
        peek 100 q 1 | jid → r-1

        == D-47: putting a template again resets all but its count
        recur 0 q r K {} interval 60 0 tags ["t"] priority 3 retries 2 backlog 5; pop 0 q w1 1
        recur 10 p r K2 [] interval 30 0
        recur.get 10 r → {"backlog":0,"count":1,"data":"[]","interval":30,"jid":"r","klass":"K2","priority":0,"queue":"p","retries":0,"state":"recur","tags":{}}
        score ql:q:q-recur r → nil
        pop 10 p w1 1 | jid → r-2

        == Unrecur leaves the children
        recur 0 q r K {} interval 60 0; pop 0 q w1 1
        unrecur 1 r → :1
        unrecur 1 r → :1
        states r-1 → running
        EXISTS ql:r:r ql:q:q-recur → :0

        == D-16: children never overwrite a job
        recur 0 q r K {} interval 60 0; pop 120 q w1 3; complete 121 r-1 w1 q {}; fail 121 r-2 w1 G M; unrecur 122 r
        recur 122 q r K {} interval 60 0
        pop 122 q w2 1 | jid → r-4
        states r-1 r-2 → complete failed
        get 123 r-3 | worker → w1
        recur.get 123 r | count → 4

        == D-40: spawning lists a forgotten queue again
        recur 0 q r K {} interval 60 0; queue.forget 1 q; pop 10 q w1 1
        score ql:queues q → 10

        == D-13: a template may have fractional retries
        recur 0 q r K {} interval 60 0 retries 1.5; pop 0 q w1 1
        HGET ql:j:r-1 remaining → 1
        retry 1 r-1 q w1 → :0

        == Recur update changes only the given options
        recur 0 q r K {} interval 60 30
        recur.update 5 r priority 4 interval 90 retries 2 data [1] klass K2 queue p backlog 3 → :1
        recur.get 6 r → {"backlog":3,"count":0,"data":"[1]","interval":90,"jid":"r","klass":"K2","priority":4,"queue":"p","retries":2,"state":"recur","tags":{}}
        -- The next run moves by as much as the interval grew.
        score ql:q:p-recur r → 60
        score ql:q:q-recur r → nil
        score ql:queues p → 5
        recur.update 7 r → :1

        == D-49: a duplicate tag is stored once
        recur 0 q r K {} interval 60 0 tags ["t","t"]
        recur.get 1 r | tags → ["t"]
        recur.tag 1 r u u t → ["t","u"]
        recur.untag 2 r t nope → ["u"]
        recur.untag 2 r u → {}
        HGET ql:j:r tags → nil
        EXISTS ql:tags → :0

        == A template and a job may have the same name
        recur 0 q r K {} interval 60 1000; put 0 w q r K {} 0
        get 1 r | state → waiting
        recur.get 1 r | state → recur
        cancel 2 r
        recur.get 3 r | state → recur

        == Several templates share one pop
        recur 0 q r K {} interval 60 0; recur 0 q s K {} interval 60 10
        pop 70 q w1 3 | jid → r-1 s-1 r-2
        recur.get 70 r | count → 2
        recur.get 70 s | count → 1

        == D-45: a backlog skips older runs and leaves one more
        recur 0 q r K {} interval 60 0 backlog 1; pop 0 q w1 1
        pop 600 q w1 10 | jid history.0.when → r-2 540 · r-3 600
        recur 0 p s K {} interval 60 0 backlog 1; pop 0 p w1 1
        pop 599 p w1 10 | jid history.0.when → s-2 540
        recur 0 o t K {} interval 60 0 backlog 1; pop 0 o w1 1
        pop 601 o w1 10 | jid history.0.when → t-2 600

        == D-04: an entry without a template is dropped when it is due
        recur 0 q r K {} interval 60 5; put 0 w q j K {} 0; DEL ql:r:r
        peek 10 q 5 | jid → j
        EXISTS ql:q:q-recur → :0
        recur 0 q r K {} interval 60 5; DEL ql:r:r
        pop 10 q w1 5 | jid → j
        EXISTS ql:q:q-recur → :0

        == D-04: unreadable tags count as none
        recur 0 q r K {} interval 60 5; HSET ql:r:r tags {]
        recur.get 1 r | tags → {}
        peek 10 q 5 | jid tags → r-1 {}
        HGET ql:j:r-1 tags → {}
        pop 70 q w1 5 | jid tags → r-1 {} · r-2 {}
    "#]]);
}

#[test]
fn d_48_tags_that_are_no_list_of_texts_are_left_out() {
    let mut core = Core::new();
    for (tags, kept) in [
        ("7", json!({})),
        ("null", json!({})),
        ("true", json!({})),
        (r#""x""#, json!({})),
        (r#"{"a":"b"}"#, json!({})),
        ("[[]]", json!({})),
        (r#"["x",null,7,["y"],{"z":1},false,"x"]"#, json!(["x", "7"])),
    ] {
        core.flush();
        core.ok(&format!("recur 0 q r K {{}} interval 60 0 tags '{tags}'"));
        assert_eq!(core.json("recur.get 1 r")["tags"], kept, "{tags}");
        assert_eq!(core.jids("pop 30 q w1 5"), ["r-1"], "{tags}");
        assert_eq!(core.json("get 31 r-1")["tags"], kept, "{tags}");
        core.all("recur.tag 32 r t; recur.untag 33 r t");
        assert_eq!(core.jids("pop 90 q w1 1").len(), 1, "{tags}");
    }
}

#[test]
fn an_invalid_interval_does_not_stop_a_queue() {
    let mut core = Core::new();
    for interval in ["0", "-5", "soon", "nan", "inf"] {
        core.flush();
        core.all("recur 0 q r K {} interval 60 5; put 0 w q j K {} 0");
        core.redis(&format!("HSET ql:r:r interval {interval}"));
        let jids = core.jids("pop 100 q w1 3");
        assert!(
            jids.contains(&"j".to_owned()) && jids.len() <= 3,
            "{interval}: {jids:?}"
        );
    }
}

// pause and resume

/// What a call of `guard.recur` says about its jids.
fn said(core: &mut Core, line: &str) -> Vec<String> {
    let reply = core.ok(line);
    let rows = reply.list().iter().map(|row| row.texts().join(" "));
    rows.collect()
}

#[test]
fn a_paused_template_is_invisible_and_restored_exactly() {
    let mut core = Core::new();
    core.ok(r#"recur 0.5 q r K {"n":1.10,"l":[]} interval 60 30.0625 tags ["t","é"] retries 2 priority 1 backlog 3"#);
    // Bytes that JSON and numbers would not keep.
    core.redis("HSET ql:r:r own 9007199254740993.5 klass K\u{e9}\u{1} count 7");
    let order = core.redis("HGETALL ql:r:r");
    core.session(expect![[r#"
        remember
        guard.recur 10.125 pause {"verb":"pause","by":"me@here","reason":"disk/1"} r → done ''
        recur.get 11 r → nil
        EXISTS ql:r:r ql:q:q-recur → :0
        pop 500 q w1 5 → {}
        queues 500 q | recurring → 0
        clean 500
        -- Again, and of a template that does not exist.
        guard.recur 12 pause {"verb":"pause","by":"me@here","reason":"disk/1"} r nope → done '' · gone ''
        look.recurs 12 r | paused next reason → "10.125" "30.5625" disk/1
        look.index 12 paused_recurring '' 0 9 → 1 r
        -- No run falls into this pause.
        guard.recur 20 resume r nope → done '' 30.5625 · gone ''
        guard.recur 20 resume r → done ''
        DEL ql:workers; unchanged
    "#]]);
    assert_eq!(core.redis("HGETALL ql:r:r"), order);
}

#[test]
fn runs_that_fall_into_a_pause_are_left_out() {
    let mut core = Core::new();
    for (paused, resumed, next) in [
        // Before the first run, and in the middle of the schedule.
        (10, 29, "30"),
        (10, 30, "90"),
        (10, 89, "90"),
        (10, 200, "210"),
        // One run is overdue when it is paused, and stays due.
        (40, 80, "30"),
        (40, 100, "90"),
        (40, 215, "210"),
        // Three are.
        (150, 300, "150"),
    ] {
        core.flush();
        core.ok("recur 0 q r K {} interval 60 30");
        core.ok(&format!("guard.recur {paused} pause {{}} r"));
        let row = format!("done  {next}");
        assert_eq!(
            said(&mut core, &format!("guard.recur {resumed} resume r")),
            [row]
        );
        let due = if paused < 30 {
            0
        } else {
            (paused - 30) / 60 + 1
        };
        let spawned = core.jids(&format!("pop {resumed} q w1 50"));
        assert_eq!(spawned.len(), due, "{paused} {resumed}: {spawned:?}");
        core.must_be_clean(resumed.into(), Default::default());
    }
}

#[test]
fn templates_are_paused() {
    Core::new().session(expect![[r#"
        == A jid that was used again is not overwritten
        recur 0 q r K {} interval 60 30; guard.recur 1 pause {} r; recur 2 p r New {} interval 10 0; remember
        guard.recur 3 resume r → exists ''
        guard.recur 3 pause {} r → exists ''
        unchanged
        guard.recur 4 remove r → done ''
        EXISTS ql:r:r ql:paused_recurring → :0
        guard.recur 5 remove r → gone ''

        == The next run is set with other fields or not at all
        recur 0 q r K {} interval 60 30
        guard.recur 1 update 500.5 r interval 100 queue p → done '' 500.5
        score ql:q:p-recur r → 500.5
        EXISTS ql:q:q-recur → :0
        remember
        guard.recur 1 update soon r → error Guard(): next is not a number: soon
        guard.recur 1 update 700 r interval 0 → error Recur(): Arg "interval" must be greater than 0
        guard.recur 1 nonsense {} r → error Guard(): unknown verb nonsense
        guard.recur 1 pause nonsense r → error Guard(): note is not JSON: Expected value but found invalid token at character 1
        guard.recur 1 update 700 nope priority 1 → gone ''
        unchanged; guard.recur 1 pause {} r
        -- A paused one is changed, and stays paused.
        guard.recur 1 update 700 r → done '' 700
        EXISTS ql:r:r → :0
        guard.recur 1 resume r → done '' 700
    "#]]);
}

#[test]
fn keys_of_wrong_types_refuse_a_pause_before_any_write() {
    let mut core = Core::new();
    for damage in [
        "SET ql:paused_recurring x",
        "DEL ql:q:q-recur\nSET ql:q:q-recur x",
        "HSET ql:paused_recurring r nonsense",
    ] {
        core.flush();
        core.ok("recur 0 q r K {} interval 60 30");
        for line in damage.lines() {
            core.redis(line);
        }
        let before = core.dump();
        let outcome = said(&mut core, "guard.recur 3 pause {} r");
        assert!(outcome[0].starts_with("invalid "), "{outcome:?}");
        assert_eq!(core.dump(), before);
    }
}
