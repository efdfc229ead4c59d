//! The values of `--retry-on`: after which ends of its process `qless work` retries a job.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use std::str::FromStr;

use signal_hook::low_level::signal_name;

/// One word of `--retry-on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryCause {
    /// Exit codes, without 0.
    Codes(RangeInclusive<i32>),
    /// Every exit code except 0, every signal, and the time limit.
    Any,
    /// The end of the process by the signal of this name (without `SIG`). `None` stands for every signal.
    Signal(Option<String>),
    /// The end of a process of `--persistent`, which should never end.
    Crash,
    TimeLimit,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessExit {
    Code(i32),
    /// The name of the signal that ended the process, without `SIG`, such as `KILL`. `?` if the signal has no name.
    Signal(&'static str),
}

impl RetryCause {
    /// Whether this value of `--retry-on` has a job retried whose process ended so before the job did. `was_persistent`:
    /// the process was one of `--persistent`.
    pub fn applies_to_exit(&self, exit: ProcessExit, was_persistent: bool) -> bool {
        match (self, exit) {
            (RetryCause::Codes(codes), ProcessExit::Code(code)) => codes.contains(&code),
            (RetryCause::Any, exit) => exit != ProcessExit::Code(0),
            (RetryCause::Signal(None), ProcessExit::Signal(_)) => true,
            (RetryCause::Signal(Some(known)), ProcessExit::Signal(name)) => known == name,
            (RetryCause::Crash, _) => was_persistent,
            _ => false,
        }
    }

    /// Whether this value of `--retry-on` has a job retried that ran longer than the time limit.
    pub fn applies_to_time_limit(&self) -> bool {
        matches!(self, RetryCause::Any | RetryCause::TimeLimit)
    }
}

impl ProcessExit {
    /// The failure group of a job whose process ended so before the job did.
    pub fn failure_group(self) -> String {
        match self {
            ProcessExit::Code(code) => format!("exit-{code}"),
            ProcessExit::Signal(name) => format!("signal-{name}"),
        }
    }
}

impl Display for ProcessExit {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            ProcessExit::Code(code) => write!(f, "exit code {code}"),
            ProcessExit::Signal(name) => write!(f, "signal {name}"),
        }
    }
}

impl FromStr for RetryCause {
    /// What the flag accepts: the end of the message "`--retry-on` expects …".
    type Err = &'static str;

    fn from_str(word: &str) -> Result<RetryCause, Self::Err> {
        Ok(match word {
            "any" => RetryCause::Any,
            "signal" => RetryCause::Signal(None),
            "crash" => RetryCause::Crash,
            "time-limit" => RetryCause::TimeLimit,
            word => match (parse_exit_codes(word), parse_signal(word)) {
                (Some(codes), _) => RetryCause::Codes(codes),
                (_, Some(name)) => RetryCause::Signal(Some(name)),
                (None, None) => {
                    return Err("exit codes from 1 to 255 such as `75` or `1-255`, `any`, \
                                `signal`, the name of a signal such as `KILL`, `crash` or \
                                `time-limit`");
                }
            },
        })
    }
}

/// Reads `75` or `1-255`.
fn parse_exit_codes(word: &str) -> Option<RangeInclusive<i32>> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(first) || !is_number(last) {
        return None;
    }
    let codes: RangeInclusive<i32> = first.parse().ok()?..=last.parse().ok()?;
    (*codes.start() >= 1 && *codes.end() <= 255 && !codes.is_empty()).then_some(codes)
}

/// Reads the name of a signal, such as `KILL`, `SIGKILL` or `kill`, as `KILL`. `None` for other words.
fn parse_signal(word: &str) -> Option<String> {
    let word = word.to_ascii_uppercase();
    let word = word.strip_prefix("SIG").unwrap_or(&word);
    let mut names = (1..64).filter_map(signal_name);
    let is_known = names.any(|name| name.strip_prefix("SIG") == Some(word));
    is_known.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends that a word covers, of a process that was to stay and of another one.
    fn covered(word: &str) -> [String; 2] {
        let cause: RetryCause = word.parse().unwrap();
        [true, false].map(|was_to_stay| {
            let exits = [0, 1, 75, 255].map(ProcessExit::Code).into_iter();
            let exits = exits.chain(["KILL", "?"].map(ProcessExit::Signal));
            let covered = exits.filter(|exit| cause.applies_to_exit(*exit, was_to_stay));
            let mut covered: Vec<String> = covered.map(ProcessExit::failure_group).collect();
            covered.extend(
                cause
                    .applies_to_time_limit()
                    .then(|| "time-limit".to_owned()),
            );
            covered.join(" ")
        })
    }

    #[test]
    fn each_word_covers_its_ends() {
        let signals = "signal-KILL signal-?";
        let all = format!("exit-1 exit-75 exit-255 {signals} time-limit");
        for (word, expected) in [
            ("75", "exit-75"),
            ("1-75", "exit-1 exit-75"),
            ("1-255", "exit-1 exit-75 exit-255"),
            ("any", &all),
            ("signal", signals),
            ("KILL", "signal-KILL"),
            ("sigkill", "signal-KILL"),
            ("TERM", ""),
            ("time-limit", "time-limit"),
        ] {
            assert_eq!(covered(word), [expected, expected], "{word}");
        }
        let ends = format!("exit-0 exit-1 exit-75 exit-255 {signals}");
        assert_eq!(covered("crash"), [ends.as_str(), ""]);
    }

    #[test]
    fn other_words_are_refused() {
        for word in [
            "", "0", "256", "0-5", "5-1", "1-", "-1", "+1", "1-2-3", "SIG", "SIGFOO", "9s", "Any",
        ] {
            assert!(word.parse::<RetryCause>().is_err(), "{word}");
        }
    }
}
