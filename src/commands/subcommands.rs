//! Declares the subcommands of a command, such as `list` of `qless config list`, with one line for each.

use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

/// The trait of an enum of a command's subcommands. A value of the enum is the given subcommand with its arguments.
pub(crate) trait Subcommands {
    /// Whether the subcommand may change data on the server, or the config file.
    fn writes(&self) -> bool;

    fn run(self, session: &mut Session) -> Result<Exit, Error>;
}

/// Declares the enum `NestedSubcommand` of a module. A line gives `reads` or `writes`, then the name of a subcommand,
/// the type of its arguments and the function that runs it.
macro_rules! nested_subcommands {
    ($($effect:ident $name:ident($args:ty) => $run:path,)*) => {
        #[derive(Clone, Debug, clap::Subcommand)]
        enum NestedSubcommand {
            $($name($args),)*
        }

        impl $crate::commands::subcommands::Subcommands for NestedSubcommand {
            fn writes(&self) -> bool {
                match self {
                    $(NestedSubcommand::$name(_) => $crate::commands::subcommands::$effect,)*
                }
            }

            fn run(
                self,
                session: &mut $crate::session::Session,
            ) -> Result<$crate::exit::Exit, $crate::error::Error> {
                match self {
                    $(NestedSubcommand::$name(args) => $run(args, session),)*
                }
            }
        }
    };
}

pub(super) use nested_subcommands;

/// The words `reads` and `writes` in `nested_subcommands!` are the names of these constants: whether a subcommand may
/// change something.
#[allow(non_upper_case_globals)]
pub(crate) const reads: bool = false;
#[allow(non_upper_case_globals)]
pub(crate) const writes: bool = true;
