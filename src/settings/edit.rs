//! Edits the configuration file and keeps its comments and order. Concurrent edits wait for each other.

use std::fs::{DirBuilder, File, TryLockError, metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use toml_edit::{DocumentMut, Item, RawString, Table, TableLike, Value, value};

use super::read::ConfigContents;
use super::values::ConfigValues;
use super::{ConfigFile, ConfigSource};
use crate::error::{Error, Kind, io_message_without_errno, limit_hint};
use crate::fs::open_failure::OpenFailure;
use crate::fs::trust::ResolvedPath;
use crate::fs::{self, PRIVATE_DIRECTORY};
use crate::text::Sanitized;

/// Edits the configuration file. `change` gets the settings in the file and the TOML document to modify.
pub(crate) fn edit_config_file(
    source: &ConfigSource,
    patience: Duration,
    change: impl FnOnce(&ConfigFile, &mut DocumentMut) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(path) = source.path() else {
        return Err(Error::usage("there is no config file to write")
            .hint("name one with `--config FILE`, or set HOME"));
    };
    let what = format!("cannot write `{}`", source.display_path());
    let unwritable = |why: String| {
        let error = Error::new(Kind::File, format!("{what}: {why}"));
        error.hint("`--config FILE` names another file")
    };
    let failed = |fault: std::io::Error| {
        let hint = limit_hint(&fault).map(str::to_owned);
        unwritable(io_message_without_errno(&fault)).hint_if(hint)
    };
    let untrusted = |why: OpenFailure| why.into_error(&what, Kind::File);
    let route = ResolvedPath::follow_links_noting_route(path).map_err(failed)?;
    let path = &route.target;
    let dir = path.parent().unwrap_or(Path::new("/"));
    // Refuse an untrusted path before missing directories are created, and again after that.
    route.refuse_untrusted_route().map_err(untrusted)?;
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(PRIVATE_DIRECTORY);
    builder.create(dir).map_err(failed)?;
    route.refuse_untrusted_route().map_err(untrusted)?;
    let _lock = lock_directory_if_readable(dir, patience).map_err(unwritable)?;
    if metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(unwritable("it is not a file".into()));
    }
    let before = source.read_bytes(false)?.map(|(bytes, _)| bytes);
    let settings = source.clone().read_config_file(false)?;
    let text = String::from_utf8(before.unwrap_or_default())
        .map_err(|_| unwritable("it is not UTF-8".into()))?;
    let mut document = text
        .replace("\r\n", "\n")
        .parse::<DocumentMut>()
        .map_err(|error| unwritable(error.message().into()))?;
    change(&settings, &mut document)?;
    let after = restore_line_ends_and_bom(&text, document.to_string());
    // Parse the new text first, so that an invalid file never replaces a valid one.
    source.parse_bytes(after.as_bytes())?;
    fs::replace_keeping_mode_and_owner(path, after.as_bytes()).map_err(failed)
}

/// Gives the edited text the line ends and the byte order mark that the text had before the edit.
fn restore_line_ends_and_bom(before: &str, after: String) -> String {
    const MARK: char = '\u{feff}';
    let lines = before.matches('\n').count();
    let after = if lines > 0 && before.matches("\r\n").count() == lines {
        after.replace('\n', "\r\n")
    } else {
        after
    };
    if before.starts_with(MARK) && !after.starts_with(MARK) {
        format!("{MARK}{after}")
    } else {
        after
    }
}

/// Locks the directory of the file, so that other edits wait until the result is dropped. The file itself cannot be
/// locked, because an edit replaces it. A separate lock file would remain.
fn lock_directory_if_readable(dir: &Path, patience: Duration) -> Result<Option<File>, String> {
    let deadline = Instant::now() + patience;
    let Ok(dir) = File::open(dir) else {
        return Ok(None);
    };
    loop {
        match dir.try_lock() {
            Ok(()) => return Ok(Some(dir)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err("another command is changing it".into());
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

pub(crate) fn add_context(
    document: &mut DocumentMut,
    name: &str,
    values: &ConfigValues,
) -> Result<(), Error> {
    for (_, path) in values.tls_files().tls_files_with_setting_names() {
        if path.to_str().is_none() {
            let path = Sanitized(path.as_os_str().as_bytes());
            return Err(Error::usage(format!(
                "the path `{path}` is not UTF-8, so no config file can hold it"
            )));
        }
    }
    let added = toml_edit::ser::to_document(values).map_err(Error::internal)?;
    let mut added = added.as_table().clone();
    if !document.is_empty() || !document.trailing().as_str().unwrap_or("").is_empty() {
        added.decor_mut().set_prefix("\n");
    }
    let contexts = document.entry("context").or_insert_with(|| {
        let mut contexts = Table::new();
        contexts.set_implicit(true);
        Item::Table(contexts)
    });
    match contexts {
        Item::Table(contexts) => {
            contexts.insert(name, Item::Table(added));
        }
        Item::Value(Value::InlineTable(contexts)) => {
            contexts.insert(name, added.into_inline_table().into());
        }
        _ => return Err(Error::internal("`context` is not a table")),
    }
    // Keep comments at the end of the file above the new context.
    let trailing = document.trailing().as_str().unwrap_or("").to_owned();
    if !trailing.is_empty()
        && let Some(Item::Table(contexts)) = document.get_mut("context")
        && let Some(Item::Table(added)) = contexts.get_mut(name)
    {
        added.decor_mut().set_prefix(format!("{trailing}\n"));
        document.set_trailing("");
    }
    Ok(())
}

/// Sets or removes the default context.
pub(crate) fn set_default_context(document: &mut DocumentMut, name: Option<&str>) {
    match name {
        None => {
            if let Some((key, _)) = document.remove_entry("default") {
                let above = key.leaf_decor().prefix().and_then(RawString::as_str);
                move_comments_to_next_table(document, above.unwrap_or_default(), isize::MIN);
            }
        }
        Some(name) => match document.get_mut("default").and_then(Item::as_value_mut) {
            Some(old) => {
                let decor = old.decor().clone();
                *old = name.into();
                *old.decor_mut() = decor;
            }
            None => {
                document.insert("default", value(name));
                if let Some(first) = next_table(document, isize::MIN)
                    && !comments_above(first).starts_with('\n')
                {
                    let apart = format!("\n{}", comments_above(first));
                    first.decor_mut().set_prefix(apart);
                }
            }
        },
    }
}

/// Removes a context and the comment directly above it. Comments further above stay, if an empty line follows them.
pub(crate) fn remove_context(document: &mut DocumentMut, name: &str) {
    let Some(contexts) = document
        .get_mut("context")
        .and_then(Item::as_table_like_mut)
    else {
        return;
    };
    let Some(removed) = contexts.remove(name) else {
        return;
    };
    let empty = contexts.is_empty();
    if let Item::Table(removed) = &removed {
        let position = removed.position().unwrap_or(isize::MAX);
        move_comments_to_next_table(
            document,
            without_last_comment_block(comments_above(removed)),
            position,
        );
        // Keep the empty line above the removed context between the tables before and after it.
        if comments_above(removed).starts_with('\n')
            && let Some(next) = next_table(document, position)
            && !comments_above(next).starts_with('\n')
        {
            let apart = format!("\n{}", comments_above(next));
            next.decor_mut().set_prefix(apart);
        }
    }
    if empty {
        document.remove("context");
    }
}

/// The lines above a context without the last block of them, the comment about the context.
fn without_last_comment_block(above: &str) -> &str {
    above.rfind("\n\n").map_or("", |end| &above[..end + 2])
}

/// Moves the comments above a removed item to the lines above the table that follows it.
fn move_comments_to_next_table(document: &mut DocumentMut, above: &str, position: isize) {
    if !above.contains('#') {
        return;
    }
    let join = |below: &str| match (above.ends_with("\n\n"), below.starts_with('\n')) {
        (true, true) => format!("{above}{}", &below[1..]),
        _ => format!("{above}{below}"),
    };
    let Some(table) = next_table(document, position) else {
        let trailing = join(document.trailing().as_str().unwrap_or(""));
        document.set_trailing(trailing);
        return;
    };
    let own = join(comments_above(table));
    table.decor_mut().set_prefix(own);
}

/// The comment and empty lines directly above a table.
fn comments_above(table: &Table) -> &str {
    let above = table.decor().prefix().and_then(RawString::as_str);
    above.unwrap_or_default()
}

/// The table whose header is the next one after a position in the file.
fn next_table(document: &mut DocumentMut, position: isize) -> Option<&mut Table> {
    let mut next: Option<(isize, Vec<String>)> = None;
    find_next_table(document.as_table(), &mut Vec::new(), position, &mut next);
    let (_, path) = next?;
    let mut table = document.as_table_mut();
    for name in &path {
        table = table.get_mut(name)?.as_table_mut()?;
    }
    Some(table)
}

/// Sets `next` to the position and path of the table within `table` whose header is the next one after `after`.
fn find_next_table(
    table: &Table,
    path: &mut Vec<String>,
    after: isize,
    next: &mut Option<(isize, Vec<String>)>,
) {
    for (name, item) in TableLike::iter(table) {
        let Item::Table(below) = item else {
            continue;
        };
        path.push(name.into());
        if let (Some(position), false) = (below.position(), below.is_implicit()) {
            let first = next.as_ref().is_none_or(|(first, _)| position < *first);
            if position > after && first {
                *next = Some((position, path.clone()));
            }
        }
        find_next_table(below, path, after, next);
        path.pop();
    }
}

pub(crate) fn refuse_existing_context(contents: &ConfigContents, name: &str) -> Result<(), Error> {
    if contents.contexts.contains_key(name) {
        Err(
            Error::conflict(format!("context `{}` exists already", Sanitized(name)))
                .hint("remove it first, or edit the file"),
        )
    } else {
        Ok(())
    }
}
