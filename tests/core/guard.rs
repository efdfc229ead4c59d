//! `guard.*`: writes that happen only if the job is as the caller saw it; each job is changed
//! completely or not at all.

use expect_test::expect;
use serde_json::json;

use crate::support::core::{Core, Reply, short};

/// One row as words; nil is `-`.
fn words(row: &Reply) -> Vec<String> {
    let word = |item: &Reply| match item {
        Reply::Nil => "-".to_owned(),
        item => item.text().to_owned(),
    };
    row.list().iter().map(word).collect()
}

/// The rows of a reply, each as words separated by blanks.
#[track_caller]
fn rows(core: &mut Core, line: &str) -> Vec<String> {
    let reply = core.ok(line);
    reply
        .list()
        .iter()
        .map(|row| words(row).join(" "))
        .collect()
}

fn mark(core: &mut Core, jid: &str) -> String {
    core.ok(&format!("look.jobs 99 mark {jid}")).list()[0]
        .field("mark")
        .expect("a mark")
        .text()
        .to_owned()
}

// put

#[test]
fn guarded_puts() {
    Core::new().session(expect![[r#"
        == guard.put stores a new job as put does
        guard.put 1.5 {} 13 q j K {"a":[]} 0 tags ["t"] priority 2 retries 3 depends ["gone"] → missing_dependency '' gone
        keys * → none
        guard.put 1.5 {"missing":"allow"} 13 q j K {"a":[]} 0 tags ["t"] priority 2 retries 3 depends ["gone"] → done '' waiting gone
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
        remember; FLUSHALL; put 1.5 w q j K {"a":[]} 0 tags ["t"] priority 2 retries 3 depends ["gone"]; unchanged

        == guard.put leaves an existing job alone
        put 0 w q j K {} 0; log 3 j note; put 5 w q j K {} 0; pop 6 q w1 1; remember
        guard.put 9 {} 5 p j K2 [] 0 → exists running:6:4:q 0 5
        unchanged

        == A job with an unreadable history still exists
        put 0 w q j K {} 0; DEL ql:j:j-history
        guard.put 9 {} 5 q j K {} 0 → exists waiting:-:0:q nil nil
        log 3 j note
        guard.put 9 {} 5 q j K {} 0 → exists waiting:3:1:q 3 nil

        == guard.put replaces an existing job if requested
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M
        guard.put 9 {"replace":true} 5 p j K2 [] 0 → done '' waiting
        get 9 j | queue klass → p K2
        failed 9 → {}
        stats 9 q 2 | failed → 0

        == The worker of the policy gets no event for its own put
        put 0 w q j K {} 0; pop 1 q w1 1; events; guard.put 2 {"replace":true,"me":"w1"} 5 q j K {} 0
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
        pop 3 q w1 1; guard.put 4 {"replace":true} 5 q j K {} 0
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
            * ql:w:w1 {"jid":"j","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"j","event":"lock_lost","worker":"w1"}

        == Jobs are put in order and a later one may depend on an earlier
        guard.put 1 {} 5 q a K {} 0 7 q b K {} 0 depends ["a"] 7 q c K {} 0 depends ["d"] 5 q d K {} 0 → done '' waiting · done '' depends · missing_dependency '' d · done '' waiting
        get 2 b | dependencies → ["a"]
        get 2 c → nil

        == Complete dependencies are reported
        one_of_each
        guard.put 9 {} 7 q n K {} 0 depends ["complete","failed"] → done '' depends complete

        == A job may be put with a due time
        guard.put 10 {} 7 q j K {} 0 at 50.5 → done '' scheduled
        score ql:q:q-scheduled j → 50.5
        guard.put 10 {} 7 q k K {} 0 at 10 → done '' waiting
        guard.put 10 {} 7 q l K {} 0 at 3 → done '' waiting

        == A note is the last entry of the history
        guard.put 10.9 {} 7 q j K {} 0 note {"by":"ann","n":1.5,"ok":true,"x":null}
        history j → [10,"put",{"q":"q"}] · [10,"cli",{"by":"ann","n":1.5,"ok":true,"x":null}]
        get 11 j | history.1.by → ann
        guard.put 11 {} 7 q k K {} 0 note ''
        history k → [11,"put",{"q":"q"}]

        == A job is restored as failed
        guard.put 90000 {} 9 q j K {} 0 failed {"group":"G","message":"M","when":5,"worker":"w1"} remaining -1 → done '' failed
        failed 9 G | jobs → ["j"]
        HGET ql:j:j expires → ''
        get 9 j | failure → {"group":"G","message":"M","when":5,"worker":"w1"}
        stats 9 q 5 | failed failures → 1 0
        clean 90000
        unfail 90001 q G → :1
        stats 9 q 5 | failed → 0

        == A jid with a reserved suffix is invalid
        guard.put 1 {} 5 q j-history K {} 0 5 q k K {} 0 5 q j-dependents K {} 0 → invalid '' jid ends in -history, -dependencies, -dependents or -payloads · done '' waiting · invalid '' jid ends in -history, -dependencies, -dependents or -payloads

        == guard.put sets maxima only with a job
        put 0 w q a K {} 0 throttles ["t"] key k; pop 1 q w1 1; throttle.set 2 old 1 3600; remember
        guard.put 3 {"maxima":{"t":1,"old":2},"by":"ann","lanes":true} 5 q a K {} 0; unchanged
        guard.put 3 {"maxima":{"t":1,"old":2},"by":"ann","lanes":true} 9 q b K {} 0 key k dup skip; unchanged
        guard.put 3 {"maxima":{"t":1,"old":2},"by":"ann","lanes":true} 7 q b K {} 0 depends ["gone"]; unchanged
        -- The put counts with the maximum that it sets: the slot is taken.
        guard.put 3 {"maxima":{"t":1,"old":2},"by":"ann","lanes":true} 7 q b K {} 0 throttles ["t"] → done '' throttled b ''
        HMGET ql:th:t maximum by changed → 1 ann 3
        HMGET ql:th:old maximum by changed → 2 ann 3
        -- The throttle still expires.
        PERSIST ql:th:old → :1
        -- A larger maximum lets the held job run.
        guard.put 4 {"maxima":{"t":2}} 5 q c K {} 0 → done '' waiting
        states b → waiting

        == A job is restored with its history
        put 0 w q j K {} 0 retries 7; pop 1 q w1 1; log 2 j note {"a":[]}; cancel 3 j
        guard.put 9 {} 15 q j K {} 0 history ["[0,\"put\",{\"q\":\"q\"}]","[2,\"note\",{\"a\":[]}]"] remaining 2 retries 7 spawned_from_jid r note {"by":"ann"}
        history j → [0,"put",{"q":"q"}] · [2,"note",{"a":[]}] · [9,"put",{"q":"q"}] · [9,"cli",{"by":"ann"}]
        get 10 j | remaining retries spawned_from_jid → 2 7 r

        == A restored history replaces the old one and is trimmed
        config.set 0 max-job-history 3; put 0 w q j K {} 0; log 1 j old
        guard.put 9 {"replace":true} 7 q j K {} 0 history ["[1,\"put\",{\"q\":\"x\"}]","[2,\"a\"]","[3,\"b\"]","[4,\"c\"]"]
        history j → [1,"put",{"q":"x"}] · [4,"c"] · [9,"put",{"q":"q"}]
    "#]]);
}

#[test]
fn a_cycle_is_refused_with_its_jids() {
    let mut core = chain();
    let before = core.dump();
    let line = r#"guard.put 1 {"replace":true} 7 q a K {} 0 depends ["c"]"#;
    let mut answers = words(&core.ok(line).list()[0]);
    answers[2..].sort();
    assert_eq!(answers, ["cycle", "waiting:0:1:q", "a", "b", "c"]);
    let line = r#"guard.put 1 {} 7 q new K {} 0 depends ["new"]"#;
    assert_eq!(rows(&mut core, line), ["cycle  new"]);
    assert_eq!(core.dump(), before);
}

#[test]
fn guard_put_refuses_bad_usage_before_any_job_is_put() {
    let mut core = Core::new();
    core.session(expect![[r#"
        put 0 w q old K {} 0
        guard.put 1 → error Guard(): policy missing
        guard.put 1 {] → error Guard(): policy is not JSON: Expected object key string but found T_ARR_END at character 2
        guard.put 1 [] → error Guard(): policy must be a JSON object
        guard.put 1 '' → error Guard(): policy is not JSON: Expected value but found T_END at character 1
        guard.put 1 {"nope":1} → error Guard(): unknown member nope of policy
        guard.put 1 {"missing":"maybe"} → error Guard(): missing must be "refuse" or "allow"
        guard.put 1 {"replace":"yes"} → error Guard(): member replace of policy must be a boolean
        guard.put 1 {"me":5} → error Guard(): member me of policy must be a string
        guard.put 1 {"dry":1} → error Guard(): member dry of policy must be a boolean
        guard.put 1 {"maxima":{"a-locks":1}} → error Guard(): maxima has an id that ends in -locks or -pending
        guard.put 1 {"maxima":{"a":1.5}} → error Guard(): maxima must be whole numbers
        guard.put 1 {"maxima":{"a":"1"}} → error Guard(): maxima must be whole numbers
        guard.put 1 {"maxima":[1]} → error Guard(): maxima has an id that ends in -locks or -pending
        guard.put 1 {} 5 q good K {} 0 4 q j K {} → error Guard(): a job has 5 words and pairs of options
        guard.put 1 {} 5 q good K {} 0 6 q j K {} 0 tags → error Guard(): a job has 5 words and pairs of options
        guard.put 1 {} 5 q good K {} 0 9 q j K {} 0 → error Guard(): wrong number of words: 9
        guard.put 1 {} 5 q good K {} 0 x q j K {} 0 → error Guard(): wrong number of words: x
        guard.put 1 {} 5 q good K {} 0 1.5 q → error Guard(): wrong number of words: 1.5
        guard.put 1 {} 5 q good K {} 0 0 → error Guard(): wrong number of words: 0
        guard.put 1 {} 5 q good K {} 0 -5 q j K {} 0 → error Guard(): wrong number of words: -5
        guard.put 1 {} 5 q good K {} 0 5 q j K {] 0 → error Guard(): data is not JSON: Expected object key string but found T_ARR_END at character 2
        guard.put 1 {} 5 q good K {} 0 5 q j K '' 0 → error Guard(): data is not JSON: Expected value but found T_END at character 1
        guard.put 1 {} 5 q good K {} 0 5 q j K {} x → error Guard(): delay is not a number: x
        guard.put 1 {} 5 q good K {} 0 5 q j K {} nan → error Guard(): delay is not a number: nan
        guard.put 1 {} 5 q good K {} 0 5 q j K {} inf → error Guard(): delay is not a number: inf
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 nope 1 → error Guard(): unknown option nope
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 priority inf → error Guard(): priority is not a number: inf
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 retries nan → error Guard(): retries is not a number: nan
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 remaining 1.5 → error Guard(): remaining must be a whole number
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 at soon → error Guard(): at is not a number: soon
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 5 at 50 → error Guard(): at and a delay exclude each other
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 tags [[]] → error Guard(): tags must be a JSON array of texts
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 depends {] → error Guard(): depends is not JSON: Expected object key string but found T_ARR_END at character 2
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 note [] → error Guard(): note must be a JSON object
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 note {"a":[]} → error Guard(): values of a note must be texts, finite numbers, booleans or null
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 note {"a":NaN} → error Guard(): values of a note must be texts, finite numbers, booleans or null
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 history {}x → error Guard(): history is not JSON: Expected the end but found invalid token at character 3
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 history [5] → error Guard(): history must hold texts
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 history ["x"] → error Guard(): a history entry is not JSON: Expected value but found invalid token at character 1
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 history ["[1,2]"] → error Guard(): not a history entry: [1,2]
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 history ["[1,\"x\",5]"] → error Guard(): not a history entry: [1,"x",5]
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 history ["[1,\"x\",{\"a\":NaN}]"] → error Guard(): not a history entry: [1,"x",{"a":NaN}]
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 failed {} → error Guard(): failed wants group and when
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 0 failed {"group":"G"} → error Guard(): failed wants group and when
        guard.put 1 {} 5 q good K {} 0 7 q j K {} 5 failed {"group":"G","when":1} → error Guard(): failed excludes depends, at and a delay
        guard.put 1 {} 5 q good K {} 0 9 q j K {} 0 at 9 failed {"group":"G","when":1} → error Guard(): failed excludes depends, at and a delay
        guard.put 1 {} 5 q good K {} 0 9 q j K {} 0 depends ["old"] failed {"group":"G","when":1} → error Guard(): failed excludes depends, at and a delay
        guard.put 1 {} → none
        guard.put 1 {"replace":null,"missing":null,"me":null} → none
    "#]]);
    let note = format!("note {{\"a\":\"{}\"}}", "x".repeat(4096));
    core.refused(&format!(
        "guard.put 1 {{}} 5 q good K {{}} 0 7 q j K {{}} 0 {note}"
    ));
    core.refused(&format!("guard.put 1 {{}}{}", " 5 q j K {} 0".repeat(501)));
}

#[test]
fn a_nul_byte_in_a_json_argument_is_bad_usage() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    for line in [
        "guard.put 1 {}\0 5 q n K {} 0",
        "guard.put 1 {} 5 q n K {}\0x 0",
        "guard.put 1 {} 7 q n K {} 0 tags []\0",
        "guard.put 1 {} 7 q n K {} 0 note {}\0",
        "guard.requeue 1 {}\0 '' j '' ''",
        "guard.requeue 1 {} {}\0 j '' ''",
        "guard.pause 1 '' {}\0 q",
    ] {
        let error = short(&core.refused(line));
        assert!(error.starts_with("user_script:N: Guard(): "), "{error}");
    }
}

#[test]
fn an_unreadable_key_is_refused_or_reported_with_the_message_of_the_server() {
    let mut core = Core::new();
    core.all("put 0 w q a K {} 0; put 0 w q b K {} 0; put 0 w q c K {} 0 depends [\"a\"]");
    core.redis("ACL SETUSER ops on >p &* +@all ~ql:j:a* ~ql:q* ~ql:config ~ql:tracked ~ql:failed-jobs-list");
    core.redis("AUTH ops p");
    let move_all = r#"{"from":["waiting"],"to":"q2"}"#;
    let before = [
        "guard.put 1 {} 5 q b K {} 0".to_owned(),
        "guard.cancel 1 refuse b ''".to_owned(),
        // The dependents of `a` are unreadable, so they are not reported as none.
        "guard.cancel 1 refuse a ''".to_owned(),
        "guard.call 1 b '' '' priority b 5".to_owned(),
        "guard.depends 1 c '' '' a".to_owned(),
        "look.jobs 1 brief b".to_owned(),
        "look.recurs 1 b".to_owned(),
        format!("guard.requeue 1 {move_all} '' b '' ''"),
    ];
    for line in before {
        let error = core.run(&line).expect_err(&line);
        assert!(
            ["NOPERM", "can't access", "No permissions"]
                .iter()
                .any(|words| error.contains(words)),
            "{line}: {error}"
        );
    }
    // Nothing was left half-done: earlier jobs are changed, and the others reported.
    for line in [
        "guard.put 1 {} 5 q an K {} 0 5 q b K {} 0 5 q am K {} 0".to_owned(),
        format!("guard.requeue 1 {move_all} '' an '' '' b '' '' am '' ''"),
    ] {
        let rows = rows(&mut core, &line);
        assert!(
            rows[0].starts_with("done") && rows[2].starts_with("done"),
            "{rows:?}"
        );
        assert!(
            rows[1].starts_with("invalid") && !rows[1].contains("is no"),
            "{rows:?}"
        );
    }
    core.redis("AUTH default ''");
    assert_eq!(core.state("b"), "waiting");
}

#[test]
fn a_key_of_a_wrong_type_makes_only_its_own_job_invalid() {
    let mut core = Core::new();
    for key in ["j:j", "j:j-history", "j:j-dependencies", "q:q-work", "t:t"] {
        core.flush();
        core.redis(&format!("SET ql:{key} x"));
        let before = core.dump();
        let line = r#"guard.put 1 {} 7 q j K {} 0 tags ["t"] 5 p k K {} 0"#;
        let answers = rows(&mut core, line);
        assert!(answers[0].starts_with("invalid "), "{key}: {answers:?}");
        assert_eq!(answers[1], "done  waiting", "{key}");
        core.all("cancel 2 k; queue.forget 2 p");
        assert_eq!(core.dump(), before, "{key}");
    }
}

// requeue

#[test]
fn guarded_requeues() {
    Core::new().session(expect![[r#"
        == An outdated mark is answered with the current one
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M
        log 3 j note; remember
        guard.requeue 9 {} '' j failed:2:3:q '' → state_changed failed:3:4:q
        unchanged
        guard.requeue 9 {} '' j failed:3:4:q '' nope '' '' → done '' waiting q · gone ''

        == The holder of a moved job gets an event
        one_of_each; guard.requeue 9 {"from":["running"],"to":"p"} '' running '' ''
        events →
            * ql:log {"jid":"running","event":"put","queue":"p"}
            * ql:w:w1 {"jid":"running","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"running","event":"lock_lost","worker":"w1"}
        get 9 running | queue → p

        == A due time in the future schedules and any other does not
        one_of_each
        guard.requeue 9 {"from":["failed","scheduled","waiting","depends"]} '' failed '' 50 scheduled '' 5 waiting '' '' → done '' scheduled q · done '' waiting q · done '' waiting q
        score ql:q:q-scheduled failed → 50
        guard.requeue 9 {"from":["depends"]} '' depends '' 70 → done '' depends q
        HGET ql:j:depends scheduled → 70
        guard.requeue 9 {"from":["depends"]} '' depends '' '' → done '' depends q
        HGET ql:j:depends scheduled → nil

        == guard.requeue keeps remaining retries if requested
        put 0 w q j K {} 50 retries 5; HSET ql:j:j remaining 2
        guard.requeue 9 {"from":["scheduled"],"keep":true,"priority":7.5} '' j '' ''
        HGET ql:j:j remaining → 2
        score ql:q:q-work j → 7.4999999991

        == A complete job returns to the queue of its newest put
        put 0 w q j K {} 0; pop 1 q w1 1; complete 2 j w1 q {} next p; pop 3 p w1 1; complete 4 j w1 p {}
        guard.requeue 9 {"from":["complete"]} '' j '' '' → done '' waiting p
        EXISTS ql:completed → :0
        pop 10 p w1 1; complete 11 j w1 p {}; DEL ql:j:j-history
        guard.requeue 12 {"from":["complete"]} '' j '' '' → invalid complete:-:0: no queue known
        guard.requeue 12 {"from":["complete"],"to":"z"} '' j '' '' → done '' waiting z

        == The second mention of a jid sees the result of the first
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M
        guard.requeue 9 {} '' j failed:2:3:q '' j failed:2:3:q '' → done '' waiting q · state_changed waiting:9:4:q

        == A counter of failed jobs never falls below zero
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; HSET ql:s:stats:0:q failed 0
        guard.requeue 9 {} '' j '' ''
        stats 9 q 2 | failed → 0
        put 0 w q k K {} 0; pop 1 q w1 1; fail 2 k w1 G M; HDEL ql:s:stats:0:q failed; guard.requeue 9 {} '' k '' ''
        stats 9 q 2 | failed → 0

        == A failed job returns to its queue with all retries
        put 0 w q j K {} 0 tags ["t"] priority 4 retries 2; pop 1 q w1 1; fail 2 j w1 G M; HSET ql:j:j remaining -1; events
        guard.requeue 9 {} {"verb":"retry","by":"ann@h","reason":"x"} j failed:2:3:q '' → done '' waiting q
        events →
            * ql:log {"jid":"j","event":"put","queue":"q"}
        get 10 j | remaining priority tags history.4 → 2 4 ["t"] {"by":"ann@h","reason":"x","verb":"retry","what":"cli","when":9}
        history j → [0,"put",{"q":"q"}] · [1,"popped",{"worker":"w1"}] · [2,"failed",{"group":"G","worker":"w1"}] · [9,"put",{"q":"q"}] · [9,"cli",{"verb":"retry","by":"ann@h","reason":"x"}]
        failed 9 → {}
        stats 9 q 2 | failed → 0
        -- The tag index is not touched.
        score ql:t:t j → 0
        clean 1000

        == guard.requeue refuses bad usage
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M
        guard.requeue 9 → error Guard(): options missing
        guard.requeue 9 {} → error Guard(): note missing
        guard.requeue 9 {} '' j → error Guard(): jid, mark and due for each job
        guard.requeue 9 {} '' j '' → error Guard(): jid, mark and due for each job
        guard.requeue 9 {} '' j '' '' k → error Guard(): jid, mark and due for each job
        guard.requeue 9 [] '' j '' '' → error Guard(): options must be a JSON object
        guard.requeue 9 {] '' j '' '' → error Guard(): options is not JSON: Expected object key string but found T_ARR_END at character 2
        guard.requeue 9 {"nope":1} '' j '' '' → error Guard(): unknown member nope of options
        guard.requeue 9 {"from":"failed"} '' j '' '' → error Guard(): member from of options must be a table
        guard.requeue 9 {"from":["nope"]} '' j '' '' → error Guard(): unknown state in from: nope
        guard.requeue 9 {"from":[5]} '' j '' '' → error Guard(): unknown state in from: 5
        guard.requeue 9 {"priority":"1"} '' j '' '' → error Guard(): member priority of options must be a number
        guard.requeue 9 {"priority":1e999} '' j '' '' → error Guard(): member priority of options must be a number
        guard.requeue 9 {"keep":1} '' j '' '' → error Guard(): member keep of options must be a boolean
        guard.requeue 9 {"to":5} '' j '' '' → error Guard(): member to of options must be a string
        guard.requeue 9 {} x j '' '' → error Guard(): note is not JSON: Expected value but found invalid token at character 1
        guard.requeue 9 {} [] j '' '' → error Guard(): note must be a JSON object
        guard.requeue 9 {} {"a":{}} j '' '' → error Guard(): values of a note must be texts, finite numbers, booleans or null
        guard.requeue 9 {} '' j '' soon → error Guard(): due is not a number: soon
        guard.requeue 9 {} '' j '' nan → error Guard(): due is not a number: nan
        guard.requeue 9 {} '' j '' inf → error Guard(): due is not a number: inf
        guard.requeue 9 {} '' → none
    "#]]);
}

#[test]
fn only_jobs_in_the_given_states_are_moved() {
    let mut core = super::errors::one_of_each();
    for state in super::errors::STATES
        .into_iter()
        .filter(|state| *state != "failed")
    {
        core.flush();
        super::errors::put_one_of_each(&mut core);
        let seen = mark(&mut core, state);
        let line = format!("guard.requeue 9 {{}} '' {state} '' ''");
        assert_eq!(rows(&mut core, &line), [format!("state_changed {seen}")]);
        let line = format!(r#"guard.requeue 9 {{"from":["{state}"]}} '' {state} '' ''"#);
        let placed = match state {
            "depends" => "depends",
            _ => "waiting",
        };
        assert_eq!(rows(&mut core, &line), [format!("done  {placed} q")]);
        core.must_be_clean(1000.0, Default::default());
    }
}

#[test]
fn many_failed_jobs_are_requeued_in_slices() {
    let mut core = Core::new();
    core.put_jobs(0, (0..1200).map(|n| format!("q j{n} K {{}} 0")));
    core.ok("pop 1 q w1 1200");
    core.many((0..1200).map(|n| format!("fail 2 j{n} w1 G M")));
    for slice in 0..3 {
        let items: String = (0..400)
            .map(|n| format!(" j{} failed:2:3:q ''", slice * 400 + n))
            .collect();
        let answers = rows(&mut core, &format!("guard.requeue 9 {{}} ''{items}"));
        assert!(answers.iter().all(|row| row == "done  waiting q"));
    }
    assert_eq!(core.json("failed 9"), json!({}));
    assert_eq!(core.json("stats 9 q 2")["failed"], 0);
    assert_eq!(core.ok("length 9 q"), Reply::Int(1200));
}

#[test]
fn a_failure_that_names_no_group_is_found_in_its_list() {
    let mut core = Core::new();
    for damage in [
        "HDEL ql:j:j failure",
        "HSET ql:j:j failure {}",
        "HSET ql:j:j failure oops",
    ] {
        core.flush();
        core.all("put 0 w q j K {} 0; put 0 w q k K {} 0; pop 1 q w1 2");
        core.all("fail 2 j w1 G M; fail 2 k w1 G M");
        core.redis(damage);
        let answers = rows(&mut core, "guard.requeue 9 {} '' j '' '' k '' ''");
        assert_eq!(answers, ["done  waiting q", "done  waiting q"], "{damage}");
        let keys = core.dump();
        assert!(!keys.has("ql:f:G") && !keys.has("ql:failures"), "{damage}");
    }
}

#[test]
fn too_many_jobs_are_refused() {
    let mut core = Core::new();
    core.refused(&format!(
        "guard.requeue 9 {{}} ''{}",
        " j '' ''".repeat(501)
    ));
    core.refused(&format!("guard.cancel 9 refuse{}", " j ''".repeat(501)));
}

// cancel

/// `b` depends on `a`, and `c` on `b`.
fn chain() -> Core {
    let mut core = Core::new();
    core.ok("put 0 w q a K {} 0");
    core.ok(r#"put 0 w q b K {} 0 depends ["a"]"#);
    core.ok(r#"put 0 w q c K {} 0 depends ["b"]"#);
    core.events();
    core
}

#[test]
fn guarded_cancels() {
    Core::new().session(expect![[r#"
        == guard.cancel answers the outcome of each job
        one_of_each
        guard.cancel 9 refuse complete '' nope '' failed '' running waiting:1:1:q waiting '' → complete complete:2:3: · gone '' · done '' · state_changed running:3:2:q · has_dependents waiting:0:1:q depends
        events →
            * ql:log {"jid":"failed","queue":"q","event":"canceled","worker":""}
        stats 9 q 2 | failed → 0

        == guard.cancel refuse cancels jobs without other dependents
        put 0 w q a K {} 0; put 0 w q b K {} 0 depends ["a"]; put 0 w q c K {} 0 depends ["b"]
        guard.cancel 9 refuse a '' b '' → has_dependents waiting:0:1:q b · has_dependents depends:0:1:q c
        guard.cancel 9 refuse a '' b '' c '' → done '' · done '' · done ''
        keys * → ql:queues

        == An outdated mark keeps the job and its dependencies
        put 0 w q a K {} 0; put 0 w q b K {} 0 depends ["a"]; put 0 w q c K {} 0 depends ["b"]; events
        guard.cancel 9 cancel a '' c waiting:1:1:q → has_dependents waiting:0:1:q b · state_changed depends:0:1:q
        states a b c → waiting depends depends
        events → none

        == The holder of a cancelled job gets an event
        one_of_each
        guard.cancel 9 refuse running running:3:2:q → done ''
        events →
            * ql:log {"jid":"running","queue":"q","event":"canceled","worker":"w1"}
            * ql:w:w1 {"jid":"running","queue":"q","event":"canceled","worker":"w1"}

        == guard.cancel refuses bad usage
        put 0 w q b K {} 0; put 0 w q c K {} 0 depends ["b"]
        guard.cancel 9 → error Guard(): "refuse", "cancel" or "release" missing
        guard.cancel 9 nope c '' → error Guard(): "refuse", "cancel" or "release" missing
        guard.cancel 9 cancel c → error Guard(): jid and mark for each job
        guard.cancel 9 refuse c '' b → error Guard(): jid and mark for each job
        guard.cancel 9 refuse → none
    "#]]);
}

#[test]
fn guard_cancel_cancels_the_whole_tree_of_dependents() {
    let mut core = chain();
    let mut answers = words(&core.ok("guard.cancel 9 cancel a ''").list()[0]);
    answers[2..].sort();
    assert_eq!(answers, ["done", "", "b", "c"]);
    assert_eq!(core.events().len(), 3);
    core.session(expect![[r#"
        keys * → ql:queues
    "#]]);

    // A jid that is cascaded or named twice is answered each time.
    let mut core = chain();
    let rows = rows(&mut core, "guard.cancel 9 cancel a '' c '' a ''");
    assert!(rows.iter().all(|row| row.starts_with("done ")), "{rows:?}");
    assert_eq!(core.events().len(), 3);
}

#[test]
fn guard_cancel_release_releases_the_dependents() {
    let mut core = chain();
    core.ok(r#"put 0 w q d K {} 80 depends ["a"]"#);
    core.ok(r#"put 0 w q e K {} 0 depends ["a","c"]"#);
    core.events();
    let mut answers = words(&core.ok("guard.cancel 9 release a ''").list()[0]);
    answers[2..].sort();
    assert_eq!(answers, ["done", "", "b", "d"]);
    core.session(expect![[r#"
        events →
            * ql:log {"jid":"a","queue":"q","event":"canceled","worker":""}
        states b c d e → waiting depends scheduled depends
        score ql:q:q-scheduled d → 80
        get 9 e | dependencies → ["c"]
        clean 1000
    "#]]);
}

#[test]
fn leftover_entries_are_not_dependents() {
    let mut core = Core::new();
    for policy in ["refuse", "cancel", "release"] {
        core.flush();
        core.all("put 0 w q a K {} 0; put 0 w q other K {} 0");
        core.redis("SADD ql:j:a-dependents gone other");
        let answers = rows(&mut core, &format!("guard.cancel 9 {policy} a ''"));
        assert_eq!(answers, ["done "]);
        assert_eq!(core.state("other"), "waiting");
        assert!(!core.dump().has("ql:j:a-dependents"));
    }
}

#[test]
fn five_hundred_failed_jobs_are_cancelled_in_one_call() {
    let mut core = Core::new();
    core.many((0..500).map(|n| format!("put 0 w q j{n} K {{}} 0 tags [\"t\"]")));
    core.ok("pop 1 q w1 500");
    core.many((0..500).map(|n| format!("fail 2 j{n} w1 G{} M", n % 3)));
    let items: String = (0..500).map(|n| format!(" j{n} failed:2:3:q")).collect();
    let answers = rows(&mut core, &format!("guard.cancel 9 refuse{items}"));
    assert!(answers.iter().all(|row| row == "done "));
    let dump = core.dump();
    assert!(!dump.0.keys().any(|key| key.starts_with("ql:j:")
        || key.starts_with("ql:f:")
        || key.starts_with("ql:t")));
    assert_eq!(dump.hash("ql:s:stats:0:q")["failed"], "0");
}

// depends

#[test]
fn a_cycle_is_found_upwards() {
    let mut core = chain();
    core.all(r#"put 0 w q z K {} 0; put 0 w q x K {} 0 depends ["z"]"#);
    core.ok(r#"put 0 w q y K {} 0 depends ["x","c"]"#);
    let before = core.dump();
    let mut answers = words(&core.ok("guard.depends 9 b '' '' y"));
    answers[2..].sort();
    assert_eq!(answers, ["cycle", "depends:0:1:q", "b", "c", "y"]);
    assert_eq!(core.dump(), before);
    assert_eq!(words(&core.ok("guard.depends 9 y '' '' b"))[0], "done");
}

#[test]
fn a_search_for_cycles_is_limited() {
    let mut core = Core::new();
    core.ok("put 0 w q top K {} 0");
    core.ok("put 0 w q job K {} 0 depends [\"top\"]");
    core.ok("put 0 w q below K {} 0 depends [\"job\"]");
    core.put_jobs(0, (0..10_002).map(|n| format!("q m{n} K {{}} 0")));
    let list: Vec<String> = (0..10_002).map(|n| format!("\"m{n}\"")).collect();
    core.ok(&format!(
        "put 0 w q wide K {{}} 0 depends [{}]",
        list.join(",")
    ));
    let answers = words(&core.ok("guard.depends 9 job '' '' wide"));
    assert_eq!(answers[0], "invalid", "{answers:?}");
    // No search is needed for a job without dependents.
    assert_eq!(
        words(&core.ok("guard.depends 9 below '' '' wide"))[0],
        "done"
    );
}

#[test]
fn guarded_dependencies() {
    Core::new().session(expect![[r#"
        == guard.depends refuses bad usage
        put 0 w q a K {} 0; put 0 w q b K {} 0 depends ["a"]; put 0 w q c K {} 0 depends ["b"]
        guard.depends 9 → error Guard(): jid or mark missing
        guard.depends 9 b → error Guard(): jid or mark missing
        guard.depends 9 b '' → error Guard(): note missing
        guard.depends 9 b '' [] a → error Guard(): note must be a JSON object

        == Dependencies are added all or none
        one_of_each; remember
        guard.depends 9 depends '' '' running gone → missing_dependency depends:0:1:q gone
        guard.depends 9 depends waiting:1:1:q '' running → state_changed depends:0:1:q
        guard.depends 9 waiting '' '' running → state_changed waiting:0:1:q
        guard.depends 9 gone '' '' running → gone ''
        guard.depends 9 depends '' '' depends → cycle depends:0:1:q depends
        unchanged
        guard.depends 9 depends depends:0:1:q {"by":"ann"} running complete failed running → done '' complete
        members ql:j:depends-dependencies → failed running waiting
        history depends → [0,"put",{"q":"q"}] · [9,"cli",{"by":"ann"}]
        events → none
    "#]]);
}

// pause

#[test]
fn a_pause_ends_at_the_first_own_call_after_its_time() {
    let mut core = Core::new();
    for line in ["pop 20 q w1 5", "peek 20 q 5", "queues 20 q", "queues 20"] {
        core.flush();
        core.all("put 0 w q j K {} 0; guard.pause 1 20 '' q");
        assert!(core.jids("pop 19.9 q w1 5").is_empty());
        core.ok(line);
        let keys = core.dump();
        assert!(
            !keys.has("ql:paused_queues") && !keys.has("ql:pauses"),
            "{line}"
        );
        core.ok("pop 21 q w1 5");
        assert_eq!(core.state("j"), "running", "{line}");
    }
}

#[test]
fn guarded_pauses() {
    Core::new().session(expect![[r#"
        == A pop after the end of a pause takes jobs
        put 0 w q j K {} 0; guard.pause 1 20 '' q
        pop 20 q w1 5 | jid → j

        == A pop that is refused ends no pause
        guard.pause 1 20 '' q
        pop 20 q w1 1.5 → error of Redis
        peek 20 q 1.5 → error of Redis
        EXISTS ql:pauses → :1

        == An entry counts only while its queue is paused
        put 0 w q j K {} 0; guard.pause 1 20 '' q; SREM ql:paused_queues q
        pop 2 q w1 5 | jid → j
        SADD ql:paused_queues q
        pop 19 q w1 5 | jid → {}
        queues 20 q | paused → false

        == guard.pause refuses bad usage
        guard.pause 9 → error Guard(): until missing
        guard.pause 9 '' → error Guard(): note missing
        guard.pause 9 '' '' → error Guard(): no queue
        guard.pause 9 soon '' q → error Guard(): until is not a number: soon
        guard.pause 9 nan '' q → error Guard(): until is not a number: nan
        guard.pause 9 inf '' q → error Guard(): until is not a number: inf
        guard.pause 9 '' [] q → error Guard(): note must be a JSON object
        guard.pause 9 '' {"a":[]} q → error Guard(): values of a note must be texts, finite numbers, booleans or null

        == A pause stores its reason and looks plain to other clients
        guard.pause 10.5 '' {"reason":"deploy","by":"ann","verb":"pause"} q p → nil
        events → none
        SCARD ql:paused_queues → :2
        look.queues 11 q | since until reason by → "10.5" - deploy ann
        unpause 11 q
        HLEN ql:pauses → :1
        pause 12 p
        EXISTS ql:pauses → :0
        queues 13 p | paused → true
    "#]]);
}

// keys of a wrong type

/// Each key of the database in turn becomes a string; the call must then answer `invalid` for its
/// job or change it completely, and change the other job in any case.
#[track_caller]
fn survives_foreign_keys(core: &mut Core, prepare: &str, line: &str) {
    core.flush();
    core.all(prepare);
    let mut names: Vec<String> = core.dump().0.into_keys().collect();
    core.ok(line);
    names.extend(core.dump().0.into_keys());
    for name in names {
        core.flush();
        core.all(prepare);
        core.redis_words(&[b"DEL", name.as_bytes()]);
        core.redis_words(&[b"SET", name.as_bytes(), b"x"]);
        core.events();
        let before = core.dump();
        match core.run(line) {
            Ok(reply) => {
                let list = reply.list();
                let answers: Vec<String> = match list.first() {
                    Some(Reply::List(_)) => list.iter().map(|row| words(row).join(" ")).collect(),
                    _ => vec![words(&reply).join(" ")],
                };
                if answers.iter().all(|row| row.starts_with("invalid")) {
                    assert_eq!(core.dump(), before, "{line}: {name}: {answers:?}");
                    assert!(core.events().is_empty(), "{line}: {name}: {answers:?}");
                }
            }
            Err(error) => {
                assert_eq!(core.dump(), before, "{line}: {name}: {error}");
                assert!(core.events().is_empty(), "{line}: {name}: {error}");
                assert!(error.contains("Guard(): "), "{line}: {name}: {error}");
            }
        }
    }
}

const JOBS: &str = r#"put 0 w q j K {} 0 tags ["t"]; pop 1 q w1 1; put 0 w q h K {} 0 tags ["t"]; put 0 w q d K {} 0 depends ["j"]; track 1 track j; track 1 track h; config.set 1 max-job-history 50"#;

#[test]
fn guarded_calls_survive_keys_of_a_wrong_type() {
    let mut core = Core::new();
    let failed = format!("{JOBS}; fail 2 j w1 G M");
    let complete = format!("{JOBS}; complete 2 j w1 q {{}}");
    for line in [
        r#"guard.put 9 {"replace":true} 9 p j K {} 0 tags ["u"] depends ["h"]"#,
        r#"guard.put 9 {} 9 p n K {} 0 tags ["u"] depends ["h"]"#,
        r#"guard.put 9 {} 7 p n K {} 0 failed {"group":"G","when":5}"#,
        r#"guard.requeue 9 {"from":["running"],"to":"p"} {"by":"ann"} j '' ''"#,
        r#"guard.depends 9 d '' {"by":"ann"} h"#,
        "guard.cancel 9 refuse j ''",
        "guard.cancel 9 cancel j ''",
        "guard.cancel 9 release j ''",
        "guard.cancel 9 refuse j '' d ''",
        "guard.cancel 9 cancel j '' d ''",
        "guard.cancel 9 release j '' d ''",
    ] {
        survives_foreign_keys(&mut core, JOBS, line);
    }
    for line in [
        r#"guard.put 9 {"replace":true} 5 p j K {} 0"#,
        r#"guard.requeue 9 {} {"by":"ann"} j '' 50"#,
        "guard.cancel 9 refuse j '' d ''",
        "guard.cancel 9 cancel j '' d ''",
        "guard.cancel 9 release j '' d ''",
    ] {
        survives_foreign_keys(&mut core, &failed, line);
    }
    let line = r#"guard.requeue 9 {"from":["complete"]} '' j '' ''"#;
    survives_foreign_keys(&mut core, &complete, line);
}

#[test]
fn keys_of_a_wrong_type() {
    Core::new().session(expect![[r#"
        == One key of a wrong type affects one job only
        put 0 w q j K {} 0; pop 1 q w1 1; fail 2 j w1 G M; put 0 w q k K {} 0; pop 1 q w1 1; fail 2 k w1 H M
        DEL ql:f:G; SET ql:f:G x
        guard.requeue 9 {} '' j '' '' k '' '' → invalid failed:2:3:q ql:f:G is no list · done '' waiting q
        states j k → failed waiting

        == A pause names keys of a wrong type
        SET ql:pauses x
        guard.pause 9 '' '' q → error Guard(): ql:pauses is no hash
        DEL ql:pauses; SET ql:paused_queues x
        guard.pause 9 '' '' q → error Guard(): ql:paused_queues is no set
    "#]]);
}

// call

#[test]
fn guarded_calls() {
    Core::new().session(expect![[r#"
        == A guarded call does what the command does and records it in the history
        put 0 w q a K {} 0; pop 1 q w1 1; events
        guard.call 5 a running:1:2:q {"verb":"timeout"} timeout a → done '' nil
        states a → stalled
        events →
            * ql:w:w1 {"jid":"a","event":"lock_lost","worker":"w1"}
            * ql:log {"jid":"a","event":"lock_lost","worker":"w1"}
        history a → [0,"put",{"q":"q"}] · [1,"popped",{"worker":"w1"}] · [5,"timed-out"] · [5,"cli",{"verb":"timeout"}]

        == A guarded call answers numbers and documents as text
        put 0 w q a K {} 0; put 0 w q b K {} 0; pop 1 q w1 1
        guard.call 5 a '' '' priority a 7 → done '' 7
        guard.call 5 a '' '' tag add a x y → done '' ["x","y"]
        guard.call 5 a '' '' track track a → done '' 1
        guard.call 5 b '' '' retry b q w1 → done '' 4

        == Tags are replaced in one call with one note
        put 0 w q a K {} 0 tags ["new","eu"]
        guard.call 5 a waiting:0:1:q {"verb":"tag"} tag swap a 2 new gone seen add → done '' ["eu","seen","add"]
        history a → [0,"put",{"q":"q"}] · [5,"cli",{"verb":"tag"}]
        tag 6 get new → {"jobs":{},"total":0}
        guard.call 5 a '' '' tag swap a 1 eu → done '' ["seen","add"]

        == A guarded call leaves a job that changed as it is
        put 0 w q a K {} 0
        log 3 a looked; remember
        guard.call 5 a waiting:0:1:q {"verb":"priority"} priority a 7 → state_changed waiting:3:2:q
        guard.call 5 nobody '' '' priority nobody 7 → gone ''
        unchanged

        == A job deleted by the call gets no note
        config.set 0 jobs-history -1; put 0 w q a K {} 0; pop 1 q w1 1
        guard.call 5 a '' {"verb":"complete"} complete a w1 q {} → done '' complete
        EXISTS ql:j:a-history → :0

        == A guarded command refuses with its own message
        put 0 w q a K {} 0; remember
        guard.call 5 a '' {"verb":"fail"} fail a w1 G M → error Fail(): Job anot currently running: waiting
        guard.call 5 → error Guard(): jid or mark missing
        guard.call 5 a → error Guard(): jid or mark missing
        guard.call 5 a '' → error Guard(): note missing
        guard.call 5 a '' '' → error Guard(): no command that may be guarded: nil
        guard.call 5 a '' '' cancel a → error Guard(): no command that may be guarded: cancel
        guard.call 5 a '' '' read a → error Guard(): no command that may be guarded: read
        guard.call 5 a '' '' put w q a K {} 0 → error Guard(): no command that may be guarded: put
        guard.call 5 a '' '' priority b 7 → error Guard(): another job than a
        guard.call 5 a '' '' priority → error Guard(): another job than a
        guard.call 5 a '' '' timeout a b → error Guard(): another job than a
        guard.call 5 a '' '' tag get a → error Guard(): only tag add, tag remove and tag swap
        guard.call 5 a '' '' tag add b x → error Guard(): another job than a
        guard.call 5 a '' '' tag swap a → error Guard(): how many tags go is wrong
        guard.call 5 a '' '' tag swap a 2 x → error Guard(): how many tags go is wrong
        guard.call 5 a '' '' tag swap a -1 x → error Guard(): how many tags go is wrong
        guard.call 5 a '' '' tag swap a 0.5 x → error Guard(): how many tags go is wrong
        guard.call 5 a '' '' tag swap a nan x → error Guard(): how many tags go is wrong
        guard.call 5 a '' '' tag swap b 1 x y → error Guard(): another job than a
        guard.call 5 a '' '' track track b → error Guard(): another job than a
        guard.call 5 a '' [] priority a 7 → error Guard(): note must be a JSON object
        unchanged

        == A guarded call does not touch a job whose history is not a list
        put 0 w q a K {} 0; DEL ql:j:a-history; SET ql:j:a-history x; remember
        guard.call 5 a '' {"verb":"x"} priority a 7 → invalid waiting:-:0:q ql:j:a-history is no list
        unchanged

        == A guarded complete without data keeps the data
        put 0 w q j K {"l":[],"n":1.10} 0; put 0 w q k K {} 0; pop 1 q w1 2
        guard.call 9 j running:1:2:q '' complete j w1 q ''
        HMGET ql:j:j state data → complete {"l":[],"n":1.1}
        guard.call 9 k '' '' complete k w1 q [2]
        HGET ql:j:k data → [2]
    "#]]);
}
