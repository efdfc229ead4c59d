//! Waiting until replicas have the changes.

use std::time::{Duration, Instant};

use super::connect::WireEncodedCommands;
use super::{Core, reply, server_error};
use crate::error::{Error, Kind};
use crate::text::{Sanitized, format_count};

/// The time that `qless` waits for the reply to WAIT after the server's own time limit for its replicas has passed.
const EXTRA_REPLY_TIME: Duration = Duration::from_secs(1);

impl Core {
    /// Waits by WAIT until this number of replicas have all changes that this connection made. It is an error if fewer
    /// replicas have them within the timeout of one call.
    pub fn wait_for_replicas(&mut self, replicas: u64) -> Result<(), Error> {
        let timeout = self.call_timeout();
        let mut wait = WireEncodedCommands::default();
        let millis = timeout.as_millis().max(1).to_string();
        wait.add_command(&["WAIT", &replicas.to_string(), &millis]);
        let failed = |why: String| {
            Error::new(Kind::Replication, format!("{why}; the change was made"))
                .hint("`redis-cli INFO replication` shows how far each replica is")
        };
        let reply = self.send_once(wait, Instant::now() + timeout + EXTRA_REPLY_TIME);
        let reply =
            reply.ok_or_else(|| failed("lost the server while waiting for its replicas".into()))?;
        if let Some(refused) = server_error(&reply) {
            return Err(failed(format!(
                "`{}` does not wait for replicas: {}",
                self.address(),
                Sanitized(refused.message)
            )));
        }
        let have: u64 = reply::read_reply("WAIT", reply)?;
        if have >= replicas {
            Ok(())
        } else {
            Err(failed(format!(
                "{have} of {} had it within {}",
                format_count(replicas, "replica", "replicas"),
                humantime::format_duration(timeout)
            )))
        }
    }
}
