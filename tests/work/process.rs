//! The programs of `qless work`: real ones, mostly shell scripts.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;
use qless::internals::Name;
use qless::internals::launcher::{self, ProgramArgsTemplate};
use qless::internals::process::{
    EndedProcess, Launch, OutputStream, ProcessEvent, Processes, ProgramDirectory, StartFailure,
    StdoutMode, Waker,
};
use qless::internals::work::{PoppedJob, ProcessExit};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit, test_kill_process,
};

use crate::support::text::Shows;

/// No test waits longer than this.
const DEADLINE: Duration = Duration::from_secs(60);

/// Programs in slots, and what they reported and nobody has looked at yet.
struct Programs {
    processes: Processes,
    waker: Waker,
    events: Vec<ProcessEvent>,
}

/// What a program left.
#[derive(Debug)]
struct Left {
    end: EndedProcess,
    lines: Vec<String>,
    stdout: String,
    stderr: String,
}

/// The variables that no program inherits.
const SECRETS: [&str; 5] = [
    "QLESS_REDIS_PASSWORD",
    "REDISCLI_AUTH",
    "QLESS_SENTINEL_PASSWORD",
    "QLESS_REDIS_URL",
    "QLESS_OTHER_URL",
];

impl Programs {
    fn new() -> Programs {
        Programs::with(8192, &[])
    }

    fn with(error_bytes: usize, signals: &[i32]) -> Programs {
        let secrets = SECRETS.map(Into::into);
        let (processes, waker) = Processes::new(error_bytes, signals, &secrets).unwrap();
        Programs {
            processes,
            waker,
            events: Vec::new(),
        }
    }

    /// Starts a shell script in slot 0.
    fn start(&mut self, script: &str) -> u32 {
        self.launch(0, sh(script)).unwrap()
    }

    fn launch(&mut self, slot: usize, launch: Launch<'_>) -> Result<u32, StartFailure> {
        self.processes.start(slot, launch)
    }

    /// Waits until an event fits, and returns it.
    fn until<T>(&mut self, fits: impl Fn(&ProcessEvent) -> Option<T>) -> T {
        let deadline = Instant::now() + DEADLINE;
        let mut seen = 0;
        loop {
            for event in &self.events[seen..] {
                if let Some(found) = fits(event) {
                    return found;
                }
            }
            seen = self.events.len();
            assert!(Instant::now() < deadline, "{:?}", self.events);
            self.wait(deadline);
        }
    }

    /// Waits for an event, but not beyond this time.
    fn wait(&mut self, until: Instant) {
        let waited = self
            .processes
            .wait_for_events(Some(until), &mut self.events);
        waited.unwrap();
    }

    /// Waits until a line comes that is this one.
    fn line(&mut self, expected: &str) {
        self.until(|event| match event {
            ProcessEvent::Line { line, .. } if line == expected.as_bytes() => Some(()),
            _ => None,
        });
    }

    /// Waits until the program of a slot has ended.
    fn end_of(&mut self, wanted: usize) -> Left {
        let end = self.until(|event| match event {
            ProcessEvent::Ended { slot, end } if *slot == wanted => Some(end.clone()),
            _ => None,
        });
        let mut left = Left {
            end,
            lines: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut ends = 0;
        for event in std::mem::take(&mut self.events) {
            match event {
                ProcessEvent::Line { slot, line, .. } if slot == wanted => {
                    assert_eq!(ends, 0, "a line after the end");
                    left.lines.push(text(&line));
                }
                ProcessEvent::Output {
                    slot,
                    stream,
                    bytes,
                } if slot == wanted => {
                    assert_eq!(ends, 0, "output after the end");
                    match stream {
                        OutputStream::Stdout => left.stdout += &text(&bytes),
                        OutputStream::Stderr => left.stderr += &text(&bytes),
                    }
                }
                ProcessEvent::Ended { slot, .. } if slot == wanted => ends += 1,
                other => self.events.push(other),
            }
        }
        assert_eq!(ends, 1);
        left
    }

    fn end(&mut self) -> Left {
        self.end_of(0)
    }
}

/// A shell script without input, whose stdout is passed on.
fn sh(script: &str) -> Launch<'static> {
    Launch {
        program: OsStr::new("sh"),
        args: vec!["-c".into(), script.into()],
        variables: Vec::new(),
        directory: &ProgramDirectory::Inherited,
        stdin: Vec::new(),
        keeps_stdin: false,
        stdout: StdoutMode::PassOn,
    }
}

/// Runs a shell script and returns what it left.
fn run(script: &str) -> Left {
    run_to_end(sh(script))
}

/// Runs a program and returns what it left.
fn run_to_end(launch: Launch<'_>) -> Left {
    let mut programs = Programs::new();
    programs.launch(0, launch).unwrap();
    programs.end()
}

/// The memory of this process.
fn resident_kib() -> usize {
    let text = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() / 1024
}

fn is_alive(pid: u32) -> bool {
    let pid = Pid::from_raw(pid as i32).unwrap();
    test_kill_process(pid).is_ok()
}

/// Waits until a process does not exist any more.
fn gone(pid: u32) {
    let deadline = Instant::now() + DEADLINE;
    while is_alive(pid) {
        // A zombie that its new parent has not collected yet is dead, too.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.contains(") Z ") {
            return;
        }
        assert!(Instant::now() < deadline, "process {pid} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_program_reads_its_stdin_and_its_output_is_passed_on() {
    let mut programs = Programs::new();
    let launch = Launch {
        stdin: b"{\"a\":1}".to_vec(),
        ..sh("cat; echo; echo second; echo problem >&2; printf end; exit 3")
    };
    let pid = programs.launch(0, launch).unwrap();
    assert_eq!(programs.processes.pid_in_slot(0), Some(pid));
    let left = programs.end();
    assert_eq!(programs.processes.pid_in_slot(0), None);
    assert_eq!(left.end.exit, ProcessExit::Code(3));
    assert_eq!(left.stdout, "{\"a\":1}\nsecond\nend");
    assert_eq!(left.stderr, "problem\n");
    assert_eq!(left.end.message, "problem");
    assert_eq!((left.end.data, left.end.unusable_output), (None, None));
    assert_eq!(left.lines, [""; 0]);
}

#[test]
fn output_comes_in_whole_lines_and_a_long_line_in_parts() {
    let mut programs = Programs::new();
    let script = "printf one; sleep 0.05; echo; printf 'two\\nthr'; sleep 0.05; echo ee; \
                  head -c 100000 /dev/zero | tr '\\0' x; echo";
    programs.start(script);
    programs.until(|event| matches!(event, ProcessEvent::Ended { .. }).then_some(()));
    let parts: Vec<Vec<u8>> = std::mem::take(&mut programs.events)
        .into_iter()
        .filter_map(|event| match event {
            ProcessEvent::Output { bytes, .. } => Some(bytes),
            _ => None,
        })
        .collect();
    for part in &parts {
        assert!(part.ends_with(b"\n") || part.len() > 8192, "{}", part.len());
    }
    let whole = ["one\ntwo\nthree\n", &"x".repeat(100_000), "\n"].concat();
    assert_eq!(String::from_utf8(parts.concat()).unwrap(), whole);
}

#[test]
fn lines_on_descriptor_3_are_answers() {
    let left = run(
        "echo first >&3; printf 'sec' >&3; sleep 0.05; echo ond >&3; echo >&3; \
                    printf last >&3; test $QLESS_RESULT_FD || echo none",
    );
    assert_eq!(left.lines, ["first", "second", "last"]);
    assert_eq!(left.stdout, "none\n");
}

#[test]
fn a_persistent_program_answers_line_by_line_also_on_stdout() {
    let mut programs = Programs::new();
    let launch = Launch {
        keeps_stdin: true,
        stdout: StdoutMode::Answers,
        ..sh("while read -r line; do echo \"out $line\"; echo \"three $line\" >&3; done; exit 7")
    };
    programs.launch(0, launch).unwrap();
    for word in ["a", "b"] {
        programs
            .processes
            .write_stdin(0, format!("{word}\n").into_bytes());
        programs.line(&format!("out {word}"));
        programs.line(&format!("three {word}"));
    }
    programs.processes.write_stdin(0, b"c\n".to_vec());
    programs.processes.close_stdin_when_written(0);
    let left = programs.end();
    assert_eq!(left.end.exit, ProcessExit::Code(7));
    assert_eq!(left.lines.len(), 6);
}

#[test]
fn a_line_of_more_than_16_mib_is_cut_and_the_next_one_is_whole() {
    let mut programs = Programs::new();
    programs.start("head -c 40000000 /dev/zero | tr '\\0' x >&3; echo >&3; echo next >&3");
    programs.line("next");
    programs.until(|event| matches!(event, ProcessEvent::Ended { .. }).then_some(()));
    let lines: Vec<(usize, bool)> = programs
        .events
        .iter()
        .filter_map(|event| match event {
            ProcessEvent::Line { line, is_whole, .. } => Some((line.len(), *is_whole)),
            _ => None,
        })
        .collect();
    assert_eq!(lines, [(16 << 20, false), (4, true)]);
}

#[test]
fn the_end_of_stderr_is_kept() {
    let mut programs = Programs::with(100, &[]);
    programs.start("seq 1 100000 >&2; printf 'the reason' >&2; exit 1");
    let left = programs.end();
    let message = left.end.message;
    assert_eq!(message.len(), 100);
    assert!(
        message.ends_with("\n99999\n100000\nthe reason"),
        "{message}"
    );
    assert_eq!(left.stderr.len(), 588_895 + 10);
}

#[test]
fn stdout_is_captured_up_to_a_limit() {
    for (most, data, unusable) in [
        (6, Some(&b"[1,2]"[..]), None),
        (5, None, Some("is longer than 5 bytes")),
    ] {
        let left = run_to_end(Launch {
            stdout: StdoutMode::Capture(most),
            ..sh("printf '[1,'; sleep 0.05; echo '2]'")
        });
        assert_eq!(left.end.data.as_deref(), data);
        assert_eq!(left.end.unusable_output.as_deref(), unusable);
        assert_eq!(left.stdout, "");
    }
}

#[test]
fn hundreds_of_megabytes_of_output_need_little_memory() {
    let mut programs = Programs::new();
    let script = "for to in 1 2 3; do head -c 180000000 /dev/zero >&$to; done";
    let launch = Launch {
        stdout: StdoutMode::Capture(1000),
        ..sh(script)
    };
    programs.launch(0, launch).unwrap();
    let before = resident_kib();
    let (mut most, mut count) = (0, 0);
    let end = 'ended: loop {
        programs.wait(Instant::now() + DEADLINE);
        most = most.max(resident_kib());
        for event in programs.events.drain(..) {
            match event {
                ProcessEvent::Output { bytes, .. } => count += bytes.len(),
                ProcessEvent::Ended { end, .. } => break 'ended end,
                _ => {}
            }
        }
    };
    assert_eq!(end.exit, ProcessExit::Code(0));
    assert_eq!(count, 180_000_000);
    let unusable = end.unusable_output.as_deref();
    assert_eq!(unusable, Some("is longer than 1000 bytes"));
    // The cut line has 16 MiB, and the other tests of this process run meanwhile.
    assert!(most < before + 150_000, "from {before} KiB to {most} KiB");
}

#[test]
fn a_program_need_not_read_its_stdin() {
    for script in ["exit 0", "exec <&-; sleep 0.1", "head -c 5 >/dev/null"] {
        let left = run_to_end(Launch {
            stdin: vec![b'x'; 1 << 20],
            ..sh(script)
        });
        assert_eq!(left.end.exit, ProcessExit::Code(0), "{script}");
    }
}

#[test]
fn a_program_that_reads_slowly_gets_everything() {
    let mut programs = Programs::new();
    let launch = Launch {
        stdin: vec![b'x'; 1 << 20],
        keeps_stdin: true,
        ..sh("sleep 0.1; wc -c")
    };
    programs.launch(0, launch).unwrap();
    programs.processes.write_stdin(0, vec![b'y'; 1 << 20]);
    programs.processes.close_stdin_when_written(0);
    programs.processes.write_stdin(0, b"too late".to_vec());
    assert_eq!(programs.end().stdout.trim(), (2 << 20).to_string());
}

#[test]
fn closed_descriptors_cost_no_cpu() {
    let mut programs = Programs::new();
    programs.start("exec <&- >&- 2>&- 3>&-; sleep 0.6; exit 4");
    let ticks = || {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = ticks();
    assert_eq!(programs.end().end.exit, ProcessExit::Code(4));
    let per_second = rustix::param::clock_ticks_per_second();
    assert!(ticks() - before <= per_second / 10, "{}", ticks() - before);
}

#[test]
fn a_process_that_keeps_the_pipes_does_not_delay_the_end() {
    let mut programs = Programs::new();
    programs.start("sleep 100 & echo started $! >&3; echo bye");
    let left = programs.end();
    assert_eq!(left.stdout, "bye\n");
    let pid: u32 = left.lines[0].rsplit(' ').next().unwrap().parse().unwrap();
    assert!(is_alive(pid), "nobody asked it to end");
    _ = kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL);
}

#[test]
fn a_process_that_writes_on_does_not_delay_the_end() {
    let mut programs = Programs::new();
    programs.start("yes </dev/null 3>&- 2>/dev/null & echo $! >&3");
    let left = programs.end();
    assert_eq!(left.end.exit, ProcessExit::Code(0));
    // Its stdout is closed, so it ends by itself.
    gone(left.lines[0].parse().unwrap());
}

#[test]
fn a_signal_reaches_the_whole_group() {
    let mut programs = Programs::new();
    programs.start("sleep 100 & echo $! >&3; echo ready >&3; wait");
    programs.line("ready");
    programs.processes.send_signal(0, Signal::TERM);
    let left = programs.end();
    assert_eq!(left.end.exit, ProcessExit::Signal("TERM"));
    gone(left.lines[0].parse().unwrap());
}

#[test]
fn nothing_of_a_stopped_group_outlives_its_program() {
    let mut programs = Programs::new();
    let script = "trap 'exit 0' TERM; \
                  (trap '' TERM; echo $(exec sh -c 'echo $PPID') >&3; echo ready >&3; sleep 100) & \
                  while :; do sleep 0.01; done";
    programs.start(script);
    programs.line("ready");
    programs.processes.send_signal(0, Signal::TERM);
    let left = programs.end();
    assert_eq!(left.end.exit, ProcessExit::Code(0));
    gone(left.lines[0].parse().unwrap());
}

#[test]
fn a_program_has_the_usual_actions_of_signals() {
    let left = run("grep ^SigBlk /proc/self/status; kill -PIPE $$");
    assert_eq!(left.stdout, "SigBlk:\t0000000000000000\n");
    assert_eq!(left.end.exit, ProcessExit::Signal("PIPE"));
}

#[test]
fn a_program_gets_no_descriptor_of_ours_but_that_for_answers() {
    let script = "echo /proc/self/fd/*";
    let numbers = |stdout: &str| {
        let paths = stdout.split_whitespace();
        let numbers = paths.filter_map(|path| path.strip_prefix("/proc/self/fd/")?.parse().ok());
        numbers.collect::<BTreeSet<i32>>()
    };
    // What this process has inherited itself is inherited by each program.
    let plain = Command::new("sh").arg("-c").arg(script).output().unwrap();
    let mut expected = numbers(&String::from_utf8(plain.stdout).unwrap());
    expected.insert(3);
    // The shell reads its directory by the lowest number that is free.
    let listing = |numbers: &BTreeSet<i32>| (0..).find(|number| !numbers.contains(number));
    let mut found = numbers(&run(script).stdout);
    let extra: Vec<i32> = found.difference(&expected).copied().collect();
    assert!(extra.len() <= 1, "{found:?} instead of {expected:?}");
    for number in extra {
        found.remove(&number);
        assert_eq!(Some(number), listing(&found));
    }
}

#[test]
fn programs_in_many_slots_run_at_the_same_time() {
    let mut programs = Programs::new();
    let dir = tempfile::tempdir().unwrap();
    let begun = dir.path().display();
    for slot in 0..20 {
        // Each one ends after all have begun.
        let script = format!(
            ": >{begun}/{slot}; until set -- {begun}/*; [ $# = 20 ]; do sleep 0.05; done
             echo {slot} >&3; exit {slot}"
        );
        programs.launch(slot, sh(&script)).unwrap();
    }
    for slot in (0..20).rev() {
        let left = programs.end_of(slot);
        assert_eq!(left.end.exit, ProcessExit::Code(slot as i32));
        assert_eq!(left.lines, [slot.to_string()]);
    }
}

#[test]
fn a_wait_ends_at_its_time_by_a_call_and_by_a_signal() {
    let mut programs = Programs::with(0, &[Signal::TTIN.as_raw()]);
    let begin = Instant::now();
    programs.wait(begin + Duration::from_millis(50));
    assert!(begin.elapsed() >= Duration::from_millis(50));
    assert_eq!(programs.events, []);

    let waker = programs.waker.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        waker.wake();
        waker.wake();
    });
    let late = Instant::now() + DEADLINE;
    programs.wait(late);
    thread.join().unwrap();
    assert_eq!(programs.events, [ProcessEvent::Woken]);

    // The second call may have come after the first wait.
    programs.wait(Instant::now() + Duration::from_millis(20));
    programs.events.clear();
    for _ in 0..2 {
        programs.waker.wake();
        programs.wait(late);
        kill_process(getpid(), Signal::TTIN).unwrap();
        programs.wait(late);
    }
    let signal = ProcessEvent::Signal(Signal::TTIN.as_raw());
    let both = [ProcessEvent::Woken, signal];
    assert_eq!(programs.events, [both.clone(), both].concat());
}

/// The fault of a program that does not start.
fn fault(program: impl AsRef<OsStr>) -> StartFailure {
    fault_in(program, &ProgramDirectory::Inherited)
}

fn fault_in(program: impl AsRef<OsStr>, directory: &ProgramDirectory) -> StartFailure {
    let mut programs = Programs::new();
    let launch = Launch {
        program: program.as_ref(),
        directory,
        ..sh("")
    };
    let fault = programs.launch(0, launch).unwrap_err();
    // The slot is free again.
    programs.start("exit 0");
    assert_eq!(programs.end().end.exit, ProcessExit::Code(0));
    fault
}

fn file(dir: &Path, name: &str, mode: u32, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn a_program_that_cannot_be_executed_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let plain = file(dir, "plain", 0o644, "echo");
    let bad = file(dir, "bad", 0o755, "#!/no/such/interpreter\n");
    let missing = dir.join("missing");
    let message = |program: &OsStr, why| {
        let shown = program.to_str().unwrap();
        format!("cannot start `{shown}`: {why}")
    };
    for (program, why) in [
        (OsStr::new("no-such-program"), "it is not in PATH"),
        (missing.as_os_str(), "it does not exist"),
        (plain.as_os_str(), "it is not executable"),
        (dir.as_os_str(), "it is a directory"),
    ] {
        let missing = StartFailure::Missing(message(program, why));
        assert_eq!(fault(program), missing);
    }
    let why = "the interpreter that its first line names does not exist";
    let failure = StartFailure::Program(message(bad.as_os_str(), why));
    assert_eq!(fault(&bad), failure);
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let directory = ProgramDirectory::Shared("/no/such/directory".into());
    let message =
        "cannot change to directory `/no/such/directory`: no such file or directory".to_owned();
    assert_eq!(fault_in("sh", &directory), StartFailure::Missing(message));
}

#[test]
fn arguments_that_do_not_fit_are_the_fault_of_the_job() {
    let mut programs = Programs::new();
    let long = "x".repeat(200_000);
    let too_long = "the arguments and variables of the job are longer than the system allows";
    for (argument, message) in [
        ("a\0b", "an argument or a variable of the job holds NUL"),
        (&long, too_long),
    ] {
        let launch = Launch {
            args: vec![argument.into()],
            ..sh("")
        };
        let fault = programs.launch(0, launch).unwrap_err();
        assert_eq!(fault, StartFailure::Job(message.to_owned()));
    }
}

#[test]
fn a_busy_slot_starts_nothing() {
    let mut programs = Programs::new();
    let pid = programs.start("sleep 100");
    let fault = programs.launch(0, sh("exit 0")).unwrap_err();
    assert!(matches!(fault, StartFailure::Busy(_)), "{fault:?}");
    assert_eq!(programs.processes.pid_in_slot(0), Some(pid));
    programs.processes.send_signal(0, Signal::KILL);
    programs.end();
}

#[test]
fn the_end_of_the_supervisor_ends_its_programs() {
    let mut programs = Programs::new();
    let pid = programs.start("exec sleep 100");
    drop(programs);
    gone(pid);
}

/// Set in a process that runs one test again, with an environment or limits of its own.
const INNER: &str = "TEST_OF_PROCESSES";

/// Prepares to run one test of this file again in a process of its own.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture", &format!("work::process::{test}")])
        .env(INNER, "1");
    command
}

#[test]
fn a_program_inherits_no_password() {
    if std::env::var_os(INNER).is_some() {
        let left = run("tr '\\0' '\\n' </proc/self/environ; echo end");
        assert!(left.stdout.ends_with("end\n"));
        let lines = left.stdout.lines();
        let secret: Vec<&str> = lines.filter(|line| line.contains("marker")).collect();
        assert_eq!(secret, [""; 0]);
        assert!(left.stdout.contains("REDIS_URL=redis://plain/0\n"));
        assert!(left.stdout.contains("QLESS_PREFIX=ql:\n"));
        return;
    }
    let output = again("a_program_inherits_no_password")
        .envs(SECRETS.map(|name| (name, "redis://:marker@host/0")))
        .env("QLESS_JID", "marker")
        .env("REDIS_URL", "redis://plain/0")
        .env("QLESS_PREFIX", "ql:")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_dies_with_its_supervisor() {
    if std::env::var_os(INNER).is_some() {
        let mut programs = Programs::new();
        println!("pid {}.", programs.start("exec sleep 100"));
        programs.end();
        return;
    }
    let mut supervisor = again("a_program_dies_with_its_supervisor")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(supervisor.stdout.take().unwrap()).lines();
    let pid = lines.find_map(|line| {
        let line = line.unwrap();
        let (_, pid) = line.split_once("pid ")?;
        pid.strip_suffix('.')?.parse().ok()
    });
    let pid = pid.expect("the supervisor says what it has started");
    assert!(is_alive(pid));
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    gone(pid);
}

#[test]
fn a_system_without_free_descriptors_may_have_some_later() {
    if std::env::var_os(INNER).is_some() {
        let mut programs = Programs::new();
        let count = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = count();
        let limit = Rlimit {
            current: Some(before as u64 + 20),
            ..getrlimit(Resource::Nofile)
        };
        setrlimit(Resource::Nofile, limit).unwrap();
        let mut started = 0;
        let fault = loop {
            match programs.launch(started, sh("sleep 100")) {
                Ok(_) => started += 1,
                Err(fault) => break fault,
            }
        };
        let message = "cannot start a program: too many open files".to_owned();
        assert_eq!(fault, StartFailure::Busy(message));
        assert!(started > 0);
        for slot in 0..started {
            programs.processes.send_signal(slot, Signal::KILL);
            programs.end_of(slot);
        }
        assert_eq!(count(), before, "nothing is left open");
        programs.start("exit 6");
        assert_eq!(programs.end().end.exit, ProcessExit::Code(6));
        return;
    }
    let output = again("a_system_without_free_descriptors_may_have_some_later")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Runs a shell script in the sandbox of a slot below `dir`.
fn in_sandbox(dir: &Path, slot: usize, script: &str) -> Result<Left, StartFailure> {
    let directory = ProgramDirectory::Sandbox(dir.to_owned());
    let mut programs = Programs::new();
    // What an earlier program left may still be going away, as long as the machine is busy.
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let launch = Launch {
            directory: &directory,
            ..sh(script)
        };
        match programs.launch(slot, launch) {
            Err(StartFailure::Busy(_)) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(20));
            }
            started => {
                started?;
                return Ok(programs.end_of(slot));
            }
        }
    }
}

#[test]
fn a_sandbox_is_a_directory_of_the_slot_and_empty_at_each_start() {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "1").unwrap();
    let root = dir.path().join("new/sandboxes");
    let litter = format!(
        "ls -A; basename \"$PWD\"; touch a .b -c; ln -s '{0}' link; ln '{0}/precious' hard; \
         mkdir -p d/e/f; ln -s '{0}' d/e/link; touch d/e/f/g d/e/.qless-1; mkdir .qless-1 .qless-2; \
         mkfifo fifo; mkdir -p ro/inner; touch ro/inner/x; chmod 500 ro/inner ro; \
         mkdir sealed; touch sealed/x; chmod 0 sealed",
        outside.to_str().unwrap()
    );
    assert_eq!(in_sandbox(&root, 0, &litter).unwrap().stdout, "slot-1\n");
    let other = in_sandbox(&root, 6, "pwd").unwrap();
    assert_eq!(other.end.exit, ProcessExit::Code(0));
    assert!(
        root.join("slot-1/d/e/f/g").exists(),
        "it is kept until then"
    );
    let closed = format!("{litter}; chmod 400 .");
    assert_eq!(in_sandbox(&root, 0, &closed).unwrap().stdout, "slot-1\n");
    assert_eq!(in_sandbox(&root, 0, "ls -A").unwrap().stdout, "");
    assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "1");
    let slot = fs::metadata(root.join("slot-1")).unwrap();
    assert_eq!(slot.permissions().mode() & 0o7777, 0o700);
}

#[test]
fn a_tree_that_is_deeper_than_a_path_can_say_is_removed_from_a_sandbox() {
    let dir = tempfile::tempdir().unwrap();
    in_sandbox(dir.path(), 0, "").unwrap();
    let slot = dir.path().join("slot-1");
    let open = |at: BorrowedFd, path: &Path| {
        openat(at, path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    };
    let mut inner = open(CWD, &slot);
    for _ in 0..3000 {
        mkdirat(&inner, "d", Mode::RWXU).unwrap();
        inner = open(inner.as_fd(), Path::new("d"));
    }
    assert_eq!(in_sandbox(dir.path(), 0, "ls -A").unwrap().stdout, "");
}

#[test]
fn what_an_ended_worker_has_not_removed_from_a_sandbox_is_removed_by_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    in_sandbox(dir.path(), 0, "mkdir -p a/b; touch a/c").unwrap();
    let used = dir.path().join("slot-1.used");
    fs::rename(dir.path().join("slot-1"), &used).unwrap();
    in_sandbox(dir.path(), 0, "touch d").unwrap();
    assert_eq!(in_sandbox(dir.path(), 0, "ls -A").unwrap().stdout, "");
    let begun = Instant::now();
    while used.exists() {
        assert!(begun.elapsed() < DEADLINE, "it is left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_sandbox_that_is_not_a_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let precious = dir.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("file"), "1").unwrap();
    symlink(&precious, dir.path().join("slot-1")).unwrap();
    fs::write(dir.path().join("slot-2"), "").unwrap();
    let root = dir.path().to_str().unwrap();
    for slot in [0, 1] {
        let fault = in_sandbox(dir.path(), slot, "").unwrap_err();
        let slot = format!("{root}/slot-{}", slot + 1);
        let message = format!("cannot use the sandbox `{slot}`: it is not a directory");
        assert_eq!(fault, StartFailure::Directory(message));
    }
    assert!(precious.join("file").exists());
    let fault = in_sandbox(&dir.path().join("slot-2"), 0, "").unwrap_err();
    let message = format!("cannot create the sandbox `{root}/slot-2/slot-1`: not a directory");
    assert_eq!(fault.into_message(), message);
}

#[test]
fn the_system_directory_of_another_user_is_no_sandbox() {
    if rustix::process::geteuid().is_root() {
        // Root owns nothing here that is safe to try, so a directory is given away.
        let dir = tempfile::tempdir().unwrap();
        let slot = dir.path().join("slot-1");
        fs::create_dir(&slot).unwrap();
        fs::write(slot.join("file"), "1").unwrap();
        std::os::unix::fs::chown(&slot, Some(65534), None).unwrap();
        let fault = in_sandbox(dir.path(), 0, "").unwrap_err();
        let StartFailure::Directory(message) = fault else {
            panic!("{fault:?}")
        };
        let why = ": it belongs to another user";
        assert!(message.ends_with(why), "{message}");
        assert!(slot.join("file").exists());
    } else {
        let fault = in_sandbox(Path::new("/no-such-directory"), 0, "").unwrap_err();
        assert!(matches!(fault, StartFailure::Directory(_)), "{fault:?}");
    }
}

#[test]
fn a_relative_program_is_meant_from_here_also_in_a_sandbox() {
    let dir = tempfile::tempdir().unwrap();
    let here = std::env::current_dir().unwrap();
    let script = file(dir.path(), "script", 0o755, "#!/bin/sh\npwd; echo $0\n");
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    let relative = up.join(script.strip_prefix("/").unwrap());
    let directory = ProgramDirectory::Sandbox(dir.path().join("boxes"));
    let left = run_to_end(Launch {
        program: relative.as_os_str(),
        directory: &directory,
        ..sh("")
    });
    assert!(left.stdout.contains("boxes/slot-1\n"), "{left:?}");
}

fn job() -> PoppedJob {
    PoppedJob {
        jid: Name::from("9f31c0"),
        klass: Name::from("Mail"),
        queue: Name::from("out going"),
        data: br#"{"to":"a b","n":9007199254740993,"dash":"-rf","list":[1, {"x":null}],"nul":"a\u0000b",
            "shell":"$(touch /tmp/x); `ls`","empty":"","caf\u00e9":"\u00e9","long":"LONG"}"#
            .to_vec(),
        tags: vec![Name::from("vip"), Name::from("a b,c")],
        priority: -3,
        retries: 5,
        remaining: 3,
        expires: 1763627462.114203,
        ..PoppedJob::default()
    }
}

fn filled(arguments: &[&str], job: &PoppedJob) -> Result<Vec<String>, String> {
    match ProgramArgsTemplate::parse(arguments, false)
        .unwrap()
        .fill_arguments(job)
    {
        Ok(filled) => Ok(filled
            .into_iter()
            .map(|argument| argument.into_string().unwrap())
            .collect()),
        Err(StartFailure::Job(message)) => Err(message),
        Err(fault) => panic!("{fault:?}"),
    }
}

#[test]
fn placeholders_become_values_and_stay_one_argument() {
    for (argument, value) in [
        ("{jid}", "9f31c0"),
        ("{queue}", "out going"),
        ("--klass={klass}/{jid}.x", "--klass=Mail/9f31c0.x"),
        ("{data.to}", "a b"),
        ("{data.n}", "9007199254740993"),
        ("{data.list}", r#"[1, {"x":null}]"#),
        ("{data.list.1}", r#"{"x":null}"#),
        ("{data./list/1/x}", "null"),
        ("{data.shell}", "$(touch /tmp/x); `ls`"),
        ("{data.café}", "é"),
        ("{data.empty}", ""),
        ("-{data.dash}", "--rf"),
        ("x{data.dash}", "x-rf"),
        ("{}", "{}"),
        ("{data}", "{data}"),
        ("{JID}", "{JID}"),
        ("{jid", "{jid"),
        ("{{jid}}", "{9f31c0}"),
        ("{a}{jid}{", "{a}9f31c0{"),
        ("awk '{print $1}'", "awk '{print $1}'"),
        ("", ""),
    ] {
        let filled = filled(&[argument], &job()).unwrap();
        assert_eq!(filled, [value], "{argument}");
    }
}

#[test]
fn a_value_that_cannot_be_an_argument_is_refused() {
    let mut long = job();
    long.data = format!("{{\"long\":\"{}\"}}", "x".repeat(131_072)).into_bytes();
    let mut refusals = String::new();
    for (line, job) in [
        ("{data.none}", &job()),
        ("{data.to.x}", &job()),
        ("{data.nul}", &job()),
        ("a {data.dash}", &job()),
        ("{data.empty}-x", &job()),
        ("{data.dash} --", &job()),
        ("{data.long}", &long),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let why = filled(&arguments, job).unwrap_err();
        refusals += &format!("{line}: {why}\n");
    }
    refusals.shows(expect![[r#"
        {data.none}: `{data.none}` cannot be replaced: the job's data has no such value
        {data.to.x}: `{data.to.x}` cannot be replaced: the job's data has no such value
        {data.nul}: `{data.nul}` cannot be an argument: it holds NUL
        a {data.dash}: `{data.dash}` cannot be an argument: it begins with `-`, as an option does, and there is no `--` before it
        {data.empty}-x: `{data.empty}` cannot be an argument: it begins with `-`, as an option does, and there is no `--` before it
        {data.dash} --: `{data.dash}` cannot be an argument: it begins with `-`, as an option does, and there is no `--` before it
        {data.long}: `{data.long}` cannot be an argument: it would be longer than 128 KiB
    "#]]);
    let after = ["rm", "--", "{data.dash}"];
    assert_eq!(filled(&after, &job()).unwrap()[2], "-rf");
    let allowed = ProgramArgsTemplate::parse(["{data.dash}"], true).unwrap();
    assert_eq!(allowed.fill_arguments(&job()).unwrap(), ["-rf"]);
    long.data = format!("{{\"long\":\"{}\"}}", "x".repeat(131_071)).into_bytes();
    assert_eq!(filled(&["{data.long}"], &long).unwrap()[0].len(), 131_071);
}

#[test]
fn a_longest_argument_and_its_neighbor_are_what_the_system_allows() {
    let launch = |length: usize| Launch {
        args: vec!["x".repeat(length).into()],
        program: OsStr::new("true"),
        ..sh("")
    };
    let left = run_to_end(launch(131_071));
    assert_eq!(left.end.exit, ProcessExit::Code(0));
    let fault = Programs::new().launch(0, launch(131_072)).unwrap_err();
    assert!(matches!(fault, StartFailure::Job(_)), "{fault:?}");
}

#[test]
fn a_path_that_cannot_be_read_is_refused_before_any_job() {
    let parse = |argument| ProgramArgsTemplate::parse(["a", argument], false);
    for argument in ["{data.}", "x{data.a..b}", "{data./~2}"] {
        let error = parse(argument).unwrap_err();
        assert!(error.message().contains("after `data.`"), "{argument}");
    }
    assert!(parse("{jid}").unwrap().has_placeholders());
    assert!(!parse("{x}").unwrap().has_placeholders());
}

#[test]
fn names_and_data_that_are_not_utf8_are_arguments_byte_for_byte() {
    let mut job = job();
    job.jid = Name::from(&b"\xff"[..]);
    job.data = b"{\"a\":\"caf\xe9\"}".to_vec();
    let template = ProgramArgsTemplate::parse(["{jid}", "{data.a}"], false).unwrap();
    let filled = template.fill_arguments(&job).unwrap();
    assert_eq!(filled[0].as_bytes(), b"\xff");
    assert_eq!(filled[1].as_bytes(), b"caf\xe9");
}

#[test]
fn a_program_knows_its_job_by_variables() {
    let left = run_to_end(Launch {
        variables: launcher::job_variables(&job(), &Name::from("web-1")).unwrap(),
        ..sh(
            "for name in JID QUEUE KLASS TAGS PRIORITY RETRIES_LEFT ATTEMPT WORKER RESULT_FD; \
              do eval \"echo $name = \\$QLESS_$name\"; done; echo \"$QLESS_TAGS\"",
        )
    });
    left.stdout.shows(expect![[r#"
        JID = 9f31c0
        QUEUE = out going
        KLASS = Mail
        TAGS = vip a b,c
        PRIORITY = -3
        RETRIES_LEFT = 3
        ATTEMPT = 3
        WORKER = web-1
        RESULT_FD = 3
        vip
        a b,c
    "#]]);
}

#[test]
fn a_variable_that_holds_nul_is_the_fault_of_the_job() {
    let mut job = job();
    job.tags.push(Name::from("a\0b"));
    let fault = launcher::job_variables(&job, &Name::from("w")).unwrap_err();
    let message = "`QLESS_TAGS` cannot be set: its value holds NUL".to_owned();
    assert_eq!(fault, StartFailure::Job(message));
}

fn line_of(job: &PoppedJob) -> String {
    let mut line = Vec::new();
    launcher::append_job_line(job, &mut line).unwrap();
    String::from_utf8(line).unwrap()
}

#[test]
fn a_job_is_one_line_with_its_data_as_stored() {
    let mut job = job();
    job.data = b"{ \"a\":\t[1.10,\n  2],\r\n\"b\":\"\\n\" }".to_vec();
    job.spawned_from = Some(Name::from("daily"));
    job.dependencies = vec![Name::from("x")];
    assert_eq!(
        line_of(&job),
        concat!(
            r#"{"jid":"9f31c0","queue":"out going","klass":"Mail","data":{ "a":"#,
            "\t",
            r#"[1.10,   2],  "b":"\n" },"tags":["vip","a b,c"],"priority":-3,"attempt":3,"#,
            r#""retries_left":3,"spawned_from":"daily","dependencies":["x"],"#,
            r#""expires":"2025-11-20T08:31:02.114Z","key":null,"fence":null,"payloads":null}"#,
            "\n"
        )
    );
}

#[test]
fn names_and_data_that_are_not_json_stand_in_a_line_beside_their_bytes() {
    let job = PoppedJob {
        jid: Name::from(&b"\xff"[..]),
        data: b"nan".to_vec(),
        tags: vec![Name::from(&b"t\xfe"[..])],
        ..PoppedJob::default()
    };
    assert_eq!(
        line_of(&job),
        concat!(
            r#"{"jid":"\\xff","jid_bytes":"/w==","queue":"","klass":"","data":null,"data_bytes":"bmFu","#,
            r#""tags":["t\\xfe"],"tags_bytes":["dP4="],"priority":0,"attempt":1,"retries_left":0,"#,
            r#""spawned_from":null,"dependencies":[],"expires":"1970-01-01T00:00:00.000Z","#,
            r#""key":null,"fence":null,"payloads":null}"#,
            "\n"
        )
    );
}

#[test]
fn a_line_has_lane_fence_and_payloads_as_stored() {
    let mut job = job();
    job.data = b"[]".to_vec();
    job.key = Some(Name::from("orders/c 7"));
    job.fence = Some(9_007_199_254_740_993);
    let payloads = [("{ \"v\":1.0,\n\"w\":2 }", "1536323288"), ("nan", "-0.5")];
    let payloads = payloads.map(|(data, score)| (data.as_bytes().to_vec(), score.to_owned()));
    job.payloads = payloads.to_vec();
    let line = line_of(&job);
    let (_, end) = line.split_once(r#""expires""#).unwrap();
    assert_eq!(
        end,
        concat!(
            r#":"2025-11-20T08:31:02.114Z","key":"orders/c 7","fence":9007199254740993,"#,
            r#""payloads":[[{ "v":1.0, "w":2 },1536323288],[null,-0.5]]}"#,
            "\n"
        )
    );
}
