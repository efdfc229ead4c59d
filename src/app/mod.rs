//! The program as a whole: from the arguments of the process to its exit code, and the subcommands as one tree. Below it:
//! parsing, help, completions, manual pages. Nothing else imports `commands/`.

pub(crate) mod completion;
pub(crate) mod completions;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod man;
mod members;
pub(crate) mod parse;
pub(crate) mod suggestion;
pub(crate) mod usage;

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args as _, Subcommand};

use self::parse::NotRun;
use crate::clock::Clock;
use crate::command_line;
use crate::commands::*;
use crate::error::Error;
use crate::exit::Exit;
use crate::select::nothing;
use crate::session::{Session, context_label};
use crate::settings;
use crate::settings::{ConfigFile, ContextSettings};
use crate::text::Sanitized;
use crate::ui::Ui;
use crate::watch;

/// Runs one command line and returns the code to exit with.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(request) = completion::completion_args(&args) {
        return completion::run(request);
    }
    let mut cli = match parse::parse(&args) {
        Ok(cli) => cli,
        Err(stop) => return report_not_run(stop, &args),
    };
    command_line::set_destination_flags_of_process(std::mem::take(
        &mut cli.globals.given.destination,
    ));
    let settings = match cli.command.config_to_apply() {
        ConfigToApply::Nothing => Ok(None),
        ConfigToApply::Defaults => {
            settings::read_config_and_fill(&mut cli.globals, false).map(Some)
        }
        ConfigToApply::Whole => settings::read_config_and_fill(&mut cli.globals, true).map(Some),
    };
    let mut ui = Ui::new(&cli.globals);
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => return report_error(&error, &args, &mut ui),
    };
    if let Some(settings) = &settings {
        set_context_and_print_warnings(settings, cli.command.may_write(), &mut ui);
    }
    let clock = match Clock::from_env() {
        Ok(clock) => clock,
        Err(error) => return report_error(&error, &args, &mut ui),
    };
    let mut session = Session::new(cli.globals, cli.command_text, settings, ui, clock);
    let result = run_subcommand(&cli.command, &mut session);
    let unlisted = session.ui.left_out_jids_error(cli.command.may_write());
    let unlisted = session.ui.report_if_incomplete(unlisted);
    let result =
        result.and_then(|exit| session.ui.flush_stdout_and_wait_for_pager().map(|()| exit));
    let result = match session.ui.lost_output_error() {
        Some(lost) => result.and(Err(lost)),
        None => result,
    };
    session.ui.print_lost_output_to_stderr();
    match result {
        Ok(Exit::Ok) => unlisted,
        Ok(exit) => exit,
        Err(error) => {
            let error = nothing::with_mistaken_jid_or_prefix_hint(error, &mut session);
            report_error(&error, &args, &mut session.ui)
        }
    }
}

/// Gives the context in use to the prompts, and reports warnings about the config file. Before a command that writes,
/// prints a note if the server belongs to a protected context that was not given.
fn set_context_and_print_warnings(settings: &ConfigFile, command_writes: bool, ui: &mut Ui) {
    let protected_by = settings.protecting_context();
    ui.set_context(context_label(settings));
    let read_only = |context: &ContextSettings| context.values.read_only == Some(true);
    if let (true, Some(by)) = (command_writes, protected_by)
        && settings.members.is_none()
        && settings.protecting.contains(by)
        && !settings.protecting.iter().any(read_only)
    {
        let name = Sanitized(&by.name);
        ui.note(&format!(
            "note: this is the server of context `{name}`, which is protected"
        ));
    }
    if let Some(warning) = &settings.warning {
        ui.warn(warning);
    }
    if let (true, Some(summary)) = (ui.is_verbose(), &settings.summary) {
        ui.write_stderr(&format!("  {summary}\n"));
    }
}

fn run_subcommand(command: &Command, session: &mut Session) -> Result<Exit, Error> {
    let (writes, watch) = (command.may_write(), command.watch_interval());
    session.changes = writes;
    if writes && watch.is_some() {
        return Err(Error::usage(
            "`--watch` repeats only commands that change nothing",
        ));
    }
    // `top` and `web` do not refuse a read-only server: they offer no changes there.
    let is_view = matches!(command.context_member_dispatch(), MemberDispatch::Apart);
    if writes && !is_view {
        session.require_writable(&format!("`qless {}`", session.command_name()))?;
        session.ui.continue_if_stdout_fails();
    }
    let members = session.file.as_mut().and_then(|file| file.members.take());
    let run_once = |session: &mut Session| match &members {
        Some(members) => members::run(command, members, session),
        None => command.run(session),
    };
    if let Some(every) = watch {
        return watch::run_repeatedly(every, session, run_once);
    }
    if !writes && !session.globals.no_pager && command.is_paged() {
        session.ui.page_long_output();
    }
    run_once(session)
}

/// Reports why no command runs.
fn report_not_run(stop: NotRun, args: &[OsString]) -> Exit {
    let mut ui = Ui::without_globals(usage::requested_output_format(args));
    match stop {
        NotRun::Help(text) => {
            if !args.iter().any(|arg| arg == "--no-pager") {
                ui.page_long_output();
            }
            print_and_flush(&text, Exit::Ok, &mut ui)
        }
        NotRun::NoCommand(text) => {
            ui.write_stderr(&text);
            Exit::Usage
        }
        NotRun::Invalid(error) => report_error(&error, args, &mut ui),
    }
}

/// Reports why a command failed. `health --nagios` reports the error in its line on stdout, even if its arguments are
/// wrong: their usual exit code 2 would mean CRITICAL to the monitoring system.
fn report_error(error: &Error, args: &[OsString], ui: &mut Ui) -> Exit {
    if !usage::asks_for_nagios_line(args) {
        let with_hint = usage::with_detached_value_hint(error, args);
        return ui.report_error(with_hint.as_ref().unwrap_or(error));
    }
    let (line, exit) = health::nagios_failure(error);
    print_and_flush(&line, exit, ui)
}

/// Writes text to stdout. The result is `exit`, or the exit code of a failed write.
fn print_and_flush(text: &str, exit: Exit, ui: &mut Ui) -> Exit {
    let printed = ui.print_text(text);
    match printed.and_then(|()| ui.flush_stdout_and_wait_for_pager()) {
        Ok(()) => exit,
        Err(error) => ui.report_error(&error),
    }
}

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
            pub(super) fn config_to_apply(&self) -> ConfigToApply {
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
        pub(super) fn all_subcommands() -> impl Iterator<Item = ListedCommand> {
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
