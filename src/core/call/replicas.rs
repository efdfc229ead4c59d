//! Waiting until replicas have what was changed (`reliability.md` 4.6).

use std::time::{Duration, Instant};

use super::connect::Packed;
use super::reply;
use super::{Core, refusal};
use crate::error::{Error, Kind};
use crate::text::{clean, plural};

/// How much later than the server we give up waiting.
const GRACE: Duration = Duration::from_secs(1);

impl Core {
    /// Waits, as long as one call may take, until so many replicas have all that was changed on this
    /// connection so far.
    pub fn replicated(&mut self, replicas: u64) -> Result<(), Error> {
        let patience = self.patience();
        let mut wait = Packed::default();
        let millis = patience.as_millis().max(1).to_string();
        wait.add(&["WAIT", &replicas.to_string(), &millis]);
        let stands = |why: String| {
            Error::new(Kind::Replication, format!("{why}; what was changed stands"))
                .hint("`redis-cli INFO replication` tells how far each replica is")
        };
        let answer = self.ask(wait, Instant::now() + patience + GRACE);
        let answer = answer
            .ok_or_else(|| stands("lost the server while waiting for its replicas".into()))?;
        if let Some(refusal) = refusal(&answer) {
            return Err(stands(format!(
                "`{}` does not wait for replicas: {}",
                self.address(),
                clean(refusal.words)
            )));
        }
        let have = reply::integer(answer)?.unsigned_abs();
        match have >= replicas {
            true => Ok(()),
            false => Err(stands(format!(
                "{have} of {} had it within {}",
                plural(replicas, "replica", "replicas"),
                humantime::format_duration(patience)
            ))),
        }
    }
}
