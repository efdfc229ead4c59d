//! `qless man`

use std::fs::create_dir_all;
use std::path::PathBuf;

use super::generate::GeneratedFile;
use super::{generate, parse};
use crate::args::value;
use crate::commands::{ConfigToApply, HelpGroup, Spec};
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::fs;
use crate::session::Session;
use crate::text::{Sanitized, format_count};

/// Print a manual page, or write all pages
///
/// Each command has a page, such as `retry` or `recur put`. The formats are described in `json.5`
/// and `config.5`, the programs of `qless work` in `work.5`. Without a name it prints `qless.1`. On a
/// terminal `man` renders the page, if it is installed; elsewhere the page is in roff, as `man` reads it.
///
/// Examples: `qless man retry > qless-retry.1` · `qless man json.5` · `qless man --out man1`
///
/// Exit codes: 0, 1 a file cannot be written, 2 no such page.
///
/// See also: `qless help`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// A command, such as `recur put`, or a page, such as `json.5`
    #[arg(value_name = "COMMAND", value_parser = value::any_text(),
          add = value::CompletionKind::Commands)]
    words: Vec<String>,
    /// Write the page to this directory; without a command, all pages
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Operate, run).config_to_apply(ConfigToApply::Nothing);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let mut pages = generate::manual_pages().map_err(Error::internal)?;
    if !args.words.is_empty() || args.out.is_none() {
        pages = vec![find_page(&args.words, pages)?];
    }
    let Some(dir) = args.out else {
        for page in &pages {
            if session.ui.is_stdout_terminal() && session.ui.is_for_people() {
                session.ui.show_manual_page(&page.bytes)?
            } else {
                session.ui.write_bytes(&page.bytes)?
            }
        }
        return Ok(Exit::Ok);
    };
    let shown = Sanitized(dir.as_os_str().as_encoded_bytes());
    create_dir_all(&dir).map_err(|fault| {
        let what = format!("cannot create directory `{shown}`");
        Error::from_io(Kind::File, &what, &fault)
    })?;
    for page in &pages {
        fs::write_public(&dir.join(page.file_name()), &page.bytes)?;
    }
    let count = format_count(pages.len() as u64, "page", "pages");
    session.ui.note(&format!("wrote {count} to {shown}"));
    Ok(Exit::Ok)
}

/// The path to a command, with each alias replaced by the name of the command. Unknown words stay.
fn canonical_command_path(words: &[String]) -> Vec<String> {
    let tree = parse::clap_tree();
    let mut command = Some(&tree);
    let first_name = |word: &String| {
        command = command.and_then(|above| above.find_subcommand(word));
        command.map_or_else(|| word.clone(), |found| found.get_name().to_owned())
    };
    words.iter().map(first_name).collect()
}

/// The page with this name. If a command and a format both have it, the page of the command.
fn find_page(words: &[String], pages: Vec<GeneratedFile>) -> Result<GeneratedFile, Error> {
    let given = words.join(" ");
    let name = match canonical_command_path(words).join("-") {
        name if name.split(['-', '.']).next() == Some("qless") => name,
        name if name.is_empty() => "qless".to_owned(),
        name => format!("qless-{name}"),
    };
    let files = ["", ".1", ".5"].map(|section| format!("{name}{section}"));
    let position = files
        .iter()
        .find_map(|file| pages.iter().position(|page| page.file_name() == file));
    match position.and_then(|at| pages.into_iter().nth(at)) {
        Some(page) => Ok(page),
        None => Err(Error::usage(format!("no page is called `{given}`")).hint(
            "`qless help` lists the commands; the others are `json.5`, `config.5` and `work.5`",
        )),
    }
}
