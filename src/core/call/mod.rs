//! Calls of the Lua core on the server. A call has a name, the time as `now`, and arguments; the result is a reply or
//! an error.
//!
//! `Core` repeats a call that the server certainly did not apply, until the call's timeout. `Core` also repeats a call
//! whose reply was lost, with an unchanged `now`, if the call's retry class allows that; `api/reconcile.rs` then finds
//! out what the second reply means. Otherwise the error says that the change may or may not have happened.

pub(crate) mod ahead;
pub(crate) mod calls;
mod cluster;
pub(crate) mod connect;
mod deserialize;
mod dial;
mod error;
mod handshake;
pub(crate) mod local;
mod local_socket;
pub(crate) mod reach;
mod replicas;
pub(crate) mod reply;
mod resp;
pub(crate) mod rights;
mod round;
mod route;
mod sentinel;
mod stream;
mod subscription;
mod tls;
pub(crate) mod trace;

use std::borrow::Cow;
use std::time::{Duration, Instant};

pub(crate) use redis::Value;
use serde::de::DeserializeOwned;

use self::calls::RetryClass;
use self::connect::{Connection, Fault, WireEncodedCommands};
use self::dial::Backoff;
use self::error::ServerError;
pub(crate) use self::error::{blocks_writes, may_answer_later};
use self::reply::{InfoText, JobsPerReply};
use self::rights::MissingRights;
pub(crate) use self::round::{Call, CallReply};
use self::round::{MOVING, POSTPONED, RoundTrip};
use self::route::{MAX_MOVES, MovedReply, Route};
pub(crate) use self::subscription::{
    ConnectionLoss, PublishedMessage, ReconnectingSubscription, SubscriptionNotice,
};
use self::tls::TlsClient;
use self::trace::CallTracer;
use super::script::Script;
use crate::address::{Address, ServerTarget};
use crate::clock::moment::Moment;
use crate::clock::{Clock, SteadyInstant};
use crate::error::{Error, Kind};
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::name::Name;

/// The settings of a connection to the core.
#[derive(Debug)]
pub struct ConnectionSettings {
    pub target: ServerTarget,
    pub prefix: String,
    /// The name of the connection in `CLIENT LIST`.
    pub name: String,
    pub timeout: Duration,
    pub clock: Clock,
    pub trace: CallTracer,
    /// Whether scripts run by EVALSHA_RO, so that the server lets them read only.
    pub read_only: bool,
    /// Whether the command may change something. If so, the login asks the server for the user's rights.
    pub writes: bool,
    /// Whether the login asks the server if it deletes jobs when its memory is full.
    pub asks_for_eviction: bool,
}

/// The Redis commands that run a script that may write: the script is named by its SHA, or sent as text.
const RUN: [&str; 2] = ["EVALSHA", "EVAL"];

/// The Redis commands that run a script that may only read, by its SHA or its text. Replicas accept them, too.
const RUN_READ_ONLY: [&str; 2] = ["EVALSHA_RO", "EVAL_RO"];

/// The Lua core of one server.
#[derive(Debug)]
pub struct Core {
    target: ServerTarget,
    route: Route,
    /// The TLS settings of connections; `None` if connections are not encrypted.
    tls: Option<TlsClient>,
    timeout: Duration,
    /// The name of the connection: `qless-<command>`.
    name: String,
    script: Script,
    clock: Clock,
    trace: CallTracer,
    read_only: bool,
    writes: bool,
    /// The Redis commands that a change needs but the user is not allowed to run, as the last login found.
    missing_rights: Vec<String>,
    asks_for_eviction: bool,
    /// The server's `maxmemory-policy`, if that policy deletes keys of jobs.
    eviction: Option<String>,
    /// How long the server, if a replica, has not heard from its primary. Only a read-only login asks for that.
    lag: Option<Duration>,
    /// The Redis commands in use that run the script: one by its SHA, one by its text.
    run: [&'static str; 2],
    /// The server's version, as the last login reported it.
    version: String,
    /// Dropped after any fault.
    connection: Option<Connection>,
    /// The number of connections opened so far.
    connections: u64,
    /// The number of connections that broke.
    losses: u64,
    /// Requests that were sent ahead.
    ahead: ahead::OutstandingRequests,
    /// Whether calls read and write the socket in the caller's thread. Otherwise the connection has its own thread.
    stays_in_thread: bool,
    /// Whether a call waits until its timeout for a lost server to come back. Otherwise the call fails immediately.
    waits_for_lost_server: bool,
    /// Whether there was a connection.
    was_connected: bool,
    /// Whether a call succeeded that may have changed something.
    has_made_changes: bool,
    /// How many jobs the next call reads.
    pub(crate) jobs_per_reply: JobsPerReply,
    /// The time at which the caller wants each call to end, even if the timeout is longer.
    caller_deadline: Option<Instant>,
}

impl Core {
    /// Connects and logs in.
    pub fn connect(settings: ConnectionSettings) -> Result<Core, Error> {
        Core::connect_within(settings, Duration::MAX)
    }

    /// Connects and logs in within `limit` or the timeout, whichever is shorter. Later calls have the whole timeout.
    pub(crate) fn connect_within(
        settings: ConnectionSettings,
        limit: Duration,
    ) -> Result<Core, Error> {
        let timeout = settings.timeout;
        let mut core = Core::unconnected_with_tls(settings)?;
        core.timeout = timeout.min(limit);
        core.open_connection_with_retries(Instant::now() + core.timeout, &mut Backoff::default())?;
        core.timeout = timeout;
        Ok(core)
    }

    /// Connects and logs in with one attempt, and fails if the server is not ready. Later calls do not wait for a lost
    /// server, either.
    pub(crate) fn connect_once(settings: ConnectionSettings) -> Result<Core, Error> {
        let mut core = Core::unconnected_with_tls(settings)?;
        core.waits_for_lost_server = false;
        core.open_connection_once(Instant::now() + core.timeout)?;
        Ok(core)
    }

    fn unconnected_with_tls(settings: ConnectionSettings) -> Result<Core, Error> {
        let tls = match (&settings.target.tls, settings.target.first_host_and_port()) {
            (Some(tls), Some(node)) => Some(TlsClient::new(tls, &node.host)?),
            _ => None,
        };
        Ok(Core::unconnected(settings, tls))
    }

    fn unconnected(settings: ConnectionSettings, tls: Option<TlsClient>) -> Core {
        Core {
            target: settings.target,
            route: Route::default(),
            tls,
            timeout: settings.timeout,
            name: settings.name,
            script: Script::new(&settings.prefix),
            clock: settings.clock,
            trace: settings.trace,
            read_only: settings.read_only,
            writes: settings.writes,
            missing_rights: Vec::new(),
            asks_for_eviction: settings.asks_for_eviction,
            eviction: None,
            lag: None,
            run: RUN,
            version: String::new(),
            connection: None,
            connections: 0,
            losses: 0,
            ahead: ahead::OutstandingRequests::default(),
            stays_in_thread: false,
            waits_for_lost_server: true,
            was_connected: false,
            has_made_changes: false,
            jobs_per_reply: JobsPerReply::new(MAX_JOBS_PER_CALL, MAX_JOBS_PER_CALL),
            caller_deadline: None,
        }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The server's time.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// The time limit of a call, all its repetitions included.
    pub fn call_timeout(&self) -> Duration {
        self.timeout
    }

    /// Each later call ends at this moment or after its timeout, whichever comes first. `None` removes the limit.
    pub(crate) fn limit_calls_until(&mut self, deadline: Option<Instant>) {
        self.caller_deadline = deadline;
    }

    /// Makes later calls fail immediately if the server is lost, for a caller that repeats its calls itself.
    pub fn stop_waiting_for_lost_server(&mut self) {
        self.waits_for_lost_server = false;
    }

    /// Removes the connection's own thread: later calls read and write the socket in the caller's thread. This is for a
    /// caller that makes its calls one after the other, in a thread of its own.
    pub(crate) fn make_calls_in_caller_thread(&mut self) {
        self.receive_outstanding_replies();
        self.stays_in_thread = true;
        self.connection = self
            .connection
            .take()
            .map(Connection::take_stream_from_thread);
    }

    /// The prefix of all keys.
    pub fn prefix(&self) -> &str {
        self.script.prefix()
    }

    /// The address without its password.
    pub fn address(&self) -> String {
        self.target.to_string()
    }

    /// The server's `run_id`, which changes at each restart; `None` if the server does not report one.
    pub fn read_run_id(&mut self) -> Option<String> {
        let mut info = WireEncodedCommands::default();
        info.add_command(&["INFO", "server"]);
        let deadline = Instant::now() + self.timeout;
        let info: InfoText = reply::read_reply("INFO", self.send_once(info, deadline)?).ok()?;
        info.field("run_id").map(str::to_owned)
    }

    /// Sends one Redis command on the open connection, without a repetition. The result is `None` if no connection is
    /// open or no reply came.
    fn send_once(&mut self, packed: WireEncodedCommands, deadline: Instant) -> Option<Value> {
        self.exchange_once(packed, deadline).into_iter().next()
    }

    /// Sends Redis commands on the open connection, without a repetition. Returns the replies that came, which may be
    /// fewer than the commands.
    pub(crate) fn exchange_once(
        &mut self,
        packed: WireEncodedCommands,
        deadline: Instant,
    ) -> Vec<Value> {
        self.receive_outstanding_replies();
        let Some(connection) = &self.connection else {
            return Vec::new();
        };
        let exchanged = connection.exchange(packed, deadline);
        if exchanged.fault.is_some() {
            self.drop_connection_and_count_loss();
        }
        exchanged.replies
    }

    /// Drops the connection, which broke, and counts the loss.
    fn drop_connection_and_count_loss(&mut self) {
        self.connection = None;
        self.losses += 1;
    }

    /// How many connections broke.
    pub(crate) fn lost_connection_count(&self) -> u64 {
        self.losses
    }

    /// The number of connections opened so far. If it has changed, an earlier connection was replaced.
    pub(crate) fn connection_number(&self) -> u64 {
        self.connections
    }

    /// The number of the database.
    pub(crate) fn db_number(&self) -> u32 {
        self.target.db
    }

    /// The `maxmemory-policy` by which the server deletes jobs when its memory is full. `None`: the server deletes no
    /// jobs, or the login did not ask.
    pub(crate) fn job_eviction_policy(&self) -> Option<&str> {
        self.eviction.as_deref()
    }

    /// How long the server has not heard from its primary. `None`: the server is no replica, or the login did not ask,
    /// since calls may write.
    pub(crate) fn time_since_primary_contact(&self) -> Option<Duration> {
        self.lag
    }

    /// The server's version.
    pub fn server_version(&self) -> &str {
        &self.version
    }

    /// Whether a script can ask the server which commands the user may run, as Redis 7 and later allow.
    pub(crate) fn scripts_can_check_user_rights(&self) -> bool {
        handshake::is_redis_7_or_later(&self.version)
    }

    /// The name of the script: its SHA-1.
    pub(crate) fn script_sha(&self) -> &str {
        self.script.sha()
    }

    /// The error that `qless` reports when the server refuses a call with this code, such as `OOM`.
    pub(crate) fn refusal_error(&self, code: &str) -> Error {
        error::refusal_with_code(code, &self.target)
    }

    /// Asks the server for missing rights: the Redis commands that a call may need but the user is not allowed to run.
    pub(crate) fn test_rights(&mut self, now: Moment) -> Result<MissingRights, Error> {
        let (read_only, one_primary) = (self.read_only, self.relies_on_single_cluster_primary());
        let test = rights::full_rights_test(self.run[1], read_only, one_primary, self.prefix());
        let missing: Vec<Name> = self.call(now, test)?;
        Ok(MissingRights::from_names(&missing))
    }

    /// The error that names Redis commands which the user is not allowed to run.
    pub(crate) fn missing_rights_error(&self, missing: &[String]) -> Error {
        rights::missing_rights_error(missing, &self.target, self.prefix())
    }

    /// Makes one call and returns its reply as `-o raw` writes it.
    pub fn call_for_raw_output(&mut self, now: Moment, call: &Call) -> Result<Vec<u8>, Error> {
        let reply = self
            .call_all_for_replies(now, std::slice::from_ref(call))
            .pop();
        reply::raw_lines(reply.ok_or_else(no_outcome_internal_error)?.result?)
    }

    /// Makes one call and reads its reply.
    pub(crate) fn call<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        call: Call,
    ) -> Result<T, Error> {
        self.call_for_reply(now, call)?.read()
    }

    /// Makes one call. The result also says whether the call was repeated after a lost reply.
    pub(crate) fn call_for_reply(&mut self, now: Moment, call: Call) -> Result<CallReply, Error> {
        let reply = self
            .call_all_for_replies(now, std::slice::from_ref(&call))
            .pop();
        reply.ok_or_else(no_outcome_internal_error)
    }

    /// Makes calls in one round trip, and reads their replies. The results are in the order of the calls.
    pub(crate) fn call_all<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        calls: &[Call],
    ) -> Vec<Result<T, Error>> {
        let replies = self.call_all_for_replies(now, calls);
        replies.into_iter().map(CallReply::read).collect()
    }

    /// Makes calls in one round trip, and repeats calls as far as the timeout and their retry classes allow. Each
    /// result also says whether its call was repeated after a lost reply.
    pub(crate) fn call_all_for_replies(&mut self, now: Moment, calls: &[Call]) -> Vec<CallReply> {
        self.receive_outstanding_replies();
        let text = now.to_string();
        let begun = Instant::now();
        let deadline = begun + self.timeout;
        let deadline = self
            .caller_deadline
            .map_or(deadline, |end| end.min(deadline));
        let mut round = RoundTrip::new(calls);
        let mut backoff = Backoff::default();
        let mut moves = 0;
        while !round.pending.is_empty() {
            self.disconnect_if_last_sentinel_names_another_master(deadline);
            if self.connection.is_none()
                && let Err(error) = self.open_connection_with_retries(deadline, &mut backoff)
            {
                // Drop the replies that redirected the calls to another server. The error to report is why that server
                // cannot be reached.
                round.forget_error_replies(&["MOVED", "READONLY"]);
                round.unsent = Some(error);
                break;
            }
            if !self.missing_rights.is_empty() && calls.iter().any(Call::may_write) {
                let (missing, target) = (&self.missing_rights, &self.target);
                let error =
                    rights::missing_rights_before_send_error(missing, target, self.prefix());
                round.unsent = Some(error);
                break;
            }
            if let Some(fault) = self.send_pending(&text, calls, &mut round, deadline) {
                self.drop_connection_and_count_loss();
                round.mark_lost_and_keep_repeatable(fault);
                self.trace_lost_connection(&round, begun.elapsed());
            }
            let follows = self.follow_redirect_and_skip_backoff(&mut round, &mut moves);
            round.make_pending_again(&POSTPONED);
            if !round.pending.is_empty() && !follows && !backoff.wait_for_next_attempt(deadline) {
                break;
            }
        }
        self.trace_calls(&text, calls, &round.replies, begun.elapsed());
        let RoundTrip {
            replies,
            repeated,
            lost,
            unsent,
            ..
        } = round;
        let outcomes = replies.into_iter().zip(repeated).zip(lost).zip(calls);
        let mut outcomes: Vec<CallReply> = outcomes
            .map(|(((reply, repeated), lost), call)| CallReply {
                call: call.name.clone(),
                spec: call.spec(),
                subject_args: call.args_through_changed_subject().to_vec(),
                result: self.call_result(reply, lost, unsent.as_ref(), call),
                repeated,
            })
            .collect();
        if unsent.is_none() {
            self.name_missing_rights(calls, &mut outcomes, deadline);
        }
        for (call, outcome) in calls.iter().zip(&mut outcomes) {
            self.has_made_changes |= call.may_write() && outcome.result.is_ok();
            if let (true, Err(error)) = (self.has_made_changes, &mut outcome.result) {
                *error = error.clone().without_unchanged_claim();
            }
        }
        outcomes
    }

    /// Drops the connection if a reply says that another server has the data, and makes the refused calls pending
    /// again. Returns whether the next attempt is made immediately, without a wait.
    fn follow_redirect_and_skip_backoff(
        &mut self,
        round: &mut RoundTrip,
        moves: &mut usize,
    ) -> bool {
        match &self.target.address {
            Address::Cluster(_) => {
                if round.first_error(&MOVING).is_some() {
                    self.route.changes += 1;
                }
                // A node that is cut off from its cluster replies CLUSTERDOWN to each call. Connect again, since
                // another node may serve the slot by now.
                if round.first_error(&["CLUSTERDOWN"]).is_some() {
                    self.connection = None;
                }
                let moved = round
                    .first_error(&["MOVED"])
                    .and_then(MovedReply::from_reply);
                let Some(moved) = moved else {
                    return false;
                };
                *moves += 1;
                self.disconnect_to_follow_moved(&moved);
                round.make_pending_again(&["MOVED"]);
                // Opening a connection ends at a node that has the slot, so each `MOVED` reply to a call means that
                // the slot has moved since. If it keeps moving, wait between the attempts.
                *moves <= MAX_MOVES
            }
            // The master has become a replica: connect again, since the Sentinels know the new master.
            Address::Sentinel(_) if round.first_error(&["READONLY"]).is_some() => {
                self.connection = None;
                round.make_pending_again(&["READONLY"]);
                false
            }
            _ => false,
        }
    }

    /// Replaces each error about a missing right by an error that names all commands which the user may not run. The
    /// server's own error does not name them all.
    fn name_missing_rights(
        &mut self,
        calls: &[Call],
        replies: &mut [CallReply],
        deadline: Instant,
    ) {
        let lacks_right = |call: &Call, reply: &CallReply| {
            let error = reply.result.as_ref().err();
            !call.is_plain && error.map(Error::kind) == Some(Kind::NoPerm)
        };
        let mut both = calls.iter().zip(&*replies);
        let Some((call, _)) = both.find(|(call, reply)| lacks_right(call, reply)) else {
            return;
        };
        let mut packed = WireEncodedCommands::default();
        let one_primary = self.relies_on_single_cluster_primary();
        let (only_reads, prefix) = (!call.may_write(), self.prefix());
        rights::add_rights_test_inside_scripts(
            self.run[1],
            only_reads,
            one_primary,
            prefix,
            &mut packed,
        );
        let missing = self
            .send_once(packed, deadline)
            .map(rights::read_forbidden_commands);
        let Some(missing) = missing.filter(|missing| !missing.is_empty()) else {
            return;
        };
        let error = rights::missing_rights_error(&missing, &self.target, self.prefix());
        for (call, reply) in calls.iter().zip(replies) {
            if lacks_right(call, reply) {
                reply.result = Err(error.clone());
            }
        }
    }

    /// Sends the pending calls and stores their replies. If the server does not have the script yet, it applied none of
    /// the calls that it refused for that. They are sent again, the first one with the text of the script. If the
    /// server's time was read long ago, it is read again along with the calls.
    fn send_pending(
        &mut self,
        now: &str,
        calls: &[Call],
        round: &mut RoundTrip,
        deadline: Instant,
    ) -> Option<Fault> {
        let RoundTrip {
            pending, replies, ..
        } = round;
        let mut with_script = false;
        while !pending.is_empty() {
            for at in pending.iter() {
                replies[*at] = None;
            }
            let mut packed =
                self.pack_calls(now, pending.iter().map(|at| &calls[*at]), with_script);
            if self.clock.is_server_time_old() {
                packed.add_command(&["TIME"]);
            }
            let asked_at = SteadyInstant::now();
            let mut exchanged = match &self.connection {
                Some(connection) => connection.exchange(packed, deadline),
                None => return Some(Fault::Closed),
            };
            if exchanged.replies.len() > pending.len()
                && let Some(time) = exchanged.replies.pop()
                && let Ok(time) = reply::read_reply("TIME", time)
            {
                let time = reply::moment_of_time_reply(time);
                self.clock.set_server_time(time, asked_at);
            }
            let received = exchanged.replies.len().min(pending.len());
            let mut without_script = Vec::new();
            for (at, reply) in pending.drain(..received).zip(exchanged.replies) {
                match server_error(&reply) {
                    Some(error) if error.code == "NOSCRIPT" && !with_script => {
                        without_script.push(at);
                    }
                    _ => replies[at] = Some(reply),
                }
            }
            pending.splice(..0, without_script);
            if exchanged.fault.is_some() {
                return exchanged.fault;
            }
            with_script = true;
        }
        None
    }

    /// Encodes calls as Redis commands. If `with_script` is set, the first call sends the text of the script in place
    /// of its SHA.
    fn pack_calls<'c>(
        &self,
        now: &str,
        calls: impl Iterator<Item = &'c Call>,
        with_script: bool,
    ) -> WireEncodedCommands {
        let mut packed = WireEncodedCommands::default();
        for (at, call) in calls.enumerate() {
            let (command, script) = if with_script && at == 0 {
                (self.run[1], Cow::from(self.script.script_text()))
            } else {
                (self.run[0], Cow::from(self.script.sha()))
            };
            let own_time = call.at.map(|at| at.to_string());
            let now = own_time.as_deref().unwrap_or(now);
            let keys = self.script.routing_keys();
            let rest = call.args.len() + call.packed_args.word_count();
            if call.is_plain {
                packed.begin_command(1 + rest);
                packed.add_word_to_current_command(call.name.as_bytes());
            } else {
                packed.begin_command(5 + keys.len() + rest);
                packed.add_word_to_current_command(command.as_bytes());
                packed.add_word_to_current_command(script.as_bytes());
                packed.add_word_to_current_command(if keys.is_empty() { b"0" } else { b"2" });
                for word in keys.iter().map(String::as_str).chain([&*call.name, now]) {
                    packed.add_word_to_current_command(word.as_bytes());
                }
            }
            for arg in &call.args {
                packed.add_word_to_current_command(arg);
            }
            packed.add_packed_words(&call.packed_args);
        }
        packed
    }

    /// The result of a call: its last reply, or the error if the server refused the call, the reply was lost, or the
    /// call was not sent.
    fn call_result(
        &self,
        reply: Option<Value>,
        lost: Option<Fault>,
        unsent: Option<&Error>,
        call: &Call,
    ) -> Result<Value, Error> {
        let lost_error = |fault| error::call_lost(fault, call, &self.target, self.timeout);
        match (reply, lost, unsent) {
            (Some(reply), lost, _) => {
                let Some(refused) = server_error(&reply) else {
                    return Ok(reply);
                };
                let error = error::call_refused(&refused, call, &self.target, &self.script);
                match lost {
                    Some(fault)
                        if call.retry_class() != RetryClass::Read
                            && error::blocks_writes(&error) =>
                    {
                        Err(lost_error(fault))
                    }
                    _ => Err(error),
                }
            }
            // If the reply to a read was lost, and no connection is open to repeat the read, report why there is none.
            (None, None, Some(error)) => Err(error.clone()),
            (None, Some(_), Some(error)) if call.retry_class() == RetryClass::Read => {
                Err(error.clone())
            }
            (None, Some(fault), _) => Err(lost_error(fault)),
            (None, None, None) => Err(no_outcome_internal_error()),
        }
    }
}

fn no_outcome_internal_error() -> Error {
    Error::internal("a call without outcome")
}

fn server_error(reply: &Value) -> Option<ServerError> {
    match reply {
        Value::ServerError(error) => Some(ServerError {
            code: error.code().to_string(),
            message: error.details().unwrap_or_default().to_string(),
        }),
        _ => None,
    }
}
