//! Joins the output of several members: tables get a column with the name of the member, items of documents a
//! field.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::table::Table;
use super::{RenderOptions, ViewOutput};
use crate::error::Error;
use crate::json::Json;
use crate::name::escape_invalid_utf8;
use crate::text::Sanitized;

/// The kind of members that a context has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextMemberKind {
    /// Prefixes of one server or cluster.
    Prefix,
    /// Contexts with a server each.
    Context,
}

impl ContextMemberKind {
    /// The heading of the table column that names the member.
    pub(crate) fn table_heading(self) -> &'static str {
        match self {
            ContextMemberKind::Prefix => "PREFIX",
            ContextMemberKind::Context => "MEMBER",
        }
    }

    /// The field that names the member in documents.
    pub(crate) fn document_field(self) -> &'static str {
        match self {
            ContextMemberKind::Prefix => "prefix",
            ContextMemberKind::Context => "member",
        }
    }

    /// The flag that names one member.
    pub(crate) fn selecting_flag(self) -> &'static str {
        match self {
            ContextMemberKind::Prefix => "--prefix",
            ContextMemberKind::Context => "--context",
        }
    }
}

/// The outputs of all members, all of one form such as tables or lines, with the names of the members.
#[derive(Debug)]
pub(crate) struct MemberOutputs<'m> {
    pub kind: ContextMemberKind,
    pub parts: Vec<(&'m str, ViewOutput)>,
    /// Members without an answer.
    pub away: Vec<(&'m str, &'m Error)>,
}

/// A JSON value as a tree, whose fields and items can be changed.
#[derive(Clone, Debug, PartialEq)]
enum JsonTree {
    Object(Vec<(String, JsonTree)>),
    List(Vec<JsonTree>),
    Leaf(Json),
}

impl MemberOutputs<'_> {
    /// The parts as one.
    pub(crate) fn join_parts(self, options: &RenderOptions) -> ViewOutput {
        match self.parts.first().map(|(_, shown)| shown) {
            Some(ViewOutput::Count(_)) if self.away.is_empty() => self.sum_of_counts(),
            Some(ViewOutput::Document(_)) => self.joined_document(),
            Some(ViewOutput::Lines(_)) => self.joined_lines(),
            Some(ViewOutput::Jids(_)) => self.all_jids(),
            Some(ViewOutput::Row(_)) => self.row_with_member(),
            _ => self.joined_text(options),
        }
    }

    fn sum_of_counts(self) -> ViewOutput {
        let counts = self.parts.iter().map(|(_, shown)| match shown {
            ViewOutput::Count(count) => *count,
            _ => 0,
        });
        ViewOutput::Count(counts.sum())
    }

    /// A row of a table whose rows are written as they arrive, with the name of its member as its first column.
    fn row_with_member(self) -> ViewOutput {
        let rows = self
            .parts
            .into_iter()
            .filter_map(|(member, shown)| match shown {
                ViewOutput::Row(row) => {
                    Some(row.with_first_column(self.kind.table_heading(), member))
                }
                _ => None,
            });
        let rows = rows.reduce(|mut whole, row| {
            whole.append_rows(row);
            whole
        });
        rows.map_or_else(|| ViewOutput::Text(String::new()), ViewOutput::Row)
    }

    fn all_jids(self) -> ViewOutput {
        let jids = self.parts.into_iter().flat_map(|(_, shown)| match shown {
            ViewOutput::Jids(jids) => jids,
            _ => Vec::new(),
        });
        ViewOutput::Jids(jids.collect())
    }

    /// Joins tables into one table, and other texts one after the other. The name of the member precedes its text:
    /// on a terminal as a line of its own, in a pipe in each line. In a pipe, texts about jobs have no names. A
    /// member without an answer gets a line with the error.
    fn joined_text(self, options: &RenderOptions) -> ViewOutput {
        let mut whole: Option<Table> = None;
        let mut range = None;
        let mut text = String::new();
        for (member, shown) in self.parts {
            let own = match shown {
                ViewOutput::Table(table, rows) => {
                    range = range.or(rows);
                    let table = table.with_first_column(self.kind.table_heading(), member);
                    match &mut whole {
                        Some(whole) => whole.append_rows(table),
                        None => whole = Some(table),
                    }
                    continue;
                }
                ViewOutput::JobText(own) if !options.terminal => {
                    text.push_str(&own);
                    continue;
                }
                ViewOutput::Text(own) | ViewOutput::JobText(own) => own,
                ViewOutput::Count(count) => format!("{count}\n"),
                ViewOutput::Document(bytes) | ViewOutput::Lines(bytes) => {
                    String::from_utf8_lossy(&bytes).into_owned()
                }
                ViewOutput::Jids(jids) => jids.iter().map(|jid| format!("{jid}\n")).collect(),
                ViewOutput::Row(row) => row.into_text(options),
            };
            if own.is_empty() {
                continue;
            }
            let member = Sanitized(member);
            if !options.terminal {
                text.extend(own.lines().map(|line| format!("{member}\t{line}\n")));
                continue;
            }
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{member}\n{own}"));
        }
        match whole {
            Some(table) if self.away.is_empty() && text.is_empty() => {
                return ViewOutput::Table(table, range);
            }
            Some(table) => text.insert_str(0, &table.into_text_of_rows(options, range)),
            None => {}
        }
        let gap = if options.terminal { "  " } else { "\t" };
        for (member, error) in self.away {
            let why = Sanitized(&*error.message()).to_string();
            text.push_str(&format!("{}{gap}{why}\n", Sanitized(member)));
        }
        ViewOutput::Text(text)
    }

    /// The lines of all members, each with the name of its member as its first field.
    fn joined_lines(self) -> ViewOutput {
        let mut all = Vec::new();
        let field = self.kind.document_field();
        for (member, shown) in self.parts {
            let ViewOutput::Lines(lines) = shown else {
                continue;
            };
            all.extend(with_first_field(&lines, field, member));
        }
        for (member, error) in self.away {
            let line = crate::view::json::compact_line(error).unwrap_or_default();
            all.extend(with_first_field(&line, field, member));
        }
        ViewOutput::Lines(all)
    }

    /// Joins documents. If all have items, or count (`length`), and their texts are equal, they become one
    /// document. Otherwise they become the items of a document of kind `members`.
    fn joined_document(self) -> ViewOutput {
        let field = self.kind.document_field();
        let mut documents = Vec::new();
        for (member, shown) in self.parts {
            if let ViewOutput::Document(bytes) = shown
                && let Some(json) = Json::parse(&bytes)
                && let JsonTree::Object(fields) = JsonTree::from_json(json)
            {
                documents.push((member, fields));
            }
        }
        let has_items = documents.iter().all(|(_, fields)| {
            let mut fields = fields.iter();
            fields.any(|(name, value)| name == "items" && matches!(value, JsonTree::List(_)))
        });
        let is_summed = documents
            .iter()
            .all(|(_, fields)| is_document_of_kind(fields, "length"));
        let fields: Vec<_> = documents
            .iter()
            .map(|(_, fields)| fields.as_slice())
            .collect();
        let mut whole = if (has_items || is_summed) && have_equal_text_fields(&fields) {
            let mut documents = documents.into_iter();
            let (member, first) = documents.next().unwrap_or_default();
            let mut whole = add_member_to_items(first, field, member);
            for (member, fields) in documents {
                merge_fields(&mut whole, add_member_to_items(fields, field, member));
            }
            whole
        } else {
            let items = documents.into_iter().map(|(member, fields)| {
                let name = (field.to_owned(), JsonTree::text(member));
                JsonTree::Object([name].into_iter().chain(fields).collect())
            });
            vec![
                ("kind".to_owned(), JsonTree::text("members")),
                ("v".to_owned(), JsonTree::number(1.0)),
                ("items".to_owned(), JsonTree::List(items.collect())),
            ]
        };
        if !self.away.is_empty() {
            let away = self.away.iter().map(|(member, error)| {
                JsonTree::Object(vec![
                    (field.to_owned(), JsonTree::text(member)),
                    ("code".into(), JsonTree::text(error.kind().into())),
                    ("message".into(), JsonTree::text(&error.message())),
                ])
            });
            whole.push(("away".into(), JsonTree::List(away.collect())));
        }
        ViewOutput::Document(
            super::json::pretty_value(&JsonTree::Object(whole)).unwrap_or_default(),
        )
    }
}

/// Whether fields with one name have equal values in all documents. Numbers, lists and nulls may differ.
fn have_equal_text_fields(documents: &[&[(String, JsonTree)]]) -> bool {
    let (Some(first), others) = (documents.first(), documents) else {
        return true;
    };
    let is_text = |value: &JsonTree| matches!(value, JsonTree::Leaf(json) if json.number().is_none() && !json.is_null());
    first.iter().all(|(name, value)| {
        let same = |other: &&[(String, JsonTree)]| {
            let found = other.iter().find(|(known, _)| known == name);
            found.is_none_or(|(_, found)| found == value || !is_text(found))
        };
        // `at` may differ: members read at slightly different moments of a tick of `--watch`.
        name == "at" || !is_text(value) || others.iter().all(same)
    })
}

fn is_document_of_kind(fields: &[(String, JsonTree)], kind: &str) -> bool {
    let mut fields = fields.iter();
    fields.any(|(name, value)| name == "kind" && *value == JsonTree::text(kind))
}

/// Adds the name of the member to each object that is an item of a list in the document.
fn add_member_to_items(
    fields: Vec<(String, JsonTree)>,
    field: &str,
    member: &str,
) -> Vec<(String, JsonTree)> {
    let mark = |item: JsonTree| match item {
        JsonTree::Object(fields) => {
            let name = (field.to_owned(), JsonTree::text(member));
            JsonTree::Object([name].into_iter().chain(fields).collect())
        }
        other => other,
    };
    let fields = fields.into_iter().map(|(name, value)| match value {
        JsonTree::List(items) => (name, JsonTree::List(items.into_iter().map(mark).collect())),
        other => (name, other),
    });
    fields.collect()
}

/// Merges the document of another member into `whole`. Lists are appended, counts are added, and the longer of two
/// durations is kept. Other fields keep the value of the first member.
fn merge_fields(whole: &mut Vec<(String, JsonTree)>, other: Vec<(String, JsonTree)>) {
    for (name, value) in other {
        let Some((_, own)) = whole.iter_mut().find(|(known, _)| *known == name) else {
            whole.push((name, value));
            continue;
        };
        match (&mut *own, value) {
            (JsonTree::List(own), JsonTree::List(more)) => own.extend(more),
            (JsonTree::Object(own), JsonTree::Object(more)) => merge_fields(own, more),
            (JsonTree::Leaf(one), JsonTree::Leaf(more)) => match (one.number(), more.number()) {
                _ if name == "v" || name == "offset" => {}
                (Some(one), Some(more)) if name.ends_with("_s") => {
                    *own = JsonTree::number(one.max(more));
                }
                (Some(one), Some(more)) => *own = JsonTree::number(one + more),
                // A total that one member does not know.
                (Some(_), None) if more.is_null() => *own = JsonTree::Leaf(more),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Adds a field at the beginning of each line that is a JSON object.
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

impl JsonTree {
    fn from_json(json: Json) -> JsonTree {
        if let Some(fields) = json.object() {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| {
                let name = escape_invalid_utf8(name.as_bytes());
                (name, JsonTree::from_json(value))
            });
            return JsonTree::Object(fields.collect());
        }
        match json.array() {
            Some(items) => JsonTree::List(items.into_iter().map(JsonTree::from_json).collect()),
            None => JsonTree::Leaf(json),
        }
    }

    fn text(text: &str) -> JsonTree {
        JsonTree::Leaf(Json::from_unquoted_text(text))
    }

    fn number(number: f64) -> JsonTree {
        JsonTree::Leaf(Json::from_finite_number(number))
    }
}

impl Serialize for JsonTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JsonTree::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
            JsonTree::List(items) => serializer.collect_seq(items),
            JsonTree::Leaf(json) => json.serialize(serializer),
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
        let joined = MemberOutputs {
            kind: ContextMemberKind::Prefix,
            parts: parts
                .map(|(name, text)| (name, ViewOutput::Document(text.as_bytes().to_vec())))
                .collect(),
            away: vec![("{z}:", away)],
        };
        match joined.join_parts(&RenderOptions::pipe()) {
            ViewOutput::Document(bytes) => String::from_utf8(bytes).unwrap(),
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
