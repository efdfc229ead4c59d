//! How many jobs a queue holds.

use serde::Serialize;

use crate::name;
use crate::name::Name;

#[derive(Debug, Serialize)]
pub struct Length {
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Name,
    pub length: i64,
}
