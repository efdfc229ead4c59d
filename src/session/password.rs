//! Finds the password for the server. Its sources, in this order, are `--password-file`, `--askpass`,
//! QLESS_REDIS_PASSWORD, REDISCLI_AUTH, the context, and the address. No flag has a password as its value. Sentinels
//! have their own user and password, from the environment.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader, IsTerminal};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::secrets;
use crate::address::secret::Secret;
use crate::address::{Address, ServerTarget, variables};
use crate::args::globals::{AddressOrigin, Globals};
use crate::env;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::input::secret_file;
use crate::settings::ContextSettings;
use crate::text;
use crate::text::Sanitized;
use crate::threads;
use crate::ui::Ui;

/// What errors call the file of `--password-file`.
const PASSWORD_FILE: &str = "password file";

/// Maximum run time of a `password-command`.
const MAX_PROGRAM_TIME: Duration = Duration::from_secs(10);

/// Finds the password and sets it in `target`. For Sentinels, also sets their user and password.
pub(crate) fn fill_password(
    target: &mut ServerTarget,
    globals: &Globals,
    context: Option<&ContextSettings>,
    ui: &mut Ui,
) -> Result<(), Error> {
    let is_given = globals.origin == AddressOrigin::Typed;
    if is_given && target.password.is_some() && io::stderr().is_terminal() {
        ui.warn("other users can see a password in `--redis` in the process list");
    }
    if let Some(given) = find_password(globals, target, context, ui)? {
        target.password = Some(given);
    }
    if let Address::Sentinel(sentinels) = &mut target.address {
        let user = env::nonempty_var(variables::SENTINEL_USER);
        sentinels.user = user.map(|user| user.to_string_lossy().into_owned());
        let password = env::nonempty_var(variables::SENTINEL_PASSWORD);
        sentinels.password = password.map(|password| Secret::new(password.into_vec()));
    }
    Ok(())
}

fn find_password(
    globals: &Globals,
    target: &ServerTarget,
    context: Option<&ContextSettings>,
    ui: &mut Ui,
) -> Result<Option<Secret>, Error> {
    if let Some(path) = &globals.password_file {
        return read_password_file(path, ui).map(Some);
    }
    if globals.askpass {
        let shown = target.clone().with_user_shown();
        let password = ui.ask_password(&format!("Password for {shown}"))?;
        return Ok(Some(Secret::new(password.into_bytes())));
    }
    if let Some(found) = password_from_environment() {
        return Ok(Some(Secret::new(found.into_vec())));
    }
    match context {
        // An address from a flag or the environment keeps its own password: the context's password is for the context's
        // address.
        Some(_) if globals.origin != AddressOrigin::File && target.has_password() => Ok(None),
        Some(context) => password_from_command_or_variable(context, target),
        None => Ok(None),
    }
}

pub(crate) fn password_from_environment() -> Option<OsString> {
    variables::PASSWORDS.into_iter().find_map(env::nonempty_var)
}

fn password_from_command_or_variable(
    context: &ContextSettings,
    target: &ServerTarget,
) -> Result<Option<Secret>, Error> {
    let name = Sanitized(&context.name);
    if let Some(words) = &context.values.password_command {
        let program = Sanitized(words.first().map_or("", String::as_str));
        let secret = run_password_command(words).map_err(|why| {
            let message = format!("`password-command` of context `{name}`, `{program}`, {why}");
            Error::new(Kind::Auth, message)
        })?;
        return Ok(Some(secret));
    }
    let Some(variable) = &context.values.password_env else {
        return Ok(None);
    };
    match env::nonempty_var(variable) {
        Some(password) => Ok(Some(Secret::new(password.into_vec()))),
        None if target.has_password() => Ok(None),
        None => {
            let variable = Sanitized(variable);
            let message =
                format!("context `{name}` reads its password from `{variable}`, which is not set");
            Err(Error::new(Kind::Auth, message))
        }
    }
}

/// Runs a `password-command` without a shell. The password is the first line that it prints. The error says why there
/// is none.
fn run_password_command(words: &[String]) -> Result<Secret, String> {
    let (program, args) = words.split_first().ok_or("names no program")?;
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    for name in secrets::secret_variables(None) {
        command.env_remove(name);
    }
    let deadline = Instant::now() + MAX_PROGRAM_TIME;
    let cannot = |error: io::Error| format!("cannot be run: {}", io_message_without_errno(&error));
    let mut child = command.spawn().map_err(cannot)?;
    let (sender, line) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        let reader = threads::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            _ = sender.send(secret_file::read_first_line(&mut stdout));
            // Read and ignore further output: otherwise the program could block on a full pipe and not end.
            _ = io::copy(&mut stdout, &mut io::sink());
        });
        if let Err(error) = reader {
            _ = child.kill();
            _ = child.wait();
            return Err(format!("cannot be run: {}", error.message()));
        }
    }
    let too_slow = |child: &mut std::process::Child| {
        _ = child.kill();
        _ = child.wait();
        format!(
            "did not end within {}",
            text::format_duration(MAX_PROGRAM_TIME.as_secs_f64())
        )
    };
    let remaining = || deadline.saturating_duration_since(Instant::now());
    let line = match line.recv_timeout(remaining()) {
        Ok(line) => line.map_err(cannot)?,
        Err(_) => return Err(too_slow(&mut child)),
    };
    let mut pause = Duration::from_micros(200);
    let status = loop {
        match child.try_wait().map_err(cannot)? {
            Some(status) => break status,
            None if remaining().is_zero() => return Err(too_slow(&mut child)),
            None => thread::sleep(pause.min(remaining())),
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    if !status.success() {
        Err(describe_exit(status))
    } else if line.is_empty() {
        Err("printed no password".into())
    } else {
        Ok(line)
    }
}

fn describe_exit(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("failed with exit code {code}"),
        None => "was killed".into(),
    }
}

/// Reads a password from the first line of a file. `-` is stdin.
fn read_password_file(path: &OsStr, ui: &mut Ui) -> Result<Secret, Error> {
    let path = Path::new(path);
    if path != Path::new("-") {
        return secret_file::read_secret_in_first_line(PASSWORD_FILE, path, |warning| {
            ui.warn(warning)
        });
    }
    if io::stdin().is_terminal() {
        return Err(
            Error::usage("`--password-file -` reads stdin, but that is a terminal")
                .hint("`--askpass` prompts for it"),
        );
    }
    let password = secret_file::read_first_line(&mut io::stdin().lock()).map_err(|fault| {
        let why = io_message_without_errno(&fault);
        Error::usage(format!("cannot read {PASSWORD_FILE} `-`: {why}"))
    })?;
    secret_file::refuse_empty_secret(PASSWORD_FILE, path, password)
}
