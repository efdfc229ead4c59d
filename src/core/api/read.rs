//! Plain reads for `qless check`, many in one round trip.
//!
//! A key of another kind than the one asked for is an answer here, and no error.

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::connect::Words;
use crate::core::call::reply;
use crate::core::call::{Call, Value};
use crate::error::{Error, Kind};

/// How many members a page of a set has: about a millisecond of the server.
pub(crate) const PAGE: usize = 500;

/// One read.
#[derive(Clone, Debug)]
pub struct Read {
    call: Call,
    how: How,
}

/// What is answered.
#[derive(Clone, Copy, Debug)]
enum How {
    Texts,
    Page,
    Text,
    Number,
}

/// What came back.
#[derive(Debug)]
pub enum ReadReply {
    Texts(Vec<Option<Vec<u8>>>),
    /// Where the next page begins, if there is one; and this one.
    Page(Option<Vec<u8>>, Vec<Vec<u8>>),
    Text(Option<Vec<u8>>),
    Number(i64),
    /// The key is of another kind.
    Wrong,
}

/// Where every walk begins.
pub(crate) const START: &[u8] = b"0";

/// Names of fields, packed once for many reads.
#[derive(Clone, Debug)]
pub struct Fields(Words);

impl Fields {
    pub fn new(names: &[&str]) -> Fields {
        let mut words = Words::default();
        names.iter().for_each(|name| words.add(name.as_bytes()));
        Fields(words)
    }
}

impl Read {
    fn new(how: How, command: &str) -> Read {
        let call = Call::plain(command);
        Read { call, how }
    }

    fn arg(self, arg: impl AsRef<[u8]>) -> Read {
        let call = self.call.arg(arg);
        Read { call, ..self }
    }

    /// A page of key names that match a pattern.
    pub fn keys(cursor: &[u8], pattern: &[u8], count: usize) -> Read {
        let ask = Read::new(How::Page, "SCAN").arg(cursor);
        let ask = ask.arg("MATCH").arg(pattern);
        ask.arg("COUNT").arg(count.to_string())
    }

    fn page(command: &str, key: &[u8], cursor: &[u8], count: usize) -> Read {
        let ask = Read::new(How::Page, command).arg(key).arg(cursor);
        ask.arg("COUNT").arg(count.to_string())
    }

    /// A page of a sorted set: members and scores in turn.
    pub fn scores(key: &[u8], cursor: &[u8], count: usize) -> Read {
        Read::page("ZSCAN", key, cursor, count)
    }

    /// A page of a set.
    pub fn members(key: &[u8], cursor: &[u8], count: usize) -> Read {
        Read::page("SSCAN", key, cursor, count)
    }

    /// A page of a hash: fields and values in turn.
    pub fn hash(key: &[u8], cursor: &[u8], count: usize) -> Read {
        Read::page("HSCAN", key, cursor, count)
    }

    /// Members of a sorted set by their rank, the highest score first; below 0 from the end.
    pub fn ranks(key: &[u8], from: i64, to: i64) -> Read {
        let ask = Read::new(How::Texts, "ZREVRANGE").arg(key);
        ask.arg(from.to_string()).arg(to.to_string())
    }

    /// The same, members and scores in turn.
    pub fn ranked(key: &[u8], from: i64, to: i64) -> Read {
        Read::ranks(key, from, to).arg("WITHSCORES")
    }

    /// How many members of a sorted set have a higher score.
    pub fn higher(key: &[u8], score: f64) -> Read {
        let ask = Read::new(How::Number, "ZCOUNT").arg(key);
        ask.arg(format!("({score}")).arg("+inf")
    }

    /// How many members of a sorted set have no higher score.
    pub fn up_to(key: &[u8], score: f64) -> Read {
        let ask = Read::new(How::Number, "ZCOUNT").arg(key);
        ask.arg("-inf").arg(score.to_string())
    }

    /// All fields of a hash, names and values in turn; some of them where there are more than
    /// `most`. One pass over a hash, where each name would be looked for: two thirds of the cost.
    pub fn some(key: &[u8], most: usize) -> Read {
        let ask = Read::new(How::Texts, "HRANDFIELD").arg(key);
        ask.arg(most.to_string()).arg("WITHVALUES")
    }

    /// Elements of a list; below 0 from its end.
    pub fn range(key: &[u8], from: i64, to: i64) -> Read {
        let ask = Read::new(How::Texts, "LRANGE").arg(key);
        ask.arg(from.to_string()).arg(to.to_string())
    }

    /// Fields of a hash.
    pub fn fields(key: &[u8], names: &Fields) -> Read {
        let ask = Read::new(How::Texts, "HMGET").arg(key);
        let call = ask.call.more(names.0.clone());
        Read { call, ..ask }
    }

    pub fn field(key: &[u8], name: &str) -> Read {
        Read::new(How::Text, "HGET").arg(key).arg(name)
    }

    pub fn score(key: &[u8], member: &[u8]) -> Read {
        Read::new(How::Text, "ZSCORE").arg(key).arg(member)
    }

    /// How many members a sorted set has.
    pub fn count(key: &[u8]) -> Read {
        Read::new(How::Number, "ZCARD").arg(key)
    }

    /// How many elements a list has.
    pub fn length(key: &[u8]) -> Read {
        Read::new(How::Number, "LLEN").arg(key)
    }

    /// Whether there is a key: 1.
    pub fn exists(key: &[u8]) -> Read {
        Read::new(How::Number, "EXISTS").arg(key)
    }

    /// In how many seconds a key expires; below 0 it does not.
    pub fn expiry(key: &[u8]) -> Read {
        Read::new(How::Number, "TTL").arg(key)
    }
}

impl How {
    fn read(self, outcome: Result<Value, Error>) -> Result<ReadReply, Error> {
        let value = match outcome {
            Err(error) if error.kind() == Kind::Damaged => return Ok(ReadReply::Wrong),
            outcome => outcome?,
        };
        Ok(match self {
            How::Texts => {
                let texts = reply::list(value)?.into_iter().map(reply::optional);
                ReadReply::Texts(texts.collect::<Result<_, _>>()?)
            }
            How::Page => {
                let mut page = reply::list(value)?.into_iter();
                let (Some(next), Some(items)) = (page.next(), page.next()) else {
                    return Err(reply::unexpected("a page"));
                };
                let next = reply::bytes(next)?;
                let items = reply::list(items)?.into_iter().map(reply::bytes);
                let items = items.collect::<Result<_, _>>()?;
                ReadReply::Page((next != START).then_some(next), items)
            }
            How::Text => ReadReply::Text(reply::optional(value)?),
            How::Number => ReadReply::Number(reply::integer(value)?),
        })
    }
}

impl Core {
    /// Makes reads in one round trip.
    pub fn reads(&mut self, now: Moment, asks: Vec<Read>) -> Result<Vec<ReadReply>, Error> {
        if asks.is_empty() {
            return Ok(Vec::new());
        }
        let (calls, how): (Vec<Call>, Vec<How>) =
            asks.into_iter().map(|ask| (ask.call, ask.how)).unzip();
        let outcomes = self.calls(now, &calls).into_iter().zip(how);
        outcomes.map(|(outcome, how)| how.read(outcome)).collect()
    }

    /// Makes one read.
    pub fn read(&mut self, now: Moment, ask: Read) -> Result<ReadReply, Error> {
        let told = self.reads(now, vec![ask])?.pop();
        told.ok_or_else(|| Error::internal("a read without outcome"))
    }

    /// Returns whether no key of this database has an expiry, as far as the server tells.
    pub fn nothing_expires(&mut self, now: Moment) -> Result<bool, Error> {
        let call = Call::plain("INFO").arg("keyspace");
        let told = match self.calls(now, std::slice::from_ref(&call)).pop() {
            Some(Ok(told)) => reply::bytes(told)?,
            // Who may not ask for this asks for each key.
            Some(Err(error)) if error.kind() == Kind::NoPerm => return Ok(false),
            Some(Err(error)) => return Err(error),
            None => return Ok(false),
        };
        let told = String::from_utf8_lossy(&told).into_owned();
        let line = format!("db{}:", self.db());
        let line = told.lines().find_map(|told| told.strip_prefix(&line));
        Ok(line.is_some_and(|line| line.split(',').any(|word| word == "expires=0")))
    }
}
