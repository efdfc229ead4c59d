//! Prompts: yes or no, a word to type, a password. They require stdin and stderr to be terminals.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dialoguer::Password;
use dialoguer::console::{Key, Term};

use super::member::MemberQuestion;
use super::{Ui, is_stderr_interactive};
use crate::command_line;
use crate::consent::Consent;
use crate::error::{Error, Kind};
use crate::model::finding::FindingId;
use crate::text;
use crate::view::RenderOptions;

/// A question whose answer may have to be a word instead of `y`.
#[derive(Clone, Copy, Default)]
struct RequiredAnswer<'q> {
    /// The word that the user has to type in place of `y`.
    word: Option<&'q str>,
    /// The finding whose repair deletes keys. `None` if the question is not about a repair.
    finding: Option<&'q str>,
    /// The address of a server that `--confirm` may name instead of the label.
    address: Option<&'q str>,
}

impl RequiredAnswer<'_> {
    /// The finding whose repair would delete keys. `--yes` alone does not confirm that.
    fn finding_that_deletes_keys(&self) -> Option<&str> {
        self.finding.filter(|_| self.word.is_some())
    }
}

/// The character of Ctrl-D. If the terminal was not yet in raw mode when the user typed it, a NUL comes instead.
const END_OF_INPUT: char = '\x04';

impl Ui {
    /// Shows the plan and asks `Proceed? [y/N]`. `--yes` answers yes. `plan` is what would be done,
    /// such as `cancel 12 jobs`. `details` are shown below it. In a protected context the label
    /// must be typed, and `--yes` requires `--confirm LABEL`.
    pub(crate) fn confirm(
        &mut self,
        plan: &str,
        details: impl FnOnce(&RenderOptions) -> String,
    ) -> Result<Consent, Error> {
        self.ask_unless_answered_by_flags(plan, RequiredAnswer::default(), details)
    }

    /// Asks the user to confirm by typing `word`, such as the number of jobs. `--yes` confirms, too.
    pub(crate) fn confirm_typed(
        &mut self,
        plan: &str,
        word: &str,
        details: impl FnOnce(&RenderOptions) -> String,
    ) -> Result<Consent, Error> {
        let question = RequiredAnswer {
            word: Some(word),
            ..RequiredAnswer::default()
        };
        self.ask_unless_answered_by_flags(plan, question, details)
    }

    /// Asks before a repair. If it deletes keys that were set aside (`deleted` of them), `--yes` is not enough: the
    /// user types their number, or `--confirm` names the finding.
    pub(crate) fn confirm_repair(
        &mut self,
        plan: &str,
        deleted: u64,
        details: impl FnOnce(&RenderOptions) -> String,
    ) -> Result<Consent, Error> {
        let word = (deleted > 0).then(|| deleted.to_string());
        let question = RequiredAnswer {
            word: word.as_deref(),
            finding: Some(FindingId::LostKey.into_str()),
            ..RequiredAnswer::default()
        };
        self.ask_unless_answered_by_flags(plan, question, details)
    }

    /// Asks before a revert. `--confirm` may also name `address`, that of the server in use.
    pub(crate) fn confirm_revert(
        &mut self,
        plan: &str,
        address: &str,
        details: impl FnOnce(&RenderOptions) -> String,
    ) -> Result<Consent, Error> {
        let question = RequiredAnswer {
            address: Some(address),
            ..RequiredAnswer::default()
        };
        self.ask_unless_answered_by_flags(plan, question, details)
    }

    /// Asks only in a protected context.
    pub(crate) fn confirm_if_protected(
        &mut self,
        plan: &str,
        details: impl FnOnce(&RenderOptions) -> String,
    ) -> Result<Consent, Error> {
        if self.protected_label().is_some() {
            self.ask_unless_answered_by_flags(plan, RequiredAnswer::default(), details)
        } else {
            Ok(Consent::grant())
        }
    }

    /// Whether the flags do not confirm a change, so that it has to ask: without `--yes`, or without `--confirm` in
    /// a protected context.
    pub(crate) fn needs_question(&self) -> bool {
        !self.yes
            || self
                .protected_label()
                .is_some_and(|label| !self.is_confirm_given(label))
    }

    /// Whether `--confirm` names this word.
    pub(crate) fn is_confirm_given(&self, word: &str) -> bool {
        self.confirm.iter().any(|given| given == word)
    }

    fn is_answered_by_flags(&self, question: &RequiredAnswer) -> bool {
        match question.finding_that_deletes_keys() {
            None => !self.needs_question(),
            Some(finding) => {
                self.is_confirm_given(finding) && !(self.is_protected() && self.needs_question())
            }
        }
    }

    /// Whether prompts are possible.
    pub(crate) fn can_ask(&self) -> bool {
        !self.no_input && has_prompt_terminals()
    }

    /// Whether the context is protected. Then changes of several jobs have to be confirmed even if the jobs are
    /// named.
    pub(crate) fn is_protected(&self) -> bool {
        self.protected_label().is_some()
    }

    fn ask_unless_answered_by_flags(
        &mut self,
        plan: &str,
        question: RequiredAnswer,
        details: impl FnOnce(&RenderOptions) -> String,
    ) -> Result<Consent, Error> {
        self.refuse_confirm_of_other_context(&question)?;
        if self.is_answered_by_flags(&question) {
            return Ok(Consent::grant());
        }
        self.require_terminal_for_question(plan, &question)?;
        let text = self.plan_text(plan, details);
        let yes = match &self.member {
            Some(member) => member.ask(MemberQuestion {
                plan: text,
                word: question.word.map(str::to_owned),
            }),
            None => {
                self.write_stderr(&text);
                self.read_consent(question.word)?
            }
        };
        self.consent_or_error(yes)
    }

    /// Reads the answer to a question: the label of a protected context, else `word`, else yes or no.
    pub(super) fn read_consent(&self, word: Option<&str>) -> Result<bool, Error> {
        Ok(match self.protected_label().or(word) {
            None => {
                let answer = read_answer("Proceed? [y/N] ")?;
                answer.is_some_and(|answer| ["y", "yes"].contains(&answer.to_lowercase().trim()))
            }
            Some(word) => {
                let word = text::sanitize_to_line(word.as_bytes());
                let answer = read_answer(&format!("Type {word} to proceed: "))?;
                answer.is_some_and(|answer| answer.trim() == word.trim())
            }
        })
    }

    /// The label that the user has to type. `None` if the context is not protected.
    fn protected_label(&self) -> Option<&str> {
        let label = self.context.label.as_deref();
        label.filter(|_| self.context.protected)
    }

    /// Refuses a `--confirm` that is not the label of the context in use. A repair also accepts the name of the
    /// finding whose keys it deletes, and a revert the address of the server in use.
    fn refuse_confirm_of_other_context(&self, question: &RequiredAnswer) -> Result<(), Error> {
        let label = self.context.label.as_deref();
        let known = [label, question.finding, question.address];
        let mut given = self.confirm.iter();
        let Some(meant) = given.find(|word| !known.contains(&Some(word.as_str()))) else {
            return Ok(());
        };
        let here = match &self.context.label {
            Some(label) => format!("this is `{}`", text::sanitize_to_line(label)),
            None => "no context is in use".into(),
        };
        let meant = text::sanitize_to_line(meant);
        Err(Error::new(
            Kind::NotConfirmed,
            format!("`--confirm` says `{meant}`, but {here}; nothing was changed"),
        ))
    }

    /// The consent to a change that needs no question: of one named job, of jobs that a worker holds, or of nothing.
    pub(crate) fn consent_without_question(&self) -> Consent {
        Consent::grant()
    }

    /// Shows the plan of a dry run. No question follows.
    pub(crate) fn note_dry_run_plan(
        &mut self,
        plan: &str,
        details: impl FnOnce(&RenderOptions) -> String,
    ) {
        let text = self.plan_text(plan, details);
        self.note(text.trim_end());
    }

    fn plan_text(&self, plan: &str, details: impl FnOnce(&RenderOptions) -> String) -> String {
        let mut letters = plan.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        let plan: String = first.into_iter().chain(letters).collect();
        let details = details(&self.render_options);
        let gap = if details.is_empty() { "" } else { "\n" };
        format!("{}\n{gap}{details}{gap}", text::sanitize_to_line(plan))
    }

    /// Asks for a password on the terminal.
    pub(crate) fn ask_password(&mut self, prompt: &str) -> Result<String, Error> {
        if self.no_input || !has_prompt_terminals() {
            return Err(Error::usage("`--askpass` needs a terminal")
                .hint("set QLESS_REDIS_PASSWORD or pass `--password-file FILE`"));
        }
        run_prompt(|| {
            let ask = Password::new().with_prompt(prompt);
            ask.allow_empty_password(true).interact()
        })
    }

    fn require_terminal_for_question(
        &self,
        plan: &str,
        question: &RequiredAnswer,
    ) -> Result<(), Error> {
        if !self.can_ask() {
            Err(Error::new(
                Kind::NotConfirmed,
                format!("cannot ask whether to {plan}; nothing was changed"),
            )
            .hint(self.flags_that_answer(question)))
        } else {
            Ok(())
        }
    }

    /// The flags that would have answered.
    fn flags_that_answer(&self, question: &RequiredAnswer) -> String {
        let deletion = question
            .finding_that_deletes_keys()
            .filter(|name| !self.is_confirm_given(name));
        if let Some(name) = deletion {
            let confirm = command_line::flag_with_quoted_value("--confirm", name);
            return format!(
                "add `{confirm}`: `--yes` does not cover the deletion of what was set aside"
            );
        }
        let Some(label) = self.protected_label() else {
            return "add `--yes`".into();
        };
        let confirm = command_line::flag_with_quoted_value("--confirm", label);
        match (self.yes, self.is_confirm_given(label)) {
            (true, _) => format!("add `{confirm}`: the context is protected"),
            (false, true) => "add `--yes`".into(),
            (false, false) => format!("add `--yes {confirm}`: the context is protected"),
        }
    }

    pub(super) fn consent_or_error(&self, is_yes: bool) -> Result<Consent, Error> {
        if is_yes {
            Ok(Consent::grant())
        } else {
            Err(Error::new(
                Kind::NotConfirmed,
                "not confirmed; nothing was changed",
            ))
        }
    }
}

fn has_prompt_terminals() -> bool {
    is_stderr_interactive() && io::stdin().is_terminal()
}

/// Asks for a line on the terminal. `None` means Ctrl-D, which answers any question with no.
fn read_answer(prompt: &str) -> Result<Option<String>, Error> {
    let term = Term::stderr();
    run_prompt(|| {
        term.write_str(prompt)?;
        let answer = read_line(&term)?;
        term.write_line("")?;
        Ok::<_, io::Error>(answer)
    })
}

/// Reads a line key by key until Enter, and echoes it itself: the terminal does not echo in this mode.
fn read_line(term: &Term) -> io::Result<Option<String>> {
    let mut line = String::new();
    loop {
        match term.read_key() {
            Ok(Key::Enter) => return Ok(Some(line)),
            Ok(Key::Char(END_OF_INPUT | '\0')) => return Ok(None),
            Ok(Key::Backspace) => {
                let last = line.pop().map(String::from);
                term.clear_chars(last.map_or(0, |last| text::width(&last)))?;
            }
            Ok(Key::Char(key)) if !text::is_harmful_to_terminal(key) => {
                line.push(key);
                term.write_str(key.encode_utf8(&mut [0; 4]))?;
            }
            Ok(_) => {}
            // This error comes from a Ctrl-D that was typed before the question. It means no, too.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// Runs a prompt. If Ctrl-C ends the prompt, shows the cursor again, ends the line and fails.
fn run_prompt<T, E: Display>(prompt: impl FnOnce() -> Result<T, E>) -> Result<T, Error> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let hook = signal_hook::flag::register(signal_hook::consts::SIGINT, interrupted.clone());
    let answer = prompt();
    if let Ok(hook) = hook {
        signal_hook::low_level::unregister(hook);
    }
    if interrupted.load(Ordering::Relaxed) {
        _ = Term::stderr().show_cursor();
        _ = Term::stderr().write_line("");
        return Err(Error::new(
            Kind::Interrupted,
            "interrupted; nothing was changed",
        ));
    }
    answer.map_err(|error| {
        _ = Term::stderr().show_cursor();
        Error::new(Kind::NotConfirmed, format!("cannot ask: {error}")).hint("add `--yes`")
    })
}
