//! Looking at tags.

use super::Core;
use super::index::Index;
use crate::error::Error;
use crate::model::list::List;
use crate::model::moment::Moment;
use crate::model::tag::Tag;

impl Core {
    /// Returns the most used tags, with the number of jobs that carry each.
    pub fn top_tags(&mut self, now: Moment, offset: u64, limit: u64) -> Result<List<Tag>, Error> {
        let names = self.members(now, &Index::Tags)?;
        let wanted: Vec<(Index, u64)> = names
            .iter()
            .map(|tag| (Index::Tag(tag.clone()), 0))
            .collect();
        let counted = names.into_iter().zip(self.parts(now, &wanted, 0)?);
        let mut tags: Vec<Tag> = counted
            .map(|(tag, part)| Tag {
                tag,
                jobs: part.total,
            })
            .filter(|tag| tag.jobs > 0)
            .collect();
        tags.sort_by(|one, other| {
            other
                .jobs
                .cmp(&one.jobs)
                .then_with(|| one.tag.cmp(&other.tag))
        });
        let total = Some(tags.len() as u64);
        let page = tags.into_iter().skip(offset as usize).take(limit as usize);
        Ok(List {
            total,
            offset,
            items: page.collect(),
        })
    }
}
