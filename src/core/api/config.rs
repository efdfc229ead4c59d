//! Reads and sets the options of the core, and reads the stored patterns of queue names.

use std::collections::BTreeMap;

use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::{Call, Core, calls, reply};
use crate::error::Error;
use crate::json::{Json, field_value};
use crate::model::config::{ConfigOption, GENERAL_OPTIONS, find_known_option};
use crate::model::queue_patterns::{PriorityPattern, QueueIdentifierPatterns};
use crate::name::Name;

impl Core {
    /// All options that are set and all known options, sorted by name. A known option that is not set and has no
    /// default has an empty value.
    pub fn config(&mut self, now: Moment) -> Result<Vec<ConfigOption>, Error> {
        let text = self.call(now, Call::new(calls::CONFIG_GET))?;
        let options = reply::read_json_object(calls::CONFIG_GET.name, &text)?;
        let mut items: Vec<ConfigOption> = options
            .into_iter()
            .map(|(key, value)| {
                // The core returns a default as a number, and a value that is set as a text. So an option whose value
                // is a text is set.
                let set = value.text();
                let value = set.clone().unwrap_or_else(|| value.to_single_line());
                config_option(key, value, set.is_some())
            })
            .collect();
        for spec in GENERAL_OPTIONS {
            let key = Name::from(spec.key);
            if !items.iter().any(|item| item.key == key) {
                items.push(config_option(key, Name::from(spec.default), false));
            }
        }
        items.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(items)
    }

    /// Sets an option.
    pub fn set_config(&mut self, now: Moment, key: &Name, value: &Name) -> Result<(), Error> {
        let call = Call::new(calls::CONFIG_SET).arg(key).arg(value);
        self.call(now, call)
    }

    /// Resets an option to its default.
    pub fn unset_config(&mut self, now: Moment, key: &Name, _: Consent) -> Result<(), Error> {
        self.call(now, Call::new(calls::CONFIG_UNSET).arg(key))
    }

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

fn config_option(key: Name, value: Name, is_set: bool) -> ConfigOption {
    let known = find_known_option(&key);
    let default = known.as_ref().filter(|known| known.queue.is_none());
    let default = default.map(|known| known.spec.default);
    let default = default.filter(|default| !default.is_empty());
    // One default is a text, too: `qless`. An option with this default and this value counts as not set.
    let is_set = is_set && !(default == Some("qless") && value == Name::from("qless"));
    ConfigOption {
        key,
        value,
        default,
        known: known.is_some(),
        set: is_set,
    }
}
