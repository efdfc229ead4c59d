//! Puts live names into the completion scripts that clap writes: the scripts call the binary where
//! an argument takes names that a server knows.
//!
//! Each edit looks for a text of clap's; a test sees that it is still there.

use std::collections::BTreeSet;

use clap::Command;
use clap_complete::Shell;

use super::completion::kind;

const BASH: &str = include_str!("bash");
const ELVISH: &str = include_str!("elvish");
const FISH: &str = include_str!("fish");
const POWERSHELL: &str = include_str!("powershell");
const ZSH: &str = include_str!("zsh");

/// Returns clap's script with the calls of ours.
pub(super) fn names(shell: Shell, script: String, tree: &Command) -> String {
    match shell {
        Shell::Bash => {
            let script = script.replace("complete -F _qless ", "complete -F _qless_with_names ");
            before(&script, "\nif [[ \"${BASH_VERSINFO[0]}\" -eq 4 &&", BASH)
        }
        Shell::Elvish => script.replace("    $completions[$command]\n", ELVISH),
        Shell::Fish => fish(&script, tree),
        Shell::PowerShell => before(&script, "    $completions.Where{", POWERSHELL),
        Shell::Zsh => {
            let words = "_qless() {\n    local -a _qless_words=(\"${(@Q)words[1,CURRENT]}\")\n";
            let script = script
                .replacen("_qless() {\n", words, 1)
                .replace(":_default'", ":_qless_names'");
            before(
                &script,
                "\nif [ \"$funcstack[1]\" = \"_qless\" ]; then",
                ZSH,
            )
        }
        _ => script,
    }
}

/// Puts a text before another one.
fn before(script: &str, place: &str, text: &str) -> String {
    match script.rfind(place) {
        Some(at) => format!("{}{text}{}", &script[..at], &script[at..]),
        None => script.to_owned(),
    }
}

/// Has flags and arguments that take names call the function. No file is offered beside them but
/// where a command below takes one.
fn fish(script: &str, tree: &Command) -> String {
    let mut flags = BTreeSet::new();
    let mut commands = Vec::new();
    for command in tree.get_subcommands() {
        let path = [command.get_name()];
        let mut takes = takes(command, &path, &mut flags);
        let groups = command.has_subcommands();
        for below in command.get_subcommands() {
            takes |= self::takes(below, &[path[0], below.get_name()], &mut flags);
        }
        if takes {
            commands.push((path[0], if groups { "" } else { " -f" }));
        }
    }
    let mut hooked = FISH.trim_start().to_owned();
    for line in script.lines() {
        hooked.push_str(line);
        let flag = line
            .split_once(" -l ")
            .and_then(|(_, rest)| rest.split(' ').next());
        if line.ends_with(" -r") && flag.is_some_and(|flag| flags.contains(flag)) {
            hooked.push_str(" -f -a '(__fish_qless_names)'");
        }
        hooked.push('\n');
    }
    for (command, files) in commands {
        hooked.push_str(&format!(
            "complete -c qless -n \"__fish_qless_using_subcommand {command}\"{files} -a '(__fish_qless_names)'\n"
        ));
    }
    hooked
}

/// Notes the flags of a command that take names; returns whether its arguments do.
fn takes(command: &Command, path: &[&str], flags: &mut BTreeSet<String>) -> bool {
    let mut positional = false;
    for arg in command.get_arguments() {
        if kind::of(path, arg).is_none() {
            continue;
        }
        positional |= arg.is_positional();
        flags.extend(arg.get_long().map(str::to_owned));
    }
    positional
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::generate::completion;

    #[test]
    fn every_script_calls_for_names() {
        for (shell, calls) in [
            (
                Shell::Bash,
                vec!["complete -F _qless_with_names -o nosort", "__names bash"],
            ),
            (
                Shell::Elvish,
                vec!["__names elvish", "(has-key $completions $command)"],
            ),
            (
                Shell::Fish,
                vec![
                    "__names fish",
                    "subcommand retry\" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__",
                    "\"__fish_qless_using_subcommand retry\" -f -a '(__fish_qless_names)'",
                    "\"__fish_qless_using_subcommand config\" -a '(__fish_qless_names)'",
                ],
            ),
            (Shell::PowerShell, vec!["__names powershell"]),
            (
                Shell::Zsh,
                vec!["_qless_words=(", "__names zsh", ":Q:_qless_names'"],
            ),
        ] {
            let script = String::from_utf8(completion(shell).bytes).unwrap();
            for call in calls {
                assert!(script.contains(call), "{shell}: {call}");
            }
        }
    }
}
