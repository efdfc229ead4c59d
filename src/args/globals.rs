//! The flags of every command, and the command line as text.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::format::{DisplayWhen, OutputFormatArg, TimeFormat};
use super::value;
use crate::command_line::CommandLine;
use crate::name::Name;

/// The flags of every command, before or after its name.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct Globals {
    /// Address of the server: `redis://`, `rediss://`, `valkey://`, `valkeys://`, `redis-cluster://`, `redis-sentinel://`, `unix://` or `local:`
    /// [QLESS_REDIS_URL, REDIS_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub redis: Option<String>,
    /// The source of the address.
    #[arg(skip)]
    pub origin: AddressOrigin,
    /// The flags given on the command line.
    #[arg(skip)]
    pub given: GivenFlags,
    /// Context of the config file; repeated: several as one [QLESS_CONTEXT; default: the one that the file names]
    #[arg(long, global = true, value_name = "NAME", add = value::CompletionKind::Contexts)]
    pub context: Vec<String>,
    /// Config file; `none` for none [QLESS_CONFIG; default ~/.config/qless/config.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<OsString>,
    /// Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]
    #[arg(long, global = true, value_name = "P", value_parser = value::prefix)]
    pub prefix: Option<String>,
    /// Read the password from the first line of a file; `-` for stdin [QLESS_REDIS_PASSWORD]
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "askpass")]
    pub password_file: Option<OsString>,
    /// Prompt for the password on the terminal
    #[arg(long, global = true)]
    pub askpass: bool,
    #[command(flatten)]
    pub tls: TlsFiles,
    /// Maximum wait for a connection, and for one call [QLESS_TIMEOUT; default 10s]
    #[arg(long, global = true, value_name = "D", value_parser = value::positive_duration)]
    pub timeout: Option<std::time::Duration>,
    /// Format of stdout: table, tsv, json, ndjson, jid or raw [QLESS_OUTPUT; default table on a
    /// terminal, else tsv]
    #[arg(short, long, global = true, value_name = "FORMAT")]
    pub output: Option<OutputFormatArg>,
    /// End each job id by a NUL and not by a line end: in `-o jid`, where a command prints only the id of
    /// a job, and where it reads ids from stdin or a file
    #[arg(short = '0', long, global = true)]
    pub null: bool,
    /// Columns of a table, in order, separated by commas; by default, a narrow terminal gets fewer
    #[arg(long, global = true, value_name = "A,B", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Column to sort a table by
    #[arg(long, global = true, value_name = "COL")]
    pub sort: Option<String>,
    /// Reverse the order of a table
    #[arg(long, global = true)]
    pub reverse: bool,
    /// Whether a table has headers: auto (unless tsv), always or never
    #[arg(long, global = true, value_name = "WHEN")]
    pub headers: Option<DisplayWhen>,
    /// Format of times: auto, relative, iso or unix [QLESS_TIME_FORMAT]
    #[arg(long, global = true, value_name = "F")]
    pub time_format: Option<TimeFormat>,
    /// Whether to use color: auto (on a terminal), always or never [NO_COLOR, CLICOLOR,
    /// CLICOLOR_FORCE]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<DisplayWhen>,
    /// Do not use a pager for output that is longer than the screen [QLESS_PAGER, PAGER; default
    /// less]
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// Do not escape control characters in `-o raw` and `get --data` on a terminal
    #[arg(long, global = true)]
    pub force_raw: bool,
    /// Answer yes to confirmations
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// With `--yes` in a protected context: the label that you would type at the prompt; for a
    /// deletion that `--yes` does not cover: `lost-key`; for a revert on another server than the
    /// undo file names: the address of that server
    #[arg(long, global = true, value_name = "LABEL")]
    pub confirm: Vec<String>,
    /// Never prompt, even on a terminal [QLESS_NO_INPUT]
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Refuse commands that may change something; works on a replica [QLESS_READ_ONLY]
    #[arg(long, global = true)]
    pub read_only: bool,
    /// Print only errors and warnings on stderr
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print each server call with its duration on stderr; twice: with arguments and replies
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

impl Globals {
    /// Whether the password is read from the terminal or from stdin.
    pub(crate) fn takes_typed_or_stdin_password(&self) -> bool {
        let file = self.password_file.as_ref();
        self.askpass || file.is_some_and(|file| file == "-")
    }

    /// The flags about the password and the TLS files, which a child process of `qless` needs to reach the server.
    /// Printed commands leave them out.
    pub(crate) fn tls_and_password_flags(&self) -> Vec<OsString> {
        let is_typed = self.takes_typed_or_stdin_password();
        let file = self.password_file.clone().filter(|_| !is_typed);
        let files = self.given.tls.tls_files_with_setting_names();
        let tls = files.map(|(name, file)| (format!("--{name}="), file.as_os_str().to_owned()));
        let password = file.map(|file| ("--password-file=".to_owned(), file));
        let mut flags: Vec<OsString> = tls
            .chain(password)
            .map(|(flag, value)| [OsString::from(flag), value].into_iter().collect())
            .collect();
        if is_typed {
            flags.push("--askpass".into());
        }
        flags
    }
}

/// The flags that name the files of a connection with TLS. The config file has the same settings.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub(crate) struct TlsFiles {
    /// CA certificates to trust instead of the system's, for `rediss://` and `valkeys://` [QLESS_TLS_CA]
    #[arg(id = "tls-ca", long, global = true, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Certificate that identifies `qless` to the server, with `--tls-key` [QLESS_TLS_CERT]
    #[arg(id = "tls-cert", long, global = true, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Private key of that certificate [QLESS_TLS_KEY]
    #[arg(id = "tls-key", long, global = true, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// These files, completed from others.
    pub(crate) fn or_defaults(&self, others: &TlsFiles) -> TlsFiles {
        let first = |own: &Option<PathBuf>, other: &Option<PathBuf>| {
            own.as_ref().or(other.as_ref()).cloned()
        };
        TlsFiles {
            ca: first(&self.ca, &others.ca),
            cert: first(&self.cert, &others.cert),
            key: first(&self.key, &others.key),
        }
    }

    /// The files, with relative paths resolved against `dir`.
    pub(crate) fn resolved_against(self, dir: &Path) -> TlsFiles {
        let within = |path: PathBuf| dir.join(path);
        TlsFiles {
            ca: self.ca.map(within),
            cert: self.cert.map(within),
            key: self.key.map(within),
        }
    }

    /// The files with the names of their settings: `tls-ca`.
    pub(crate) fn tls_files_with_setting_names(
        &self,
    ) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [
            ("tls-ca", &self.ca),
            ("tls-cert", &self.cert),
            ("tls-key", &self.key),
        ];
        all.into_iter()
            .filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }
}

/// The source of the address of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AddressOrigin {
    #[default]
    Nowhere,
    /// The command line, which other users of the machine can see.
    Typed,
    Environment,
    File,
}

/// What the command line itself gives, before the environment and the config file fill in other flags.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenFlags {
    /// The given flags that name the server, without a password.
    pub destination: Vec<(&'static str, Name)>,
    pub output: bool,
    pub prefix: bool,
    pub read_only: bool,
    pub tls: TlsFiles,
}

/// A command line as text.
#[derive(Clone, Debug)]
pub(crate) struct CanonicalAndTypedCommand {
    /// The command's name.
    pub name: String,
    /// The command with the arguments that decide what it does.
    pub canonical_command: CommandLine,
    /// The whole line as it can be typed again. `None` if it holds a secret.
    pub line_unless_secret: Option<CommandLine>,
}
