//! `qless context add`

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use crate::address;
use crate::address::ServerTarget;
use crate::args::globals::{AddressOrigin, TlsFiles};
use crate::args::plain;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::name;
use crate::session::{Session, tls};
use crate::settings::edit;
use crate::settings::values::ConfigValues;
use crate::text::Sanitized;

/// Add a context to the config file
///
/// The global flags `--redis`, `--prefix`, `--read-only` and those of TLS set the values of the
/// context. A new file is readable by its owner only. Keep the password out of the address: `--password-command`
/// or `--password-env` names its source, which is read when `qless` connects.
///
/// Examples: `qless context add prod --redis rediss://ops@redis.prod.example:6380/0 --protected
/// --label PROD --password-command pass show redis/prod`,
/// `qless context add viewer --redis redis://replica.prod.example:6379/0 --read-only`
///
/// Exit codes: 0, 1 the file cannot be written, 2 it is invalid, or no address, 5 the context
/// exists.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the context
    #[arg(value_parser = parse_context_name)]
    name: String,
    /// Ask for the label before changes; qless-config(5) lists the exceptions
    #[arg(long)]
    protected: bool,
    /// Label of the context in prompts [default: its name]
    #[arg(long, value_name = "L", value_parser = parse_context_name)]
    label: Option<String>,
    /// Program that prints the password, with its arguments
    #[arg(long, value_name = "WORD", num_args = 1.., conflicts_with = "password_env")]
    password_command: Vec<String>,
    /// Environment variable with the password
    #[arg(long, value_name = "NAME", value_parser = value::env_variable_name)]
    password_env: Option<String>,
    #[command(flatten)]
    dry: DryRunFlag,
}

fn parse_context_name(text: &str) -> Result<String, String> {
    let text = plain::strip_plain_marks(text);
    let text = text.trim();
    name::refuse_as_new_name(text.as_bytes()).map(|()| text.into())
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let Some(address) = session.globals.redis.clone() else {
        return Err(missing_address_error());
    };
    if session.globals.origin != AddressOrigin::Typed {
        return Err(missing_address_error());
    }
    let target = ServerTarget::parse(&address)?;
    if address::holds_password(&address) && io::stderr().is_terminal() {
        session
            .ui
            .warn("other users can see the password of `--redis` in the process list");
    }
    let given = session.globals.given.clone();
    tls::refuse_tls_flags_without_tls(&target, &given.tls)?;
    let prefix = session.globals.prefix.clone().filter(|_| given.prefix);
    let words = Some(args.password_command).filter(|words| !words.is_empty());
    let has_files = given.tls != TlsFiles::default();
    let tls = if has_files {
        given.tls.resolved_against(&current_dir()?)
    } else {
        given.tls
    };
    let values = ConfigValues {
        redis: Some(address),
        prefix,
        password_command: words,
        password_env: args.password_env,
        tls_ca: tls.ca,
        tls_cert: tls.cert,
        tls_key: tls.key,
        protected: args.protected.then_some(true),
        label: args.label,
        read_only: given.read_only.then_some(true),
        ..ConfigValues::default()
    };
    let file = session.file.as_ref();
    let file = file.ok_or_else(|| Error::internal("the config file was not read"))?;
    edit::refuse_existing_context(&file.contents, &args.name)?;
    let (source, shown) = (file.source.clone(), Sanitized(&args.name).to_string());
    if args.dry.dry_run {
        session.ui.note(&format!("would add context `{shown}`"));
    } else {
        edit::edit_config_file(&source, session.timeout(), |file, document| {
            edit::refuse_existing_context(&file.contents, &args.name)?;
            edit::add_context(document, &args.name, &values)
        })?;
        session.ui.note_to_people(&format!(
            "added context `{shown}` to `{}`",
            source.display_path()
        ));
        if let Some(warning) = source.read_config_file(false)?.warning {
            session.ui.warn(&warning);
        }
    }
    let targets = vec![args.name.as_str().into()];
    session.ui.show_and_exit_ok(&CommandResult::new(
        "context add",
        targets,
        args.dry.dry_run,
    ))
}

/// The current directory, from which relative paths of the command line start.
fn current_dir() -> Result<PathBuf, Error> {
    env::current_dir().map_err(|error| {
        let why = io_message_without_errno(&error);
        Error::new(
            Kind::File,
            format!("cannot find the current directory: {why}"),
        )
    })
}

fn missing_address_error() -> Error {
    Error::usage("`--redis` is missing: a context requires an address")
        .hint("`qless context add NAME --redis redis://HOST:6379`")
}
