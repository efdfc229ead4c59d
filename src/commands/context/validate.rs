//! `qless context validate`

use std::iter;

use super::{config_file, context_item};
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::context::{Context, ContextConnectionResults};
use crate::model::list::List;
use crate::session::Session;
use crate::settings::{ConfigFile, ContextSettings};

/// Connect to the servers of contexts and report whether that works
///
/// Without a name, it tries all contexts, one after the other. For a context with `members`, it tries each of them.
///
/// Example: `qless context validate`
///
/// Exit codes: 0, 2 the config file or an address is invalid, 4 unknown context, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the context
    #[arg(value_parser = value::any_text(), add = value::CompletionKind::Contexts)]
    name: Option<String>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<ContextConnectionResults>()?;
    let contexts = match &args.name {
        Some(name) => context_and_members(name, config_file(session)?)?,
        None => config_file(session)?.contexts(),
    };
    let is_single = args.name.is_some() && contexts.len() == 1;
    if contexts.is_empty() {
        session.ui.note_to_people("no contexts");
    }
    let mut items: Vec<Context> = Vec::new();
    let mut exit = Exit::Ok;
    for context in contexts {
        let mut shown = context_item(session, config_file(session)?, &context);
        if let Some(members) = &context.values.members {
            // Each of them is a context itself, and has a line of its own.
            shown.server = Some(format!("that of {}", members.join(", ")));
            items.push(shown);
            continue;
        }
        match session.probe_server_version(&context) {
            Ok(version) => shown.server = Some(format!("Redis {version}")),
            Err(error) if is_single => return Err(error),
            Err(error) => {
                exit = Exit::Server;
                shown.error = Some(error.message().into());
            }
        }
        items.push(shown);
    }
    session
        .ui
        .show(&ContextConnectionResults(List::of_all(items)))?;
    Ok(exit)
}

/// The context with this name, and the contexts in its `members`.
fn context_and_members(name: &str, file: &ConfigFile) -> Result<Vec<ContextSettings>, Error> {
    let context = file.context_by_name(name)?;
    let members = context.values.members.clone().unwrap_or_default();
    let members = members.iter().map(|member| file.context_by_name(member));
    iter::once(Ok(context.clone())).chain(members).collect()
}
