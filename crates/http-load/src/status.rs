//! Which statuses are successes, and their names.

use load_core::ConfigError;
use std::fmt;

const FIRST: u16 = 100;
const LAST: u16 = 999;
const COUNT: usize = (LAST - FIRST + 1) as usize;

/// A set of statuses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Statuses([u64; COUNT.div_ceil(64)]);

impl Statuses {
    pub(crate) const fn none() -> Statuses {
        Statuses([0; COUNT.div_ceil(64)])
    }

    pub(crate) fn add(&mut self, from: u16, to: u16) -> Result<(), ConfigError> {
        if from > to || from < FIRST || to > LAST {
            let value = if from == to { from.to_string() } else { format!("{from}..={to}") };
            return Err(ConfigError::invalid("expect_status", value, "a status is 100 to 999"));
        }
        for status in from..=to {
            let bit = usize::from(status - FIRST);
            self.0[bit / 64] |= 1 << (bit % 64);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn contains(&self, status: u16) -> bool {
        let bit = usize::from(status.wrapping_sub(FIRST));
        self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

impl Default for Statuses {
    /// 200 to 399, as wrk has it.
    fn default() -> Statuses {
        let mut statuses = Statuses::none();
        statuses.add(200, 399).expect("a valid range");
        statuses
    }
}

/// As ranges: `200-399`.
impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut status = FIRST;
        while status <= LAST {
            if !self.contains(status) {
                status += 1;
                continue;
            }
            let from = status;
            while status < LAST && self.contains(status + 1) {
                status += 1;
            }
            if from == status {
                write!(f, "{separator}{from}")?;
            } else {
                write!(f, "{separator}{from}-{status}")?;
            }
            separator = ", ";
            status += 1;
        }
        Ok(())
    }
}

impl fmt::Debug for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const fn digits() -> [[u8; 3]; COUNT] {
    let mut table = [[0; 3]; COUNT];
    let mut i = 0;
    while i < COUNT {
        let status = i as u16 + FIRST;
        table[i] = [b'0' + (status / 100) as u8, b'0' + (status / 10 % 10) as u8, b'0' + (status % 10) as u8];
        i += 1;
    }
    table
}

static DIGITS: [[u8; 3]; COUNT] = digits();

/// The status as text, without allocating: a server that answers 429 at full speed is a normal target.
pub(crate) fn code(status: u16) -> &'static str {
    DIGITS
        .get(usize::from(status.wrapping_sub(FIRST)))
        .and_then(|d| std::str::from_utf8(d).ok())
        .unwrap_or("(no status)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_and_three_hundreds_are_successes_unless_told_otherwise() {
        let usual = Statuses::default();
        for (status, ok) in [(100, false), (199, false), (200, true), (399, true), (400, false), (999, false)]
        {
            assert_eq!(usual.contains(status), ok, "{status}");
        }
        assert_eq!(usual.to_string(), "200-399");
    }

    #[test]
    fn sets_are_shown_as_ranges() {
        let mut set = Statuses::none();
        set.add(404, 404).unwrap();
        set.add(200, 204).unwrap();
        set.add(999, 999).unwrap();
        assert_eq!(set.to_string(), "200-204, 404, 999");
    }

    #[test]
    fn a_status_that_cannot_be_is_refused_by_name_and_value() {
        let said = Statuses::none().add(99, 99).unwrap_err().to_string();
        assert!(said.starts_with("expect_status: 99 "), "{said}");
        assert!(Statuses::none().add(300, 200).is_err());
    }

    #[test]
    fn codes_are_the_three_digits() {
        assert_eq!((code(404), code(100), code(999), code(7)), ("404", "100", "999", "(no status)"));
    }
}
