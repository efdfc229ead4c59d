//! The jobs of `qless work`: as they are popped, how their processes end, and the events about them.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signal_hook::low_level::signal_name;
use strum::{IntoStaticStr, VariantArray};

use super::queue::RoundedSeconds;
use crate::clock::moment::Moment;
use crate::json::cjson;
use crate::name::Name;
use crate::text::{Sanitized, format_duration_tenths_below_second};
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// A job that a worker has popped, with what a program needs to run it. Read from the reply of a pop; other fields of
/// the reply are skipped, such as the history.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct PoppedJob {
    #[serde(deserialize_with = "cjson::read_text_or_false")]
    pub jid: Name,
    #[serde(default, deserialize_with = "cjson::read_text_or_false")]
    pub klass: Name,
    #[serde(default, deserialize_with = "cjson::read_text_or_false")]
    pub queue: Name,
    /// JSON as stored, byte for byte.
    #[serde(default, deserialize_with = "cjson::read_bytes_or_false")]
    pub data: Vec<u8>,
    #[serde(default, deserialize_with = "cjson::read_texts")]
    pub tags: Vec<Name>,
    #[serde(default, deserialize_with = "cjson::read_truncated_number")]
    pub priority: i64,
    #[serde(default, deserialize_with = "cjson::read_truncated_number")]
    pub retries: i64,
    /// The retries that are left.
    #[serde(default, deserialize_with = "cjson::read_truncated_number")]
    pub remaining: i64,
    /// When the lock of the job expires, in seconds since the epoch.
    #[serde(default)]
    pub expires: f64,
    /// The recurring job that made it.
    #[serde(
        rename = "spawned_from_jid",
        default,
        deserialize_with = "cjson::read_non_empty_text"
    )]
    pub spawned_from: Option<Name>,
    #[serde(default, deserialize_with = "cjson::read_texts")]
    pub dependencies: Vec<Name>,
    /// The lane of the job.
    #[serde(default, deserialize_with = "cjson::read_non_empty_text")]
    pub key: Option<Name>,
    /// The number of this grant of the job. Each later grant of the job has a larger number. `None` without a lane and
    /// throttles.
    #[serde(default, deserialize_with = "cjson::read_truncated_number_or_null")]
    pub fence: Option<u64>,
    /// The payloads of a merge job in the order of the data. Beside each is its score, the text of a JSON number.
    #[serde(default, deserialize_with = "cjson::read_payloads_with_scores")]
    pub payloads: Vec<(Vec<u8>, String)>,
}

impl PoppedJob {
    /// Counts from 1: each retry adds one.
    pub fn attempt_number(&self) -> i64 {
        let used = self.retries.saturating_sub(self.remaining);
        used.max(0).saturating_add(1)
    }
}

/// One word of `--retry-on`: after which ends of its process a job is retried.
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
    pub fn retries_after_exit(&self, exit: ProcessExit, was_persistent: bool) -> bool {
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
    pub fn retries_after_time_limit(&self) -> bool {
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

/// What happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WorkEventKind {
    Started,
    Completed,
    /// The job went on to another queue.
    Advanced,
    Retried,
    Failed,
    /// The worker lost its lock on the job, or the job was cancelled. The worker wrote nothing.
    Lost,
    /// The worker gave up the lock without using a retry of the job.
    Released,
    /// The server's reply was lost, and the job's present state does not show whether the call changed it.
    Unknown,
}

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkEvent {
    /// When the event happened
    pub at: Moment,
    /// One of started, completed, advanced, retried, failed, lost, released, unknown
    #[schemars(with = "String")]
    pub event: WorkEventKind,
    /// The job's id
    pub jid: Name,
    /// The queue from which the job was popped
    pub queue: Option<Name>,
    /// The job's class
    pub klass: Name,
    /// The name of this worker
    pub worker: Name,
    /// 1 for the first attempt
    pub attempt: i64,
    /// Exit code of the process; null if it did not decide
    pub exit: Option<i32>,
    /// Signal that ended the process, such as KILL; else null
    pub signal: Option<String>,
    /// How long the job ran; null when it starts
    pub elapsed_s: Option<RoundedSeconds>,
    /// More about it; null if there is nothing to say
    pub message: Option<String>,
}

impl View for WorkEvent {
    const DOCUMENT: DocumentKind = DocumentKind::new::<WorkEvent>(
        "work-event",
        "What happened to a job, as lines of ndjson: work",
    );

    fn text(&self, _: &RenderOptions) -> String {
        self.event_line()
    }
}

impl WorkEvent {
    /// The line for people.
    pub(crate) fn event_line(&self) -> String {
        let mut line = format!("{:<9} {}", self.event.into_str(), self.jid);
        if let Some(queue) = &self.queue {
            line.push_str(&format!(" of {queue}"));
        }
        match (self.event, self.elapsed_s) {
            (WorkEventKind::Started, _) => {
                line.push_str(&format!(": {}", self.klass));
                if self.attempt > 1 {
                    line.push_str(&format!(", attempt {}", self.attempt));
                }
            }
            (_, Some(elapsed)) => {
                line.push_str(&format!(
                    " after {}",
                    format_duration_tenths_below_second(elapsed.0)
                ));
            }
            _ => {}
        }
        if let Some(message) = &self.message {
            line.push_str(&format!(": {}", Sanitized(message)));
        }
        line.push('\n');
        line
    }
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
            let covered = exits.filter(|exit| cause.retries_after_exit(*exit, was_to_stay));
            let mut covered: Vec<String> = covered.map(ProcessExit::failure_group).collect();
            covered.extend(
                cause
                    .retries_after_time_limit()
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
