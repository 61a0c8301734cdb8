//! Bounds with units.

use crate::metric::Unit;

const TIMES: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("h", 3600e9),
];

const SIZES: [(&str, f64); 8] = [
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// Reads `20ms`, `0.1%`, `10,000`; the number comes in the unit's base (ns, ratio, per second, bytes).
pub(super) fn parse(text: &str, unit: Unit) -> Result<f64, String> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_' | '+' | '-')))
        .unwrap_or(text.len());
    let digits: String = text[..end].chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let number: f64 = digits.parse().map_err(|_| format!("{text:?} is no number"))?;
    let given = text[end..].trim();
    let units: &[(&str, f64)] = match unit {
        Unit::Time => &TIMES,
        Unit::Share => &[("", 1.0), ("%", 0.01)],
        Unit::Count => &[("", 1.0)],
        Unit::Rate => &[("", 1.0), ("/s", 1.0)],
        Unit::Bytes => &SIZES,
    };
    match units.iter().find(|(name, _)| *name == given) {
        // To the nanosecond, and shares by a division: 16.9 s and 0.1 % are then the numbers that a record holds.
        Some((_, factor)) if unit == Unit::Time => Ok((number * factor).round()),
        Some(("%", _)) => Ok(number / 100.0),
        Some((_, factor)) => Ok(number * factor),
        None if unit == Unit::Time && given.is_empty() => {
            Err(format!("{text:?} is a time without a unit: {text}ms, for one"))
        }
        None => {
            let names: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|n| !n.is_empty()).collect();
            let known = if names.is_empty() { "a plain number".into() } else { names.join(", ") };
            Err(format!("{given:?} is no unit of this figure: {known}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        for (text, unit, value) in [
            ("20ms", Unit::Time, 20e6),
            ("20 ms", Unit::Time, 20e6),
            ("1.5s", Unit::Time, 1.5e9),
            ("250µs", Unit::Time, 250e3),
            ("2min", Unit::Time, 120e9),
            ("0.1%", Unit::Share, 0.001),
            ("0.25", Unit::Share, 0.25),
            ("10,000/s", Unit::Rate, 10_000.0),
            ("10_000", Unit::Rate, 10_000.0),
            ("2GiB", Unit::Bytes, 2_147_483_648.0),
            ("0", Unit::Count, 0.0),
        ] {
            assert!((parse(text, unit).unwrap() - value).abs() <= value * 1e-12, "{text}");
        }
        for (text, unit) in [
            ("20", Unit::Time),
            ("20ms", Unit::Count),
            ("20%", Unit::Time),
            ("ms", Unit::Time),
            ("NaN", Unit::Rate),
            ("1.2.3", Unit::Rate),
            ("", Unit::Count),
        ] {
            assert!(parse(text, unit).is_err(), "{text}");
        }
    }
}
