//! From the arguments of the process to its exit code: parse, run, report.

use std::ffi::OsString;

use super::parse;
use super::parse::NotRun;
use super::tree::Command;
use super::{completion, members, usage};
use crate::clock::Clock;
use crate::command_line;
use crate::commands::AppliedConfig;
use crate::commands::MemberDispatch;
use crate::commands::health;
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
    let settings = match cli.command.applied_config() {
        AppliedConfig::Nothing => Ok(None),
        AppliedConfig::Defaults => {
            settings::read_config_and_fill(&mut cli.globals, false).map(Some)
        }
        AppliedConfig::Whole => settings::read_config_and_fill(&mut cli.globals, true).map(Some),
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
    session.ui.print_lost_output();
    match result {
        Ok(Exit::Ok) => unlisted,
        Ok(exit) => exit,
        Err(error) => {
            let error = nothing::with_not_found_hint(error, &mut session);
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
            match ui
                .print_text(&text)
                .and_then(|()| ui.flush_stdout_and_wait_for_pager())
            {
                Ok(()) => Exit::Ok,
                Err(error) => ui.report_error(&error),
            }
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
    match ui
        .print_text(&line)
        .and_then(|()| ui.flush_stdout_and_wait_for_pager())
    {
        Ok(()) => exit,
        Err(error) => ui.report_error(&error),
    }
}
