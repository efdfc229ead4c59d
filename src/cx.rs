//! What a command may touch: the core (opened on first use), the streams, the clock.

use std::time::Duration;

use crate::cli::Globals;
use crate::clock::Clock;
use crate::core::{Core, Settings};
use crate::error::Error;
use crate::model::moment::Moment;
use crate::out::Out;

/// Handed to every command.
pub struct Cx {
    pub globals: Globals,
    pub out: Out,
    clock: Clock,
    core: Option<Core>,
}

impl Cx {
    pub fn new(globals: Globals, out: Out, clock: Clock) -> Cx {
        Cx {
            globals,
            out,
            clock,
            core: None,
        }
    }

    /// Returns the prefix of all keys.
    pub fn prefix(&self) -> &str {
        self.globals.prefix.as_deref().unwrap_or("ql:")
    }

    /// Returns the core, connected.
    pub fn core(&mut self) -> Result<&mut Core, Error> {
        Ok(self.parts()?.0)
    }

    /// Returns the core and the streams, for those that need both at once.
    pub fn parts(&mut self) -> Result<(&mut Core, &mut Out), Error> {
        if self.core.is_none() {
            self.core = Some(Core::open(self.settings()?)?);
        }
        match &mut self.core {
            Some(core) => Ok((core, &mut self.out)),
            None => unreachable!("the core was opened above"),
        }
    }

    /// Returns now: the server's once the core is open, else this host's.
    pub fn now(&self) -> Moment {
        match &self.core {
            Some(core) => core.now(),
            None => self.clock.now(),
        }
    }

    /// Returns the moment of this command, for the core and for what is shown: the server's.
    /// Read once, at the top of a command.
    pub fn begin(&mut self) -> Result<Moment, Error> {
        self.core()?;
        let now = self.now();
        self.out.at(now);
        Ok(now)
    }

    fn settings(&self) -> Result<Settings, Error> {
        Ok(Settings {
            url: self.globals.redis.clone(),
            prefix: self.prefix().to_string(),
            timeout: self.globals.timeout.unwrap_or(Duration::from_secs(10)),
            clock: self.clock.clone(),
        })
    }
}
