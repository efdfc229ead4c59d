//! The document of a command over several members of a context. If the command prints lists, they are joined into one
//! list instead.

use schemars::JsonSchema;
use serde::Serialize;

use crate::view::document::DocumentKind;

/// The kind of the document that holds the members' documents.
pub(crate) const DOCUMENT: DocumentKind = DocumentKind::new::<MembersDocument>(
    "members",
    "The documents of several prefixes or servers that a context names as one",
);

/// A document for each member, as `view::joined` writes them.
#[derive(Serialize, JsonSchema)]
struct MembersDocument {
    /// The document of each member, behind `prefix` or `member`
    items: Vec<MemberDocument>,
    /// The members that did not answer, if there are any; lists have this field, too
    #[serde(skip_serializing_if = "Option::is_none")]
    away: Option<Vec<MemberAway>>,
}

#[derive(Serialize, JsonSchema)]
struct MemberDocument {
    /// The prefix of the member, if the context names prefixes
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    /// The context of the member, if the context names members
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    /// The kind of the member's document
    kind: String,
}

#[derive(Serialize, JsonSchema)]
struct MemberAway {
    /// The prefix of the member, if the context names prefixes
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    /// The context of the member, if the context names members
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    /// The kind of error
    code: String,
    /// Why the member did not answer
    message: String,
}
