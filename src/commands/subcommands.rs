//! The subcommands of a command, such as `list` of `qless config list`: one line for each.

use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

/// The subcommands of a command as an enum: a value is the given subcommand with its arguments.
pub(crate) trait Subcommands {
    /// Whether the subcommand may change something.
    fn writes(&self) -> bool;

    fn run(self, session: &mut Session) -> Result<Exit, Error>;
}

/// Declares the `Command` of a module: for each subcommand whether it reads or writes, its name, its arguments and the
/// function that runs it.
macro_rules! nested_subcommands {
    ($($effect:ident $name:ident($args:ty) => $run:path,)*) => {
        #[derive(Clone, Debug, clap::Subcommand)]
        enum Command {
            $($name($args),)*
        }

        impl $crate::commands::subcommands::Subcommands for Command {
            fn writes(&self) -> bool {
                match self {
                    $(Command::$name(_) => $crate::commands::subcommands::$effect,)*
                }
            }

            fn run(
                self,
                session: &mut $crate::session::Session,
            ) -> Result<$crate::exit::Exit, $crate::error::Error> {
                match self {
                    $(Command::$name(args) => $run(args, session),)*
                }
            }
        }
    };
}

pub(super) use nested_subcommands;

/// Whether a subcommand may change something: in `nested_subcommands!`, the name of one of these constants precedes
/// each subcommand.
#[allow(non_upper_case_globals)]
pub(crate) const reads: bool = false;
#[allow(non_upper_case_globals)]
pub(crate) const writes: bool = true;
