//! The members of a JSON object in a qless file, read by type. Each error has its position.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::clock::moment::Moment;
use crate::json::syntax;
use crate::json::syntax::{Fault, Member, Shape, Wrong};
use crate::name::Name;
use crate::text::{Harmless, cut};

/// An object. A member that is `null` counts as missing; unknown members are ignored.
#[derive(Debug, Default)]
pub(crate) struct Fields<'t> {
    members: Vec<(Cow<'t, [u8]>, Member<'t>)>,
    /// The offset of the object in its line.
    base: usize,
}

impl<'t> Fields<'t> {
    /// Parses a line that is an object.
    pub(crate) fn of(line: &'t [u8]) -> Result<Fields<'t>, Fault> {
        Fields::at(line, 0)
    }

    fn at(text: &'t [u8], base: usize) -> Result<Fields<'t>, Fault> {
        let mut members: Vec<(Cow<[u8]>, Member)> = Vec::new();
        syntax::members(text, |member| {
            let key = syntax::unescaped(member.key);
            if members.iter().any(|(known, _)| *known == key) {
                return Err((
                    member.key_at,
                    format!("`{}` stands here twice", Harmless(&key)),
                ));
            }
            members.push((key, member));
            Ok(())
        })?;
        Ok(Fields { members, base })
    }

    /// Returns a member, unless it is `null`.
    fn get(&self, name: &str) -> Option<&Member<'t>> {
        let mut members = self.members.iter();
        let (_, member) = members.find(|(key, _)| &**key == name.as_bytes())?;
        (member.shape != Shape::Null).then_some(member)
    }

    fn has(&self, name: &str) -> bool {
        self.members
            .iter()
            .any(|(key, _)| &**key == name.as_bytes())
    }

    /// Returns the offset of a member, or of the object if the member is missing.
    pub(crate) fn place(&self, name: &str) -> usize {
        let mut members = self.members.iter();
        let found = members.find(|(key, _)| &**key == name.as_bytes());
        self.base + found.map_or(0, |(_, member)| member.at)
    }

    /// Returns the error for a wrong member.
    pub(crate) fn wrong(&self, name: &str, what: impl std::fmt::Display) -> Wrong {
        (self.place(name), format!("`{name}` {what}"))
    }

    fn wants(&self, name: &str, wants: &str, member: &Member) -> Wrong {
        self.wrong(name, format!("expects {wants}, not {}", shown(member)))
    }

    /// Returns a text, from `…_bytes` if that member exists.
    pub(crate) fn name(&self, name: &str) -> Result<Option<Name>, Wrong> {
        let bytes = format!("{name}_bytes");
        if let Some(member) = self.get(&bytes) {
            let decoded = (member.shape == Shape::String)
                .then(|| {
                    STANDARD
                        .decode(&*syntax::unescaped(inside(member.value)))
                        .ok()
                })
                .flatten();
            return match decoded {
                Some(decoded) => Ok(Some(Name::from(decoded))),
                None => Err(self.wants(&bytes, "base64", member)),
            };
        }
        match self.get(name) {
            None => Ok(None),
            Some(member) if member.shape == Shape::String => Ok(Some(
                syntax::unescaped(inside(member.value)).as_ref().into(),
            )),
            Some(member) => Err(self.wants(name, "a text", member)),
        }
    }

    /// Returns a text that is required.
    pub(crate) fn needed(&self, name: &str) -> Result<Name, Wrong> {
        match self.name(name)? {
            Some(text) => Ok(text),
            None => Err(if self.has(name) {
                self.wrong(name, "expects a text, not null")
            } else {
                (self.base, format!("there is no `{name}` in it"))
            }),
        }
    }

    /// Returns a list of texts; an empty one if the member is missing.
    pub(crate) fn names(&self, name: &str) -> Result<Vec<Name>, Wrong> {
        let bytes = format!("{name}_bytes");
        let mut names = Vec::new();
        if self.get(&bytes).is_some() {
            self.each(&bytes, "base64", Shape::String, |_, text| {
                let decoded = STANDARD.decode(&*syntax::unescaped(inside(text))).ok();
                names.push(Name::from(decoded.ok_or("a list of base64")?));
                Ok(())
            })?;
            return Ok(names);
        }
        self.each(name, "texts", Shape::String, |_, text| {
            names.push(syntax::unescaped(inside(text)).as_ref().into());
            Ok(())
        })?;
        Ok(names)
    }

    /// Returns a list of objects.
    pub(crate) fn objects(&self, name: &str) -> Result<Vec<Fields<'t>>, Wrong> {
        let start = self.place(name);
        let mut objects = Vec::new();
        self.each(name, "objects", Shape::Object, |at, text| {
            let object = Fields::at(text, start + at).map_err(|_| "a list of objects")?;
            objects.push(object);
            Ok(())
        })?;
        Ok(objects)
    }

    /// Passes each element of a list to `take`, with its offset in the list.
    fn each(
        &self,
        name: &str,
        of: &str,
        shape: Shape,
        mut take: impl FnMut(usize, &'t [u8]) -> Result<(), &'static str>,
    ) -> Result<(), Wrong> {
        let Some(member) = self.get(name) else {
            return Ok(());
        };
        if member.shape != Shape::Array {
            return Err(self.wants(name, &format!("a list of {of}"), member));
        }
        syntax::elements(member.value, |at, text, found| {
            let place = self.place(name) + at;
            if found != shape {
                let found = found.words();
                return Err((place, format!("`{name}` expects {of}, not {found}")));
            }
            take(at, text).map_err(|wants| (place, format!("`{name}` expects {wants}")))
        })
    }

    /// Returns an object.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Fields<'t>>, Wrong> {
        match self.get(name) {
            None => Ok(None),
            Some(member) if member.shape == Shape::Object => {
                let base = self.place(name);
                Fields::at(member.value, base)
                    .map(Some)
                    .map_err(|fault| (base, fault.what))
            }
            Some(member) => Err(self.wants(name, "an object", member)),
        }
    }

    /// Returns a finite number as text.
    pub(crate) fn number(&self, name: &str) -> Result<Option<&'t str>, Wrong> {
        let Some(member) = self.get(name) else {
            return Ok(None);
        };
        let text = std::str::from_utf8(member.value).unwrap_or_default();
        let finite = text.parse().is_ok_and(|number: f64| number.is_finite());
        if member.shape == Shape::Number && finite {
            Ok(Some(text))
        } else {
            Err(self.wants(name, "a number", member))
        }
    }

    /// Returns an integer that a double represents exactly.
    pub(crate) fn whole(&self, name: &str) -> Result<Option<i64>, Wrong> {
        let Some(text) = self.number(name)? else {
            return Ok(None);
        };
        let number: f64 = text.parse().unwrap_or_default();
        if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
            Ok(Some(number as i64))
        } else {
            Err(self.wrong(name, format!("expects a whole number, not `{text}`")))
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Wrong> {
        match self.get(name) {
            None => Ok(false),
            Some(member) if member.shape == Shape::Bool => Ok(member.value == b"true"),
            Some(member) => Err(self.wants(name, "true or false", member)),
        }
    }

    /// Returns a time in the format of documents.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<Moment>, Wrong> {
        let Some(member) = self.get(name) else {
            return Ok(None);
        };
        let text = match member.shape {
            Shape::String => syntax::unescaped(inside(member.value)),
            _ => Cow::Borrowed(&b""[..]),
        };
        let moment = std::str::from_utf8(&text)
            .ok()
            .and_then(Moment::from_rfc3339);
        match moment {
            Some(moment) => Ok(Some(moment)),
            None => Err(self.wants(name, "a time such as `2026-11-21T06:00:00Z`", member)),
        }
    }

    /// Returns the text of any value, and its type.
    pub(crate) fn value(&self, name: &str) -> Option<(&'t [u8], Shape)> {
        let mut members = self.members.iter();
        let found = members.find(|(key, _)| &**key == name.as_bytes());
        found.map(|(_, member)| (member.value, member.shape))
    }

    /// Returns the members in order, with the text of their values.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Name, &'t [u8])> {
        let members = self.members.iter();
        members.map(|(key, member)| (Name::from(&**key), member.value))
    }
}

/// Returns a string without its quotes.
fn inside(string: &[u8]) -> &[u8] {
    let inside = string.strip_prefix(b"\"").unwrap_or(string);
    inside.strip_suffix(b"\"").unwrap_or(inside)
}

fn shown(member: &Member) -> String {
    match member.shape {
        Shape::String | Shape::Number | Shape::Bool => {
            format!("`{}`", cut(&Harmless(member.value).to_string(), 60))
        }
        shape => shape.words().into(),
    }
}
