//! All jobs, a page at a time, by plain SCAN; and a few of their fields by plain HMGET.
//!
//! Inside a script the same reads cost the server three times as much, and nobody else is served
//! meanwhile (`make bench`: `jobs --where`). So this is where candidates are found; what is told of
//! a job, and what decides about it, is read by `look.jobs`. Key names come from `lua/keys.lua`.

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::reply;
use crate::core::call::{Call, Value};
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind};
use crate::name::Name;

/// How many keys a page of SCAN passes: less than a millisecond of the server.
const KEYS: &str = "500";

/// How many jobs are asked for their fields in one round trip.
const MOST: usize = 500;

/// A way through all jobs, in no order.
#[derive(Debug)]
pub(crate) struct Scan {
    cursor: Vec<u8>,
    done: bool,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan {
            cursor: b"0".to_vec(),
            done: false,
        }
    }
}

impl Scan {
    /// Returns the next jids; `None` at the end. A page may be empty, and a jid may come twice.
    pub(crate) fn next(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<Name>>, Error> {
        if self.done {
            return Ok(None);
        }
        let prefix = Keys::new(core.prefix()).job;
        let call = Call::plain("SCAN")
            .arg(&self.cursor)
            .arg("MATCH")
            // No prefix holds what is special there.
            .arg(format!("{prefix}*"))
            .arg("COUNT")
            .arg(KEYS)
            .arg("TYPE")
            .arg("hash");
        let mut page = reply::list(one(core, now, call)?)?.into_iter();
        let (Some(cursor), Some(keys)) = (page.next(), page.next()) else {
            return Err(reply::unexpected("a page"));
        };
        self.cursor = reply::bytes(cursor)?;
        self.done = self.cursor == b"0";
        let keys = reply::list(keys)?.into_iter().map(|key| {
            let mut key = reply::bytes(key)?;
            key.drain(..prefix.len().min(key.len()));
            Ok(Name::from(key))
        });
        keys.collect::<Result<_, Error>>().map(Some)
    }
}

impl Core {
    /// Returns stored fields of jobs, in the order asked; what is not there, or not readable, is
    /// absent.
    pub fn fields(
        &mut self,
        now: Moment,
        names: &[&str],
        jids: &[Name],
    ) -> Result<Vec<Vec<Option<Vec<u8>>>>, Error> {
        let prefix = Keys::new(self.prefix()).job;
        let mut fields = Vec::with_capacity(jids.len());
        for slice in jids.chunks(MOST) {
            let calls: Vec<Call> = slice
                .iter()
                .map(|jid| {
                    let key = [prefix.as_bytes(), jid.as_bytes()].concat();
                    Call::plain("HMGET").arg(key).args(names)
                })
                .collect();
            for answer in self.calls(now, &calls) {
                let told = match answer {
                    Ok(told) => reply::list(told)?,
                    // A key of another type is no job.
                    Err(error) if error.kind() == Kind::Damaged => Vec::new(),
                    Err(error) => return Err(error),
                };
                let told = told.into_iter().map(reply::optional);
                fields.push(told.collect::<Result<_, Error>>()?);
            }
        }
        Ok(fields)
    }
}

fn one(core: &mut Core, now: Moment, call: Call) -> Result<Value, Error> {
    match core.calls(now, std::slice::from_ref(&call)).pop() {
        Some(outcome) => outcome,
        None => Err(Error::internal("a call without outcome")),
    }
}
