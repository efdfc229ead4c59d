//! Arguments that several rooms share.

use clap::Args;

/// On every command that writes.
#[derive(Clone, Debug, Args)]
pub struct DryRun {
    /// Show what would be done, change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}
