//! Shortened job ids.

use std::collections::HashSet;

use crate::name::Name;
use crate::text;

/// Whether jids are printed in full or shortened. They are shortened if that makes no two of them equal.
pub(crate) struct FullOrShortJids {
    shortened: bool,
}

impl FullOrShortJids {
    pub(crate) fn new<'n>(
        jids: impl Iterator<Item = &'n Name>,
        may_shorten: bool,
    ) -> FullOrShortJids {
        let jids: HashSet<&Name> = jids.collect();
        let short: HashSet<String> = jids.iter().map(text::short_jid).collect();
        let shortened = may_shorten && short.len() == jids.len();
        FullOrShortJids { shortened }
    }

    pub(crate) fn jid_label(&self, jid: &Name) -> String {
        if self.shortened {
            text::short_jid(jid)
        } else {
            jid.to_string()
        }
    }
}
