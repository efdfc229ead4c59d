//! Completions and man pages, written from the one tree of commands.

use std::io;

use clap::Command;
use clap_complete::{Generator, Shell};
use clap_mangen::Man;

/// A generated file: its path in the repository, and what stands in it.
pub struct Generated {
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Returns all files of `completions/` and `man/`.
pub fn files() -> io::Result<Vec<Generated>> {
    let mut files = completions();
    let mut tree = super::command();
    tree.build();
    pages(&tree, &mut files)?;
    Ok(files)
}

fn completions() -> Vec<Generated> {
    let shells = [
        Shell::Bash,
        Shell::Elvish,
        Shell::Fish,
        Shell::PowerShell,
        Shell::Zsh,
    ];
    let write = |shell: Shell| {
        let mut bytes = Vec::new();
        clap_complete::generate(shell, &mut super::command(), "qless", &mut bytes);
        let path = format!("completions/{}", shell.file_name("qless"));
        Generated { path, bytes }
    };
    shells.map(write).into()
}

/// Writes the page of a command and of all below it.
fn pages(command: &Command, files: &mut Vec<Generated>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or("qless");
    let mut bytes = Vec::new();
    Man::new(command.clone())
        .manual("qless")
        .render(&mut bytes)?;
    files.push(Generated {
        path: format!("man/{name}.1"),
        bytes,
    });
    for below in command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
    {
        pages(below, files)?;
    }
    Ok(())
}
