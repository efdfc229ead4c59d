//! Random calls: each step is a number, from which the call is drawn, given the jobs stored at that
//! moment. So a history shrinks by leaving steps out.

use super::invariants::Excuses;
use super::ledger::Ledger;
use crate::support::core::Core;
use crate::support::random::Draw;

/// Which calls a history makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Profile {
    /// Everything but dependencies of the user: nothing may remain after the drain.
    Everything,
    /// The same, and dependencies of the user, by which jobs may wait for each other for ever.
    Dependencies,
    /// Few throttles for many jobs of two queues.
    Throttles,
    /// Only merging puts, and what ends or interrupts their jobs (10).
    Merging,
    /// Lanes, with little else: what a foreign script takes part in.
    Lanes,
}

const QUEUES: [&str; 3] = ["a", "a", "b"];
const WORKERS: [&str; 2] = ["w1", "w2"];
const KEYS: [&str; 4] = ["k1", "k1", "k2", "/g"];
const THROTTLES: [&str; 3] = ["t1", "t2", "t3"];
const GROUPS: [&str; 3] = ["G", "failed-retries-a", "failed-retries-b"];

/// Plays a history in an empty database: its settings, then a call for each further number.
pub(crate) fn play<'a>(
    core: &'a mut Core,
    numbers: &[u64],
    profile: Profile,
) -> Result<Ledger<'a>, String> {
    let excuses = Excuses {
        mixed_lanes: (profile == Profile::Merging).then(Default::default),
        ..Excuses::default()
    };
    let mut ledger = Ledger::new(core, excuses);
    let mut steps = Steps::new(profile);
    for line in steps.settings(numbers[0]) {
        ledger.limited |= line.contains("max-");
        if line.contains("merge-max") {
            // Full merge jobs wait behind each other.
            ledger.excuses.mixed_lanes = None;
        }
        ledger.call(&line)?;
    }
    for number in &numbers[1..] {
        let (after, line) = steps.next(*number, &ledger);
        ledger.now += after;
        ledger.depended |= line.starts_with("depends ") || line.contains(" depends [");
        ledger.call(&line)?;
    }
    Ok(ledger)
}

/// Draws the next call. The first number of a history draws its settings.
pub(crate) struct Steps {
    /// Numbers new jids and payloads.
    count: u64,
    profile: Profile,
}

impl Steps {
    pub(crate) fn new(profile: Profile) -> Steps {
        Steps { count: 0, profile }
    }

    /// The settings of a history.
    pub(crate) fn settings(&self, seed: u64) -> Vec<String> {
        let mut draw = Draw::new(seed);
        let mut lines = Vec::new();
        let mut maybe = |draw: &mut Draw, one_of: u64, lines_of: &[&str]| {
            if draw.below(one_of) == 0 {
                lines.push(draw.of(lines_of).to_owned());
            }
        };
        maybe(
            &mut draw,
            3,
            &["config.set grace-period 0", "config.set grace-period 30"],
        );
        maybe(
            &mut draw,
            3,
            &["config.set merge-max 2", "config.set merge-max 3"],
        );
        if self.profile == Profile::Merging {
            return lines;
        }
        if self.profile == Profile::Throttles {
            lines.push("throttle.set t1 1".to_owned());
            lines.push("throttle.set t2 2".to_owned());
        } else if self.profile != Profile::Lanes {
            maybe(&mut draw, 4, &["config.set max-pop-scan 2"]);
            maybe(&mut draw, 6, &["config.set a-max-concurrency 2"]);
            maybe(
                &mut draw,
                2,
                &[
                    r#"config.set b-defaults {"lock":"*"}"#,
                    r#"config.set b-defaults {"throttles":["t1"],"order":"due"}"#,
                    r#"config.set b-defaults {"backoff":"fixed:7","retries":1}"#,
                    r#"config.set b-defaults {"lock":"{data.n}","priority":2}"#,
                    r#"config.set b-defaults {"key":"{klass}","hold":1}"#,
                ],
            );
            lines.push("throttle.set t1 1".to_owned());
            lines.push("throttle.set t2 2".to_owned());
        }
        lines
    }

    /// The next call, and how much later it comes.
    pub(crate) fn next(&mut self, seed: u64, ledger: &Ledger<'_>) -> (f64, String) {
        let mut draw = Draw::new(seed);
        let after = draw.of(&[0.0, 0.0, 0.5, 1.0, 1.0, 5.0, 12.0, 33.0, 61.0, 140.0]);
        let roll = draw.below(100);
        let line = match self.profile {
            Profile::Merging => self.merging(&mut draw, ledger, roll),
            Profile::Lanes => self.lanes(&mut draw, ledger, roll),
            Profile::Throttles => self.throttles(&mut draw, ledger, roll),
            Profile::Everything | Profile::Dependencies => self.everything(&mut draw, ledger, roll),
        };
        (after, line)
    }

    fn everything(&mut self, draw: &mut Draw, ledger: &Ledger<'_>, roll: u64) -> String {
        match roll {
            0..27 => self.put(draw, ledger),
            27..44 => pop(draw),
            44..56 => self.complete(draw, ledger),
            56..63 => retry(draw, ledger),
            63..66 => self.fail(draw, ledger),
            66..69 => unfail(draw, ledger),
            69..72 => cancel(draw, ledger),
            72 => format!("bury {} G why", job(draw, ledger, "any")),
            73..75 => format!("timeout {}", job(draw, ledger, "running")),
            75..77 => self.heartbeat(draw, ledger),
            77..79 => {
                let priority = draw.of(&["0", "3", "-2"]);
                format!("priority {} {priority}", job(draw, ledger, "any"))
            }
            79 if self.profile == Profile::Dependencies => depends(draw, ledger),
            79 | 80 => format!("pause {}", draw.of(&QUEUES)),
            81 => format!("unpause {}", draw.of(&QUEUES)),
            82..85 => throttle(draw, ledger),
            85..87 => self.recur(draw),
            87..91 => self.guard_finish(draw, ledger),
            91..94 => self.guard_turn(draw, ledger),
            94..96 => guard_requeue(draw, ledger),
            96 => {
                let policy = draw.of(&["refuse", "cancel", "release"]);
                format!("guard.cancel {policy} {} ''", job(draw, ledger, "any"))
            }
            97..99 => self.guard_put(draw),
            _ => format!("peek {} 3", draw.of(&QUEUES)),
        }
    }

    fn merging(&mut self, draw: &mut Draw, ledger: &Ledger<'_>, roll: u64) -> String {
        match roll {
            0..38 => self.merging_put(draw),
            38..58 => format!("pop a {} {}", draw.of(&WORKERS), 1 + draw.below(3)),
            58..68 => {
                let (jid, worker, queue) = running(draw, ledger);
                format!("complete {jid} {worker} {queue} []")
            }
            68..80 => retry(draw, ledger),
            80..84 => self.fail(draw, ledger),
            84..89 => format!("unfail a {} {}", draw.of(&GROUPS), 1 + draw.below(3)),
            89..92 => format!("timeout {}", job(draw, ledger, "running")),
            92..95 => self.heartbeat(draw, ledger),
            95..97 => cancel(draw, ledger),
            97 => format!("bury {} G why", job(draw, ledger, "any")),
            _ => "pop a w3 5".to_owned(),
        }
    }

    fn throttles(&mut self, draw: &mut Draw, ledger: &Ledger<'_>, roll: u64) -> String {
        match roll {
            0..35 => {
                self.count += 1;
                let n = self.count;
                let jid = match draw.below(8) {
                    0 => job(draw, ledger, "any"),
                    _ => format!("j{n}"),
                };
                let options = draw.of(&[
                    r#"throttles ["t1"]"#,
                    r#"throttles ["t2"]"#,
                    r#"throttles ["t1","t2"]"#,
                    r#"throttles ["t2","t3"]"#,
                    "lock x",
                    "priority 1",
                ]);
                let (queue, delay) = (draw.of(&["a", "b"]), draw.of(&["0", "0", "0", "9"]));
                let retries = draw.below(3);
                format!(
                    "put me {queue} {jid} K {{\"p\":\"#{n}\"}} {delay} retries {retries} {options}"
                )
            }
            35..58 => {
                let (queue, worker) = (draw.of(&["a", "b"]), draw.of(&WORKERS));
                format!("pop {queue} {worker} {}", 1 + draw.below(4))
            }
            58..72 => {
                let (jid, worker, queue) = running(draw, ledger);
                let next = draw.of(&["", "", "", " next b", " next a delay 5"]);
                format!("complete {jid} {worker} {queue} {{}}{next}")
            }
            72..78 => retry(draw, ledger),
            78..80 => self.fail(draw, ledger),
            80..82 => unfail(draw, ledger),
            82..84 => cancel(draw, ledger),
            84..86 => format!("timeout {}", job(draw, ledger, "running")),
            86..88 => format!("priority {} 3", job(draw, ledger, "throttled")),
            88..90 => format!("pause {}", draw.of(&QUEUES)),
            90..94 => format!("unpause {}", draw.of(&QUEUES)),
            94 => guard_requeue(draw, ledger),
            95 => self.guard_turn(draw, ledger),
            _ => throttle(draw, ledger),
        }
    }

    fn lanes(&mut self, draw: &mut Draw, ledger: &Ledger<'_>, roll: u64) -> String {
        match roll {
            0..30 => {
                self.count += 1;
                let key = draw.of(&KEYS);
                let (queue, retries) = (draw.of(&QUEUES), draw.below(3));
                let delay = draw.of(&["0", "0", "20"]);
                let n = self.count;
                format!(
                    "put me {queue} j{n} K {{\"p\":\"#{n}\"}} {delay} retries {retries} key {key}"
                )
            }
            30..55 => pop(draw),
            55..70 => {
                let (jid, worker, queue) = running(draw, ledger);
                let next = draw.of(&["", "", " next b", " next a delay 20"]);
                format!("complete {jid} {worker} {queue} {{}}{next}")
            }
            70..80 => retry(draw, ledger),
            80..85 => self.fail(draw, ledger),
            85..88 => format!("timeout {}", job(draw, ledger, "running")),
            88..92 => cancel(draw, ledger),
            92..95 => unfail(draw, ledger),
            _ => self.heartbeat(draw, ledger),
        }
    }

    /// A new payload, or an earlier one again.
    fn token(&mut self, draw: &mut Draw) -> u64 {
        self.count += 1;
        match draw.below(4) {
            0 => self.count.saturating_sub(1 + draw.below(4)).max(1),
            _ => self.count,
        }
    }

    fn put(&mut self, draw: &mut Draw, ledger: &Ledger<'_>) -> String {
        let n = self.token(draw);
        let jid = match draw.below(5) {
            0 => job(draw, ledger, "any"),
            _ => format!("j{}", self.count),
        };
        let command = draw.of(&["put", "put", "put", "put", "requeue"]);
        let queue = draw.of(&QUEUES);
        let klass = draw.of(&["K", "K", "K", "L"]);
        let delay = draw.of(&["0", "0", "0", "8", "70"]);
        let mut line = format!(
            "{command} {} {queue} {jid} {klass} {{\"p\":\"#{n}\",\"n\":{}}} {delay} retries {}",
            draw.of(&["me", "w1"]),
            draw.below(3),
            draw.below(4),
        );
        if draw.below(3) == 0 {
            line += &format!(" priority {}", draw.below(3));
        }
        line += &self.options(draw);
        if self.profile == Profile::Dependencies && draw.below(6) == 0 {
            line += &format!(" depends [\"{}\"]", job(draw, ledger, "any"));
        }
        line
    }

    /// Options of a put.
    fn options(&mut self, draw: &mut Draw) -> String {
        let mut line = String::new();
        match draw.below(12) {
            0..6 => {
                line += &format!(" key {}", draw.of(&KEYS));
                line += draw.of(&[
                    "",
                    "",
                    " dup queue",
                    " dup merge",
                    " dup merge",
                    " dup merge rescore max",
                    " dup skip",
                    " dup skip until start",
                    " dup skip ttl 40",
                    " dup replace",
                ]);
                if line.contains("merge") && draw.below(2) == 0 {
                    line += &format!(" score {}", draw.below(5));
                }
                line += draw.of(&["", "", "", "", " hold 1", " hold 0"]);
            }
            6 => line += " key ''",
            _ => {}
        }
        if draw.below(3) == 0 {
            line += draw.of(&[
                r#" throttles ["t1"]"#,
                r#" throttles ["t2"]"#,
                r#" throttles ["t1","t2"]"#,
                r#" throttles ["t2","t3","t2"]"#,
                " throttles []",
                " lock x",
                " lock *",
            ]);
        }
        if draw.below(5) == 0 {
            line += draw.of(&[
                " backoff fixed:5",
                " backoff linear:3",
                " backoff exp:2:3:60:0.5",
                " backoff lowkiq:100",
            ]);
        }
        line
    }

    fn merging_put(&mut self, draw: &mut Draw) -> String {
        let n = self.token(draw);
        let delay = draw.of(&["0", "0", "0", "30"]);
        let rescore = draw.of(&["", "", " rescore max"]);
        format!(
            "put me a m{} K {{\"p\":\"#{n}\"}} {delay} retries {} key {} dup merge score {}{rescore}",
            self.count,
            draw.below(3),
            draw.of(&["k1", "k1", "k2"]),
            draw.below(6),
        )
    }

    /// What follows `complete … data`: advance, or end.
    fn next_queue(&mut self, draw: &mut Draw) -> String {
        if draw.below(3) > 0 {
            return String::new();
        }
        let mut line = format!(" next {}", draw.of(&QUEUES));
        line += draw.of(&["", "", " delay 9"]);
        line += draw.of(&[
            "",
            "",
            "",
            " key k2",
            " key ''",
            " throttles []",
            r#" throttles ["t2"]"#,
            " lock x",
            " backoff fixed:3",
        ]);
        line
    }

    fn complete(&mut self, draw: &mut Draw, ledger: &Ledger<'_>) -> String {
        let (jid, worker, queue) = running(draw, ledger);
        self.count += 1;
        let data = format!("{{\"p\":\"#{}\"}}", self.count);
        format!(
            "complete {jid} {worker} {queue} {data}{}",
            self.next_queue(draw)
        )
    }

    fn fail(&mut self, draw: &mut Draw, ledger: &Ledger<'_>) -> String {
        let (jid, worker, _) = running(draw, ledger);
        let data = draw.of(&["", "", r#" {"d":1}"#]);
        format!("fail {jid} {worker} G message{data}")
    }

    fn heartbeat(&mut self, draw: &mut Draw, ledger: &Ledger<'_>) -> String {
        let (jid, worker, _) = running(draw, ledger);
        let data = draw.of(&["", r#" {"h":1}"#]);
        format!("heartbeat {jid} {worker}{data}")
    }

    fn recur(&mut self, draw: &mut Draw) -> String {
        if draw.below(4) == 0 {
            return "unrecur r".to_owned();
        }
        let interval = draw.of(&["20", "60"]);
        let options = draw.of(&[
            "",
            " key r dup skip",
            " key k1",
            " key k1 dup merge",
            r#" throttles ["t2"]"#,
            " lock *",
            " key /g hold 1",
        ]);
        let queue = draw.of(&QUEUES);
        format!("recur {queue} r K {{\"r\":1}} interval {interval} 0 retries 1 backlog 2{options}")
    }

    /// The words of one ending of a batch, with their number before them.
    fn ending(&mut self, draw: &mut Draw, ledger: &Ledger<'_>, worker: &str) -> String {
        let (jid, _, queue) = running_of(draw, ledger, worker);
        let words = match draw.below(4) {
            0 | 1 => {
                self.count += 1;
                let n = self.count;
                format!(
                    "{jid} {queue} complete {{\"p\":\"#{n}\"}}{}",
                    self.next_queue(draw)
                )
            }
            2 => format!("{jid} {queue} retry {}", draw.of(&["0", "0", "6"])),
            _ => format!("{jid} {queue} fail G message"),
        };
        let count = crate::support::core::words(&words).len();
        format!("{count} {words}")
    }

    fn endings(&mut self, draw: &mut Draw, ledger: &Ledger<'_>, worker: &str) -> String {
        let count = draw.below(3);
        (0..count)
            .map(|_| format!(" {}", self.ending(draw, ledger, worker)))
            .collect()
    }

    fn guard_finish(&mut self, draw: &mut Draw, ledger: &Ledger<'_>) -> String {
        let worker = draw.of(&WORKERS);
        format!(
            "guard.finish {worker}{}",
            self.endings(draw, ledger, worker)
        )
    }

    fn guard_turn(&mut self, draw: &mut Draw, ledger: &Ledger<'_>) -> String {
        let worker = draw.of(&WORKERS);
        let total = 1 + draw.below(4);
        let queues = draw.of(&["2 a 3", "4 a 1 b 1", "4 b 3 a 3"]);
        format!(
            "guard.turn {worker} {total} {queues}{}",
            self.endings(draw, ledger, worker)
        )
    }

    fn guard_put(&mut self, draw: &mut Draw) -> String {
        let mut line = "guard.put {}".to_owned();
        for _ in 0..=draw.below(2) {
            self.count += 1;
            let n = self.count;
            let queue = draw.of(&QUEUES);
            let words = format!(
                "{queue} j{n} K {{\"p\":\"#{n}\"}} 0 retries 1{}",
                self.options(draw)
            );
            line += &format!(" {} {words}", crate::support::core::words(&words).len());
        }
        line
    }
}

fn pop(draw: &mut Draw) -> String {
    format!(
        "pop {} {} {}",
        draw.of(&QUEUES),
        draw.of(&WORKERS),
        1 + draw.below(4)
    )
}

/// A job in this state if there is one; else any.
fn job(draw: &mut Draw, ledger: &Ledger<'_>, state: &str) -> String {
    let n = draw.below(1 << 20);
    let jids: Vec<&str> = ledger
        .jobs()
        .filter(|(_, hash)| state == "any" || hash.get("state").is_some_and(|own| own == state))
        .map(|(jid, _)| jid)
        .collect();
    match jids.len() as u64 {
        0 => "j1".to_owned(),
        len => jids[(n % len) as usize].to_owned(),
    }
}

/// A running job with its worker and queue; seldom another worker.
fn running(draw: &mut Draw, ledger: &Ledger<'_>) -> (String, String, String) {
    let jid = job(draw, ledger, "running");
    let field = |name: &str, default: &str| {
        let text = ledger.dump.field(&format!("ql:j:{jid}"), name);
        text.filter(|text| !text.is_empty())
            .unwrap_or_else(|| default.to_owned())
    };
    let (worker, queue) = (field("worker", "w1"), field("queue", "a"));
    let worker = match draw.below(25) {
        0 => "w9".to_owned(),
        _ => worker,
    };
    (jid, worker, queue)
}

/// A running job of this worker, if there is one.
fn running_of(draw: &mut Draw, ledger: &Ledger<'_>, worker: &str) -> (String, String, String) {
    let n = draw.below(1 << 20);
    let own: Vec<(&str, String)> = ledger
        .jobs()
        .filter(|(_, hash)| hash["state"] == "running" && hash["worker"] == worker)
        .map(|(jid, hash)| (jid, hash["queue"].clone()))
        .collect();
    match own.len() as u64 {
        0 => ("j1".to_owned(), worker.to_owned(), "a".to_owned()),
        len => {
            let (jid, queue) = own[(n % len) as usize].clone();
            (jid.to_owned(), worker.to_owned(), queue)
        }
    }
}

fn retry(draw: &mut Draw, ledger: &Ledger<'_>) -> String {
    let (jid, worker, queue) = running(draw, ledger);
    let rest = draw.of(&["", " 0", " 15", " 0 G why"]);
    format!("retry {jid} {queue} {worker}{rest}")
}

fn unfail(draw: &mut Draw, ledger: &Ledger<'_>) -> String {
    let (queue, group) = (draw.of(&QUEUES), draw.of(&GROUPS));
    match draw.below(3) {
        0 => {
            let jid = job(draw, ledger, "failed");
            format!("unfail.jobs {queue} {group} {jid}")
        }
        1 => format!("unfail {queue} {group} 1"),
        _ => format!("unfail {queue} {group}"),
    }
}

fn cancel(draw: &mut Draw, ledger: &Ledger<'_>) -> String {
    let one = job(draw, ledger, "any");
    match draw.below(3) {
        0 => format!("cancel {one} {}", job(draw, ledger, "any")),
        _ => format!("cancel {one}"),
    }
}

fn depends(draw: &mut Draw, ledger: &Ledger<'_>) -> String {
    let jid = job(draw, ledger, "depends");
    let how = match draw.below(3) {
        0 => "off all".to_owned(),
        1 => format!("off {}", job(draw, ledger, "any")),
        _ => format!("on {}", job(draw, ledger, "any")),
    };
    format!("depends {jid} {how}")
}

fn throttle(draw: &mut Draw, ledger: &Ledger<'_>) -> String {
    let id = draw.of(&THROTTLES);
    match draw.below(6) {
        0 => format!("throttle.delete {id}"),
        1 => format!("throttle.release {id} {}", job(draw, ledger, "throttled")),
        2 => format!("throttle.release {id} {}", job(draw, ledger, "running")),
        3 => format!("throttle.set {id} {} 10000", draw.below(4)),
        _ => format!("throttle.set {id} {}", draw.below(4)),
    }
}

fn guard_requeue(draw: &mut Draw, ledger: &Ledger<'_>) -> String {
    let policy = draw.of(&[
        "{}",
        r#"{"from":["failed","scheduled","waiting","stalled","throttled"]}"#,
        r#"{"to":"b","from":["failed","scheduled","waiting","depends","throttled"],"keep":true}"#,
        r#"{"from":["running","complete","depends","throttled"],"priority":2}"#,
    ]);
    let due = match draw.below(3) {
        0 => format!("{}", ledger.now + 20.0),
        _ => "''".to_owned(),
    };
    format!(
        "guard.requeue {policy} '' {} '' {due}",
        job(draw, ledger, "any")
    )
}
