//! `/proc/net/dev`, `snmp`, `netstat` and `sockstat`.

use super::{lines, number};

/// What a network interface has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interface<'a> {
    pub(crate) name: &'a str,
    pub(crate) received_bytes: u64,
    pub(crate) received_packets: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) sent_packets: u64,
    /// Errors and drops, both ways.
    pub(crate) lost: u64,
}

/// The interfaces; the two lines of headings have no numbers.
pub(crate) fn interfaces(bytes: &[u8]) -> impl Iterator<Item = Interface<'_>> {
    lines(bytes).filter_map(|line| {
        // The name may hold a colon (an alias), the numbers do not; old kernels put no space after the colon.
        let (name, numbers) = line.rsplit_once(':')?;
        let mut words = numbers.split_ascii_whitespace();
        let mut n = [0u64; 12];
        for n in &mut n {
            *n = number(&mut words)?;
        }
        let lost = [n[2], n[3], n[10], n[11]].iter().fold(0u64, |sum, x| sum.saturating_add(*x));
        Some(Interface {
            name: name.trim(),
            received_bytes: n[0],
            received_packets: n[1],
            sent_bytes: n[8],
            sent_packets: n[9],
            lost,
        })
    })
}

/// A value of `/proc/net/snmp` or `netstat`, where a line of names is followed by one of numbers: `("Tcp", "OutSegs")`.
pub(crate) fn paired(bytes: &[u8], group: &str, name: &str) -> Option<u64> {
    let mut names = None;
    for line in lines(bytes) {
        let Some(rest) = line.strip_prefix(group).and_then(|rest| rest.strip_prefix(':')) else { continue };
        match names {
            None => names = Some(rest),
            Some(names) => {
                let column = names.split_ascii_whitespace().position(|n| n == name)?;
                return rest.split_ascii_whitespace().nth(column)?.parse().ok();
            }
        }
    }
    None
}

/// A value of `/proc/net/sockstat`, whose lines are pairs of name and number: `("TCP", "tw")`.
pub(crate) fn sockstat(bytes: &[u8], group: &str, name: &str) -> Option<u64> {
    lines(bytes).find_map(|line| {
        let mut words = line.strip_prefix(group)?.strip_prefix(':')?.split_ascii_whitespace();
        words.find(|word| *word == name)?;
        number(&mut words)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_of_old_and_new_kernels() {
        let text = b"Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    lo: 2776770   11307    0    0    0     0          0         0  2776770   11307    0    0    0     0       0          0\n  eth0:1215645    2751    1    2    0     0          0         0  1782404    4324    3    4    0   427       0          0\nbr0:1: 5 6 0 0 0 0 0 0 7 8 0 0 0 0 0 0\n";
        let found: Vec<_> = interfaces(text).collect();
        assert_eq!(found.iter().map(|i| i.name).collect::<Vec<_>>(), ["lo", "eth0", "br0:1"]);
        assert_eq!((found[1].received_bytes, found[1].sent_packets, found[1].lost), (1_215_645, 4324, 10));
    }

    #[test]
    fn columns_are_found_by_name() {
        let snmp = b"Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm MaxConn OutSegs RetransSegs\nTcp: 1 -1 17774 12\n";
        assert_eq!(paired(snmp, "Tcp", "RetransSegs"), Some(12));
        assert_eq!(paired(snmp, "Tcp", "MaxConn"), None, "-1 is no count");
        assert_eq!(paired(snmp, "Tcp", "InCsumErrors"), None, "an older kernel");
        assert_eq!(paired(b"Tcp: RtoAlgorithm RetransSegs\n", "Tcp", "RetransSegs"), None, "cut");
        let sockets = b"sockets: used 290\nTCP: inuse 7 orphan 0 tw 3 alloc 9 mem 1\nUDP: inuse 2 mem 0\n";
        assert_eq!(sockstat(sockets, "TCP", "tw"), Some(3));
        assert_eq!(sockstat(sockets, "UDP", "tw"), None);
    }
}
