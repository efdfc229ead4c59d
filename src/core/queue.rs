//! Calls about queues.

use super::{Core, reply};
use crate::error::Error;
use crate::model::length::Length;
use crate::model::moment::Moment;
use crate::model::name::Name;

impl Core {
    /// Returns how many jobs a queue holds.
    pub fn length(&mut self, now: Moment, queue: &Name) -> Result<Length, Error> {
        let value = self.call(now, "length", &[queue.as_bytes()])?;
        Ok(Length {
            queue: queue.clone(),
            length: reply::integer(value)?,
        })
    }
}
