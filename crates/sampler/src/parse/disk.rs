//! `/proc/diskstats`.

use super::lines;

/// Bytes of a sector in this file, whatever the device's own are.
pub(crate) const SECTOR: u64 = 512;

/// What a block device has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Disk<'a> {
    pub(crate) name: &'a str,
    pub(crate) reads: u64,
    pub(crate) sectors_read: u64,
    pub(crate) writes: u64,
    pub(crate) sectors_written: u64,
    /// Milliseconds with something in flight; a counter of 32 bits.
    pub(crate) busy_ms: u64,
    /// Milliseconds of all requests together; a counter of 32 bits.
    pub(crate) waited_ms: u64,
}

/// The devices. Lines of partitions of very old kernels, which have 7 columns, are passed over.
pub(crate) fn diskstats(bytes: &[u8]) -> impl Iterator<Item = Disk<'_>> {
    lines(bytes).filter_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(2);
        let name = words.next()?;
        let mut numbers = [0u64; 11];
        for number in &mut numbers {
            *number = words.next()?.parse().ok()?;
        }
        let [reads, _, sectors_read, _, writes, _, sectors_written, _, _, busy_ms, waited_ms] = numbers;
        Some(Disk { name, reads, sectors_read, writes, sectors_written, busy_ms, waited_ms })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_old_and_new_kernels() {
        let text = b" 254  0 vda 86875 10002 6772402 49913 263476 75649 16795368 75581 0 28128 133652 75473 0 9474496 6043 62758 2113\n   3    0   hda 446216 784926 9550688 4382310 424847 312726 5922052 19310380 0 3376340 23705160\n   3    1   hda1 35486 0 35496 38030\n";
        let disks: Vec<_> = diskstats(text).collect();
        assert_eq!(disks.len(), 2);
        assert_eq!(
            (disks[0].name, disks[0].writes, disks[0].busy_ms, disks[0].waited_ms),
            ("vda", 263_476, 28_128, 133_652)
        );
        assert_eq!(
            (disks[1].name, disks[1].sectors_written, disks[1].busy_ms),
            ("hda", 5_922_052, 3_376_340)
        );
    }
}
