//! Changing options, and forgetting queues and workers.

use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::Core;
use crate::error::Error;
use crate::name::Name;

impl Core {
    /// Sets an option.
    pub fn set(&mut self, now: Moment, key: &Name, value: &Name) -> Result<(), Error> {
        let words = [key.as_bytes(), value.as_bytes()];
        self.call(now, "config.set", &words).map(drop)
    }

    /// Gives an option its default back.
    pub fn unset(&mut self, now: Moment, key: &Name, _: Consent) -> Result<(), Error> {
        self.call(now, "config.unset", &[key.as_bytes()]).map(drop)
    }

    /// Takes queues off the list of known ones; what is in them stays.
    pub fn forget_queues(&mut self, now: Moment, queues: &[Name], _: Consent) -> Result<(), Error> {
        let words: Vec<&[u8]> = queues.iter().map(Name::as_bytes).collect();
        self.call(now, "queue.forget", &words).map(drop)
    }

    /// Takes workers off the list of known ones.
    pub fn forget_workers(
        &mut self,
        now: Moment,
        workers: &[Name],
        _: Consent,
    ) -> Result<(), Error> {
        let words: Vec<&[u8]> = workers.iter().map(Name::as_bytes).collect();
        self.call(now, "worker.deregister", &words).map(drop)
    }
}
