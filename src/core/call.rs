//! One call: name, now, arguments → reply or error.

use redis::Connection;
pub use redis::Value;

use super::script::Script;
use super::{Settings, connect};
use crate::clock::Clock;
use crate::error::{Error, Kind};
use crate::model::moment::Moment;

/// The Lua core of one server, connected.
pub struct Core {
    connection: Connection,
    script: Script,
    clock: Clock,
}

impl Core {
    /// Connects.
    pub fn open(settings: Settings) -> Result<Core, Error> {
        let connection = connect::connect(&settings)?;
        Ok(Core {
            connection,
            script: Script::new(&settings.prefix),
            clock: settings.clock,
        })
    }

    /// Returns the server's time.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Makes one call of the core.
    pub fn call(&mut self, now: Moment, name: &str, args: &[&[u8]]) -> Result<Value, Error> {
        let mut command = redis::cmd("EVAL");
        command.arg(self.script.text()).arg(0).arg(name);
        command.arg(now.to_string());
        for arg in args {
            command.arg(*arg);
        }
        let io = |_| Error::new(Kind::Unknown, "lost the server");
        self.connection
            .send_packed_command(&command.get_packed_command())
            .map_err(io)?;
        match self.connection.recv_response().map_err(io)? {
            Value::ServerError(error) => Err(Error::new(
                Kind::Server,
                format!("{} {}", error.code(), error.details().unwrap_or_default()),
            )),
            value => Ok(value),
        }
    }
}
