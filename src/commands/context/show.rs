//! `qless context show`

use super::{config_file, context_item, used_context_name};
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::context::{Context, ContextsInFull};
use crate::model::list::List;
use crate::session::Session;
use crate::text::Sanitized;

/// Show a context: address, prefix, source of the password, files of TLS, protection
///
/// Without a name, it shows the context in use.
///
/// Example: `qless context show`
///
/// Exit codes: 0, 2 the config file is invalid, 4 unknown context.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the context
    #[arg(value_parser = value::any_text(), add = value::CompletionKind::Contexts)]
    name: Option<String>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<ContextsInFull>()?;
    let file = config_file(session)?;
    let name = match args.name {
        Some(name) => Some(name),
        None => used_context_name(session, file)?,
    };
    let Some(name) = name else {
        let error = Error::not_found("no context is in use");
        return Err(error.hint(match &file.contents.default {
            Some((default, _)) => format!(
                "the address of the flag or of the environment is not that of the default context \
                 `{}`",
                Sanitized(default)
            ),
            None => "name one, or make one the default: `qless context use NAME`".to_owned(),
        }));
    };
    let shown: Context = context_item(session, file, &file.context_by_name(&name)?);
    session
        .ui
        .show_and_exit_ok(&ContextsInFull(List::of_all(vec![shown])))
}
