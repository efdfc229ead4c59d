//! Reads the stored patterns of queue names.

use std::collections::BTreeMap;

use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, calls, reply};
use crate::error::Error;
use crate::json::{Json, field_value};
use crate::model::queue_patterns::{PriorityPattern, QueueIdentifierPatterns};
use crate::name::Name;

impl Core {
    /// The stored identifier patterns by name. Patterns that cannot be read are left out.
    pub fn queue_identifier_patterns(
        &mut self,
        now: Moment,
    ) -> Result<QueueIdentifierPatterns, Error> {
        let call = Call::new(calls::QUEUE_IDENTIFIER_PATTERNS_GET_ALL);
        let text = self.call(now, call)?;
        let name = calls::QUEUE_IDENTIFIER_PATTERNS_GET_ALL.name;
        let stored = reply::read_json_object(name, &text)?;
        let patterns = stored.into_iter().filter_map(|(name, list)| {
            let list = Json::parse(list.text()?.as_bytes())?.text_array()?;
            Some((name, list))
        });
        let patterns: BTreeMap<Name, Vec<Name>> = patterns.collect();
        Ok(QueueIdentifierPatterns::new(patterns))
    }

    /// The stored priority patterns in their order. Patterns that cannot be read are left out.
    pub fn queue_priority_patterns(&mut self, now: Moment) -> Result<Vec<PriorityPattern>, Error> {
        let call = Call::new(calls::QUEUE_PRIORITY_PATTERNS_GET_ALL);
        let text = self.call(now, call)?;
        let name = calls::QUEUE_PRIORITY_PATTERNS_GET_ALL.name;
        let stored = reply::read_json_array(name, &text)?;
        let patterns = stored.iter().filter_map(|stored| {
            let fields = Json::parse(stored.text()?.as_bytes())?.object()?;
            let is_fair = field_value(&fields, "fairly")
                .is_some_and(|value| value.to_single_line() == Name::from("true"));
            let list = field_value(&fields, "pattern")?;
            // qmore stored one text.
            let commas = |text: Name| {
                let parts = text.as_bytes().split(|byte| *byte == b',');
                parts.map(Name::from).collect::<Vec<Name>>()
            };
            let list = list.text_array().or_else(|| list.text().map(commas))?;
            Some(PriorityPattern::new(is_fair, &list))
        });
        Ok(patterns.collect())
    }
}
