//! Setting options, and forgetting queues and workers.

use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::call_spec::{RetryClass, Subject};
use crate::core::call::{Call, Core};
use crate::error::Error;
use crate::name::Name;

impl Core {
    /// Sets an option.
    pub fn set(&mut self, now: Moment, key: &Name, value: &Name) -> Result<(), Error> {
        let call = Call::write("config.set", RetryClass::Idempotent, "set", "setting");
        let call = call.arg(key).about(Subject::Key(0)).arg(value);
        self.call(now, call).map(drop)
    }

    /// Resets an option to its default.
    pub fn unset(&mut self, now: Moment, key: &Name, _: Consent) -> Result<(), Error> {
        let call = Call::write("config.unset", RetryClass::Idempotent, "unset", "unsetting");
        self.call(now, call.arg(key).about(Subject::Key(0)))
            .map(drop)
    }

    /// Removes queues from the list of known ones. Their jobs stay.
    pub fn forget_queues(&mut self, now: Moment, queues: &[Name], _: Consent) -> Result<(), Error> {
        let call = Call::write(
            "queue.forget",
            RetryClass::Idempotent,
            "forget",
            "forgetting",
        );
        let call = call.about(Subject::Queue(0));
        self.call_in_slices(now, &call, queues).map(drop)
    }

    /// Removes workers from the list of known ones.
    pub fn forget_workers(
        &mut self,
        now: Moment,
        workers: &[Name],
        _: Consent,
    ) -> Result<(), Error> {
        self.deregister(now, workers)
    }

    /// Removes a worker that ends from the list of known ones.
    pub(crate) fn leave(&mut self, now: Moment, worker: &Name) -> Result<(), Error> {
        self.deregister(now, std::slice::from_ref(worker))
    }

    fn deregister(&mut self, now: Moment, workers: &[Name]) -> Result<(), Error> {
        let call = Call::write(
            "worker.deregister",
            RetryClass::Idempotent,
            "forget",
            "forgetting",
        );
        let call = call.about(Subject::Worker(0));
        self.call_in_slices(now, &call, workers).map(drop)
    }
}
