//! `/proc/meminfo`.

use super::lines;

/// The values that are used, in bytes. Kernels before 3.14 and some containers do not tell `available`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total: Option<u64>,
    pub(crate) free: Option<u64>,
    pub(crate) available: Option<u64>,
    pub(crate) cached: Option<u64>,
    pub(crate) dirty: Option<u64>,
    pub(crate) swap_total: Option<u64>,
    pub(crate) swap_free: Option<u64>,
}

pub(crate) fn meminfo(bytes: &[u8]) -> Memory {
    let mut memory = Memory::default();
    for line in lines(bytes) {
        let Some((name, value)) = line.split_once(':') else { continue };
        let field = match name {
            "MemTotal" => &mut memory.total,
            "MemFree" => &mut memory.free,
            "MemAvailable" => &mut memory.available,
            "Cached" => &mut memory.cached,
            "Dirty" => &mut memory.dirty,
            "SwapTotal" => &mut memory.swap_total,
            "SwapFree" => &mut memory.swap_free,
            _ => continue,
        };
        *field = kilobytes(value);
    }
    memory
}

/// `  25276502 kB` in bytes.
fn kilobytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_does_not_tell_is_not_there() {
        let old =
            meminfo(b"MemTotal:        1923944 kB\nMemFree:          98304 kB\nCached:           51200 kB\n");
        assert_eq!((old.total, old.available), (Some(1_923_944 * 1024), None));
        let odd = meminfo(b"MemTotal: many kB\nMemFree: 7\nDirty: 99999999999999999999 kB\nSwapFree: 18446744073709551615 kB\n");
        assert_eq!(odd, Memory::default());
        assert_eq!(meminfo(b"MemTotal:        19239").total, None, "cut");
    }
}
