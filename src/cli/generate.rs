//! Completions and man pages, written from the one tree of commands.

use std::io;

use clap::Command;
use clap_complete::{Generator, Shell};
use clap_mangen::Man;

use crate::view::schema::KINDS;

/// A generated file: its path in the repository, and what stands in it.
pub struct Generated {
    pub path: String,
    pub bytes: Vec<u8>,
}

impl Generated {
    /// Returns its name, without the directory.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// Returns all files of `completions/` and `man/`.
pub fn files() -> io::Result<Vec<Generated>> {
    let shells = [
        Shell::Bash,
        Shell::Elvish,
        Shell::Fish,
        Shell::PowerShell,
        Shell::Zsh,
    ];
    let mut files: Vec<Generated> = shells.map(completion).into();
    files.extend(manual()?);
    Ok(files)
}

/// Returns the manual pages.
pub fn manual() -> io::Result<Vec<Generated>> {
    let mut files = Vec::new();
    let mut tree = super::command();
    tree.build();
    pages(&tree, &mut files)?;
    files.push(documents());
    Ok(files)
}

/// Writes `qless-json(5)`: the fields of each document.
fn documents() -> Generated {
    let mut page = String::from(
        ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH qless-json 5 \"\" \"\" \"qless\"\n\
         .SH NAME\nqless\\-json \\- the documents of \\-o json and ndjson\n\
         .SH DESCRIPTION\n\
         Every document has `kind` and `v`. Within a `v`, keys are only added. Times are RFC 3339 in \
         UTC with milliseconds, durations seconds in keys that end in `_s`. A string that others \
         chose and that is not UTF\\-8 is written with `\\\\xff` for its bytes, and has them in \
         base64 beside it, in a key that ends in `_bytes`. `qless help json KIND` prints a JSON \
         Schema.\n\
         .SH DOCUMENTS\n",
    );
    for kind in &KINDS {
        page.push_str(&format!(
            ".SS {}\n{}\n.nf\n",
            roff(kind.kind),
            roff(kind.says)
        ));
        for (depth, field, says) in kind.outline() {
            let indent = "  ".repeat(depth + 1);
            page.push_str(&format!(
                "{indent}\\fB{}\\fR\n{indent}    {}\n",
                roff(&field),
                roff(says)
            ));
        }
        page.push_str(".fi\n");
    }
    Generated {
        path: "man/qless-json.5".to_owned(),
        bytes: page.into_bytes(),
    }
}

/// Returns a text in which roff finds nothing of its own.
fn roff(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('-', "\\-")
        .replace('\'', "\\*(Aq")
}

/// Returns the script that lets a shell complete.
pub fn completion(shell: Shell) -> Generated {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "qless", &mut bytes);
    let path = format!("completions/{}", shell.file_name("qless"));
    Generated { path, bytes }
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
