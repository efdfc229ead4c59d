//! The rights that a Redis user needs for `qless`: lists of Redis commands, the ACL lines that grant them, and a test
//! whether the current user has them.
//!
//! A script that lacks a right half-way has already applied its first half. So a command that changes something tests
//! the user's rights at the login.

use std::fmt::Write;

use super::connect::WireEncodedCommands;
use super::reply;
use super::{Call, Value, server_error};
use crate::address::ServerTarget;
use crate::error::{EffectOnData, Error, Kind};
use crate::name::Name;
use crate::text::Sanitized;

/// The Redis commands that the core's script runs, without the ones that only dry runs or scans need.
pub(crate) const CALLS: &[&str] = &[
    "del",
    "exists",
    "get",
    "hdel",
    "hget",
    "hgetall",
    "hincrby",
    "hmget",
    "hmset",
    "hset",
    "incr",
    "llen",
    "lpop",
    "lpush",
    "lrange",
    "lrem",
    "ltrim",
    "persist",
    "pexpire",
    "publish",
    "rpush",
    "sadd",
    "scard",
    "set",
    "sismember",
    "smembers",
    "srem",
    "sscan",
    "ttl",
    "zadd",
    "zcard",
    "zcount",
    "zincrby",
    "zrange",
    "zrangebyscore",
    "zrank",
    "zrem",
    "zrevrange",
    "zrevrangebyscore",
    "zscore",
    "zunionstore",
];

/// The Redis commands that only dry runs of the core need, such as in `qless peek` and `qless explain`. A user without
/// these rights may do everything else.
const DRY_RUNS: &[&str] = &["hlen"];

/// The Redis commands that each call needs outside the script: to find the server, to log in, and to run the script.
const AROUND: &[&str] = &[
    "eval",
    "evalsha",
    "auth",
    "hello",
    "info",
    "ping",
    "select",
    "time",
    "role",
    "cluster|slots",
];

/// The additional Redis commands of workers and of commands that wait for events or replicas.
const WAITING: &[&str] = &[
    "wait",
    "client|setname",
    "subscribe",
    "psubscribe",
    "unsubscribe",
    "punsubscribe",
];

/// The additional Redis commands of `qless check` and of scans that read every job.
pub(crate) const SCANS: &[&str] = &[
    "scan",
    "type",
    "hrandfield",
    "hscan",
    "sscan",
    "zscan",
    "strlen",
    "rename",
    "lset",
    "lpos",
    "cluster|keyslot",
    "cluster|countkeysinslot",
];

/// The Redis commands by which a repair moves a key in a cluster with one primary, if the prefix has no hash tag.
/// RENAME fails there, since the old and the new name are in different slots (`lua/split.lua`).
const ONE_PRIMARY: &[&str] = &["dump", "pttl", "restore"];

/// All Redis commands that `qless --read-only` needs, on a primary or a replica.
const READS: &[&str] = &[
    "eval_ro",
    "evalsha_ro",
    "exists",
    "get",
    "hget",
    "hgetall",
    "hmget",
    "llen",
    "lrange",
    "lpos",
    "scard",
    "sismember",
    "smembers",
    "sscan",
    "zcard",
    "zcount",
    "zrange",
    "zrangebyscore",
    "zrank",
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
    "hrandfield",
    "hscan",
    "sscan",
    "zscan",
    "strlen",
    "info",
    "readonly",
    "cluster|slots",
    "cluster|keyslot",
    "cluster|countkeysinslot",
];

/// The host name suffixes of managed services that refuse `ACL SETUSER` and create users from ACL rules alone:
/// ElastiCache and MemoryDB, Azure Managed Redis and Azure Cache.
const TAKE_RULES_ALONE: [&str; 4] = [
    ".amazonaws.com",
    ".amazonaws.com.cn",
    ".redis.azure.net",
    ".redis.cache.windows.net",
];

/// The hint of errors about missing rights. It names `qless help acl`, with the form of output that suits the server.
pub(crate) fn missing_rights_hint(target: &ServerTarget) -> &'static str {
    let host = target
        .first_host_and_port()
        .map(|node| node.host.trim_end_matches('.').to_lowercase());
    let takes_rules = |host: String| TAKE_RULES_ALONE.iter().any(|end| host.ends_with(end));
    if host.is_some_and(takes_rules) {
        "`qless help acl --form access-string` prints the rules an administrator needs"
    } else {
        "`qless help acl` prints the line an administrator needs"
    }
}

/// The syntax in which [`acl_lines`] writes the rights of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum AclOutputForm {
    /// Commands for `redis-cli`
    #[default]
    Setuser,
    /// The rules alone, for services without `ACL SETUSER`
    AccessString,
    /// Lines of an ACL file
    Aclfile,
}

/// The uses of `qless` that need the Redis commands in [`SCANS`], in words for the operator.
const CHECKS: &str = "check, export, throttle list --all, selectors that read every job";

/// The use of `qless` that needs the Redis commands in [`ONE_PRIMARY`], in words for the operator.
const SPLITS: &str = "check --repair in a cluster with one primary";

/// The lines by which a Redis administrator creates the users for `qless`. Each user or grant is a single long line:
/// `redis-cli` and ACL files do not allow line breaks.
pub fn acl_lines(prefix: &str, form: AclOutputForm) -> String {
    const OPERATES: &str = "put, pop, bulk verbs, events; clients that load their own script may need more:\n\
                            # the reference also runs zremrangebyrank and zremrangebyscore";
    const READS_ONLY: &str = "--read-only and events, on a primary or a replica \
                              (before Redis 7: ~ instead of %R~, and eval, evalsha)";
    let split: &[&[&str]] = if prefix.contains('{') {
        &[]
    } else {
        &[ONE_PRIMARY]
    };
    let operate: &[&[&str]] = &[CALLS, DRY_RUNS, AROUND, WAITING];
    // The key pattern of the rule is the prefix and a star, also for a prefix with a hash tag: braces match themselves.
    let rules = |keys: &str, channels: &str, parts: &[&[&str]]| {
        format!(
            "{keys}{prefix}* {channels}&{prefix}* -@all{}",
            acl_grants_of_commands(parts)
        )
    };
    let mut text = String::new();
    if form == AclOutputForm::Setuser {
        let mut user = |about: &str, name: &str, rules: String| {
            _ = writeln!(text, "# {about}\nACL SETUSER {name}{rules}");
        };
        let created = |keys: &str, parts| {
            format!(
                " on >PASSWORD resetkeys {}",
                rules(keys, "resetchannels ", parts)
            )
        };
        user(OPERATES, "qless", created("~", operate));
        user(
            &format!("{CHECKS} need also"),
            "qless",
            acl_grants_of_commands(&[SCANS]),
        );
        if !split.is_empty() {
            user(
                &format!("{SPLITS} needs also"),
                "qless",
                acl_grants_of_commands(split),
            );
        }
        user(READS_ONLY, "qless-ro", created("%R~", &[READS]));
        return text;
    }
    let check = [operate, &[SCANS], split].concat();
    for (about, name, keys, parts) in [
        (OPERATES, "qless", "~", operate),
        (CHECKS, "qless-check", "~", &check),
        (READS_ONLY, "qless-ro", "%R~", &[READS]),
    ] {
        let rules = rules(keys, "", parts);
        _ = if form == AclOutputForm::AccessString {
            writeln!(text, "# {about}\non {rules}")
        } else {
            // An ACL file cannot hold comments: leave out `about`, the description of the user.
            writeln!(text, "user {name} on >PASSWORD {rules}")
        };
    }
    text
}

/// The words that grant commands.
fn acl_grants_of_commands(parts: &[&[&str]]) -> String {
    let commands = parts.iter().copied().flatten();
    commands.map(|command| format!(" +{command}")).collect()
}

/// A Lua script that tests a user's rights: it returns the Redis commands that the user is not allowed to run on a key
/// with the prefix, or for `publish` on such a channel. `ARGV[2]` lists the commands; a subcommand follows a `|`. A
/// subcommand that the server does not have counts as forbidden. Servers before 7.0 offer no such test, so the script
/// then returns no command.
///
/// If nothing is missing and the prefix has no hash tag, the script also reads two keys in different slots. What looks
/// like one server may be a proxy before several servers, which refuse that; the script returns their error.
const ASK: &str = "\
local lacks = {}
if redis.acl_check_cmd then
  for name in string.gmatch(ARGV[2], '%S+') do
    local bar, known, may = string.find(name, '|', 1, true), true, nil
    if bar then
      local command, first = string.sub(name, 1, bar - 1), string.sub(name, bar + 1)
      known, may = pcall(redis.acl_check_cmd, command, first)
    else
      may = redis.acl_check_cmd(name, ARGV[1], ARGV[1], ARGV[1])
    end
    if not (known and may) then lacks[#lacks + 1] = name end
  end
end
local tagged = string.find(ARGV[1], '{', 1, true)
for i = 1, (lacks[1] or tagged) and 0 or 2 do
  local found = redis.pcall('exists', ARGV[1] .. i)
  local refused = type(found) == 'table' and found.err or ''
  for _, sign in ipairs({'non local key', 'same slot', 'CROSSSLOT', 'MOVED'}) do
    if string.find(refused, sign, 1, true) then return found end
  end
end
return lacks";

/// Whether a line of [`acl_lines`] grants this Redis command or one of its subcommands.
pub(crate) fn is_command_in_acl_lines(command: &str) -> bool {
    let parts = [CALLS, AROUND, WAITING, SCANS, ONE_PRIMARY, READS];
    let all = parts.iter().copied().flatten();
    let name = |named: &'static str| named.split('|').next().unwrap_or(named);
    let command = command.split('|').next().unwrap_or(command);
    all.into_iter()
        .any(|named| name(named).eq_ignore_ascii_case(command))
}

/// The Redis commands that `qless` may need but the user is not allowed to run. The names are in capitals.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingRights {
    /// Commands without which no call is safe.
    pub needed: Vec<String>,
    /// Redis commands that only some subcommands of `qless` need.
    pub optional: Vec<String>,
    /// The uses of these commands, in words.
    pub uses: Vec<&'static str>,
    /// Whether the user may read the server's settings by CONFIG GET. No call needs that right.
    pub may_read_config: bool,
}

/// The Redis command that reads the server's settings, as the test of rights names a command with a subcommand.
const SETTINGS: &str = "config|get";

impl MissingRights {
    /// Sorts the Redis commands that a test reported as forbidden: ones that all changes need, and ones for some uses.
    pub(super) fn from_names(names: &[Name]) -> MissingRights {
        let mut missing = MissingRights {
            may_read_config: true,
            ..MissingRights::default()
        };
        for name in names {
            let name = name.lossless_text();
            if name == SETTINGS {
                missing.may_read_config = false;
                continue;
            }
            let is_named = |part: &[&str]| part.contains(&&*name);
            if is_named(CALLS) {
                missing.needed.push(name.to_uppercase());
                continue;
            }
            missing.optional.push(name.to_uppercase());
            let parts = [
                (DRY_RUNS, "dry runs"),
                (WAITING, "waiting"),
                (SCANS, CHECKS),
                (ONE_PRIMARY, SPLITS),
            ];
            let part = parts.iter().find(|(part, _)| is_named(part));
            missing.uses.extend(part.map(|(_, words)| words));
        }
        missing.uses.dedup();
        missing
    }
}

/// A call that tests the user's rights to run scripts' commands, to wait, and to read the server's settings.
pub(super) fn full_rights_test(
    eval: &'static str,
    only_reads: bool,
    has_one_primary: bool,
    prefix: &str,
) -> Call {
    // Leave out `psubscribe`: the server allows exactly the pattern of the ACL rule, but the test names a channel.
    let waiting = WAITING.iter().copied().filter(|name| *name != "psubscribe");
    let names = script_commands(has_one_primary).chain(waiting);
    let names = names.filter(|name| is_right_tested(name, only_reads));
    let names = names.chain([SETTINGS]).collect::<Vec<&str>>().join(" ");
    Call::redis_read_command(eval).args([ASK, "0", &format!("{prefix}x"), &names])
}

/// Adds to a login the test whether the user may run all commands in [`CALLS`], which a change may need.
pub(crate) fn add_handshake_rights_test(prefix: &str, packed: &mut WireEncodedCommands) {
    add_command_rights_test("EVAL", CALLS.iter().copied(), prefix, packed);
}

/// Adds to a request the test of all commands that any script may run, after the server refused one of them. `eval` is
/// `EVAL` or `EVAL_RO`. `has_one_primary` is set for a cluster with one primary and a prefix without a hash tag.
pub(crate) fn add_rights_test_inside_scripts(
    eval: &str,
    only_reads: bool,
    has_one_primary: bool,
    prefix: &str,
    packed: &mut WireEncodedCommands,
) {
    let names = script_commands(has_one_primary).filter(|name| is_right_tested(name, only_reads));
    add_command_rights_test(eval, names, prefix, packed);
}

/// The commands that any script may run.
fn script_commands(has_one_primary: bool) -> impl Iterator<Item = &'static str> {
    let split = if has_one_primary { ONE_PRIMARY } else { &[] };
    let parts = [CALLS, DRY_RUNS, SCANS, split];
    parts.into_iter().flatten().copied()
}

/// Whether a test of rights includes the Redis command. Subcommands are left out, since no script runs one. A test for
/// reads includes only commands in [`READS`].
fn is_right_tested(name: &str, only_reads: bool) -> bool {
    !name.contains('|') && (!only_reads || READS.contains(&name))
}

fn add_command_rights_test<'a>(
    eval: &str,
    names: impl Iterator<Item = &'a str>,
    prefix: &str,
    packed: &mut WireEncodedCommands,
) {
    let names: Vec<&str> = names.collect();
    packed.add_command(&[eval, ASK, "0", &format!("{prefix}x"), &names.join(" ")]);
}

/// The Redis commands that the user is not allowed to run, from the reply to the test of rights. Empty if the test
/// failed: then the server's later refusal names the command.
pub(crate) fn read_forbidden_commands(reply: Value) -> Vec<String> {
    if server_error(&reply).is_some() {
        return Vec::new();
    }
    let names: Vec<Name> = reply::read_reply("ACL", reply).unwrap_or_default();
    names
        .iter()
        .map(|name| name.lossless_text().to_uppercase())
        .collect()
}

/// The error for a change that was not sent, since the user is not allowed to run these Redis commands. It says that
/// nothing was changed.
pub(crate) fn missing_rights_before_send_error(
    missing: &[String],
    target: &ServerTarget,
    prefix: &str,
) -> Error {
    missing_rights_error(missing, target, prefix).with_effect(EffectOnData::Unchanged)
}

/// The error that names the user, the prefix, and up to five Redis commands which the user is not allowed to run there.
pub(crate) fn missing_rights_error(
    missing: &[String],
    target: &ServerTarget,
    prefix: &str,
) -> Error {
    let user = Sanitized(target.user.as_deref().unwrap_or("default"));
    let shown = 5.min(missing.len());
    let mut commands = missing[..shown].join(", ");
    if missing.len() > shown {
        _ = write!(commands, " and {} more", missing.len() - shown);
    }
    Error::new(
        Kind::NoPerm,
        format!("user `{user}` may not run {commands} on `{prefix}*`"),
    )
    .hint(missing_rights_hint(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::script::sources;

    #[test]
    fn the_hint_names_the_form_that_the_server_takes() {
        for (address, form) in [
            ("rediss://master.x.use1.cache.amazonaws.com:6379", true),
            (
                "rediss-cluster://clustercfg.x.memorydb.us-east-1.amazonaws.com",
                true,
            ),
            ("rediss://x.westeurope.redis.azure.net:10000", true),
            ("redis://amazonaws.com.example:6379", false),
            ("unix:///run/redis.sock", false),
        ] {
            let target = ServerTarget::parse(address).unwrap();
            assert_eq!(
                missing_rights_hint(&target).contains("--form access-string"),
                form,
                "{address}"
            );
        }
    }

    /// The commands that a Lua file names behind `call(`, `pcall(` or `ask(`.
    fn commands_of(text: &str) -> impl Iterator<Item = &str> {
        let parts = text.split("call('").chain(text.split("ask('"));
        parts.filter_map(|part| {
            let (name, _) = part.split_once('\'')?;
            let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase());
            (is_name && !name.is_empty()).then_some(name)
        })
    }

    #[test]
    fn the_table_lists_the_commands_that_the_script_runs() {
        // A function runs these only if the user has the right.
        let optional = ["linsert", "info"];
        let only_in_scans = [
            "lib.lua",
            "split.lua",
            "command/look.scan.lua",
            "lib/queue/subscribed.lua",
        ];
        let in_scans = |path: &str| {
            path.starts_with("check/")
                || path.starts_with("lib/dry_run/")
                || path.starts_with("command/check.")
                || only_in_scans.contains(&path)
        };
        let sources = sources();
        let (scans, usual): (Vec<_>, Vec<_>) = sources.iter().partition(|(path, _)| in_scans(path));
        for (path, text) in usual.iter() {
            for name in commands_of(text).filter(|name| !optional.contains(name)) {
                assert!(CALLS.contains(&name), "{path}: {name}");
            }
        }
        for name in CALLS {
            let run = format!("'{name}'");
            assert!(usual.iter().any(|(_, text)| text.contains(&run)), "{name}");
        }
        for (path, text) in scans.iter().filter(|(path, _)| path.starts_with("check/")) {
            for name in commands_of(text).filter(|name| !optional.contains(name)) {
                assert!(
                    CALLS.contains(&name) || SCANS.contains(&name) || DRY_RUNS.contains(&name),
                    "{path}: {name}"
                );
            }
        }
    }
}
