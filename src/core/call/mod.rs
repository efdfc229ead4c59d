//! Calls of the core: name, now, arguments → reply or error.
//!
//! A call that was certainly not applied is repeated until its time is over; so is one whose answer
//! was lost, with the same `now`, if its class allows that (`reliability.md` 4). What a second answer
//! means is told in `settle.rs`. Anything else is told honestly: it may or may not have happened.

pub(crate) mod call_spec;
pub(crate) mod connect;
pub(crate) mod error;
pub(crate) mod handshake;
pub(crate) mod local;
pub(crate) mod refusal;
pub(crate) mod replicas;
pub(crate) mod reply;
pub(crate) mod retry_policy;
pub(crate) mod rights;

use std::fmt::Write;
use std::time::{Duration, Instant};

pub(crate) use redis::Value;

use self::call_spec::RetryClass;
use self::connect::{Connection, Fault, Packed, Words};
use self::error::ServerError;
use self::handshake::{Failed, Server};
use self::retry_policy::Backoff;
use super::script::Script;
use crate::address::{Address, Target};
use crate::clock::Clock;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::name::Name;
use crate::trace::Trace;

/// What it takes to open the core.
#[derive(Debug)]
pub struct Settings {
    pub target: Target,
    pub prefix: String,
    /// How the connection calls itself.
    pub name: String,
    pub timeout: Duration,
    pub clock: Clock,
    pub trace: Trace,
    /// Whether scripts are run so that the server lets them change nothing.
    pub read_only: bool,
    /// Whether something may be changed: then the server is asked at once if the user may.
    pub writes: bool,
}

/// One call of the core.
#[derive(Clone, Debug)]
pub struct Call {
    name: String,
    args: Vec<Vec<u8>>,
    /// What follows them, packed already.
    more: Words,
    /// Whether it is a command of Redis and not one of the script.
    plain: bool,
    /// Its own moment, if it is not that of all calls made with it.
    at: Option<Moment>,
}

impl Call {
    pub fn new(name: impl Into<String>) -> Call {
        Call {
            name: name.into(),
            args: Vec::new(),
            more: Words::default(),
            plain: false,
            at: None,
        }
    }

    /// A command of Redis itself, which may only read.
    pub fn plain(name: impl Into<String>) -> Call {
        Call {
            plain: true,
            ..Call::new(name)
        }
    }

    /// Gives it a moment of its own: what is put at the same moment has no order.
    pub fn at(mut self, moment: Option<Moment>) -> Call {
        self.at = moment;
        self
    }

    /// Adds arguments that are packed already; they come last.
    pub fn more(mut self, words: Words) -> Call {
        self.more = words;
        self
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

    /// Makes it a call that is made only if the job is still as its mark says.
    pub(crate) fn guarded(self, jid: &Name, mark: &[u8], note: &[u8]) -> Call {
        let call = Call::new("guard.call").arg(jid.as_bytes()).arg(mark);
        let call = call.arg(note).arg(self.name).args(self.args);
        call.more(self.more)
    }

    /// Whether it may change something, if only on the way.
    pub fn may_write(&self) -> bool {
        call_spec::may_write(&self.name, &self.args)
    }

    fn class(&self) -> RetryClass {
        call_spec::call(&self.name, &self.args).class
    }
}

/// Scripts that may write.
const RUN: [&str; 2] = ["EVALSHA", "EVAL"];

/// Scripts that the server keeps from writing; replicas run them too.
const RUN_READ_ONLY: [&str; 2] = ["EVALSHA_RO", "EVAL_RO"];

/// The Lua core of one server.
#[derive(Debug)]
pub struct Core {
    target: Target,
    timeout: Duration,
    /// How the connection calls itself: `qless-<command>`.
    name: String,
    script: Script,
    clock: Clock,
    trace: Trace,
    read_only: bool,
    writes: bool,
    /// What the user may not run, though what changes something needs it.
    lacks: Vec<String>,
    /// The commands that run a script: by its SHA, by its text.
    run: [&'static str; 2],
    /// The server's version, as it told last.
    version: String,
    /// Dropped after any fault.
    line: Option<Connection>,
    /// Whether to wait for a server that is not there but was.
    patient: bool,
    /// Whether there was a line.
    greeted: bool,
}

impl Core {
    /// Connects and logs in.
    pub fn open(settings: Settings) -> Result<Core, Error> {
        let mut core = Core {
            target: settings.target,
            timeout: settings.timeout,
            name: settings.name,
            script: Script::new(&settings.prefix),
            clock: settings.clock,
            trace: settings.trace,
            read_only: settings.read_only,
            writes: settings.writes,
            lacks: Vec::new(),
            run: RUN,
            version: String::new(),
            line: None,
            patient: true,
            greeted: false,
        };
        core.dial(Instant::now() + core.timeout, &mut Backoff::default())?;
        Ok(core)
    }

    /// Returns the server's time.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Returns how long a call may take, with its repeats.
    pub fn patience(&self) -> Duration {
        self.timeout
    }

    /// Lets a server that went away be told at once, for one who asks again anyhow.
    pub fn hurry(&mut self) {
        self.patient = false;
    }

    /// Returns the prefix of all keys.
    pub fn prefix(&self) -> &str {
        self.script.prefix()
    }

    /// Returns the address, as it may be shown.
    pub fn address(&self) -> String {
        self.target.to_string()
    }

    /// Returns the name of this run of the server, if it is told.
    pub fn run_id(&mut self) -> Option<String> {
        let mut info = Packed::default();
        info.add(&["INFO", "server"]);
        let deadline = Instant::now() + self.timeout;
        let told = super::call::reply::bytes(self.ask(info, deadline)?).ok()?;
        let told = String::from_utf8_lossy(&told);
        let id = told.lines().find_map(|line| line.strip_prefix("run_id:"))?;
        Some(id.trim().to_string())
    }

    /// Sends one command of Redis on the line there is, once; `None` if no answer came.
    pub(crate) fn ask(&mut self, packed: Packed, deadline: Instant) -> Option<Value> {
        let answer = self.line.as_ref()?.exchange(packed, deadline);
        if answer.fault.is_some() {
            self.line = None;
        }
        answer.replies.into_iter().next()
    }

    /// Returns the number of the database.
    pub(crate) fn db(&self) -> u32 {
        self.target.db
    }

    /// Returns the server's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Makes one call and returns its reply as `-o raw` writes it.
    pub fn raw(&mut self, now: Moment, call: &Call) -> Result<Vec<u8>, Error> {
        match self.calls(now, std::slice::from_ref(call)).pop() {
            Some(outcome) => super::call::reply::lines(outcome?),
            None => Err(Error::internal("a call without outcome")),
        }
    }

    /// Makes one call.
    pub fn call(&mut self, now: Moment, name: &str, args: &[&[u8]]) -> Result<Value, Error> {
        let call = Call::new(name).args(args);
        match self.calls(now, std::slice::from_ref(&call)).pop() {
            Some(outcome) => outcome,
            None => Err(Error::internal("a call without outcome")),
        }
    }

    /// Makes one call that is guarded.
    pub(crate) fn answer(&mut self, now: Moment, call: Call) -> (Result<Value, Error>, bool) {
        let answer = self.answers(now, std::slice::from_ref(&call), true).pop();
        match answer {
            Some(answer) => (answer.reply, answer.again),
            None => (Err(Error::internal("a call without outcome")), false),
        }
    }

    /// Makes calls in one round trip; each has its own outcome, in order.
    pub fn calls(&mut self, now: Moment, calls: &[Call]) -> Vec<Result<Value, Error>> {
        let answers = self.answers(now, calls, false);
        answers.into_iter().map(|answer| answer.reply).collect()
    }

    /// Makes calls in one round trip and says which of them were made again. Those that are
    /// guarded are made again only for one who knows what a refusal means then.
    pub(crate) fn answers(&mut self, now: Moment, calls: &[Call], guarded: bool) -> Vec<Answer> {
        let text = now.to_string();
        let begun = Instant::now();
        let deadline = begun + self.timeout;
        let mut round = Round::of(calls, guarded);
        let mut backoff = Backoff::default();
        while !round.left.is_empty() {
            if self.line.is_none()
                && let Err(error) = self.dial(deadline, &mut backoff)
            {
                round.unsent = Some(error);
                break;
            }
            if !self.lacks.is_empty() && calls.iter().any(Call::may_write) {
                let user = self.target.user.as_deref();
                round.unsent = Some(rights::refused(&self.lacks, user, self.prefix()));
                break;
            }
            let fault = self.pass(&text, calls, &mut round, deadline);
            if let Some(fault) = fault {
                self.line = None;
                round.lose(fault);
                self.tell_lost(&round, begun.elapsed());
            }
            round.put_off();
            if !round.left.is_empty() && !backoff.wait(deadline) {
                break;
            }
        }
        self.tell(&text, calls, &round.replies, begun.elapsed());
        let Round {
            replies,
            again,
            lost,
            unsent,
            ..
        } = round;
        let fates = replies.into_iter().zip(again).zip(lost).zip(calls);
        fates
            .map(|(((reply, again), lost), call)| Answer {
                reply: self.judge(reply, lost, unsent.as_ref(), call),
                again,
            })
            .collect()
    }

    /// Sends the calls that are left and takes in what comes back. What the server does not know
    /// the script for was certainly not applied: it is sent again, the first one with the script.
    fn pass(
        &self,
        now: &str,
        calls: &[Call],
        round: &mut Round,
        deadline: Instant,
    ) -> Option<Fault> {
        let Round { left, replies, .. } = round;
        let mut whole = false;
        while !left.is_empty() {
            let mut packed = Packed::default();
            for at in left.iter() {
                replies[*at] = None;
            }
            for (at, call) in left.iter().map(|at| &calls[*at]).enumerate() {
                let (command, script) = match whole && at == 0 {
                    true => (self.run[1], self.script.text()),
                    false => (self.run[0], self.script.sha()),
                };
                let at = call.at.map(|at| at.to_string());
                let now = at.as_deref().unwrap_or(now);
                let script = [command, script, "0", &call.name, now];
                let words = match call.plain {
                    true => &script[3..4],
                    false => &script[..],
                };
                packed.begin(words.len() + call.args.len() + call.more.count());
                for word in words {
                    packed.word(word.as_bytes());
                }
                for arg in &call.args {
                    packed.word(arg);
                }
                packed.words(&call.more);
            }
            let answer = match &self.line {
                Some(line) => line.exchange(packed, deadline),
                None => return Some(Fault::Closed),
            };
            let answered = answer.replies.len().min(left.len());
            let mut unloaded = Vec::new();
            for (at, reply) in left.drain(..answered).zip(answer.replies) {
                match refusal(&reply) {
                    Some(refusal) if refusal.code == "NOSCRIPT" && !whole => unloaded.push(at),
                    _ => replies[at] = Some(reply),
                }
            }
            left.splice(..0, unloaded);
            if answer.fault.is_some() {
                return answer.fault;
            }
            whole = true;
        }
        None
    }

    fn judge(
        &self,
        reply: Option<Value>,
        lost: Option<Fault>,
        unsent: Option<&Error>,
        call: &Call,
    ) -> Result<Value, Error> {
        let (name, args) = (&call.name, &call.args);
        match (reply, lost, unsent) {
            (Some(reply), lost, _) => {
                let Some(refusal) = refusal(&reply) else {
                    return Ok(reply);
                };
                let error = error::refused(&refusal, name, args, &self.target, &self.script);
                match lost {
                    // That the server takes no such call now says nothing of the first time.
                    Some(fault) if call.class() != RetryClass::Read && error::withheld(&error) => {
                        let (target, timeout) = (&self.target, self.timeout);
                        Err(error::unanswered(fault, name, args, target, timeout))
                    }
                    _ => Err(error),
                }
            }
            // Of a call that only reads it matters more that the server is gone.
            (None, None, Some(error)) => Err(error.clone()),
            (None, Some(_), Some(error)) if call.class() == RetryClass::Read => Err(error.clone()),
            (None, Some(fault), _) => {
                let (target, timeout) = (&self.target, self.timeout);
                Err(error::unanswered(fault, name, args, target, timeout))
            }
            (None, None, None) => Err(Error::internal("a call without outcome")),
        }
    }

    /// Opens a line, also where the server is not yet ready. The first of a process is not waited
    /// for where there is none: that is a slip of the one who typed.
    fn dial(&mut self, deadline: Instant, backoff: &mut Backoff) -> Result<(), Error> {
        loop {
            let error = match self.dial_once(deadline) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let passes = error::passes(&error, self.greeted && self.patient);
            if !passes || !backoff.wait(deadline) {
                return Err(error);
            }
        }
    }

    /// Opens a line and logs in; for `local:` the server is started first, if need be.
    fn dial_once(&mut self, deadline: Instant) -> Result<(), Error> {
        let begun = Instant::now();
        let (line, server) = self.greet(deadline)?;
        self.trace.tell(
            &format!("connected to {}, Redis {}", self.target, server.version),
            begun.elapsed(),
        );
        if server.cluster && !self.script.prefix().contains('{') {
            return Err(error::cluster_prefix(self.script.prefix()));
        }
        if self.read_only && server.knows_read_only_scripts() {
            self.run = RUN_READ_ONLY;
        }
        self.clock.set(server.time);
        self.version = server.version;
        self.lacks = server.lacks;
        self.line = Some(line);
        self.greeted = true;
        Ok(())
    }

    /// Opens a line and logs in on it.
    fn greet(&self, deadline: Instant) -> Result<(Connection, Server), Error> {
        let told = |fault| error::unconnected(fault, &self.target, self.timeout);
        let rights = self.writes.then_some(self.script.prefix());
        loop {
            let line = match &self.target.address {
                Address::Local { dir, fsync } => {
                    local::Local::new(dir.as_deref())?.open(*fsync, deadline, told)?
                }
                address => Connection::open(address, deadline).map_err(told)?,
            };
            let local = matches!(self.target.address, Address::Local { .. });
            match handshake::login(&line, &self.target, &self.name, rights, deadline) {
                Ok(server) => return Ok((line, server)),
                Err(Failed::Refused(error)) => return Err(*error),
                // A server of ours that is just dying still takes connections; the next try
                // finds it gone and starts it again.
                Err(Failed::Fault(Fault::Closed)) if local && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(Failed::Fault(fault)) => return Err(told(fault)),
            }
        }
    }

    /// Tells `-v` that a line broke, and how many calls are made again.
    fn tell_lost(&self, round: &Round, took: Duration) {
        if self.trace.on() {
            let again = round.left.len();
            let line = format!("lost {}, calls made again: {again}", self.target);
            self.trace.tell(&line, took);
        }
    }

    /// Tells `-v` of an exchange: names and duration; `-vv`: arguments and replies too.
    fn tell(&self, now: &str, calls: &[Call], outcomes: &[Option<Value>], took: Duration) {
        if !self.trace.on() {
            return;
        }
        if !self.trace.full() {
            let what = match calls {
                [call] => call.name.clone(),
                [first, ..] => format!("{} calls, {} and so on", calls.len(), first.name),
                [] => return,
            };
            return self.trace.tell(&what, took);
        }
        for (call, outcome) in calls.iter().zip(outcomes) {
            let mut what = format!("{} {now}", call.name);
            for arg in &call.args {
                _ = write!(what, " {}", shown(arg));
            }
            if call.more.count() > 0 {
                _ = write!(what, " <{} bytes>", call.more.size());
            }
            let reply = outcome.as_ref().map_or("no answer".into(), told);
            self.trace.tell(&format!("{what} → {reply}"), took);
        }
    }
}

/// What came back for a call.
pub(crate) struct Answer {
    pub reply: Result<Value, Error>,
    /// Whether it was made again after an answer was lost: then this is the answer to the last of
    /// several, each of which may have been applied.
    pub again: bool,
}

/// The calls of one round trip, and how far they came.
struct Round {
    classes: Vec<RetryClass>,
    /// Those to be sent, in order.
    left: Vec<usize>,
    replies: Vec<Option<Value>>,
    again: Vec<bool>,
    /// What took the last answer of a call away.
    lost: Vec<Option<Fault>>,
    /// Why there is no line for those that are left.
    unsent: Option<Error>,
}

impl Round {
    fn of(calls: &[Call], guarded: bool) -> Round {
        let class = |call: &Call| match call.class() {
            RetryClass::Guarded if !guarded => RetryClass::Never,
            class => class,
        };
        Round {
            classes: calls.iter().map(class).collect(),
            left: (0..calls.len()).collect(),
            replies: vec![None; calls.len()],
            again: vec![false; calls.len()],
            lost: vec![None; calls.len()],
            unsent: None,
        }
    }

    /// Sorts those whose answer was lost into those that are made again and the others.
    fn lose(&mut self, fault: Fault) {
        let lossless = matches!(fault, Fault::Closed | Fault::TimedOut);
        for (place, at) in std::mem::take(&mut self.left).into_iter().enumerate() {
            // Only the first of them was refused in words that cannot be read.
            let fault = match &fault {
                Fault::Illegible if place > 0 => Fault::Closed,
                fault => fault.clone(),
            };
            self.lost[at] = Some(fault);
            if lossless && self.classes[at] != RetryClass::Never {
                self.again[at] = true;
                self.left.push(at);
            }
        }
    }

    /// Takes back those that the server put off: they were not applied. Their refusal stays, for
    /// the case that there is no time to try again.
    fn put_off(&mut self) {
        let replies = self.replies.iter().enumerate();
        let put_off = replies.filter(|(_, reply)| {
            let refusal = reply.as_ref().and_then(refusal);
            refusal.is_some_and(|refusal| PUT_OFF.contains(&refusal.code.as_str()))
        });
        self.left.extend(put_off.map(|(at, _)| at));
        self.left.sort_unstable();
    }
}

/// Refusals that pass: the call was not applied, and will be taken before long.
const PUT_OFF: [&str; 3] = ["LOADING", "BUSY", "MASTERDOWN"];

/// Returns the refusal, if the reply is one.
pub(crate) fn refusal(reply: &Value) -> Option<ServerError> {
    match reply {
        Value::ServerError(error) => Some(ServerError {
            code: error.code().to_string(),
            words: error.details().unwrap_or_default().to_string(),
        }),
        _ => None,
    }
}

/// Returns an argument for `-vv`: job data and other documents are masked, long texts cut.
fn shown(arg: &[u8]) -> String {
    let text = String::from_utf8_lossy(arg);
    let document = matches!(arg.first(), Some(b'{' | b'[' | b'"'));
    match document || arg.len() > 60 {
        true => format!("<{} bytes>", arg.len()),
        false => call_spec::typed(text.as_bytes()),
    }
}

/// Returns a reply for `-vv`.
fn told(reply: &Value) -> String {
    match reply {
        Value::Nil => "nil".into(),
        Value::Int(number) => number.to_string(),
        Value::BulkString(bytes) => shown(bytes),
        Value::Array(items) => format!("<{} items>", items.len()),
        reply => match refusal(reply) {
            Some(refusal) => format!("{} {}", refusal.code, refusal.words),
            None => "OK".into(),
        },
    }
}
