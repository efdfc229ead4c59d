//! `qless api`

use std::ffi::OsString;

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::{moment, value};
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::source::InputSource;
use crate::session::Session;
use crate::text::clean;

/// Make a call of the core by its own name
///
/// The time is filled in; the arguments are those of the core, `@FILE` and `-` (stdin) are read.
/// In `check.revert` a `-` is the core's own word for nothing, and stays one.
/// Prints the reply raw, a list one element per line. There is no check before a write, and
/// no question but in a protected context: the commands named after what they do have both.
///
/// Examples: `qless api recur.update nightly priority 5`, `qless api failed 'upload error' 0 5`,
/// `qless api check.revert ql:q:mail-work +welcome-42 +-163 -`
///
/// Exit codes: 0, 2 the core refuses the arguments, 4 no such job, 5 the state forbids it, 6 server,
/// 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The call, such as `recur.update`
    command: String,
    /// Its arguments after the time; after `--` they may begin with `-`
    #[arg(allow_negative_numbers = true)]
    args: Vec<OsString>,
    /// The time of the call, instead of the server's
    #[arg(long, value_name = "T", value_parser = moment::when)]
    now: Option<moment::When>,
}

impl Args {
    fn writes(&self) -> bool {
        let args = self.args.iter().map(|arg| arg.as_encoded_bytes());
        Call::raw(&self.command).args(args).may_write()
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(Group::Operate, Args::writes, run).unpaged();

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let writes = args.writes();
    let name = args.command.clone();
    let mut source = InputSource::default();
    let mut call = Call::raw(args.command);
    for (at, arg) in args.args.iter().enumerate() {
        let most = value::LARGEST as usize;
        call = match arg == "-" && means_nothing(&name, at) {
            true => call.arg("-"),
            false => call.arg(source.read(arg, "the argument", most)?.bytes),
        };
    }
    let now = session.begin()?;
    let now = args.now.map_or(now, |when| when.from(now));
    if writes {
        let what = format!("call `{}` on {}", clean(&name), session.destination()?);
        session.ui.confirm_protected(&what, |_| String::new())?;
    }
    let reply = session.core()?.raw(now, &call)?;
    session.ui.verbatim(&reply)?;
    Ok(Exit::Ok)
}

/// Whether a `-` as this argument is a word of the core: in each change the three behind the key.
fn means_nothing(command: &str, at: usize) -> bool {
    command == "check.revert" && !at.is_multiple_of(4)
}
