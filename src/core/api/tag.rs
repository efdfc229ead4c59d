//! Reading tags.

use super::index::Index;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::tag::Tag;

impl Core {
    /// All tags, each with the number of jobs that have it, most used first.
    pub fn tags(&mut self, now: Moment) -> Result<Vec<Tag>, Error> {
        let names = self.index_members(now, &Index::Tags)?;
        let indexes: Vec<(Index, u64)> = names
            .iter()
            .map(|tag| (Index::Tag(tag.clone()), 0))
            .collect();
        let counts = names.into_iter().zip(self.index_ranges(now, &indexes, 0)?);
        let counts = counts.map(|(tag, part)| Tag {
            tag,
            jobs: part.total,
        });
        let mut tags: Vec<Tag> = counts.filter(|tag| tag.jobs > 0).collect();
        tags.sort_unstable_by(|one, other| {
            other
                .jobs
                .cmp(&one.jobs)
                .then_with(|| one.tag.cmp(&other.tag))
        });
        Ok(tags)
    }
}
