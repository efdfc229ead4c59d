//! Reading values that other clients may have written in any form.

use serde::{Deserialize, Deserializer};

/// Reads a value for `deserialize_with`; `None` if it is nil or cannot be read.
pub(crate) fn read_or_none<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(deserializer).ok())
}
