//! `qless context remove`

use super::config_file;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::session::Session;
use crate::settings::{ConfigFile, edit};
use crate::text::Sanitized;

/// Remove a context from the config file
///
/// The server is not touched. If it was the default context, there is no default afterwards.
///
/// Example: `qless context remove staging`
///
/// Exit codes: 0, 1 the file cannot be written, 2 it is invalid, 4 unknown context.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the context
    #[arg(value_parser = value::any_text(), add = value::CompletionKind::Contexts)]
    name: String,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let name = args.name;
    let file = config_file(session)?;
    file.context_by_name(&name)?;
    let (source, shown) = (file.source.clone(), Sanitized(&name).to_string());
    let mut default = is_default(file, &name);
    if args.dry.dry_run {
        session.ui.note(&format!("would remove context `{shown}`"));
    } else {
        edit::edit_config_file(&source, session.timeout(), |file, document| {
            file.context_by_name(&name)?;
            default = is_default(file, &name);
            edit::remove_context(document, &name);
            if default {
                edit::set_default_context(document, None);
            }
            Ok(())
        })?;
        session
            .ui
            .note_to_people(&format!("removed context `{shown}`"));
    }
    if default {
        let verb = if args.dry.dry_run { "would be" } else { "is" };
        session
            .ui
            .note(&format!("`{shown}` was the default; there {verb} none now"));
    }
    let targets = vec![name.as_str().into()];
    session.ui.show_and_exit_ok(&CommandResult::new(
        "context remove",
        targets,
        args.dry.dry_run,
    ))
}

fn is_default(file: &ConfigFile, name: &str) -> bool {
    let default = file.contents.default.as_ref();
    default.is_some_and(|(default, _)| default == name)
}
