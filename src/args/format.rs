//! The formats of `-o`, and the forms of headers, colors and times.

use clap::ValueEnum;
use strum::IntoStaticStr;

/// The values of `-o`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormatArg {
    /// For people; its text may change between releases. In a pipe, tsv unless it is typed
    #[default]
    Table,
    /// Tab-separated, without headers, with full times
    Tsv,
    /// One document, stable
    Json,
    /// The elements of the document, one per line
    Ndjson,
    /// Only job ids, one per line
    Jid,
    /// The core's own reply, byte for byte
    Raw,
}

impl OutputFormatArg {
    /// The values that `-o` expects, for errors.
    pub(crate) const WORDS: &'static str = "table, tsv, json, ndjson, jid or raw";

    /// The value that a word of `-o` or QLESS_OUTPUT names.
    pub(crate) fn from_word(word: &str) -> Option<OutputFormatArg> {
        OutputFormatArg::from_str(word, false).ok()
    }

    /// The format of stdout. `tsv` is a table in another layout, so its format is `Table`.
    pub(crate) const fn format(self) -> Format {
        match self {
            OutputFormatArg::Table | OutputFormatArg::Tsv => Format::Table,
            OutputFormatArg::Json => Format::Json,
            OutputFormatArg::Ndjson => Format::Ndjson,
            OutputFormatArg::Jid => Format::Jid,
            OutputFormatArg::Raw => Format::Raw,
        }
    }
}

/// The format of stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(crate) enum Format {
    Table,
    Json,
    Ndjson,
    Jid,
    Raw,
}

impl Format {
    /// Whether errors are documents, too.
    pub(crate) const fn is_json_or_ndjson(self) -> bool {
        matches!(self, Format::Json | Format::Ndjson)
    }
}

/// When a table has headers or colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DisplayWhen {
    /// On a terminal
    #[default]
    Auto,
    Always,
    Never,
}

/// The format of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeFormat {
    /// Relative on a terminal, else RFC 3339
    #[default]
    Auto,
    /// `4m ago`, `in 2h 5m`
    Relative,
    /// RFC 3339
    Iso,
    /// Seconds since the epoch
    Unix,
}
