//! Numbers with thousands separators.

use super::NONE;

/// A whole number: `468,828`.
pub(crate) fn count(n: u64) -> String {
    separate(&n.to_string())
}

/// A number with so many decimals; beyond 10^15 with an exponent.
pub(crate) fn fixed(x: f64, decimals: usize) -> String {
    if !x.is_finite() {
        NONE.into()
    } else if x.abs() >= 1e15 {
        format!("{x:.3e}")
    } else {
        separate(&format!("{x:.decimals$}"))
    }
}

/// A number with at least `digits` significant digits and at most `decimals` decimals: `0.932`, `32.29`, `1,234`.
pub(crate) fn significant(x: f64, digits: i32, decimals: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let whole = x.abs().log10().floor() as i32 + 1;
    fixed(x, (digits - whole.max(1)).clamp(0, decimals as i32) as usize)
}

/// Three significant digits and no zeros at the end: `0.0296`, `0.8`, `3`.
pub(crate) fn short(x: f64) -> String {
    if !x.is_finite() {
        return NONE.into();
    }
    if x == 0.0 {
        return "0".into();
    }
    let whole = x.abs().log10().floor() as i32 + 1;
    let text = fixed(x, (3 - whole).clamp(0, 9) as usize);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// A share as a percentage with two decimals: `77.29 %`. Not rounded to 0 or 100 when it is neither.
pub(crate) fn percent(share: f64) -> String {
    let p = share * 100.0;
    match p {
        p if !p.is_finite() => NONE.into(),
        p if p > 0.0 && p < 0.005 => "< 0.01 %".into(),
        p if p > 99.995 && p < 100.0 => "> 99.99 %".into(),
        p => format!("{} %", fixed(p, 2)),
    }
}

/// A size: `14.2 GiB`.
pub(crate) fn bytes(n: u64) -> String {
    let mut x = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] {
        if x < 1024.0 {
            return if unit == "B" { format!("{n} B") } else { format!("{} {unit}", significant(x, 3, 2)) };
        }
        x /= 1024.0;
    }
    format!("{} EiB", significant(x, 3, 2))
}

fn separate(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut text = String::with_capacity(number.len() + whole.len() / 3 + 1);
    text.push_str(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        for (n, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (468_828, "468,828"), (1_234_567, "1,234,567")]
        {
            assert_eq!(count(n), text);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(fixed(10_629.74, 2), "10,629.74");
        assert_eq!(fixed(-1234.5, 1), "-1,234.5");
        assert_eq!(fixed(f64::NAN, 2), "–");
        assert_eq!(fixed(1e300, 2), "1.000e300");
        assert_eq!(bytes(5470), "5.34 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        for (x, text) in
            [(0.0, "0"), (0.02956, "0.0296"), (0.8, "0.8"), (3.0, "3"), (1234.5, "1,234"), (100.0, "100")]
        {
            assert_eq!(short(x), text);
        }
        for (x, text) in [(0.9321, "0.932"), (9.3214, "9.321"), (32.291, "32.29"), (1234.4, "1,234")] {
            assert_eq!(significant(x, 4, 3), text);
        }
    }

    #[test]
    fn a_share_is_of_all() {
        assert_eq!(percent(1123.0 / (330.0 + 1123.0)), "77.29 %");
        assert_eq!(percent(1.0 / 1e9), "< 0.01 %");
        assert_eq!(percent(1.0 - 1e-9), "> 99.99 %");
        assert_eq!(percent(0.0), "0.00 %");
        assert_eq!(percent(1.0), "100.00 %");
        assert_eq!(percent(f64::NAN), "–");
    }
}
