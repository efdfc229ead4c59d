//! `qless health`

use expect_test::expect;

use crate::support::redis::Redis;

fn filled() -> Redis {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    for n in 0..4 {
        at(89_000 + n, &format!("put mail K --jid j{n}"));
    }
    at(89_000, "put images K --jid i0");
    at(89_010, "pop mail --count 2 --worker w1");
    at(89_100, "fail j1 --worker w1 --group timeout --message m");
    at(89_101, "fail j0 --worker w1 --group 'a|b' --message m");
    at(89_990, "pop mail --worker w2");
    redis
}

#[test]
fn without_limits_the_problems_of_status_count() {
    let redis = filled();
    let host = format!("@{}", qless::internals::host_name());
    // A pause is a warning: somebody chose it.
    redis
        .qless()
        .env("USER", "ann")
        .hide(&host, "@HOST")
        .session(expect![[r#"
        90000 $ qless health
        ✗ a|b: 1 job has failed in the last 1h: `qless failed --group='a|b'`
        ✗ timeout: 1 job has failed in the last 1h: `qless failed --group=timeout`
        ✗ images: the oldest job has waited 16m 40s: `qless explain --queue=images`
        ✗ mail: the oldest job has waited 16m 37s: `qless explain --queue=mail`
        --- exit 10
        90000 $ qless --prefix x: health
        ✓ no queue exists under this prefix: `qless --prefix=x: doctor` looks for others
        90000 $ qless --prefix x: health --nagios --max-waiting 5
        QLESS OK - no queue exists under this prefix
        90000 $ qless --prefix x: health -q
        90000 $ qless --prefix x: put mail K &>/dev/null
        90000 $ qless --prefix x: health
        ✗ 1 job waits, and no worker was seen: `qless --prefix=x: workers`
        --- exit 10
        90000 $ qless --prefix x: health --nagios
        QLESS CRITICAL - 1 job waits, and no worker was seen
        --- exit 2
        90000 $ qless --prefix x: pause mail
        90010 $ qless --prefix x: health --nagios
        QLESS WARNING - mail is paused for 10s by ann@HOST, 1 job waits
        --- exit 1
    "#]]);
}

#[test]
fn limits_are_for_each_queue_and_group() {
    // A group is gone with its last job.
    filled().session(expect![[r#"
        90000 $ qless health --max-failed 0
        ✗ a|b: 1 failed job, limit 0
        ✗ timeout: 1 failed job, limit 0
        --- exit 10
        90000 $ qless health --max-failed 5
        ✓ 2 groups within the limit; the most, timeout: 1 failed job, limit 5
        90000 $ qless health --max-waiting 0,5 --max-waiting mail=10
        ! images: 1 job waits, limit 0
        ✓ mail: 1 job waits, limit 10
        --- exit 10
        90000 $ qless health --max-waiting 'm*=0' --max-head-wait 'images=30m' --max-stalled 0 --max-paused 1h
        ✗ mail: 1 job waits, limit 0
        ✓ images: the next job has waited 16m 40s, limit 30m
        ✓ 2 queues within the limit; the most, mail: 0 stalled jobs, limit 0
        --- exit 10
        90000 $ qless health --max-head-wait 1500ms -q
        ✗ images: the next job has waited 16m 40s, limit 1.5s
        ✗ mail: the next job has waited 16m 37s, limit 1.5s
        --- exit 10
        90000 $ qless health --min-workers 1
        ✓ 1 worker is alive, at least 1
        90000 $ qless health --min-workers 3,2
        ✗ 1 worker is alive, at least 2
        --- exit 10
        90000 $ qless health --max-waiting mial=5
        ! no queue is called mial; is it mail?
        --- exit 10
        90000 $ qless health --max-waiting 'mial*=100'
        ! no queue matches mial*
        --- exit 10
        90000 $ qless health --max-failed timeuot=5 --max-failed 'x*=5' --max-failed other=5
        ✓ other: 0 failed jobs, limit 5
        ✓ timeuot: 0 failed jobs, limit 5; no group is called so, but one is timeout
        90000 $ qless health --max-waiting mail &>/dev/null
        --- exit 2
        90000 $ qless health --max-head-wait 5,x &>/dev/null
        --- exit 2
        90000 $ qless health --min-workers mail=1 &>/dev/null
        --- exit 2
        90000 $ qless health --max-waiting 0 -o json | jq -c
        {"kind":"health","v":1,"level":"critical","items":[{"check":"max-waiting","queue":"images","group":null,"level":"critical","message":"images: 1 job waits, limit 0","value":1,"warning":0,"critical":0},{"check":"max-waiting","queue":"mail","group":null,"level":"critical","message":"mail: 1 job waits, limit 0","value":1,"warning":0,"critical":0}],"omitted":{"queues":0,"groups":0,"workers":0}}
        --- exit 10
    "#]]);
}

#[test]
fn nagios_gets_a_line_with_values_and_its_own_codes() {
    let mut redis = filled();
    redis.session(expect![[r#"
        90000 $ qless health --nagios --max-waiting 0,5 --max-failed 9 --max-head-wait 1d
        QLESS WARNING - images: 1 job waits, limit 0; mail: 1 job waits, limit 0 | 'images max-waiting'=1;0;5;0 'mail max-waiting'=1;0;5;0 'images max-head-wait'=1000s;86400;86400;0 'mail max-head-wait'=997s;86400;86400;0 'a_b max-failed'=1;9;9;0 'timeout max-failed'=1;9;9;0
        --- exit 1
        90000 $ qless health --nagios --max-waiting 0
        QLESS CRITICAL - images: 1 job waits, limit 0; mail: 1 job waits, limit 0 | 'images max-waiting'=1;0;0;0 'mail max-waiting'=1;0;0;0
        --- exit 2
        90000 $ qless health --nagios
        QLESS CRITICAL - a/b: 1 job has failed in the last 1h; timeout: 1 job has failed in the last 1h; images: the oldest job has waited 16m 40s; mail: the oldest job has waited 16m 37s
        --- exit 2
    "#]]);
    redis.send(&["DEL", "ql:q:mail-locks"]);
    redis.send(&["SET", "ql:q:mail-locks", "x"]);
    let critical = |redis: &Redis, problem: &str| {
        let ran = redis.at(90_000).run("health --nagios").exits(2);
        let start = format!("QLESS CRITICAL - {problem}");
        assert!(ran.stdout().starts_with(&start), "{}", ran.stdout());
    };
    let problem = "cannot be read, because a key has the wrong type: queue mail; ";
    critical(&redis, problem);
    redis.kill();
    critical(&redis, "cannot ");
    redis.at(90_000).run("health").exits(6);
}

/// The code of a usage error, 2, would wake somebody up: it means that the system is down. The codes of plugins are
/// for `health` alone.
#[test]
fn a_plugin_that_is_called_wrongly_is_unknown() {
    let redis = Redis::start();
    for (line, said) in [
        (
            "health --nagios --max-waitin 5",
            "unknown flag `--max-waitin`",
        ),
        (
            "health --max-failed many --nagios",
            "`--max-failed` expects a limit such as ",
        ),
        ("--context nowhere health --nagios", "context `nowhere` "),
        ("--timeout 3s health --nagios --max-waiting x", ""),
        ("health --max-waiting --nagios", ""),
    ] {
        let ran = redis.at(90_000).run(line).exits(3);
        let begin = format!("QLESS UNKNOWN - {said}");
        assert!(ran.stdout().starts_with(&begin), "{line}: {}", ran.stdout());
    }
    let other = redis.at(1).run("put health K --nagios").exits(2);
    other.says("error: unknown flag `--nagios`");
}

/// A named queue is judged however many there are.
#[test]
fn a_named_queue_is_found_among_many() {
    let redis = Redis::start();
    let fill = "for i = 1, 900 do redis.call('zadd', 'ql:queues', i, 'q' .. i) end";
    redis.send(&["EVAL", fill, "0"]);
    redis.ok(90_000, "put q450 K --jid a");
    let glob = "health --nagios --max-waiting 'q45*=0'";
    let glob = redis.at(90_100).run(glob).exits(2).stdout();
    let start = "QLESS CRITICAL - q450: 1 job waits";
    assert!(glob.starts_with(start), "{glob}");
    redis.session(expect![[r#"
        90100 $ qless health --max-waiting q450=0
        ✗ q450: 1 job waits, limit 0
        --- exit 10
    "#]]);
}

/// cron mails what a command prints.
#[test]
fn quiet_health_prints_only_what_is_wrong() {
    // Programs read the whole document, and the line of a plugin.
    let redis = filled();
    redis.session(expect![[r#"
        90000 $ qless health -q --max-waiting 100 --max-failed 5
        90000 $ qless health -q --max-waiting mail=100 --max-failed 0
        ✗ a|b: 1 failed job, limit 0
        ✗ timeout: 1 failed job, limit 0
        --- exit 10
        90000 $ qless health -q --max-waiting 100 -o json | jq -c .items[].queue
        "images"
        "mail"
    "#]]);
    let line = redis.ok(90_000, "health -q --max-waiting 100 --nagios");
    assert!(line.starts_with("QLESS OK - "), "{line}");
}

/// An entry without a job has no time: the next one decides.
#[test]
fn entries_without_jobs_hide_no_failures() {
    let redis = Redis::start();
    for n in 0..40 {
        redis.ok(90_000 + n, &format!("put mail K --jid j{n}"));
    }
    redis.ok(90_100, "pop mail --count 40 --worker w");
    for n in 0..40 {
        redis.ok(
            90_200 + n,
            &format!("fail j{n} --worker w --group G --message m"),
        );
    }
    let problem = |now: u32| redis.at(now).run("health").stdout();
    let all = problem(90_300);
    assert!(all.starts_with("✗ G: 40 jobs have failed"), "{all}");
    redis.send(&["LPUSH", "ql:f:G", "ghost", "ghoul"]);
    let found = problem(90_300);
    assert!(found.starts_with("✗ G: 42 jobs have failed"), "{found}");
    let old = problem(99_000);
    assert!(!old.contains("✗ G"), "{old}");
}
