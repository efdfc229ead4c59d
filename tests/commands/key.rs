//! `qless key`, lanes in `get` and `explain`, and the selector `--key`.

use expect_test::expect;

use crate::commands::selectors::assert_selected;
use crate::support::redis::Redis;
use crate::support::text::Shows;

/// Three jobs of customer 7, one of customer 8, and one of all queues.
fn lanes() -> Redis {
    let redis = Redis::start();
    for (now, line) in [
        (10, "put orders Sync --jid a --key customer-7"),
        (11, "put orders Sync --jid b --key customer-7"),
        (12, "put orders Sync --jid c --key customer-7 --hold"),
        (13, "put orders Sync --jid d --key customer-8"),
        (14, "put mail Send --jid e --key /customer-7"),
    ] {
        redis.ok(now, line);
    }
    redis
}

#[test]
fn the_jobs_of_a_lane_are_listed_in_order() {
    let redis = lanes();
    redis.session(expect![[r#"
        20 $ qless key orders customer-7
        a	Sync	waiting	orders	0	5/5	1970-01-01T00:00:10.000Z	waits since 1970-01-01T00:00:10.000Z
        b	Sync	depends	orders	0	5/5	1970-01-01T00:00:11.000Z	on 1 job
        c	Sync	depends	orders	0	5/5	1970-01-01T00:00:12.000Z	on 1 job
        20 $ qless key orders customer-7 -o jid
        a
        b
        c
        20 $ qless key orders customer-7 -o raw
        {"key":"orders\/customer-7","jobs":[{"jid":"a","state":"waiting","queue":"orders"},{"jid":"b","state":"depends","queue":"orders"},{"jid":"c","state":"depends","queue":"orders"}]}
        20 $ qless key anything /customer-7 -o jid
        e
        20 $ qless key ordesr customer-7
        --- stderr
        error: queue `ordesr` does not exist
        hint: did you mean `orders`?
        --- exit 4
    "#]]);
    let none = redis.on_terminal(20.0, "key orders nobody");
    assert_eq!(none, "lane orders/nobody has no jobs\n");
}

#[test]
fn a_job_shows_its_lane() {
    let redis = lanes();
    redis.on_terminal(20.0, "get c").shows(expect![[r#"
        jid         c
        klass       Sync
        queue       orders
        state       depends              on 1 job
        blocked     2 jobs come before it in lane orders/customer-7: b (orders, depends)
        priority    0                    higher runs first
        retries     5 of 5 remaining
        tags        –
        tracked     no
        depends on  b (depends)
        needed by   –
        lane        orders/customer-7    blocked if the job fails
        data        {}

        history (1)
          1970-01-01 00:00:12  put  in orders
        hint: qless key orders customer-7
    "#]]);
    redis.session(expect![[r#"
        20 $ qless get c -o json | jq -c '[.key, .hold]'
        ["orders/customer-7",true]
        20 $ qless jobs --columns jid,lane
        e	/customer-7
        a	orders/customer-7
        d	orders/customer-8
        b	orders/customer-7
        c	orders/customer-7
    "#]]);
}

#[test]
fn a_failed_job_that_left_its_lane_has_no_job_before_it() {
    Redis::start().session(expect![[r#"
        10 $ qless put a K --jid x1 --key k &>/dev/null
        11 $ qless put a K --jid x2 --key k &>/dev/null
        12 $ qless pop a &>/dev/null
        13 $ qless fail x1 --group g --message m &>/dev/null
        20 $ qless explain x1 -o json | jq -c '[.reasons[].code]'
        ["failed"]
    "#]]);
}

#[test]
fn a_job_that_advances_stays_in_its_lane_or_gets_another() {
    let redis = lanes();
    redis.session(expect![[r#"
        20 $ qless pop orders --worker w &>/dev/null
        21 $ qless complete a --worker w --next mail
        waiting
        22 $ qless key orders customer-7 --columns jid,state,queue
        a	waiting	mail
        b	depends	orders
        c	depends	orders
        30 $ qless pop orders --worker w --count 2 -o jid
        d
        31 $ qless pop mail --worker w -o jid
        e
        32 $ qless pop mail --worker w -o jid
        a
        33 $ qless complete a --worker w --next mail --key ann
        waiting
        34 $ qless key orders customer-7 --columns jid,state,queue
        b	waiting	orders
        c	depends	orders
        34 $ qless key mail ann --columns jid,state,queue
        a	waiting	mail
    "#]]);
}

#[test]
fn explain_names_the_job_before_it_in_its_lane() {
    let redis = lanes();
    redis.on_terminal(20.0, "explain c").shows(expect![[r#"
        Sync in orders depends on other jobs and cannot run now

          ✗ 2 jobs come before it in lane orders/customer-7  b (orders, depends)
              qless key orders customer-7
          ✗ 1 job must be complete first  a (orders, waiting)
              qless explain a
    "#]]);
    redis.session(expect![[r#"
        20 $ qless explain b -o json | jq -c
        {"kind":"explain","v":1,"jid":"b","klass":"Sync","queue":"orders","state":"depends","recurring":false,"runnable":false,"next_jid":"a","last_pop":null,"oldest_wait_s":10,"reasons":[{"code":"ordered","blocking":true,"evidence":{"lane":"orders/customer-7","jobs":1,"roots":[{"jid":"a","klass":"Sync","queue":"orders","state":"waiting"}]},"fix":["qless","key","orders","customer-7"]},{"code":"depends","blocking":true,"evidence":{"jobs":1,"roots":[{"jid":"a","klass":"Sync","queue":"orders","state":"waiting"}]},"fix":["qless","explain","a"]}]}
        20 $ qless pop orders --worker w &>/dev/null
        200 $ qless explain b -o json | jq -c '[.reasons[].evidence.roots[0].jid, .reasons[].evidence.roots[0].state]'
        ["a","a","stalled","stalled"]
    "#]]);
}

#[test]
fn jobs_are_selected_by_key() {
    let redis = lanes();
    assert_selected(
        &redis,
        "
        --key customer-7 | a b c
        --key /customer-7 | e
        --key orders/customer-7 | a b c
        --key customer-7 --key customer-8 | a b c d
        --key customer-7 --state waiting | a
        --key customer-7 --queue mail |
    ",
    );
    redis.ok(21, "move b --to later");
    redis.ok(22, "pop orders --worker w");
    redis.ok(23, "fail a --as-holder --group g --message m");
    assert_selected(
        &redis,
        "
        --key customer-7 --queue later | b
        --key customer-7 | b c
        --key customer-7 --state failed | a
    ",
    );
    redis.ok(24, "cancel --key customer-7 --yes");
    assert_selected(
        &redis,
        "
        --key customer-7 |
        --all | a d e
    ",
    );
}
