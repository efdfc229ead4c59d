//! Hides the passwords in this process's environment and memory from its children and other processes of this user.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

use crate::address::variables;
use crate::settings::ConfigFile;

/// The names of environment variables that contain a secret, including each variable that a `password-env` of the
/// config file names.
pub(crate) fn secret_variables(file: Option<&ConfigFile>) -> Vec<OsString> {
    let contexts = file.iter().flat_map(|file| file.contents.contexts.values());
    let named = contexts.filter_map(|values| values.password_env.as_ref());
    let mut variables = variables::secret_variables();
    variables.extend(named.map(OsString::from));
    variables
}

/// Overwrites the values of these environment variables, because root can always read `/proc/PID/environ`. Then hides
/// the environment and the memory of this process from other processes of this user. Works only on Linux, as far as the
/// system allows.
pub(crate) fn wipe_variables_and_hide_memory(variables: &[OsString]) {
    // Wipe first: a hidden process cannot write to its own memory through `/proc`.
    _ = wipe_variables(variables);
    hide_memory_of_process();
}

/// Hides the environment and the memory of this process from other processes of this user. Works only on Linux.
pub(crate) fn hide_memory_of_process() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};

        _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Overwrites the values of environment variables in memory with NUL bytes, through `/proc/self/mem`.
///
/// `std::env::remove_var` would leave the values in memory, and needs `unsafe`. An overwritten variable is still a
/// valid string, an empty one: a thread that reads it at the same time gets a part of the value or nothing.
fn wipe_variables(variables: &[OsString]) -> io::Result<()> {
    if variables.is_empty() {
        return Ok(());
    }
    let (start, end) = environment_bounds()?;
    let memory = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/proc/self/mem")?;
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
    let mut environment = vec![0; length];
    memory.read_exact_at(&mut environment, start)?;
    let mut at = start;
    for entry in environment.split(|byte| *byte == 0) {
        wipe_value_if_listed(&memory, entry, at, variables)?;
        at += entry.len() as u64 + 1;
    }
    Ok(())
}

/// Overwrites the value of an environment entry `NAME=value` at an address, if `variables` contains its name.
fn wipe_value_if_listed(
    memory: &File,
    entry: &[u8],
    at: u64,
    variables: &[OsString],
) -> io::Result<()> {
    let Some(equals) = entry.iter().position(|byte| *byte == b'=') else {
        return Ok(());
    };
    let (name, value) = (&entry[..equals], &entry[equals + 1..]);
    if !variables.iter().any(|variable| variable.as_bytes() == name) {
        return Ok(());
    }
    memory.write_all_at(&vec![0; value.len()], at + equals as u64 + 1)
}

/// The start and end address of the environment in the memory of this process.
fn environment_bounds() -> io::Result<(u64, u64)> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // Skip the program's name in parentheses, which may contain blanks. The first field after it is field 3.
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let mut bounds = fields.split_whitespace().skip(50 - 3);
    let mut bound = || bounds.next()?.parse().ok();
    match (bound(), bound()) {
        (Some(start), Some(end)) => Ok((start, end)),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}
