//! The token that destructive calls and changes of many jobs require.

/// The operator's consent to a change. Destructive calls of the core and changes of many jobs take it as an argument, so
/// none of them can be made without it. Only `ui/ask.rs` grants it: for `--yes`, after a prompt, or if no question is needed.
/// `tests/architecture.rs` asserts that.
#[derive(Clone, Copy, Debug)]
pub struct Consent(());

impl Consent {
    pub fn grant() -> Consent {
        Consent(())
    }
}
