//! What rights a user needs: the commands of Redis that the core runs (`reliability.md` 9), and
//! whether the user who is logged in has them (5.2).
//!
//! A script that meets a missing right half-way has already done its first half, so a command
//! that changes something asks before it begins.

use std::fmt::Write;

use super::connect::Packed;
use super::reply;
use super::{Value, refusal};
use crate::error::{Error, Kind};

/// What the script runs, but for `check.*` and `look.scan`.
pub(crate) const CALLS: &[&str] = &[
    "del",
    "exists",
    "hdel",
    "hget",
    "hgetall",
    "hincrby",
    "hmget",
    "hmset",
    "hset",
    "llen",
    "lpop",
    "lpush",
    "lrange",
    "lrem",
    "ltrim",
    "publish",
    "rpush",
    "sadd",
    "scard",
    "sismember",
    "smembers",
    "srem",
    "zadd",
    "zcard",
    "zcount",
    "zincrby",
    "zrange",
    "zrangebyscore",
    "zrem",
    "zrevrange",
    "zrevrangebyscore",
    "zscore",
];

/// What a call needs around it.
const AROUND: &[&str] = &[
    "eval", "evalsha", "auth", "hello", "ping", "select", "time", "role",
];

/// What workers and those who wait need besides.
const WAITING: &[&str] = &[
    "wait",
    "client|setname",
    "subscribe",
    "psubscribe",
    "unsubscribe",
    "punsubscribe",
];

/// What finding jobs by reading all of them, and checking, needs besides.
pub(crate) const SCANS: &[&str] = &[
    "scan",
    "type",
    "ttl",
    "hlen",
    "hscan",
    "sscan",
    "zscan",
    "strlen",
    "rename",
    "lset",
    "persist",
    "info",
    "memory|usage",
];

/// What is enough to read; so that a replica is, too.
const READS: &[&str] = &[
    "eval_ro",
    "evalsha_ro",
    "exists",
    "hget",
    "hgetall",
    "hmget",
    "llen",
    "lrange",
    "scard",
    "sismember",
    "smembers",
    "zcard",
    "zcount",
    "zrange",
    "zrangebyscore",
    "zrevrange",
    "zrevrangebyscore",
    "zscore",
    "auth",
    "hello",
    "ping",
    "select",
    "time",
    "role",
    "subscribe",
    "psubscribe",
    "unsubscribe",
    "punsubscribe",
    "scan",
    "type",
    "ttl",
    "hlen",
    "hscan",
    "sscan",
    "zscan",
    "strlen",
    "info",
    "readonly",
];

/// What to do about a right that is missing.
pub(crate) const HINT: &str = "`qless help acl` prints the line an administrator needs";

/// Returns what an administrator types to make users for us.
pub fn lines(prefix: &str) -> String {
    // A user of a cluster is told the tag with its star behind it, like any prefix.
    let mut text = String::from(
        "# put, pop, bulk verbs; clients that load a script of their own may need more:\n\
         # the reference runs zremrangebyrank and zremrangebyscore, too\n",
    );
    let user = |name: &str, keys: &str| {
        format!(
            "ACL SETUSER {name} on >PASSWORD resetkeys {keys}{prefix}* resetchannels &{prefix}* -@all"
        )
    };
    text.push_str(&user("qless", "~"));
    words(&mut text, &[CALLS, AROUND, WAITING]);
    text.push_str("# check, export, selectors that read every job: besides\nACL SETUSER qless");
    words(&mut text, &[SCANS]);
    text.push_str("# --read-only, on a primary or a replica (before Redis 7: ~ in place of %R~, and eval, evalsha)\n");
    text.push_str(&user("qless-ro", "%R~"));
    words(&mut text, &[READS]);
    text
}

/// Ends a line with the words of rights. It stays one line: `redis-cli` and ACL files know no other.
fn words(text: &mut String, parts: &[&[&str]]) {
    for word in parts.iter().copied().flatten() {
        _ = write!(text, " +{word}");
    }
    text.push('\n');
}

/// Asks for each command whether it may be run on a key of ours, and for `publish` on a channel.
/// Some commands take nothing but keys, so each argument is one. A server before 7.0 cannot be asked.
const ASK: &str = "\
local lacks = {}
if redis.acl_check_cmd then
  for name in string.gmatch(ARGV[2], '%S+') do
    if not redis.acl_check_cmd(name, ARGV[1], ARGV[1], ARGV[1]) then lacks[#lacks + 1] = name end
  end
end
return lacks";

/// Adds the question to a handshake.
pub(crate) fn ask(prefix: &str, packed: &mut Packed) {
    packed.add(&["EVAL", ASK, "0", &format!("{prefix}x"), &CALLS.join(" ")]);
}

/// Reads the answer: what may not be run. A server that cannot be asked is not believed to lack
/// anything: what it refuses later, it says.
pub(crate) fn lacking(answer: Value) -> Vec<String> {
    if refusal(&answer).is_some() {
        return Vec::new();
    }
    let names = reply::names(answer).unwrap_or_default();
    names
        .iter()
        .map(|name| name.lossless_text().to_uppercase())
        .collect()
}

/// Returns the error about what may not be run.
pub(crate) fn refused(lacks: &[String], user: Option<&str>, prefix: &str) -> Error {
    let user = crate::text::clean(user.unwrap_or("default"));
    let shown = 5.min(lacks.len());
    let mut what = lacks[..shown].join(", ");
    if lacks.len() > shown {
        _ = write!(what, " and {} more", lacks.len() - shown);
    }
    Error::new(
        Kind::NoPerm,
        format!("user `{user}` may not run {what} on `{prefix}*`; nothing was changed"),
    )
    .hint(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::script::source::{COMMANDS, ON_DEMAND, SHARED, Source};

    /// The commands that Lua files name behind `call(`, `pcall(` or `ask(`.
    fn named(source: &Source) -> impl Iterator<Item = &'static str> {
        let parts = source
            .text
            .split("call('")
            .chain(source.text.split("ask('"));
        parts.filter_map(|part| {
            let (name, _) = part.split_once('\'')?;
            let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase());
            (is_name && !name.is_empty()).then_some(name)
        })
    }

    #[test]
    fn the_table_is_what_the_script_runs() {
        // The commands that a function runs only if the user has the right.
        let other = ["pexpire", "lpos"];
        let of = |sources: &[(&str, Source)]| {
            let names = sources.iter().flat_map(|(_, source)| named(source));
            let mut names: Vec<&str> = names.filter(|name| !other.contains(name)).collect();
            names.sort();
            names.dedup();
            names
        };
        let usual: Vec<_> = SHARED
            .iter()
            .chain(COMMANDS)
            .copied()
            .filter(|(name, _)| !name.starts_with("check.") && *name != "look.scan")
            .collect();
        for name in of(&usual) {
            assert!(CALLS.contains(&name), "{name}");
        }
        for name in CALLS {
            let run = format!("'{name}'");
            assert!(
                usual.iter().any(|(_, source)| source.text.contains(&run)),
                "{name}"
            );
        }
        for name in of(ON_DEMAND) {
            assert!(CALLS.contains(&name) || SCANS.contains(&name), "{name}");
        }
    }
}
