//! Contexts: a row for each, or one in full.

use super::detail::Detail;
use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column, Table};
use super::{Lines, Page, View};
use crate::model::context::{Context, ContextsInFull, ValidatedContexts};

/// Returns the cell that marks the context in use.
fn mark(context: &Context) -> Cell {
    Cell::text(if context.used { "*" } else { "" })
}

impl Row for Context {
    const LIST: Document = Document::list::<Context>(
        "contexts",
        "Contexts: context list, context show, context validate",
    );

    const COLUMNS: &'static [Column] = &[
        Column::text("USED").headless(),
        Column::text("NAME"),
        Column::text("REDIS"),
        Column::text("FLAGS"),
    ];

    fn row(&self, _: &Page, table: &mut Table) {
        table.row(vec![
            mark(self),
            Cell::text(&self.name),
            Cell::maybe(self.redis.as_ref()),
            Cell::text(self.flags()),
        ]);
    }
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

    const COLUMNS: &'static [Column] = &[
        Column::text("USED").headless(),
        Column::text("NAME"),
        Column::text("REDIS"),
        Column::free("SERVER"),
    ];

    fn text(&self, page: &Page) -> String {
        let mut table = Table::new(Self::COLUMNS);
        for context in &self.0.items {
            let error = context.error.as_ref();
            table.row(vec![
                mark(context),
                Cell::text(&context.name),
                Cell::maybe(context.redis.as_ref()),
                Cell::maybe(context.server.as_ref().or(error)),
            ]);
        }
        table.draw(page)
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        self.0.lines(lines)
    }
}
