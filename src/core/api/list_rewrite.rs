//! Replaces a whole list. The replacement grows in slices under another key. It takes the place of the list only if no
//! client has changed the list meanwhile, which `WATCH` detects.

use std::time::Instant;

use crate::core::call::connect::PackedCommands;
use crate::core::call::{Call, Core, Value};
use crate::error::Error;

/// Maximum number of entries that one command adds to the replacement.
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
    /// Begins to replace a list, and watches it for changes. The caller must read the list after this call, so that no
    /// change is overlooked.
    pub(crate) fn begin_list_rewrite(
        &mut self,
        key: &[u8],
        replacement: Vec<u8>,
    ) -> Result<ListRewrite, Error> {
        self.call::<()>(self.now(), Call::redis_read_command("WATCH").arg(key))?;
        Ok(ListRewrite {
            key: key.to_vec(),
            replacement,
            connection: self.connection_number(),
        })
    }

    /// Appends entries to the replacement, at most [`MAX_ADDED`]. Returns false if the connection that watches the list
    /// is gone, or if the server refused the entries: the caller must then abandon the rewrite.
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

    /// Puts the replacement in the place of the list. Returns false, without a change, if the list has changed
    /// meanwhile, or if the user may not rename keys.
    pub(crate) fn replace_if_unchanged(&mut self, rewrite: &ListRewrite) -> Result<bool, Error> {
        let mut packed = PackedCommands::default();
        packed.add_command(&["MULTI"]);
        packed.add_command(&[b"RENAME".as_slice(), &rewrite.replacement, &rewrite.key]);
        packed.add_command(&["EXEC"]);
        let replies = self.exchange_if_watching(rewrite, packed);
        match replies.last() {
            Some(Value::Array(done)) => Ok(matches!(done.as_slice(), [Value::Okay])),
            Some(_) => Ok(false),
            // The reply was lost. If the server renamed the replacement, its old key no longer exists.
            None => {
                let exists = Call::redis_read_command("EXISTS").arg(&rewrite.replacement);
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

    /// Sends commands once, only on the connection that watches the list. Returns no replies if that connection is
    /// gone.
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
