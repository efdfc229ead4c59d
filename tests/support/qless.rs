//! Runs the binary: cleared environment, no terminal, and a pinned time if the test sets one.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use expect_test::Expect;
use rustix::process::{Pid, Signal, kill_process};

use super::text;

/// How to run the binary.
#[derive(Clone, Default)]
pub struct Qless {
    env: Vec<(String, OsString)>,
    input: Vec<u8>,
    hidden: Vec<(String, String)>,
}

impl Qless {
    /// Without a server.
    pub fn bare() -> Qless {
        Qless::default()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", "/nonexistent")
            // As root, completion could make a directory of that name.
            .env("XDG_CACHE_HOME", "/dev/null")
            .env("TZ", "UTC")
    }

    /// Pins the time.
    pub fn at(self, now: impl std::fmt::Display) -> Qless {
        self.env("QLESS_NOW", now.to_string())
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Qless {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Points the binary at the server of this address as a user with this password.
    pub fn with_user(self, url: &str, user: &str, password: &str) -> Qless {
        self.env("QLESS_REDIS_URL", format!("{url}?user={user}"))
            .env("QLESS_REDIS_PASSWORD", password)
    }

    /// Sets stdin; empty otherwise.
    pub fn input(mut self, bytes: impl AsRef<[u8]>) -> Qless {
        self.input = bytes.as_ref().to_vec();
        self
    }

    /// Shows a text that differs from run to run as another.
    pub fn hide(mut self, text: &str, shown: &str) -> Qless {
        self.hidden.push((text.into(), shown.into()));
        self
    }

    /// Runs `qless <line>`, the line split as a shell would.
    pub fn run(&self, line: &str) -> RunOutput {
        self.args(text::words(line))
    }

    /// Runs the commands of a session, one after the other: `$ qless <line>`, or `200 $ qless <line>` at a
    /// pinned time. Below each stands what [`RunOutput::shows`] compares, in whole lines. At the end of a
    /// command, `&>/dev/null` leaves out all but a status other than 0, `| jq -c` stands for one document
    /// on one line, without blanks between its tokens, and `| jq -c '[.done, .items[0].code]'` for a part of it
    /// ([`text::pick`]). A hidden text stands in commands as it is shown. An input is that of each command that
    /// has none of its own, as `$ printf 'a\nb' | qless <line>` has. With `# failure: FAULT | HOW` behind a command, a
    /// row of the table of failures is printed with `--nocapture` (`make failures`): what fails, how the test makes
    /// it fail, and the code and the sentence that are expected and that came.
    #[track_caller]
    pub fn session(&self, expected: Expect) {
        let mut session = String::new();
        for prompt in expected.data().lines().map(str::trim_start) {
            let Some((now, line)) = prompt.split_once("$ ") else {
                continue;
            };
            let (input, line) = match line.strip_prefix("qless ") {
                Some(line) => (None, line),
                None => match line.split_once(" | qless ") {
                    Some((input, line)) if input.starts_with("printf ") => (Some(input), line),
                    _ => continue,
                },
            };
            let (line, fault) = match line.split_once(" # failure: ") {
                Some((line, fault)) => (line, Some(fault)),
                None => (line, None),
            };
            let mut qless = match now.trim_end() {
                "" => self.clone(),
                now if now.parse::<f64>().is_ok() => self.clone().at(now),
                _ => panic!("not a command of a session: {prompt}"),
            };
            if let Some(input) = input {
                qless = qless.input(text::printf(input));
            }
            let hidden = self.hidden.iter();
            let line = &hidden.fold(line.to_owned(), |line, (hidden, shown)| {
                assert!(!shown.is_empty(), "{hidden} is hidden as nothing");
                line.replace(shown, hidden)
            });
            let block = if let Some(line) = line.strip_suffix(" &>/dev/null") {
                qless.run(line).status()
            } else if let Some((line, part)) = line.split_once(" | jq -c") {
                let ran = qless.run(line);
                let shown = match part.trim() {
                    "" => text::compact(&ran.stdout()),
                    part => text::pick(&ran.stdout(), part.trim_matches('\'')),
                };
                ran.block_with(shown + "\n")
            } else {
                qless.run(line).block()
            };
            if let Some(fault) = fault {
                let (_, told) = expected.data().split_once(prompt).unwrap();
                print_failure(fault, told, &block);
            }
            session.push_str(&format!("{prompt}\n{block}"));
            if !session.ends_with('\n') {
                session.push_str("\n--- no newline\n");
            }
        }
        assert!(!session.is_empty(), "a session has a command");
        expected.assert_eq(&session);
    }

    /// Runs with arguments that may be any bytes.
    pub fn args<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> RunOutput {
        let mut running = self.spawn(args);
        let mut stdin = running.child.stdin.take().unwrap();
        let input = self.input.clone();
        let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
        let ran = running.end();
        _ = writer.join();
        ran
    }

    /// Starts `qless <line>`, with nothing on stdin.
    pub fn start(&self, line: &str) -> Running {
        let mut running = self.spawn(text::words(line));
        drop(running.child.stdin.take());
        running
    }

    fn spawn<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().into()).collect();
        Running {
            line: format!("qless {args:?}"),
            child: self.command().args(&args).spawn().unwrap(),
            hidden: self.hidden.clone(),
        }
    }

    /// The command itself, for tests that start it themselves.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qless"));
        command
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A shell that runs a script in the same environment, in which `$0` is the binary.
    pub fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script, env!("CARGO_BIN_EXE_qless")])
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        shell
    }
}

/// Prints a row of the table of failures: the code and the sentence that are expected and that came.
fn print_failure(fault: &str, expected: &str, got: &str) {
    let told = [expected, got].map(|text| {
        let mut lines = text.lines().map(str::trim_start);
        let sentence = lines.find_map(|line| match line.strip_prefix("error: ") {
            None => line.starts_with(r#"{"kind":"error""#).then_some(line),
            sentence => sentence,
        });
        let code = lines.find_map(|line| line.strip_prefix("--- exit "));
        format!("{} {}", code.unwrap_or("0"), sentence.unwrap_or("nothing"))
    });
    println!("failure | {fault} | {} | {}", told[0], told[1]);
}

/// A run that continues while the test does something else.
pub struct Running {
    line: String,
    pub child: Child,
    hidden: Vec<(String, String)>,
}

impl Running {
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the end of the run.
    pub fn end(self) -> RunOutput {
        RunOutput {
            line: self.line,
            output: self.child.wait_with_output().unwrap(),
            hidden: self.hidden,
        }
    }
}

/// The output and status of a run.
pub struct RunOutput {
    line: String,
    output: Output,
    hidden: Vec<(String, String)>,
}

impl RunOutput {
    /// Runs a command that a test has prepared itself, with nothing on stdin.
    pub fn of(command: &mut Command) -> RunOutput {
        let output = command.stdin(Stdio::null()).output().unwrap();
        RunOutput::from(format!("{command:?}"), output)
    }

    /// Waits for the end of a process that a test has started itself.
    pub fn of_child(child: Child) -> RunOutput {
        let line = format!("process {}", child.id());
        RunOutput::from(line, child.wait_with_output().unwrap())
    }

    /// The output of a program on a terminal: all of it is stdout, with plain line ends.
    pub fn on_terminal(status: ExitStatus, written: &[u8]) -> RunOutput {
        let text = std::str::from_utf8(written).unwrap();
        let output = Output {
            status,
            stdout: text.replace("\r\n", "\n").into_bytes(),
            stderr: Vec::new(),
        };
        RunOutput::from("on a terminal".into(), output)
    }

    fn from(line: String, output: Output) -> RunOutput {
        RunOutput {
            line,
            output,
            hidden: Vec::new(),
        }
    }

    /// Compares stdout, stderr (after `--- stderr`) and a status other than 0 (`--- exit 4`) with
    /// the expected text.
    #[track_caller]
    pub fn shows(self, expected: Expect) -> RunOutput {
        expected.assert_eq(&self.block());
        self
    }

    /// Compares as [`RunOutput::shows`] does, and prints a row of the table of failures for `FAULT | HOW`.
    #[track_caller]
    pub fn fails(self, fault: &str, expected: Expect) -> RunOutput {
        print_failure(fault, expected.data(), &self.block());
        self.shows(expected)
    }

    fn block(&self) -> String {
        self.block_with(self.stdout())
    }

    fn block_with(&self, stdout: String) -> String {
        let mut block = stdout;
        if !self.output.stderr.is_empty() {
            block.push_str("--- stderr\n");
            block.push_str(&self.stderr());
        }
        block + &self.status()
    }

    /// The line for a status other than 0.
    fn status(&self) -> String {
        match self.code() {
            0 => String::new(),
            code => format!("--- exit {code}\n"),
        }
    }

    /// The status as a shell reports it: 128 + signal if a signal ended the process.
    pub fn code(&self) -> i32 {
        let status = self.output.status;
        status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
    }

    pub fn stdout(&self) -> String {
        self.shown(&self.output.stdout)
    }

    pub fn stderr(&self) -> String {
        self.shown(&self.output.stderr)
    }

    /// Stdout, byte for byte.
    pub fn bytes(&self) -> &[u8] {
        &self.output.stdout
    }

    fn shown(&self, bytes: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for (hidden, shown) in &self.hidden {
            text = text.replace(hidden, shown);
        }
        text
    }

    /// Stdout without its last newline; the run must have exited 0.
    #[track_caller]
    pub fn ok(&self) -> String {
        assert_eq!(self.code(), 0, "{}\n{}", self.line, self.block());
        self.stdout().trim_end_matches('\n').to_string()
    }

    /// The run must have exited with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> RunOutput {
        assert_eq!(self.code(), code, "{}\n{}", self.line, self.block());
        self
    }

    /// Stderr must contain this text.
    #[track_caller]
    pub fn says(&self, text: &str) -> &RunOutput {
        let said = self.stderr().contains(text);
        assert!(said, "{text}\n{}\n{}", self.line, self.block());
        self
    }

    /// The document on stdout; the run must have exited 0.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// The document on stderr.
    #[track_caller]
    pub fn error(&self) -> serde_json::Value {
        serde_json::from_str(&self.stderr()).unwrap()
    }
}
