//! A list that is replaced as a whole. Its replacement grows in slices under another name, and takes
//! the place of the list only if no client has changed the list since: `WATCH` says so.

use std::time::Instant;

use crate::core::call::connect::Packed;
use crate::core::call::{Call, Core, Value};
use crate::error::Error;

/// Maximum number of entries that one command adds.
pub(crate) const MAX_ADDED: usize = 500;

/// A list that is being replaced.
#[derive(Debug)]
pub(crate) struct ListRewrite {
    key: Vec<u8>,
    /// The key of the replacement.
    replacement: Vec<u8>,
    /// The connection that watches the list.
    connection: u64,
}

impl Core {
    /// Begins to replace a list. The entries are read after that.
    pub(crate) fn rewrite_list(
        &mut self,
        key: &[u8],
        replacement: Vec<u8>,
    ) -> Result<ListRewrite, Error> {
        self.call::<()>(self.now(), Call::plain("WATCH").arg(key))?;
        Ok(ListRewrite {
            key: key.to_vec(),
            replacement,
            connection: self.connection_number(),
        })
    }

    /// Appends entries to the replacement, at most [`MAX_ADDED`]. False if the connection that watches is
    /// gone or the server refused: the rewrite must be abandoned.
    pub(crate) fn extend_list(&mut self, rewrite: &ListRewrite, entries: &[Vec<u8>]) -> bool {
        let mut packed = Packed::default();
        packed.begin(entries.len() + 2);
        packed.word(b"RPUSH");
        packed.word(&rewrite.replacement);
        entries.iter().for_each(|entry| packed.word(entry));
        let replies = self.exchange_on(rewrite, packed);
        matches!(replies.as_slice(), [Value::Int(_)])
    }

    /// Puts the replacement in the place of the list. Returns false if the list has changed, or if
    /// the user may not do that: then nothing has happened.
    pub(crate) fn replace_list(&mut self, rewrite: &ListRewrite) -> Result<bool, Error> {
        let mut packed = Packed::default();
        packed.add(&["MULTI"]);
        packed.add(&[b"RENAME".as_slice(), &rewrite.replacement, &rewrite.key]);
        packed.add(&["EXEC"]);
        let replies = self.exchange_on(rewrite, packed);
        match replies.last() {
            Some(Value::Array(done)) => Ok(matches!(done.as_slice(), [Value::Okay])),
            Some(_) => Ok(false),
            // The reply was lost: the replacement is gone if it has its new name.
            None => {
                let exists = Call::plain("EXISTS").arg(&rewrite.replacement);
                Ok(self.call::<u64>(self.now(), exists)? == 0)
            }
        }
    }

    /// Gives up, and deletes the replacement.
    pub(crate) fn abandon_list(&mut self, rewrite: &ListRewrite) {
        let mut packed = Packed::default();
        packed.add(&["UNWATCH"]);
        packed.add(&[b"DEL".as_slice(), &rewrite.replacement]);
        self.exchange_on(rewrite, packed);
    }

    /// Sends commands once, only on the connection that watches the list.
    fn exchange_on(&mut self, rewrite: &ListRewrite, packed: Packed) -> Vec<Value> {
        let deadline = Instant::now() + self.call_timeout();
        if self.connection_number() == rewrite.connection {
            self.exchange_once(packed, deadline)
        } else {
            Vec::new()
        }
    }
}
