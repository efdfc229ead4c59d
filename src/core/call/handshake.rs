//! The handshake of a new connection: logs in, selects the database, and reads the server's version and time, in one
//! round trip.
//!
//! Any error of a login ends the connection, because the server would let it continue as the user `default`.

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::connect::{Connection, Fault, ReceivedReplies, WireEncodedCommands};
use super::error;
use super::reply::InfoText;
use super::{Value, reply, rights, server_error};
use crate::address::{Address, ServerTarget};
use crate::clock::SteadyInstant;
use crate::clock::moment::Moment;
use crate::error::{Error, Kind};
use crate::model::server::evicts_jobs;
use crate::name::Name;

/// The facts that a server reports about itself at the login.
#[derive(Debug)]
pub(crate) struct ServerInfo {
    pub version: String,
    pub mode: ServerMode,
    /// Whether the server says that it is a replica.
    pub is_replica: bool,
    /// How long the primary has been silent, if the server is a replica and the login asked for that.
    pub lag: Option<Duration>,
    /// The server's time when it replied, and the time before it was asked.
    pub time: Moment,
    pub asked_at: SteadyInstant,
    /// The commands that the user is not allowed to run, if the login asked for them.
    pub missing_rights: Vec<String>,
    /// `maxmemory-policy`, if the login asked for it and if the server may delete jobs by this policy when its memory
    /// is full.
    pub eviction: Option<String>,
}

/// The role of a server: alone, in a cluster, or a Sentinel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerMode {
    Standalone,
    Cluster,
    /// The server is a Sentinel, which has no data.
    Sentinel,
}

impl ServerInfo {
    fn unknown() -> ServerInfo {
        ServerInfo {
            version: String::new(),
            mode: ServerMode::Standalone,
            is_replica: false,
            lag: None,
            time: Moment::from_micros(0),
            asked_at: SteadyInstant::now(),
            missing_rights: Vec::new(),
            eviction: None,
        }
    }

    /// Whether the server has EVALSHA_RO and EVAL_RO. Redis 7 and later have them, and so has Valkey, whose versions
    /// begin at 7.
    pub(crate) fn has_read_only_scripts(&self) -> bool {
        is_redis_7_or_later(&self.version)
    }
}

/// Whether a version is 7 or higher: that of Redis 7 or later, or of Valkey.
pub(super) fn is_redis_7_or_later(version: &str) -> bool {
    let major = version.split('.').next();
    major.is_some_and(|major| major.parse::<u32>().is_ok_and(|major| major >= 7))
}

impl ServerMode {
    /// Reads the mode as HELLO and INFO name it.
    fn from_name(name: &str) -> ServerMode {
        match name.trim() {
            "cluster" => ServerMode::Cluster,
            "sentinel" => ServerMode::Sentinel,
            _ => ServerMode::Standalone,
        }
    }
}

/// Why a login failed.
pub(crate) enum LoginFailure {
    /// The connection broke.
    Fault(Fault),
    /// The server refused.
    Refused(Box<Error>),
}

impl LoginFailure {
    /// The error for a failed login. If the connection broke, `error_of_fault` makes the error.
    pub(crate) fn into_error(self, error_of_fault: impl FnOnce(Fault) -> Error) -> Error {
        match self {
            LoginFailure::Fault(fault) => error_of_fault(fault),
            LoginFailure::Refused(error) => *error,
        }
    }
}

/// Optional questions of a login: about rights, eviction and replication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionalLoginQueries<'a> {
    /// The prefix of the keys, if the login asks which commands the user may run on these keys.
    pub rights: Option<&'a str>,
    /// Whether the login asks if the server evicts jobs.
    pub eviction: bool,
    /// Whether the login asks how far a replica lags behind.
    pub lag: bool,
}

/// Logs in.
pub(crate) fn login(
    connection: &Connection,
    target: &ServerTarget,
    client_name: &str,
    questions: OptionalLoginQueries,
    deadline: Instant,
) -> Result<ServerInfo, LoginFailure> {
    let first = handshake_commands(target, client_name, questions);
    let mut server = ServerInfo::unknown();
    let replies = run_handshake_commands(connection, &first, deadline)?;
    if first
        .iter()
        .zip(&replies)
        .any(|(command, reply)| is_hello_refused(*command, reply))
    {
        return login_without_hello(connection, target, questions, deadline);
    }
    for (command, reply) in first.iter().zip(replies) {
        read_command_reply(*command, reply, target, &mut server)?;
        if server.mode == ServerMode::Sentinel {
            let mut packed = WireEncodedCommands::default();
            packed.add_command(&["SENTINEL", "MASTERS"]);
            let masters = connection.exchange(packed, deadline).replies.pop();
            let error = error::address_is_sentinel(target, read_master_names(masters));
            return Err(LoginFailure::Refused(Box::new(error)));
        }
    }
    Ok(server)
}

/// Logs in to a Sentinel.
pub(crate) fn login_to_sentinel(
    connection: &Connection,
    target: &ServerTarget,
    client_name: &str,
    deadline: Instant,
) -> Result<(), LoginFailure> {
    let login = auth_and_hello_commands(target, client_name);
    let replies = run_handshake_commands(connection, &login, deadline)?;
    for (command, reply) in login.iter().zip(&replies) {
        // A refused HELLO is no failure: a Sentinel without HELLO has no users to log in as, either.
        if let Some(refused) = server_error(reply)
            && !is_hello_refused(*command, reply)
        {
            let error = error::login_refused(&refused, target);
            return Err(LoginFailure::Refused(Box::new(error)));
        }
    }
    Ok(())
}

/// A master that a Sentinel watches.
#[derive(Deserialize)]
pub(super) struct WatchedMaster {
    pub name: Name,
    /// What the Sentinel knows about the master, separated by commas: `master,failover_in_progress`.
    #[serde(default)]
    pub flags: String,
    /// Grows with each failover.
    #[serde(default, rename = "config-epoch")]
    pub config_epoch: u64,
}

/// Reads the masters from the reply to `SENTINEL MASTERS`, if there is one.
pub(super) fn read_masters(reply: Option<Value>) -> Vec<WatchedMaster> {
    let masters = reply.and_then(|masters| reply::read_reply("SENTINEL", masters).ok());
    masters.unwrap_or_default()
}

/// Reads the names of the masters from the reply to `SENTINEL MASTERS`, if there is one.
fn read_master_names(reply: Option<Value>) -> Vec<Name> {
    let masters = read_masters(reply).into_iter();
    masters.map(|master| master.name).collect()
}

/// One command of the handshake.
#[derive(Clone, Copy)]
enum HandshakeCommand<'a> {
    /// AUTH with a password alone, or with its user. A server that has no password refuses only AUTH without a user.
    Auth(Option<&'a str>, &'a [u8]),
    Hello(Option<(&'a str, &'a [u8])>, &'a str),
    Select(u32),
    Fsync(&'static str),
    Info,
    Memory,
    Replication,
    /// Tests which commands the user may run on keys with this prefix.
    Rights(&'a str),
    Time,
}

fn handshake_commands<'a>(
    target: &'a ServerTarget,
    client_name: &'a str,
    questions: OptionalLoginQueries<'a>,
) -> Vec<HandshakeCommand<'a>> {
    let mut commands = auth_and_hello_commands(target, client_name);
    add_commands_after_login(target, questions, &mut commands);
    commands
}

/// The commands that say who this client is.
fn auth_and_hello_commands<'a>(
    target: &'a ServerTarget,
    client_name: &'a str,
) -> Vec<HandshakeCommand<'a>> {
    let password = target.password.as_ref().map(|password| password.reveal());
    let mut commands = Vec::new();
    match (&target.user, password) {
        (Some(user), password) => {
            commands.push(HandshakeCommand::Hello(
                Some((user, password.unwrap_or_default())),
                client_name,
            ));
        }
        (None, Some(password)) => {
            commands.push(HandshakeCommand::Auth(None, password));
            commands.push(HandshakeCommand::Hello(None, client_name));
        }
        (None, None) => commands.push(HandshakeCommand::Hello(None, client_name)),
    }
    commands
}

/// Adds the commands after the login: selecting the database, and the optional questions about the server.
fn add_commands_after_login<'a>(
    target: &'a ServerTarget,
    questions: OptionalLoginQueries<'a>,
    commands: &mut Vec<HandshakeCommand<'a>>,
) {
    if target.db != 0 {
        commands.push(HandshakeCommand::Select(target.db));
    }
    if let Address::Local {
        fsync: Some(fsync), ..
    } = &target.address
    {
        commands.push(HandshakeCommand::Fsync(fsync.into_str()));
    }
    commands.extend(questions.rights.map(HandshakeCommand::Rights));
    commands.extend(questions.eviction.then_some(HandshakeCommand::Memory));
    commands.extend(questions.lag.then_some(HandshakeCommand::Replication));
    commands.push(HandshakeCommand::Time);
}

/// Logs in without HELLO, which the server does not know or the user is not allowed to run. The connection has no
/// name, and the version comes from INFO if the user may run that.
fn login_without_hello(
    connection: &Connection,
    target: &ServerTarget,
    questions: OptionalLoginQueries,
    deadline: Instant,
) -> Result<ServerInfo, LoginFailure> {
    let password = target.password.as_ref().map(|password| password.reveal());
    let mut commands = Vec::new();
    if target.user.is_some() || password.is_some() {
        commands.push(HandshakeCommand::Auth(
            target.user.as_deref(),
            password.unwrap_or_default(),
        ));
    }
    add_commands_after_login(target, questions, &mut commands);
    commands.push(HandshakeCommand::Info);
    let mut server = ServerInfo::unknown();
    let replies = run_handshake_commands(connection, &commands, deadline)?;
    for (command, reply) in commands.iter().zip(replies) {
        read_command_reply(*command, reply, target, &mut server)?;
    }
    Ok(server)
}

fn run_handshake_commands(
    connection: &Connection,
    commands: &[HandshakeCommand],
    deadline: Instant,
) -> Result<Vec<Value>, LoginFailure> {
    let mut packed = WireEncodedCommands::default();
    packed.mark_to_wipe_on_drop();
    for command in commands {
        pack_handshake_command(*command, &mut packed);
    }
    let ReceivedReplies { replies, fault } = connection.exchange(packed, deadline);
    match fault {
        None => Ok(replies),
        // A server that refuses the login replies with an error and closes the connection: report that error,
        // not the closed connection.
        Some(_) if replies.iter().any(|reply| server_error(reply).is_some()) => Ok(replies),
        Some(fault) => Err(LoginFailure::Fault(fault)),
    }
}

fn pack_handshake_command(command: HandshakeCommand, packed: &mut WireEncodedCommands) {
    match command {
        HandshakeCommand::Auth(None, password) => packed.add_command(&[b"AUTH", password]),
        HandshakeCommand::Auth(Some(user), password) => {
            packed.add_command(&[b"AUTH", user.as_bytes(), password])
        }
        HandshakeCommand::Hello(None, name) => packed.add_command(&["HELLO", "2", "SETNAME", name]),
        HandshakeCommand::Hello(Some((user, password)), name) => packed.add_command(&[
            b"HELLO" as &[u8],
            b"2",
            b"AUTH",
            user.as_bytes(),
            password,
            b"SETNAME",
            name.as_bytes(),
        ]),
        HandshakeCommand::Select(db) => packed.add_command(&["SELECT", &db.to_string()]),
        HandshakeCommand::Fsync(word) => {
            packed.add_command(&["CONFIG", "SET", "appendfsync", word])
        }
        HandshakeCommand::Info => packed.add_command(&["INFO", "server"]),
        HandshakeCommand::Memory => packed.add_command(&["INFO", "memory"]),
        HandshakeCommand::Replication => packed.add_command(&["INFO", "replication"]),
        HandshakeCommand::Rights(prefix) => rights::add_handshake_rights_test(prefix, packed),
        HandshakeCommand::Time => packed.add_command(&["TIME"]),
    }
}

fn is_hello_refused(command: HandshakeCommand, reply: &Value) -> bool {
    let Some(error) = server_error(reply) else {
        return false;
    };
    match command {
        HandshakeCommand::Hello(..) => {
            error.code == "NOPERM" || error.message.to_lowercase().contains("unknown command")
        }
        _ => false,
    }
}

/// Stores in `server` what the reply to a command says. Fails if the server refused a command that must succeed, or is too
/// old.
fn read_command_reply(
    command: HandshakeCommand,
    reply: Value,
    target: &ServerTarget,
    server: &mut ServerInfo,
) -> Result<(), LoginFailure> {
    if let Some(refused) = server_error(&reply) {
        return match command {
            HandshakeCommand::Rights(prefix)
                if refused.is_cross_slot() && server.mode != ServerMode::Cluster =>
            {
                let error = error::untagged_cluster_prefix(prefix, target);
                Err(LoginFailure::Refused(Box::new(error)))
            }
            HandshakeCommand::Info
            | HandshakeCommand::Memory
            | HandshakeCommand::Replication
            | HandshakeCommand::Rights(_) => Ok(()),
            _ => Err(LoginFailure::Refused(Box::new(error::login_refused(
                &refused, target,
            )))),
        };
    }
    match (command, reply) {
        (HandshakeCommand::Hello(..), Value::Array(parts)) => {
            for pair in parts.chunks_exact(2) {
                match (
                    scalar_text_or_empty(&pair[0]).as_str(),
                    scalar_text_or_empty(&pair[1]),
                ) {
                    ("version", version) => server.version = version,
                    ("mode", mode) => server.mode = ServerMode::from_name(&mode),
                    ("role", role) => server.is_replica = role != "master",
                    _ => {}
                }
            }
            require_supported_version(&server.version)
        }
        (HandshakeCommand::Info, reply) => {
            let info = InfoText(scalar_text_or_empty(&reply));
            server.mode = ServerMode::from_name(info.server_mode().unwrap_or_default());
            server.version = info.field("redis_version").unwrap_or_default().to_string();
            require_supported_version(&server.version)
        }
        (HandshakeCommand::Time, reply) => {
            let time = reply::read_reply("TIME", reply);
            let time = time.map_err(|_| LoginFailure::Fault(Fault::MalformedReply))?;
            server.time = reply::moment_of_time_reply(time);
            Ok(())
        }
        (HandshakeCommand::Memory, reply) => {
            let info = InfoText(scalar_text_or_empty(&reply));
            let limit = info.number("maxmemory").unwrap_or(0);
            let policy = info.field("maxmemory_policy");
            let policy = policy.filter(|policy| evicts_jobs(policy, limit));
            server.eviction = policy.map(str::to_owned);
            Ok(())
        }
        (HandshakeCommand::Replication, reply) => {
            server.lag = InfoText(scalar_text_or_empty(&reply)).time_since_primary_contact();
            Ok(())
        }
        (HandshakeCommand::Rights(_), reply) => {
            server.missing_rights = rights::read_forbidden_commands(reply);
            Ok(())
        }
        (
            HandshakeCommand::Auth(..) | HandshakeCommand::Select(_) | HandshakeCommand::Fsync(_),
            _,
        ) => Ok(()),
        (HandshakeCommand::Hello(..), _) => Err(LoginFailure::Fault(Fault::MalformedReply)),
    }
}

/// Refuses a server older than 6.2. A server that does not report its version is accepted.
fn require_supported_version(version: &str) -> Result<(), LoginFailure> {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) if (major, minor) < (6, 2) => {
            let message = format!("Redis {version} is too old; `qless` requires 6.2");
            Err(LoginFailure::Refused(Box::new(Error::new(
                Kind::Unsupported,
                message,
            ))))
        }
        _ => Ok(()),
    }
}

fn scalar_text_or_empty(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        _ => String::new(),
    }
}
