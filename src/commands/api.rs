//! `qless api`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::{moment, value};
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::source::ByteLimit;
use crate::session::Session;
use crate::text::Sanitized;

/// Call a command of the core by its own name
///
/// `qless` supplies the time. The other arguments are those of the core; `@FILE` and `-` (stdin)
/// are read, unless they stand after `--`. In `check.revert` a `-` is an argument of the core and
/// stays as it is. Prints the reply as it is, a list with one element per line; `get` of no job
/// prints nothing. Writes are not
/// checked first, and `qless` asks only in a protected context. The subcommands check and ask.
///
/// Examples: `qless api recur.update nightly priority 5`, `qless api failed 'upload error' 0 5`,
/// `qless api check.revert ql:q:mail-work +welcome-42 +-163 -`
///
/// Exit codes: 0, 2 the core refuses the arguments, 4 a job that is to be changed does not exist, 5 the state does not allow it, 6
/// server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Command of the core, such as `recur.update`
    #[arg(value_parser = value::any_text())]
    command: String,
    /// Arguments after the time; after `--` they may begin with `-`
    #[arg(allow_negative_numbers = true)]
    args: Vec<ValueFileOrStdinArg>,
    /// Time of the call [default: the server's]
    #[arg(long, value_name = "T", value_parser = moment::parse_moment_or_delay)]
    now: Option<moment::MomentArg>,
}

impl Args {
    fn writes(&self) -> bool {
        // Do not read files or stdin here: their contents do not decide whether the call writes.
        let args = self.args.iter().map(|arg| match arg {
            ValueFileOrStdinArg::Value(arg) => arg.as_encoded_bytes(),
            ValueFileOrStdinArg::Stdin => b"-",
            ValueFileOrStdinArg::File(_) => b"@",
        });
        Call::raw_call(&self.command).args(args).may_write()
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(HelpGroup::Operate, Args::writes, run)
    .unpaged()
    .context_member_dispatch(|_| MemberDispatch::Refused("it makes one call"));

/// Maximum length of an argument: the length of the longest value that a Redis server takes.
const MAX_BYTES: ByteLimit = ByteLimit::fixed(512 << 20);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let writes = args.writes();
    let name = args.command.clone();
    let mut source = session.input();
    let mut call = Call::raw_call(args.command);
    for (at, arg) in args.args.iter().enumerate() {
        call = if *arg == ValueFileOrStdinArg::Stdin && is_dash_for_core(&name, at) {
            call.arg("-")
        } else {
            call.arg(source.read_input(arg, "the argument", MAX_BYTES)?.bytes)
        };
    }
    let now = session.connect()?;
    let now = args.now.map_or(now, |when| when.resolve(now));
    if writes {
        let what = format!(
            "call `{}` on {}",
            Sanitized(&name),
            session.server_label_and_address()?
        );
        session.ui.confirm_if_protected(&what, |_| String::new())?;
    }
    session.print_core_reply(now, &call)
}

/// Whether a `-` at this position is an argument of the core instead of stdin. `check.revert` takes a key and three
/// values per change, of which `-` means no value.
fn is_dash_for_core(command: &str, at: usize) -> bool {
    command == "check.revert" && !at.is_multiple_of(4)
}
