//! The private server of `local:`.

use serde::Serialize;

use super::field::Field;
use crate::name::Name;

/// The state of the private server.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    pub running: bool,
    pub pid: Option<u32>,
    pub dir: Name,
    pub url: Name,
    /// How many jobs it holds; unknown if it does not run.
    pub jobs: Option<u64>,
    /// The size of its directory on disk.
    pub bytes: u64,
}

impl Status {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::bool("running", "whether the server runs"),
        Field::count("pid", "its process").null(),
        Field::name("dir", "its directory"),
        Field::name("url", "its address for other clients"),
        Field::count("jobs", "jobs that it holds").null(),
        Field::count("bytes", "size on disk"),
    ];
}
