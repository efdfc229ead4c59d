//! The rooms of `qless`, and [`run`]: parse, command, report, exit code.
//!
//! A private library: it exists so that `main.rs` and the tests can reach it.
//! How a command is added is told in [`commands`].

use std::ffi::OsString;

pub mod bulk;
pub mod check;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod complete;
pub mod core;
pub mod cx;
pub mod error;
pub mod exit;
pub mod input;
pub mod model;
pub mod out;
pub mod password;
pub mod select;
pub mod settings;
pub mod stop;
pub mod submit;
pub mod view;
pub mod watch;
pub mod who;

use cli::Stop;
use clock::Clock;
use cx::Cx;
use exit::Exit;
use out::Out;

/// Runs one command line and returns the code to exit with.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(request) = complete::requested(&args) {
        return complete::run(request);
    }
    let mut cli = match cli::parse(&args) {
        Ok(cli) => cli,
        Err(stop) => return stopped(stop, &args),
    };
    let settings = match cli.command.settings(&mut cli.globals) {
        Ok(settings) => settings,
        Err(error) => return Out::new(&cli.globals).fail(&error),
    };
    let mut out = Out::new(&cli.globals);
    out.holds(settings.as_ref());
    let clock = match Clock::from_env() {
        Ok(clock) => clock,
        Err(error) => return out.fail(&error),
    };
    let mut cx = Cx::new(cli.globals, cli.typed, settings, out, clock);
    let result = commands::run(cli.command, &mut cx);
    match result.and_then(|exit| cx.out.finish().map(|()| exit)) {
        Ok(exit) => exit,
        Err(error) => cx.out.fail(&error),
    }
}

/// Tells why no command is run.
fn stopped(stop: Stop, args: &[OsString]) -> Exit {
    let mut out = Out::plain(cli::usage::format_of(args));
    match stop {
        Stop::Answer(text) => {
            if !args.iter().any(|arg| arg == "--no-pager") {
                out.page_long();
            }
            match out.text(&text).and_then(|()| out.finish()) {
                Ok(()) => Exit::Ok,
                Err(error) => out.fail(&error),
            }
        }
        Stop::Nothing(text) => {
            out.say(&text);
            Exit::Usage
        }
        Stop::Wrong(error) => out.fail(&error),
    }
}
