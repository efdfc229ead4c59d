//! The stored defaults of queues, which may supply what the coordination options of a new job require.

use std::collections::{BTreeSet, HashMap};

use crate::args::coordination::unmet_requirement_text;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::json::Json;
use crate::model::coordination::{CoordinationOption, CoordinationOptions, RequiredOption};
use crate::session::Session;

/// The ending of the setting with the defaults of a queue.
const SUFFIX: &[u8] = b"-defaults";

/// The coordination options in the defaults of each queue that has defaults.
#[derive(Debug)]
struct QueueDefaults {
    by_queue: HashMap<Vec<u8>, CoordinationOptions<'static>>,
}

impl QueueDefaults {
    fn read(now: Moment, session: &mut Session) -> Result<QueueDefaults, Error> {
        let options = session.core()?.config(now)?.into_iter();
        let stored = options.filter(|option| option.set).filter_map(|option| {
            let queue = option.key.as_bytes().strip_suffix(SUFFIX)?.to_vec();
            let defaults = Json::parse(option.value.as_bytes())?;
            Some((queue, CoordinationOptions::from_stored_json(&defaults)))
        });
        let by_queue = stored.collect();
        Ok(QueueDefaults { by_queue })
    }

    /// The options that the defaults of this queue give.
    fn options_of_queue(&self, queue: &[u8]) -> CoordinationOptions<'_> {
        self.by_queue.get(queue).cloned().unwrap_or_default()
    }
}

/// Notes an option of a new job that has no effect, because neither the job nor the defaults of its queue set the `dup`
/// that the option requires. This is no error: the defaults can change between two runs of a command.
pub(crate) fn note_option_without_required_dup(
    queue: &[u8],
    given: &CoordinationOptions,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if given.first_unmet_requirement().is_none() {
        return Ok(());
    }
    let defaults = QueueDefaults::read(now, session)?;
    let defaults = defaults.options_of_queue(queue);
    if let Some((option, need @ RequiredOption::Dup(_))) =
        given.first_unmet_requirement_with_defaults(&defaults)
    {
        let why = unmet_requirement_text(given, option, need);
        session.ui.note(&format!("note: {why}: it has no effect"));
    }
    Ok(())
}

/// Checks that each option of a line has the option that it requires, in the line or in the defaults of its queue.
#[derive(Debug, Default)]
pub(super) struct RequirementCheck {
    /// Read when the first line needs them.
    defaults: Option<QueueDefaults>,
    noted: BTreeSet<CoordinationOption>,
    /// Which options have no effect, each with the first such line.
    pub notes: Vec<String>,
}

impl RequirementCheck {
    /// Refuses a line that the core would refuse: it has no key, and an option that requires one. Notes an option that
    /// has no effect, as `put` of one job does: the defaults can change between two runs of a command. `keeps_lane`
    /// says that the job may exist and then keeps its lane, so that only the core knows whether it has a key. The error
    /// is the text for the line.
    pub(super) fn check_line(
        &mut self,
        queue: &[u8],
        given: &CoordinationOptions,
        keeps_lane: bool,
        place: impl FnOnce() -> String,
        session: &mut Session,
    ) -> Result<Result<(), String>, Error> {
        let Some((option, need)) = given.first_unmet_requirement() else {
            return Ok(Ok(()));
        };
        // With an empty key, no defaults supply one.
        if given.option_value(CoordinationOption::Key) == Some(b"") {
            return Ok(Err(unmet_field_text(given, option, need)));
        }
        let defaults = match &mut self.defaults {
            Some(defaults) => defaults,
            absent => {
                let now = session.connect()?;
                absent.insert(QueueDefaults::read(now, session)?)
            }
        };
        let defaults = defaults.options_of_queue(queue);
        let Some((option, need)) = given.first_unmet_requirement_with_defaults(&defaults) else {
            return Ok(Ok(()));
        };
        let why = unmet_field_text(given, option, need);
        if !given.has_key_with_defaults(&defaults) {
            return Ok(if keeps_lane { Ok(()) } else { Err(why) });
        }
        if self.noted.insert(option) {
            self.notes
                .push(format!("{}: {why}: it has no effect", place()));
        }
        Ok(Ok(()))
    }
}

/// Which field `option` requires, in the form of a line: `` `hold` needs `key` ``.
fn unmet_field_text(
    given: &CoordinationOptions,
    option: CoordinationOption,
    need: RequiredOption,
) -> String {
    let needed = match need {
        RequiredOption::Key if given.option_value(CoordinationOption::Key).is_some() => {
            "a `key` that is not empty".to_owned()
        }
        RequiredOption::Key => "`key`".to_owned(),
        RequiredOption::Dup(word) => format!("`dup` to be `{word}`"),
    };
    format!("`{}` needs {needed}", option.into_str())
}
