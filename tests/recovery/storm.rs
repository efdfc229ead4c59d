//! Damage, repairs and workers at the same time: a ledger of the workers shows that each job ran
//! once. Only a job whose own lock was destroyed may run twice.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::client::Client;
use crate::support::random::{self, Draw};
use crate::support::redis::Redis;

/// The number of pairs of jobs, one of which depends on the other.
const PAIRS: usize = 150;

/// What the reference does to a job and its dependents when a worker completes it: a dependent
/// whose set of dependencies is empty starts, whatever its state is (D-17).
const COMPLETE: &str = r#"
local jid, worker, now = ARGV[1], ARGV[2], ARGV[3]
local key = 'ql:j:' .. jid
local job = redis.call('hmget', key, 'state', 'worker', 'queue', 'retries')
if job[1] ~= 'running' or job[2] ~= worker then return redis.error_reply('lost') end
redis.call('rpush', key .. '-history', cjson.encode({math.floor(now), 'done'}))
for _, part in ipairs({'-work', '-locks', '-scheduled'}) do
  redis.call('zrem', 'ql:q:' .. job[3] .. part, jid)
end
redis.call('zrem', 'ql:w:' .. worker .. ':jobs', jid)
redis.call('hset', key, 'state', 'complete', 'worker', '', 'failure', '{}', 'queue', '', 'expires', 0,
  'remaining', job[4], 'time', now)
redis.call('zadd', 'ql:completed', now, jid)
for _, other in ipairs(redis.call('smembers', key .. '-dependents')) do
  local above = 'ql:j:' .. other .. '-dependencies'
  redis.call('srem', above, jid)
  if redis.call('scard', above) == 0 then
    local place = redis.call('hmget', 'ql:j:' .. other, 'queue', 'priority')
    if place[1] then
      redis.call('zadd', 'ql:q:' .. place[1] .. '-work', place[2] - now / 10000000000, other)
      redis.call('hset', 'ql:j:' .. other, 'state', 'waiting')
    end
  end
end
redis.call('del', key .. '-dependents')
return 'complete'
"#;

/// The jobs that workers got, and the jobs whose lock was destroyed.
#[derive(Default)]
struct Ledger {
    popped: Mutex<Vec<(String, String)>>,
    without_lock: Mutex<HashSet<String>>,
}

fn seconds() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{:.4}", now.unwrap().as_secs_f64())
}

/// Pops and completes jobs. Returns the number completed. `old`: as the reference completes them.
fn work(redis: &Redis, worker: &str, old: bool, ledger: &Ledger, until: impl Fn(usize) -> bool) {
    let (mut client, mut connection) = (Client::new(redis), redis.connection());
    loop {
        let jids = client.pop("mail", worker, 2);
        let popped = jids.iter().map(|jid| (jid.clone(), worker.to_owned()));
        ledger.popped.lock().unwrap().extend(popped);
        for jid in &jids {
            // A job whose lock was destroyed may be gone from this worker.
            _ = if old {
                redis::cmd("EVAL")
                    .arg(COMPLETE)
                    .arg(0)
                    .arg(&[jid.as_str(), worker, &seconds()])
                    .query::<redis::Value>(&mut connection)
            } else {
                client.call(&["complete", jid, worker, "mail", "{}"])
            };
        }
        if until(jids.len()) {
            return;
        }
        thread::sleep(Duration::from_millis(8));
    }
}

fn damage(redis: &Redis, seed: u64, ledger: &Ledger, ended: &AtomicBool) -> u32 {
    let (mut connection, mut draw, mut count) = (redis.connection(), Draw::new(seed), 0);
    while !ended.load(Ordering::Relaxed) {
        let pair = draw.below(PAIRS as u64);
        let jid = format!("{}{pair}", draw.of(&["above", "below"]));
        let line = match draw.below(10) {
            0 | 1 => format!("DEL ql:j:below{pair}-dependencies"),
            2 | 3 => format!("DEL ql:j:above{pair}-dependents"),
            4 => format!("ZREM ql:q:mail-work {jid}"),
            5 => format!("ZREM ql:q:mail-depends below{pair}"),
            6 => {
                ledger.without_lock.lock().unwrap().insert(jid.clone());
                format!("ZREM ql:q:mail-locks {jid}")
            }
            7 => format!("ZADD ql:q:mail-work 5 ghost{pair}"),
            8 => format!("HSET ql:j:{jid} tags oops"),
            _ => "ZREM ql:queues mail".to_owned(),
        };
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]).exec(&mut connection).unwrap();
        count += 1;
        thread::sleep(Duration::from_millis(2));
    }
    count
}

fn repair(redis: &Redis, ended: &AtomicBool) -> u32 {
    let mut count = 0;
    while !ended.load(Ordering::Relaxed) {
        let ran = redis.qless().run("check --repair --yes");
        assert!(
            [0, 7].contains(&ran.code()),
            "{}{}",
            ran.stdout(),
            ran.stderr()
        );
        count += 1;
    }
    count
}

fn storm(seed: u64) {
    let redis = Redis::start();
    let mut client = Client::new(&redis);
    for pair in 0..PAIRS {
        let (above, below) = (format!("above{pair}"), format!("below{pair}"));
        let depends = format!("[\"{above}\"]");
        let put = ["put", "w", "mail", &above, "K", "{}", "0"];
        client.call(&put).unwrap();
        let put = [
            "put", "w", "mail", &below, "K", "{}", "0", "depends", &depends,
        ];
        client.call(&put).unwrap();
    }
    let (ledger, ended) = (Ledger::default(), AtomicBool::new(false));
    let begun = Instant::now();
    thread::scope(|scope| {
        for (at, worker) in ["ours-1", "old-1", "old-2"].into_iter().enumerate() {
            let (redis, ledger, ended) = (&redis, &ledger, &ended);
            scope.spawn(move || {
                work(redis, worker, at > 0, ledger, |_| {
                    ended.load(Ordering::Relaxed)
                });
            });
        }
        let repairs = scope.spawn(|| repair(&redis, &ended));
        let damages = scope.spawn(|| damage(&redis, seed, &ledger, &ended));
        let all = || ledger.popped.lock().unwrap().len() >= 2 * PAIRS;
        while !all() && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(20));
        }
        ended.store(true, Ordering::Relaxed);
        assert!(damages.join().unwrap() > 50);
        assert!(repairs.join().unwrap() > 0);
    });
    // What the last damage left behind is repaired, and every job that is left runs.
    for _ in 0..10 {
        redis.qless().run("check --repair --yes");
        work(&redis, "last", false, &ledger, |popped| popped == 0);
    }
    redis.qless().run("check").exits(0);
    let mut runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (jid, worker) in ledger.popped.into_inner().unwrap() {
        runs.entry(jid).or_default().push(worker);
    }
    let without_lock = ledger.without_lock.into_inner().unwrap();
    let doubled = |(jid, workers): &(&String, &Vec<String>)| {
        workers.len() > 1 && !without_lock.contains(*jid)
    };
    let doubled: Vec<_> = runs.iter().filter(doubled).collect();
    assert!(doubled.is_empty(), "these ran twice: {doubled:?}");
    for pair in 0..PAIRS {
        for jid in [format!("above{pair}"), format!("below{pair}")] {
            let entry = client.entry(&jid).unwrap();
            assert_eq!(
                (entry.state.as_str(), entry.queue.as_str()),
                ("complete", ""),
                "{jid}"
            );
            assert!(runs.contains_key(&jid), "{jid} never ran");
        }
    }
}

#[test]
fn random_damage_during_repairs_and_work_neither_loses_nor_doubles_a_job() {
    random::rounds(storm);
}
