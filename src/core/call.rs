//! One call: name, now, arguments → reply or error.

use redis::Connection;
pub use redis::Value;

use super::script::Script;
use super::{Settings, connect};
use crate::clock::Clock;
use crate::error::{Error, Kind};
use crate::model::moment::Moment;

/// One call of the core, for pipelines.
#[derive(Clone, Debug)]
pub struct Call {
    name: String,
    args: Vec<Vec<u8>>,
}

impl Call {
    pub fn new(name: impl Into<String>) -> Call {
        Call {
            name: name.into(),
            args: Vec::new(),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<[u8]>) -> Call {
        self.args.push(arg.as_ref().to_vec());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<[u8]>>(mut self, args: impl IntoIterator<Item = A>) -> Call {
        let args = args.into_iter().map(|arg| arg.as_ref().to_vec());
        self.args.extend(args);
        self
    }
}

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

    /// Makes calls in one round trip; each has its own outcome.
    pub fn calls(&mut self, now: Moment, calls: &[Call]) -> Vec<Result<Value, Error>> {
        calls.iter().map(|call| self.make(now, call)).collect()
    }

    /// Makes one call of the core.
    pub fn call(&mut self, now: Moment, name: &str, args: &[&[u8]]) -> Result<Value, Error> {
        self.make(now, &Call::new(name).args(args))
    }

    fn make(&mut self, now: Moment, call: &Call) -> Result<Value, Error> {
        let mut command = redis::cmd("EVAL");
        command.arg(self.script.text()).arg(0).arg(&call.name);
        command.arg(now.to_string());
        for arg in &call.args {
            command.arg(arg.as_slice());
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
