//! `qless metrics`

use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use expect_test::expect;
use rustix::process::Signal;

use crate::support::listening::Listening;
use crate::support::promtool;
use crate::support::qless::Qless;
use crate::support::redis::Redis;

/// Fills a database with something of everything. The time is 90,000: an hour after midnight.
fn filled() -> Redis {
    let redis = Redis::start();
    let at = |now: u32, line: &str| redis.ok(now, line);
    for n in 0..4 {
        at(89_000 + n, &format!("put mail K --jid j{n}"));
    }
    at(89_010, "pop mail --count 2 --worker w1");
    at(89_020, "complete j0 --worker w1");
    at(89_100, "fail j1 --worker w1 --group timeout --message m");
    at(89_990, "pop mail --worker w2");
    at(89_900, "recur put web Warm --jid r --every 600s");
    at(89_991, "put images Thumb --jid t");
    at(89_992, "pause images");
    redis
}

/// The samples without their comments and without what differs at each run.
fn samples(redis: &Redis, line: &str) -> String {
    let text = redis.ok(90_000, line);
    let wanted = |line: &&str| {
        let differs = ["qless_scrape", "qless_redis_memory", "qless_build"];
        !line.starts_with('#') && !differs.iter().any(|name| line.starts_with(name))
    };
    text.lines()
        .filter(wanted)
        .fold(String::new(), |all, line| all + line + "\n")
}

#[test]
fn a_snapshot_has_each_queue_and_group() {
    let redis = filled();
    let all = samples(&redis, "metrics");
    let few: String = all
        .split_inclusive('\n')
        .filter(|line| {
            !line.contains("_bucket") && !line.contains("web") && !line.contains("images")
        })
        .collect();
    expect![[r#"
        qless_up 1
        qless_redis_up 1
        qless_queue_jobs{queue="mail",state="waiting"} 1
        qless_queue_jobs{queue="mail",state="running"} 1
        qless_queue_jobs{queue="mail",state="stalled"} 0
        qless_queue_jobs{queue="mail",state="scheduled"} 0
        qless_queue_jobs{queue="mail",state="depends"} 0
        qless_queue_jobs{queue="mail",state="throttled"} 0
        qless_queue_jobs{queue="mail",state="recurring"} 0
        qless_queue_paused{queue="mail"} 0
        qless_queue_head_wait_seconds{queue="mail"} 997
        qless_queue_oldest_wait_seconds{queue="mail"} 997
        qless_queue_oldest_running_seconds{queue="mail"} 10
        qless_jobs_stalled{queue="mail"} 0
        qless_recurring_late{queue="mail"} 0
        qless_queue_completed_total{queue="mail"} 1
        qless_queue_failures_total{queue="mail"} 1
        qless_queue_retries_total{queue="mail"} 0
        qless_queue_wait_seconds_sum{queue="mail"} 1007
        qless_queue_wait_seconds_count{queue="mail"} 3
        qless_queue_run_seconds_sum{queue="mail"} 10
        qless_queue_run_seconds_count{queue="mail"} 1
        qless_failed_jobs{group="timeout"} 1
        qless_failed_jobs{group="other"} 0
        qless_groups_omitted 0
        qless_workers{seen="1h"} 2
        qless_queues_omitted 0
        qless_workers_omitted 0
        qless_complete_jobs 1
        qless_redis_evicted_keys_total 0
    "#]]
    .assert_eq(&few);
    for line in [
        "qless_queue_paused{queue=\"images\"} 1\n",
        "qless_recurring_late{queue=\"web\"} 1\n",
        "qless_queue_wait_seconds_bucket{queue=\"mail\",le=\"10\"} 1\n",
        "qless_queue_wait_seconds_bucket{queue=\"mail\",le=\"30\"} 2\n",
        "qless_queue_wait_seconds_bucket{queue=\"mail\",le=\"+Inf\"} 3\n",
    ] {
        assert!(all.contains(line), "{line}{all}");
    }
}

/// The histograms equal the histograms of `stats`.
#[test]
fn the_histograms_hold_what_stats_shows() {
    let redis = filled();
    let text = samples(&redis, "metrics --queue mail");
    let stats = redis.json(90_000, "stats mail -o json");
    for (metric, measure) in [("wait", "wait"), ("run", "run")] {
        let measured = &stats["items"][0][measure];
        let value = |suffix: &str| -> f64 {
            let start = format!("qless_queue_{metric}_seconds_{suffix}{{queue=\"mail\"");
            let line = text.lines().rfind(|line| line.starts_with(&start)).unwrap();
            line.rsplit_once(' ').unwrap().1.parse().unwrap()
        };
        assert_eq!(value("count"), measured["count"].as_f64().unwrap());
        let sum = measured["mean_s"].as_f64().unwrap() * measured["count"].as_f64().unwrap();
        assert!((value("sum") - sum).abs() < 0.01 * sum.max(1.0), "{text}");
        let buckets = measured["buckets"].as_array().unwrap();
        let all: f64 = buckets
            .iter()
            .map(|one| one["count"].as_f64().unwrap())
            .sum();
        assert_eq!(value("bucket"), all);
    }
}

#[test]
fn series_can_be_chosen_and_labelled() {
    let redis = filled();
    let text = samples(
        &redis,
        "metrics --queue 'ma*' --queue nope --label site=berlin --max-groups 0",
    );
    assert!(!text.contains("images") && !text.contains("nope"), "{text}");
    assert!(text.contains("qless_queue_paused{queue=\"mail\",site=\"berlin\"} 0\n"));
    assert!(text.contains("qless_up{site=\"berlin\"} 1\n"));
    assert!(text.contains("qless_failed_jobs{group=\"other\",site=\"berlin\"} 1\n"));
    assert!(!text.contains("group=\"timeout\""));
    redis.qless().session(expect![[r#"
        $ qless metrics --label queue=x
        --- stderr
        error: `--label` names `queue`, which series have already
        --- exit 2
        $ qless metrics --label 1x=x
        --- stderr
        error: `--label` expects a label such as `site=berlin`, its name of letters, digits and `_`, not `1x=x`
        --- exit 2
        $ qless metrics --label a=1 --label a=2 &>/dev/null
        --- exit 2
        $ qless metrics --statsd localhost:1 --namespace 'a|b' &>/dev/null
        --- exit 2
        $ qless metrics -o json
        --- stderr
        {"kind":"error","v":1,"code":"usage","exit":2,"message":"figures for monitoring systems have no document","hint":"qless status -o json","jid":null}
        --- exit 2
    "#]]);
}

#[test]
fn hostile_names_are_one_label_value() {
    let redis = Redis::start();
    let names: [&[u8]; 4] = [b"a\"} 1\nqless_up 0", b"back\\slash", b"\xff", b"\\xff"];
    for name in names {
        let mut connection = redis.connection();
        let mut add = redis::cmd("ZADD");
        let add = add.arg("ql:queues").arg(1).arg(name);
        add.exec(&mut connection).unwrap();
    }
    let text = samples(&redis, "metrics");
    let paused = text
        .lines()
        .filter(|line| line.starts_with("qless_queue_paused"));
    let lines: Vec<&str> = paused.collect();
    expect![[r#"
        qless_queue_paused{queue="\\xff"} 0
        qless_queue_paused{queue="a\"} 1\\nqless_up 0"} 0
        qless_queue_paused{queue="back\\slash"} 0
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
    let up = text.lines().filter(|line| line.starts_with("qless_up "));
    assert_eq!(up.count(), 1, "{text}");
    promtool_is_silent(&redis);
}

fn promtool_is_silent(redis: &Redis) {
    promtool::assert_silent(&redis.at(90_000).run("metrics").exits(0).stdout());
}

#[test]
fn the_checker_of_prometheus_has_nothing_to_say() {
    promtool_is_silent(&filled());
    promtool_is_silent(&Redis::start());
}

#[test]
fn a_file_is_replaced_at_once_and_says_when_redis_is_away() {
    let mut redis = filled();
    let path = redis.socket().with_file_name("qless.prom");
    let line = format!("metrics --file {}", path.display());
    redis.at(90_000).run(&line).shows(expect![""]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("qless_up 1\n"));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o044, 0o044, "{mode:o}");
    redis.kill();
    redis.at(90_000).run("metrics").exits(6);
    redis.at(90_000).run(&line).exits(6);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("qless_up 0\n") && text.contains("qless_redis_up 0\n"),
        "{text}"
    );
    assert!(!text.contains("queue="), "{text}");
}

/// A redirected stdout is not replaced by a file of this name.
#[test]
fn an_open_file_is_not_replaced() {
    let redis = filled();
    let log = redis.socket().with_file_name("log");
    let mut command = redis.at(90_000).command();
    let out = std::fs::File::create(&log).unwrap();
    let status = command
        .args(["metrics", "--file", "/dev/stdout"])
        .stdout(out);
    let output = status.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("it is a file that is open already"), "{said}");
    assert!(log.exists());
}

#[test]
fn statsd_gets_gauges_in_small_datagrams() {
    let redis = filled();
    for n in 0..60 {
        redis.ok(89_000, &format!("put q{n} K"));
    }
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let address = socket.local_addr().unwrap();
    let line = format!("metrics --statsd {address} --count 1 --namespace prod");
    redis.at(90_000).run(&line).exits(0);
    let (mut text, mut buffer) = (String::new(), [0; 65_536]);
    while !text.contains("prod.workers:") {
        let size = socket.recv(&mut buffer).unwrap();
        assert!(size <= 1432, "{size}");
        text.push_str(std::str::from_utf8(&buffer[..size]).unwrap());
        text.push('\n');
    }
    for line in [
        "prod.queues.mail.waiting:1|g\n",
        "prod.queues.mail.running:1|g\n",
        "prod.queues.q59.waiting:1|g\n",
        "prod.queues.mail.wait.p50:11|g\n",
        "prod.failures.timeout:1|g\n",
        "prod.workers:2|g\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    Qless::bare()
        .run("metrics --statsd nowhere")
        .shows(expect![[r#"
            --- stderr
            error: cannot send to `nowhere`: invalid socket address
            hint: --statsd takes HOST:PORT, such as localhost:8125
            --- exit 2
        "#]]);
    Qless::bare()
        .run("metrics --statsd nohost.invalid:9 --count 1")
        .exits(1)
        .says("cannot send to `nohost.invalid:9`");
}

#[test]
fn a_listener_answers_prometheus_and_load_balancers() {
    let redis = filled();
    let listening = Listening::of_metrics(&redis, "--queue mail --label site=berlin");
    let (status, text) = listening.get("/metrics", "localhost");
    assert_eq!(status, 200);
    let line = "qless_queue_paused{queue=\"mail\",site=\"berlin\"} 0\n";
    assert!(text.contains(line), "{text}");
    assert_eq!(listening.get("/livez", "[::1]:80"), (200, "ok\n".into()));
    assert_eq!(listening.get("/readyz", "127.0.0.1"), (200, "ok\n".into()));
    let (status, _) = listening.get("/metrics", "evil.example");
    assert_eq!(status, 421);
    let (status, text) = listening.get("/healthz?max-waiting=mail:10&max-failed=9", "localhost");
    assert_eq!(status, 200, "{text}");
    assert!(text.starts_with("QLESS OK - 2 within limits"), "{text}");
    let (status, text) = listening.get("/healthz?max-failed=timeout:0", "localhost");
    assert_eq!(status, 503);
    assert!(
        text.starts_with("QLESS CRITICAL - timeout: 1 failed job, limit 0"),
        "{text}"
    );
    for wrong in ["/healthz?max-foo=1", "/healthz?max-waiting=x"] {
        assert_eq!(listening.get(wrong, "localhost").0, 400, "{wrong}");
    }
    let (status, text) = listening.get("/healthz?max-foo%1b%5b31m%0ax=1", "localhost");
    assert_eq!((status, text.lines().count()), (400, 1), "{text}");
    assert!(!text.contains('\x1b'));
    assert_eq!(listening.get("/", "localhost").0, 404);
    let ended = listening.end(Signal::INT).exits(130);
    assert_eq!(ended.stderr(), "listening on unix:DIR/listener.sock\n");
    assert_eq!(ended.stdout(), "");
}

/// Ten scrapers at once cost what one does.
#[test]
fn many_scrapers_share_one_look() {
    let redis = filled();
    let listening = Listening::of_metrics(&redis, "");
    listening.get("/metrics", "localhost");
    let before = redis.scripts_run();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| assert_eq!(listening.get("/metrics", "localhost").0, 200));
        }
    });
    let looks = redis.scripts_run() - before;
    assert!(looks <= 1 + begun.elapsed().as_secs(), "{looks}");
}

#[test]
fn a_listener_starts_without_redis_and_heals() {
    let mut redis = filled();
    redis.kill();
    let listening = Listening::of_metrics(&redis, "--timeout 1s");
    let away = listening.until("/readyz", 503);
    assert!(away.starts_with("cannot "), "{away}");
    let (status, text) = listening.get("/metrics", "localhost");
    assert_eq!(status, 200);
    assert!(text.contains("qless_up 0\n"), "{text}");
    assert_eq!(listening.get("/livez", "localhost").0, 200);
    assert_eq!(listening.get("/healthz", "localhost").0, 503);
    redis.restart();
    listening.until("/readyz", 200);
    redis.freeze();
    let frozen = listening.until("/readyz", 503);
    assert!(frozen.starts_with("no reply from "), "{frozen}");
    redis.thaw();
    listening.until("/readyz", 200);
    let ended = listening.end(Signal::TERM).exits(143);
    let warnings = ended.stderr().matches("warning: ").count();
    let healed = ended
        .stderr()
        .matches("the queues can be read again")
        .count();
    assert_eq!((warnings, healed), (2, 2), "{}", ended.stderr());
}

#[test]
fn a_listener_that_cannot_start_says_why() {
    let mut redis = filled();
    let listening = Listening::of_metrics(&redis, "");
    let socket = listening.socket.display();
    let run = |more: &str| redis.qless().run(&format!("metrics --listen {more}"));
    let again = run(&format!("unix:{socket}")).exits(1);
    again.says("error: cannot listen on ");
    let open = run("0.0.0.0:0").exits(2);
    open.says("without `--token-file`");
    let both = run("localhost:0 --statsd localhost:1").exits(2);
    both.says("--statsd");
    listening.end(Signal::INT);
    redis.kill();
    let line = "metrics --listen localhost:0 --no-retry";
    let away = redis.qless().run(line).exits(6).stderr();
    assert!(!away.contains("listening on"), "{away}");
}

/// Of many queues, groups and workers, some are looked at, and the others are counted.
#[test]
fn what_is_left_out_is_counted() {
    let redis = Redis::start();
    let fill = "for i = 1, 700 do
        redis.call('zadd', 'ql:queues', i, 'q' .. i)
        redis.call('zadd', 'ql:workers', 89000 + i, 'w' .. i)
        redis.call('sadd', 'ql:failures', 'g' .. i)
        redis.call('rpush', 'ql:f:g' .. i, 'j')
      end";
    redis.send(&["EVAL", fill, "0"]);
    let text = samples(&redis, "metrics --queue q300");
    for line in [
        "qless_queues_omitted 200\n",
        "qless_groups_omitted 200\n",
        "qless_workers_omitted 200\n",
        "qless_workers{seen=\"1h\"} 700\n",
        "qless_queue_paused{queue=\"q300\"} 0\n",
        "qless_failed_jobs{group=\"other\"} 400\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let status = redis.ok(90_000, "status");
    assert!(
        status.contains("omitted\t200 queues, 200 groups of failures, 200 workers not read"),
        "{status}"
    );
    assert!(status.contains("queues\t700 known"), "{status}");
}
