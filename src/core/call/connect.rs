//! The connection to a server, and its faults: resolves the address, connects, sends commands and reads replies, each
//! with a deadline.
//!
//! The stream lives in its own thread, which is abandoned when the deadline passes: name lookup,
//! Unix sockets and the handshake of TLS have no timeout of their own, and a server that sends byte
//! by byte never runs into a read timeout. After any fault the connection is dropped.
//!
//! A caller that makes one call after the other can take the stream over once it is open
//! ([`Connection::take_stream_from_thread`]): each call then saves two changes of threads.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use redis::Value;
use zeroize::Zeroize;

use super::local_socket;
use super::resp::MAX_REPLIES;
use super::stream::{ConnectStep, Stream};
use super::tls::TlsClient;
use super::tls::fault::TlsFault;
use crate::address::{Address, Node};
use crate::error::{Error, connection_open_file_limit_error, io_message_without_errno};
use crate::threads;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    requests: Sender<ConnectionThreadRequest>,
    received: Receiver<ReceivedReplies>,
    /// The stream, once the caller has taken it over.
    own: Option<RefCell<Stream>>,
}

/// The replies that were read, and the fault that ended the connection, if there was one.
#[derive(Debug)]
pub(crate) struct ReceivedReplies {
    pub replies: Vec<Value>,
    pub fault: Option<Fault>,
}

/// Why a connection could not be opened, or can no longer be used.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The name has no address.
    Unresolved,
    /// The system could not connect to the server. The text is the system's message.
    Unreachable(io::ErrorKind, String),
    /// A limit of this process, user or machine, such as the number of open files, prevents the connection.
    ProcessLimit(Box<Error>),
    /// The deadline passed.
    TimedOut,
    /// The connection ended.
    Closed,
    /// The reply is not in the Redis protocol.
    MalformedReply,
    /// A reply is longer than any of Redis.
    TooLong,
    /// The replies to one request take more memory than this program allows.
    TooMuch,
    /// This process has too little memory for the replies to one request.
    OutOfMemory,
    /// The server's error message is not UTF-8, so the `redis` crate cannot read it.
    InvalidUtf8,
    /// A process of another user listens on the socket of a private server.
    ForeignServer,
    /// The server requires TLS, and this connection does not use it.
    RequiresTls,
    /// There is no encrypted connection.
    Tls(TlsFault),
}

impl Fault {
    /// The fault of an error of the system.
    pub(super) fn from_io(error: &io::Error) -> Fault {
        if let Some(limit) = connection_open_file_limit_error(error) {
            return limit.into();
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Fault::TimedOut,
            io::ErrorKind::UnexpectedEof => Fault::Closed,
            kind => Fault::Unreachable(kind, io_message_without_errno(error)),
        }
    }
}

impl From<Error> for Fault {
    fn from(limit: Error) -> Fault {
        Fault::ProcessLimit(Box::new(limit))
    }
}

struct ConnectionThreadRequest {
    /// The commands to send. If they contain a password, their bytes are wiped after sending.
    bytes: WireEncodedCommands,
    deadline: Instant,
    then: AfterRequest,
}

/// What the thread of the connection does after it has sent a request.
enum AfterRequest {
    /// The thread reads the replies.
    Reply,
    /// The thread passes on everything that arrives, until the connection breaks or is silent for longer than this.
    Listen(Duration),
    /// The thread ends, and leaves the stream to the caller.
    HandOver(Sender<Stream>),
}

/// Commands as they go over the wire. A `Cmd` of the `redis` crate would copy every word once more, and
/// leave passwords in memory.
#[derive(Default)]
pub(crate) struct WireEncodedCommands {
    bytes: Vec<u8>,
    commands: usize,
    secret: bool,
}

impl WireEncodedCommands {
    pub(crate) fn add_command<W: AsRef<[u8]>>(&mut self, words: &[W]) {
        self.begin_command(words.len());
        for word in words {
            self.add_word_to_current_command(word.as_ref());
        }
    }

    /// Begins a command with this many words, which must follow.
    pub(crate) fn begin_command(&mut self, word_count: usize) {
        self.commands += 1;
        write_length_line(&mut self.bytes, b'*', word_count);
    }

    /// Adds a word to the current command.
    pub(crate) fn add_word_to_current_command(&mut self, word: &[u8]) {
        pack_word(&mut self.bytes, word);
    }

    /// Adds words that are packed already.
    pub(crate) fn add_packed_words(&mut self, words: &WireEncodedWords) {
        self.bytes.extend_from_slice(&words.bytes);
    }

    /// Marks these commands as containing a password, so that their bytes are wiped when they are dropped.
    pub(crate) fn mark_to_wipe_on_drop(&mut self) {
        self.secret = true;
    }
}

impl Drop for WireEncodedCommands {
    fn drop(&mut self) {
        if self.secret {
            self.bytes.zeroize();
        }
    }
}

/// Words of a command as they go over the wire, for callers that have many of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WireEncodedWords {
    bytes: Vec<u8>,
    count: usize,
}

impl WireEncodedWords {
    pub(crate) fn add_word(&mut self, word: &[u8]) {
        pack_word(&mut self.bytes, word);
        self.count += 1;
    }

    /// The number of words.
    pub(crate) fn word_count(&self) -> usize {
        self.count
    }

    /// The size in bytes.
    pub(crate) fn wire_byte_len(&self) -> usize {
        self.bytes.len()
    }
}

fn pack_word(bytes: &mut Vec<u8>, word: &[u8]) {
    write_length_line(bytes, b'$', word.len());
    bytes.extend_from_slice(word);
    bytes.extend_from_slice(b"\r\n");
}

/// Writes the line before a command or a word: a type byte and a length. It runs for every word, so it creates no
/// `String`.
fn write_length_line(bytes: &mut Vec<u8>, type_byte: u8, mut number: usize) {
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
    bytes.push(type_byte);
    bytes.extend_from_slice(&digits[at..]);
    bytes.extend_from_slice(b"\r\n");
}

/// The number of requests whose replies the thread keeps for a busy caller before it stops reading.
const BACKLOG: usize = 64;

/// How long a caller waits after the deadline for the thread to report the timeout itself.
const TIME_TO_REPORT_TIMEOUT: Duration = Duration::from_millis(100);

impl Connection {
    /// Connects, with TLS if `tls` is given. Sends nothing but the handshake of TLS.
    pub(crate) fn open(
        address: &Address,
        tls: Option<&TlsClient>,
        deadline: Instant,
    ) -> Result<Connection, Fault> {
        let (requests, inbox) = mpsc::channel::<ConnectionThreadRequest>();
        let (outbox, received) = mpsc::sync_channel(BACKLOG);
        let (address, tls) = (address.clone(), tls.cloned());
        threads::spawn(move || {
            let opened = connect_stream(&address, tls.as_ref(), deadline, &mut |_| {});
            let (stream, fault) = match opened {
                Ok(stream) => (Some(stream), None),
                Err(fault) => (None, Some(fault)),
            };
            let replies = Vec::new();
            if outbox.send(ReceivedReplies { replies, fault }).is_err() {
                return;
            }
            if let Some(stream) = stream {
                serve_requests(stream, &inbox, &outbox);
            }
        })?;
        let connection = Connection {
            requests,
            received,
            own: None,
        };
        match connection.receive_replies(deadline).fault {
            None => Ok(connection),
            Some(fault) => Err(fault),
        }
    }

    /// Takes the stream over from the thread. No replies may be on their way. Afterwards only [`Connection::exchange`]
    /// may be used.
    pub(crate) fn take_stream_from_thread(mut self) -> Connection {
        let (sender, stream) = mpsc::channel();
        let request = ConnectionThreadRequest {
            bytes: WireEncodedCommands::default(),
            deadline: Instant::now(),
            then: AfterRequest::HandOver(sender),
        };
        // A connection that has ended stays as it is: its next exchange reports the end.
        if self.requests.send(request).is_ok()
            && let Ok(stream) = stream.recv()
        {
            self.own = Some(RefCell::new(stream));
        }
        self
    }

    /// Sends packed commands and reads their replies.
    pub(crate) fn exchange(
        &self,
        commands: WireEncodedCommands,
        deadline: Instant,
    ) -> ReceivedReplies {
        if let Some(stream) = &self.own {
            let stream = &mut *stream.borrow_mut();
            stream.set_deadline(deadline);
            let sent = send_commands(stream, commands, deadline);
            return read_replies(stream, sent);
        }
        if self.send(commands, deadline) {
            self.receive_replies(deadline)
        } else {
            ReceivedReplies::from_fault(Fault::Closed)
        }
    }

    /// Sends packed commands. [`Connection::receive_replies`] returns their replies. Returns false if the
    /// connection has ended, or has no thread.
    pub(crate) fn send(&self, commands: WireEncodedCommands, deadline: Instant) -> bool {
        let request = ConnectionThreadRequest {
            bytes: commands,
            deadline,
            then: AfterRequest::Reply,
        };
        self.requests.send(request).is_ok()
    }

    /// Sends packed commands. [`Connection::next_message`] returns what arrives from now on. If the server is silent
    /// for half of `timeout`, the thread sends PING; if the server stays silent for the other half, the connection
    /// counts as broken.
    pub(crate) fn send_and_listen_for_messages(
        &self,
        commands: WireEncodedCommands,
        deadline: Instant,
        timeout: Duration,
    ) {
        // A connection that has ended needs no error here: `next_message` reports it.
        _ = self.requests.send(ConnectionThreadRequest {
            bytes: commands,
            deadline,
            then: AfterRequest::Listen(timeout),
        });
    }

    /// The next message, or the fault that ended the connection; `None` if nothing arrives
    /// in time.
    pub(crate) fn next_message(&self, timeout: Duration) -> Option<Result<Value, Fault>> {
        let ReceivedReplies { mut replies, fault } = match self.received.recv_timeout(timeout) {
            Ok(received) => received,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => ReceivedReplies::from_fault(Fault::Closed),
        };
        match (replies.pop(), fault) {
            (Some(message), _) => Some(Ok(message)),
            (None, fault) => Some(Err(fault.unwrap_or(Fault::Closed))),
        }
    }

    /// Waits for the replies to the oldest request whose replies were not received yet.
    pub(crate) fn receive_replies(&self, deadline: Instant) -> ReceivedReplies {
        let timeout = deadline.saturating_duration_since(Instant::now()) + TIME_TO_REPORT_TIMEOUT;
        match self.received.recv_timeout(timeout) {
            Ok(received) => received,
            Err(RecvTimeoutError::Timeout) => ReceivedReplies::from_fault(Fault::TimedOut),
            Err(RecvTimeoutError::Disconnected) => ReceivedReplies::from_fault(Fault::Closed),
        }
    }
}

impl ReceivedReplies {
    fn from_fault(fault: Fault) -> ReceivedReplies {
        ReceivedReplies {
            replies: Vec::new(),
            fault: Some(fault),
        }
    }
}

/// Opens a stream to one node: looks up its name, connects, and makes the TLS handshake. Reports each of these steps
/// to `on_step`. The caller logs in.
pub(super) fn connect_stream(
    address: &Address,
    tls: Option<&TlsClient>,
    deadline: Instant,
    on_step: &mut dyn FnMut(ConnectStep),
) -> Result<Stream, Fault> {
    let Node { host, port } = match address {
        Address::Tcp(node) => node,
        // Unreachable in practice: the caller resolves such an address to one node before it connects.
        Address::Cluster(_) | Address::Sentinel(_) => return Err(Fault::Unresolved),
        Address::Unix(path) => {
            let stream = Stream::connect_unix(path)?;
            on_step(ConnectStep::Connected(None));
            return Ok(stream);
        }
        Address::Local { dir: Some(dir), .. } => {
            let socket = local_socket::connect_to_own_server(dir)?;
            on_step(ConnectStep::Connected(None));
            return Ok(Stream::from_unix_socket(socket));
        }
        Address::Local { dir: None, .. } => return Err(Fault::Unresolved),
    };
    let mut addresses = match (host.as_str(), *port).to_socket_addrs() {
        Ok(addresses) => addresses.collect::<Vec<_>>(),
        Err(_) => return Err(Fault::Unresolved),
    };
    addresses.dedup();
    if host.parse::<IpAddr>().is_err() {
        on_step(ConnectStep::Resolved);
    }
    let mut fault = Fault::Unresolved;
    for (at, address) in addresses.iter().enumerate() {
        // Divide the remaining time among the addresses that were not tried yet.
        let remaining = deadline.saturating_duration_since(Instant::now());
        let share = Instant::now() + remaining / (addresses.len() - at) as u32;
        let address = match address.ip() {
            ip if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
            _ => *address,
        };
        match Stream::connect_tcp(&address, tls, share, on_step) {
            Ok(stream) => return Ok(stream),
            Err(failed) => fault = failed,
        }
    }
    Err(fault)
}

/// A request that was sent.
struct SentRequest {
    /// The number of commands that were sent.
    commands: usize,
    result: Result<(), Fault>,
}

/// Sends requests and reads their replies, until the connection breaks or is no longer used. All
/// queued requests are sent before a reply is read, so that the server always has the next one.
fn serve_requests(
    mut stream: Stream,
    inbox: &Receiver<ConnectionThreadRequest>,
    outbox: &SyncSender<ReceivedReplies>,
) {
    let mut sent: VecDeque<SentRequest> = VecDeque::new();
    loop {
        let next = if sent.is_empty() {
            inbox.recv().ok()
        } else {
            inbox.try_recv().ok()
        };
        if let Some(ConnectionThreadRequest {
            bytes,
            deadline,
            then,
        }) = next
        {
            match then {
                AfterRequest::Reply => sent.push_back(send_commands(&mut stream, bytes, deadline)),
                AfterRequest::Listen(timeout) => {
                    return pass_on_messages(&mut stream, &bytes, timeout, outbox);
                }
                AfterRequest::HandOver(receiver) => {
                    // Sending cannot fail, because the caller waits for the stream.
                    _ = receiver.send(stream);
                    return;
                }
            }
            continue;
        }
        let Some(oldest) = sent.pop_front() else {
            return;
        };
        let received = read_replies(&mut stream, oldest);
        let broken = received.fault.is_some();
        if outbox.send(received).is_err() || broken {
            return;
        }
    }
}

/// Sends commands, unless their time is over.
fn send_commands(
    stream: &mut Stream,
    packed: WireEncodedCommands,
    deadline: Instant,
) -> SentRequest {
    let result = if deadline <= Instant::now() {
        Err(Fault::TimedOut)
    } else {
        stream.send(&packed.bytes)
    };
    let commands = packed.commands;
    SentRequest { commands, result }
}

/// Reads the replies to the commands of one request. In the thread of a connection the socket has no timeout, because
/// the caller itself waits only until the deadline.
fn read_replies(stream: &mut Stream, sent: SentRequest) -> ReceivedReplies {
    let mut replies = Vec::with_capacity(sent.commands);
    // Read also after a failed write: a server that ends the connection early may have sent the reason.
    let may_reply = matches!(sent.result, Ok(()) | Err(Fault::Unreachable(..)));
    let (mut result, mut left) = (Ok(()), MAX_REPLIES);
    while may_reply && result.is_ok() && replies.len() < sent.commands {
        result = stream
            .receive_reply(&mut left)
            .map(|reply| replies.push(reply));
    }
    let fault = sent.result.and(result).err().map(|fault| match fault {
        Fault::Unreachable(..) => Fault::Closed,
        fault => fault,
    });
    ReceivedReplies { replies, fault }
}

/// Sends the commands and passes on each message, until the connection breaks or the caller drops it.
fn pass_on_messages(
    stream: &mut Stream,
    packed: &WireEncodedCommands,
    timeout: Duration,
    outbox: &SyncSender<ReceivedReplies>,
) {
    let sent = stream.send(&packed.bytes);
    let mut next = || receive_message_pinging_when_silent(stream, timeout);
    let mut message = sent.and_then(|()| next());
    while let Ok(value) = message {
        let received = ReceivedReplies {
            replies: vec![value],
            fault: None,
        };
        if outbox.send(received).is_err() {
            return;
        }
        message = next();
    }
    if let Err(fault) = message {
        // Sending fails if the caller has dropped the connection: nobody needs the fault then.
        _ = outbox.send(ReceivedReplies::from_fault(fault));
    }
}

/// The next message. A server that is silent for half of the time must reply to a PING within the other half.
fn receive_message_pinging_when_silent(
    stream: &mut Stream,
    timeout: Duration,
) -> Result<Value, Fault> {
    let silence = timeout / 2;
    if !stream.await_bytes(Instant::now() + silence)? {
        let mut ping = WireEncodedCommands::default();
        ping.add_command(&["PING"]);
        let deadline = Instant::now() + silence;
        stream.set_deadline(deadline);
        stream.send(&ping.bytes)?;
        if !stream.await_bytes(deadline)? {
            return Err(Fault::TimedOut);
        }
    }
    stream.set_deadline(Instant::now() + timeout);
    stream.receive_reply(&mut MAX_REPLIES.clone())
}
