//! Prompts: yes or no, a word to type, a password. They need stdin and stderr to be terminals.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dialoguer::console::Term;
use dialoguer::{Confirm, Input, Password};

use super::{Out, watched};
use crate::error::{Error, Kind};
use crate::view::{Page, text};

/// The operator's yes: what destructive calls take. Only this room makes one.
#[derive(Clone, Copy, Debug)]
pub struct Consent(());

impl Out {
    /// Asks `Proceed? [y/N]` after the plan; `--yes` is a yes. `plan` says what would be done,
    /// such as `cancel 12 jobs`; `details` are shown below it.
    pub fn confirm(
        &mut self,
        plan: &str,
        details: impl FnOnce(&Page) -> String,
    ) -> Result<Consent, Error> {
        if self.yes {
            return Ok(Consent(()));
        }
        self.propose(plan, details)?;
        let answer = asking(|| {
            let ask = Confirm::new().with_prompt("Proceed?").default(false);
            ask.wait_for_newline(true).interact()
        })?;
        self.answered(answer)
    }

    /// Asks to type a word, such as the number of jobs; `--yes` is a yes.
    pub fn confirm_typed(
        &mut self,
        plan: &str,
        word: &str,
        details: impl FnOnce(&Page) -> String,
    ) -> Result<Consent, Error> {
        if self.yes {
            return Ok(Consent(()));
        }
        self.propose(plan, details)?;
        let prompt = format!("Type {} to proceed", text::clean(word.as_bytes()));
        let typed: String = asking(|| {
            Input::new()
                .with_prompt(prompt)
                .allow_empty(true)
                .interact_text()
        })?;
        self.answered(typed.trim() == word)
    }

    /// The yes to what needs no question: one job that was named.
    pub fn named(&self) -> Consent {
        Consent(())
    }

    /// Shows what would be done, if somebody is there to be asked.
    fn propose(&mut self, plan: &str, details: impl FnOnce(&Page) -> String) -> Result<(), Error> {
        self.may_ask(plan)?;
        let mut letters = plan.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        let plan: String = first.into_iter().chain(letters).collect();
        let details = details(&self.page);
        let gap = if details.is_empty() { "" } else { "\n" };
        self.say(&format!("{}\n{gap}{details}{gap}", text::clean(plan)));
        Ok(())
    }

    /// Asks for a password on the terminal.
    pub fn password(&mut self, prompt: &str) -> Result<String, Error> {
        if self.no_input || !promptable() {
            return Err(Error::usage("`--askpass` needs a terminal")
                .hint("set QLESS_REDIS_PASSWORD or pass `--password-file FILE`"));
        }
        asking(|| {
            let ask = Password::new().with_prompt(prompt);
            ask.allow_empty_password(true).interact()
        })
    }

    fn may_ask(&self, plan: &str) -> Result<(), Error> {
        match self.no_input || !promptable() {
            true => Err(Error::new(
                Kind::NotConfirmed,
                format!("cannot ask whether to {plan}; nothing was changed"),
            )
            .hint("add `--yes`")),
            false => Ok(()),
        }
    }

    fn answered(&self, yes: bool) -> Result<Consent, Error> {
        match yes {
            true => Ok(Consent(())),
            false => Err(Error::new(
                Kind::NotConfirmed,
                "not confirmed; nothing was changed",
            )),
        }
    }
}

fn promptable() -> bool {
    watched() && io::stdin().is_terminal()
}

/// Runs a prompt. dialoguer hides the cursor and leaves it so when Ctrl-C ends the prompt.
fn asking<T>(prompt: impl FnOnce() -> dialoguer::Result<T>) -> Result<T, Error> {
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
