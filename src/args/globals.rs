//! The flags that every command knows, and the command line in words.

use std::ffi::OsString;

use clap::Args;

use super::format::{Format, TimeFormat, When};
use super::value;

/// The flags that every command knows, before or after its name.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct Globals {
    /// Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub redis: Option<String>,
    /// Who named the address.
    #[arg(skip)]
    pub origin: Origin,
    /// Which of them were typed.
    #[arg(skip)]
    pub given: Given,
    /// Settings of the config file by name [QLESS_CONTEXT; default as the file says]
    #[arg(long, global = true, value_name = "NAME", add = value::Candidates::Contexts)]
    pub context: Option<String>,
    /// Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<OsString>,
    /// Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]
    #[arg(long, global = true, value_name = "P", value_parser = value::prefix)]
    pub prefix: Option<String>,
    /// Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "askpass")]
    pub password_file: Option<OsString>,
    /// Prompt for the password on the terminal
    #[arg(long, global = true)]
    pub askpass: bool,
    /// Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]
    #[arg(long, global = true, value_name = "D", value_parser = value::timeout)]
    pub timeout: Option<std::time::Duration>,
    /// What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]
    #[arg(short, long, global = true, value_name = "FORMAT")]
    pub output: Option<Format>,
    /// Columns of a table, in order, with commas between
    #[arg(long, global = true, value_name = "A,B", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Order of a table: the column to sort by
    #[arg(long, global = true, value_name = "COL")]
    pub sort: Option<String>,
    /// Turn the order of a table around
    #[arg(long, global = true)]
    pub reverse: bool,
    /// Whether a table has headers: auto (on a terminal), always or never
    #[arg(long, global = true, value_name = "WHEN")]
    pub headers: Option<When>,
    /// How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]
    #[arg(long, global = true, value_name = "F")]
    pub time_format: Option<TimeFormat>,
    /// Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<When>,
    /// Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// Do not clean `-o raw` and `get --data` on a terminal
    #[arg(long, global = true)]
    pub force_raw: bool,
    /// Answer yes to confirmations
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// With `--yes` in a protected context: the label that would have to be typed
    #[arg(long, global = true, value_name = "LABEL")]
    pub confirm: Option<String>,
    /// Never prompt, even on a terminal [QLESS_NO_INPUT]
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]
    #[arg(long, global = true)]
    pub read_only: bool,
    /// Nothing on stderr except errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Each server call with its duration on stderr; twice: with arguments and replies
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// Who named the address of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    #[default]
    Nowhere,
    /// The command line, where others can see it.
    Typed,
    Environment,
    File,
}

/// Which flags were typed, so that environment and file have no part in them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given {
    pub prefix: bool,
    pub read_only: bool,
}

/// A command line in words.
#[derive(Debug)]
pub(crate) struct Typed {
    /// The command's name.
    pub name: String,
    /// The command with those of its arguments that say what is done.
    pub own: String,
    /// All of it as it can be typed again, if it holds no secret.
    pub whole: Option<String>,
}
