//! The one error of this crate: a setting that cannot be meant.

/// A setting was refused. Nothing has been connected or started when this is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A field has a value that is out of range or makes no sense.
    #[error("{field}: {value} is not allowed: {reason}")]
    Invalid {
        /// The name of the setting, as the builder calls it.
        field: String,
        /// The value that was refused, as text.
        value: String,
        /// What is allowed, in words.
        reason: String,
    },
}

impl ConfigError {
    /// An [`Invalid`](ConfigError::Invalid) setting.
    pub fn invalid(
        field: impl Into<String>,
        value: impl std::fmt::Display,
        reason: impl Into<String>,
    ) -> ConfigError {
        ConfigError::Invalid { field: field.into(), value: value.to_string(), reason: reason.into() }
    }

    /// The same refusal under the name that the setting has where it was given.
    pub(crate) fn named(self, name: impl Into<String>) -> ConfigError {
        let ConfigError::Invalid { value, reason, .. } = self;
        ConfigError::Invalid { field: name.into(), value, reason }
    }
}
