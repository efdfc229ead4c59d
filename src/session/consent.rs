//! The question whether to make a change, for commands that are not bulk commands. A dry run prints the change instead.

use std::fmt::Display;

use super::Session;
use crate::args::shared::DryRunFlag;
use crate::consent::Consent;
use crate::error::Error;
use crate::text::{comma_list, format_count};
use crate::view::RenderOptions;

/// When a change needs an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskWhen {
    Always,
    /// Only in a protected context.
    IfProtected,
}

impl AskWhen {
    /// Asks if more than one thing is changed.
    pub(crate) fn if_several(count: usize) -> AskWhen {
        if count > 1 {
            AskWhen::Always
        } else {
            AskWhen::IfProtected
        }
    }
}

impl Session {
    /// Asks the user whether to do `what`, with the details below the question. A dry run prints `would …` instead, and
    /// the result is `None`.
    pub(crate) fn ask_unless_dry_run(
        &mut self,
        dry: DryRunFlag,
        asks: AskWhen,
        what: &str,
        details: impl FnOnce(&RenderOptions) -> String,
    ) -> Result<Option<Consent>, Error> {
        if dry.dry_run {
            self.ui.note_dry_run_changes(&format!("would {what}"));
            return Ok(None);
        }
        let question = format!("{what}{}", self.on_server_text_if_labeled()?);
        match asks {
            AskWhen::Always => self.ui.confirm(&question, details),
            AskWhen::IfProtected => self.ui.confirm_if_protected(&question, details),
        }
        .map(Some)
    }

    /// As [`Session::ask_unless_dry_run`], for a change of one or more named things. The question gives their number, a
    /// dry run their names.
    pub(crate) fn ask_about_names_unless_dry_run(
        &mut self,
        dry: DryRunFlag,
        asks: AskWhen,
        verb: &str,
        (one, many): (&str, &str),
        names: &[impl Display],
    ) -> Result<Option<Consent>, Error> {
        let listed = comma_list(names);
        if dry.dry_run {
            return self
                .ask_unless_dry_run(dry, asks, &format!("{verb} {listed}"), |_| String::new());
        }
        let count = format_count(names.len() as u64, one, many);
        self.ask_unless_dry_run(dry, asks, &format!("{verb} {count}"), |_| {
            format!("  {listed}\n")
        })
    }
}
