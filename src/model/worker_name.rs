//! The names that `qless work` gives to workers. A name contains what `qless workers` shows of the worker's process:
//! host, process id, slots and version. The server stores these facts nowhere else.

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The facts about its process in the name of a worker. All are absent for a worker of another client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkerProcess {
    /// Of `qless work`: `--worker`, or its host; else null
    pub host: Option<Name>,
    /// Of `qless work`: its process; else null
    pub pid: Option<u32>,
    /// Of `qless work`: how many processes it runs at a time; else null
    pub slots: Option<u64>,
    /// Of `qless work`: its version; else null
    pub version: Option<String>,
}

impl WorkerProcess {
    /// Reads the facts from the name of a worker.
    pub(crate) fn from_name(worker: &Name) -> WorkerProcess {
        WorkerProcess::parse(worker).unwrap_or_default()
    }

    /// `HOST-PID` if both are known, else the name of the worker.
    pub(crate) fn host_and_pid_or_name(&self, worker: &Name) -> String {
        match (&self.host, self.pid) {
            (Some(host), Some(pid)) => format!("{host}-{pid}"),
            _ => worker.to_string(),
        }
    }

    fn parse(worker: &Name) -> Option<WorkerProcess> {
        let mut parts = worker.as_bytes().rsplitn(5, |byte| *byte == b'-');
        let mut text = || std::str::from_utf8(parts.next()?).ok();
        let random = text()?;
        let pid = text()?.parse().ok()?;
        let slots = text()?.strip_prefix('x')?.parse().ok()?;
        let version = text()?.to_owned();
        let is_random = random.len() == 4 && u16::from_str_radix(random, 16).is_ok();
        let host = parts.next()?.strip_suffix(b"-qless")?;
        is_random.then(|| WorkerProcess {
            host: Some(Name::from(host)),
            version: Some(version),
            slots: Some(slots),
            pid: Some(pid),
        })
    }
}

/// The name of a worker of this process, such as `mx-2-qless-1.0.0-x4-18841-3fa9`. `random` keeps the name apart from
/// that of a process with the same id in another container.
pub(crate) fn make_worker_name(host: &Name, slots: usize, random: u16) -> Name {
    let mut name = host.as_bytes().to_vec();
    let pid = std::process::id();
    // Dashes separate the parts.
    let version = VERSION.replace('-', ".");
    name.extend(format!("-qless-{version}-x{slots}-{pid}-{random:04x}").bytes());
    Name::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_where_a_worker_runs() {
        let name = make_worker_name(&Name::from("mx-2"), 4, 0x3a);
        let read = WorkerProcess::from_name(&name);
        assert_eq!(read.host, Some(Name::from("mx-2")));
        assert_eq!(read.slots, Some(4));
        assert_eq!(read.pid, Some(std::process::id()));
        assert_eq!(read.version.as_deref(), Some(VERSION));
        assert!(name.as_bytes().ends_with(b"-003a"));
        for other in [
            "",
            "mx-2-18841",
            "a-qless-1-x4-5-zzzz",
            "a-b-1-x4-5-0000",
            "a-qless-1-4-5-0000",
        ] {
            assert_eq!(
                WorkerProcess::from_name(&Name::from(other)),
                WorkerProcess::default(),
                "{other}"
            );
        }
    }
}
