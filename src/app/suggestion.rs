//! The command to suggest in place of one that does not exist.

use super::{ListedCommand, all_subcommands};
use crate::commands::HelpGroup;
use crate::text;

/// Words of other tools, each with the commands of `qless` for that task. For these words, a command of similar
/// spelling is not suggested.
const WORDS: [(&[&str], &[&str]); 24] = [
    (&["rm", "del", "delete", "remove", "purge"], &["cancel"]),
    (&["kill"], &["timeout", "cancel"]),
    (&["stop", "halt"], &["pause"]),
    (&["start", "continue"], &["unpause"]),
    (&["unlock", "release"], &["timeout"]),
    (&["requeue", "restart"], &["retry"]),
    (&["show", "describe", "info", "inspect"], &["get"]),
    (&["ls", "list"], &["jobs", "queues"]),
    (&["enqueue", "push", "add", "submit"], &["put"]),
    (&["reserve", "dequeue"], &["pop"]),
    (&["dead", "errors"], &["failed"]),
    (&["ping"], &["health"]),
    (&["logs", "tail", "follow"], &["events"]),
    (&["dash", "dashboard", "ui", "monitor"], &["top"]),
    (&["why"], &["explain"]),
    (&["tree", "dag"], &["graph"]),
    (&["history"], &["get"]),
    (&["cron", "schedule", "repeat"], &["recur"]),
    (&["limit", "limits", "concurrency"], &["throttle"]),
    (&["lane", "lanes"], &["key"]),
    (&["backup", "dump"], &["export"]),
    (&["restore", "load"], &["import"]),
    (&["fsck", "repair", "fix"], &["check"]),
    (&["diagnose", "troubleshoot", "selftest"], &["doctor"]),
];

/// The hint for a word that is neither a command nor one of `topics`.
pub(super) fn hint_suggesting_command(given: &str, topics: &[&str]) -> Option<String> {
    let mut all: Vec<_> = all_subcommands().collect();
    let topics = topics.iter().map(|topic| ListedCommand {
        name: (*topic).to_owned(),
        group: HelpGroup::Operate,
        always_writes: false,
    });
    all.extend(topics);
    let word = given.to_lowercase();
    let Some((_, means)) = WORDS.iter().find(|(words, _)| words.contains(&&*word)) else {
        return nearest_command_preferring_reads(given, &all)
            .map(|near| format!("did you mean `{near}`?"));
    };
    // Suggest only commands that this version of `qless` has.
    let exist = means
        .iter()
        .filter(|name| all.iter().any(|command| command.name == **name));
    let commands: Vec<String> = exist.map(|name| format!("`qless {name}`")).collect();
    match commands.as_slice() {
        [] => None,
        [command] => Some(format!("the command is {command}")),
        _ => Some(format!("the commands are {}", commands.join(" and "))),
    }
}

/// The name in `names` that means what the typed word means in another tool or in another command of `qless`.
pub(super) fn synonymous_name<'a>(
    typed: &str,
    mut names: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let mut rows = WORDS.iter();
    let (words, means) =
        rows.find(|(words, means)| words.contains(&typed) || means.contains(&typed))?;
    names.find(|name| words.contains(name) || means.contains(name))
}

/// The command that is spelled most like the word. If that command always writes, a command of similar spelling that
/// only reads is preferred, so that a typo leads to no change.
fn nearest_command_preferring_reads<'a>(given: &str, all: &'a [ListedCommand]) -> Option<&'a str> {
    let names = |wanted: fn(&ListedCommand) -> bool| {
        let wanted = all.iter().filter(move |command| wanted(command));
        wanted
            .map(|command| command.name.as_str())
            .collect::<Vec<&str>>()
    };
    let near = text::nearest_spelling(given, &names(|_| true)).copied()?;
    let mut commands = all.iter();
    let writes = commands.any(|command| command.name == near && command.always_writes);
    let shows = names(|command| {
        !command.always_writes && matches!(command.group, HelpGroup::Inspect | HelpGroup::Recover)
    });
    match text::nearest_spelling(given, &shows) {
        Some(shows) if writes => Some(shows),
        _ => Some(near),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(given: &str) -> String {
        super::hint_suggesting_command(given, &[]).unwrap_or_default()
    }

    #[test]
    fn a_word_of_another_tool_is_no_typo() {
        let names: Vec<String> = all_subcommands().map(|command| command.name).collect();
        for (words, means) in WORDS {
            for word in words {
                assert!(!names.contains(&(*word).to_owned()), "{word} is a command");
                let exists = means.iter().any(|name| names.contains(&(*name).to_owned()));
                assert_eq!(
                    super::hint_suggesting_command(word, &[]).is_some(),
                    exists,
                    "{word}"
                );
                assert!(!hint(word).contains("did you mean"), "{word}");
            }
        }
    }

    #[test]
    fn a_typo_leads_to_no_command_that_writes_if_another_is_like_it() {
        assert_eq!(hint("retyr"), "did you mean `retry`?");
        assert_eq!(hint("complet"), "did you mean `complete`?");
        assert_eq!(hint("fails"), "did you mean `failed`?");
        assert_eq!(hint("faild"), "did you mean `failed`?");
        assert_eq!(hint("queue"), "did you mean `queues`?");
        assert_eq!(hint("frobnicate"), "");
    }
}
