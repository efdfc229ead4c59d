//! Reads the histories of jobs that old versions stored.

use crate::json::quote::quote_as_core;
use crate::json::{Json, field_value};
use crate::name::Name;

/// The entries that the core will make from a history that is still one JSON document, as old versions stored it.
pub(super) fn entries_from_legacy(legacy: &Json) -> Vec<Name> {
    let mut entries = Vec::new();
    for item in legacy.array().unwrap_or_default() {
        let fields = item.object().unwrap_or_default();
        let text = |name: &str| {
            let value = field_value(&fields, name);
            let text =
                value.and_then(|value| value.text().or_else(|| Some(value.to_single_line())));
            quote_as_core(text.unwrap_or_default().as_bytes())
        };
        for what in ["put", "popped", "failed", "done"] {
            let when = field_value(&fields, what).and_then(|when| match when.text() {
                Some(text) => text.as_str()?.trim().parse().ok(),
                None => when.number(),
            });
            let Some(when) = when.filter(|when: &f64| when.is_finite()) else {
                continue;
            };
            let mut entry = format!("[{:.0},\"{what}\"", when.floor()).into_bytes();
            let noted = match what {
                "put" => Some(("q", text("q"))),
                "popped" => Some(("worker", text("worker"))),
                _ => None,
            };
            if let Some((key, value)) = noted {
                entry.extend(format!(",{{\"{key}\":").into_bytes());
                entry.extend(value);
                entry.push(b'}');
            }
            entry.push(b']');
            entries.push(Name::from(entry));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_in_the_old_form_becomes_entries() {
        let old = r#"[{"put":1.7,"q":"a/b","popped":"3","worker":"w","failed":null},{"done":9},7]"#;
        let entries = entries_from_legacy(&Json::parse(old.as_bytes()).unwrap());
        let texts: Vec<&str> = entries.iter().filter_map(Name::as_str).collect();
        assert_eq!(
            texts,
            [
                r#"[1,"put",{"q":"a\/b"}]"#,
                r#"[3,"popped",{"worker":"w"}]"#,
                r#"[9,"done"]"#
            ]
        );
    }
}
