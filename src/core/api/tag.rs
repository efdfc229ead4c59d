//! Looking at tags.

use super::index::Index;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::tag::Tag;

impl Core {
    /// Returns the tags that jobs carry, with how many do, most used first.
    pub fn tags(&mut self, now: Moment) -> Result<Vec<Tag>, Error> {
        let names = self.members(now, &Index::Tags)?;
        let wanted: Vec<(Index, u64)> = names
            .iter()
            .map(|tag| (Index::Tag(tag.clone()), 0))
            .collect();
        let counted = names.into_iter().zip(self.parts(now, &wanted, 0)?);
        let counted = counted.map(|(tag, part)| Tag {
            tag,
            jobs: part.total,
        });
        let mut tags: Vec<Tag> = counted.filter(|tag| tag.jobs > 0).collect();
        tags.sort_by(|one, other| {
            other
                .jobs
                .cmp(&one.jobs)
                .then_with(|| one.tag.cmp(&other.tag))
        });
        Ok(tags)
    }
}
