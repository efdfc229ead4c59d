//! The jids that a command is given: on the command line, from stdin, or from a file.

use std::collections::HashSet;

use super::source::{CommandInputs, LineOrNulItem};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::error::Error;
use crate::model::jid_list;
use crate::name::Name;

/// The jids given, each once, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GivenJids {
    /// Exactly one jid, on the command line.
    One(Name),
    /// Several jids, or a list.
    Many(Vec<Name>),
}

impl GivenJids {
    pub(crate) fn jids(&self) -> &[Name] {
        match self {
            GivenJids::One(jid) => std::slice::from_ref(jid),
            GivenJids::Many(jids) => jids,
        }
    }

    pub(crate) fn into_jids(self) -> Vec<Name> {
        match self {
            GivenJids::One(jid) => vec![jid],
            GivenJids::Many(jids) => jids,
        }
    }
}

/// Reads `JID…`, `-` and `@FILE`.
pub(crate) fn read_jids(
    source: &mut CommandInputs,
    given: &[ValueFileOrStdinArg],
) -> Result<GivenJids, Error> {
    if let Some(jids) = source.jids.take() {
        return Ok(jids);
    }
    let mut jids = Vec::new();
    let mut listed = false;
    for arg in given {
        let take = |item: LineOrNulItem| jid_of_item(item).map(|jid| jids.extend(jid));
        match source.for_each_item_unless_value(arg, "job ids", take)? {
            Some(jid) => jids.push(Name::from(jid)),
            None => listed = true,
        }
    }
    Ok(without_duplicates(jids, listed))
}

/// Removes duplicates.
fn without_duplicates(mut jids: Vec<Name>, is_list: bool) -> GivenJids {
    let mut seen = HashSet::with_capacity(jids.len());
    jids.retain(|jid| seen.insert(jid.clone()));
    match jids.len() {
        1 if !is_list => GivenJids::One(jids.swap_remove(0)),
        _ => GivenJids::Many(jids),
    }
}

/// The jid of an item, if it has one.
fn jid_of_item(item: LineOrNulItem) -> Result<Option<Name>, String> {
    match item {
        LineOrNulItem::Line(line) => jid_list::read_jid_line(line),
        LineOrNulItem::Exact(jid) => Ok(Some(Name::from(jid))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_single_jid_on_the_command_line_is_one() {
        let once = |jids: &[&str], listed| {
            without_duplicates(jids.iter().map(|&jid| jid.into()).collect(), listed)
        };
        assert_eq!(once(&["a"], false), GivenJids::One("a".into()));
        assert_eq!(once(&["a", "a"], false), GivenJids::One("a".into()));
        assert_eq!(once(&["a"], true), GivenJids::Many(vec!["a".into()]));
        let many = GivenJids::Many(vec!["b".into(), "a".into()]);
        assert_eq!(once(&["b", "a", "b"], false), many);
    }
}
