//! The Lua sources in order, joined into one script; its SHA; line → file.

/// The joined script of one prefix.
#[derive(Debug)]
pub struct Script {
    text: String,
    sha: String,
}

impl Script {
    /// Joins the sources for a prefix.
    pub fn new(prefix: &str) -> Script {
        let text = format!("return '{prefix}'\n");
        let sha = sha1_smol::Sha1::from(&text).digest().to_string();
        Script { text, sha }
    }

    /// Returns what is loaded, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name that EVALSHA knows it by.
    pub fn sha(&self) -> &str {
        &self.sha
    }
}
