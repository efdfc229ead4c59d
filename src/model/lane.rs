//! The names of lanes.

use crate::command_line::CommandLine;
use crate::name::Name;

/// The name of the lane that a key has in a queue: `queue/key`, or the key itself if it begins with `/`.
pub(crate) fn lane_name(queue: &Name, key: &[u8]) -> Name {
    if key.starts_with(b"/") {
        Name::from(key)
    } else {
        Name::from([queue.as_bytes(), b"/", key].concat())
    }
}

/// The queue and the key by which `qless key` finds a lane. `queue` is the present queue of one of the lane's jobs.
fn queue_and_key_of_lane(lane: &Name, queue: &Name) -> (Name, Name) {
    let text = lane.as_bytes();
    if text.starts_with(b"/") {
        return (queue.clone(), lane.clone());
    }
    let own = text.strip_prefix(queue.as_bytes());
    if let Some(key) = own.and_then(|rest| rest.strip_prefix(b"/")) {
        return (queue.clone(), Name::from(key));
    }
    // The job was moved after it got its key.
    match text.iter().position(|byte| *byte == b'/') {
        Some(at) => (Name::from(&text[..at]), Name::from(&text[at + 1..])),
        None => (queue.clone(), lane.clone()),
    }
}

/// The command that lists the jobs of a lane. `queue` is the present queue of one of these jobs.
pub(crate) fn lane_command(lane: &Name, queue: &Name) -> CommandLine {
    let (queue, key) = queue_and_key_of_lane(lane, queue);
    CommandLine::new("key")
        .with_name_argument(queue)
        .with_name_argument(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_queue_in_which_the_job_got_its_key() {
        let command = |lane: &str, queue: &str| {
            lane_command(&lane.into(), &queue.into())
                .shell_line()
                .unwrap()
        };
        assert_eq!(command("mail/a/b", "mail"), "qless key mail a/b");
        assert_eq!(command("/all", "mail"), "qless key mail /all");
        assert_eq!(command("mail/a", "img"), "qless key mail a");
        assert_eq!(lane_name(&"mail".into(), b"a"), Name::from("mail/a"));
        assert_eq!(lane_name(&"mail".into(), b"/a"), Name::from("/a"));
    }
}
