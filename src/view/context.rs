//! Contexts: a row for each, or one in full.

use super::detail::Detail;
use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column, Heading, Table, headings};
use super::{Lines, Page, View};
use crate::model::context::{Context, ContextsInFull, ValidatedContexts};

const USED: Column<Context> = Column::text("USED", |context: &Context, _| {
    Cell::text(if context.used { "*" } else { "" })
})
.headless();
const NAME: Column<Context> = Column::text("NAME", |context, _| Cell::text(&context.name));
const REDIS: Column<Context> =
    Column::text("REDIS", |context, _| Cell::maybe(context.redis.as_ref()));

/// The columns of contexts that were validated.
const VALIDATED: &[Column<Context>] = &[
    USED,
    NAME,
    REDIS,
    Column::free("SERVER", |context, _| {
        let error = context.error.as_ref();
        Cell::maybe(context.server.as_ref().or(error))
    }),
];

impl Row for Context {
    const LIST: Document = Document::list::<Context>(
        "contexts",
        "Contexts: context list, context show, context validate",
    );

    const COLUMNS: &'static [Column<Context>] = &[
        USED,
        NAME,
        REDIS,
        Column::text("FLAGS", |context, _| Cell::text(context.flags())),
    ];
}

impl View for ContextsInFull {
    const DOCUMENT: Document = Context::LIST;

    fn text(&self, page: &Page) -> String {
        let texts = self.0.items.iter().map(|context| {
            let mut detail = Detail::new(page);
            detail.line("name", &context.name);
            detail.maybe("redis", context.redis.as_ref());
            detail.maybe("prefix", context.prefix.as_ref());
            detail.maybe("password", context.password);
            let files = [
                ("tls-ca", &context.tls_ca),
                ("tls-cert", &context.tls_cert),
                ("tls-key", &context.tls_key),
            ];
            for (name, file) in files {
                if let Some(file) = file {
                    detail.line(name, file);
                }
            }
            detail.line("label", &context.label);
            detail.maybe(
                "flags",
                Some(context.flags()).filter(|flags| !flags.is_empty()),
            );
            detail.line("default", if context.default { "yes" } else { "no" });
            detail.draw()
        });
        texts.collect()
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        self.0.lines(lines)
    }
}

impl View for ValidatedContexts {
    const DOCUMENT: Document = Context::LIST;

    fn headings() -> Vec<Heading> {
        headings(VALIDATED)
    }

    fn text(&self, page: &Page) -> String {
        Table::new(VALIDATED, &self.0.items, page).draw(page)
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        self.0.lines(lines)
    }
}
