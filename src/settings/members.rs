//! Several namespaces, or several servers, that one context names as one.

use super::{ConfigFile, ContextSettings, fill_globals, protection};
use crate::args::globals::{AddressOrigin, Globals};
use crate::env;
use crate::error::Error;
use crate::text::Sanitized;

/// The variable by which a command that runs a process for each member tells it its position in the list.
pub(crate) const MEMBER_VARIABLE: &str = "QLESS_MEMBER";

/// What a context names as one: `prefixes` or `members`.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    pub kind: MemberKind,
    pub list: Vec<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    /// Prefixes of one server or cluster.
    Prefix,
    /// Contexts with a server each.
    Context,
}

impl MemberKind {
    /// The heading of its column, and in lower case the field of documents.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            MemberKind::Prefix => "PREFIX",
            MemberKind::Context => "MEMBER",
        }
    }
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The prefix, or the name of the context.
    pub name: String,
    /// The global flags of a command on this member alone.
    pub globals: Globals,
    /// The config file, with this member as the context in use.
    pub file: ConfigFile,
}

impl Members {
    /// The members of the context in use, unless a flag or a variable names one prefix. `globals` are
    /// as they were given, without what the file says.
    pub(super) fn of_context(
        globals: &Globals,
        file: &ConfigFile,
    ) -> Result<Option<Members>, Error> {
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
                Ok(Member::new(name, alone, context, globals, file))
            }
            MemberKind::Context => {
                let alone = file.contents.context(name)?;
                Ok(Member::new(name, alone, context, globals, file))
            }
        });
        let list = members.collect::<Result<Vec<Member>, Error>>()?;
        Ok(Some(Members { kind, list }))
    }

    /// The position of the member that this process runs for, if it is the process of one.
    pub(crate) fn index_from_env(&self) -> Option<usize> {
        let index = env::var(MEMBER_VARIABLE)?.to_str()?.parse().ok()?;
        (index < self.list.len()).then_some(index)
    }

    /// What the names of files of a member end with: the letters and digits of its name, and its position
    /// if another one has the same.
    pub(crate) fn file_suffix(&self, index: usize) -> String {
        let plain = |index: usize| {
            let name = self.list[index].name.chars();
            let name = name.filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c));
            name.collect::<String>()
        };
        let own = plain(index);
        let mut others = (0..self.list.len()).filter(|other| *other != index);
        if own.is_empty() || others.any(|other| plain(other) == own) {
            format!("{own}-{index}")
        } else {
            own
        }
    }

    /// The member that a new job belongs to, by its jid or what it is kept together with: the jump
    /// consistent hash of Lamping and Veach (2014). A member that is added at the end takes a fair
    /// share from each, and nothing moves between the others.
    pub(crate) fn index_for(key: &[u8], count: usize) -> usize {
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

impl Member {
    fn new(
        name: &str,
        mut alone: ContextSettings,
        group: &ContextSettings,
        globals: &Globals,
        file: &ConfigFile,
    ) -> Member {
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
        Member {
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
        let place = |jid: &String, count| Members::index_for(jid.as_bytes(), count);
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
