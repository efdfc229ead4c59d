//! `bury`: a job that has not started becomes failed.

use expect_test::expect;
use serde_json::json;

use crate::check::invariants::Excuses;
use crate::support::core::Core;

/// `w` waits, `s` is scheduled, `d` depends on `w`, `t` is stalled.
fn fill(core: &mut Core) {
    core.flush();
    core.all("put 1 w q t K {} 0; pop 2 q w1 1; timeout 3 t");
    core.all("put 4 w q w K {} 0; put 5 w q s K {} 60; put 6 w q d K {} 60 depends [\"w\"]");
}

#[test]
fn a_job_in_each_state_before_a_run_becomes_failed_as_by_fail() {
    let mut core = Core::new();
    for jid in ["w", "s", "d", "t"] {
        fill(&mut core);
        assert_eq!(core.ok(&format!("bury 9.5 {jid} G M")).text(), jid);
        let job = core.json(&format!("get 10 {jid}"));
        let fields = ["state", "queue", "worker", "expires", "failure"].map(|name| &job[name]);
        let failure = json!({"group": "G", "message": "M", "when": 9, "worker": ""});
        assert_eq!(
            json!(fields),
            json!(["failed", "q", "", 0, failure]),
            "{jid}"
        );
        let entry = r#"[9,"failed",{"group":"G","worker":""}]"#;
        assert_eq!(core.history(jid).last().unwrap(), entry);
        assert_eq!(core.json("failed 10 G")["jobs"], json!([jid]));
        let stats = core.json("stats 10 q 10");
        assert_eq!(
            (&stats["failures"], &stats["failed"]),
            (&json!(1), &json!(1))
        );
        assert_eq!(core.field(jid, "scheduled"), None);
        let dump = core.dump();
        for set in ["work", "scheduled", "depends", "locks"] {
            assert_eq!(
                dump.score(&format!("ql:q:q-{set}"), jid),
                None,
                "{jid} {set}"
            );
        }
        assert!(!dump.has(&format!("ql:j:{jid}-dependencies")));
        core.must_be_clean(10.0, Excuses::default());
    }
}

#[test]
fn buried_jobs() {
    Core::new().session(expect![[r#"
        == The event and the tracked jid are published as by fail
        put 1 w q t K {} 0; pop 2 q w1 1; timeout 3 t; put 4 w q w K {} 0; put 5 w q s K {} 60
        put 6 w q d K {} 60 depends ["w"]; track 7 track w; events; bury 9 w G M
        events →
            * ql:log {"message":"M","jid":"w","group":"G","event":"failed","worker":""}
            * ql:failed w

        == Dependents of a buried job stay
        put 1 w q t K {} 0; pop 2 q w1 1; timeout 3 t; put 4 w q w K {} 0; put 5 w q s K {} 60
        put 6 w q d K {} 60 depends ["w"]; bury 9 w G M
        get 10 d | state dependencies → depends ["w"]
        unfail 11 q G; pop 12 q w1 9; complete 13 w w1 q {}
        get 14 d | state → scheduled

        == A buried job depends on nothing any more
        put 1 w q t K {} 0; pop 2 q w1 1; timeout 3 t; put 4 w q w K {} 0; put 5 w q s K {} 60
        put 6 w q d K {} 60 depends ["w"]; bury 9 d G M; pop 10 q w1 9; complete 11 w w1 q {}
        get 12 d | state → failed
        unfail 13 q G
        pop 14 q w2 9 | jid → d

        == Other jobs are refused and stay
        put 1 w q t K {} 0; pop 2 q w1 1; timeout 3 t; put 4 w q w K {} 0; put 5 w q s K {} 60
        put 6 w q d K {} 60 depends ["w"]; put 7 w r r K {} 0; pop 7 r w1 1; put 7 w r c K {} 0; pop 7 r w2 1
        complete 7 c w2 r {}; put 7 w r f K {} 0; pop 7 r w2 1; fail 7 f w2 G M
        bury 9 → error Job(): no jid provided
        bury 9 w → error Bury(): Arg "group" missing
        bury 9 w G → error Bury(): Arg "message" missing
        bury 9 nope G M → error Bury(): Job nope does not exist
        bury 9 r G M → error Bury(): Job r is running
        bury 9 c G M → error Bury(): Job c is complete
        bury 9 f G M → error Bury(): Job f is failed

        == A guarded bury needs the mark and leaves a note
        put 1 w q t K {} 0; pop 2 q w1 1; timeout 3 t; put 4 w q w K {} 0; put 5 w q s K {} 60
        put 6 w q d K {} 60 depends ["w"]
        guard.call 9 w waiting:0:0:q {"verb":"bury"} bury w G M → state_changed waiting:4:1:q
        guard.call 9 w waiting:4:1:q {"verb":"bury"} bury w G M → done '' w
        history w → [4,"put",{"q":"q"}] · [9,"failed",{"group":"G","worker":""}] · [9,"cli",{"verb":"bury"}]
        get 10 w | state → failed

        == A buried job that a throttle held leaves it
        throttle.set 0 t 1; put 1 w q a K {} 0 throttles ["t"]; pop 2 q w1 1; put 3 w q b K {} 0 throttles ["t"]
        states b → throttled
        bury 4 b G M
        states b → failed
        throttle.pending 5 t → []
        EXISTS ql:q:q-throttled → :0
        complete 6 a w1 q {}
        states b → failed
        unfail 7 q G
        pop 8 q w1 9 | jid → b

        == A buried job gives back the slot that it kept
        throttle.set 0 t 1; put 1 w q a K {} 0 throttles ["t"]; pop 2 q w1 1; timeout 3 a
        put 4 w q b K {} 0 throttles ["t"]; bury 5 a G M
        pop 6 q w1 9 | jid → b

        == A buried job with hold keeps its place and blocks its lane
        put 1 w q a K {} 0 key k; put 2 w q b K {} 0 key k hold 1; put 3 w q c K {} 0 key k; bury 4 b G M
        pop 5 q w1 9; complete 6 a w1 q {}
        pop 7 q w1 9 → {}
        states b c → failed depends
        unfail 8 q G
        pop 9 q w1 9 | jid → b
        complete 10 b w1 q {}
        pop 11 q w1 9 | jid → c

        == A merge job is buried as a whole
        put 1 w q a K 1 0 key k dup merge score 1; put 2 w q b K 2 0 key k dup merge score 2; bury 3 a G M
        get 4 a | state data → failed "[1,2]"
        put 5 w q c K 3 0 key k dup merge score 3; unfail.jobs 6 q G a
        get 7 c | data → "[1,2,3]"
        get 7 a → nil
        failed 7 → {}

        == A buried job leaves its lane and the next one runs
        put 1 w q a K {} 0 key k; put 2 w q b K {} 0 key k; put 3 w q c K {} 0 key k
        bury 4 b G M
        key.get 9 q/k → {"jobs":[{"jid":"a","queue":"q","state":"waiting"},{"jid":"c","queue":"q","state":"depends"}],"key":"q/k"}
        get 5 c | dependencies → ["a"]
        bury 5 a G M
        key.get 9 q/k → {"jobs":[{"jid":"c","queue":"q","state":"waiting"}],"key":"q/k"}
        EXISTS ql:j:b-dependencies → :0
        unfail.jobs 6 q G b
        key.get 9 q/k → {"jobs":[{"jid":"c","queue":"q","state":"waiting"},{"jid":"b","queue":"q","state":"depends"}],"key":"q/k"}
        pop 7 q w1 9 | jid → c
    "#]]);
}
