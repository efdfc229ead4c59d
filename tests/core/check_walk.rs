//! The walk: silent on what is healthy, and stopped by nothing that somebody put into the database.
//! That it misses nothing is shown beside each damage (`check_damage.rs`, `check_property.rs`).

use super::check::{NOW, busy};
use crate::house::core::Core;
use crate::house::walk::{WHOLE, suspects};

fn told(core: &Core, slots: usize, queues: &[&str]) -> Vec<String> {
    let suspects = suspects(core, NOW, slots, queues);
    let all = suspects.first.iter().chain(&suspects.last);
    let all = all.flat_map(|(place, items)| {
        let tell = move |item: &qless::model::name::Name| {
            let name = String::from_utf8_lossy(place.name.as_bytes()).into_owned();
            let item = String::from_utf8_lossy(item.as_bytes()).into_owned();
            format!("{} {name} {item}", place.kind.word())
        };
        items.iter().map(tell)
    });
    let mut all: Vec<String> = all.collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn a_healthy_database_gives_no_candidates() {
    let core = busy();
    for slots in [WHOLE, 64, 16] {
        assert_eq!(told(&core, slots, &[]), Vec::<String>::new(), "{slots}");
    }
}
