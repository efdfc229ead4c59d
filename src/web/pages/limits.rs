//! Throttles and lanes: limits on how many jobs run at the same time.

use maud::{Markup, html};

use crate::error::Error;
use crate::model::overview::at_least_prefix;
use crate::model::throttle::Throttle;
use crate::session::Session;
use crate::text::{capitalize, format_count, format_duration, with_thousands_separators};
use crate::web::page::{NONE, NavigationSection, PageContent, PageFrame};

/// Maximum number of throttles, and of lanes, that are read and shown.
const MAX_SHOWN: usize = 300;

pub(in crate::web) fn content(
    page: &PageFrame,
    session: &mut Session,
) -> Result<PageContent, Error> {
    let found = session
        .core()?
        .first_limited_and_all_blocking_throttles(page.now, MAX_SHOWN)?;
    let (lanes, throttles): (Vec<Throttle>, Vec<Throttle>) = found
        .throttles
        .into_values()
        .partition(|throttle| throttle.lane);
    let at_least = at_least_prefix(u64::from(found.is_cut));
    let title = match (throttles.len() as u64, lanes.len() as u64) {
        (0, 0) => "No limit is set, and none holds a job back".to_owned(),
        (count, 0) => format!("{at_least}{}", format_count(count, "throttle", "throttles")),
        (0, count) => format!(
            "{} with more than one job",
            format_count(count, "lane", "lanes")
        ),
        (count, more) => format!(
            "{at_least}{} and {}",
            format_count(count, "throttle", "throttles"),
            format_count(more, "lane", "lanes")
        ),
    };
    let main = html! {
        h1 { (capitalize(&title)) }
        @if !throttles.is_empty() { section { h2 { "Throttles" } (throttle_table(&throttles)) } }
        @if !lanes.is_empty() { section { h2 { "Lanes" small { "whose jobs wait for one another" } } (throttle_table(&lanes)) } }
        @if found.is_cut { p.dim { code { "qless throttle list" } " shows all." } }
        @if let Some(omitted) = found.omitted.omission_sentence() {
            p.dim { (omitted) ". " code { "qless throttle list --all" } " shows what holds a job back there alone." }
        }
        @if !found.unlisted.is_empty() {
            p.dim {
                "Another client has set limits, too. " code { "qless throttle list --all" } " shows those that hold no job now."
            }
        }
    };
    Ok(PageContent::new(title, NavigationSection::Limits, main))
}

fn throttle_table(throttles: &[Throttle]) -> Markup {
    let more = throttles.len().saturating_sub(MAX_SHOWN) as u64;
    html! {
        table data-rows {
            thead {
                tr {
                    th scope="col" { "Name" } th scope="col" { span.unseen { "Slots" } } th.n scope="col" { "Taken" }
                    th.n scope="col" { "Held back" } th.n.wide scope="col" { "Ends" }
                }
            }
            tbody { @for throttle in throttles.iter().take(MAX_SHOWN) { (throttle_row(throttle)) } }
        }
        @if more > 0 { p.more { "and " (format_count(more, "more", "more")) } }
    }
}

fn throttle_row(throttle: &Throttle) -> Markup {
    let maximum = u64::try_from(throttle.maximum).unwrap_or(0);
    let taken = match throttle.maximum {
        0 => format!("{}, no limit", with_thousands_separators(throttle.locks)),
        ..0 => format!(
            "{}, none may run",
            with_thousands_separators(throttle.locks)
        ),
        maximum => format!("{} of {maximum}", with_thousands_separators(throttle.locks)),
    };
    let drawn = maximum.min(16);
    let on = throttle.locks.min(drawn);
    let is_holding = throttle.pending > 0;
    html! {
        tr data-key=(throttle.id) {
            th scope="row" { (throttle.id) }
            td {
                span.slots role="img" aria-label=(taken) {
                    @for _ in 0..on { i.on {} }
                    @for _ in on..drawn { i {} }
                }
            }
            td.n { (taken) }
            td.n.strong[is_holding].dim[!is_holding] { (crate::web::page::count_or_dash(throttle.pending)) }
            td.n.wide.dim { (throttle.ttl_s.map_or(NONE.into(), |ttl| format!("in {}", format_duration(ttl as f64)))) }
        }
    }
}
