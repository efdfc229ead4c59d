//! How many programs can run at the same time with the descriptors that this process may open.

use rustix::process::{Resource, getrlimit};

use super::hooks;
use super::options::WorkOptions;
use crate::error::{Error, Kind};
use crate::listen::MAX_CONNECTIONS;
use crate::text::format_count;

/// The descriptors per running program: the pipes for stdin, stdout, stderr and its answers.
const PROGRAM: u64 = 4;

/// The descriptors that are open only sometimes: for two subscriptions, for a new connection after a loss, and for the
/// start of a program besides its pipes.
const AT_TIMES: u64 = 12;

/// The descriptors that the removal of a tree of directories needs.
const REMOVAL_DESCRIPTORS: u64 = 12;

/// Lowers the number of slots to what the limit of open files allows, and returns a note about that. Fails if not even
/// one program can run. Call this after all permanent descriptors are open.
pub(super) fn lower_slots_to_file_limit(
    options: &mut WorkOptions,
) -> Result<Option<String>, Error> {
    let Some(limit) = getrlimit(Resource::Nofile).current else {
        return Ok(None);
    };
    // Without `/dev/fd` the number of open descriptors is unknown: assume that there are enough. A start that fails
    // later releases its job.
    let Ok(open) = std::fs::read_dir("/dev/fd") else {
        return Ok(None);
    };
    let has_hooks = options.on_exhausted.is_some() || options.on_crash.is_some();
    let fixed = open.count() as u64
        + AT_TIMES
        + if has_hooks {
            PROGRAM * hooks::MAX_RUNNING as u64
        } else {
            0
        }
        + if options.sandbox.is_some() {
            REMOVAL_DESCRIPTORS
        } else {
            0
        }
        + if options.metrics.is_some() {
            MAX_CONNECTIONS as u64
        } else {
            0
        };
    let wanted = options.concurrency as u64;
    let fits = limit.saturating_sub(fixed) / PROGRAM;
    if fits >= wanted {
        return Ok(None);
    }
    let needed = fixed + PROGRAM * wanted;
    if fits == 0 {
        let least = fixed + PROGRAM;
        return Err(Error::new(
            Kind::Error,
            format!("no program can run: this process may open {limit} files, and needs {least}"),
        )
        .hint(format!("no job was popped; `ulimit -n {needed}` is enough")));
    }
    options.concurrency = fits as usize;
    let programs = format_count(fits, "program runs", "programs run");
    Ok(Some(format!(
        "note: {programs} at the same time, not {wanted}: this process may open {limit} files, \
         and `ulimit -n {needed}` is enough for all"
    )))
}
