//! What a command may touch: the core (opened on first use), the streams, the clock.

use std::time::Duration;

use crate::cli::{Format, Globals, Typed};
use crate::clock::Clock;
use crate::core::script::USUAL;
use crate::core::url::{Address, Target};
use crate::core::{Core, Settings};
use crate::error::{Error, Kind};
use crate::model::moment::Moment;
use crate::out::Out;
use crate::password;

/// Handed to every command.
pub struct Cx {
    pub globals: Globals,
    pub out: Out,
    typed: Typed,
    clock: Clock,
    core: Option<Core>,
}

impl Cx {
    pub fn new(globals: Globals, typed: Typed, out: Out, clock: Clock) -> Cx {
        Cx {
            globals,
            out,
            typed,
            clock,
            core: None,
        }
    }

    /// Returns the name of the command.
    pub fn name(&self) -> &str {
        &self.typed.name
    }

    /// Returns the command with those of its arguments that say what is done, not how.
    pub fn own(&self) -> &str {
        &self.typed.own
    }

    /// Returns the whole command line as it can be typed again, if it holds no secret.
    pub fn typed(&self) -> Option<&str> {
        self.typed.whole.as_deref()
    }

    /// Returns the prefix of all keys.
    pub fn prefix(&self) -> &str {
        self.globals.prefix.as_deref().unwrap_or(USUAL)
    }

    /// Returns the core, connected.
    pub fn core(&mut self) -> Result<&mut Core, Error> {
        Ok(self.parts()?.0)
    }

    /// Returns the core and the streams, for those that need both at once.
    pub fn parts(&mut self) -> Result<(&mut Core, &mut Out), Error> {
        if self.core.is_none() {
            let settings = self.settings()?;
            self.core = Some(Core::open(settings)?);
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

    /// Refuses what may change something under `--read-only`, before there is a connection.
    pub fn writes(&self, what: &str) -> Result<(), Error> {
        match self.globals.read_only {
            true => Err(Error::new(
                Kind::NotConfirmed,
                format!("{what} may change something, and `--read-only` was given"),
            )),
            false => Ok(()),
        }
    }

    /// Refuses, under `--read-only`, a call of the reference that may change something on the way.
    pub fn writes_raw(&self) -> Result<(), Error> {
        match self.out.format() {
            Format::Raw => self.writes(&format!("the core's own `{}`", self.name())),
            _ => Ok(()),
        }
    }

    /// Returns the address that was given, else the default one, without its password filled in.
    pub fn target(&self) -> Result<Target, Error> {
        Target::parse(self.globals.redis.as_deref().unwrap_or(Target::DEFAULT))
    }

    /// Returns how long to wait to be connected, and for one call.
    pub fn timeout(&self) -> Duration {
        self.globals.timeout.unwrap_or(Duration::from_secs(10))
    }

    /// Connects to an address of ours instead of the one that was given.
    pub fn core_at(&mut self, target: Target) -> Result<&mut Core, Error> {
        let settings = self.settings_for(target);
        Ok(self.core.insert(Core::open(settings)?))
    }

    fn settings(&mut self) -> Result<Settings, Error> {
        let mut target = self.target()?;
        if !matches!(target.address, Address::Local { .. }) {
            password::fill(&mut target, &self.globals, &mut self.out)?;
        }
        Ok(self.settings_for(target))
    }

    fn settings_for(&self, target: Target) -> Settings {
        Settings {
            target,
            prefix: self.prefix().to_string(),
            name: format!("qless-{}", self.name()),
            timeout: self.timeout(),
            clock: self.clock.clone(),
            trace: self.out.trace(),
            read_only: self.globals.read_only,
        }
    }
}
