//! The subcommands as one tree: one line for each, in the order of the list in `qless --help`.

use std::time::Duration;

use clap::{Args as _, Subcommand};

use super::{completions, help, man};
use crate::commands::*;
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

/// Aliases of commands, each with the name of its command. A subcommand declares its aliases beside its arguments.
pub(super) const ALIASES: [(&str, &str); 1] = [("resume", "unpause")];

/// The first name of a command.
pub(super) fn canonical_command_name(word: &str) -> &str {
    let known = ALIASES.iter().find(|(alias, _)| *alias == word);
    known.map_or(word, |(_, name)| name)
}

/// A subcommand as the lists of all subcommands show it.
pub(super) struct ListedCommand {
    pub name: String,
    pub group: HelpGroup,
    /// Whether the command changes something, whatever its arguments are.
    pub always_writes: bool,
}

/// Declares the tree from the modules of the subcommands.
macro_rules! subcommands {
    ($($name:ident => $module:ident,)*) => {
        // The given subcommand. A doc comment here would be the first line of the help.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($name($module::Args),)*
        }

        impl Command {
            /// How much of the config file applies: nothing, its defaults, or all of it.
            pub(super) fn applied_config(&self) -> AppliedConfig {
                match self {
                    $(Command::$name(_) => $module::SPEC.config,)*
                }
            }

            /// Whether output longer than the screen goes through the pager.
            pub(super) fn is_paged(&self) -> bool {
                match self {
                    $(Command::$name(_) => $module::SPEC.paged,)*
                }
            }

            /// Whether the subcommand may change something.
            pub(super) fn may_write(&self) -> bool {
                match self {
                    $(Command::$name(args) => ($module::SPEC.writes)(args),)*
                }
            }

            /// The interval of `--watch`.
            pub(super) fn watch_interval(&self) -> Option<Duration> {
                match self {
                    $(Command::$name(args) => ($module::SPEC.watch)(args),)*
                }
            }

            /// How the subcommand runs if the context names several prefixes or servers as one.
            pub(super) fn context_member_dispatch(&self) -> MemberDispatch<'_> {
                match self {
                    $(Command::$name(args) => ($module::SPEC.context_member_dispatch)(args),)*
                }
            }

            /// Runs the subcommand once. `--watch` repeats it.
            pub(super) fn run(&self, session: &mut Session) -> Result<Exit, Error> {
                match self {
                    $(Command::$name(args) => ($module::SPEC.run)(args.clone(), session),)*
                }
            }
        }

        /// The subcommands whose names `is_named` accepts. The others are not built: that would take longer than
        /// everything else in `qless version`.
        pub(super) fn commands_named(is_named: impl Fn(&str) -> bool) -> Vec<clap::Command> {
            let mut named = Vec::new();
            $(
                let name = stringify!($module).trim_start_matches("r#");
                if is_named(name) {
                    named.push($module::Args::augment_args(clap::Command::new(name)));
                }
            )*
            named
        }

        /// All subcommands, in the order in which `subcommands!` names them.
        pub(super) fn listed_commands() -> impl Iterator<Item = ListedCommand> {
            let commands = [$((stringify!($name), $module::SPEC.group, $module::SPEC.always_writes),)*];
            commands.into_iter().map(|(name, group, always_writes)| ListedCommand {
                name: name.to_lowercase(),
                group,
                always_writes,
            })
        }
    };
}

subcommands! {
    Status => status,
    Queues => queues,
    Jobs => jobs,
    Get => get,
    Peek => peek,
    Workers => workers,
    Stats => stats,
    Length => length,
    Key => key,
    Lag => lag,
    Explain => explain,
    Graph => graph,
    Health => health,
    Events => events,
    Wait => wait,
    Put => put,
    Recur => recur,
    Priority => priority,
    Tag => tag,
    Track => track,
    Depends => depends,
    Move => r#move,
    Promote => promote,
    Log => log,
    Failed => failed,
    Retry => retry,
    Cancel => cancel,
    Timeout => timeout,
    Fail => fail,
    Bury => bury,
    Unfail => unfail,
    Morgue => morgue,
    Check => check,
    Work => work,
    Pop => pop,
    Complete => complete,
    Heartbeat => heartbeat,
    Pause => pause,
    Unpause => unpause,
    Forget => forget,
    Config => config,
    Defaults => defaults,
    Throttle => throttle,
    Metrics => metrics,
    Web => web,
    Top => top,
    Export => export,
    Import => import,
    Doctor => doctor,
    Context => context,
    Local => local,
    Api => api,
    Script => script,
    Completions => completions,
    Man => man,
    Help => help,
    Version => version,
}
