//! The line to a server: resolving, connecting, sending and reading, each under a deadline.
//!
//! The crate's connection lives in a thread of its own, which is abandoned when the deadline
//! passes: neither name lookup nor connecting to a Unix socket can be given one, and a server that
//! drips bytes outlives every read timeout. After any fault the line is dropped, never used again.

use std::io;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{Client, ConnectionAddr, ErrorKind, IntoConnectionInfo};
use redis::{RedisConnectionInfo, RedisError, RedisResult, Value};
use zeroize::Zeroize;

use crate::address::Address;
use crate::error::io_words;

/// An open line.
#[derive(Debug)]
pub(crate) struct Connection {
    asks: Sender<Ask>,
    answers: Receiver<Answer>,
}

/// Why a line could not be opened, or is of no use any more.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The name has no address.
    Unresolved,
    /// The server is not there, with the system's words.
    Unreachable(io::ErrorKind, String),
    /// The deadline passed.
    TimedOut,
    /// The connection ended.
    Closed,
    /// What came is not Redis.
    Strange,
    /// A refusal in words that are not UTF-8, which the crate cannot read.
    Illegible,
}

/// What came back: the replies that were read, and the fault that ended the line.
#[derive(Debug)]
pub(crate) struct Answer {
    pub replies: Vec<Value>,
    pub fault: Option<Fault>,
}

struct Ask {
    /// Wiped afterwards, if it holds a password.
    bytes: Packed,
    deadline: Instant,
}

/// Commands as they go over the wire.
#[derive(Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    commands: usize,
    secret: bool,
}

impl Packed {
    /// Adds a command.
    pub(crate) fn add<W: AsRef<[u8]>>(&mut self, words: &[W]) {
        self.begin(words.len());
        for word in words {
            self.word(word.as_ref());
        }
    }

    /// Begins a command of so many words, which must follow.
    pub(crate) fn begin(&mut self, words: usize) {
        self.commands += 1;
        head(&mut self.bytes, b'*', words);
    }

    /// Adds a word to the command that was begun.
    pub(crate) fn word(&mut self, word: &[u8]) {
        pack(&mut self.bytes, word);
    }

    /// Adds words that are packed already.
    pub(crate) fn words(&mut self, words: &Words) {
        self.bytes.extend_from_slice(&words.bytes);
    }

    /// Has the bytes wiped after sending.
    pub(crate) fn secret(&mut self) {
        self.secret = true;
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        if self.secret {
            self.bytes.zeroize();
        }
    }
}

/// Words of a command as they go over the wire, packed by whoever has many of them.
#[derive(Clone, Debug, Default)]
pub struct Words {
    bytes: Vec<u8>,
    count: usize,
}

impl Words {
    pub fn add(&mut self, word: &[u8]) {
        pack(&mut self.bytes, word);
        self.count += 1;
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns how many bytes they take.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

fn pack(bytes: &mut Vec<u8>, word: &[u8]) {
    head(bytes, b'$', word.len());
    bytes.extend_from_slice(word);
    bytes.extend_from_slice(b"\r\n");
}

/// Writes what begins a command or a word, without the detour over a `String`.
fn head(bytes: &mut Vec<u8>, sign: u8, mut number: usize) {
    let mut digits = [0; 24];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    bytes.push(sign);
    bytes.extend_from_slice(&digits[at..]);
    bytes.extend_from_slice(b"\r\n");
}

/// How much later than the deadline the thread may say so itself.
const GRACE: Duration = Duration::from_millis(100);

impl Connection {
    /// Connects; nothing is sent.
    pub(crate) fn open(address: &Address, deadline: Instant) -> Result<Connection, Fault> {
        let (asks, inbox) = mpsc::channel::<Ask>();
        let (outbox, answers) = mpsc::channel();
        let address = address.clone();
        thread::spawn(move || {
            let opened = connect(&address, deadline);
            let (connection, fault) = match opened {
                Ok(connection) => (Some(connection), None),
                Err(fault) => (None, Some(fault)),
            };
            let replies = Vec::new();
            if outbox.send(Answer { replies, fault }).is_err() {
                return;
            }
            let Some(mut connection) = connection else {
                return;
            };
            for ask in inbox {
                let answer = exchange(&mut connection, &ask);
                let broken = answer.fault.is_some();
                if outbox.send(answer).is_err() || broken {
                    return;
                }
            }
        });
        let line = Connection { asks, answers };
        match line.await_answer(deadline).fault {
            None => Ok(line),
            Some(fault) => Err(fault),
        }
    }

    /// Sends packed commands and reads their replies.
    pub(crate) fn exchange(&self, bytes: Packed, deadline: Instant) -> Answer {
        let ask = Ask { bytes, deadline };
        match self.asks.send(ask) {
            Ok(()) => self.await_answer(deadline),
            Err(_) => Answer::broken(Fault::Closed),
        }
    }

    fn await_answer(&self, deadline: Instant) -> Answer {
        let patience = deadline.saturating_duration_since(Instant::now()) + GRACE;
        match self.answers.recv_timeout(patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Answer::broken(Fault::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Answer::broken(Fault::Closed),
        }
    }
}

impl Answer {
    fn broken(fault: Fault) -> Answer {
        Answer {
            replies: Vec::new(),
            fault: Some(fault),
        }
    }
}

fn connect(address: &Address, deadline: Instant) -> Result<redis::Connection, Fault> {
    let (host, port) = match address {
        Address::Tcp(host, port) => (host, *port),
        Address::Unix(path) => return open(ConnectionAddr::Unix(path.clone()), deadline),
        Address::Local { .. } => return Err(Fault::Unresolved),
    };
    // The crate would spend the whole time on each address of a name.
    let mut addresses = match (host.as_str(), port).to_socket_addrs() {
        Ok(addresses) => addresses.collect::<Vec<_>>(),
        Err(_) => return Err(Fault::Unresolved),
    };
    addresses.dedup();
    let mut fault = Fault::Unresolved;
    for (at, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = Instant::now() + left / (addresses.len() - at) as u32;
        let ip = match address.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_string(),
            ip => ip.to_string(),
        };
        match open(ConnectionAddr::Tcp(ip, address.port()), share) {
            Ok(connection) => return Ok(connection),
            Err(failed) => fault = failed,
        }
    }
    Err(fault)
}

/// Opens a bare connection: no password, no database and no name, so the crate sends nothing.
fn open(address: ConnectionAddr, deadline: Instant) -> Result<redis::Connection, Fault> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Fault::TimedOut);
    }
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(15))
        .with_interval(Duration::from_secs(5))
        .with_retries(3);
    let tcp = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(keepalive);
    let bare = RedisConnectionInfo::default().set_skip_set_lib_name();
    address
        .into_connection_info()
        .map(|info| info.set_redis_settings(bare).set_tcp_settings(tcp))
        .and_then(Client::open)
        .and_then(|client| client.get_connection_with_timeout(left))
        .map_err(|error| fault(&error))
}

fn exchange(connection: &mut redis::Connection, ask: &Ask) -> Answer {
    let mut replies = Vec::with_capacity(ask.bytes.commands);
    let fault = pass(connection, ask, &mut replies).err();
    let fault = fault.map(|error| match self::fault(&error) {
        Fault::Unreachable(..) => Fault::Closed,
        fault => fault,
    });
    Answer { replies, fault }
}

/// No timeout is set on the socket: the one who asked waits no longer than the deadline anyhow, and
/// with one a read would end in `EINTR` when the process is stopped and continued (Ctrl-Z, `fg`).
fn pass(
    connection: &mut redis::Connection,
    ask: &Ask,
    replies: &mut Vec<Value>,
) -> RedisResult<()> {
    if ask.deadline <= Instant::now() {
        return Err(io::Error::from(io::ErrorKind::TimedOut).into());
    }
    connection.send_packed_command(&ask.bytes.bytes)?;
    while replies.len() < ask.bytes.commands {
        replies.push(connection.recv_response()?);
    }
    Ok(())
}

fn fault(error: &RedisError) -> Fault {
    if error.is_timeout() {
        return Fault::TimedOut;
    }
    match error.kind() {
        ErrorKind::Parse if error.to_string().contains("utf-8") => Fault::Illegible,
        ErrorKind::Parse => Fault::Strange,
        _ => match system(error) {
            Some(io) if io.kind() == io::ErrorKind::UnexpectedEof => Fault::Closed,
            Some(io) => Fault::Unreachable(io.kind(), io_words(io)),
            None => Fault::Closed,
        },
    }
}

/// Returns the system's error that is behind it; the crate hands it out in an `Arc`.
fn system(error: &RedisError) -> Option<&io::Error> {
    type Shared = Arc<dyn std::error::Error + Send + Sync>;
    let shared: &Shared = std::error::Error::source(error)?.downcast_ref()?;
    shared.downcast_ref()
}
