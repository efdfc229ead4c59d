//! The contexts of the config file as `qless` prints them, without passwords.

use schemars::JsonSchema;
use serde::Serialize;

use super::list::List;
use crate::view::detail::DetailLines;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column, Heading, Table, column_headings};
use crate::view::{NdjsonLines, RenderOptions, View};

/// A context: named settings of the config file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Context {
    /// The context
    pub name: String,
    /// The context's address; a password is shown as `***`
    pub redis: Option<String>,
    /// The prefix of the context's keys, if the file has one
    pub prefix: Option<String>,
    /// The context's prefixes, if it names several namespaces as one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<Vec<String>>,
    /// The contexts that this context names as one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<String>>,
    /// The context's name in prompts
    pub label: String,
    /// Whether changes ask for the label
    pub protected: bool,
    /// Whether writes are refused
    pub read_only: bool,
    /// The source of the password: password-command, password-env or redis
    pub password: Option<&'static str>,
    /// The file of the CAs that it trusts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ca: Option<String>,
    /// The file of the client's certificate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<String>,
    /// The file of the key of that certificate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<String>,
    /// Whether this context is the file's default
    pub default: bool,
    /// Whether commands use it
    pub used: bool,
    /// The server that replied: context validate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Why no server replied: context validate
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Context {
    /// The protections that the context has: `protected, read-only`.
    pub(crate) fn active_protections(&self) -> String {
        let flags = [(self.protected, "protected"), (self.read_only, "read-only")];
        let set = flags.into_iter().filter(|(set, _)| *set);
        set.map(|(_, word)| word).collect::<Vec<_>>().join(", ")
    }
}

/// Contexts that are shown in full.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ContextsInFull(pub List<Context>);

/// Contexts with the result of connecting to each.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ContextConnectionResults(pub List<Context>);

const USED: Column<Context> = Column::of_text("USED", |context: &Context, _| {
    Cell::text(if context.used { "*" } else { "" })
})
.without_header();
const NAME: Column<Context> = Column::of_text("NAME", |context, _| Cell::text(&context.name));
const REDIS: Column<Context> = Column::of_text("REDIS", |context, _| {
    Cell::text_or_missing(context.redis.as_ref())
});

/// The table columns of `context validate`.
const VALIDATED: &[Column<Context>] = &[
    USED,
    NAME,
    REDIS,
    Column::of_free_text("SERVER", |context, _| {
        let error = context.error.as_ref();
        Cell::text_or_missing(context.server.as_ref().or(error))
    }),
];

impl Row for Context {
    const LIST: DocumentKind = DocumentKind::of_list::<Context>(
        "contexts",
        "Contexts: context list, context show, context validate",
    );

    const COLUMNS: &'static [Column<Context>] = &[
        USED,
        NAME,
        REDIS,
        Column::of_text("FLAGS", |context, _| {
            Cell::text(context.active_protections())
        }),
    ];
}

impl View for ContextsInFull {
    const DOCUMENT: DocumentKind = Context::LIST;

    fn text(&self, options: &RenderOptions) -> String {
        let texts = self.0.items.iter().map(|context| {
            let mut detail = DetailLines::new(options);
            detail.add_line("name", &context.name);
            detail.add_line_or_missing("redis", context.redis.as_ref());
            detail.add_line_or_missing("prefix", context.prefix.as_ref());
            let lists = [
                ("prefixes", &context.prefixes),
                ("members", &context.members),
            ];
            for (name, list) in lists {
                if let Some(list) = list {
                    detail.add_line(name, list.join(", "));
                }
            }
            detail.add_line_or_missing("password", context.password);
            let files = [
                ("tls-ca", &context.tls_ca),
                ("tls-cert", &context.tls_cert),
                ("tls-key", &context.tls_key),
            ];
            for (name, file) in files {
                if let Some(file) = file {
                    detail.add_line(name, file);
                }
            }
            detail.add_line("label", &context.label);
            detail.add_line_or_missing(
                "flags",
                Some(context.active_protections()).filter(|flags| !flags.is_empty()),
            );
            detail.add_line("default", if context.default { "yes" } else { "no" });
            detail.into_text()
        });
        texts.collect()
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        self.0.lines(lines)
    }
}

impl View for ContextConnectionResults {
    const DOCUMENT: DocumentKind = Context::LIST;

    fn headings() -> Vec<Heading> {
        column_headings(VALIDATED)
    }

    fn text(&self, options: &RenderOptions) -> String {
        Table::new(VALIDATED, &self.0.items, options).into_text(options)
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        self.0.lines(lines)
    }
}
