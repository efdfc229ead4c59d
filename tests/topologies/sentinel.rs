//! Real Sentinels: the master that they name, and what happens when it changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::cluster::{Cluster, Member, await_that};
use crate::support::qless::Qless;
use crate::support::sentinel::{MASTER, Named, Sentinels, played_sentinel};

#[test]
fn commands_go_on_after_the_master_is_killed() {
    let mut topology = Sentinels::start();
    let qless = topology.qless().env("QLESS_TIMEOUT", "30s");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lines");
    let line = |at| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{at}\"}}\n");
    std::fs::write(&file, (0..300).map(line).collect::<String>()).unwrap();
    let put = || qless.start(&format!("put --from {} --if-absent -q", file.display()));
    // A job whose hand-over died with a master runs when its lock expires.
    qless.run("config set heartbeat 5 -q").ok();
    // It is on the replica before the master dies: what a master has not passed on is lost.
    qless
        .run("put q K --jid late --delay 5s --wait-replicas 2")
        .ok();
    let wait = qless.start("wait late --deadline 3m");
    let work = qless.start("work q --concurrency 8 -q -- true");
    let first = put();
    await_that("jobs are complete", || {
        let master = &topology.servers[topology.master()];
        master.send::<u64>(&["ZCARD", "ql:completed"]) > 0
    });
    let killed = topology.kill_master();
    let code = first.end().code();
    assert!(code == 0 || code == 3, "{code}");
    put().end().exits(0);
    wait.end().exits(0);
    await_that("all jobs are complete", || {
        let counts = qless.run("jobs --state complete --count -q").stdout();
        counts.contains("complete\t301\n")
    });
    work.signal(Signal::INT);
    let worked = work.end().exits(0);
    let warning = "another one took its place: it may have lost the last completions";
    worked.says(warning);
    qless.run("check --fail-on warn -q").exits(0);

    // The old master comes back as a replica; a Sentinel that still names it is not believed.
    topology.servers[killed].restart();
    qless.run("queues -q").exits(0);

    // Bulk work and a repair through a second failover.
    let line =
        |at| format!("{{\"queue\":\"f\",\"klass\":\"K\",\"jid\":\"f{at}\",\"retries\":0}}\n");
    std::fs::write(&file, (0..600).map(line).collect::<String>()).unwrap();
    put().end().exits(0);
    qless
        .run("bury --queue f --group broken --message x --yes -q")
        .exits(0);
    // Under a prefix of its own, so that the pace of the repair is that of these jobs.
    let other = topology.qless().env("QLESS_TIMEOUT", "30s");
    let other = other.env("QLESS_PREFIX", "g:");
    let line = |at| format!("{{\"queue\":\"g\",\"klass\":\"K\",\"jid\":\"g{at}\"}}\n");
    let lines: String = (0..150).map(line).collect();
    std::fs::write(&file, lines).unwrap();
    other
        .run(&format!("put --from {} -q", file.display()))
        .exits(0);
    topology.servers[topology.master()].send::<()>(&["DEL", "g:q:g-work"]);
    topology.await_replicas();
    let mut repairing = other.start("check --repair --rate 150/s --yes -q");
    await_that("jobs are repaired", || {
        assert!(
            !repairing.has_ended(),
            "the repair ended before the failover"
        );
        let master = &topology.servers[topology.master()];
        master.send::<u64>(&["ZCARD", "g:q:g-work"]) > 0
    });
    let retry = || qless.start("failed --group broken --retry-all --rate 300/s --yes -q");
    let first = retry();
    let old = topology.master();
    topology.fail_over(old);
    let code = first.end().code();
    assert!([0, 3, 6].contains(&code), "{code}");
    let again = retry().end();
    assert!([0, 4].contains(&again.code()), "{}", again.stderr());
    assert_eq!(qless.run("length f -q").ok(), "600");
    let repaired = repairing.end();
    assert!([0, 6].contains(&repaired.code()), "{}", repaired.stderr());
    other.run("check --repair --yes -q").exits(0);
    assert_eq!(other.run("length g -q").ok(), "150");
    for qless in [&qless, &other] {
        qless.run("check --fail-on warn -q").exits(0);
    }
}

#[test]
fn a_frozen_and_a_lying_sentinel_are_passed_over() {
    let topology = Sentinels::start();
    let qless = topology.qless();
    qless.run("put mail Welcome {} --jid a").shows(expect![[r#"
            a
        "#]]);
    let (first, second) = (&topology.sentinels[0], &topology.sentinels[1]);

    first.freeze();
    let begun = Instant::now();
    qless.run("get a -q --timeout 60s").exits(0);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    first.thaw();

    // It names a replica.
    let replica = (topology.master() + 1) % 3;
    let port = topology.servers[replica].port.to_string();
    let liar = Member::start(&["--sentinel"]);
    liar.send::<()>(&["SENTINEL", "MONITOR", MASTER, "127.0.0.1", &port, "9"]);
    let both = format!(
        "redis-sentinel://127.0.0.1:{},127.0.0.1:{}/0?master={MASTER}",
        liar.port, second.port
    );
    qless
        .run(&format!("--redis {both} put mail Welcome {{}} --jid b -q"))
        .exits(0);
    let port = topology.servers[topology.master()].port;
    let direct = Qless::bare().env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"));
    direct.run("get b -q").exits(0);
}

#[test]
fn each_wrong_address_says_what_is_wrong() {
    let topology = Sentinels::start();
    let qless = topology.qless();
    qless.session(expect![[r#"
        $ qless --redis redis-sentinel://127.0.0.1:SENTINEL0,127.0.0.1:SENTINEL1,127.0.0.1:SENTINEL2/0?master=nobody queues # failure: master name unknown | another name
        --- stderr
        error: no master `nobody` is known to 3 Sentinels
        hint: this works: qless --redis 'redis-sentinel://127.0.0.1:SENTINEL0,127.0.0.1:SENTINEL1,127.0.0.1:SENTINEL2/0?master=mymaster' queues
        --- exit 6
        $ qless --redis redis://127.0.0.1:SENTINEL0 queues
        --- stderr
        error: `127.0.0.1:SENTINEL0` is a Sentinel, which has no jobs
        hint: this works: qless --redis 'redis-sentinel://127.0.0.1:SENTINEL0/0?master=mymaster' queues
        --- exit 2
        $ qless --redis redis-cluster://127.0.0.1:SENTINEL0 queues
        --- stderr
        error: `127.0.0.1:SENTINEL0` is a Sentinel, which has no jobs
        hint: this works: qless --redis 'redis-sentinel://127.0.0.1:SENTINEL0/0?master=mymaster' queues
        --- exit 2
        $ qless --redis redis-sentinel://127.0.0.1:1,127.0.0.1:2/0?master=mymaster queues # failure: no Sentinel answers | closed ports
        --- stderr
        error: none of 2 Sentinels replies: `127.0.0.1:1,127.0.0.1:2`
        hint: pass the right ones with `--redis URL`, or set QLESS_REDIS_URL
        --- exit 6
        $ qless --redis redis-sentinel://127.0.0.1:1/0 queues
        --- stderr
        error: address `redis-sentinel://127.0.0.1:1/0` names no master: end it with `/0?master=NAME`
        --- exit 2
    "#]]);

    // No master, and no wait without end.
    for server in &topology.servers {
        server.freeze();
    }
    let begun = Instant::now();
    let error = qless.run("queues --timeout 1s -o json").exits(6).error();
    assert_eq!(error["code"], "no_master", "{error}");
    for sentinel in &topology.sentinels {
        sentinel.freeze();
    }
    qless.run("queues --timeout 1s").shows(expect![[r#"
        --- stderr
        error: none of 3 Sentinels replies: `127.0.0.1:SENTINEL0,127.0.0.1:SENTINEL1,127.0.0.1:SENTINEL2`
        hint: pass the right ones with `--redis URL`, or set QLESS_REDIS_URL
        --- exit 6
    "#]]);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    for member in topology.servers.iter().chain(&topology.sentinels) {
        member.thaw();
    }
    await_that("the master is back", || {
        qless.run("queues -q --timeout 1s").code() == 0
    });
}

#[test]
fn sentinels_have_a_login_of_their_own() {
    let topology = Sentinels::start();
    let master = topology.master();
    let needless = topology.qless().env("QLESS_SENTINEL_PASSWORD", "secret");
    needless.run("queues").shows(expect![[r#"
        --- stderr
        error: a Sentinel refuses the login: `redis://:***@127.0.0.1:SENTINEL2/0` has no password, but one was given
        hint: unset QLESS_SENTINEL_PASSWORD
        --- exit 6
    "#]]);
    for sentinel in &topology.sentinels {
        sentinel.send::<()>(&["ACL", "SETUSER", "watch", "on", ">secret", "allcommands"]);
        sentinel.send::<()>(&["ACL", "SETUSER", "default", "off"]);
    }
    let qless = topology.qless();
    qless.run("queues").shows(expect![[r#"
        --- stderr
        error: a Sentinel refuses the login: `redis://127.0.0.1:SENTINEL2/0` requires a password
        hint: set QLESS_SENTINEL_USER and QLESS_SENTINEL_PASSWORD to the login of the Sentinels
        --- exit 6
    "#]]);
    let login = |qless: Qless, password: &str| {
        qless
            .env("QLESS_SENTINEL_USER", "watch")
            .env("QLESS_SENTINEL_PASSWORD", password)
    };
    login(topology.qless(), "wrong")
        .run("queues")
        .shows(expect![[r#"
            --- stderr
            error: a Sentinel refuses the login: `redis://watch:***@127.0.0.1:SENTINEL2/0` refuses user `watch`: wrong name or password
            hint: set QLESS_SENTINEL_USER and QLESS_SENTINEL_PASSWORD to the login of the Sentinels
            --- exit 6
        "#]]);
    login(topology.qless(), "secret")
        .run("put q K --jid a -q")
        .exits(0);
    // The master's user need not be able to ask for its role.
    let master = &topology.servers[master];
    master.send::<()>(&[
        "ACL", "SETUSER", "ops", "on", ">x", "~*", "&*", "+@all", "-role",
    ]);
    let url = topology.url().replace("//", "//ops:x@");
    login(topology.qless().env("QLESS_REDIS_URL", url), "secret")
        .run("get a -q")
        .exits(0);
}

#[test]
fn a_replica_is_read_and_says_when_it_lags() {
    let topology = Sentinels::start();
    topology.qless().run("put q K --jid a -q").ok();
    let replica = (topology.master() + 1) % 3;
    let port = topology.servers[replica].port;
    let qless = Qless::bare()
        .env("QLESS_REDIS_URL", format!("redis://127.0.0.1:{port}"))
        .hide(&port.to_string(), "PORT");
    await_that("the replica has the job", || {
        qless.run("--read-only get a -q").code() == 0
    });
    qless.run("put q K").shows(expect![[r#"
        --- stderr
        error: `redis://127.0.0.1:PORT/0` is a replica
        hint: point `--redis` at its primary
        --- exit 6
    "#]]);
    qless.run("--read-only peek q").exits(0);
    // `work` does not wait for the replica to become a master.
    qless.run("work q -q -- true").shows(expect![[r#"
        --- stderr
        error: `redis://127.0.0.1:PORT/0` is a replica
        hint: point `--redis` at its primary
        --- exit 6
    "#]]);
}

/// A master that was frozen goes on as one after its successor was named, until the Sentinels demote it.
#[test]
fn after_a_stalled_call_the_sentinels_are_asked_again() {
    let topology = Sentinels::start();
    let qless = topology.qless().env("QLESS_TIMEOUT", "30s");
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = |at| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{at}\"}}\n");
    std::fs::write(file.path(), (0..2000).map(line).collect::<String>()).unwrap();
    let put = qless.start(&format!(
        "put --from {} --rate 1000/s -q",
        file.path().display()
    ));
    let old = topology.master();
    await_that("jobs were put", || {
        topology.servers[old].send::<u64>(&["DBSIZE"]) > 100
    });
    topology.servers[old].freeze();
    topology.fail_over(old);
    topology.servers[old].thaw();
    let put = put.end().exits(3);
    put.says("another one took its place");
    qless.run("get j1999 -q").exits(0);
}

/// After a planned failover, the old master goes on accepting changes until the Sentinels demote it.
#[test]
fn a_bulk_put_goes_to_the_new_master_of_a_planned_failover() {
    let topology = Sentinels::start();
    let qless = topology.qless().env("QLESS_TIMEOUT", "30s");
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = |at| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{at}\"}}\n");
    std::fs::write(file.path(), (0..2000).map(line).collect::<String>()).unwrap();
    let path = file.path().display();
    let put = qless.start(&format!("put --from {path} --rate 500/s -q"));
    let old = topology.master();
    await_that("jobs were put", || {
        topology.servers[old].send::<u64>(&["DBSIZE"]) > 100
    });
    put.signal(Signal::STOP);
    topology.delay_demotion();
    topology.fail_over(old);
    put.signal(Signal::CONT);
    let put = put.end().exits(3);
    put.says("another one took its place");
    let info: String = topology.servers[old].send(&["INFO", "replication"]);
    let is_master = info.contains("role:master");
    let on_old: u64 = topology.servers[old].send(&["EXISTS", "ql:j:j1999"]);
    assert!(
        !is_master || on_old == 0,
        "the last job is on the old master"
    );
    qless.run("get j1999 -q").exits(0);
}

#[test]
fn a_worker_goes_on_at_the_new_master_of_a_planned_failover() {
    let topology = Sentinels::start();
    let qless = topology.qless().env("QLESS_TIMEOUT", "30s");
    let work = qless.start("work q -q -- true");
    qless.run("put q K --jid a -q").exits(0);
    qless.run("wait a --deadline 1m -q").exits(0);
    let old = topology.master();
    topology.delay_demotion();
    topology.fail_over(old);
    qless.run("put q K --jid b -q").exits(0);
    qless.run("wait b --deadline 1m -q").exits(0);
    work.signal(Signal::INT);
    let worked = work.end().exits(0);
    worked.says("another one took its place: it may have lost the last completions");
}

/// A failover that begins after the last call, and one of which not all Sentinels know.
#[test]
fn a_bulk_command_asks_all_sentinels_before_it_reports_success() {
    let (old, new) = (Arc::new(Member::start(&[])), Member::start(&[]));
    let (old_port, new_port) = (old.port, new.port);
    let named = |port, flags, epoch| Some(Named { port, flags, epoch });
    let behind = played_sentinel(move || named(old_port, "master", 6));
    let polls = AtomicUsize::new(0);
    let asked = Arc::clone(&old);
    let leader = played_sentinel(move || {
        if asked.send::<u64>(&["EXISTS", "ql:j:j2"]) == 0 {
            return named(old_port, "master", 6);
        }
        match polls.fetch_add(1, Ordering::Relaxed) {
            0..6 => named(old_port, "master,failover_in_progress", 6),
            _ => named(new_port, "master", 7),
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let (file, journal) = (dir.path().join("lines"), dir.path().join("journal"));
    let line = |at| format!("{{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"j{at}\"}}\n");
    std::fs::write(&file, (0..3).map(line).collect::<String>()).unwrap();
    let put = |sentinels: &str| {
        let address = format!("redis-sentinel://{sentinels}/0?master={MASTER}");
        let qless = Qless::bare().env("QLESS_REDIS_URL", address);
        let (file, journal) = (file.display(), journal.display());
        qless.run(&format!("put --from {file} --journal {journal} -q"))
    };
    let lost = put(&format!("127.0.0.1:{behind},127.0.0.1:{leader}")).exits(3);
    lost.says("another one took its place: up to 3 changes");
    lost.says("the same command puts what is missing");
    put(&format!("127.0.0.1:{leader}")).exits(0);
    assert_eq!(
        new.send::<u64>(&["EXISTS", "ql:j:j0", "ql:j:j1", "ql:j:j2"]),
        3
    );
}

/// The wait for a failover may last as long as a call: a signal ends it.
#[test]
fn a_signal_ends_the_wait_of_a_bulk_command_for_a_failover() {
    let master = Arc::new(Member::start(&[]));
    let (asked, port) = (Arc::clone(&master), master.port);
    let is_polled = Arc::new(AtomicUsize::new(0));
    let polls = Arc::clone(&is_polled);
    let sentinel = played_sentinel(move || {
        let is_put = asked.send::<u64>(&["EXISTS", "ql:j:a"]) > 0;
        let flags = if is_put {
            polls.fetch_add(1, Ordering::Relaxed);
            "master,failover_in_progress"
        } else {
            "master"
        };
        let epoch = 6;
        Some(Named { port, flags, epoch })
    });
    let address = format!("redis-sentinel://127.0.0.1:{sentinel}/0?master={MASTER}");
    let qless = Qless::bare().env("QLESS_REDIS_URL", address);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lines");
    std::fs::write(&file, r#"{"queue":"q","klass":"K","jid":"a"}"#).unwrap();
    let begun = Instant::now();
    let put = qless.start(&format!("put --from {} -q --timeout 60s", file.display()));
    await_that("the Sentinel is asked again", || {
        is_polled.load(Ordering::Relaxed) > 2
    });
    put.signal(Signal::INT);
    put.end()
        .exits(130)
        .says("interrupted while the Sentinels of")
        .says("the same command puts what is missing");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// Without a reply from any Sentinel, another master may have taken over.
#[test]
fn a_bulk_command_does_not_report_success_if_no_sentinel_replies_any_more() {
    let master = Arc::new(Member::start(&[]));
    let asked = Arc::clone(&master);
    let port = master.port;
    let sentinel = played_sentinel(move || {
        let is_put = asked.send::<u64>(&["EXISTS", "ql:j:a"]) > 0;
        let (flags, epoch) = ("master", 0);
        (!is_put).then_some(Named { port, flags, epoch })
    });
    let address = format!("redis-sentinel://127.0.0.1:{sentinel}/0?master={MASTER}");
    let qless = Qless::bare().env("QLESS_REDIS_URL", address);
    let put = qless
        .input("{\"queue\":\"q\",\"klass\":\"K\",\"jid\":\"a\"}\n")
        .run("put --from - -q");
    put.exits(6)
        .says("does not reply")
        .says("the same command puts what is missing");
}

#[test]
fn single_commands_make_as_many_calls_on_each_topology() {
    let (plain, cluster, sentinels) = (Member::start(&[]), Cluster::of(1, 0), Sentinels::start());
    let url = format!("redis://127.0.0.1:{}", plain.port);
    let plain_qless = Qless::bare().env("QLESS_REDIS_URL", url);
    let master = &sentinels.servers[sentinels.master()];
    let topologies = [
        ("plain", &plain, plain_qless),
        ("cluster", &cluster.members[0], cluster.qless("{ql}:")),
        ("sentinel", master, sentinels.qless()),
    ];
    // A connection to a cluster also asks for the map (`CLUSTER SLOTS`), and by `EXISTS` whether the node has the
    // keys. Without a hash tag, the login of a command that writes looks at two keys.
    let mut table = String::new();
    for (name, server, qless) in topologies {
        // The server compiles the script at the first call.
        qless.run("length q -q").ok();
        server.send::<()>(&["CONFIG", "RESETSTAT"]);
        for line in [
            "put q K --jid a -q",
            "get a -q",
            "peek q -q",
            "length q -q",
            "cancel a --yes -q",
        ] {
            qless.run(line).exits(0);
        }
        let info: String = server.send(&["INFO", "commandstats"]);
        let calls = ["hello", "time", "evalsha", "eval", "exists", "cluster"].map(|command| {
            // Redis 6.2 does not count subcommands, such as `cluster|slots`, one by one.
            let calls = info.lines().filter_map(|line| {
                let (name, counts) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
                let (name, _) = name.split_once('|').unwrap_or((name, ""));
                (name == command).then_some(counts.split_once(',')?.0)
            });
            let calls = calls.map(|calls| calls.parse::<u64>().unwrap());
            format!(" {command} {}", calls.sum::<u64>())
        });
        table += &format!("{name}:{}\n", calls.concat());
    }
    expect![[r#"
        plain: hello 5 time 5 evalsha 9 eval 2 exists 35 cluster 0
        cluster: hello 5 time 5 evalsha 9 eval 2 exists 36 cluster 5
        sentinel: hello 5 time 5 evalsha 9 eval 2 exists 35 cluster 0
    "#]]
    .assert_eq(&table);
}
