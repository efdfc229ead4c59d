//! `qless help`

pub(crate) mod layout;

use std::fmt::Write;

use strum::VariantArray;

use super::{parse, suggestion};
use crate::args::value;
use crate::commands::{ConfigToApply, HelpGroup, Spec};
use crate::core::call::rights::{self, AclOutputForm};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::documents;
use crate::model::finding::text as findings;
use crate::session::Session;

/// Print the help of a command, or about a topic
///
/// Topics: `recipes` (what to type when), `selectors`, `formats`, `environment`, `exit-codes`,
/// `acl` (the permissions that a user of the server needs), `findings` (of `check`, and what to
/// decide), `work-protocol` (programs for `qless work`: jobs, answers, exit codes), `json` (the
/// documents; `json KIND` prints the schema of one).
///
/// Examples: `qless help put` · `qless help recipes` · `qless help json queues`
///
/// Exit codes: 0, 2 no such command or topic.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// A command, such as `recur put`, or a topic
    #[arg(value_name = "COMMAND | TOPIC", value_parser = value::any_text(),
          add = value::CompletionKind::Topics)]
    words: Vec<String>,
    /// With `acl`: how the rights are written
    #[arg(long, value_enum, value_name = "FORM")]
    form: Option<AclOutputForm>,
}

/// The topics, with what they are about.
pub(super) const TOPICS: [(&str, &str); 9] = [
    ("recipes", "What to type when"),
    ("selectors", "Flags that select jobs"),
    ("formats", "What stdout is"),
    ("environment", "Variables that `qless` reads"),
    ("exit-codes", "What each exit code means"),
    ("acl", "What a user of the server must be allowed"),
    ("findings", "Findings of `check`, and what to decide"),
    (
        "work-protocol",
        "Programs for `qless work`: jobs, answers, exit codes",
    ),
    ("json", "Documents of `-o json`; with a kind: its schema"),
];

/// The kinds of documents that `qless help json` takes, with what they are about.
pub(super) fn document_kinds_and_summaries() -> impl Iterator<Item = (&'static str, &'static str)> {
    documents::DOCUMENTS
        .iter()
        .map(|document| (document.kind, document.summary))
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Operate, run).config_to_apply(ConfigToApply::Nothing);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    if args.form.is_some() && words != ["acl"] {
        return Err(Error::usage("`--form` belongs to `qless help acl`"));
    }
    let text = match words.as_slice() {
        ["exit-codes"] => exit_codes_text(),
        ["environment"] => ENVIRONMENT.into(),
        ["selectors"] => SELECTORS.into(),
        ["formats"] => FORMATS.into(),
        ["findings"] => findings::help_topic_text(),
        ["recipes"] => RECIPES.into(),
        ["work-protocol"] => WORK.into(),
        ["acl"] => rights::acl_lines(session.prefix(), args.form.unwrap_or_default()),
        ["json"] => documents::list_of_kinds(),
        ["json", kind] => document_schema_text(kind)?,
        path => command_help(path)?,
    };
    session.ui.print_text(&text)?;
    Ok(Exit::Ok)
}

fn document_schema_text(kind: &str) -> Result<String, Error> {
    match documents::document_kind(kind) {
        Some(document) => Ok(document.json_schema_text()),
        None => Err(Error::usage(format!("no document is called `{kind}`"))
            .hint("`qless help json` lists them")),
    }
}

fn command_help(path: &[&str]) -> Result<String, Error> {
    if path.is_empty() {
        return Ok(layout::lay_out_root_help(parse::clap_tree())
            .render_long_help()
            .to_string());
    }
    let mut tree = layout::lay_out_command_help(parse::clap_tree());
    tree.build();
    let mut command = &mut tree;
    for (at, word) in path.iter().enumerate() {
        command = match command.find_subcommand_mut(word) {
            Some(below) => below,
            None if TOPICS.iter().any(|(topic, _)| topic == word) && at == 0 => {
                let takes = match *word {
                    "json" => "takes one kind of document",
                    _ => "takes no further word",
                };
                let error = Error::usage(format!("topic `{word}` {takes}"));
                return Err(error.hint(format!("`qless help {word}` shows the topic")));
            }
            None => {
                let name = path[..=at].join(" ");
                let error = Error::usage(format!("no command or topic is called `{name}`"));
                return Err(error.hint(unknown_path_hint(at, word)));
            }
        };
    }
    Ok(command.render_long_help().to_string())
}

/// The hint after a path of words that names no command and no topic. `word`, at position `at`, is the first unknown
/// one.
fn unknown_path_hint(at: usize, word: &str) -> String {
    let near = match at {
        0 => suggestion::hint_suggesting_command(word, &TOPICS.map(|(topic, _)| topic)),
        _ => None,
    };
    near.unwrap_or_else(|| {
        "`qless help` lists the commands, `qless help help` the topics".to_owned()
    })
}

fn exit_codes_text() -> String {
    let mut text = String::new();
    for exit in Exit::VARIANTS {
        let (name, when) = exit.name_and_meaning();
        _ = writeln!(text, "{:>3}  {name:<14} {when}", exit.code());
    }
    text.push_str("\nIf jobs are named by jid and none can be changed, the code is 4 if none of them exists, else 5,\n");
    text.push_str("as for one job. Otherwise skipped jobs do not count. Several jobs that are all as asked already\n");
    text.push_str("end with 0, a single one with 5 if its state forbids the change: for example, `retry` of a waiting\n");
    text.push_str(
        "job. `--watch` ends with 0 when it is interrupted. `recur rm`, `recur pause` and\n",
    );
    text.push_str("`recur resume` change all of their jobs or none: an unknown jid ends with 4 before any change.\n");
    text.push_str("`throttle release` releases the jobs that it can, and ends with 4 if there are others. A dry run\n");
    text.push_str("ends with the code of the run, as far as its plan tells.\n");
    text.push_str("\nNew codes may be added; treat an unknown code as a failure. ");
    text.push_str("A closed stdout ends the process by SIGPIPE; `work` goes on without it.\n");
    text
}

/// The recipes by task. A test runs each line with an indent of four blanks.
pub const RECIPES: &str = include_str!("recipes.txt");

/// The protocol of `qless work`, also as the page `qless-work(5)`. A line in upper case begins a
/// section. Lines with an indent of four blanks stay as they are. A test runs the commands among them,
/// and compares the lines of JSON with the lines that `qless work` writes.
pub const WORK: &str = include_str!("work.txt");

const ENVIRONMENT: &str = "\
A flag overrides its variable, and the variable overrides the config file. An empty variable counts
as unset.

QLESS_CONFIG          config file, as --config
QLESS_CONTEXT         context of that file, as --context
QLESS_REDIS_URL       address of the server, as --redis; then REDIS_URL. It overrides the default
                      context of the file, but not a context that was chosen
QLESS_REDIS_PASSWORD  password of the server; then REDISCLI_AUTH
QLESS_SENTINEL_USER, QLESS_SENTINEL_PASSWORD  login of the Sentinels of redis-sentinel://; that of the
                      address is the master's
QLESS_TLS_CA          CA certificates to trust instead of the system's, as --tls-ca
QLESS_TLS_CERT        certificate that identifies qless to the server, as --tls-cert
QLESS_TLS_KEY         its private key, as --tls-key
QLESS_PREFIX          prefix of all keys and channels, as --prefix
QLESS_TIMEOUT         maximum wait, as --timeout
QLESS_OUTPUT          format of stdout, as --output
COLUMNS               width of -o table in a pipe; else 100
QLESS_TIME_FORMAT     format of times, as --time-format
QLESS_PAGER           pager for output that is longer than the screen; then PAGER, else less; cat
                      means no pager
QLESS_NO_INPUT        never prompt, as --no-input
QLESS_READ_ONLY       refuse writes, as --read-only, whatever its value
QLESS_WORKER          name of the worker that pops and completes jobs, as --worker
QLESS_REDIS_SERVER    program that local: starts
QLESS_COMPLETE_LIVE   0: completion asks no server; 500ms: maximum wait of completion (else 150ms)
QLESS_NOW             pins the time of all calls, in seconds since the epoch; for tests
SSL_CERT_FILE, SSL_CERT_DIR  the CA certificates of the system, for rediss:// and valkeys:// without --tls-ca
XDG_CONFIG_HOME       directory of the config file, qless/config.toml; then HOME
XDG_CACHE_HOME        directory in which completion keeps names for 10 s, qless; then HOME
XDG_STATE_HOME        directory of the server of local:, qless/local; then HOME
NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM=dumb  whether to use color
CI                    no prompts and no progress, as without a terminal
";

const SELECTORS: &str = "\
Commands that take JIDs also take flags that select jobs. Give one or the other, not both.

--queue Q        jobs of this queue (name or glob)
--state S        waiting, running, stalled, scheduled, depends, throttled, failed, complete
--group G        failed jobs of this group (name or glob)
--message REGEX  failed jobs whose message contains a match of this regular expression
--tag T          jobs with this tag; repeated: with all of them
--klass K        jobs of this class (name or glob)
--held-by W      jobs that this worker holds, also with an expired lock (name or glob)
--older-than D   jobs that have been in their state for at least this time; a note does not count
--newer-than D   jobs that have been in their state for less
--where P=VALUE  jobs with this value at a path in their data; repeated: with all of them
--where P=~REGEX jobs with a match of this regular expression in that value; P!~REGEX: without one
--key K          jobs in this lane; if --state names only failed and complete: jobs that have left it
--throttle ID    jobs that need a slot of this throttle (id or glob)
--never-due      scheduled jobs whose time does not come: before 1970, or more than 1,000 years from now
--tracked        tracked jobs
--all            all jobs; not with another flag that narrows the selection
--limit N        only the first N jobs
--offset N       skip the first N jobs

Different flags narrow the selection; a repeated flag widens it, except --tag and --where. To see
which jobs a command will change, list them: `qless jobs` with the same flags. Without --state, retry
selects failed jobs, promote scheduled jobs, fail and timeout running and stalled jobs, bury jobs that
have not started, cancel, move and priority jobs that are not complete. The other commands select
jobs in any state; `qless jobs` without flags lists the jobs in queues. --all cannot be used with a flag that
narrows the selection: `retry --all` means all failed jobs. Flags that no job can match, such as --group with --state waiting, are
an error.

Globs are *, ?, [ab], [!ab] and {a,b}. A glob matches the whole name; \\* is a literal star. Quote
globs for the shell. A slash is an ordinary character.

After -- every argument is a plain name: neither a flag nor -, @FILE or a glob. Put -- before names
that others have chosen: `qless get -- \"$jid\"`. In the value of a flag, \\* is a literal star.

--where user.id=42 and --where items.0.sku=A1 name a path with dots, --where /a.b/0=x with a JSON
pointer. A path such as data.user.id, as `get --field` takes it, means user.id in data without a member
`data`. The value is JSON if it parses, else text: id=42 is the number, id='\"42\"' the text. No
number is rounded: 1, 1.0 and 1e0 are equal. Objects are equal if only the order of their members
differs. A missing member equals no value: x=null means that null is stored. A value is no glob:
--where 'customer=~^c1..$' finds c1 and two more characters. A regular expression is searched in text,
numbers, true, false and null; =~ and !~ select no job in which the member is missing, a list or an
object. A text that begins with ~ is written a='\"~x\"'.

`qless` reads the cheapest index: failure lists, tag sets, tracked jobs, locks, the states of queues,
complete jobs, lanes. --limit counts in the order of that index, which is the order of the core.
--all, --klass, --where and --throttle alone read every job, in no order; a line on stderr says so.
";

const FORMATS: &str = "\
-o table   for people: aligned, with headers and ages; in a pipe COLUMNS or 100 wide
-o tsv     for programs: tab-separated, without headers, never cut, with full times; a line end is
           \\n, a tab \\t, and a backslash \\\\, except in data, which is JSON; only the texts in the
           history of `get` are cut to 1,000 columns
-o json    one document with \"kind\" and \"v\"; keys are only added, never removed
-o ndjson  the elements of its \"items\", one per line; after the jobs of a change comes a line
           {\"summary\":…} with the totals
-o jid     only job ids, one per line, if the result is jobs; with -0, a NUL ends each id
-o raw     the core's own reply, byte for byte, if it comes from one call

Without -o, a terminal gets table and a pipe gets tsv. The setting `table` in QLESS_OUTPUT or the
config file means the same. A terminal that is too narrow for a table gets fewer columns: first,
columns that are empty or equal in all rows are left out, then the least needed columns. --columns names the
columns instead. --headers always adds headers to the tsv of lists. In `queues`, THROTTLED is a column only if a
job is throttled: a program names the columns it reads.

Commands that take jids read such lists: `-` is a list on stdin, `@FILE` one in a file, of -o jid or
of -o ndjson. A line of -o jid never means another job: ids that a reader of lines would take for
another, such as those with a line end, are left out, and the exit code is 3. -0 on both sides
carries them, and -o ndjson carries all ids. Other programs take a list as names after --:
`qless jobs -0 -o jid | xargs -0 qless get --`.

Times are RFC 3339 in UTC. Durations are seconds, in keys that end in _s. Job data is the stored
JSON. Bytes that are not JSON or not UTF-8 are in data_bytes, in base64; names that are not UTF-8
are in jid_bytes, queue_bytes and so on. The error that ends a command is a document on
stderr, too, unless the result says it: jobs that a bulk command could not change, or for which `wait` waited
in vain. With --watch, ndjson
prints the whole document on a line each time, with its time in \"at\".

If the context names several prefixes or servers as one, tables have a column PREFIX or MEMBER, and
items, lines and summaries a field \"prefix\" or \"member\". Totals are sums; of durations the longest
counts. Documents without items are the items of a document \"members\". A member that does not reply
is listed in \"away\", and the exit code is 3. If one member has all jobs that a command names, the output
is that of this member alone. The output of pop always is.
";
