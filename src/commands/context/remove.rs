//! `qless context remove`

use super::file;
use crate::cli::shared::DryRun;
use crate::cli::value;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::Done;
use crate::settings::{Settings, edit};
use crate::view::text::clean;

/// Remove a context from the config file
///
/// Nothing happens to the server. Where it was the default one, there is none afterwards.
///
/// Example: `qless context remove staging`
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
    let mut default = is_default(file, &name);
    if args.dry.dry_run {
        cx.out.note(&format!("would remove context `{shown}`"));
    } else {
        edit::edit(&source, cx.timeout(), |file, document| {
            file.named(&name)?;
            default = is_default(file, &name);
            edit::remove(document, &name);
            if default {
                edit::set_default(document, None);
            }
            Ok(())
        })?;
        cx.out
            .note_on_terminal(&format!("removed context `{shown}`"));
    }
    if default {
        let verb = if args.dry.dry_run { "would be" } else { "is" };
        cx.out
            .note(&format!("`{shown}` was the default; there {verb} none now"));
    }
    let targets = vec![name.as_str().into()];
    cx.out
        .show(&Done::new("context remove", targets, args.dry.dry_run))?;
    Ok(Exit::Ok)
}

fn is_default(file: &Settings, name: &str) -> bool {
    let default = file.contents.default.as_ref();
    default.is_some_and(|(default, _)| default == name)
}
