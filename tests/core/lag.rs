//! `lag`: how long the oldest due job of a queue has been due.

use expect_test::expect;

use crate::support::core::Core;

#[test]
fn lags_are_measured() {
    Core::new().session(expect![[r#"
        == The lag is the age of the first waiting job
        lag 5 q p → {"p":0,"q":0}
        put 10 w q a K {} 0; put 12 w q b K {} 0
        lag 15.5 q p q → {"p":0,"q":5.5}
        -- Like the next pop, it sees the highest priority first.
        priority 16 b 3
        lag 17 q | q → 5
        pop 18 q w1 1
        lag 20 q | q → 10
        pop 20 q w1 1
        lag 20 q | q → 0

        == A scheduled job counts from its time
        put 10 w q a K {} 20; put 10 w q b K {} 30
        lag 29 q | q → 0
        lag 33 q | q → 3

        == An expired lock counts from its expiry
        config.set 0 heartbeat 60; put 10 w q a K {} 0; pop 20 q w1 1
        lag 79 q | q → 0
        lag 85 q | q → 5
        -- The grace period extends the lock.
        pop 85 q w2 1
        lag 86 q | q → 0
        lag 96 q | q → 1

        == A job without a time in its score counts from its newest entry
        put 10 w q a K {} 0; pop 20 q w1 1; timeout 30 a
        score ql:q:q-work a → inf
        lag 33 q | q → 3
        cancel 34 a; put 40 w q b K {} 0 priority 9007199254740992
        lag 44 q | q → 4

        == A job of a client whose clock is ahead has no lag
        put 50 w q a K {} 0
        lag 40 q | q → 0

        == Lag needs a queue and writes nothing
        lag 0 → error Queue(): no queue name provided
        put 1 w q a K {} 0; put 1 w q s K {} 1; recur 1 q r K {} interval 1 0; remember; lag 9 q nope; unchanged
        SET ql:q:x-work text
        lag 9 x → error of Redis
        lag 9 q | q → 8
    "#]]);
}
