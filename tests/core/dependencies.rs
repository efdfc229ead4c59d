//! Dependencies: how jobs get them, how jobs are released, and which leftovers are allowed.

use expect_test::expect;

use crate::support::core::Core;

#[test]
fn dependencies_and_their_release() {
    Core::new().session(expect![[r#"
        == A dependency is stored on both jobs
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]
        get 2 a | dependents → ["b"]
        get 2 b | state dependencies → depends ["a"]
        jobs 2 depends q → b
        score ql:q:q-depends b → 1

        == Completion releases dependents without events
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; events
        pop 5 q w1 1 | jid → a
        complete 5 a w1 q {}
        states b → waiting
        score ql:q:q-work b → -0.0000000005
        events →
            * ql:log {"jid":"a","event":"completed","queue":"q"}
        history b → [1,"put",{"q":"q"}]

        == A job is released after its last dependency
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 1 w q c K {} 0 depends ["a","b"]
        pop 5 q w1 1 | jid → a
        complete 5 a w1 q {}
        states c → depends
        pop 6 q w1 1 | jid → b
        complete 6 b w1 q {}
        states c → waiting

        == A delay applies after the last dependency
        put 0 w q a K {} 0; put 0 w q b K {} 50 depends ["a"]; put 0 w q c K {} 3 depends ["a"]
        pop 5 q w1 1 | jid → a
        complete 5 a w1 q {}
        states b → scheduled
        score ql:q:q-scheduled b → 50
        -- Even if the time has passed by then.
        score ql:q:q-scheduled c → 3
        HGET ql:j:b scheduled → nil

        == Missing and complete jobs are satisfied
        put 0 w q a K {} 0
        pop 1 q w1 1 | jid → a
        complete 1 a w1 q {}; put 2 w q b K {} 0 depends ["a","gone"]
        states b → waiting
        EXISTS ql:j:a-dependents → :0

        == A failed job blocks its dependents
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; pop 2 q w1 1; fail 3 a w1 G M
        states b → depends
        unfail 4 q G
        pop 5 q w1 1 | jid → a
        complete 5 a w1 q {}
        states b → waiting

        == Advancing releases no dependents
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; pop 2 q w1 1; complete 3 a w1 q {} next p
        states b → depends
        pop 4 p w1 1; complete 5 a w1 p {}
        states b → waiting

        == D-35: putting again without dependencies keeps the old ones
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 2 w p b K {} 0 depends []
        states b → depends
        score ql:q:p-depends b → 2
        score ql:q:q-depends b → nil
        put 3 w p b K {} 0 depends ["gone"]
        states b → waiting
        EXISTS ql:j:a-dependents → :0

        == Putting again with other dependencies drops the old ones
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 1 w q c K {} 0; put 2 w q b K {} 0 depends ["c"]
        get 3 b | dependencies → ["c"]
        get 3 a | dependents → {}

        == D-70: a dependency on oneself is satisfied
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 2 w q c K {} 0 depends ["c"]
        states c → waiting
        put 3 w q c K {} 0 depends ["c"]
        states c → waiting
        depends 4 b on b
        get 5 b | dependencies → ["a"]

        == D-23: putting again without a delay clears the old delay
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 2 w q c K {} 100 depends ["a"]; put 3 w q c K {} 0
        HGET ql:j:c scheduled → nil
        pop 5 q w1 1 | jid → a
        complete 5 a w1 q {}
        states c → waiting

        == All dependencies can be dropped together
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 1 w q c K {} 0; depends 2 b on c
        depends 3 b off all
        states b → waiting
        EXISTS ql:j:a-dependents ql:j:c-dependents ql:j:b-dependencies ql:q:q-depends → :0

        == D-32: dropping the last dependency respects a future delay
        put 0 w q a K {} 0; put 0 w q b K {} 50 depends ["a"]; put 0 w q c K {} 3 depends ["a"]; depends 5 b off all
        depends 5 c off a
        score ql:q:q-scheduled b → 50
        states b c → scheduled waiting
        HGET ql:j:b scheduled → nil
        HGET ql:j:c scheduled → nil

        == A job is cancelled with its dependents in any order
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 1 w q c K {} 0 depends ["b"]
        cancel 2 a b → error Cancel(): b is a dependency of c but is not mentioned to be canceled
        cancel 2 c a b → c a b
        keys * → ql:queues

        == Cancelling a dependent removes it from its dependency
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; cancel 2 b
        get 3 a | dependents → {}

        == D-17: a leftover entry restarts no job
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 1 w p run K {} 0; pop 1 p w2 1
        put 1 w p done K {} 0; pop 1 p w2 1; complete 2 done w2 p {}; SADD ql:j:a-dependents run done gone
        pop 5 q w1 1 | jid → a
        complete 5 a w1 q {}
        states run done b → running complete waiting
        EXISTS ql:j:gone ql:j:a-dependents ql:q:p-work → :0

        == D-59: a leftover entry does not block a cancel
        put 0 w q a K {} 0; put 0 w q other K {} 0; SADD ql:j:a-dependents gone other
        cancel 1 a → a
        EXISTS ql:j:a-dependents → :0

        == D-57: a cancelled or expired job leaves no keys
        put 0 w q a K {} 0; SADD ql:j:a-dependents gone; cancel 1 a
        EXISTS ql:j:a-dependents → :0
        put 0 w q a K {} 0
        pop 2 q w1 1 | jid → a
        complete 2 a w1 q {}; SADD ql:j:a-dependents gone; SADD ql:j:a-dependencies gone
        config.set 2 jobs-history-count 1; put 3 w q b K {} 0
        pop 4 q w1 1 | jid → b
        complete 4 b w1 q {}
        EXISTS ql:j:a ql:j:a-dependents ql:j:a-dependencies → :0

        == A dependency named twice counts once
        put 0 w q a K {} 0; put 0 w q b K {} 0 depends ["a","a"]
        pop 1 q w1 1 | jid → a
        complete 1 a w1 q {}
        states b → waiting

        == Dependencies can be added and dropped
        put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 1 w q c K {} 0; put 1 w q d K {} 0; events
        depends 2 b on c d gone → :1
        members ql:j:b-dependencies → a c d
        depends 4 b off a d → :1
        get 5 b | dependencies → ["c"]
        depends 6 b off gone → :1
        depends 6 b off → :1
        depends 6 b on → :1
        states b → depends
        depends 7 b off c → :1
        states b → waiting
        score ql:q:q-work b → -0.0000000007
        events → none

        == Stalled and failed jobs are not satisfied
        one_of_each; put 9 w p a K {} 0 depends ["waiting"]; put 9 w p b K {} 0 depends ["scheduled"]
        put 9 w p c K {} 0 depends ["depends"]; put 9 w p d K {} 0 depends ["running"]
        put 9 w p e K {} 0 depends ["stalled"]; put 9 w p f K {} 0 depends ["failed"]
        put 9 w p g K {} 0 depends ["template"]
        states a b c d e f g → depends depends depends depends depends depends waiting
    "#]]);
}

#[test]
fn d_14_d_19_an_object_names_no_dependency() {
    let mut core = Core::new();
    for object in [r#"{"a":"b"}"#, r#"{"1":"a"}"#] {
        core.flush();
        core.all(r#"put 0 w q a K {} 0; put 1 w q b K {} 0 depends ["a"]; put 1 w p run K {} 0; pop 1 p w2 1"#);
        core.ok(&format!("put 2 w q new K {{}} 0 depends {object}"));
        assert_eq!(core.state("new"), "waiting", "{object}");
        // As with an empty list, nothing is dropped.
        let before = core.dump().set("ql:j:b-dependencies");
        core.ok(&format!("requeue 2 w q b K {{}} 0 depends {object}"));
        assert_eq!(core.dump().set("ql:j:b-dependencies"), before, "{object}");
        let line = format!("complete 3 run w2 p {{}} next q delay 30 depends {object}");
        assert_eq!(core.ok(&line).text(), "scheduled", "{object}");
        core.refused(&format!("guard.put 4 {{}} 7 q k K {{}} 0 depends {object}"));
    }
}
