//! Random ids and passwords, and keeping the latter out of sight.

use std::fmt;

use rand::TryRng;
use rand::rngs::SysRng;

use crate::Error;

pub(crate) fn random_u32() -> Result<u32, Error> {
    SysRng.try_next_u32().map_err(|e| Error::io("asking the system for randomness")(std::io::Error::other(e)))
}

/// A password. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// 128 random bits as 32 hexadecimal digits: safe in every configuration file and URL.
    pub(crate) fn random() -> Result<Self, Error> {
        let mut text = String::with_capacity(32);
        for _ in 0..4 {
            text.push_str(&format!("{:08x}", random_u32()?));
        }
        Ok(Self(text))
    }

    pub(crate) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// `text` with every secret in it masked.
pub(crate) fn mask(text: String, secrets: &[Secret]) -> String {
    secrets.iter().fold(text, |text, secret| {
        if !secret.reveal().is_empty() && text.contains(secret.reveal()) {
            text.replace(secret.reveal(), "***")
        } else {
            text
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_not_shown() {
        let (a, b) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.reveal().len(), 32);
        assert_eq!(format!("{a:?}"), "***");
        let line = format!("bad line: requirepass {} ({})", a.reveal(), b.reveal());
        assert_eq!(mask(line, &[a, b]), "bad line: requirepass *** (***)");
    }
}
