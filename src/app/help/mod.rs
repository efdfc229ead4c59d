//! `qless help`

pub(crate) mod layout;

use std::fmt::Write;

use super::parse;
use crate::args::value;
use crate::commands::{ConfigUse, Group, Spec};
use crate::core::call::rights;
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;
use crate::view::document::{self, Document};
use crate::view::finding;

/// Print the help of a command, or about a topic
///
/// Topics: `recipes` (what to type when), `selectors`, `formats`, `environment`, `exit-codes`,
/// `acl` (what a user of the server needs to be allowed), `findings` (of `check`, and what to decide),
/// `json` (the documents, and `json KIND` the schema of one).
///
/// Examples: `qless help put` · `qless help recipes` · `qless help json queues`
///
/// Exit codes: 0, 2 no such command or topic.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// A command, such as `recur put`, or a topic
    #[arg(value_name = "COMMAND | TOPIC", add = value::Candidates::Topics)]
    words: Vec<String>,
}

/// The topics, with what they are about.
pub(super) const TOPICS: [(&str, &str); 8] = [
    ("recipes", "What to type when"),
    ("selectors", "Flags that select jobs"),
    ("formats", "What stdout is"),
    ("environment", "Variables that `qless` reads"),
    ("exit-codes", "What each exit code means"),
    ("acl", "What a user of the server must be allowed"),
    ("findings", "Findings of `check`, and what to decide"),
    ("json", "Documents of `-o json`; with a kind: its schema"),
];

/// Returns the kinds of documents that `qless help json` takes, with what they are about.
pub(super) fn documents() -> impl Iterator<Item = (&'static str, &'static str)> {
    document::DOCUMENTS
        .iter()
        .map(|document| (document.kind, document.summary))
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Operate, run).config(ConfigUse::Nothing);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let text = match words.as_slice() {
        ["exit-codes"] => exit_codes(),
        ["environment"] => ENVIRONMENT.into(),
        ["selectors"] => SELECTORS.into(),
        ["formats"] => FORMATS.into(),
        ["findings"] => finding::topic(),
        ["recipes"] => RECIPES.into(),
        ["acl"] => rights::lines(session.prefix()),
        ["json"] => document::kinds(),
        ["json", kind] => of_document(kind)?,
        path => of_command(path)?,
    };
    session.ui.text(&text)?;
    Ok(Exit::Ok)
}

/// Returns the JSON Schema of a document.
fn of_document(kind: &str) -> Result<String, Error> {
    match Document::named(kind) {
        Some(document) => Ok(document.schema()),
        None => Err(Error::usage(format!("no document is called `{kind}`"))
            .hint("`qless help json` lists them")),
    }
}

fn of_command(path: &[&str]) -> Result<String, Error> {
    if path.is_empty() {
        return Ok(layout::of_all(parse::command())
            .render_long_help()
            .to_string());
    }
    let mut tree = layout::laid_out(parse::command());
    tree.build();
    let mut command = &mut tree;
    for (at, word) in path.iter().enumerate() {
        command = match command.find_subcommand_mut(word) {
            Some(below) => below,
            None => {
                let typed = path[..=at].join(" ");
                return Err(Error::usage(format!("no command and no topic `{typed}`"))
                    .hint("`qless help` lists the commands, `qless help help` the topics"));
            }
        };
    }
    Ok(command.render_long_help().to_string())
}

fn exit_codes() -> String {
    let mut text = String::new();
    for exit in Exit::ALL {
        let (name, when) = exit.description();
        _ = writeln!(text, "{:>3}  {name:<14} {when}", exit.code());
    }
    text.push_str("\nNew codes may be added; treat an unknown one as failure. ");
    text.push_str("A closed stdout ends the process by SIGPIPE.\n");
    text
}

/// Task first; each line that stands four blanks in can be typed, and a test does.
pub const RECIPES: &str = include_str!("recipes.txt");

const ENVIRONMENT: &str = "\
A flag beats its variable, which beats the config file; an empty variable counts as unset.

QLESS_CONFIG          the config file, as --config
QLESS_CONTEXT         settings of that file by name, as --context
QLESS_REDIS_URL       address of the server, as --redis; then REDIS_URL. Takes the place of the
                      file's default context, but not of one that was named
QLESS_REDIS_PASSWORD  its password; then REDISCLI_AUTH
QLESS_PREFIX          prefix of all keys and channels, as --prefix
QLESS_TIMEOUT         longest wait, as --timeout
QLESS_OUTPUT          format of stdout, as --output
QLESS_TIME_FORMAT     how moments are written, as --time-format
QLESS_PAGER           shows what is longer than the screen; then PAGER, else less. cat: none does
QLESS_NO_INPUT        never prompt, as --no-input
QLESS_READ_ONLY       refuse writes, as --read-only
QLESS_WORKER          in whose name jobs are taken and finished, as --worker
QLESS_REDIS_SERVER    the program that local: starts
QLESS_COMPLETE_LIVE   0: completion asks no server for names; 500ms: for so long (else 150ms)
QLESS_NOW             pins the time that is sent, in seconds since the epoch; for tests
XDG_CONFIG_HOME       where the config file is: qless/config.toml; then HOME
XDG_CACHE_HOME        where completion keeps names for 10 s: qless; then HOME
XDG_STATE_HOME        where the server of local: is: qless/local; then HOME
NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM=dumb  whether to colour
CI                    counts as no terminal for prompts and progress
";

const SELECTORS: &str = "\
Wherever a command takes JIDs it also takes flags that select jobs; one excludes the other.

--queue Q        jobs of a queue, by name or glob
--state S        waiting, running, stalled, scheduled, depends, failed, complete
--group G        failed jobs of a group, by name or glob
--message REGEX  failed jobs in whose message a regular expression is found
--tag T          jobs with a tag; repeated: with all of them
--klass K        jobs of a class, by name or glob
--held-by W      jobs whose lock a worker has, run out or not, by name or glob
--older-than D   jobs whose newest history entry was made at least so long ago
--newer-than D   jobs whose newest history entry is younger
--where P=VALUE  jobs with this value at a place in their data; repeated: with all of them
--tracked        tracked jobs
--all            all jobs, where nothing else narrows them down
--limit N        the first N of them
--offset N       without the first N of them

Different flags narrow, a repeated one widens (but --tag and --where). What is listed is what is
acted on: `qless jobs` with the same flags shows it. Where no --state is given, retry means failed
jobs, promote scheduled ones, fail and timeout running and stalled ones; all others mean jobs in
any state, except that `qless jobs` alone lists what is in the queues. --all goes with no flag that
narrows: `retry --all` means all failed jobs, `cancel --all` all jobs there are. Flags that no job
could ever fit, such as --group with --state waiting, are an error.

Globs are *, ?, [ab], [!ab] and {a,b}, always for the whole name; \\* is a star. Quote them for
the shell. Nothing is special about a slash.

--where user.id=42 and --where items.0.sku=A1 name a place by dots, --where /a.b/0=x by a JSON
pointer. The value is JSON if it parses, else text: id=42 is the number, id='\"42\"' the text. No
number is rounded; 1, 1.0 and 1e0 are equal, and so are objects with members in another order.
Nothing equals what is not there: x=null means that null is stored.

Read is the cheapest index: lists of failures, sets of tags, tracked jobs, locks, queues by state,
complete jobs; --limit counts in the order of that index, as the core would act. --all, --klass and
--where alone read every job, in no order; a line on stderr says so.
";

const FORMATS: &str = "\
-o table   for people: aligned and with headers on a terminal, tab-separated in a pipe
-o json    one document with \"kind\" and \"v\"; keys are only ever added
-o ndjson  the elements of its \"items\", one per line
-o jid     only job ids, one per line; where the result is jobs
-o raw     the core's own reply, byte for byte; where one call gives it

Times are RFC 3339 in UTC, durations seconds in keys that end in _s. Job data stands in it as
the JSON that it is; bytes that are not JSON or not UTF-8 stand in data_bytes, in base64, as do
names in jid_bytes, queue_bytes and so on. Errors are documents too, on stderr. With --watch
ndjson is the whole document each time, on a line, and \"at\" says when it was so.
";
