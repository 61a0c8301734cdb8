//! How often something happens.

use crate::ConfigError;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Events per second: finite and above zero. Fractions are normal (0.5/s is one every two seconds).
///
/// Written as `"500/s"`, `"2.5/s"`, `"30/min"`, `"10/h"`, `"10k/s"` or `"1.5M/s"`.
///
/// ```
/// use load_core::Rate;
/// let rate: Rate = "30/min".parse()?;
/// assert_eq!(rate.per_second(), 0.5);
/// assert!("-5/s".parse::<Rate>().unwrap_err().to_string().starts_with("rate: -5/s"));
/// # Ok::<(), load_core::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(f64);

/// The highest rate that is accepted: one event a nanosecond, the resolution of every time here.
const HIGHEST: f64 = 1e9;

impl Rate {
    /// A rate of so many events per second.
    ///
    /// # Errors
    /// When `per_second` is not finite, not above zero, or above 10⁹.
    pub fn new(per_second: f64) -> Result<Rate, ConfigError> {
        Rate::checked(per_second, per_second)
    }

    fn checked(per_second: f64, said: impl fmt::Display) -> Result<Rate, ConfigError> {
        if per_second.is_finite() && per_second > 0.0 && per_second <= HIGHEST {
            return Ok(Rate(per_second));
        }
        Err(ConfigError::invalid("rate", said, "a rate is above 0 and at most 1,000,000,000 per second"))
    }

    /// The same with 0 allowed, for what may stand still: one end of a ramp.
    pub(crate) fn checked_or_zero(per_second: f64, said: impl fmt::Display) -> Result<f64, ConfigError> {
        // -0.0 becomes 0.0.
        if per_second == 0.0 { Ok(0.0) } else { Rate::checked(per_second, said).map(Rate::per_second) }
    }

    /// Events per second.
    pub fn per_second(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl FromStr for Rate {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Rate, ConfigError> {
        Rate::checked(per_second(text)?, text)
    }
}

/// What a text says, not yet checked to be a rate.
fn per_second(text: &str) -> Result<f64, ConfigError> {
    let wrong =
        || ConfigError::invalid("rate", text, "write it as \"500/s\", \"30/min\", \"10/h\" or \"10k/s\"");
    let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
    let seconds = match unit.trim() {
        "s" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hour" => 3600.0,
        _ => return Err(wrong()),
    };
    let number = number.trim();
    let (digits, factor) = match number.as_bytes().last() {
        Some(b'k') => (&number[..number.len() - 1], 1e3),
        Some(b'M') => (&number[..number.len() - 1], 1e6),
        _ => (number, 1.0),
    };
    let value: f64 = digits.parse().map_err(|_| wrong())?;
    Ok(value * factor / seconds)
}

impl TryFrom<String> for Rate {
    type Error = ConfigError;
    fn try_from(text: String) -> Result<Rate, ConfigError> {
        text.parse()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> String {
        rate.to_string()
    }
}

/// What can be said where a rate is asked for: a [`Rate`], `"500/s"`, or a number of events per second.
pub trait IntoRate {
    /// The rate, checked.
    ///
    /// # Errors
    /// As [`Rate::new`] and the parser.
    fn into_rate(self) -> Result<Rate, ConfigError>;

    /// Events per second where standing still is allowed as well: `"0/s"` and `0.0` are 0.
    ///
    /// # Errors
    /// As [`Rate::new`] and the parser, but for 0.
    fn into_rate_or_zero(self) -> Result<f64, ConfigError>
    where
        Self: Sized,
    {
        self.into_rate().map(Rate::per_second)
    }
}

impl IntoRate for Rate {
    fn into_rate(self) -> Result<Rate, ConfigError> {
        Ok(self)
    }
}

impl IntoRate for &str {
    fn into_rate(self) -> Result<Rate, ConfigError> {
        self.parse()
    }

    fn into_rate_or_zero(self) -> Result<f64, ConfigError> {
        Rate::checked_or_zero(per_second(self)?, self)
    }
}

impl IntoRate for String {
    fn into_rate(self) -> Result<Rate, ConfigError> {
        self.parse()
    }

    fn into_rate_or_zero(self) -> Result<f64, ConfigError> {
        self.as_str().into_rate_or_zero()
    }
}

impl IntoRate for f64 {
    fn into_rate(self) -> Result<Rate, ConfigError> {
        Rate::new(self)
    }

    fn into_rate_or_zero(self) -> Result<f64, ConfigError> {
        Rate::checked_or_zero(self, self)
    }
}

impl IntoRate for u32 {
    fn into_rate(self) -> Result<Rate, ConfigError> {
        Rate::new(f64::from(self))
    }

    fn into_rate_or_zero(self) -> Result<f64, ConfigError> {
        f64::from(self).into_rate_or_zero()
    }
}

impl IntoRate for i32 {
    fn into_rate(self) -> Result<Rate, ConfigError> {
        Rate::new(f64::from(self))
    }

    fn into_rate_or_zero(self) -> Result<f64, ConfigError> {
        f64::from(self).into_rate_or_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        for (text, per_second) in [
            ("500/s", 500.0),
            ("0.5/s", 0.5),
            ("90/min", 1.5),
            ("36/h", 0.01),
            ("10k/s", 1e4),
            ("1.5M/s", 1.5e6),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert!((rate.per_second() - per_second).abs() < 1e-12, "{text}");
            assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
        }
    }

    #[test]
    fn bad_numbers_are_refused_by_field_and_value() {
        for bad in [0.0, -5.0, f64::NAN, f64::INFINITY, 2e9] {
            let said = Rate::new(bad).unwrap_err().to_string();
            assert!(said.starts_with(&format!("rate: {bad} ")), "{said}");
        }
        for bad in ["", "500", "x/s", "5/day", "0/s", "-1/s", "NaN/s", "inf/s"] {
            let said = bad.parse::<Rate>().unwrap_err().to_string();
            assert!(said.starts_with(&format!("rate: {bad} ")), "{said}");
        }
    }

    #[test]
    fn standing_still_is_allowed_only_where_asked_for() {
        for zero in ["0/s", "-0/s", "0/h"] {
            assert_eq!(zero.into_rate_or_zero().unwrap().to_bits(), 0);
            assert!(zero.into_rate().is_err());
        }
        assert_eq!((0).into_rate_or_zero().unwrap(), 0.0);
        assert_eq!("2/s".into_rate_or_zero().unwrap(), 2.0);
        assert!((-1.0).into_rate_or_zero().is_err() && "NaN/s".into_rate_or_zero().is_err());
    }
}
