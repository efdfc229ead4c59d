//! The description of a field of a document: its name, its type and its meaning. Each model lists
//! its own as `FIELDS`; `view::document` makes JSON Schemas and the manual page from them.

/// A field of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub name: &'static str,
    pub of: Type,
    /// Whether the value is a list of such values.
    pub list: bool,
    /// Whether the value may be `null`.
    pub null: bool,
    /// Whether the document may lack the field.
    pub optional: bool,
    /// The meaning, for help and manual page.
    pub meaning: &'static str,
}

/// The type of a field's value, or of the values in its list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    /// Text from outside. If it is not UTF-8, a second field, `…_bytes`, has it in base64.
    Name,
    Text,
    Moment,
    Number,
    Count,
    Bool,
    /// Any JSON.
    Any,
    Object(&'static [Field]),
}

impl Field {
    const fn new(name: &'static str, of: Type, meaning: &'static str) -> Field {
        Field {
            name,
            of,
            list: false,
            null: false,
            optional: false,
            meaning,
        }
    }

    pub(crate) const fn name(name: &'static str, meaning: &'static str) -> Field {
        Field::new(name, Type::Name, meaning)
    }

    pub(crate) const fn text(name: &'static str, meaning: &'static str) -> Field {
        Field::new(name, Type::Text, meaning)
    }

    pub(crate) const fn moment(name: &'static str, meaning: &'static str) -> Field {
        Field::new(name, Type::Moment, meaning)
    }

    pub(crate) const fn number(name: &'static str, meaning: &'static str) -> Field {
        Field::new(name, Type::Number, meaning)
    }

    pub(crate) const fn count(name: &'static str, meaning: &'static str) -> Field {
        Field::new(name, Type::Count, meaning)
    }

    pub(crate) const fn bool(name: &'static str, meaning: &'static str) -> Field {
        Field::new(name, Type::Bool, meaning)
    }

    pub(crate) const fn any(name: &'static str, meaning: &'static str) -> Field {
        Field::new(name, Type::Any, meaning)
    }

    pub(crate) const fn object(
        name: &'static str,
        fields: &'static [Field],
        meaning: &'static str,
    ) -> Field {
        Field::new(name, Type::Object(fields), meaning)
    }

    /// The field, which may also be `null`.
    pub(crate) const fn null(self) -> Field {
        Field { null: true, ..self }
    }

    /// The field, with a list of such values.
    pub(crate) const fn list(self) -> Field {
        Field { list: true, ..self }
    }

    /// The field, which the document may lack.
    pub(crate) const fn optional(self) -> Field {
        Field {
            optional: true,
            ..self
        }
    }
}
