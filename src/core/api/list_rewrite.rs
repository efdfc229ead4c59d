//! A list that is replaced as a whole. Its replacement grows in slices under another name, and takes the place of the
//! list only if no client has changed the list since, which `WATCH` notices.

use std::time::Instant;

use crate::core::call::connect::PackedCommands;
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
    /// Begins to replace a list. The caller reads the entries of the list after this call, so that no change of them
    /// is overlooked.
    pub(crate) fn begin_list_rewrite(
        &mut self,
        key: &[u8],
        replacement: Vec<u8>,
    ) -> Result<ListRewrite, Error> {
        self.call::<()>(self.now(), Call::redis_command("WATCH").arg(key))?;
        Ok(ListRewrite {
            key: key.to_vec(),
            replacement,
            connection: self.connection_number(),
        })
    }

    /// Appends entries to the replacement, at most [`MAX_ADDED`]. Returns false if the connection that watches the
    /// list is gone, or if the server refused: the rewrite must be abandoned.
    pub(crate) fn try_extend_replacement(
        &mut self,
        rewrite: &ListRewrite,
        entries: &[Vec<u8>],
    ) -> bool {
        let mut packed = PackedCommands::default();
        packed.begin_command(entries.len() + 2);
        packed.add_word(b"RPUSH");
        packed.add_word(&rewrite.replacement);
        entries.iter().for_each(|entry| packed.add_word(entry));
        let replies = self.exchange_if_watching(rewrite, packed);
        matches!(replies.as_slice(), [Value::Int(_)])
    }

    /// Puts the replacement in the place of the list. Returns false if the list has changed, or if the user is not
    /// allowed to rename keys: then nothing has happened.
    pub(crate) fn replace_if_unchanged(&mut self, rewrite: &ListRewrite) -> Result<bool, Error> {
        let mut packed = PackedCommands::default();
        packed.add_command(&["MULTI"]);
        packed.add_command(&[b"RENAME".as_slice(), &rewrite.replacement, &rewrite.key]);
        packed.add_command(&["EXEC"]);
        let replies = self.exchange_if_watching(rewrite, packed);
        match replies.last() {
            Some(Value::Array(done)) => Ok(matches!(done.as_slice(), [Value::Okay])),
            Some(_) => Ok(false),
            // The reply was lost: the replacement is gone if it has its new name.
            None => {
                let exists = Call::redis_command("EXISTS").arg(&rewrite.replacement);
                Ok(self.call::<u64>(self.now(), exists)? == 0)
            }
        }
    }

    /// Gives up, and deletes the replacement.
    pub(crate) fn abandon_list_rewrite(&mut self, rewrite: &ListRewrite) {
        let mut packed = PackedCommands::default();
        packed.add_command(&["UNWATCH"]);
        packed.add_command(&[b"DEL".as_slice(), &rewrite.replacement]);
        self.exchange_if_watching(rewrite, packed);
    }

    /// Sends commands once, only on the connection that watches the list.
    fn exchange_if_watching(
        &mut self,
        rewrite: &ListRewrite,
        packed: PackedCommands,
    ) -> Vec<Value> {
        let deadline = Instant::now() + self.call_timeout();
        if self.connection_number() == rewrite.connection {
            self.exchange_once(packed, deadline)
        } else {
            Vec::new()
        }
    }
}
