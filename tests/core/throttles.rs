//! The list of throttles, `ql:throttles`: which calls keep it, and `look.throttles`.

use expect_test::expect;
use std::collections::BTreeSet;

use super::cost::commands;
use crate::support::core::{Core, Reply};

/// The listed throttles.
fn listed(core: &mut Core) -> Vec<String> {
    core.redis("ZRANGE ql:throttles 0 -1").texts()
}

/// The next cursor, and the items as lines.
fn look(core: &mut Core, line: &str) -> (String, Vec<String>) {
    let reply = core.ok(line);
    let [cursor, items] = reply.list() else {
        panic!("{reply:?}")
    };
    let word = |word: &Reply| match word {
        Reply::Nil => "-".to_owned(),
        word => word.text().to_owned(),
    };
    let line = |item: &Reply| item.list().iter().map(word).collect::<Vec<_>>().join(" ");
    let items = items.list().iter().map(line).collect();
    (cursor.text().to_owned(), items)
}

/// All items, and the number of calls that it took to read them.
fn look_at_all(core: &mut Core) -> (Vec<String>, usize) {
    let (mut cursor, mut all) = look(core, "look.throttles 9 all");
    let mut calls = 1;
    while !cursor.is_empty() {
        let (next, items) = look(core, &format!("look.throttles 9 all '{cursor}'"));
        all.extend(items);
        calls += 1;
        assert_ne!(next, cursor);
        cursor = next;
    }
    (all, calls)
}

#[test]
fn throttles_are_listed() {
    Core::new().session(expect![[r#"
        == Every call that sets a maximum lists the throttle
        throttle.set 1 set 3; queue.throttle.set 2 q 0; guard.put 3.25 {"maxima":{"put":2}} 5 q a K {} 0
        config.set 4 d-defaults {"throttles":["by-default=5"]}; put 5 w d b K {} 0
        ZRANGE ql:throttles 0 -1 → set ql:q:q put by-default
        score ql:throttles put → 3.25
        throttle.set 6 set 4 60
        ZRANGE ql:throttles 0 -1 → ql:q:q put by-default set
        throttle.delete 7 put
        ZRANGE ql:throttles 0 -1 → ql:q:q by-default set

        == A pop that gives a throttle its maximum lists it
        put 1 w q a K {} 0; config.set 2 q-defaults {"throttles":["api=5"]}; pop 3 q w 1
        score ql:throttles api → 3

        == Calls that set no maximum list nothing
        put 1 w q a K {} 0 throttles ["api"] key k; put 2 w q b K {} 0 lock text; pop 3 q w 9
        guard.put 4 {"dry":true,"maxima":{"api":2}} 5 q c K {} 0
        throttle.set 5 api-locks 3 → error Throttle(): Arg "id" ends in -locks or -pending: api-locks
        EXISTS ql:throttles → :0
        guard.put 6 {"maxima":{"api":2}} 5 q c K {} 0; remember
        -- The maximum is the same.
        guard.put 7 {"maxima":{"api":2}} 5 q d K {} 0
        ZCARD ql:throttles → :1

        == A list of another type stops no call
        SET ql:throttles text; throttle.set 1 api 1; throttle.set 1 late 1 60; queue.throttle.set 2 q 9
        put 3 w q a K {} 0 throttles ["api"]; pop 4 q w 1; put 5 w q b K {} 0 throttles ["api"]; throttle.delete 6 late
        guard.put 7 {"maxima":{"new":2}} 5 q c K {} 0
        HGET ql:th:new maximum → 2
        HGET ql:th:api maximum → 1
        EXISTS ql:th:late → :0
        look.throttles 9 all → '' wrong ql:throttles nil · limit api 1 -1 1 1 0

        == Keys of a wrong type are named and the rest is shown
        throttle.set 1 a 1; throttle.set 2 b 1; throttle.set 3 c 1; throttle.set 4 d 1; put 5 w q j K {} 0; put 5 w p k K {} 0
        SET ql:th:a text; SET ql:th:b-locks text; SET ql:th:c-pending text; SET ql:q:p-depends text; SET ql:q:q-throttled text
        look.throttles 9 all → '' wrong ql:th:a a · wrong ql:th:b-locks b · wrong ql:th:c-pending c · limit d 1 -1 0 0 1 · wrong ql:q:p-depends nil · wrong ql:q:q-throttled nil

        == The maximum of a throttle may have the key of a list of another
        throttle.set 1 a 2
        -- Only a client with another core sets such a maximum.
        HSET ql:th:a-locks id a-locks maximum 3
        look.throttles 9 all → '' limit a 2 -1 0 0 1
        check.slice 2 mend '' run key '' th:a-locks
        look.throttles 9 all → '' limit a 2 -1 0 0 1 · limit a-locks 3 -1 0 0 1
        -- A key of slots that is listed like a throttle is none.
        ZADD ql:throttles 3 b-locks; ZADD ql:th:b-locks 1 jid
        look.throttles 9 all → '' limit a 2 -1 0 0 1 · limit a-locks 3 -1 0 0 1
    "#]]);
}

#[test]
fn throttles_whose_maximum_expired_leave_the_list_when_others_expire_later() {
    let mut core = Core::new();
    core.many((0..30).map(|n| format!("throttle.set {n} old{n} 1 60")));
    core.ok("throttle.set 40 lasting 1");
    for n in 0..30 {
        core.redis(&format!("DEL ql:th:old{n}"));
    }
    assert_eq!(listed(&mut core).len(), 31);
    // A call looks at three entries.
    let calls = (41..200).take_while(|now| {
        core.ok(&format!("throttle.set {now} new 1 60"));
        listed(&mut core).len() > 2
    });
    let calls = calls.count();
    assert!((9..100).contains(&calls), "{calls}");
    assert_eq!(listed(&mut core)[0], "lasting");
}

#[test]
fn listed_throttles_and_what_holds_a_job_are_shown_once() {
    let mut core = Core::new();
    core.all("throttle.set 1 idle 5; throttle.set 2 full 1 3600; throttle.set 3 gone 1 60");
    core.all(
        "put 4 w q a K {} 0 throttles [\"full\",\"wide\"]; put 4 w q l K {} 0 lock L; pop 5 q w 2",
    );
    // Two jobs wait for `full`, one for the lock, and two of another queue for a throttle that another core has set.
    core.all(
        "put 6 w q b K {} 0 throttles [\"full\"]; put 7 w p c K {} 0 throttles [\"wide\",\"full\"]",
    );
    core.ok("put 7 w q m K {} 0 lock L");
    core.redis("HSET ql:th:other id other maximum -1");
    core.all("put 8 w p d K {} 0 throttles [\"other\"]; put 8 w p e K {} 0 throttles [\"other\"]");
    // Lanes: one whose first job waits, one of a single job, and one whose first job depends on another job.
    core.all("put 8 w q k1 K {} 0 key k; put 8 w q k2 K {} 0 key k; put 8 w p k3 K {} 0 key /all; put 8 w q k4 K {} 0 key one");
    core.all("put 8 w q k5 K {} 0 key first depends [\"k4\"]; put 8 w q k6 K {} 0 key /all");
    core.redis("DEL ql:th:gone");
    core.redis("ZADD ql:q:q-throttled 0 nobody");
    let (items, calls) = look_at_all(&mut core);
    let ttl = core.redis("TTL ql:th:full").int();
    let full = format!("limit full 1 {ttl} 1 2 1");
    assert_eq!(
        items,
        [
            "limit idle 5 -1 0 0 1",
            full.as_str(),
            "limit lock:L 1 -2 1 1 0",
            "lane q/k 2",
            "lane /all 2",
            "limit other -1 -1 0 2 0",
        ]
    );
    assert_eq!(calls, 1);
}

#[test]
fn many_limits_take_several_bounded_calls_that_miss_none() {
    let mut core = Core::new();
    // Half of them were set at the same time.
    let fill = "for i = 1, 4000 do
        redis.call('hset', 'ql:th:t' .. i, 'id', 't' .. i, 'maximum', i)
        redis.call('zadd', 'ql:throttles', i % 2 * i, 't' .. i)
      end
      for i = 1, 9000 do redis.call('zadd', 'ql:queues', 5, 'q' .. i) end";
    core.redis_words(&[b"EVAL", fill.as_bytes(), b"0"]);
    let (items, calls) = look_at_all(&mut core);
    let ids: BTreeSet<&str> = items
        .iter()
        .map(|item| item.split(' ').nth(1).unwrap())
        .collect();
    // And how many queues were left out.
    assert_eq!((items.len(), ids.len()), (4001, 4001));
    assert_eq!(calls, 4);
    let first = commands(&mut core, &["look.throttles 9 all".to_owned()]);
    assert!((5000..6500).contains(&first), "{first}");

    // A limit that is set again between two calls, before it was read, is not missed.
    let (cursor, _) = look(&mut core, "look.throttles 9 all");
    core.ok("throttle.set 99999 t3999 1");
    let (mut rest, mut cursor) = (Vec::new(), cursor);
    while !cursor.is_empty() {
        let (next, items) = look(&mut core, &format!("look.throttles 9 all '{cursor}'"));
        rest.extend(items);
        cursor = next;
    }
    assert!(rest.contains(&"limit t3999 1 -1 0 0 1".to_owned()));
}

#[test]
fn of_many_queues_the_oldest_and_the_newest_are_looked_at() {
    let mut core = Core::new();
    // Two throttles hold a job of each queue. All queues are of one age but the last hundred.
    let fill = "for i = 1001, 2000 do
        redis.call('zadd', 'ql:queues', math.max(5, i - 1900), 'q' .. i)
        for _, id in ipairs({'a' .. i, 'b' .. i}) do
          redis.call('hset', 'ql:j:' .. id, 'state', 'throttled', 'queue', 'q' .. i, 'throttles', '[\"' .. id .. '\"]')
          redis.call('zadd', 'ql:q:q' .. i .. '-throttled', 1, id)
          redis.call('zadd', 'ql:th:' .. id .. '-pending', 1, id)
        end
      end";
    core.redis_words(&[b"EVAL", fill.as_bytes(), b"0"]);
    let (mut items, calls) = look_at_all(&mut core);
    assert_eq!((calls, items.pop().unwrap()), (2, "omitted 500".to_owned()));
    let limits = |numbers: &mut dyn Iterator<Item = u32>| -> Vec<String> {
        let ids = numbers.flat_map(|number| ["a", "b"].map(|id| format!("{id}{number}")));
        ids.map(|id| format!("limit {id} 0 -2 0 1 0")).collect()
    };
    assert_eq!(items, limits(&mut (1001..=1250).chain(1751..=2000)));

    // What holds a job back, in all queues.
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let (next, more) = look(
            &mut core,
            format!("look.throttles 9 holding {cursor}").trim(),
        );
        items.extend(more);
        cursor = format!("'{next}'");
        if next.is_empty() {
            break;
        }
    }
    assert_eq!(items, limits(&mut (1001..=2000)));
}

#[test]
fn a_wrong_cursor_is_refused() {
    Core::new().session(expect![[r#"
        look.throttles 9 all x → error Look(): wrong cursor: x
        look.throttles 9 all '' → error Look(): wrong cursor:
        look.throttles 9 all 'limits x 0' → error Look(): wrong cursor: limits x 0
        look.throttles 9 all 'limits nan 0' → error Look(): wrong cursor: limits nan 0
        look.throttles 9 all 'jobs 0 0' → error Look(): wrong cursor: jobs 0 0
        look.throttles 9 all 'limits 0 -1' → error Look(): wrong cursor: limits 0 -1
        look.throttles 9 all 'limits 0 1e3' → error Look(): wrong cursor: limits 0 1e3
        look.throttles 9 some → error Look(): neither all nor holding: some
        look.throttles 9 all 'queues inf 0' → '' none
        look.throttles 9 all 'limits 1e300 99999' → '' none
    "#]]);
}
