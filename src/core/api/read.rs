//! Plain Redis reads, many in one round trip, mainly for `qless check`.
//!
//! If a key has another type than the command reads, that is a reply here ([`ReadReply::WrongType`]), not an error.

use crate::clock::moment::Moment;
use crate::core::call::connect::WireEncodedWords;
use crate::core::call::reply::{self, Bytes};
use crate::core::call::{Call, Core, Value};
use crate::error::{Error, Kind};

/// The number of members in one page of a set, which takes the server about a millisecond.
pub(crate) const PAGE: usize = 500;

/// Maximum number of fields of a hash that is read whole. No hash of a job that the core writes has half of that.
const MAX_WHOLE: usize = 64;

/// The name of a read in errors.
const READ: &str = "a plain read";

#[derive(Clone, Debug)]
pub struct ReadCommand {
    call: Call,
    form: ReplyForm,
}

#[derive(Clone, Copy, Debug)]
enum ReplyForm {
    Texts,
    Page,
    Text,
    Number,
    /// These fields of a whole hash, as texts.
    Whole(&'static [&'static str]),
}

#[derive(Debug)]
pub enum ReadReply {
    Texts(Vec<Option<Vec<u8>>>),
    /// The cursor of the next page, if there is one, and the items of this page.
    Page(Option<Vec<u8>>, Vec<Vec<u8>>),
    Text(Option<Vec<u8>>),
    Number(i64),
    /// The hash has too many fields to be read whole.
    Large,
    /// The key has another type.
    WrongType,
}

/// Reads that were sent ahead.
#[derive(Debug)]
pub(crate) struct OutstandingReads {
    calls: Vec<Call>,
    forms: Vec<ReplyForm>,
    /// The number of their request; `None` if they were not sent ahead.
    request: Option<u64>,
}

impl ReadReply {
    /// The only text, or the first of several.
    pub fn first_text(&self) -> Option<&[u8]> {
        match self {
            ReadReply::Text(text) => text.as_deref(),
            ReadReply::Texts(texts) => texts.first()?.as_deref(),
            _ => None,
        }
    }
}

/// The cursor of the first page.
pub(crate) const START: &[u8] = b"0";

/// Names of fields, packed once for many reads.
#[derive(Clone, Debug)]
pub struct WireEncodedFieldNames {
    names: &'static [&'static str],
    words: WireEncodedWords,
}

impl WireEncodedFieldNames {
    pub fn new(names: &'static [&'static str]) -> WireEncodedFieldNames {
        let mut words = WireEncodedWords::default();
        names
            .iter()
            .for_each(|name| words.add_word(name.as_bytes()));
        WireEncodedFieldNames { names, words }
    }
}

impl ReadCommand {
    fn new(form: ReplyForm, command: &'static str) -> ReadCommand {
        let call = Call::redis_read_command(command);
        ReadCommand { call, form }
    }

    fn arg(self, arg: impl AsRef<[u8]>) -> ReadCommand {
        let call = self.call.arg(arg);
        ReadCommand { call, ..self }
    }

    /// The SCAN for one page of key names that match a pattern.
    pub fn scan_keys(cursor: &[u8], pattern: &[u8], count: usize) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Page, "SCAN").arg(cursor);
        let read = read.arg("MATCH").arg(pattern);
        read.arg("COUNT").arg(count.to_string())
    }

    fn scan_page(command: &'static str, key: &[u8], cursor: &[u8], count: usize) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Page, command)
            .arg(key)
            .arg(cursor);
        read.arg("COUNT").arg(count.to_string())
    }

    /// The ZSCAN for one page. In its reply, each member is followed by its score.
    pub fn scan_sorted_set(key: &[u8], cursor: &[u8], count: usize) -> ReadCommand {
        ReadCommand::scan_page("ZSCAN", key, cursor, count)
    }

    /// The SSCAN for one page.
    pub fn scan_set(key: &[u8], cursor: &[u8], count: usize) -> ReadCommand {
        ReadCommand::scan_page("SSCAN", key, cursor, count)
    }

    /// The HSCAN for one page. In its reply, each field is followed by its value.
    pub fn scan_hash(key: &[u8], cursor: &[u8], count: usize) -> ReadCommand {
        ReadCommand::scan_page("HSCAN", key, cursor, count)
    }

    /// Members of a sorted set by rank, the highest score first. Negative ranks count from the end.
    pub fn members_from_highest(key: &[u8], from: i64, to: i64) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Texts, "ZREVRANGE").arg(key);
        read.arg(from.to_string()).arg(to.to_string())
    }

    /// Members of a sorted set by rank, each followed by its score.
    pub fn members_and_scores_from_highest(key: &[u8], from: i64, to: i64) -> ReadCommand {
        ReadCommand::members_from_highest(key, from, to).arg("WITHSCORES")
    }

    /// The number of members of a sorted set with a higher score.
    pub fn count_above(key: &[u8], score: f64) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Number, "ZCOUNT").arg(key);
        read.arg(format!("({score}")).arg("+inf")
    }

    /// The number of members of a sorted set with a lower score.
    pub fn count_below(key: &[u8], score: f64) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Number, "ZCOUNT").arg(key);
        read.arg("-inf").arg(format!("({score}"))
    }

    /// The number of members of a sorted set with this score or a lower one.
    pub fn count_up_to(key: &[u8], score: f64) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Number, "ZCOUNT").arg(key);
        read.arg("-inf").arg(score.to_string())
    }

    /// Elements of a list. Negative indexes count from the end.
    pub fn list_range(key: &[u8], from: i64, to: i64) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Texts, "LRANGE").arg(key);
        read.arg(from.to_string()).arg(to.to_string())
    }

    pub fn hash_fields(key: &[u8], names: &WireEncodedFieldNames) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Texts, "HMGET").arg(key);
        let call = read.call.packed_args(names.words.clone());
        ReadCommand { call, ..read }
    }

    /// Reads a whole hash and keeps the named fields. If most fields are wanted, this takes the server half as long as
    /// HMGET, since it looks up no names. HRANDFIELD is the only such command with a limit: a hash with very many
    /// fields gives [`ReadReply::Large`].
    pub fn fields_of_whole_hash(key: &[u8], names: &WireEncodedFieldNames) -> ReadCommand {
        let read = ReadCommand::new(ReplyForm::Whole(names.names), "HRANDFIELD").arg(key);
        read.arg(MAX_WHOLE.to_string()).arg("WITHVALUES")
    }

    pub fn hash_field(key: &[u8], name: &str) -> ReadCommand {
        ReadCommand::new(ReplyForm::Text, "HGET").arg(key).arg(name)
    }

    pub fn member_score(key: &[u8], member: &[u8]) -> ReadCommand {
        ReadCommand::new(ReplyForm::Text, "ZSCORE")
            .arg(key)
            .arg(member)
    }

    /// The number of members of a sorted set.
    pub fn sorted_set_size(key: &[u8]) -> ReadCommand {
        ReadCommand::new(ReplyForm::Number, "ZCARD").arg(key)
    }

    /// The number of elements of a list.
    pub fn list_length(key: &[u8]) -> ReadCommand {
        ReadCommand::new(ReplyForm::Number, "LLEN").arg(key)
    }

    /// 1 if the key exists.
    pub fn key_exists(key: &[u8]) -> ReadCommand {
        ReadCommand::new(ReplyForm::Number, "EXISTS").arg(key)
    }

    /// The seconds until a key expires; negative if it has no expiry or does not exist.
    pub fn seconds_to_expiry(key: &[u8]) -> ReadCommand {
        ReadCommand::new(ReplyForm::Number, "TTL").arg(key)
    }
}

impl ReplyForm {
    fn read_reply(self, result: Result<Value, Error>) -> Result<ReadReply, Error> {
        let value = match result {
            Err(error) if error.kind() == Kind::WrongKeyType => return Ok(ReadReply::WrongType),
            result => result?,
        };
        let bytes = |Bytes(text)| text;
        Ok(match self {
            ReplyForm::Texts => {
                let texts: Vec<Option<Bytes>> = reply::read_reply(READ, value)?;
                ReadReply::Texts(texts.into_iter().map(|text| text.map(bytes)).collect())
            }
            ReplyForm::Page => {
                let (Bytes(next), items): (_, Vec<Bytes>) = reply::read_reply(READ, value)?;
                let items = items.into_iter().map(bytes).collect();
                ReadReply::Page((next != START).then_some(next), items)
            }
            ReplyForm::Text => {
                let text: Option<Bytes> = reply::read_reply(READ, value)?;
                ReadReply::Text(text.map(bytes))
            }
            ReplyForm::Number => ReadReply::Number(reply::read_reply(READ, value)?),
            ReplyForm::Whole(names) => pick_hash_fields(names, value)?,
        })
    }
}

/// Picks the values of some fields from all names and values of a hash. It moves the values and copies none, because a
/// check reads every job this way.
fn pick_hash_fields(names: &[&str], whole: Value) -> Result<ReadReply, Error> {
    let Value::Array(words) = whole else {
        return Err(reply::unexpected_reply(READ, "no list"));
    };
    if words.len() >= 2 * MAX_WHOLE {
        return Ok(ReadReply::Large);
    }
    let mut texts = vec![None; names.len()];
    let mut words = words.into_iter();
    while let Some(name) = words.next() {
        let (Value::BulkString(name), Some(Value::BulkString(value))) = (name, words.next()) else {
            return Err(reply::unexpected_reply(READ, "no names and values"));
        };
        if let Some(at) = names.iter().position(|known| known.as_bytes() == name) {
            texts[at] = Some(value);
        }
    }
    Ok(ReadReply::Texts(texts))
}

impl Core {
    /// Makes reads in one round trip.
    pub fn run_reads(
        &mut self,
        now: Moment,
        reads: Vec<ReadCommand>,
    ) -> Result<Vec<ReadReply>, Error> {
        if reads.is_empty() {
            return Ok(Vec::new());
        }
        let (calls, forms): (Vec<Call>, Vec<ReplyForm>) =
            reads.into_iter().map(|read| (read.call, read.form)).unzip();
        let replies = self
            .call_all_for_replies(now, &calls)
            .into_iter()
            .zip(forms);
        replies
            .map(|(reply, form)| form.read_reply(reply.result))
            .collect()
    }

    /// Sends reads, and does not wait for their replies.
    pub(crate) fn send_reads(&mut self, now: Moment, reads: Vec<ReadCommand>) -> OutstandingReads {
        let (calls, forms): (Vec<Call>, Vec<ReplyForm>) =
            reads.into_iter().map(|read| (read.call, read.form)).unzip();
        OutstandingReads {
            request: self.try_send_ahead(now, &calls),
            calls,
            forms,
        }
    }

    /// The replies to reads that [`Core::send_reads`] sent.
    pub(crate) fn receive_reads(
        &mut self,
        now: Moment,
        reads: OutstandingReads,
    ) -> Result<Vec<ReadReply>, Error> {
        let results = self.take_ahead_or_repeat(now, &reads.calls, reads.request);
        results
            .into_iter()
            .zip(reads.forms)
            .map(|(result, form)| form.read_reply(result))
            .collect()
    }

    /// Makes one read.
    pub fn run_read(&mut self, now: Moment, read: ReadCommand) -> Result<ReadReply, Error> {
        let reply = self.run_reads(now, vec![read])?.pop();
        reply.ok_or_else(|| Error::internal("a read without outcome"))
    }

    /// Whether the user may run HRANDFIELD, which reads whole hashes. A user whose rights were written for an earlier
    /// version may not.
    pub(crate) fn may_user_read_whole_hashes(&mut self, now: Moment) -> Result<bool, Error> {
        let key = [self.prefix().as_bytes(), b"x"].concat();
        match self.run_read(
            now,
            ReadCommand::fields_of_whole_hash(&key, &WireEncodedFieldNames::new(&[])),
        ) {
            Err(error) if error.kind() == Kind::NoPerm => Ok(false),
            reply => reply.map(|_| true),
        }
    }

    /// Whether the server reports that no key of this database has an expiry.
    pub fn no_key_expires(&mut self, now: Moment) -> Result<bool, Error> {
        let call = Call::redis_read_command("INFO").arg("keyspace");
        let info: String = match self.call(now, call) {
            // If the user may not run INFO, the result is false: the caller then reads the expiry of each key.
            Err(error) if error.kind() == Kind::NoPerm => return Ok(false),
            info => info?,
        };
        let database = format!("db{}:", self.db_number());
        let line = info.lines().find_map(|line| line.strip_prefix(&database));
        Ok(line.is_some_and(|line| line.split(',').any(|word| word == "expires=0")))
    }
}
