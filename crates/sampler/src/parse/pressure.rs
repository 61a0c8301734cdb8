//! Pressure files: `/proc/pressure/*` and `*.pressure` of cgroup v2.

use super::lines;

/// Microseconds in which some, or all, tasks that were not idle waited. Cumulative, unlike the averages beside them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pressure {
    pub(crate) some_us: Option<u64>,
    pub(crate) full_us: Option<u64>,
}

pub(crate) fn pressure(bytes: &[u8]) -> Pressure {
    let mut pressure = Pressure::default();
    for line in lines(bytes) {
        let mut words = line.split_ascii_whitespace();
        let field = match words.next() {
            Some("some") => &mut pressure.some_us,
            Some("full") => &mut pressure.full_us,
            _ => continue,
        };
        *field = words.find_map(|word| word.strip_prefix("total=")?.parse().ok());
    }
    pressure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_had_no_full_line_at_first() {
        let old = pressure(b"some avg10=0.00 avg60=0.06 avg300=0.12 total=51334335\n");
        assert_eq!(old, Pressure { some_us: Some(51_334_335), full_us: None });
        let irq = pressure(b"full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n");
        assert_eq!(irq, Pressure { some_us: None, full_us: Some(77) });
        assert_eq!(pressure(b"some avg10=0.00 total=5133"), Pressure::default(), "cut");
    }
}
