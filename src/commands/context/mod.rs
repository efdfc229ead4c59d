//! `qless context`: named settings in the config file.

use super::subcommands::{Subcommands, nested_subcommands};
use super::{ConfigToApply, HelpGroup, Spec};
use crate::error::Error;
use crate::model::context::Context as Item;
use crate::session::Session;
use crate::settings::{ConfigFile, ContextSettings};

mod add;
mod list;
mod remove;
mod show;
mod use_;
mod validate;

/// Manage contexts: named settings in the config file
///
/// A context is the address of a server with its other settings: the prefix, the source of the
/// password, and whether it is protected or read-only. `--context NAME` or QLESS_CONTEXT chooses a
/// context. Otherwise the default context of the file applies, unless `--redis`, QLESS_REDIS_URL or
/// REDIS_URL names another server. Without a subcommand, it lists the contexts. qless-config(5) describes all
/// keys of the file.
///
/// Comments and order of the file are kept. A file that another user can change is refused. Only `validate` needs a server. `--read-only` blocks
/// none of these commands.
///
/// Examples: `qless context`, `qless --config night.toml context add night --redis local:$PWD/night`
///
/// Exit codes: 0, 2 the file is invalid, 4 unknown context, 5 the context exists, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<NestedSubcommand>,
}

nested_subcommands! {
    reads List(list::Args) => list::run,
    reads Show(show::Args) => show::run,
    writes Use(use_::Args) => use_::run,
    writes Add(add::Args) => add::run,
    writes Remove(remove::Args) => remove::run,
    reads Validate(validate::Args) => validate::run,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Operate, |args: Args, session| {
    let list = NestedSubcommand::List(list::Args {});
    args.command.unwrap_or(list).run(session)
})
.config_to_apply(ConfigToApply::Defaults);

/// The config file. Fails if a file that the user named does not exist.
fn config_file(session: &Session) -> Result<&ConfigFile, Error> {
    let file = session.file.as_ref();
    let file = file.ok_or_else(|| Error::internal("the config file was not read"))?;
    file.refuse_missing_given_file()?;
    Ok(file)
}

/// The name of the context that a command uses with the given global flags and environment variables, if any.
fn used_context_name(session: &Session, file: &ConfigFile) -> Result<Option<String>, Error> {
    let chosen = file.choose_context(&session.globals)?;
    Ok(chosen.map(|context| context.name))
}

/// The context as a document shows it.
fn context_item(session: &Session, file: &ConfigFile, context: &ContextSettings) -> Item {
    let default = file.contents.default.as_ref();
    let is_default = default.is_some_and(|(name, _)| *name == context.name);
    let used = used_context_name(session, file).ok().flatten();
    let is_used = used.as_ref() == Some(&context.name);
    context.to_document(&file.contents.defaults, is_default, is_used)
}
