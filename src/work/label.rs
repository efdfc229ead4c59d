//! The label before each line of the programs' output (`--label`).

use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text::sanitize_to_line;

/// The longest jid that is not shortened, and how many characters of a longer one are kept at both ends: jids of
/// one recurring job differ only at the end.
const LONGEST_WHOLE_JID: usize = 16;
const ENDS: (usize, usize) = (8, 4);

/// Maximum number of jobs of a process that are named. The others are counted.
const MAX_NAMED_JOBS: usize = 4;

/// Puts time, slot and jobs before each line, such as `22:40:02 1 9f31c0 sending`. `slot` is `None` for a
/// hook. A line without a newline gets one, so that the next label begins a line.
pub(super) fn add_labels(
    at: Moment,
    slot: Option<usize>,
    jids: &[&Name],
    output: &[u8],
) -> Vec<u8> {
    let time = at.to_rfc3339().unwrap_or_default();
    let time = time.get(11..19).unwrap_or("-");
    let slot = slot.map_or("hook".to_owned(), |slot| (slot + 1).to_string());
    let label = format!("{time} {slot} {} ", join_short_jids(jids));
    let output = output.strip_suffix(b"\n").unwrap_or(output);
    let mut labeled = Vec::with_capacity(output.len() + 2 * label.len());
    for line in output.split(|byte| *byte == b'\n') {
        labeled.extend_from_slice(label.as_bytes());
        labeled.extend_from_slice(line);
        labeled.push(b'\n');
    }
    labeled
}

fn join_short_jids(jids: &[&Name]) -> String {
    if jids.is_empty() {
        return "-".to_owned();
    }
    let named = jids.iter().take(MAX_NAMED_JOBS).map(|jid| shorten_jid(jid));
    let mut words: Vec<String> = named.collect();
    if jids.len() > MAX_NAMED_JOBS {
        words.push(format!("+{}", jids.len() - MAX_NAMED_JOBS));
    }
    words.join(",")
}

fn shorten_jid(jid: &Name) -> String {
    let text: Vec<char> = sanitize_to_line(jid.as_bytes()).chars().collect();
    if text.len() <= LONGEST_WHOLE_JID {
        return text.into_iter().collect();
    }
    let start: String = text[..ENDS.0].iter().collect();
    let end: String = text[text.len() - ENDS.1..].iter().collect();
    format!("{start}…{end}")
}
