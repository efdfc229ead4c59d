//! The cost of looking at a live system for the server: `status`, `metrics`, `health`, `web`, `top`, `explain`, `wait` and
//! `throttle list`, with few and with many jobs, queues, groups, workers and tags. None of them may grow with the
//! database.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use redis::cmd;

use crate::measured_server::{Call, Server};
use crate::page::Page;

/// The number of resident jobs of the large database, if none is given.
const MANY: usize = 1_000_000;
const FEW: usize = 1_000;
const QUEUES: usize = 50;
/// The number of jobs that one `wait` is about.
const AWAITED: usize = 10_000;
/// How often a command runs in one measurement.
const REPEATS: usize = 20;
/// The most that a figure may grow.
const LIMIT: f64 = 1.2;
/// The most microseconds of the server for one command that looks at all queues.
const BOUND: f64 = 2_000.0;

/// The time of all calls; jobs are put in the minutes before it.
const NOW: f64 = 1_795_250_000.0;

/// The names in a database, each kind as many as a look reads, and many more.
struct Names {
    queues: usize,
    groups: usize,
    workers: usize,
    tags: usize,
}

const MOST_READ: Names = Names {
    queues: 500,
    groups: 500,
    workers: 500,
    tags: 500,
};
const MANY_NAMES: Names = Names {
    queues: 10_000,
    groups: 1_000_000,
    workers: 100_000,
    tags: 100_000,
};

/// The line that measures a tick of the page.
const PAGE: &str = "web, one tick";
/// The line that measures a tick of the screen.
const SCREEN: &str = "top, one tick";

/// A command to measure.
struct Line<'a> {
    name: &'a str,
    command: &'a str,
    repeats: usize,
    /// Whether its microseconds have a bound.
    bounded: bool,
}

/// What one run of a command costs the server.
#[derive(Clone, Copy)]
struct Figures {
    micros: f64,
    /// Calls of the script.
    calls: f64,
    /// The milliseconds of the longest call.
    longest: f64,
}

impl Figures {
    const MOST: Figures = Figures {
        micros: f64::INFINITY,
        calls: f64::INFINITY,
        longest: f64::INFINITY,
    };

    fn keep(&mut self, other: Figures) {
        self.micros = self.micros.min(other.micros);
        self.calls = self.calls.min(other.calls);
        self.longest = self.longest.min(other.longest);
    }
}

pub fn print(rounds: usize, sizes: &[usize]) {
    let many = sizes.first().copied().unwrap_or(MANY);
    println!(
        "\nlooking at a live system, least of {rounds} rounds; longest: the ms of the longest call"
    );
    let jids: Vec<String> = (0..AWAITED).map(|at| format!("awaited-{at}")).collect();
    let mut list = tempfile::NamedTempFile::new().unwrap();
    list.write_all(jids.join("\n").as_bytes()).unwrap();
    let wait = format!("wait @{} -q", list.path().display());
    let line = |name, command, bounded| Line {
        name,
        command,
        repeats: REPEATS,
        bounded,
    };
    let lines = [
        line("status", "status", true),
        line("metrics", "metrics", true),
        line("health", "health -q --max-waiting 2000000", false),
        line("throttle list", "throttle list -q", false),
        line(PAGE, "web", true),
        line(SCREEN, "top", true),
        line("explain of a waiting job", "explain q7-7", true),
        line("explain --queue", "explain --queue q7", true),
        Line {
            repeats: 1,
            ..line("wait of 10,000 jobs", &wait, false)
        },
    ];
    println!("{QUEUES} queues");
    let heads = [FEW, many].map(|jobs| format!("{jobs} jobs"));
    compare(
        rounds,
        &lines,
        BOUND,
        heads,
        [FEW, many].map(|jobs| filled(|server| fill(server, jobs))),
    );

    println!(
        "as many queues, groups of failures, workers and tags as are looked at, and many of a kind"
    );
    let Names {
        queues,
        groups,
        workers,
        tags,
    } = MANY_NAMES;
    let kinds = [
        (
            format!("{groups} groups"),
            Names {
                groups,
                ..MOST_READ
            },
        ),
        (
            format!("{workers} workers, tags"),
            Names {
                workers,
                tags,
                ..MOST_READ
            },
        ),
        (
            format!("{queues} queues"),
            Names {
                queues,
                ..MOST_READ
            },
        ),
        ("all of these".to_owned(), MANY_NAMES),
    ];
    for (head, names) in kinds {
        let heads = [format!("{} of each", MOST_READ.queues), head];
        let servers = [MOST_READ, names].map(|names| filled(|server| fill_names(server, &names)));
        // No `wait`: there are no complete jobs.
        compare(rounds, &lines[..8], f64::INFINITY, heads, servers);
    }
}

fn filled(fill: impl FnOnce(&mut Server)) -> Server {
    let mut server = Server::undisturbed();
    fill(&mut server);
    server
}

/// Measures each command on a small and on a large database, in turn. `bound` is for the microseconds of bounded lines.
fn compare(
    rounds: usize,
    lines: &[Line<'_>],
    bound: f64,
    heads: [String; 2],
    mut servers: [Server; 2],
) {
    let mut least = vec![[Figures::MOST; 2]; lines.len()];
    for _ in 0..rounds {
        // In turn, so that what slows the machine down for a while slows both.
        for (line, least) in lines.iter().zip(&mut least) {
            for (server, least) in servers.iter_mut().zip(least) {
                least.keep(measure(server, line));
            }
        }
    }
    let [few, large] = heads;
    println!("  {:<26}{few:>25}{large:>25}", "");
    let columns = format!("{:>9}{:>7}{:>9}", "µs", "calls", "longest");
    println!("  {:<26}{columns}{columns}{:>8}", "", "growth");
    for (line, [few, large]) in lines.iter().zip(least) {
        let growth = large.micros / few.micros;
        let mut verdict = String::new();
        if growth > LIMIT {
            verdict.push_str(&format!("  grows by more than {LIMIT}"));
        }
        if line.bounded && few.micros.max(large.micros) > bound {
            verdict.push_str("  over 2 ms");
        }
        let columns =
            |of: Figures| format!("{:>9.0}{:>7.1}{:>9.1}", of.micros, of.calls, of.longest);
        println!(
            "  {:<26}{}{}{growth:>8.2}{verdict}",
            line.name,
            columns(few),
            columns(large)
        );
    }
}

fn measure(server: &mut Server, line: &Line<'_>) -> Figures {
    // A look at the page lasts a moment, so that each request is a tick.
    let page = (line.name == PAGE).then(|| Page::start(server, "1ms"));
    if let Some(page) = &page {
        page.get("/");
    }
    // What the server does anyway between the ticks of a screen.
    let mut idle = 0.0;
    let screen = (line.name == SCREEN).then(|| {
        let before = server.cpu();
        thread::sleep(TICK * line.repeats as u32);
        idle = server.cpu() - before;
        Screen::start(server)
    });
    // Only whole calls: noting each command of the script would cost a third of the call.
    server.watch_slow(Some(100));
    let (cpu, calls) = (server.cpu(), script_calls(server));
    match (&page, &screen) {
        (Some(page), _) => {
            for _ in 0..line.repeats {
                thread::sleep(Duration::from_millis(2));
                page.get("/");
            }
        }
        (_, Some(_)) => thread::sleep(TICK * line.repeats as u32),
        _ => {
            for _ in 0..line.repeats {
                run(server, line.command);
            }
        }
    }
    let calls = (script_calls(server) - calls) as f64;
    // How many ticks there were for a request or in a time depends on how long one takes here: each is one look.
    let repeats = if page.is_some() || screen.is_some() {
        server.slow_calls_of("look.status")
    } else {
        line.repeats
    };
    let repeats = repeats as f64;
    let micros = (server.cpu() - cpu - idle) / repeats;
    let longest = server.slowest();
    server.watch_slow(None);
    Figures {
        micros,
        calls: calls / repeats,
        longest,
    }
}

/// The time between two ticks of the screen.
const TICK: Duration = Duration::from_millis(100);

/// A running `qless top`, on a terminal that `script` makes.
struct Screen(Child);

impl Screen {
    /// Starts it and waits for its first look.
    fn start(server: &Server) -> Screen {
        let before = script_calls(server);
        let interval = format!("{}ms", TICK.as_millis());
        let line = format!(
            "exec {} top --interval {interval}",
            env!("CARGO_BIN_EXE_qless")
        );
        let child = Command::new("script")
            .args(["--quiet", "--command", &line, "/dev/null"])
            .env("QLESS_REDIS_URL", server.redis.url())
            .env("QLESS_NOW", NOW.to_string())
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while script_calls(server) < before + 3 {
            thread::sleep(Duration::from_millis(5));
        }
        Screen(child)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The screen ends with its terminal.
        drop(self.0.stdin.take());
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Puts names of each kind into the database: each queue has three waiting jobs of different priorities and one that a
/// worker of its own runs. Groups, tags and the other workers are written into their keys; each group has a failed job.
fn fill_names(server: &mut Server, names: &Names) {
    let put = |queue: usize, number: usize| -> Call {
        let (queue, jid) = (format!("q{queue}"), format!("q{queue}-{number}"));
        let (at, priority) = (NOW - 300.0 + number as f64, (number % 3).to_string());
        let words = [
            "put",
            &at.to_string(),
            "me",
            &queue,
            &jid,
            "Photo::Upload",
            "{}",
            "0",
            "priority",
            &priority,
        ];
        words.map(str::to_owned).to_vec()
    };
    let pop = |queue: usize| -> Call {
        let words = [
            "pop",
            &(NOW - 20.0).to_string(),
            &format!("q{queue}"),
            &format!("busy-{queue}"),
            "1",
        ];
        words.map(str::to_owned).to_vec()
    };
    for page in (0..names.queues).collect::<Vec<_>>().chunks(500) {
        let puts = page
            .iter()
            .flat_map(|queue| (5..9).map(|number| put(*queue, number)));
        server.call(&puts.collect::<Vec<_>>());
        server.call(&page.iter().map(|queue| pop(*queue)).collect::<Vec<_>>());
    }
    let failure = format!(
        r#"{{"group":"g","message":"message","when":{},"worker":"w"}}"#,
        NOW - 600.0
    );
    write_names(
        server,
        names.groups,
        &format!(
            "redis.call('sadd', 'ql:failures', 'g' .. i)
            redis.call('lpush', 'ql:f:g' .. i, 'f' .. i)
            redis.call('hset', 'ql:j:f' .. i, 'jid', 'f' .. i, 'state', 'failed', 'failure', '{failure}')"
        ),
    );
    write_names(
        server,
        names.workers.saturating_sub(names.queues),
        &format!(
            "redis.call('zadd', 'ql:workers', {} - i / 100, 'idle-' .. i)",
            NOW - 60.0
        ),
    );
    write_names(
        server,
        names.tags,
        "redis.call('zadd', 'ql:tags', 1, 't' .. i)
        redis.call('zadd', 'ql:t:t' .. i, 1, 'q0-' .. 5 + i % 4)",
    );
}

/// Runs Lua once for each `i` below a number, in slices.
fn write_names(server: &Server, count: usize, body: &str) {
    let script = format!("for i = tonumber(ARGV[1]), ARGV[2] - 1 do {body} end");
    let mut connection = server.redis.connect();
    for from in (0..count).step_by(10_000) {
        let mut eval = cmd("EVAL");
        let to = count.min(from + 10_000);
        let () = eval
            .arg(&script)
            .arg(0)
            .arg(from)
            .arg(to)
            .query(&mut connection)
            .unwrap();
    }
}

/// Puts a few jobs into all queues.
pub fn fill_few(server: &mut Server) {
    fill(server, FEW);
}

/// Puts the resident jobs into all queues, a tenth of them failed, and the awaited jobs, complete.
fn fill(server: &mut Server, jobs: usize) {
    let put = |at: f64, queue: &str, jid: String| -> Call {
        let at = format!("{at:.4}");
        let words = ["put", &at, "me", queue, &jid, "Photo::Upload", "{}", "0"];
        words.map(str::to_owned).to_vec()
    };
    let failed = jobs / 10;
    for page in (0..jobs).collect::<Vec<_>>().chunks(10_000) {
        let begun = NOW - 3_600.0;
        let calls = page.iter().map(|at| {
            let (queue, number) = (at % QUEUES, at / QUEUES);
            let at = begun + *at as f64 / jobs as f64 * 3_000.0;
            put(at, &format!("q{queue}"), format!("q{queue}-{number}"))
        });
        server.call(&calls.collect::<Vec<_>>());
    }
    let pop = |at: f64, queue: &str, count: usize| -> Call {
        let (at, count) = (format!("{at:.4}"), count.to_string());
        ["pop", &at, queue, "w", &count].map(str::to_owned).to_vec()
    };
    let ending = |at: f64, words: [&str; 5]| -> Call {
        let at = format!("{at:.4}");
        let [name, jid, rest @ ..] = words;
        let mut call = vec![name.to_owned(), at, jid.to_owned()];
        call.extend(rest.map(str::to_owned));
        call
    };
    for page in (0..failed).collect::<Vec<_>>().chunks(500) {
        let now = NOW - 600.0 + page[0] as f64 / failed as f64 * 500.0;
        let calls = page.iter().map(|at| put(now, "failing", format!("f{at}")));
        server.call(&calls.collect::<Vec<_>>());
        server.call(&[pop(now, "failing", page.len())]);
        let calls = page.iter().map(|at| {
            let (jid, group) = (format!("f{at}"), format!("group {}", at % 5));
            ending(now, ["fail", &jid, "w", &group, "message"])
        });
        server.call(&calls.collect::<Vec<_>>());
    }
    for page in (0..AWAITED).collect::<Vec<_>>().chunks(500) {
        let calls = page
            .iter()
            .map(|at| put(NOW - 50.0, "done", format!("awaited-{at}")));
        server.call(&calls.collect::<Vec<_>>());
        server.call(&[pop(NOW - 49.0, "done", page.len())]);
        let calls = page.iter().map(|at| {
            let jid = format!("awaited-{at}");
            ending(NOW - 48.0, ["complete", &jid, "w", "done", "{}"])
        });
        server.call(&calls.collect::<Vec<_>>());
    }
}

/// The number of script calls so far.
pub fn script_calls(server: &Server) -> u64 {
    let mut connection = server.redis.connect();
    let mut info = cmd("INFO");
    let info: String = info.arg("commandstats").query(&mut connection).unwrap();
    let calls = info.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("cmdstat_eval")?.split_once(":calls=")?;
        rest.split(',').next()?.parse::<u64>().ok()
    });
    calls.sum()
}

fn run(server: &Server, line: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
    let command = command
        .env_clear()
        .env("QLESS_REDIS_URL", server.redis.url())
        .env("QLESS_NOW", NOW.to_string())
        .args(line.split(' '));
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::inherit()).status().unwrap();
    assert!(status.success(), "{line}: {status}");
}
