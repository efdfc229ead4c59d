//! `look.*`: reads that change nothing.

use crate::support::core::{Core, Reply};
use expect_test::expect;

fn text(reply: &Reply) -> Option<String> {
    match reply {
        Reply::Nil => None,
        reply => Some(reply.text().to_owned()),
    }
}

fn of(reply: &Reply, name: &str) -> Option<String> {
    reply.field(name).and_then(text)
}

/// One row of a `look` call about one item.
fn row(core: &mut Core, line: &str) -> Reply {
    core.ok(line).list()[0].clone()
}

// jobs

#[test]
fn longer_data_is_cut_on_request() {
    let mut core = Core::new();
    core.ok(r#"put 5 w q j K {"a":[1,2,3]} 0"#);
    for (fields, data, length) in [
        ("brief", r#"{"a":[1,2,3]}"#, None),
        ("brief:13", r#"{"a":[1,2,3]}"#, None),
        ("brief:12", r#"{"a":[1,2,3]"#, Some("13")),
        ("full:1", "{", Some("13")),
        ("full:0", "", Some("13")),
    ] {
        let job = row(&mut core, &format!("look.jobs 9 {fields} j"));
        assert_eq!(of(&job, "data").as_deref(), Some(data), "{fields}");
        assert_eq!(of(&job, "data_length").as_deref(), length, "{fields}");
    }
}

#[test]
fn jobs_are_shown() {
    Core::new().session(expect![[r#"
        == Dependencies and due time are shown
        one_of_each; track 9 track running
        look.jobs 9 brief running | lock tracked → "63" "1"
        look.jobs 9 brief scheduled | due → "1000"
        look.jobs 9 brief depends | dependencies → ["waiting"]
        look.jobs 9 brief waiting | dependents → ["depends"]
        look.jobs 9 brief failed | failure mark → "{\"group\":\"G\",\"message\":\"M\",\"when\":2,\"worker\":\"w1\"}" failed:2:3:q
        look.jobs 9 brief complete | mark → complete:2:3:

        == A list of fields reads only these
        one_of_each
        look.jobs 9 data,mark waiting → data {} mark waiting:0:1:q
        look.jobs 9 state,nope waiting → state waiting
        look.jobs 9 history,dependents waiting → dependents depends history [0,"put",{"q":"q"}]

        == Dependencies are sorted by bytes
        put 0 w q b K {} 0; put 0 w q A K {} 0; put 0 w q a K {} 0; put 0 w q é K {} 0; put 0 w q Z K {} 0
        put 0 w q j K {} 0 depends ["b","A","a","é","Z"]
        look.jobs 9 brief j | dependencies → ["A","Z","a","b","é"]

        == A job is shown with its stored fields by their names
        put 5.5 w q j K {"a":[]} 0 tags ["t"] priority 2
        look.jobs 9 brief j → jid j klass K data {"a":[]} priority 2 tags ["t"] state waiting worker '' expires 0 queue q retries 5 remaining 5 time 5.50000000000000000000 shown waiting since 5 mark waiting:5:1:q tracked 0 dependencies none dependents none

        == A running job with an expired lock is shown as stalled
        one_of_each
        look.jobs 62 brief running | shown state mark → running running running:3:2:q
        look.jobs 63 brief running | shown state mark → stalled running running:3:2:q
        look.jobs 99 brief running | shown state mark → stalled running running:3:2:q

        == The full view adds the raw history
        one_of_each
        look.jobs 9 full failed | history → ["[0,\"put\",{\"q\":\"q\"}]","[1,\"popped\",{\"worker\":\"w1\"}]","[2,\"failed\",{\"group\":\"G\",\"worker\":\"w1\"}]"]
        history failed → [0,"put",{"q":"q"}] · [1,"popped",{"worker":"w1"}] · [2,"failed",{"group":"G","worker":"w1"}]

        == A missing job is nil at its position
        one_of_each; HSET ql:j:zombie state waiting; SET ql:j:foreign x
        look.jobs 9 brief nope waiting zombie foreign waiting-history template | state → - waiting - - - -
        look.jobs 9 data zombie foreign waiting | data → - - "{}"
        look.jobs 9 full zombie foreign waiting | data → - - "{}"

        == Unreadable fields are shown as they are and nothing is migrated
        put 0 w q j K {} 0; HSET ql:j:j tags {] failure oops remaining many history [{"put":1}]
        RPUSH ql:j:j-history oops; remember
        look.jobs 9 full j | tags legacy history mark → "{]" "[{\"put\":1}]" ["[0,\"put\",{\"q\":\"q\"}]","oops"] waiting:-:2:q
        look.jobs 9 legacy j → legacy [{"put":1}]
        unchanged

        == Large numbers keep their text
        put 1352375269.123456 w q j K {} 0; pop 1352375269.123456 q w1 1
        look.jobs 1352375270 brief j | expires → "1352375329.123456"
        HGET ql:j:j expires → 1352375329.123456

        == A key of another type does not stop a look
        one_of_each; DEL ql:j:waiting-dependents; SET ql:j:waiting-dependents x
        DEL ql:j:waiting-history; SET ql:j:waiting-history x
        look.jobs 9 full waiting running | state → waiting running
    "#]]);
}

#[test]
fn the_mark_changes_exactly_when_the_job_changes() {
    let mut core = Core::new();
    core.ok("put 0 w q j K {} 0");
    let mark = |core: &mut Core| of(&row(core, "look.jobs 9 mark j"), "mark").unwrap();
    let mut last = mark(&mut core);
    for (line, changes) in [
        ("priority 1 j 5", false),
        ("tag 1 add j t", false),
        ("put 1 w q j K {} 0", true),
        ("pop 2 q w1 1", true),
        ("heartbeat 3 j w1", false),
        ("retry 4 j q w1", true),
        ("pop 5 q w1 1", true),
        ("log 6 j note", true),
        ("timeout 7 j", true),
        ("pop 8 q w1 1", true),
        ("pop 100 q w2 1", true),
        ("fail 101 j w1 G M", true),
        ("unfail 102 q G", true),
        ("pop 103 q w1 1", true),
        ("complete 104 j w1 q {}", true),
    ] {
        core.ok(line);
        let now = mark(&mut core);
        assert_eq!(now != last, changes, "{line}: {last} → {now}");
        last = now;
    }
}

// templates and indexes

#[test]
fn each_index_is_paged_in_the_order_of_the_core() {
    let mut core = super::errors::one_of_each();
    core.all("put 5 w q late K {} 0; tag 6 add waiting t; tag 5 add late t; track 7 track late; track 8 track waiting");
    core.all("put 0 w q f2 K {} 0 priority 9; pop 1 p w0 1; guard.pause 9 '' '' b A a");
    core.session(expect![[r#"
        look.index 99 waiting q 0 9 → 4 stalled f2 waiting late
        look.index 99 waiting q 1 2 → 4 f2 waiting
        look.index 99 waiting q 0 0 → 4
        look.index 99 waiting q 9 5 → 4
        look.index 99 locks q 0 9 → 1 running
        look.index 99 scheduled q 0 9 → 1 scheduled
        look.index 99 depends q 0 9 → 1 depends
        look.index 99 recurring q 0 9 → 1 template
        look.index 99 failed G 0 9 → 1 failed
        look.index 99 worker w1 0 9 → 1 running
        look.index 99 tag t 0 9 → 2 late waiting
        look.index 99 complete '' 0 9 → 1 complete
        look.index 99 tracked '' 0 9 → 2 late waiting
        look.index 99 queues '' 0 9 → 1 q
        look.index 99 workers '' 0 9 → 2 w0 w1
        look.index 99 tags '' 0 9 → 1 t
        look.index 99 groups '' 0 9 → 1 G
        look.index 99 paused '' 0 9 → 3 A a b
        look.index 99 paused '' 1 1 → 3 a
        look.index 99 waiting nope 0 9 → 0
    "#]]);
}

#[test]
fn templates_and_indexes() {
    Core::new().session(expect![[r#"
        == Failures are paged oldest first
        put 0 w q j0 K {} 0; pop 1 q w1 1; fail 0 j0 w1 G M; put 0 w q j1 K {} 0; pop 1 q w1 1; fail 1 j1 w1 G M
        put 0 w q j2 K {} 0; pop 1 q w1 1; fail 2 j2 w1 G M; put 0 w q j3 K {} 0; pop 1 q w1 1; fail 3 j3 w1 G M
        put 0 w q j4 K {} 0; pop 1 q w1 1; fail 4 j4 w1 G M
        look.index 99 failed G 0 3 → 5 j0 j1 j2
        look.index 99 failed G 3 9 → 5 j3 j4
        look.index 99 failed G 9 9 → 5

        == Look calls promote, spawn and age nothing
        one_of_each; config.set 0 max-worker-age 10; remember; look.index 5000 scheduled q 0 9
        look.index 5000 recurring q 0 9; look.index 5000 workers '' 0 9; look.queues 5000; look.workers 5000
        look.jobs 5000 full scheduled; unchanged

        == A template is shown with its next run
        recur 0 q r K {} interval 60 30.5
        look.recurs 9 nope r → nil jid r klass K data {} priority 0 tags {} state recur queue q type interval count 0 interval 60 retries 0 backlog 0 next 30.5
    "#]]);
}

// scan

#[test]
fn a_scan_returns_every_job_template_and_key() {
    let mut core = super::errors::one_of_each();
    core.many((0..200).map(|n| format!("put 0 w p j{n} K {{}} 0")));
    for (kind, wanted) in [
        ("jobs", 207),
        ("recurring", 1),
        ("keys", core.dump().0.len()),
    ] {
        let mut names = std::collections::BTreeSet::new();
        let mut cursor = "0".to_owned();
        loop {
            let mut step = core.ok(&format!("look.scan 9 {kind} {cursor} 50")).texts();
            cursor = step.remove(0);
            names.extend(step);
            if cursor == "0" {
                break;
            }
        }
        assert_eq!(names.len(), wanted, "{kind}");
        assert!(names.iter().all(|name| !name.starts_with("ql:")), "{kind}");
    }
}

// queues and workers

#[test]
fn queues_are_ready_if_a_pop_may_bring_a_job_now() {
    let mut core = Core::new();
    core.all("put 1 w waits a K {} 0; put 1 w due b K {} 5; put 1 w later c K {} 500");
    core.all(
        "put 1 w runs d K {} 0; pop 1 runs w 1; put 1 w lost e K {} 0; config.set 1 lost-heartbeat 3",
    );
    core.all(
        "pop 1 lost w 1; put 1 w paused f K {} 0; pause 1 paused; recur 1 often r K {} interval 60 5",
    );
    core.all("guard.pause 1 8 '' briefly; put 1 w briefly g K {} 0; put 1 w blocked h K {} 0 depends [\"a\"]");
    core.all("throttle.set 1 t 1; put 1 w held i K {} 0 throttles [\"t\"]; put 1 w held j K {} 0 throttles [\"t\"]");
    core.ok("pop 1 held w 2");
    // Behind the queues, in how many seconds the next one is due, a millisecond later.
    let ready = |core: &mut Core, call: &str| {
        let mut ready = core.ok(call).texts();
        ready.rotate_left(1);
        let names = ready.len() - 1;
        ready[..names].sort();
        ready.join(" ")
    };
    assert_eq!(ready(&mut core, "look.ready 2"), "held waits 2.001");
    assert_eq!(
        ready(&mut core, "look.ready 6"),
        "due held lost often waits 2.001"
    );
    assert_eq!(
        ready(&mut core, "look.ready 9 due runs none briefly"),
        "briefly due 52.001"
    );
    assert_eq!(ready(&mut core, "look.ready 9 none paused"), "");
}

#[test]
fn queues_and_workers_are_shown() {
    Core::new().session(expect![[r#"
        == The head of a queue is its first waiting or due job
        put 1 w q a K {} 50; put 2 w q b K {} 20
        look.queues 9 q | head → null
        look.queues 60 q | head → "22.000"
        put 3 w q c K {} 0
        look.queues 60 q | head → "3.000"

        == A pause is shown with its reason until it ends
        put 0 w q j K {} 0; guard.pause 10.5 20 {"reason":"deploy","by":"ann@h"} q
        look.queues 19 q | paused since until reason by → "1" "10.5" "20" deploy "ann@h"
        look.queues 20 q | paused since until reason by → "0" - - - -
        pause 21 p
        look.queues 22 p | paused since → "1" -

        == Queues are counted by state
        one_of_each; put 5 w q due K {} 5
        look.queues 9 q → name q known 1 running 1 stalled 1 waiting 1 scheduled 2 depends 1 throttled 0 recurring 1 paused 0 head 4.000
        -- What is due waits, and what has lapsed is stalled.
        look.queues 10 q | running stalled waiting scheduled depends recurring → "1" "1" "2" "1" "1" "1"
        look.queues 63 q | running stalled waiting scheduled depends recurring → "0" "2" "2" "1" "1" "1"
        -- The first in order is the stalled job, which was timed out at 4.
        look.queues 63 q | head → "4.000"

        == A large priority does not blur since when a job waits
        put 50 w q j K {} 0 priority 1000000
        look.queues 90 q | head → "50.000"
        look.lag 90 q → 50.000 j waiting nil

        == Known queues are shown and unknown ones if named
        look.queues 9 → none
        put 1 w b j K {} 0; put 2 w a k K {} 0
        look.queues 9 | name → b a
        look.queues 9 nope | known waiting → "0" "0"

        == Workers are counted by the jobs they hold
        put 0 w q a K {} 0; put 0 w q b K {} 0; pop 1 q w1 1; pop 5 q w2 1; pop 9 q w3 1
        look.workers 61 | name seen running stalled → w3 "9" "0" "0" · w2 "5" "1" "0" · w1 "1" "0" "1"
        look.workers 61 w1 nobody | name seen running stalled → w1 "1" "0" "1" · nobody null "0" "0"
        config.set 0 max-worker-age 10
        look.workers 15 | name seen running stalled → w3 "9" "0" "0"
        EXISTS ql:w:w1:jobs → :1
    "#]]);
}

// bad usage

#[test]
fn look_calls_name_themselves_when_they_refuse() {
    let mut core = Core::new();
    core.session(expect![[r#"
        look.jobs 0 → error Look(): "brief", "full" or names missing
        look.index 0 → error Look(): index or name missing
        look.index 0 waiting → error Look(): index or name missing
        look.index 0 waiting q → error Look(): offset and count must be whole numbers
        look.index 0 waiting q 0 → error Look(): offset and count must be whole numbers
        look.index 0 nope q 0 5 → error Look(): unknown index nope
        look.index 0 waiting q -1 5 → error Look(): offset and count must be whole numbers
        look.index 0 waiting q 0 -1 → error Look(): offset and count must be whole numbers
        look.index 0 waiting q 0.5 5 → error Look(): offset and count must be whole numbers
        look.index 0 waiting q 0 x → error Look(): offset and count must be whole numbers
        look.index 0 waiting q nan 5 → error Look(): offset and count must be whole numbers
        look.index 0 waiting q 0 inf → error Look(): offset and count must be whole numbers
        look.index 0 waiting q 0 10001 → error Look(): more than 10000 members
        look.scan 0 → error Look(): cursor must be a number
        look.scan 0 nope 0 5 → error Look(): "jobs", "recurring" or "keys" missing
        look.scan 0 jobs x 5 → error Look(): cursor must be a number
        look.scan 0 jobs 0 → error Look(): count must be a whole number from 1 to 10000
        look.scan 0 jobs 0 0 → error Look(): count must be a whole number from 1 to 10000
        look.scan 0 jobs 0 x → error Look(): count must be a whole number from 1 to 10000
        look.jobs 0 brief → none
        look.index 0 waiting q 0 10000 → 0
    "#]]);
    for call in ["look.jobs 0 brief", "look.recurs 0"] {
        let error = core.refused(&format!("{call}{}", " j".repeat(501)));
        assert!(error.contains("Look(): "), "{error}");
    }
}

// pop

#[test]
fn what_a_pop_meets() {
    Core::new().session(expect![[r#"
        == look.pop reports what a pop meets
        config.set 0 q-max-concurrency 2; put 0 w q a K {} 0; put 1 w q b K {} 0; put 2 w q c K {} 0
        put 3 w q urgent K {} 0 priority 5
        look.pop 50 q b | limit held ahead oldest oldest_jid next ready popped seen pace ghost → "2" "0" "2" "0.000" a urgent "3.000" - - - -
        pop 60 q w1 2; ZADD ql:q:q-work 9 nobody
        look.pop 70 q b | held holder seen next ghost ahead → "2" w1 "60" - nobody "1"
        -- the limit is reached
        look.pop 70 q zzz | listed → -
        look.pop 70 → error Look(): queue missing

        == The oldest wait may be behind jobs of higher priority
        put 10 w q old K {} 0 priority -3; put 20 w q mid K {} 0; put 30 w q new K {} 0 priority 7
        put 40 w q moved K {} 0; priority 41 moved 0
        look.pop 50 q | oldest_jid → old
        cancel 51 old
        look.pop 52 q | oldest_jid → mid

        == Jobs of one call are ahead of each other in the order of pops
        put 5 w q a K {} 0; put 5 w q b K {} 0; put 5 w q c K {} 0
        look.pop 9 q c | ahead → "0"
        look.pop 9 q a | ahead → "2"
    "#]]);
}

#[test]
fn the_pace_of_a_queue_is_that_of_the_last_five_minutes() {
    let mut core = Core::new();
    core.all("put 500 w r old K {} 0; pop 500 r w 1; complete 500 old w r {}");
    for n in 0..9 {
        core.ok(&format!("put 1000 w {} j{n} K {{}} 0", ["q", "r"][n % 2]));
        core.ok(&format!("pop 1000 {} w 1", ["q", "r"][n % 2]));
        core.ok(&format!("complete 1010 j{n} w {} {{}}", ["q", "r"][n % 2]));
    }
    core.ok("put 1010 w q a K {} 0");
    core.ok("put 1011 w q b K {} 0");
    let pace = |core: &mut Core, now: u32| of(&core.ok(&format!("look.pop {now} q b")), "pace");
    assert_eq!(pace(&mut core, 1020).as_deref(), Some("1.00"));
    assert_eq!(pace(&mut core, 1400), None);
}

// status

#[test]
fn look_status_counts_failures_since_a_time() {
    let mut core = Core::new();
    for at in 0..20 {
        core.ok(&format!("put {at} w q j{at} K {{}} 0"));
        core.ok(&format!("pop {at} q w 1"));
        core.ok(&format!("fail {at} j{at} w g m"));
    }
    for since in [0, 1, 7, 19, 20] {
        let reply = core.ok(&format!("look.status 99 {since} counts"));
        let groups = reply.list()[7].list();
        assert_eq!(groups[0].texts(), ["g", "20", &(20 - since).to_string()]);
    }
    // More are counted to a sixteenth.
    for at in 100..1000 {
        core.ok(&format!("put {at} w q k{at} K {{}} 0"));
        core.ok(&format!("pop {at} q w 1"));
        core.ok(&format!("fail {at} k{at} w g m"));
    }
    let reply = core.ok("look.status 1000 500 counts");
    let recent: f64 = reply.list()[7].list()[0].texts()[2].parse().unwrap();
    assert!((470.0..=500.0).contains(&recent), "{recent}");
    let reply = core.ok("look.status 99 0 counts");
    let queue = &reply.list()[8].list()[0];
    for count in ["popped", "failures"] {
        assert_eq!(queue.field(count).unwrap().text(), "920");
    }
    assert!(reply.list()[1].text().contains("redis_version:"));
    core.session(expect![[r#"
        look.status 99 x counts → error Look(): since is not a number
        look.status 99 0 x → error Look(): neither counts nor spreads: x
    "#]]);
}
