//! `qless context use`

use super::config_file;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::session::Session;
use crate::settings::edit;
use crate::text::Sanitized;

/// Make a context the default
///
/// Example: `qless context use prod`
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
    if args.dry.dry_run {
        session
            .ui
            .note(&format!("would make `{shown}` the default context"));
    } else {
        edit::edit_config_file(&source, session.timeout(), |file, document| {
            file.context_by_name(&name)?;
            edit::set_default_context(document, Some(&name));
            Ok(())
        })?;
        session
            .ui
            .note_to_people(&format!("`{shown}` is the default context"));
    }
    let targets = vec![name.as_str().into()];
    session.ui.show_and_exit_ok(&CommandResult::new(
        "context use",
        targets,
        args.dry.dry_run,
    ))
}
