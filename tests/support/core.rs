//! The Lua core for tests: a private server, the script, a listener on its events, and the whole
//! key space as a value. It speaks RESP itself, so that tests see the exact replies of the server.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::json;

use super::check_calls::Verified;
use super::qless::Qless;
use super::redis::Redis;

/// A reply of a server; bytes that are not text are escaped.
#[derive(Clone, PartialEq)]
pub(crate) enum Reply {
    Nil,
    Int(i64),
    Text(String),
    List(Vec<Reply>),
    Error(String),
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        match self {
            Reply::Text(text) => text,
            other => panic!("a text was expected, not {other:?}"),
        }
    }

    pub(crate) fn int(&self) -> i64 {
        match self {
            Reply::Int(number) => *number,
            other => panic!("an integer was expected, not {other:?}"),
        }
    }

    pub(crate) fn list(&self) -> &[Reply] {
        match self {
            Reply::List(list) => list,
            other => panic!("an array was expected, not {other:?}"),
        }
    }

    /// The texts of a flat array.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.list()
            .iter()
            .map(|item| item.text().to_owned())
            .collect()
    }

    /// The document that a bulk string holds. Lua gives its members no order: they are sorted.
    pub(crate) fn json(&self) -> serde_json::Value {
        let document = serde_json::from_str(self.text());
        let mut document: serde_json::Value =
            document.unwrap_or_else(|error| panic!("not JSON: {error}: {self:?}"));
        document.sort_all_objects();
        document
    }

    /// The value behind `name` in a flat array of names and values.
    pub(crate) fn field(&self, name: &str) -> Option<&Reply> {
        self.list()
            .chunks(2)
            .find(|pair| pair[0].text() == name)
            .map(|pair| &pair[1])
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Nil => write!(f, "nil"),
            Reply::Int(number) => write!(f, ":{number}"),
            Reply::Text(text) => write!(f, "{text:?}"),
            Reply::List(list) => f.debug_list().entries(list).finish(),
            Reply::Error(text) => write!(f, "error {text:?}"),
        }
    }
}

/// One plain connection.
pub(crate) struct Wire {
    stream: BufReader<UnixStream>,
}

impl Wire {
    pub(crate) fn connect(socket: &Path) -> Wire {
        let stream = UnixStream::connect(socket).expect("the private server listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a timeout can be set");
        Wire {
            stream: BufReader::with_capacity(1 << 16, stream),
        }
    }

    pub(crate) fn send(&mut self, words: &[&[u8]]) {
        let mut packed = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            packed.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            packed.extend_from_slice(word);
            packed.extend_from_slice(b"\r\n");
        }
        self.stream
            .get_mut()
            .write_all(&packed)
            .expect("the private server reads");
    }

    pub(crate) fn receive(&mut self) -> Reply {
        let mut line = Vec::new();
        self.stream
            .read_until(b'\n', &mut line)
            .expect("the private server answers");
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_suffix("\r\n").unwrap_or(&line);
        let (kind, rest) = line
            .split_at_checked(1)
            .expect("the private server is alive");
        let number = || rest.parse::<i64>().expect("a number on the wire");
        match kind {
            "+" => Reply::Text(rest.to_owned()),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Int(number()),
            "$" if number() < 0 => Reply::Nil,
            "$" => {
                let mut body = vec![0; number() as usize + 2];
                self.stream
                    .read_exact(&mut body)
                    .expect("the private server answers");
                body.truncate(body.len() - 2);
                Reply::Text(shown(&body))
            }
            "*" if number() < 0 => Reply::Nil,
            "*" => Reply::List((0..number()).map(|_| self.receive()).collect()),
            other => panic!("unknown reply kind {other:?}: {line}"),
        }
    }

    pub(crate) fn ask(&mut self, words: &[&[u8]]) -> Reply {
        self.send(words);
        self.receive()
    }

    /// Loads a script, unless it is the usual one and the server has it. Returns its name.
    fn load(&mut self, text: &str) -> String {
        if std::ptr::eq(text, script()) {
            let sha = script_sha();
            let known = self.ask(&[b"SCRIPT", b"EXISTS", sha.as_bytes()]);
            if known == Reply::List(vec![Reply::Int(1)]) {
                return sha.to_owned();
            }
        }
        match self.ask(&[b"SCRIPT", b"LOAD", text.as_bytes()]) {
            Reply::Text(sha) => sha,
            other => panic!("the script does not load: {other:?}"),
        }
    }
}

/// Bytes as text; bytes that are not UTF-8 are escaped, so that no two names look alike.
pub(crate) fn shown(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk
            .invalid()
            .iter()
            .for_each(|byte| text.push_str(&format!("\u{fffd}{byte:02x}")));
    }
    text
}

/// The value of one key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    Text(String),
    Hash(BTreeMap<String, String>),
    List(Vec<String>),
    Set(BTreeSet<String>),
    Zset(BTreeMap<String, f64>),
}

/// The whole key space.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dump(pub(crate) BTreeMap<String, Key>);

impl Dump {
    pub(crate) fn hash(&self, key: &str) -> BTreeMap<String, String> {
        match self.0.get(key) {
            None => BTreeMap::new(),
            Some(Key::Hash(hash)) => hash.clone(),
            Some(other) => panic!("`{key}` is no hash: {other:?}"),
        }
    }

    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        match self.0.get(key) {
            None => Vec::new(),
            Some(Key::List(list)) => list.clone(),
            Some(other) => panic!("`{key}` is no list: {other:?}"),
        }
    }

    pub(crate) fn set(&self, key: &str) -> BTreeSet<String> {
        match self.0.get(key) {
            None => BTreeSet::new(),
            Some(Key::Set(set)) => set.clone(),
            Some(other) => panic!("`{key}` is no set: {other:?}"),
        }
    }

    pub(crate) fn zset(&self, key: &str) -> BTreeMap<String, f64> {
        match self.0.get(key) {
            None => BTreeMap::new(),
            Some(Key::Zset(zset)) => zset.clone(),
            Some(other) => panic!("`{key}` is no sorted set: {other:?}"),
        }
    }

    pub(crate) fn score(&self, key: &str, member: &str) -> Option<f64> {
        match self.0.get(key) {
            Some(Key::Zset(zset)) => zset.get(member).copied(),
            _ => None,
        }
    }

    pub(crate) fn field(&self, key: &str, name: &str) -> Option<String> {
        match self.0.get(key) {
            Some(Key::Hash(hash)) => hash.get(name).cloned(),
            _ => None,
        }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }
}

/// Reads all keys in one call, with their types; an expiry that no design names fails the test.
const DUMP: &str = "
local out = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  local value
  if kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then value = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'string' then value = {redis.call('GET', key)}
  else value = {kind} end
  out[#out + 1] = {key, kind, redis.call('PTTL', key), value}
end
return out";

/// The script, as `qless script` prints it, joined once.
pub(crate) fn script() -> &'static str {
    static SCRIPT: LazyLock<String> =
        LazyLock::new(|| qless::internals::Script::new("ql:").script_text());
    &SCRIPT
}

/// The name by which servers know that script.
pub(crate) fn script_sha() -> &'static str {
    static SHA: LazyLock<String> =
        LazyLock::new(|| sha1_smol::Sha1::from(script()).digest().to_string());
    &SHA
}

/// The script on a server of its own, or on a given one.
pub(crate) struct Core {
    wire: Wire,
    listener: Wire,
    sha: String,
    socket: PathBuf,
    /// The last result of `verify_all`.
    pub(crate) verified: Option<Verified>,
    /// Ends with the value.
    _server: Option<Redis>,
}

impl Core {
    pub(crate) fn new() -> Core {
        Core::with(script())
    }

    /// A server with another script.
    pub(crate) fn with(script: &str) -> Core {
        let server = Redis::start();
        let mut core = Core::on(server.socket(), script);
        core._server = Some(server);
        core
    }

    /// The script on a given server.
    pub(crate) fn over(server: &Redis) -> Core {
        Core::on(server.socket(), script())
    }

    /// Another script on the same server.
    pub(crate) fn beside(&self, script: &str) -> Core {
        Core::on(self.socket.clone(), script)
    }

    fn on(socket: PathBuf, script: &str) -> Core {
        let mut wire = Wire::connect(&socket);
        let mut listener = Wire::connect(&socket);
        listener.ask(&[b"PSUBSCRIBE", b"ql:*"]);
        let sha = wire.load(script);
        Core {
            wire,
            listener,
            sha,
            socket,
            verified: None,
            _server: None,
        }
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// The address for `--redis`.
    pub(crate) fn url(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// The binary, pointed at this server.
    pub(crate) fn qless(&self) -> Qless {
        Qless::bare().env("QLESS_REDIS_URL", self.url())
    }

    /// One command of the server itself, for instance to damage keys.
    pub(crate) fn redis(&mut self, line: &str) -> Reply {
        let words = words(line);
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.wire.ask(&words)
    }

    /// One command of the server, given as bytes.
    pub(crate) fn redis_words(&mut self, words: &[&[u8]]) -> Reply {
        self.wire.ask(words)
    }

    /// One call of the script with these ARGV; a refusal is the error line of the server.
    pub(crate) fn call(&mut self, argv: &[&[u8]]) -> Result<Reply, String> {
        let mut packed: Vec<&[u8]> = vec![b"EVALSHA", self.sha.as_bytes(), b"0"];
        packed.extend_from_slice(argv);
        self.wire.send(&packed);
        match self.wire.receive() {
            Reply::Error(text) => Err(text),
            reply => Ok(reply),
        }
    }

    /// One call as the specification writes it: `put 1 w q j K {} 0`.
    pub(crate) fn run(&mut self, line: &str) -> Result<Reply, String> {
        let words = words(line);
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.call(&words)
    }

    /// One call that must succeed.
    #[track_caller]
    pub(crate) fn ok(&mut self, line: &str) -> Reply {
        match self.run(line) {
            Ok(reply) => reply,
            Err(error) => panic!("`{line}` was refused: {error}"),
        }
    }

    /// Several calls that must succeed, separated by `;`.
    #[track_caller]
    pub(crate) fn all(&mut self, lines: &str) {
        for line in lines.split("; ") {
            self.ok(line);
        }
    }

    /// Many calls that must succeed, sent in batches.
    #[track_caller]
    pub(crate) fn many(&mut self, lines: impl IntoIterator<Item = String>) {
        let lines: Vec<String> = lines.into_iter().collect();
        for batch in lines.chunks(200) {
            for line in batch {
                let words = words(line);
                let mut packed: Vec<&[u8]> = vec![b"EVALSHA", self.sha.as_bytes(), b"0"];
                packed.extend(words.iter().map(|word| word.as_bytes()));
                self.wire.send(&packed);
            }
            for line in batch {
                if let Reply::Error(error) = self.wire.receive() {
                    panic!("`{line}` was refused: {error}");
                }
            }
        }
    }

    /// Puts jobs, hundreds in each call: each has the arguments of a put after its worker.
    pub(crate) fn put_jobs(&mut self, now: u32, jobs: impl IntoIterator<Item = String>) {
        let jobs: Vec<Vec<String>> = jobs.into_iter().map(|job| words(&job)).collect();
        for batch in jobs.chunks(500) {
            let mut argv: Vec<String> = ["guard.put", &now.to_string(), "{}"]
                .map(str::to_owned)
                .into();
            for job in batch {
                argv.push(job.len().to_string());
                argv.extend_from_slice(job);
            }
            let argv: Vec<&[u8]> = argv.iter().map(|word| word.as_bytes()).collect();
            let reply = self.call(&argv).expect("jobs that can be put");
            let is_put = |row: &Reply| row.list()[0] == Reply::Text("done".to_owned());
            assert!(reply.list().iter().all(is_put), "{reply:?}");
        }
    }

    /// One call that must succeed and answer a document.
    #[track_caller]
    pub(crate) fn json(&mut self, line: &str) -> serde_json::Value {
        self.ok(line).json()
    }

    /// The jids of the jobs in the answer to a call.
    #[track_caller]
    pub(crate) fn jids(&mut self, line: &str) -> Vec<String> {
        match self.json(line) {
            serde_json::Value::Array(jobs) => jobs
                .iter()
                .map(|job| job["jid"].as_str().expect("a jid").to_owned())
                .collect(),
            empty => {
                assert_eq!(empty, json!({}), "an empty list is an empty object");
                Vec::new()
            }
        }
    }

    /// A stored field of a job.
    pub(crate) fn field(&mut self, jid: &str, name: &str) -> Option<String> {
        match self.redis_words(&[b"HGET", format!("ql:j:{jid}").as_bytes(), name.as_bytes()]) {
            Reply::Nil => None,
            text => Some(text.text().to_owned()),
        }
    }

    /// The stored state of a job; empty if there is none.
    pub(crate) fn state(&mut self, jid: &str) -> String {
        self.field(jid, "state").unwrap_or_default()
    }

    /// The stored history of a job.
    pub(crate) fn history(&mut self, jid: &str) -> Vec<String> {
        self.redis_words(&[
            b"LRANGE",
            format!("ql:j:{jid}-history").as_bytes(),
            b"0",
            b"-1",
        ])
        .texts()
    }

    /// The score of a member, if it exists.
    pub(crate) fn score(&mut self, key: &str, member: &str) -> Option<f64> {
        match self.redis_words(&[b"ZSCORE", key.as_bytes(), member.as_bytes()]) {
            Reply::Nil => None,
            score => Some(score.text().parse().expect("a score")),
        }
    }

    /// One call that must be refused: changes nothing, publishes nothing. Returns the text.
    #[track_caller]
    pub(crate) fn refused(&mut self, line: &str) -> String {
        let words = words(line);
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.refused_words(&words)
    }

    #[track_caller]
    pub(crate) fn refused_words(&mut self, argv: &[&[u8]]) -> String {
        let line = || {
            argv.iter()
                .map(|word| String::from_utf8_lossy(word))
                .collect::<Vec<_>>()
        };
        let before = self.dump();
        self.events();
        let error = match self.call(argv) {
            Ok(reply) => panic!("{:?} was not refused: {reply:?}", line()),
            Err(error) => error,
        };
        assert_eq!(
            self.dump(),
            before,
            "{:?} was refused and changed something",
            line()
        );
        assert!(
            self.events().is_empty(),
            "{:?} was refused and published",
            line()
        );
        error
    }

    /// The events since the last call of this function: channel and payload, in order.
    pub(crate) fn events(&mut self) -> Vec<(String, String)> {
        self.listener.send(&[b"PING"]);
        let mut events = Vec::new();
        loop {
            let message = self.listener.receive();
            let message = message.list();
            match message[0].text() {
                "pmessage" => {
                    events.push((message[2].text().to_owned(), message[3].text().to_owned()));
                }
                "pong" => return events,
                other => panic!("unexpected on a listening connection: {other}"),
            }
        }
    }

    /// The same events as `channel payload` lines.
    pub(crate) fn published(&mut self) -> Vec<String> {
        let events = self.events();
        events
            .into_iter()
            .map(|(channel, payload)| format!("{channel} {payload}"))
            .collect()
    }

    /// All keys as they are now.
    pub(crate) fn dump(&mut self) -> Dump {
        self.dump_and_expiring().0
    }

    /// All keys, and the names of the keys that expire.
    pub(crate) fn dump_and_expiring(&mut self) -> (Dump, BTreeSet<String>) {
        let mut expiring = BTreeSet::new();
        let reply = self.wire.ask(&[b"EVAL", DUMP.as_bytes(), b"0"]);
        let keys = reply.list().iter().map(|entry| {
            let entry = entry.list();
            let name = entry[0].text().to_owned();
            // Maximums of throttles may end; uniqueness windows are collected after their end.
            if entry[2].int() != -1 {
                let may_expire = name.starts_with("ql:th:") || name.starts_with("ql:u:");
                assert!(may_expire, "`{name}` has an expiry");
                expiring.insert(name.clone());
            }
            let words = entry[3].texts();
            let value = match entry[1].text() {
                "hash" => Key::Hash(pairs(words)),
                "list" => Key::List(words),
                "set" => Key::Set(words.into_iter().collect()),
                "zset" => Key::Zset(
                    pairs(words)
                        .into_iter()
                        .map(|(member, score)| {
                            let score = score.parse().expect("a score is a number");
                            (member, score)
                        })
                        .collect(),
                ),
                _ => Key::Text(words.into_iter().next().unwrap_or_default()),
            };
            (name, value)
        });
        let dump = Dump(keys.collect());
        (dump, expiring)
    }

    pub(crate) fn flush(&mut self) {
        self.wire.ask(&[b"FLUSHALL"]);
        self.events();
    }
}

fn pairs(words: Vec<String>) -> BTreeMap<String, String> {
    words
        .chunks(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect()
}

/// The words of a line, separated by blanks; `'…'` holds blanks or nothing.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').expect("a quote is closed"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

/// A number as C prints it with `%.17g`, which is how Redis 7.0 shows scores.
pub(crate) fn g17(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    if number == 0.0 {
        return "0".into();
    }
    let exponential = format!("{number:.16e}");
    let (digits, exponent) = exponential.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent");
    let trim = |text: String| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    };
    if (-4..17).contains(&exponent) {
        return trim(format!("{number:.*}", (16 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits.to_owned()), exponent.abs())
}

/// An error of the script without what differs between servers: the code, the line number, and the
/// position the server adds.
pub(crate) fn short(error: &str) -> String {
    let mut text = error.strip_prefix("ERR ").unwrap_or(error);
    if let Some((_, rest)) = text
        .strip_prefix("Error running script")
        .and_then(|rest| rest.split_once("): @"))
    {
        text = rest.split_once(": ").map_or(rest, |(_, rest)| rest);
    }
    if let Some((front, _)) = text.rsplit_once(" script: ") {
        text = front;
    }
    match text
        .strip_prefix("user_script:")
        .and_then(|rest| rest.split_once(": "))
    {
        Some((line, rest)) if line.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("user_script:N: {rest}")
        }
        _ => text.to_owned(),
    }
}
