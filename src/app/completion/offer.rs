//! The candidates for the word at the cursor.

use std::any::TypeId;
use std::time::Instant;

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, ArgAction, Command};

use super::cursor::{CompletionCursor, CursorSlot};
use super::{Candidate, names};
use crate::app::help;
use crate::args::value::{CompletionKind, JidCompletionKind};
use crate::command_line;
use crate::model::pattern::NamePattern;
use crate::model::work_queue::QueueSelector;
use crate::name;

/// The maximum number of names that are offered.
const NAMES: usize = 200;

/// The candidates that fit the last word.
#[derive(Debug, Default)]
pub(super) struct CandidatesAndFiles {
    pub candidates: Vec<Candidate>,
    pub files: Option<FileOffer>,
}

/// Files that the shell looks for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileOffer {
    Any,
    Directories,
}

/// The candidates that fit at the cursor. `whole` is the tree with all commands. Without a deadline no server
/// is asked.
pub(super) fn offer_at_cursor(
    whole: &Command,
    cursor: &CompletionCursor,
    lookup_deadline: Option<Instant>,
) -> CandidatesAndFiles {
    let mut offer = CandidatesAndFiles::default();
    match cursor.slot {
        CursorSlot::Redirection => offer.files = Some(FileOffer::Any),
        CursorSlot::Flag => offer.candidates = flag_candidates(cursor, |_| true),
        CursorSlot::Value(arg) => {
            add_value_candidates(whole, cursor, arg, lookup_deadline, &mut offer)
        }
        CursorSlot::Positional(arg) => {
            if cursor.positionals.is_empty() && !cursor.escaped {
                let is_root = cursor.command.get_name() == whole.get_name();
                let command = if is_root { whole } else { cursor.command };
                offer.candidates = subcommand_or_alias_candidates(command, &cursor.begun);
            }
            if let Some(arg) = arg {
                add_value_candidates(whole, cursor, arg, lookup_deadline, &mut offer);
            }
        }
    }
    if cursor.expands {
        offer.candidates.clear();
        return offer;
    }
    let fits = |candidate: &Candidate| candidate.value.starts_with(&cursor.begun);
    offer.candidates.retain(fits);
    let is_empty = offer.candidates.is_empty() && offer.files.is_none();
    if let (true, "", CursorSlot::Positional(arg)) = (is_empty, &*cursor.begun, cursor.slot)
        && arg.is_none_or(|arg| arg.get::<CompletionKind>().is_none())
    {
        let is_usual = |arg: &Arg| ["help", "version"].contains(&arg.get_id().as_str());
        let is_own = |arg: &Arg| !arg.is_global_set() && !is_usual(arg);
        let mut own = flag_candidates(cursor, is_own);
        own.retain(|flag| flag.value.starts_with("--"));
        // A single flag is not offered: a shell would insert it although nobody typed any of it.
        if own.len() > 1 {
            offer.candidates = own;
        }
    }
    offer
}

/// The flags that can still be given.
fn flag_candidates(cursor: &CompletionCursor, wanted: impl Fn(&Arg) -> bool) -> Vec<Candidate> {
    let mut flags = Vec::new();
    if cursor.escaped {
        return flags;
    }
    let all = cursor.command.get_arguments();
    for arg in all.filter(|arg| !arg.is_positional() && !arg.is_hide_set() && wanted(arg)) {
        if is_flag_excluded(cursor, arg) {
            continue;
        }
        let help = first_line(arg.get_help());
        let long = arg.get_long().map(|long| format!("--{long}"));
        let short = arg.get_short().map(|short| format!("-{short}"));
        let names = long.into_iter().chain(short);
        flags.extend(names.map(|name| Candidate::new(name, help.clone())));
    }
    flags
}

/// Whether a flag cannot follow the typed flags: it was given already, or conflicts with one of them.
fn is_flag_excluded(cursor: &CompletionCursor, arg: &Arg) -> bool {
    let repeats = matches!(arg.get_action(), ArgAction::Append | ArgAction::Count);
    let conflicts = |one: &Arg, other: &Arg| {
        let all = cursor.command.get_arg_conflicts_with(one);
        all.iter().any(|found| found.get_id() == other.get_id())
    };
    cursor.flags.iter().any(|given| {
        if given.get_id() == arg.get_id() {
            !repeats
        } else {
            conflicts(arg, given) || conflicts(given, arg)
        }
    })
}

/// The subcommands by name. An alias takes the place of a name if only the alias begins with the typed text.
fn subcommand_or_alias_candidates(command: &Command, begun: &str) -> Vec<Candidate> {
    let shown = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    let named = shown.map(|below| {
        let (name, mut aliases) = (below.get_name(), below.get_visible_aliases());
        let alias = if name.starts_with(begun) {
            None
        } else {
            aliases.find(|alias| alias.starts_with(begun))
        };
        Candidate::new(alias.unwrap_or(name), first_line(below.get_about()))
    });
    named.collect()
}

fn add_value_candidates(
    whole: &Command,
    cursor: &CompletionCursor,
    arg: &Arg,
    lookup_deadline: Option<Instant>,
    offer: &mut CandidatesAndFiles,
) {
    match candidate_kind(cursor, arg) {
        Some(CompletionKind::Commands) => offer
            .candidates
            .extend(command_path_candidates(whole, cursor, false)),
        Some(CompletionKind::Topics) => offer
            .candidates
            .extend(command_path_candidates(whole, cursor, true)),
        Some(_) if cursor.expands => {}
        Some(kind) => {
            let known =
                names::find_candidates(kind, &cursor.globals, lookup_deadline).unwrap_or_default();
            let typed = known.into_iter().filter_map(|name| {
                let value = if cursor.escaped && arg.is_positional() && !takes_work_queue(arg) {
                    name.value
                } else {
                    escape_name_for_arg(&name.value, arg)?
                };
                let fits = value.starts_with(&cursor.begun);
                fits.then(|| Candidate::new(value, name.help))
            });
            offer.candidates.extend(typed.take(NAMES));
        }
        None => {}
    }
    let possible = arg.get_possible_values();
    let shown = possible.iter().filter(|value| !value.is_hide_set());
    let help = |value: &PossibleValue| first_line(value.get_help());
    offer
        .candidates
        .extend(shown.map(|value| Candidate::new(value.get_name(), help(value))));
    match arg.get_value_names() {
        Some([name]) if name == "FILE" => offer.files = Some(FileOffer::Any),
        Some([name]) if name == "DIR" => offer.files = Some(FileOffer::Directories),
        _ => {}
    }
}

/// The kind of names that an argument takes at the cursor.
pub(super) fn candidate_kind(cursor: &CompletionCursor, arg: &Arg) -> Option<CompletionKind> {
    let kind = *arg.get::<CompletionKind>()?;
    // In `KEY VALUE KEY VALUE …`, only the first word of each pair is a name.
    let names = arg.get_value_names().map_or(1, <[_]>::len);
    if let Some(index) = arg.get_index()
        && !(cursor.positionals.len() + 1 - index).is_multiple_of(names)
    {
        return None;
    }
    match kind {
        CompletionKind::Targets => {
            let jobs = cursor.command.get::<JidCompletionKind>();
            Some(CompletionKind::Jids(
                jobs.copied().unwrap_or(JidCompletionKind::NotComplete),
            ))
        }
        kind => Some(kind),
    }
}

/// Whether a value is read as a glob, so that a name may need backslashes.
pub(super) fn takes_glob(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<NamePattern>()
}

/// Whether the value is a queue of `qless work`, in which some characters are special even after `--`.
fn takes_work_queue(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<QueueSelector>()
}

/// A name as it must be typed for this argument, with escapes. `None` if it cannot be typed.
fn escape_name_for_arg(name: &str, arg: &Arg) -> Option<String> {
    if !name.is_empty() && takes_work_queue(arg) {
        let text = QueueSelector::escape_queue_argument(&name.into());
        return text.as_str().map(str::to_owned);
    }
    if name.is_empty() || command_line::has_ambiguous_start(name.as_bytes()) {
        return None;
    }
    if takes_glob(arg) {
        name::escape_wildcards(&name.into())
            .as_str()
            .map(str::to_owned)
    } else {
        Some(name.to_owned())
    }
}

/// The words that can follow in the path to a command, and for `help` also the topics and the kinds of documents.
fn command_path_candidates(
    whole: &Command,
    cursor: &CompletionCursor,
    with_topics: bool,
) -> Vec<Candidate> {
    let mut command = whole;
    let path = cursor.positionals.iter().map(String::as_str);
    let path: Vec<&str> = path.collect();
    if with_topics && path == ["json"] {
        let kinds =
            help::document_kinds_and_summaries().map(|(kind, says)| Candidate::new(kind, says));
        return kinds.collect();
    }
    for word in &path {
        match command.find_subcommand(word) {
            Some(below) => command = below,
            None => return Vec::new(),
        }
    }
    let mut words = subcommand_or_alias_candidates(command, &cursor.begun);
    if with_topics && path.is_empty() {
        words.extend(help::TOPICS.map(|(topic, says)| Candidate::new(topic, says)));
    }
    words
}

fn first_line(help: Option<&StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}
