//! Several namespaces, or several servers, that one context names as one.

use super::{ConfigFile, ContextSettings, fill_globals, protection};
use crate::address::Target;
use crate::args::globals::{AddressOrigin, Globals};
use crate::env;
use crate::error::Error;
use crate::text::Sanitized;
use crate::view::joined::MemberKind;

/// The variable by which `work`, which runs a process for each member, tells it the name of its member.
pub(crate) const MEMBER_VARIABLE: &str = "QLESS_MEMBER";

/// The prefixes or servers that a context names as one: `prefixes` or `members`.
#[derive(Clone, Debug)]
pub(crate) struct ContextMembers {
    pub kind: MemberKind,
    pub list: Vec<ContextMember>,
}

/// One prefix or server, with what a command on it alone needs.
#[derive(Clone, Debug)]
pub(crate) struct ContextMember {
    /// The prefix, or the name of the context.
    pub name: String,
    /// The global flags of a command on this member alone.
    pub globals: Globals,
    /// The config file, with this member as the context in use.
    pub file: ConfigFile,
}

impl ContextMembers {
    /// The members of the context in use, unless a flag or a variable names one prefix. `globals` are
    /// as they were given, without what the file says.
    pub(super) fn from_context(
        globals: &Globals,
        file: &ConfigFile,
    ) -> Result<Option<ContextMembers>, Error> {
        let Some(context) = &file.context else {
            return Ok(None);
        };
        let (kind, names) = match (&context.values.prefixes, &context.values.members) {
            (Some(_), _) if globals.prefix.is_some() => return Ok(None),
            (Some(prefixes), _) => (MemberKind::Prefix, prefixes),
            (_, Some(_)) if globals.origin == AddressOrigin::Typed => {
                let context = Sanitized(&context.name);
                let what = format!("`--redis` names one server, and context `{context}` several");
                return Err(Error::usage(what).hint("leave one of them out"));
            }
            (_, Some(members)) => (MemberKind::Context, members),
            _ => return Ok(None),
        };
        let members = names.iter().map(|name| match kind {
            MemberKind::Prefix => {
                let mut alone = context.clone();
                alone.values.prefix = Some(name.clone());
                Ok(ContextMember::new(name, alone, context, globals, file))
            }
            MemberKind::Context => {
                let alone = file.contents.context_by_name(name)?;
                Ok(ContextMember::new(name, alone, context, globals, file))
            }
        });
        let list = members.collect::<Result<Vec<ContextMember>, Error>>()?;
        let members = ContextMembers { kind, list };
        members.refuse_common_databases()?;
        Ok(Some(members))
    }

    /// Refuses two members that have the same jobs: each change would be made twice.
    fn refuse_common_databases(&self) -> Result<(), Error> {
        let place = |member: &ContextMember| {
            let address = member.globals.redis.clone();
            let address = address.unwrap_or_else(|| Target::DEFAULT.to_owned());
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

    /// The member that this process runs for, if it is the worker of one.
    pub(crate) fn member_of_this_process(&self) -> Result<Option<&ContextMember>, Error> {
        let Some(name) = env::utf8_var(MEMBER_VARIABLE)? else {
            return Ok(None);
        };
        let member = self.list.iter().find(|member| member.name == name);
        member.map(Some).ok_or_else(|| {
            let name = Sanitized(&name);
            Error::usage(format!("the context has no member `{name}` any more"))
        })
    }

    /// The index of the member that a new job belongs to, by its value at `--shard-by`, its lane key or its jid. It is
    /// the jump consistent hash of Lamping and Veach (2014). A member that is added at the end takes a fair share from
    /// each, and nothing moves between the others.
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
    /// The suffix of the names of files that belong to the member: its name without a colon at the end. Characters that
    /// prefixes usually do not have are written as `%2F`.
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
        fill_globals(&mut globals, &alone.values.or_defaults(&defaults));
        globals.read_only |= group.values.read_only == Some(true);
        let mut file = ConfigFile {
            context: Some(alone),
            ..file.clone()
        };
        file.protecting = protection::protecting_contexts(&globals, &file);
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
