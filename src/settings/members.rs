//! Contexts with several members: one context stands for several prefixes on a server, or for several servers.

use super::{ConfigFile, ContextSettings, fill_unset_globals, protection};
use crate::address::ServerTarget;
use crate::args::globals::{AddressOrigin, Globals};
use crate::env;
use crate::error::Error;
use crate::text::Sanitized;
use crate::view::joined::ContextMemberKind;

/// The environment variable with the name of the member that a process works for. `work` starts one process for each
/// member and sets it.
pub(crate) const MEMBER_VARIABLE: &str = "QLESS_MEMBER";

/// The members of a context: its `prefixes`, or the other contexts in its `members`.
#[derive(Clone, Debug)]
pub(crate) struct ContextMembers {
    pub kind: ContextMemberKind,
    pub list: Vec<ContextMember>,
}

/// A member of a context: one prefix or server, with the settings for a command that uses only this member.
#[derive(Clone, Debug)]
pub(crate) struct ContextMember {
    /// The prefix, or the name of the context.
    pub name: String,
    /// The global flags of a command that uses only this member.
    pub globals: Globals,
    /// The config file, with this member as the context in use.
    pub file: ConfigFile,
}

impl ContextMembers {
    /// The members of the context in use. `None` if it has none, or if a flag or environment variable names a prefix.
    /// `globals`: the settings from flags and environment, not yet from the file.
    pub(super) fn from_context(
        globals: &Globals,
        file: &ConfigFile,
    ) -> Result<Option<ContextMembers>, Error> {
        let Some(context) = &file.context else {
            return Ok(None);
        };
        let (kind, names) = match (&context.values.prefixes, &context.values.members) {
            (Some(_), _) if globals.prefix.is_some() => return Ok(None),
            (Some(prefixes), _) => (ContextMemberKind::Prefix, prefixes),
            (_, Some(_)) if globals.origin == AddressOrigin::Typed => {
                let context = Sanitized(&context.name);
                let what = format!("`--redis` names one server, and context `{context}` several");
                return Err(Error::usage(what).hint("leave one of them out"));
            }
            (_, Some(members)) => (ContextMemberKind::Context, members),
            _ => return Ok(None),
        };
        let members = names.iter().map(|name| match kind {
            ContextMemberKind::Prefix => {
                let mut alone = context.clone();
                alone.values.prefix = Some(name.clone());
                Ok(ContextMember::new(name, alone, context, globals, file))
            }
            ContextMemberKind::Context => {
                let alone = file.contents.context_by_name(name)?;
                Ok(ContextMember::new(name, alone, context, globals, file))
            }
        });
        let list = members.collect::<Result<Vec<ContextMember>, Error>>()?;
        let members = ContextMembers { kind, list };
        members.refuse_common_databases()?;
        Ok(Some(members))
    }

    /// Refuses two members with one database and prefix: a command would change their jobs twice.
    fn refuse_common_databases(&self) -> Result<(), Error> {
        let place = |member: &ContextMember| {
            let address = member.globals.redis.clone();
            let address = address.unwrap_or_else(|| ServerTarget::DEFAULT.to_owned());
            (address, member.globals.prefix.clone())
        };
        for (at, member) in self.list.iter().enumerate() {
            let (address, prefix) = place(member);
            for other in &self.list[..at] {
                let (other_address, other_prefix) = place(other);
                if prefix == other_prefix
                    && !protection::are_different_databases(&address, &other_address)
                {
                    let (one, other) = (Sanitized(&other.name), Sanitized(&member.name));
                    return Err(Error::usage(format!(
                        "members `{one}` and `{other}` of the context have the same jobs"
                    )));
                }
            }
        }
        Ok(())
    }

    /// The member that this process works for. `None` if `work` did not start this process for a member.
    pub(crate) fn member_of_this_process(&self) -> Result<Option<&ContextMember>, Error> {
        let Some(name) = env::nonempty_utf8_var(MEMBER_VARIABLE)? else {
            return Ok(None);
        };
        let member = self.list.iter().find(|member| member.name == name);
        member.map(Some).ok_or_else(|| {
            let name = Sanitized(&name);
            Error::usage(format!("the context has no member `{name}` any more"))
        })
    }

    /// The index of the member to which a new job is put. `key`: the job's value at `--shard-by`, its lane key, or its
    /// jid. The function is the jump consistent hash of Lamping and Veach (2014): if a member is added at the end, it
    /// gets an equal share of the keys from each other member, and no key moves between the others.
    pub(crate) fn member_index_of_new_job(key: &[u8], count: usize) -> usize {
        let digest = sha1_smol::Sha1::from(key).digest().bytes();
        let mut state = u64::from_be_bytes(digest[..8].try_into().unwrap_or_default());
        let (mut bucket, mut next) = (0, 0);
        while next < count {
            bucket = next;
            state = state
                .wrapping_mul(2_862_933_555_777_941_757)
                .wrapping_add(1);
            let spread = (1u64 << 31) as f64 / ((state >> 33) + 1) as f64;
            next = ((bucket + 1) as f64 * spread) as usize;
        }
        bucket
    }
}

impl ContextMember {
    /// The suffix for the names of the member's files: the member's name without a colon at its end. Characters that
    /// are unusual in prefixes are percent-encoded, such as `/` as `%2F`.
    pub(crate) fn file_suffix(&self) -> String {
        let name = self.name.strip_suffix(':').unwrap_or(&self.name);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.{}:@+=".contains(&byte);
        let sign = |byte: u8| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        };
        name.bytes().map(sign).collect()
    }

    fn new(
        name: &str,
        mut alone: ContextSettings,
        group: &ContextSettings,
        globals: &Globals,
        file: &ConfigFile,
    ) -> ContextMember {
        alone.values.protected = alone.values.protected.max(group.values.protected);
        let mut globals = globals.clone();
        if let (Some(address), true) = (
            alone.values.redis.clone(),
            globals.origin != AddressOrigin::Typed,
        ) {
            globals.redis = Some(address);
            globals.origin = AddressOrigin::File;
        }
        let defaults = group.values.or_defaults(&file.contents.defaults);
        fill_unset_globals(&mut globals, &alone.values.or_defaults(&defaults));
        globals.read_only |= group.values.read_only == Some(true);
        let mut file = ConfigFile {
            context: Some(alone),
            ..file.clone()
        };
        file.protecting = protection::other_protecting_contexts(&globals, &file);
        let mut others = file.protecting.iter();
        globals.read_only |= others.any(|context| context.values.read_only == Some(true));
        ContextMember {
            name: name.to_owned(),
            globals,
            file,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_spread_evenly_and_a_new_member_takes_only_its_share() {
        let jids: Vec<String> = (0..10_000).map(|number| format!("job-{number}")).collect();
        let place =
            |jid: &String, count| ContextMembers::member_index_of_new_job(jid.as_bytes(), count);
        for count in 1..9 {
            let mut sizes = vec![0usize; count];
            let mut moved = 0;
            for jid in &jids {
                let at = place(jid, count);
                sizes[at] += 1;
                let after = place(jid, count + 1);
                assert!(after == at || after == count);
                moved += usize::from(after != at);
            }
            let fair = jids.len() / count;
            assert!(sizes.iter().all(|size| size.abs_diff(fair) < fair / 8));
            let share = jids.len() / (count + 1);
            assert!(moved.abs_diff(share) < share / 8);
        }
    }
}
