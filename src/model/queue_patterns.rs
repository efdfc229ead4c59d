//! The stored patterns of queue names. Users write an identifier pattern as `@NAME`. Priority patterns order the
//! queues.

use schemars::JsonSchema;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::pattern::NamePattern;
use super::work_queue::{PatternOrIdentifier, QueueSelector};
use crate::name::Name;

/// The stored identifier patterns by name.
#[derive(Clone, Debug, Default)]
pub struct QueueIdentifierPatterns(BTreeMap<Name, Vec<QueueSelector>>);

impl QueueIdentifierPatterns {
    pub fn new(stored: BTreeMap<Name, Vec<Name>>) -> QueueIdentifierPatterns {
        let read = |list: Vec<Name>| list.iter().filter_map(parse_stored_selector).collect();
        let patterns = stored.into_iter();
        QueueIdentifierPatterns(patterns.map(|(name, list)| (name, read(list))).collect())
    }

    /// The names of the identifiers `@NAME` in a list for which the server stores nothing.
    pub(crate) fn missing_identifiers<'a>(&self, list: &'a [QueueSelector]) -> Vec<&'a Name> {
        let named = list.iter().filter_map(|queue| match &queue.names {
            PatternOrIdentifier::Stored(name) => Some(name),
            PatternOrIdentifier::Matching(_) => None,
        });
        named.filter(|name| !self.0.contains_key(*name)).collect()
    }

    /// The queues that a list selects, with their weights, each at its first place in the list. A glob selects queues
    /// of `known` in that order. A plain name selects its queue even if it is not known. An identifier selects what is
    /// stored for it. Entries with `!` then exclude queues.
    pub(crate) fn select_queues_with_weights(
        &self,
        list: &[QueueSelector],
        known: &[Name],
    ) -> Vec<(Name, u32)> {
        let mut resolver = IdentifierResolver {
            patterns: self,
            known,
            path: Vec::new(),
            resolved: HashMap::new(),
            lowest_cut: usize::MAX,
            count: 0,
        };
        resolver.select_queues(list)
    }
}

/// Maximum number of identifiers that name each other in a chain. Anybody may store patterns: a longer chain must not
/// exhaust the stack.
const MAX_DEPTH: usize = 100;

/// Maximum number of times that identifiers are resolved for one list. The queues of an identifier are kept for its next
/// use, except within a cycle of identifiers, where they are resolved again each time.
const MAX_RESOLVED: usize = 10_000;

/// Resolves the identifiers of a list. An identifier within itself selects nothing there, nor does one beyond
/// [`MAX_DEPTH`] or [`MAX_RESOLVED`].
struct IdentifierResolver<'a> {
    patterns: &'a QueueIdentifierPatterns,
    known: &'a [Name],
    /// The identifiers that are being resolved.
    path: Vec<&'a Name>,
    /// The queues of each identifier that was resolved without meeting an identifier around it in `path`.
    resolved: HashMap<&'a Name, Vec<Name>>,
    /// The lowest index in `path` of an identifier that was met within itself.
    lowest_cut: usize,
    count: usize,
}

impl<'a> IdentifierResolver<'a> {
    fn select_queues(&mut self, list: &'a [QueueSelector]) -> Vec<(Name, u32)> {
        let mut selected: Vec<(Name, u32)> = Vec::new();
        let mut seen: HashSet<Name> = HashSet::new();
        for queue in list.iter().filter(|queue| !queue.is_excluded) {
            for name in self.names_of_selector(queue) {
                if seen.insert(name.clone()) {
                    selected.push((name, queue.weight));
                }
            }
        }
        for queue in list.iter().filter(|queue| queue.is_excluded) {
            match &queue.names {
                PatternOrIdentifier::Matching(pattern) => {
                    selected.retain(|(name, _)| !pattern.matches(name))
                }
                PatternOrIdentifier::Stored(name) => {
                    let excluded = HashSet::<Name>::from_iter(self.queues_of_identifier(name));
                    selected.retain(|(name, _)| !excluded.contains(name));
                }
            }
        }
        selected
    }

    fn names_of_selector(&mut self, queue: &'a QueueSelector) -> Vec<Name> {
        match &queue.names {
            PatternOrIdentifier::Matching(NamePattern::Plain(name)) => vec![name.clone()],
            PatternOrIdentifier::Matching(pattern) => {
                let matching = self.known.iter().filter(|name| pattern.matches(name));
                matching.cloned().collect()
            }
            PatternOrIdentifier::Stored(name) => self.queues_of_identifier(name),
        }
    }

    fn queues_of_identifier(&mut self, name: &'a Name) -> Vec<Name> {
        if let Some(queues) = self.resolved.get(name) {
            return queues.clone();
        }
        let Some(stored) = self.patterns.0.get(name) else {
            return Vec::new();
        };
        if let Some(index) = self.path.iter().position(|outer| *outer == name) {
            self.lowest_cut = self.lowest_cut.min(index);
            return Vec::new();
        }
        if self.path.len() == MAX_DEPTH || self.count == MAX_RESOLVED {
            self.lowest_cut = 0;
            return Vec::new();
        }
        self.count += 1;
        let outer_cut = std::mem::replace(&mut self.lowest_cut, usize::MAX);
        self.path.push(name);
        let selected = self.select_queues(stored).into_iter();
        let queues: Vec<Name> = selected.map(|(name, _)| name).collect();
        self.path.pop();
        if self.lowest_cut >= self.path.len() {
            self.resolved.insert(name, queues.clone());
            self.lowest_cut = outer_cut;
        } else {
            self.lowest_cut = self.lowest_cut.min(outer_cut);
        }
        queues
    }
}

/// A stored priority pattern: the queues of one priority.
#[derive(Clone, Debug)]
pub struct PriorityPattern {
    /// Whether workers pop the queues of the pattern round-robin.
    pub is_fair: bool,
    /// Whether the pattern is `default`: it stands for all queues that no other pattern matches.
    is_default: bool,
    patterns: Vec<QueueSelector>,
}

impl PriorityPattern {
    pub fn new(is_fair: bool, patterns: &[Name]) -> PriorityPattern {
        PriorityPattern {
            is_fair,
            is_default: matches!(patterns, [only] if only.as_bytes() == b"default"),
            patterns: patterns.iter().filter_map(parse_stored_selector).collect(),
        }
    }
}

/// Queues of one priority.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub(crate) struct PriorityBucket {
    pub is_fair: bool,
    pub queues: Vec<(Name, u32)>,
}

/// Groups queues by the priority patterns that match them. Queues without a match come at the position of the pattern
/// `default`, or last if there is none.
pub(crate) fn sort_by_priority(
    queues: &[(Name, u32)],
    patterns: &[PriorityPattern],
    identifiers: &QueueIdentifierPatterns,
) -> Vec<PriorityBucket> {
    let mut rest: Vec<(Name, u32)> = queues.to_vec();
    let weights: HashMap<&Name, u32> = queues
        .iter()
        .map(|(name, weight)| (name, *weight))
        .collect();
    let (mut buckets, mut default) = (Vec::new(), None);
    for pattern in patterns {
        if pattern.is_default {
            default.get_or_insert((buckets.len(), pattern.is_fair));
            continue;
        }
        let known: Vec<Name> = rest.iter().map(|(name, _)| name.clone()).collect();
        let is_left: HashSet<&Name> = known.iter().collect();
        let chosen = identifiers.select_queues_with_weights(&pattern.patterns, &known);
        let chosen = chosen.into_iter().map(|(name, _)| name);
        let chosen: Vec<Name> = chosen.filter(|name| is_left.contains(name)).collect();
        let taken: HashSet<&Name> = chosen.iter().collect();
        rest.retain(|(name, _)| !taken.contains(name));
        let with_weight = |name: &Name| (name.clone(), weights[name]);
        let (is_fair, queues) = (pattern.is_fair, chosen.iter().map(with_weight).collect());
        buckets.push(PriorityBucket { is_fair, queues });
    }
    let (at, is_fair) = default.unwrap_or((buckets.len(), false));
    let queues = rest;
    buckets.insert(at, PriorityBucket { is_fair, queues });
    buckets.retain(|bucket| !bucket.queues.is_empty());
    buckets
}

/// Parses an entry of a stored pattern. `None` if it is empty or invalid.
fn parse_stored_selector(text: &Name) -> Option<QueueSelector> {
    let text = text.as_bytes().trim_ascii();
    let (text, is_excluded) = match text.strip_prefix(b"!") {
        Some(rest) => (rest.trim_ascii_start(), true),
        None => (text, false),
    };
    let names = match text.strip_prefix(b"@") {
        Some(b"") => return None,
        Some(name) => PatternOrIdentifier::Stored(Name::from(name)),
        None if text.is_empty() => return None,
        None => PatternOrIdentifier::Matching(NamePattern::from_stored(&Name::from(text)).ok()?),
    };
    Some(QueueSelector {
        names,
        weight: 1,
        is_excluded,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<Name> {
        list.iter().map(|name| Name::from(*name)).collect()
    }

    fn typed(list: &[&str]) -> Vec<QueueSelector> {
        let read = |name: &&str| QueueSelector::parse(&Name::from(*name)).unwrap();
        list.iter().map(read).collect()
    }

    fn stored() -> QueueIdentifierPatterns {
        let patterns = [
            ("web", vec!["web-*", "!web-old"]),
            ("all", vec!["@web", "mail", "@all"]),
            ("odd", vec!["a?[b]", " x ", "", "!", "@"]),
        ];
        let patterns = patterns.map(|(name, list)| (Name::from(name), names(&list)));
        QueueIdentifierPatterns::new(patterns.into())
    }

    fn selected(list: &[&str]) -> String {
        let known = names(&["a?[b]", "abc", "web-a", "web-b", "web-old"]);
        let selected = stored().select_queues_with_weights(&typed(list), &known);
        let selected = selected
            .iter()
            .map(|(name, weight)| format!("{name}={weight}"));
        selected.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_identifier_stands_for_its_queues() {
        assert_eq!(selected(&["@web"]), "web-a=1 web-b=1");
        assert_eq!(selected(&["@web=3", "web-a"]), "web-a=3 web-b=3");
        assert_eq!(selected(&["web-*", "!@web"]), "web-old=1");
        // The pattern contains itself, and a queue that does not exist yet.
        assert_eq!(selected(&["@all"]), "web-a=1 web-b=1 mail=1");
        assert_eq!(selected(&["@none", "q", "!@none"]), "q=1");
        assert_eq!(
            stored()
                .missing_identifiers(&typed(&["@none", "@web"]))
                .len(),
            1
        );
    }

    #[test]
    fn stored_patterns_of_any_form_are_resolved_in_bounded_time_and_stack() {
        let resolve = |patterns: Vec<(String, Vec<String>)>| {
            let read = |(name, list): (String, Vec<String>)| {
                (Name::from(name), list.into_iter().map(Name::from).collect())
            };
            let patterns = QueueIdentifierPatterns::new(patterns.into_iter().map(read).collect());
            let queues = patterns.select_queues_with_weights(&typed(&["@n0", "q"]), &[]);
            queues
                .iter()
                .map(|(name, _)| name.to_string())
                .collect::<Vec<_>>()
        };
        let chain = |count: usize| {
            let link = |n: usize| {
                (
                    format!("n{n}"),
                    vec![format!("@n{}", n + 1), format!("q{n}")],
                )
            };
            (0..count).map(link).collect()
        };
        assert_eq!(resolve(chain(3)), ["q2", "q1", "q0", "q"]);
        assert_eq!(resolve(chain(40_000)).len(), MAX_DEPTH + 1);
        let doubled = |n: usize| {
            (
                format!("n{n}"),
                vec![format!("@n{}", n + 1), format!("@n{}", n + 1)],
            )
        };
        let mut doubled: Vec<_> = (0..60).map(doubled).collect();
        doubled.push(("n60".into(), vec!["last".into()]));
        assert_eq!(resolve(doubled), ["last", "q"]);
        let all = |n: usize| {
            (0..30)
                .map(|n| format!("@n{n}"))
                .chain([format!("q{n}")])
                .collect()
        };
        let found = resolve((0..30).map(|n| (format!("n{n}"), all(n))).collect());
        assert_eq!(found.len(), 31);
    }

    #[test]
    fn only_the_star_is_special_in_a_stored_pattern() {
        assert_eq!(selected(&["@odd"]), "a?[b]=1 x=1");
    }

    #[test]
    fn priority_patterns_order_queues_and_default_takes_the_rest() {
        let queues = ["low", "web-b", "web-a", "mail", "web-old"].map(|name| (name.into(), 1));
        let order = |patterns: &[(bool, &[&str])]| {
            let patterns: Vec<PriorityPattern> = patterns
                .iter()
                .map(|(fair, list)| PriorityPattern::new(*fair, &names(list)))
                .collect();
            let buckets = sort_by_priority(&queues, &patterns, &stored());
            let shown = buckets.iter().map(|bucket| {
                let queues = bucket.queues.iter().map(|(name, _)| name.to_string());
                let fair = if bucket.is_fair { "fair " } else { "" };
                format!("{fair}{}", queues.collect::<Vec<_>>().join(" "))
            });
            shown.collect::<Vec<_>>().join(" | ")
        };
        assert_eq!(order(&[]), "low web-b web-a mail web-old");
        assert_eq!(
            order(&[
                (false, &["mail", "none"]),
                (false, &["default"]),
                (true, &["web-*", "!web-old"]),
            ]),
            "mail | low web-old | fair web-b web-a"
        );
        assert_eq!(
            order(&[(false, &["@web"]), (false, &["mail", "web-a"])]),
            "web-b web-a | mail | low web-old"
        );
    }
}
