//! The output of several members as one: tables with a column for the member, documents whose items name it.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::RenderOptions;
use super::table::Table;
use crate::error::Error;
use crate::json::Json;
use crate::name::Name;
use crate::text::Sanitized;

/// The kind of members that a context has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    /// Prefixes of one server or cluster.
    Prefix,
    /// Contexts with a server each.
    Context,
}

impl MemberKind {
    /// The heading of the column of members in tables.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            MemberKind::Prefix => "PREFIX",
            MemberKind::Context => "MEMBER",
        }
    }

    /// The field of documents that names the member.
    pub(crate) fn field(self) -> &'static str {
        match self {
            MemberKind::Prefix => "prefix",
            MemberKind::Context => "member",
        }
    }

    /// The flag that names one member.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            MemberKind::Prefix => "--prefix",
            MemberKind::Context => "--context",
        }
    }
}

/// The output of one view, in the requested format.
#[derive(Debug)]
pub(crate) enum Shown {
    /// A table, and which of its sorted rows are shown.
    Table(Table, Option<(u64, Option<u64>)>),
    /// A row of a table whose rows are written as they arrive.
    Row(Table),
    Text(String),
    /// A text about jobs, such as their details, or only their jids.
    JobText(String),
    /// A number that is the whole text.
    Count(i64),
    /// A whole document as JSON.
    Document(Vec<u8>),
    /// Documents in one line each.
    Lines(Vec<u8>),
    Jids(Vec<Name>),
}

/// The part of the result that has one form: all shown views of one kind, with the names of their members.
#[derive(Debug)]
pub(crate) struct JoinedOutput<'m> {
    pub kind: MemberKind,
    pub parts: Vec<(&'m str, Shown)>,
    /// Members without an answer.
    pub away: Vec<(&'m str, &'m Error)>,
}

/// A JSON value whose members can be changed.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Object(Vec<(String, Tree)>),
    List(Vec<Tree>),
    Leaf(Json),
}

impl JoinedOutput<'_> {
    /// The parts as one.
    pub(crate) fn into_shown(self, page: &RenderOptions) -> Shown {
        match self.parts.first().map(|(_, shown)| shown) {
            Some(Shown::Count(_)) if self.away.is_empty() => self.sum_of_counts(),
            Some(Shown::Document(_)) => self.joined_document(),
            Some(Shown::Lines(_)) => self.joined_lines(),
            Some(Shown::Jids(_)) => self.all_jids(),
            Some(Shown::Row(_)) => self.marked_row(),
            _ => self.joined_text(page),
        }
    }

    fn sum_of_counts(self) -> Shown {
        let counts = self.parts.iter().map(|(_, shown)| match shown {
            Shown::Count(count) => *count,
            _ => 0,
        });
        Shown::Count(counts.sum())
    }

    /// The row with the name of its member, which comes alone.
    fn marked_row(self) -> Shown {
        let rows = self
            .parts
            .into_iter()
            .filter_map(|(member, shown)| match shown {
                Shown::Row(row) => Some(row.with_first_column(self.kind.heading(), member)),
                _ => None,
            });
        let rows = rows.reduce(|mut whole, row| {
            whole.append_rows(row);
            whole
        });
        rows.map_or_else(|| Shown::Text(String::new()), Shown::Row)
    }

    fn all_jids(self) -> Shown {
        let jids = self.parts.into_iter().flat_map(|(_, shown)| match shown {
            Shown::Jids(jids) => jids,
            _ => Vec::new(),
        });
        Shown::Jids(jids.collect())
    }

    /// Tables become one table; other texts follow each other, on a terminal each below the name of its
    /// member, in a pipe with the name at the beginning of each line, unless they are about jobs. A member
    /// without an answer is a row that says why.
    fn joined_text(self, page: &RenderOptions) -> Shown {
        let mut whole: Option<Table> = None;
        let mut range = None;
        let mut text = String::new();
        for (member, shown) in self.parts {
            let own = match shown {
                Shown::Table(table, rows) => {
                    range = range.or(rows);
                    let table = table.with_first_column(self.kind.heading(), member);
                    match &mut whole {
                        Some(whole) => whole.append_rows(table),
                        None => whole = Some(table),
                    }
                    continue;
                }
                Shown::JobText(own) if !page.terminal => {
                    text.push_str(&own);
                    continue;
                }
                Shown::Text(own) | Shown::JobText(own) => own,
                Shown::Count(count) => format!("{count}\n"),
                Shown::Document(bytes) | Shown::Lines(bytes) => {
                    String::from_utf8_lossy(&bytes).into_owned()
                }
                Shown::Jids(jids) => jids.iter().map(|jid| format!("{jid}\n")).collect(),
                Shown::Row(row) => row.into_text(page),
            };
            if own.is_empty() {
                continue;
            }
            let member = Sanitized(member);
            if !page.terminal {
                text.extend(own.lines().map(|line| format!("{member}\t{line}\n")));
                continue;
            }
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{member}\n{own}"));
        }
        match whole {
            Some(table) if self.away.is_empty() && text.is_empty() => {
                return Shown::Table(table, range);
            }
            Some(table) => text.insert_str(0, &table.into_text_of_rows(page, range)),
            None => {}
        }
        let gap = if page.terminal { "  " } else { "\t" };
        for (member, error) in self.away {
            let why = Sanitized(&*error.message()).to_string();
            text.push_str(&format!("{}{gap}{why}\n", Sanitized(member)));
        }
        Shown::Text(text)
    }

    /// Each line with the name of its member as its first field.
    fn joined_lines(self) -> Shown {
        let mut all = Vec::new();
        let field = self.kind.field();
        for (member, shown) in self.parts {
            let Shown::Lines(lines) = shown else { continue };
            all.extend(with_first_field(&lines, field, member));
        }
        for (member, error) in self.away {
            let line = crate::view::json::compact_line(error).unwrap_or_default();
            all.extend(with_first_field(&line, field, member));
        }
        Shown::Lines(all)
    }

    /// Documents with items become one such document. Others are the items of a document `members`.
    fn joined_document(self) -> Shown {
        let field = self.kind.field();
        let mut documents = Vec::new();
        for (member, shown) in self.parts {
            if let Shown::Document(bytes) = shown
                && let Some(json) = Json::parse(&bytes)
                && let Tree::Object(fields) = Tree::from_json(json)
            {
                documents.push((member, fields));
            }
        }
        let has_items = documents.iter().all(|(_, fields)| {
            let mut fields = fields.iter();
            fields.any(|(name, value)| name == "items" && matches!(value, Tree::List(_)))
        });
        let is_summed = documents
            .iter()
            .all(|(_, fields)| is_kind(fields, "length"));
        let fields: Vec<_> = documents
            .iter()
            .map(|(_, fields)| fields.as_slice())
            .collect();
        let mut whole = if (has_items || is_summed) && have_common_texts(&fields) {
            let mut documents = documents.into_iter();
            let (member, first) = documents.next().unwrap_or_default();
            let mut whole = mark_items(first, field, member);
            for (member, fields) in documents {
                merge_fields(&mut whole, mark_items(fields, field, member));
            }
            whole
        } else {
            let items = documents.into_iter().map(|(member, fields)| {
                let name = (field.to_owned(), Tree::text(member));
                Tree::Object([name].into_iter().chain(fields).collect())
            });
            vec![
                ("kind".to_owned(), Tree::text("members")),
                ("v".to_owned(), Tree::number(1.0)),
                ("items".to_owned(), Tree::List(items.collect())),
            ]
        };
        if !self.away.is_empty() {
            let away = self.away.iter().map(|(member, error)| {
                Tree::Object(vec![
                    (field.to_owned(), Tree::text(member)),
                    ("code".into(), Tree::text(error.kind().into())),
                    ("message".into(), Tree::text(&error.message())),
                ])
            });
            whole.push(("away".into(), Tree::List(away.collect())));
        }
        Shown::Document(super::json::pretty_value(&Tree::Object(whole)).unwrap_or_default())
    }
}

/// Whether what is neither counted nor listed is the same in all documents.
fn have_common_texts(documents: &[&[(String, Tree)]]) -> bool {
    let (Some(first), others) = (documents.first(), documents) else {
        return true;
    };
    let is_text = |value: &Tree| matches!(value, Tree::Leaf(json) if json.number().is_none() && !json.is_null());
    first.iter().all(|(name, value)| {
        let same = |other: &&[(String, Tree)]| {
            let found = other.iter().find(|(known, _)| known == name);
            found.is_none_or(|(_, found)| found == value || !is_text(found))
        };
        // The moments of a tick of `--watch` differ by a little.
        name == "at" || !is_text(value) || others.iter().all(same)
    })
}

fn is_kind(fields: &[(String, Tree)], kind: &str) -> bool {
    let mut fields = fields.iter();
    fields.any(|(name, value)| name == "kind" && *value == Tree::text(kind))
}

/// Adds the name of the member to each object in a list of the document.
fn mark_items(fields: Vec<(String, Tree)>, field: &str, member: &str) -> Vec<(String, Tree)> {
    let mark = |item: Tree| match item {
        Tree::Object(fields) => {
            let name = (field.to_owned(), Tree::text(member));
            Tree::Object([name].into_iter().chain(fields).collect())
        }
        other => other,
    };
    let fields = fields.into_iter().map(|(name, value)| match value {
        Tree::List(items) => (name, Tree::List(items.into_iter().map(mark).collect())),
        other => (name, other),
    });
    fields.collect()
}

/// Adds the fields of another member's document: lists follow each other, counts are summed, of durations
/// the longest counts. Anything else stays that of the first member.
fn merge_fields(whole: &mut Vec<(String, Tree)>, other: Vec<(String, Tree)>) {
    for (name, value) in other {
        let Some((_, own)) = whole.iter_mut().find(|(known, _)| *known == name) else {
            whole.push((name, value));
            continue;
        };
        match (&mut *own, value) {
            (Tree::List(own), Tree::List(more)) => own.extend(more),
            (Tree::Object(own), Tree::Object(more)) => merge_fields(own, more),
            (Tree::Leaf(one), Tree::Leaf(more)) => match (one.number(), more.number()) {
                _ if name == "v" || name == "offset" => {}
                (Some(one), Some(more)) if name.ends_with("_s") => {
                    *own = Tree::number(one.max(more));
                }
                (Some(one), Some(more)) => *own = Tree::number(one + more),
                // A total that one member does not know.
                (Some(_), None) if more.is_null() => *own = Tree::Leaf(more),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Adds a field at the beginning of each line, which is an object.
pub(crate) fn with_first_field(lines: &[u8], field: &str, value: &str) -> Vec<u8> {
    let value = serde_json::to_string(value).unwrap_or_default();
    let mut all = Vec::new();
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(b"{") {
            Some(rest) => {
                let comma = if rest.starts_with(b"}") { "" } else { "," };
                all.extend_from_slice(format!("{{\"{field}\":{value}{comma}").as_bytes());
                all.extend_from_slice(rest);
            }
            None => all.extend_from_slice(line),
        }
    }
    all
}

impl Tree {
    fn from_json(json: Json) -> Tree {
        if let Some(fields) = json.object() {
            let fields = fields.into_iter();
            let fields = fields
                .map(|(name, value)| (name.lossless_text().into_owned(), Tree::from_json(value)));
            return Tree::Object(fields.collect());
        }
        match json.array() {
            Some(items) => Tree::List(items.into_iter().map(Tree::from_json).collect()),
            None => Tree::Leaf(json),
        }
    }

    fn text(text: &str) -> Tree {
        Tree::Leaf(Json::from_text(text))
    }

    fn number(number: f64) -> Tree {
        Tree::Leaf(Json::from_number(number))
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tree::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
            Tree::List(items) => serializer.collect_seq(items),
            Tree::Leaf(json) => json.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::error::Kind;

    fn document(texts: &[&str], away: &Error) -> String {
        let names = ["{a}:", "{b}:", "{c}:"];
        let parts = names.iter().copied().zip(texts);
        let joined = JoinedOutput {
            kind: MemberKind::Prefix,
            parts: parts
                .map(|(name, text)| (name, Shown::Document(text.as_bytes().to_vec())))
                .collect(),
            away: vec![("{z}:", away)],
        };
        match joined.into_shown(&RenderOptions::pipe()) {
            Shown::Document(bytes) => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lists_follow_each_other_counts_are_summed_and_who_is_away_is_told() {
        let away = Error::new(Kind::Server, "no answer");
        let one = r#"{"kind":"queues","v":1,"total":1,"offset":0,"items":[{"name":"mail","d":1.50}],"t":{"done":2,"elapsed_s":1.5}}"#;
        let two = r#"{"kind":"queues","v":1,"total":2,"offset":0,"items":[{"name":"q"}],"t":{"done":3,"elapsed_s":0.5}}"#;
        expect![[r#"
            {
              "kind": "queues",
              "v": 1,
              "total": 3,
              "offset": 0,
              "items": [
                {
                  "prefix": "{a}:",
                  "name": "mail",
                  "d": 1.50
                },
                {
                  "prefix": "{b}:",
                  "name": "q"
                }
              ],
              "t": {
                "done": 5,
                "elapsed_s": 1.5
              },
              "away": [
                {
                  "prefix": "{z}:",
                  "code": "server",
                  "message": "no answer"
                }
              ]
            }
        "#]]
        .assert_eq(&document(&[one, two], &away));
        let one = r#"{"kind":"stats","v":1,"mean_s":2}"#;
        expect![[r#"
            {
              "kind": "members",
              "v": 1,
              "items": [
                {
                  "prefix": "{a}:",
                  "kind": "stats",
                  "v": 1,
                  "mean_s": 2
                },
                {
                  "prefix": "{b}:",
                  "kind": "stats",
                  "v": 1,
                  "mean_s": 2
                }
              ],
              "away": [
                {
                  "prefix": "{z}:",
                  "code": "server",
                  "message": "no answer"
                }
              ]
            }
        "#]]
        .assert_eq(&document(&[one, one], &away));
    }

    #[test]
    fn each_line_names_its_member_first() {
        let lines = with_first_field(b"{\"a\":1}\n{}\n", "prefix", "{a}:");
        let expected = "{\"prefix\":\"{a}:\",\"a\":1}\n{\"prefix\":\"{a}:\"}\n";
        assert_eq!(String::from_utf8(lines).unwrap(), expected);
    }
}
