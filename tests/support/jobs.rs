//! A database with jobs in every state.

use super::redis::Redis;
use super::text::words;

/// A call for [`Redis::calls`], from its line: `put me mail j K {} 0`.
pub fn call(now: f64, line: &str) -> (f64, Vec<String>) {
    (now, line.split(' ').map(str::to_owned).collect())
}

/// `f1` and `f2` failed in two queues, `r` runs, `w` waits, `s` is scheduled, `d` depends,
/// `c` is complete.
pub fn mixed() -> Redis {
    let redis = Redis::start();
    redis.calls(
        [
            (1.0, "put me mail c K {} 0"),
            (2.0, "pop mail w1 1"),
            (3.0, "complete c w1 mail {}"),
            (
                4.0,
                r#"put me mail f1 K {"n":1.10} 0 priority 7 tags ["eu"] retries 3"#,
            ),
            (5.0, "put me images f2 K {} 0"),
            (6.0, "pop mail w1 1"),
            (6.0, "pop images w1 1"),
            (7.0, "fail f1 w1 boom one"),
            (8.0, "fail f2 w1 boom two"),
            (9.0, "put me mail r K {} 0"),
            (10.0, "pop mail w1 1"),
            (11.0, "put me mail w K {} 0"),
            (12.0, "put me mail s K {} 600"),
            (13.0, r#"put me mail d K {} 0 depends ["w"]"#),
        ]
        .map(|(now, line)| (now, words(&line.replace('"', "\u{1}"))))
        .map(|(now, words)| {
            let words = words.into_iter().map(|word| word.replace('\u{1}', "\""));
            (now, words.collect::<Vec<String>>())
        }),
    );
    redis
}

/// The call that puts a job into `q`, for [`Redis::calls`].
pub fn put_call(jid: &str, depends: &[String]) -> (f64, Vec<String>) {
    let depends = serde_json::to_string(depends).unwrap();
    let words = ["put", "me", "q", jid, "K", "{}", "0", "depends", &depends];
    (1.0, words.map(str::to_owned).to_vec())
}

/// Puts `j0`, `j1` and so on into `q`. Each depends on the one before.
pub fn put_chain(redis: &Redis, count: usize) {
    let jid = |n: usize| format!("j{n}");
    redis.calls((0..count).map(|n| match n {
        0 => put_call("j0", &[]),
        n => put_call(&jid(n), &[jid(n - 1)]),
    }));
}
