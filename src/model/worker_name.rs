//! The names of workers that `qless work` makes. They hold all that `qless workers` shows of them:
//! nothing else is stored.

use crate::name::Name;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the name of a worker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerName {
    /// `--worker`, or the host.
    pub base: Name,
    pub version: String,
    /// How many processes it runs at a time.
    pub slots: u64,
    pub pid: u32,
}

impl WorkerName {
    /// Returns the name of a worker of this process, such as `mx-2-qless-0.1.0-x4-18841-3fa9`. `random`
    /// distinguishes it from a process with the same id in another container.
    pub(crate) fn make(base: &Name, slots: usize, random: u16) -> Name {
        let mut name = base.as_bytes().to_vec();
        let pid = std::process::id();
        // Dashes separate the parts.
        let version = VERSION.replace('-', ".");
        name.extend(format!("-qless-{version}-x{slots}-{pid}-{random:04x}").bytes());
        Name::from(name)
    }

    /// Reads a name that [`WorkerName::make`] made; `None` for any other.
    pub(crate) fn read(name: &Name) -> Option<WorkerName> {
        let mut parts = name.as_bytes().rsplitn(5, |byte| *byte == b'-');
        let mut text = || std::str::from_utf8(parts.next()?).ok();
        let random = text()?;
        let pid = text()?.parse().ok()?;
        let slots = text()?.strip_prefix('x')?.parse().ok()?;
        let version = text()?.to_owned();
        let is_random = random.len() == 4 && u16::from_str_radix(random, 16).is_ok();
        let base = parts.next()?.strip_suffix(b"-qless")?;
        is_random.then(|| WorkerName {
            base: Name::from(base),
            version,
            slots,
            pid,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_where_a_worker_runs() {
        let name = WorkerName::make(&Name::from("mx-2"), 4, 0x3a);
        let read = WorkerName::read(&name).unwrap();
        assert_eq!(read.base, Name::from("mx-2"));
        assert_eq!((read.slots, read.pid), (4, std::process::id()));
        assert_eq!(read.version, VERSION);
        assert!(name.as_bytes().ends_with(b"-003a"));
        for other in ["", "mx-2-18841", "a-qless-1-x4-5-zzzz", "a-b-1-x4-5-0000", "a-qless-1-4-5-0000"] {
            assert_eq!(WorkerName::read(&Name::from(other)), None, "{other}");
        }
    }
}
