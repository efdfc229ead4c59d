//! The one table style; the only user of comfy-table.
