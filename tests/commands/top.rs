//! `qless top`, on a real pseudo-terminal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::time::{Duration, Instant};

use expect_test::expect;
use regex::Regex;

use crate::support::config::ConfigHome;
use crate::support::proxy::{Cut, proxy};
use crate::support::qless::Qless;
use crate::support::redis::Redis;
use crate::support::terminal::Terminal;

/// Ctrl-L, which draws the whole screen again.
const REDRAW: &str = "\x0c";

fn night() -> Redis {
    let redis = Redis::start();
    let qless = redis.qless();
    for line in [
        "put mail Mail::Welcome --jid first",
        "put mail Mail::Welcome --jid second",
        "put images Photo --jid photo",
        "pop mail --worker mx-1",
        "fail first --worker mx-1 --group timeout --message no-reply",
    ] {
        qless.run(line).ok();
    }
    redis
}

struct Top(Terminal, u16);

impl Top {
    fn start(qless: &Qless) -> Top {
        Top::with(qless.command())
    }

    /// A command that has only global flags.
    fn with(mut command: Command) -> Top {
        command.env("TERM", "xterm-256color");
        command.args(["top", "--interval", "100ms"]);
        Top(Terminal::typed(command, 80, 24), 24)
    }

    /// Ends it. Returns all that it has written.
    fn quits(mut self) -> String {
        self.0.types("q");
        self.0.end().exits(0).stdout()
    }

    /// What the whole screen says now.
    fn screen(&mut self) -> String {
        let before = self.0.written().len();
        let last = format!("\x1b[{};1H", self.1);
        self.0.types(REDRAW);
        let all = self.0.until(|written| {
            let fresh = written.get(before..).unwrap_or_default();
            // The last line is drawn last.
            let begun = fresh.find("\x1b[2J");
            begun.is_some_and(|begun| fresh[begun..].contains(&last))
        });
        let escapes = Regex::new("\x1b\\[[0-9;?]*[A-Za-z]").unwrap();
        escapes.replace_all(&all[before..], " ").into_owned()
    }

    /// Waits until a command has ended.
    fn returns(&self) {
        self.0
            .until(|written| written.contains("Enter goes back to top"));
    }

    /// Types, and waits until the whole screen says something.
    fn shows(&mut self, keys: &str, wanted: &str) -> String {
        self.0.types(keys);
        // A call whose connection broke is repeated for some seconds before the screen says so.
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let screen = self.screen();
            if screen.contains(wanted) {
                return screen;
            }
            assert!(Instant::now() < deadline, "no `{wanted}`:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn the_screen_opens_what_is_selected_and_goes_back() {
    let redis = night();
    let mut top = Top::start(&redis.qless());
    let screen = top.shows("", "images");
    for part in ["1 failed (+1 in 1h)", "mail", "timeout", "mx-1", "live"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    top.shows("j\r", "mail: waiting");
    top.shows("", "second");
    top.shows("\r", "job second");
    top.shows("", "Mail::Welcome");
    top.shows("hh", "QUEUE");
    top.shows("e", "a pop of mail would get second");
    top.shows("h", "QUEUE");
    let status = top.shows("i", "problems");
    assert!(status.contains("1 job has failed"), "{status}");
    top.shows("h", "QUEUE");
    top.shows("/ima\r", "only ima");
    // What happens is seen.
    redis.qless().run("put images Photo --jid other").ok();
    top.shows("\x1b", "QUEUE");
    top.quits();
}

#[test]
fn capital_letters_run_the_command_of_the_command_line() {
    let redis = night();
    let mut top = Top::start(&redis.qless());
    top.shows("\t", "▶ timeout");
    top.0.types("R");
    top.0.until(|written| written.contains("Proceed?"));
    top.0.types("y\n");
    top.returns();
    assert_eq!(redis.qless().run("get first --field state").ok(), "waiting");
    top.0.types("\n");
    top.shows("", "nothing has failed");
    // A named job: the screen asks.
    top.shows("\t\t", "▶ images");
    top.shows("\r", "photo");
    top.0.types("C");
    top.0
        .until(|written| written.contains("qless cancel photo") && written.contains("y does it"));
    top.0.types("y");
    top.0
        .until(|written| written.matches("Enter goes back to top").count() == 2);
    assert_eq!(redis.qless().run("get photo").code(), 4);
    top.0.types("\nq");
    top.quits();
}

#[test]
fn the_terminal_is_as_before_after_every_end() {
    let redis = night();
    for (signal, code) in [
        ("-TERM", 143),
        ("-HUP", 143),
        ("-INT", 130),
        ("-QUIT", 131),
        ("-USR1", 138),
        ("-ALRM", 142),
    ] {
        let mut top = Top::start(&redis.qless());
        top.shows("", "images");
        top.0.signal(signal);
        let ended = top.0.end();
        assert_eq!(ended.code(), code, "{signal}");
        let written = ended.stdout();
        let (entered, left) = (written.rfind("\x1b[?1049h"), written.rfind("\x1b[?1049l"));
        assert!(left > entered, "{signal}: {written:?}");
    }
    // Suspended and continued, and of another size.
    let mut top = Top::start(&redis.qless());
    top.shows("", "images");
    for suspend in [
        |top: &mut Top| top.0.signal("-TSTP"),
        |top: &mut Top| top.0.types("\x1a"),
    ] {
        suspend(&mut top);
        while !top.0.echoes() {
            std::thread::sleep(Duration::from_millis(5));
        }
        top.0.signal("-CONT");
        top.shows("", "images");
        assert!(!top.0.echoes());
    }
    top.0.resize(40, 15);
    top.0.signal("-WINCH");
    top.1 = 15;
    top.shows("", "QUEUE");
    top.quits();
}

#[test]
fn a_signal_ends_it_while_the_output_of_a_command_is_read() {
    let redis = night();
    let mut top = Top::start(&redis.qless());
    top.shows("\t", "▶ timeout");
    top.0.types("R");
    top.0.until(|written| written.contains("Proceed?"));
    top.0.types("n\n");
    top.returns();
    top.0.signal("-TERM");
    assert_eq!(top.0.end().code(), 143);
}

#[test]
fn it_ends_with_its_terminal() {
    let redis = night();
    let mut top = Top::start(&redis.qless());
    top.shows("", "images");
    assert_eq!(top.0.close().code(), Some(143));
}

#[test]
fn without_color_nothing_is_colored() {
    let redis = night();
    let colors = Regex::new("\x1b\\[[0-9;]*[34]8;5;").unwrap();
    for (colored, no_color) in [(true, ""), (false, "1")] {
        let qless = redis.qless().env("NO_COLOR", no_color);
        let mut top = Top::start(&qless);
        top.shows("", "timeout");
        let written = top.quits();
        assert_eq!(colors.is_match(&written), colored, "{written:?}");
    }
}

#[test]
fn a_server_that_does_not_answer_holds_up_no_other() {
    let (still, redis) = (Redis::start(), night());
    let home = ConfigHome::new(&format!(
        "[context.still]\nredis = \"{}\"\nlabel = \"STILL\"\n[context.night]\nredis = \"{}\"\nlabel = \"NIGHT\"\n",
        still.url(),
        redis.url()
    ));
    still.freeze();
    let mut command = home.qless().command();
    command.args(["--context", "still,night"]);
    let mut top = Top::with(command);
    top.shows("", "STILL");
    let screen = top.shows("c", "images");
    assert!(screen.contains("NIGHT"), "{screen}");
    // A line for one of several contexts names it.
    top.shows("w", "--context=night");
    top.0.types("n");
    top.quits();
    still.thaw();
}

#[test]
fn a_line_about_one_of_several_prefixes_names_it() {
    let redis = Redis::start();
    for prefix in ["a:", "b:"] {
        let line = format!("put of-{prefix} K --prefix {prefix}");
        redis.qless().run(&line).ok();
    }
    let home = ConfigHome::new(&format!(
        "[context.both]\nredis = \"{}\"\nprefixes = [\"a:\", \"b:\"]\n",
        redis.url()
    ));
    let mut command = home.qless().command();
    command.args(["--context", "both"]);
    let mut top = Top::with(command);
    top.shows("", "of-a:");
    top.0.types("w");
    top.0
        .until(|written| written.contains("--context=both --prefix=a: pause of-a:"));
    top.0.types("n");
    top.shows("c", "of-b:");
    // Its reason is asked for.
    top.0.types("P");
    top.0.until(|written| written.contains("why?"));
    let asked = top.shows("disk swap\r", "y does it");
    assert!(asked.contains("--prefix=b: pause --reason='di"), "{asked}");
    top.0.types("y");
    top.returns();
    top.0.types("\n");
    top.shows("", "paused");
    let queues = redis.qless().run("queues --prefix b: -o json").json();
    assert_eq!(queues["items"][0]["paused_reason"], "disk swap");
    top.quits();
}

#[test]
fn a_name_is_copied_byte_for_byte() {
    let redis = Redis::start();
    let name = OsStr::from_bytes(b"\xff");
    redis
        .qless()
        .args(["put".as_ref(), name, "K".as_ref()])
        .ok();
    let mut top = Top::start(&redis.qless());
    top.shows("", "xff");
    top.0.types("y");
    top.0
        .until(|written| written.contains("\x1b]52;c;/w==\x07"));
    top.quits();
}

#[test]
fn a_command_gets_the_password_of_the_address() {
    let redis = Redis::with(&["--requirepass", "secret"]);
    let port = proxy(redis.socket(), Cut::Before(usize::MAX));
    let url = format!("redis://:secret@127.0.0.1:{port}");
    let qless = Qless::bare().env("QLESS_REDIS_URL", &url);
    qless.run("put mail K --jid first").ok();
    let mut command = Qless::bare().command();
    command.args(["--redis", &url]);
    let mut top = Top::with(command);
    top.shows("", "mail");
    top.0.types("P");
    top.0.until(|written| written.contains("why?"));
    let asked = top.shows("\r", "y does it");
    assert!(asked.contains(" pause mail "), "{asked}");
    top.0.types("y");
    top.returns();
    top.0.types("\n");
    let screen = top.shows("", "paused");
    assert!(!screen.contains("secret"), "{screen}");
    top.quits();
}

#[test]
fn the_screen_starts_without_redis_and_heals() {
    let mut redis = night();
    redis.kill();
    let mut top = Top::start(&redis.qless());
    top.shows("", "away, tried");
    top.shows("", "connect");
    redis.restart();
    redis.qless().run("put again K").ok();
    top.shows("", "again");
    redis.kill();
    top.shows("", "away, tried");
    top.shows("", "again");
    top.quits();
    let mut refused = redis.qless().command();
    refused.env("TERM", "xterm").args(["top", "--no-retry"]);
    assert_eq!(Terminal::typed(refused, 80, 24).end().code(), 6);
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    Qless::bare().run("top").shows(expect![[r#"
        --- stderr
        error: `top` requires a terminal
        hint: `qless queues --watch -o ndjson` writes a line for each look
        --- exit 2
    "#]]);
    for word in ["dash", "dashboard", "ui", "monitor"] {
        Qless::bare().run(word).says("qless top");
    }
}
