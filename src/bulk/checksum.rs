//! The checksums of the lines of an undo file: an altered line is refused.
//!
//! The last field of a line, `sum`, is the beginning of the SHA-256 of all that stands before it.
//! Files of earlier versions have lines without it. From the first line that has one, each line must
//! have one: otherwise an altered name of the field would hide an altered line.

use sha2::{Digest, Sha256};

/// The text between the rest of a line and its checksum.
const FIELD: &[u8] = br#","sum":""#;

/// The text after the checksum.
const END: &[u8] = br#""}"#;

/// The number of hex digits of a checksum.
const DIGITS: usize = 16;

/// Why a line is refused.
const ALTERED: &str = "it was altered after it was written";

/// Adds the checksum to a JSON document that has at least one field.
pub(crate) fn with_checksum(document: &[u8]) -> Vec<u8> {
    let content = document.strip_suffix(b"}").unwrap_or(document);
    [content, FIELD, checksum(content).as_bytes(), END].concat()
}

/// Verifies the bytes behind the last line end. The beginning of a line is accepted: a crash cut it off. A
/// complete line with its checksum and one more byte is refused: its line end was altered.
pub(crate) fn refuse_altered_line_end(bytes: &[u8]) -> Result<(), String> {
    let line = bytes.split_last().map(|(_, line)| line);
    match line.and_then(split_checksum) {
        Some((content, sum)) if checksum(content).as_bytes() == sum => Err(ALTERED.to_owned()),
        _ => Ok(()),
    }
}

/// Verifies the lines of a file, in their order.
#[derive(Debug, Default)]
pub(crate) struct LineChecksumVerifier {
    /// Whether a line had a checksum, so that each further one must have one.
    is_required: bool,
}

impl LineChecksumVerifier {
    /// Verifies the next line.
    pub(crate) fn verify_checksum_of_line(&mut self, line: &[u8]) -> Result<(), String> {
        let intact = match split_checksum(line.trim_ascii()) {
            Some((content, sum)) => {
                self.is_required = true;
                checksum(content).as_bytes() == sum
            }
            None => !self.is_required,
        };
        if intact {
            Ok(())
        } else {
            Err(ALTERED.to_owned())
        }
    }
}

/// Splits a line into the text that its checksum covers, and the checksum.
fn split_checksum(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(END)?;
    let (line, sum) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((line.strip_suffix(FIELD)?, sum))
}

fn checksum(content: &[u8]) -> String {
    let hash = Sha256::digest(content);
    let bytes = hash.iter().take(DIGITS / 2);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_beginning_of_the_sha_256() {
        // printf '{"slice":0,"plan":[]' | sha256sum | cut -c1-16
        let line = with_checksum(br#"{"slice":0,"plan":[]}"#);
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, r#"{"slice":0,"plan":[],"sum":"5f9a51c7fb8af832"}"#);
    }
}
