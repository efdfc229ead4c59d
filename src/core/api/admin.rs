//! Sets options of the core, and removes queues and workers from its lists.

use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::name::Name;

impl Core {
    /// Sets an option.
    pub fn set_config(&mut self, now: Moment, key: &Name, value: &Name) -> Result<(), Error> {
        let call = Call::new(calls::CONFIG_SET).arg(key).arg(value);
        self.call(now, call)
    }

    /// Resets an option to its default.
    pub fn unset_config(&mut self, now: Moment, key: &Name, _: Consent) -> Result<(), Error> {
        self.call(now, Call::new(calls::CONFIG_UNSET).arg(key))
    }

    /// Removes queues from the list of known queues. Their jobs stay.
    pub fn forget_queues(&mut self, now: Moment, queues: &[Name], _: Consent) -> Result<(), Error> {
        self.call_in_slices(now, &Call::new(calls::QUEUE_FORGET), queues)
            .map(|_: Vec<()>| ())
            .map(drop)
    }

    /// Removes workers from the list of known workers.
    pub fn forget_workers(
        &mut self,
        now: Moment,
        workers: &[Name],
        _: Consent,
    ) -> Result<(), Error> {
        self.deregister_workers(now, workers)
    }

    /// Removes a worker process that ends from the list of known workers.
    pub(crate) fn deregister_worker(&mut self, now: Moment, worker: &Name) -> Result<(), Error> {
        self.deregister_workers(now, std::slice::from_ref(worker))
    }

    fn deregister_workers(&mut self, now: Moment, workers: &[Name]) -> Result<(), Error> {
        let call = Call::new(calls::WORKER_DEREGISTER);
        self.call_in_slices(now, &call, workers)
            .map(|_: Vec<()>| ())
    }
}
