//! More names, tags and jobs than one call of the core takes.

use std::fmt::Write as _;

use crate::support::redis::Redis;

/// 10,001 queues without jobs, 5,001 workers, 2,001 groups, and a lane of 10,001 jobs.
const FILL: &str = "
    local call, now = redis.call, ARGV[1]
    for i = 1, 10001 do
      call('zadd', 'ql:queues', now, 'q-' .. i)
      call('hset', 'ql:j:j' .. i, 'jid', 'j' .. i, 'state', 'depends', 'queue', 'q', 'key', 'q/k')
      call('zadd', 'ql:k:q/k', i, 'j' .. i)
    end
    for i = 1, 5001 do call('zadd', 'ql:workers', now, 'w-' .. i) end
    call('zadd', 'ql:workers', 1, 'forgotten')
    for i = 1, 2001 do
      call('sadd', 'ql:failures', 'g-' .. i)
      call('lpush', 'ql:f:g-' .. i, 'x')
    end";

#[test]
fn any_number_of_names_is_asked_for_in_slices() {
    let redis = Redis::start();
    redis.send(&["EVAL", FILL, "0", "1000000"]);
    let run = |line: &str| redis.ok(1_000_060, line);
    let names: String = (1..=10_001).map(|n| format!(" q-{n}")).collect();
    let paused = || redis.send(&["SCARD", "ql:paused_queues"]);

    assert_eq!(run("queues --columns queue").lines().count(), 10_001);
    assert_eq!(
        run(&format!("lag{names} -o raw")).matches(':').count(),
        10_001
    );
    run("pause --all -y");
    assert_eq!(paused(), redis::Value::Int(10_001));
    run(&format!("unpause{names} -y"));
    assert_eq!(paused(), redis::Value::Int(0));
    let status: serde_json::Value = serde_json::from_str(&run("status -o json")).unwrap();
    let total = |name: &str| status["totals"][name].as_u64().unwrap();
    assert_eq!(total("queues"), 10_001);
    assert_eq!((total("workers"), total("groups")), (5_001, 2_001));
    assert_eq!(run("workers --columns worker").lines().count(), 5_001);
    let jids = run("key q k -o jid");
    assert_eq!(jids.lines().count(), 10_001);
    assert_eq!(jids.lines().nth(10_000), Some("j10001"));
    run(&format!("forget queue{names} -y"));
    assert_eq!(redis.send(&["ZCARD", "ql:queues"]), redis::Value::Int(0));
}

#[test]
fn many_jobs_with_many_tags_are_put_and_cancelled_in_several_calls() {
    let redis = Redis::start();
    let tags: Vec<String> = (0..1000).map(|n| format!("\"t{n}\"")).collect();
    let tags = tags.join(",");
    let mut file = String::new();
    for n in 0..60 {
        let depends = if n == 0 { "" } else { r#","depends":["j0"]"# };
        let job = format!(r#""queue":"q","klass":"K","jid":"j{n}","tags":[{tags}]{depends}"#);
        _ = writeln!(file, "{{{job}}}");
    }
    let qless = redis.at(100).input(&file);
    qless.run("put --from -").ok();
    assert_eq!(redis.send(&["ZCARD", "ql:t:t999"]), redis::Value::Int(60));
    let jids: String = (0..60).map(|n| format!(" j{n}")).collect();
    let line = format!("cancel{jids} --dependents cancel -y -o jid");
    let cancelled = redis.ok(101, &line);
    assert_eq!(cancelled.lines().count(), 60);
    assert_eq!(redis.send(&["ZCARD", "ql:tags"]), redis::Value::Int(0));
}
