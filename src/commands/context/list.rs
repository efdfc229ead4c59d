//! `qless context list`

use super::{config_file, context_item};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::context::Context;
use crate::model::list::List;
use crate::session::Session;

/// List the contexts
///
/// `*` marks the context in use. Passwords are not shown.
///
/// Example: `qless context list -o json`
///
/// Exit codes: 0, 2 the config file is invalid.
#[derive(Clone, Debug, clap::Args)]
#[command(visible_alias = "ls")]
pub(super) struct Args {}

pub(super) fn run(_: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<List<Context>>()?;
    let file = config_file(session)?;
    let contexts = file.contexts();
    let items: Vec<Context> = contexts
        .iter()
        .map(|context| context_item(session, file, context))
        .collect();
    if items.is_empty() {
        session.ui.note_to_people("no contexts");
        session
            .ui
            .hint("`qless context add NAME --redis URL` makes one");
    }
    session.ui.show_and_exit_ok(&List::of_all(items))
}
