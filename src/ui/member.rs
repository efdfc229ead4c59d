//! The streams of a command on one of several members. Its results, notes and questions go to the command as a
//! whole (`app/members`), which joins those of all members.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};

use super::Ui;
use crate::args::format::Format;
use crate::consent::Consent;
use crate::error::Error;
use crate::exit::Exit;
use crate::json::Json;
use crate::text::Sanitized;
use crate::view::{ViewOutput, json};

/// A text for stderr, preceded by the name of the member that it is from.
pub(crate) fn label_with_member(member: &str, text: &str) -> String {
    let member = Sanitized(member.trim_end_matches(':'));
    format!("{member}: {text}")
}

#[derive(Debug)]
pub(crate) enum MemberMessage {
    ViewOutput(ViewOutput),
    /// Output that is not a [`ViewOutput`], such as the core's own reply.
    Bytes(Vec<u8>),
    /// Text for stderr.
    Note(Vec<u8>),
    /// A request to flush stdout. The command as a whole drops this sender when that is done, for which the member
    /// waits.
    Flush(Sender<()>),
    /// A question, which waits for its answer.
    Question(MemberQuestion),
    /// The member found its part of the input valid, and waits until all other members have said so of theirs.
    Ready,
    /// The command of the member is a dry run.
    DryRun,
    /// The member is done.
    Ended(Result<Exit, Error>),
}

/// A question about a change on one member.
#[derive(Debug)]
pub(crate) struct MemberQuestion {
    /// The changes to be confirmed, such as `cancel 12 jobs`.
    pub plan: String,
    /// The word that the user has to type, such as the number of jobs. `None` if yes or no is enough.
    pub word: Option<String>,
}

/// The sender of a member's messages to the command as a whole.
#[derive(Clone, Debug)]
pub(crate) struct MemberSender {
    /// The position of the member in the list.
    pub index: usize,
    pub to: Sender<(usize, MemberMessage)>,
}

impl MemberSender {
    pub(crate) fn send(&self, message: MemberMessage) {
        // Ignore a failure: the command as a whole has ended and dropped the receiver.
        _ = self.to.send((self.index, message));
    }
}

/// The streams of a command on one of several members: the channel for its output and the channel for answers to
/// its questions.
pub(crate) struct MemberStreams {
    pub sender: MemberSender,
    pub answers: Receiver<bool>,
    /// The heading of the table column that names the member. `--columns` and `--sort` accept it.
    pub heading: &'static str,
    /// Set when the command as a whole cannot write to stdout any more.
    pub stdout_lost: Arc<AtomicBool>,
}

impl MemberStreams {
    /// Asks, together with the other members.
    pub(super) fn ask(&self, question: MemberQuestion) -> bool {
        self.sender.send(MemberMessage::Question(question));
        self.answers.recv().unwrap_or(false)
    }
}

impl Ui {
    /// Waits until all members have validated their parts of the input. The result is whether all parts are valid.
    pub(crate) fn await_all_parts_valid(&self) -> bool {
        let Some(member) = &self.member else {
            return true;
        };
        member.sender.send(MemberMessage::Ready);
        member.answers.recv().unwrap_or(false)
    }

    /// Asks one question for the changes on several members, after it has shown the plans of all.
    pub(crate) fn confirm_for_members(
        &mut self,
        questions: &[(&str, MemberQuestion)],
    ) -> Result<Consent, Error> {
        for (member, question) in questions {
            let text = label_with_member(member, &question.plan);
            self.write_stderr(&text);
        }
        // If members require a number to be typed, the user types the sum of their numbers.
        let words = questions
            .iter()
            .filter_map(|(_, question)| question.word.as_ref());
        let words: Vec<&String> = words.collect();
        let sum: u64 = words
            .iter()
            .filter_map(|word| word.parse::<u64>().ok())
            .sum();
        let word = (!words.is_empty()).then(|| sum.to_string());
        let yes = self.read_consent(word.as_deref())?;
        self.consent_or_error(yes)
    }

    /// Remembers that the command changes nothing, because it is a dry run or finds nothing to change.
    pub(crate) fn mark_nothing_changed(&mut self) {
        self.is_unchanged = true;
    }

    /// A result without items, in the output format.
    pub(crate) fn empty_result(&self) -> ViewOutput {
        match self.format {
            Format::Ndjson => ViewOutput::Lines(Vec::new()),
            Format::Jid => ViewOutput::Jids(Vec::new()),
            Format::Json => ViewOutput::Document(b"{\"items\":[]}".to_vec()),
            Format::Table | Format::Raw => ViewOutput::JobText(String::new()),
        }
    }

    /// Shows what the members show together.
    pub(crate) fn show_joined(&mut self, shown: ViewOutput) -> Result<(), Error> {
        match shown {
            ViewOutput::Document(bytes) if self.ticks => match Json::parse(&bytes) {
                Some(json) => {
                    let line = json::compact_line(&json).map_err(Error::internal)?;
                    self.write_bytes(&line)
                }
                None => self.write_bytes(&bytes),
            },
            shown => self.write_output(shown),
        }
    }
}
