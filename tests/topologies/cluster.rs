//! A real Redis Cluster: a prefix finds its node, and goes on through moves and failovers.

use std::time::{Duration, Instant};

use expect_test::expect;
use redis::Value;
use rustix::process::Signal;

use crate::support::cluster::{Cluster, Member, await_that};
use crate::support::proxy::free_port;
use crate::support::qless::Qless;
use crate::support::random;
use crate::support::redis::{Redis, acl_commands};
use crate::support::tls::TlsRedis;

/// A prefix with its own name, so that several tests can use one cluster.
const MAIL: &str = "{mail}:";

/// Puts jobs `PREFIX0` and so on, from a file of lines.
fn lines(start: &str, count: usize) -> String {
    let line = |at| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"{start}{at}\"}}\n");
    (0..count).map(line).collect()
}

#[test]
fn each_kind_of_address_and_prefix_says_what_it_is() {
    let cluster = Cluster::start();
    let qless = cluster.qless("ql:");
    qless.session(expect![[r#"
        $ qless put mail Welcome {} # failure: plain prefix on a cluster | 3 masters
        --- stderr
        error: prefix `ql:` cannot live in a Redis Cluster
        hint: give a hash tag: `--prefix '{ql}:'`; this works: qless --prefix='{ql}:' put mail Welcome '{}'
        --- exit 2
    "#]]);
    let tagged = cluster.qless(MAIL);
    tagged.run("put mail Welcome {} --jid one").ok();
    // While nothing moves, a command makes one call of the script.
    let before = cluster.calls("evalsha");
    tagged.run("length mail").ok();
    assert_eq!(cluster.calls("evalsha") - before, 1);
    // Any node leads to the one with the prefix, and a prefix that has queues is named.
    for member in &cluster.members {
        let url = format!("redis-cluster://127.0.0.1:{}", member.port);
        let jid = tagged.run(&format!("--redis {url} get one -o json")).json();
        assert_eq!(jid["jid"], "one");
    }
    qless.session(expect![[r#"
        $ qless put mail Welcome {}
        --- stderr
        error: prefix `ql:` cannot live in a Redis Cluster
        hint: give a hash tag: `--prefix '{ql}:'` (queues are under `{mail}:`); this works: qless --prefix='{ql}:' put mail Welcome '{}'
        --- exit 2
    "#]]);
    let one = cluster.members[0].port;
    let one = Qless::bare()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{one}"))
        .hide(&one.to_string(), "PORT0");
    one.session(expect![[r#"
        $ qless put mail Welcome {}
        --- stderr
        error: prefix `ql:` cannot live in a Redis Cluster
        hint: give a hash tag: `--prefix '{ql}:'` (queues are under `{mail}:`); this works: qless --prefix='{ql}:' --redis=redis-cluster://127.0.0.1:PORT0 put mail Welcome '{}'
        --- exit 2
        $ qless put mail Welcome {} --prefix {mail}:
        --- stderr
        error: `redis://127.0.0.1:PORT0/0` is a node of a Redis Cluster
        hint: this works: qless --redis=redis-cluster://127.0.0.1:PORT0 put mail Welcome '{}' --prefix '{mail}:'
        --- exit 2
        $ qless put mail Welcome {} --prefix {}:
        --- stderr
        error: `--prefix` expects at most one hash tag, which is not empty, such as `{ql}:`, not `{}:`
        hint: this works: qless put mail Welcome '{}' --prefix '{ql}:'
        --- exit 2
        $ qless put mail Welcome {} --prefix {a}{b}:
        --- stderr
        error: `--prefix` expects at most one hash tag, which is not empty, such as `{ql}:`, not `{a}{b}:`
        hint: this works: qless put mail Welcome '{}' --prefix '{ab}:'
        --- exit 2
    "#]]);
    tagged.session(expect![[r#"
        $ qless --redis redis-cluster://127.0.0.1:1,127.0.0.1:2 queues
        --- stderr
        error: cannot reach any node of `redis-cluster://127.0.0.1:1,127.0.0.1:2`: cannot reach Redis at `redis://127.0.0.1:1/0`: connection refused
        hint: pass `--redis URL` or set QLESS_REDIS_URL
        --- exit 6
    "#]]);
    let keys = |one: &Member| one.send::<u64>(&["DBSIZE"]);
    let all: u64 = cluster.members.iter().map(keys).sum();
    assert_eq!(all, 2 * keys(&cluster.members[cluster.owner(MAIL)]));

    // A database other than 0, and a plain server in place of a cluster.
    let other = tagged.run(&format!("--redis {}/3 queues", cluster.url()));
    // Valkey can have several in a cluster, and words its refusal as one server does.
    let stderr = other.exits(2).stderr();
    assert!(stderr.contains("has no database 3\nhint: "), "{stderr}");
    assert!(stderr.contains("leave the number away"), "{stderr}");
    let plain = Member::start(&[]);
    let qless = cluster.qless("ql:").hide(&plain.port.to_string(), "PLAIN");
    qless.session(expect![[r#"
        $ qless --redis redis-cluster://127.0.0.1:PLAIN queues
        --- stderr
        error: `127.0.0.1:PLAIN` is not a node of a Redis Cluster
        hint: this works: qless --redis redis://127.0.0.1:PLAIN/0 queues
        --- exit 2
        $ qless --redis redis-sentinel://127.0.0.1:PLAIN/0?master=m queues
        --- stderr
        error: `127.0.0.1:PLAIN` is not a Sentinel
        hint: this works: qless --redis redis://127.0.0.1:PLAIN/0 queues
        --- exit 2
    "#]]);
}

#[test]
fn one_primary_takes_any_prefix_with_a_note() {
    let mut cluster = Cluster::of(1, 0);
    let qless = cluster.qless("ql:");
    qless
        .run("put mail Welcome {} --jid a")
        .shows(expect![[r#"
            a
            --- stderr
            note: prefix `ql:` works in this cluster because it has one primary; with a second one, each call will fail: move with `export` and `import --prefix '{ql}:'`
        "#]]);
    qless.run("get a -o json").ok();
    // Each of these runs commands on several keys, which are in different slots.
    qless
        .run("put mail Welcome {} --jid b --depends a --tag x -q")
        .ok();
    for at in 1..=3 {
        qless
            .run(&format!("put mail Sync --arg v:={at} --key c --merge -q"))
            .ok();
    }
    // Job `a`, and one job with three payloads.
    assert_eq!(qless.run("length mail").ok(), "2");
    qless.run("work mail --drain -q -- true").ok();
    qless.run("check").exits(0);
    qless.run("put mail Welcome {} --jid c -q").ok();
    qless.run("cancel c --yes -q").ok();
    cluster.members[0].send::<()>(&["SET", "ql:q:mail-work", "x"]);
    // The documented user may set a key aside, which takes more commands here.
    create_users(&cluster, "ql:");
    let repair = "check --repair --only key-type --yes";
    cluster.members[0].send::<()>(&["ACL", "SETUSER", "qless", "-dump"]);
    let refused = user(&cluster, "ql:", "qless").run(repair).exits(6).stderr();
    let right = if Redis::has_selective_rights() {
        "DUMP on `ql:*`"
    } else {
        "this command or subcommand"
    };
    let missing = format!("user `qless` may not run {right} after 0 of 1 findings were repaired");
    assert!(refused.contains(&missing), "{refused}");
    cluster.members[0].send::<()>(&["ACL", "SETUSER", "qless", "+dump"]);
    cluster.members[0].send::<()>(&["ACL", "LOG", "RESET"]);
    user(&cluster, "ql:", "qless").run(repair).exits(0);
    let aside: Vec<String> = cluster.members[0].send(&["KEYS", "ql:lost:*:q:mail-work"]);
    assert_eq!(cluster.members[0].send::<String>(&["GET", &aside[0]]), "x");
    assert_eq!(cluster.members[0].send::<Vec<Value>>(&["ACL", "LOG"]), []);
    // For 2 seconds after its start, the server runs no command of a script.
    cluster.members[0].restart();
    qless.run("put mail Welcome {} --jid d -q").exits(0);
    // With a second primary, each call is refused before it writes.
    let both = Cluster::of(2, 0);
    both.qless("ql:").run("put mail Welcome {}").exits(2);
    let keys = both.members.iter().map(|one| one.send::<u64>(&["DBSIZE"]));
    assert_eq!(keys.sum::<u64>(), 0);
}

/// Jobs that are put, worked and recovered while their slot moves and their master dies. `make soak` plays
/// 20,000 jobs.
#[test]
fn work_and_bulk_commands_go_on_through_moves_and_failovers() {
    let mut cluster = Cluster::start();
    let qless = cluster.qless(MAIL).env("QLESS_TIMEOUT", "30s");
    let (jobs, moves, patience) = if random::soaking() {
        (20_000, 19, Duration::from_secs(600))
    } else {
        (600, 7, Duration::from_secs(120))
    };
    let third = jobs / 3;
    let dir = tempfile::tempdir().unwrap();
    let ran = dir.path().join("ran");
    // A job whose hand-over died with a master runs when its lock expires.
    qless.run("config set heartbeat 5 -q").ok();
    qless.run("put q K --jid late --delay 5s").ok();
    let wait = qless.start("wait late --deadline 10m");
    let script = format!("echo $QLESS_JID >> {}", ran.display());
    let work = format!("work q --concurrency 8 -q -- sh -c '{script}'");
    let work = qless.start(&work);
    let put = |start: &str, count: usize| {
        let file = dir.path().join(start);
        std::fs::write(&file, lines(start, count)).unwrap();
        qless.start(&format!("put --from {} --if-absent -q", file.display()))
    };

    // Moves, while jobs are put, run and complete.
    let first = put("a", third);
    for _ in 0..moves {
        cluster.move_slot(MAIL, cluster.other(MAIL));
    }
    first.end().exits(0);
    let second = put("b", third);
    let (from, to) = (cluster.owner(MAIL), cluster.other(MAIL));
    cluster.begin_move(MAIL, to);
    let in_between = qless.start("put q K --jid between --if-absent");
    std::thread::sleep(Duration::from_millis(300));
    cluster.end_move(MAIL, from, to);
    second.end().exits(0);
    in_between.end().exits(0);

    // A failover. What the lost master had acknowledged is found by putting again.
    let rest = jobs - 2 * third;
    let last = put("c", rest);
    let killed = cluster.kill_owner(MAIL);
    let code = last.end().code();
    assert!(code == 0 || code == 3, "{code}");
    cluster.revive(killed);
    cluster.kill_owner(MAIL);
    for (start, count) in [("a", third), ("b", third), ("c", rest)] {
        put(start, count).end().exits(0);
    }
    qless.run("put q K --jid between --if-absent -q").exits(0);
    // With `late` and `between`.
    let total = jobs + 2;
    let all = format!("complete\t{total}\n");
    let deadline = Instant::now() + patience;
    while !qless
        .run("jobs --state complete --count -q")
        .stdout()
        .contains(&all)
    {
        let now = Instant::now();
        assert!(now < deadline, "{}", qless.run("queues").stdout());
        std::thread::sleep(Duration::from_millis(200));
    }
    wait.end().exits(0);
    work.signal(Signal::INT);
    let work = work.end().exits(0);
    let ran = std::fs::read_to_string(ran).unwrap();
    let mut jids: Vec<&str> = ran.lines().collect();
    let runs = jids.len();
    jids.sort_unstable();
    jids.dedup();
    assert_eq!(jids.len(), total, "{}", work.stderr());
    // A completion that died with the master leads to a second run; nothing else does.
    assert!(runs < total + 100, "{runs}");
    qless.run("check --fail-on warn -q").exits(0);
}

#[test]
fn a_scan_begins_again_when_its_keys_move() {
    let cluster = Cluster::start();
    let qless = cluster.qless(MAIL);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines("j", 1000)).unwrap();
    qless
        .run(&format!("put --from {} -q", file.path().display()))
        .ok();
    // The move begins while keys are scanned: at 1,000 keys a second, that takes 2 seconds.
    let (from, to) = (cluster.owner(MAIL), cluster.other(MAIL));
    let scans = cluster.calls("scan");
    let check = qless.start("check --rate 1000/s");
    await_that("keys are scanned", || cluster.calls("scan") > scans);
    let export = qless.start("export --all");
    cluster.begin_move(MAIL, to);
    cluster.move_keys(MAIL, from, to);
    std::thread::sleep(Duration::from_millis(300));
    cluster.end_move(MAIL, from, to);
    let check = check.end().exits(0);
    check.says("the scan begins again");
    let export = export.end().exits(0).stdout();
    assert_eq!(export.matches("\"jid\":\"j").count(), 1000);

    // A move that does not end in time.
    let (from, to) = (cluster.owner(MAIL), cluster.other(MAIL));
    cluster.begin_move(MAIL, to);
    let begun = Instant::now();
    qless.session(expect![[r#"
        $ qless put q K --jid x --timeout 1s # failure: slot moves | CLUSTER SETSLOT … MIGRATING
        --- stderr
        error: slot 4247 of prefix `{mail}:` is being moved in `redis-cluster://127.0.0.1:PORT0,127.0.0.1:PORT1,127.0.0.1:PORT2,127.0.0.1:PORT3,127.0.0.1:PORT4,127.0.0.1:PORT5`
        hint: run the command again when the move has ended, or with a longer `--timeout`
        --- exit 6
    "#]]);
    assert!(begun.elapsed() < Duration::from_secs(20));
    let error = qless.run("check --timeout 1s -q -o json").exits(6).error();
    assert_eq!(error["code"], "slot_moving");
    cluster.end_move(MAIL, from, to);
    qless.run("put q K --jid x").exits(0);
    qless.run("check").exits(0);
}

#[test]
fn a_node_without_answer_is_passed_over() {
    let mut cluster = Cluster::start();
    let qless = cluster.qless(MAIL);
    qless.run("put q K --jid a").ok();
    // The first node of the list is frozen, the second is not there.
    let owner = cluster.owner(MAIL);
    let frozen = (0..3).find(|at| *at != owner).unwrap();
    cluster.members[frozen].freeze();
    let url = format!(
        "redis-cluster://127.0.0.1:{},127.0.0.1:1,127.0.0.1:{}",
        cluster.members[frozen].port, cluster.members[owner].port
    );
    let begun = Instant::now();
    qless
        .run(&format!("--redis {url} --timeout 60s get a -q"))
        .exits(0);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    cluster.members[frozen].thaw();
    await_that("the cluster is whole", || {
        qless.run("get a -q --timeout 1s").code() == 0
    });

    // The node with the keys is lost, and has no successor yet.
    cluster.members[owner].freeze();
    let begun = Instant::now();
    let error = qless.run("get a --timeout 600ms -o json").exits(6).error();
    assert!(
        ["cluster_down", "timeout"].contains(&error["code"].as_str().unwrap()),
        "{error}"
    );
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    cluster.members[owner].thaw();
    await_that("the keys are served", || {
        qless.run("get a -q --timeout 1s").code() == 0
    });

    // Nodes without any map.
    let empty = Member::start(&["--cluster-enabled", "yes"]);
    let qless = cluster.qless(MAIL).hide(&empty.port.to_string(), "EMPTY");
    qless.session(expect![[r#"
        $ qless --redis redis-cluster://127.0.0.1:EMPTY get a --timeout 500ms # failure: CLUSTERDOWN | node without slots
        --- stderr
        error: the cluster at `redis-cluster://127.0.0.1:EMPTY` is down
        hint: `redis-cli CLUSTER INFO` on one of its nodes says why
        --- exit 6
    "#]]);
    cluster.members.truncate(6);
}

/// A message that any node publishes reaches the subscription, also after the node that it is on was replaced.
#[test]
fn events_of_all_nodes_are_seen_through_a_failover() {
    let mut cluster = Cluster::start();
    let events = cluster.qless(MAIL).env("QLESS_TIMEOUT", "2s");
    let events = events.start("events --count 2");
    let listeners = |cluster: &Cluster, at: usize| {
        let reply: redis::RedisResult<(String, u64)> =
            cluster.members[at].try_send(&["PUBSUB", "NUMSUB", "{mail}:log"]);
        reply.map_or(0, |(_, count)| count)
    };
    await_that("the command listens", || {
        (0..cluster.members.len()).any(|at| listeners(&cluster, at) == 1)
    });
    let other = cluster.other(MAIL);
    let publish = |cluster: &Cluster, jid: &str| {
        let message = format!(r#"{{"jid":"{jid}","event":"put","queue":"q"}}"#);
        cluster.members[other].send::<u64>(&["PUBLISH", "{mail}:log", &message]);
    };
    publish(&cluster, "a");
    let killed = cluster.kill_owner(MAIL);
    await_that("the command listens again", || {
        let mut others = (0..cluster.members.len()).filter(|at| *at != killed);
        others.any(|at| listeners(&cluster, at) == 1)
    });
    publish(&cluster, "b");
    let ran = events.end().exits(0);
    assert_eq!(ran.stdout().lines().count(), 2, "{}", ran.stdout());
    assert!(ran.stderr().starts_with("gap since "), "{}", ran.stderr());
    assert!(ran.stderr().contains(": connected again after "));
}

#[test]
fn a_node_of_another_cluster_gets_no_call() {
    let (mut ours, mut other) = (Cluster::of(1, 0), Cluster::of(1, 0));
    let url = format!("{},127.0.0.1:{}", ours.url(), other.members[0].port);
    let qless = ours
        .qless(MAIL)
        .env("QLESS_REDIS_URL", url)
        .hide(&other.members[0].port.to_string(), "OTHER");
    qless.run("put q K").shows(expect![[r#"
        --- stderr
        error: `127.0.0.1:OTHER` belongs to another cluster than the other nodes of `redis-cluster://127.0.0.1:PORT0,127.0.0.1:OTHER`
        hint: this works: qless --redis=redis-cluster://127.0.0.1:PORT0 put q K
        --- exit 2
    "#]]);
    // One that replies only after the first connection is noticed when it is asked.
    other.members[0].kill();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines("j", 2000)).unwrap();
    let put = format!("put --from {} --rate 1000/s -q", file.path().display());
    let put = qless.start(&put);
    await_that("jobs were put", || {
        ours.members[0].send::<u64>(&["DBSIZE"]) > 100
    });
    ours.members[0].kill();
    other.members[0].restart();
    // What was in flight may or may not have happened; nothing goes to the other cluster.
    assert_ne!(put.end().code(), 0);
    assert_eq!(other.members[0].send::<u64>(&["DBSIZE"]), 0);
}

#[test]
fn each_tls_node_is_verified_by_its_own_name() {
    let (port, flags) = (
        free_port().to_string(),
        [
            "--tls-auth-clients",
            "no",
            "--cluster-enabled",
            "yes",
            "--tls-cluster",
            "yes",
        ],
    );
    let redis = TlsRedis::with(&[&flags[..], &["--cluster-port", &port]].concat());
    redis
        .redis
        .send(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    let url = |host: &str| format!("rediss-cluster://{host}:{}", redis.port);
    let qless = redis.qless().env("QLESS_PREFIX", MAIL);
    await_that("the cluster is up", || {
        let put = format!(
            "--redis {} put q K --jid a --if-absent -q",
            url("localhost")
        );
        qless.run(&put).code() == 0
    });
    qless
        .run(&format!("--redis {} get a -q", url("127.0.0.1")))
        .exits(0);
    let stranger = redis.stranger().env("QLESS_PREFIX", MAIL);
    stranger
        .run(&format!("--redis {} get a", url("localhost")))
        .exits(6);
}

/// With more nodes than the moves that a call follows: each of them names the dead one.
#[test]
fn a_lost_node_of_many_is_waited_for() {
    let mut cluster = Cluster::of(8, 0);
    let qless = cluster.qless(MAIL);
    qless.run("put q K --jid a -q").ok();
    let owner = cluster.owner(MAIL);
    cluster.members[owner].kill();
    let begun = Instant::now();
    let error = qless.run("get a --timeout 2s -o json").exits(6).error();
    assert_eq!(error["code"], "cluster_down");
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

/// With more nodes than the moves that a call follows: each of them names the owner, which says `CLUSTERDOWN`.
#[test]
fn an_owner_that_serves_no_calls_is_waited_for_though_many_nodes_name_it() {
    let cluster = Cluster::of(8, 0);
    let qless = cluster.qless(MAIL).env("QLESS_TIMEOUT", "30s");
    let owner = cluster.owner(MAIL);
    // While the owner does not know who has some slot, it serves none. It soon learns that again.
    let foreign = ((cluster.slot(MAIL) + 8192) % 16384).to_string();
    let forget = || _ = cluster.members[owner].try_send::<()>(&["CLUSTER", "DELSLOTS", &foreign]);
    forget();
    let put = qless.start("put q K --jid a");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        forget();
        std::thread::sleep(Duration::from_millis(20));
    }
    put.end().exits(0);
}

/// The nodes name each other as the owner of a slot: for a moment while slots move fast, or for good.
#[test]
fn nodes_that_disagree_are_given_a_moment_to_agree() {
    let cluster = Cluster::of(3, 0);
    let qless = cluster.qless(MAIL).env("QLESS_TIMEOUT", "2m");
    let (owner, other) = (cluster.owner(MAIL), cluster.other(MAIL));
    cluster.name_owner(owner, MAIL, other).unwrap();
    let begun = Instant::now();
    let error = qless.run("put q K -o json").exits(6).error();
    assert_eq!(error["code"], "cluster_down");
    assert!(
        error["message"].as_str().unwrap().contains("for slot"),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_secs(60));
    let put = qless.start("put q K");
    std::thread::sleep(Duration::from_millis(500));
    cluster.name_owner(other, MAIL, other).unwrap();
    put.end().exits(0);
}

/// A worker still holds its jobs if the nodes sent their release in a circle.
#[test]
fn a_release_that_reached_no_node_has_failed() {
    let cluster = Cluster::of(3, 0);
    let (owner, other) = (cluster.owner(MAIL), cluster.other(MAIL));
    let (qless, server) = (cluster.qless(MAIL), &cluster.members[owner]);
    qless.run("put q K --jid a").ok();
    let work = qless.start("work q -c 1 --timeout 2s -- sleep 100");
    let is_running = || qless.run("get a --field state").ok() == "running";
    await_that("the job runs", is_running);
    // Stop the worker when it has sent the call that reads the job, before it sends the release.
    work.signal(Signal::TERM);
    server.send::<()>(&["CLIENT", "PAUSE", "60000", "WRITE"]);
    std::thread::sleep(Duration::from_millis(1050));
    work.signal(Signal::TERM);
    let is_call_paused = || {
        let clients: String = server.send(&["CLIENT", "LIST"]);
        clients.contains(" flags=b ")
    };
    await_that("the job is read for its release", is_call_paused);
    work.signal(Signal::STOP);
    server.send::<()>(&["CLIENT", "UNPAUSE"]);
    await_that("the server has replied", || !is_call_paused());
    let slot = cluster.slot(MAIL).to_string();
    server.send::<()>(&["CLUSTER", "DELSLOTS", &slot]);
    cluster.name_owner(owner, MAIL, other).unwrap();
    work.signal(Signal::CONT);
    let ran = work.end().exits(143);
    ran.says("stopped by a second signal; 1 job could not be given back");
}

/// A slot that moves again and again during one call is followed until the moves end: its nodes do not send the call in
/// a circle.
#[test]
fn a_call_follows_a_slot_that_moves_without_a_pause() {
    let cluster = Cluster::of(3, 0);
    let qless = cluster.qless(MAIL).env("QLESS_TIMEOUT", "30s");
    let millis = if random::soaking() { 3000 } else { 1200 };
    let (reads, moves) = (
        Duration::from_millis(millis),
        Duration::from_millis(millis + 500),
    );
    let jids: Vec<String> = (0..30_000).map(|number| format!("j{number}")).collect();
    let (one, other) = (cluster.owner(MAIL), cluster.other(MAIL));
    let begun = Instant::now();
    let moving = || {
        while begun.elapsed() < moves {
            for owner in [other, one] {
                cluster.name_owner(owner, MAIL, owner).unwrap();
                cluster
                    .name_owner(one + other - owner, MAIL, owner)
                    .unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(moving);
        while begun.elapsed() < reads {
            let get = qless.clone().input(jids.join("\n")).run("get - -o jid");
            get.exits(4);
        }
    });
}

/// Creates the users of `help acl` on each member, with the password `x`.
fn create_users(cluster: &Cluster, prefix: &str) {
    let acl = cluster.qless(prefix).run("help acl").ok();
    for member in &cluster.members {
        for command in acl_commands(&acl, "x") {
            member.send::<()>(&command.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

/// The binary as one of these users.
fn user(cluster: &Cluster, prefix: &str, name: &str) -> Qless {
    let url = cluster.url().replace("//", &format!("//{name}@"));
    let qless = cluster.qless(prefix).env("QLESS_REDIS_URL", url);
    qless.env("QLESS_REDIS_PASSWORD", "x")
}

#[test]
fn the_documented_users_are_enough() {
    let cluster = Cluster::start();
    create_users(&cluster, MAIL);
    let user = |name: &str| user(&cluster, MAIL, name);
    user("qless").run("put q K --jid a -q").exits(0);
    user("qless").run("work q --drain -q -- true").exits(0);
    user("qless").run("check -q").exits(0);
    user("qless-ro").run("--read-only get a -q").exits(0);
    user("qless-ro").run("--read-only check -q").exits(0);
    for member in &cluster.members {
        let log: Vec<Value> = member.send(&["ACL", "LOG"]);
        assert_eq!(log, []);
    }
}
