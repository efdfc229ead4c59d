//! The token that destructive calls take.

/// The operator's consent to a change: destructive core calls take one, so that none is made
/// without. Only `ui/ask.rs` grants it, from `--yes`, a prompt, or where no question is needed;
/// `tests/architecture.rs` holds that.
#[derive(Clone, Copy, Debug)]
pub struct Consent(());

impl Consent {
    /// Grants consent.
    pub fn grant() -> Consent {
        Consent(())
    }
}
