//! `qless context use`

use super::file;
use crate::cli::shared::DryRun;
use crate::cli::value;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::Done;
use crate::settings::edit;
use crate::view::text::clean;

/// Make a context the default one
///
/// Example: `qless context use prod`
///
/// Exit codes: 0, 1 the file cannot be written, 2 it is wrong, 4 unknown context.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The context
    #[arg(add = value::Candidates::Contexts)]
    name: String,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    let name = args.name;
    let file = file(cx)?;
    file.named(&name)?;
    let (source, shown) = (file.source.clone(), clean(&name));
    if args.dry.dry_run {
        cx.out
            .note(&format!("would make `{shown}` the default context"));
    } else {
        edit::edit(&source, cx.timeout(), |file, document| {
            file.named(&name)?;
            edit::set_default(document, Some(&name));
            Ok(())
        })?;
        cx.out
            .note_on_terminal(&format!("`{shown}` is the default context"));
    }
    let targets = vec![name.as_str().into()];
    cx.out
        .show(&Done::new("context use", targets, args.dry.dry_run))?;
    Ok(Exit::Ok)
}
