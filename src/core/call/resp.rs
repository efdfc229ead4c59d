//! A reader of the server's replies, in version 2 of the Redis protocol.
//!
//! This module parses lists, texts and numbers itself, since a scan receives hardly anything else. The parser of the
//! `redis` crate takes several times as long, because it also serves non-blocking streams, and it has no limit of
//! memory. The crate's parser only reads the remaining kinds of lines: statuses and errors.

use std::collections::TryReserveError;
use std::io::{self, BufRead, BufReader, Read};

use redis::Value;

use super::connect::Fault;
use crate::name::lossless_text;

/// Deeper lists are no reply of Redis.
const MAX_DEPTH: usize = 100;

/// Maximum memory reserved for a list or a text before its content arrives, in bytes.
const MAX_RESERVED: usize = 1 << 16;

/// Maximum length in bytes of a line of the protocol, CR and LF included. A line holds a size, a number, a status or an
/// error.
const MAX_LINE: usize = 64 << 10;

/// Maximum length of a text in bytes: 512 MiB, the server's default for `proto-max-bulk-len`, which limits values.
const MAX_TEXT: usize = 512 << 20;

/// Maximum memory in bytes for the replies to one request, with all their lists and texts. Only replies about many jobs
/// with much data come near this limit; [`core::api`](crate::core::api) then asks again for fewer jobs.
pub(super) const MAX_REPLIES: usize = 1 << 30;

/// The size in bytes from which a reply counts as large: it is refused unless memory for [`COPIES`] of it is free.
const LARGE: usize = 16 << 20;

/// How many times the size of a reply its later forms take in memory together: the jobs, their JSON, and the output.
const COPIES: usize = 6;

/// The bytes that the memory allocator takes for each text or list in addition to the content.
const ALLOCATION_OVERHEAD: usize = 32;

/// Why a reply could not be read.
#[derive(Debug)]
pub(super) enum ReplyReadError {
    /// The connection failed.
    Failed(io::Error),
    /// The bytes are not such a reply.
    NotAReply(Fault),
}

impl From<io::Error> for ReplyReadError {
    fn from(error: io::Error) -> ReplyReadError {
        ReplyReadError::Failed(error)
    }
}

/// Reads one reply. Memory for the reply is reserved as its bytes arrive, and subtracted from `bytes_left`. If nothing
/// is left, the reply is refused.
pub(super) fn read_reply<R: Read>(
    wire: &mut BufReader<R>,
    bytes_left: &mut usize,
) -> Result<Value, ReplyReadError> {
    let (line, before) = (Vec::new(), *bytes_left);
    let budget = &mut ReplyBudget { line, bytes_left };
    let reply = read_value(wire, budget, 0)?;
    refuse_if_memory_is_short(before - *budget.bytes_left)?;
    Ok(reply)
}

/// Refuses a large reply if there is no memory for the later copies of it. A failed allocation of such a copy would end
/// the process without an error message.
fn refuse_if_memory_is_short(size: usize) -> Result<(), ReplyReadError> {
    if size < LARGE {
        return Ok(());
    }
    let mut room: Vec<u8> = Vec::new();
    let reserved = room.try_reserve_exact(size.saturating_mul(COPIES));
    // Without `black_box`, the compiler might remove this trial allocation, since no code uses the memory.
    std::hint::black_box(&mut room);
    reserved.map_err(out_of_memory)
}

/// A reply that is being read.
struct ReplyBudget<'l> {
    /// A buffer for the first line of a value.
    line: Vec<u8>,
    /// The bytes of memory that the rest of the reply may take.
    bytes_left: &'l mut usize,
}

impl ReplyBudget<'_> {
    /// Subtracts memory that the reply needs from the budget, before the memory is allocated. Refuses the reply if the
    /// budget is used up.
    fn count_bytes(&mut self, bytes: usize) -> Result<(), ReplyReadError> {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                *self.bytes_left = left;
                Ok(())
            }
            None => Err(ReplyReadError::NotAReply(Fault::TooMuch)),
        }
    }
}

fn read_value<R: Read>(
    wire: &mut BufReader<R>,
    budget: &mut ReplyBudget,
    depth: usize,
) -> Result<Value, ReplyReadError> {
    let line = &mut budget.line;
    read_line(wire, line)?;
    let (kind, rest) = line.split_first().ok_or_else(malformed)?;
    match kind {
        b':' => parse_integer(rest).map(Value::Int).ok_or_else(malformed),
        b'$' => match parse_length(rest)? {
            None => Ok(Value::Nil),
            Some(size) if size > MAX_TEXT => Err(too_large()),
            Some(size) => {
                budget.count_bytes(size + ALLOCATION_OVERHEAD)?;
                read_text(wire, size).map(Value::BulkString)
            }
        },
        b'*' => {
            let Some(count) = parse_length(rest)? else {
                return Ok(Value::Nil);
            };
            if depth >= MAX_DEPTH {
                return Err(malformed());
            }
            budget.count_bytes(ALLOCATION_OVERHEAD)?;
            let mut items = Vec::new();
            while items.len() < count {
                if items.len() == items.capacity() {
                    // Reserve as much memory again as the received elements take: a false count then costs little.
                    let more = items.len().max(MAX_RESERVED / size_of::<Value>());
                    let more = more.min(count - items.len());
                    budget.count_bytes(more * size_of::<Value>())?;
                    items.try_reserve_exact(more).map_err(out_of_memory)?;
                }
                items.push(read_value(wire, budget, depth + 1)?);
            }
            Ok(Value::Array(items))
        }
        b'+' | b'-' => {
            match std::str::from_utf8(rest) {
                Ok(_) => {}
                // An error of the core may name jobs and workers, whose names are any bytes. Keep the error, with
                // bytes that are not UTF-8 escaped.
                Err(_) if *kind == b'-' => *line = format!("-{}", lossless_text(rest)).into_bytes(),
                Err(_) => return Err(ReplyReadError::NotAReply(Fault::InvalidUtf8)),
            }
            line.extend_from_slice(b"\r\n");
            // The `redis` crate copies the code and the message of an error into two texts: count the overhead of both.
            let memory = line.len() + 2 * ALLOCATION_OVERHEAD;
            budget.count_bytes(memory)?;
            redis::parse_redis_value(&budget.line).map_err(|_| malformed())
        }
        _ => Err(malformed()),
    }
}

fn malformed() -> ReplyReadError {
    ReplyReadError::NotAReply(Fault::MalformedReply)
}

fn out_of_memory(_: TryReserveError) -> ReplyReadError {
    ReplyReadError::NotAReply(Fault::OutOfMemory)
}

fn too_large() -> ReplyReadError {
    ReplyReadError::NotAReply(Fault::TooLong)
}

/// Reads a line of the Redis protocol, without CR and LF. Refuses a line whose first byte begins no reply, before
/// waiting for the line's end: a server with another protocol may never send one.
fn read_line<R: Read>(wire: &mut BufReader<R>, line: &mut Vec<u8>) -> Result<(), ReplyReadError> {
    line.clear();
    let first = loop {
        match wire.fill_buf() {
            Ok(bytes) => break bytes.first().copied(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    };
    if first.is_some_and(|first| !b":$*+-".contains(&first)) {
        return Err(malformed());
    }
    wire.by_ref()
        .take(MAX_LINE as u64)
        .read_until(b'\n', line)?;
    match line.strip_suffix(b"\r\n").map(<[u8]>::len) {
        Some(length) => line.truncate(length),
        None if line.ends_with(b"\n") => return Err(malformed()),
        None if line.len() == MAX_LINE => return Err(too_large()),
        None => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
    Ok(())
}

/// A whole number.
fn parse_integer(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The announced size of a text or a list; `None` for nil, whose size is negative.
fn parse_length(digits: &[u8]) -> Result<Option<usize>, ReplyReadError> {
    let size = parse_integer(digits).ok_or_else(malformed)?;
    Ok(usize::try_from(size).ok())
}

/// Reads a text of this size in bytes, and the CR and LF after it.
fn read_text<R: Read>(wire: &mut BufReader<R>, size: usize) -> Result<Vec<u8>, ReplyReadError> {
    let buffered = wire.buffer();
    let text = match buffered.get(..size) {
        Some(bytes) => {
            let text = bytes.to_vec();
            wire.consume(size);
            text
        }
        None => {
            let mut text = Vec::new();
            while text.len() < size {
                // Reserve as much memory again as the received bytes take: a false size then costs little.
                let more = text.len().max(MAX_RESERVED).min(size - text.len());
                text.try_reserve_exact(more).map_err(out_of_memory)?;
                if wire.by_ref().take(more as u64).read_to_end(&mut text)? < more {
                    return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
                }
            }
            text
        }
    };
    let mut end = [0; 2];
    wire.read_exact(&mut end)?;
    match &end {
        b"\r\n" => Ok(text),
        _ => Err(malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    /// Hands out up to `step` bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let step = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(step);
            buffer[..step].copy_from_slice(now);
            self.0 = later;
            Ok(step)
        }
    }

    fn read_in_steps(bytes: &[u8], step: usize) -> Result<Value, ReplyReadError> {
        let wire = &mut BufReader::with_capacity(16, Slow(bytes, step));
        read_reply(wire, &mut MAX_REPLIES.clone())
    }

    #[test]
    fn replies_are_those_of_the_crate_however_they_arrive() {
        let long = format!("${}\r\n{}\r\n", 100_000, "x".repeat(100_000));
        for text in [
            ":12\r\n",
            ":-1\r\n",
            "$0\r\n\r\n",
            "$5\r\na\r\nb\0\r\n",
            "$-1\r\n",
            "*0\r\n",
            "*-1\r\n",
            "*3\r\n$1\r\na\r\n$-1\r\n*2\r\n:7\r\n+fine\r\n",
            "+OK\r\n",
            "+QUEUED\r\n",
            "-ERR no such thing\r\n",
            "-NOSCRIPT none\r\n",
            "*2\r\n-WRONGTYPE it is a list\r\n:1\r\n",
            &long,
        ] {
            for step in [1, 3, 7, 1 << 20] {
                let expected = redis::parse_redis_value(text.as_bytes()).unwrap();
                let read = read_in_steps(text.as_bytes(), step).unwrap();
                assert_eq!(read, expected, "{step} {text:.40}");
            }
        }
    }

    #[test]
    fn what_is_not_a_reply_is_refused() {
        let deep = "*1\r\n".repeat(1000);
        for text in [
            "HTTP/1.1 400 Bad Request\r\n",
            "\x15\x03\x01",
            "\r\n",
            ":twelve\r\n",
            "$x\r\n",
            "$1\r\nabc",
            ":1\n",
            "*1\r\n!\r\n",
            &deep,
        ] {
            let read = read_in_steps(text.as_bytes(), 1 << 20);
            let strange = matches!(read, Err(ReplyReadError::NotAReply(Fault::MalformedReply)));
            assert!(strange, "{text:.40}: {read:?}");
        }
        let read = read_in_steps(b"-ERR j\xff\r\n", 1 << 20);
        let Ok(Value::ServerError(error)) = read else {
            panic!("{read:?}")
        };
        let named = Name::from_lossless_text(error.details().unwrap());
        assert_eq!(named.as_bytes(), b"j\xff");
        let read = read_in_steps(b"+OK \xff\r\n", 2);
        assert!(matches!(
            read,
            Err(ReplyReadError::NotAReply(Fault::InvalidUtf8))
        ));
        for text in ["", "$5\r\nab", "*2\r\n:1\r\n", ":1", "$536870912\r\na"] {
            let read = read_in_steps(text.as_bytes(), 1);
            let ended = matches!(&read, Err(ReplyReadError::Failed(error))
                if error.kind() == io::ErrorKind::UnexpectedEof);
            assert!(ended, "{text}: {read:?}");
        }
    }

    #[test]
    fn what_is_longer_than_any_reply_is_refused() {
        let is_too_long = |read| matches!(read, Err(ReplyReadError::NotAReply(Fault::TooLong)));
        let line = |length: usize| format!("-{}\r\n", "x".repeat(length - 3));
        assert!(read_in_steps(line(MAX_LINE).as_bytes(), 1 << 20).is_ok());
        for text in [
            &line(MAX_LINE + 1),
            "$536870913\r\n",
            "$9000000000000\r\n",
            "*2\r\n*1\r\n$9223372036854775807\r\n",
        ] {
            assert!(
                is_too_long(read_in_steps(text.as_bytes(), 1 << 20)),
                "{text:.40}"
            );
        }
        // An endless line, an endless list, and lists of texts that are longer together.
        let endless = |start: &'static [u8], again: &'static [u8]| {
            let mut again = Endless { again, at: 0 };
            let wire = &mut BufReader::with_capacity(1 << 16, start.chain(&mut again));
            let read = read_reply(wire, &mut (1 << 20));
            assert!(again.at < 2 << 20, "{} bytes", again.at);
            read
        };
        assert!(is_too_long(endless(b"+", b"x")));
        let list = b"*9223372036854775807\r\n";
        let status: &'static [u8] = Vec::leak([&[b'+'; 60_000][..], b"\r\n"].concat());
        for again in [
            &b"*-1\r\n"[..],
            b":1\r\n",
            b"*0\r\n",
            b"$0\r\n\r\n",
            b"$3\r\nabc\r\n",
            status,
            b"-ERR x\r\n",
        ] {
            let read = endless(list, again);
            assert!(matches!(
                read,
                Err(ReplyReadError::NotAReply(Fault::TooMuch))
            ));
        }
    }

    #[test]
    fn a_list_takes_no_more_memory_than_its_items() {
        let list = format!("*100000\r\n{}", ":1\r\n".repeat(100_000));
        let mut left = MAX_REPLIES;
        let wire = &mut BufReader::new(list.as_bytes());
        let Ok(Value::Array(items)) = read_reply(wire, &mut left) else {
            panic!("a list")
        };
        assert_eq!((items.len(), items.capacity()), (100_000, 100_000));
        let memory = items.capacity() * size_of::<Value>() + ALLOCATION_OVERHEAD;
        assert_eq!(MAX_REPLIES - left, memory);
    }

    /// Repeats some bytes without end.
    struct Endless {
        again: &'static [u8],
        at: usize,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            for byte in &mut *buffer {
                *byte = self.again[self.at % self.again.len()];
                self.at += 1;
            }
            Ok(buffer.len())
        }
    }
}
