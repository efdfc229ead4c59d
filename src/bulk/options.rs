//! The options of a bulk action: everything that is known before there is a connection.

use std::collections::HashSet;

use super::ledger::{Ledger, LedgerHead};
use crate::args::format::Format;
use crate::args::shared::BulkFlags;
use crate::error::Error;
use crate::model::bulk::ItemResult;
use crate::model::bulk::Verb;
use crate::model::jid_list;
use crate::model::rate::MaxRate;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;

/// Maximum length of a note in the core, in bytes.
const LONGEST_NOTE: usize = 4096;

/// A verb with the options from its flags.
#[derive(Debug)]
pub(crate) struct BulkOptions {
    pub verb: &'static Verb,
    pub dry_run: bool,
    pub rate: Option<MaxRate>,
    pub fail_fast: bool,
    pub require_match: bool,
    /// The number of replicas that must confirm each slice before the next one begins.
    pub replicas: Option<u64>,
    /// The note that each changed job gets in its history.
    pub note: Vec<u8>,
    /// `--report`
    pub ledger: Option<Ledger>,
    /// The jobs that an earlier run with the same report has done.
    pub already_done: HashSet<Name>,
}

impl BulkOptions {
    /// Reads the flags, and the report of an earlier run.
    pub(crate) fn new(
        session: &Session,
        verb: &'static Verb,
        flags: &BulkFlags,
    ) -> Result<BulkOptions, Error> {
        session.ui.require_format(if verb.raw {
            &[Format::Jid, Format::Raw]
        } else {
            &[Format::Jid]
        })?;
        let note = actor::history_note(verb.word, flags.reason.as_ref());
        if note.len() > LONGEST_NOTE {
            let max_bytes =
                LONGEST_NOTE - (note.len() - flags.reason.as_ref().map_or(0, byte_length));
            return Err(Error::usage(format!(
                "`--reason` is too long; the maximum is {max_bytes} bytes"
            )));
        }
        let mut already_done = HashSet::new();
        let ledger = match &flags.report {
            Some(path) => {
                let head = LedgerHead::new("report", session)?;
                let take = |line: &[u8]| jid_if_done(line).map(|jid| already_done.extend(jid));
                Some(Ledger::open(
                    &session.member_file_path(path),
                    head,
                    flags.dry_run,
                    take,
                )?)
            }
            None => None,
        };
        Ok(BulkOptions {
            verb,
            dry_run: flags.dry_run,
            rate: flags.rate,
            fail_fast: flags.fail_fast,
            require_match: flags.require_match,
            replicas: flags.replicas.wait_replicas,
            note,
            ledger,
            already_done,
        })
    }

    /// Whether an earlier run of the same command began the report.
    pub(crate) fn continues_earlier_report(&self) -> bool {
        self.ledger
            .as_ref()
            .is_some_and(Ledger::continues_earlier_run)
    }
}

fn byte_length(reason: &Name) -> usize {
    reason.as_bytes().len()
}

/// The jid of a line, if the job was done.
fn jid_if_done(line: &[u8]) -> Result<Option<Name>, String> {
    #[derive(serde::Deserialize)]
    struct OutcomeLine {
        result: String,
    }
    let fields: OutcomeLine = match serde_json::from_slice(line) {
        Ok(fields) => fields,
        Err(_) => return Err("this is not the outcome of a job".to_string()),
    };
    if fields.result == ItemResult::Done.into_str() {
        jid_list::read_jid_line(line)
    } else {
        Ok(None)
    }
}
