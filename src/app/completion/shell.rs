//! The shells that complete `qless`, and the script that each of them reads.

use clap::ValueEnum;

/// A shell with a completion script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Shell {
    /// The name of the script in `completions/`, which is the one that the shell looks for.
    pub(crate) fn script_name(self) -> &'static str {
        match self {
            Shell::Bash => "qless.bash",
            Shell::Elvish => "qless.elv",
            Shell::Fish => "qless.fish",
            Shell::Powershell => "_qless.ps1",
            Shell::Zsh => "_qless",
        }
    }

    pub(crate) fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("../../../completions/qless.bash"),
            Shell::Elvish => include_str!("../../../completions/qless.elv"),
            Shell::Fish => include_str!("../../../completions/qless.fish"),
            Shell::Powershell => include_str!("../../../completions/_qless.ps1"),
            Shell::Zsh => include_str!("../../../completions/_qless"),
        }
    }
}
