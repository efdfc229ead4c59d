//! Which set of its queue should hold a job of each state. The core verifies jobs by the same table,
//! `lua/check/judge/homes.lua`.

use crate::model::verdict::ItemKind;

include!(concat!(env!("OUT_DIR"), "/homes.rs"));

/// The set of a queue that holds jobs of this state. `Some(None)` if no set holds them; `None` if the state is
/// unknown.
pub(super) fn set_of_state_if_known(state: &[u8]) -> Option<Option<ItemKind>> {
    let known = HOMES.iter().find(|(known, _)| *known == state);
    known.map(|(_, home)| *home)
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use crate::model::job::State;

    #[test]
    fn each_state_is_in_the_table_once_and_those_of_a_queue_have_a_set() {
        assert_eq!(HOMES.len(), State::VARIANTS.len());
        for state in State::VARIANTS {
            let home =
                set_of_state_if_known(state.into_str().as_bytes()).expect("a state has its row");
            assert_eq!(home.is_some(), State::QUEUED.contains(state), "{state:?}");
        }
        assert_eq!(
            set_of_state_if_known(b"running"),
            Some(Some(ItemKind::Locks))
        );
        assert_eq!(set_of_state_if_known(b"lost"), None);
    }
}
