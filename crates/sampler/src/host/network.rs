//! Interfaces and TCP.

use crate::{
    counter::{Counters, Kind},
    files::{Kept, Root},
    parse::net,
    probe::{Probe, refused, source},
};
use load_core::{Readings, SourceError};
use std::{collections::HashMap, time::Duration};

/// `host.net.INTERFACE.*` and `host.tcp.*` from `/proc/net`: of the network namespace that this process is in.
///
/// | series | unit | what |
/// |---|---|---|
/// | `host.net.I.received`, `.sent` | B/s | of interfaces that have been used; the host's ends of containers' cables (`veth`) are left out |
/// | `host.net.I.packets_received`, `.packets_sent`, `.lost` | 1/s | `lost`: errors and drops, both ways |
/// | `host.net.I.of_link` | 1 | the busier direction as a share of the link's speed; absent where the driver tells none |
/// | `host.tcp.sent`, `.retransmitted` | 1/s | segments |
/// | `host.tcp.opened`, `.accepted`, `.failed`, `.resets` | 1/s | connections |
/// | `host.tcp.listen_overflows` | 1/s | connections that found a full listen queue |
/// | `host.tcp.timeouts` | 1/s | retransmission timers that ran out |
/// | `host.tcp.established`, `.time_wait` | sockets | now |
#[derive(Debug)]
pub struct HostNetwork {
    interfaces: Kept,
    snmp: Kept,
    netstat: Kept,
    sockets: Kept,
    root: Root,
    /// Bytes per second of each link; looked up once for each.
    speeds: HashMap<String, Option<f64>>,
    counters: Counters,
}

/// Series, group, column.
const SNMP: [(&str, &str); 6] = [
    ("sent", "OutSegs"),
    ("retransmitted", "RetransSegs"),
    ("opened", "ActiveOpens"),
    ("accepted", "PassiveOpens"),
    ("failed", "AttemptFails"),
    ("resets", "EstabResets"),
];
const NETSTAT: [(&str, &str); 2] = [("listen_overflows", "ListenOverflows"), ("timeouts", "TCPTimeouts")];

impl HostNetwork {
    /// Of this machine.
    pub fn new() -> HostNetwork {
        HostNetwork::below(&Root::system())
    }

    pub(crate) fn below(root: &Root) -> HostNetwork {
        let kept = |name: &str| Kept::new(root, format!("proc/net/{name}"));
        HostNetwork {
            interfaces: kept("dev"),
            snmp: kept("snmp"),
            netstat: kept("netstat"),
            sockets: kept("sockstat"),
            root: root.clone(),
            speeds: HashMap::new(),
            counters: Counters::default(),
        }
    }
}

impl Default for HostNetwork {
    fn default() -> HostNetwork {
        HostNetwork::new()
    }
}

/// Bytes per second in each direction. Tunnels and bridges say a number too, but it is no limit of theirs.
fn link_speed(root: &Root, name: &str) -> Option<f64> {
    let place = format!("sys/class/net/{name}");
    if !root.exists(&format!("{place}/device")) {
        return None;
    }
    // Megabits; -1, or an error, when it is not known.
    let megabits =
        root.line(&format!("{place}/speed"))?.parse::<u32>().ok().filter(|m| *m > 0 && *m < u32::MAX)?;
    Some(f64::from(megabits) * 1e6 / 8.0)
}

source!(HostNetwork, |_this| "/proc/net");

impl Probe for HostNetwork {
    fn probe(&mut self, at: Duration, readings: &mut Readings) -> Result<(), SourceError> {
        self.counters.begin(at);
        let counters = &mut self.counters;
        let interfaces = self.interfaces.read();
        let refusal = interfaces.as_ref().err().map(|e| refused("proc/net/dev", e));
        for i in net::interfaces(interfaces.unwrap_or_default()) {
            if i.name.starts_with("veth") || i.received_packets == 0 && i.sent_packets == 0 {
                continue;
            }
            let first = readings.values().len();
            let mut rate = |readings: &mut Readings, name: &str, kind: Kind, count: u64| {
                counters.rate(readings, &format!("host.net.{}.{name}", i.name), kind, count);
            };
            rate(readings, "received", Kind::BYTES, i.received_bytes);
            rate(readings, "sent", Kind::BYTES, i.sent_bytes);
            if !self.speeds.contains_key(i.name) {
                self.speeds.insert(i.name.into(), link_speed(&self.root, i.name));
            }
            let busier = readings.values()[first..].iter().map(|v| v.2).max_by(f64::total_cmp);
            if let (Some(busier), Some(Some(speed))) = (busier, self.speeds.get(i.name)) {
                readings.value(format!("host.net.{}.of_link", i.name), "1", busier / speed);
            }
            rate(readings, "packets_received", Kind::EVENTS, i.received_packets);
            rate(readings, "packets_sent", Kind::EVENTS, i.sent_packets);
            rate(readings, "lost", Kind::EVENTS, i.lost);
        }
        for (file, group, columns) in
            [(&mut self.snmp, "Tcp", &SNMP[..]), (&mut self.netstat, "TcpExt", &NETSTAT[..])]
        {
            let Ok(bytes) = file.read() else { continue };
            for (name, column) in columns {
                if let Some(count) = net::paired(bytes, group, column) {
                    counters.rate(readings, &format!("host.tcp.{name}"), Kind::EVENTS, count);
                }
            }
            if let Some(now) = net::paired(bytes, group, "CurrEstab") {
                readings.value("host.tcp.established", "sockets", now as f64);
            }
        }
        if let Some(now) = self.sockets.read().ok().and_then(|bytes| net::sockstat(bytes, "TCP", "tw")) {
            readings.value("host.tcp.time_wait", "sockets", now as f64);
        }
        counters.end();
        refusal.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Machine, events, read, try_read, value};

    fn dev(received: u64, sent: u64) -> String {
        format!(
            "Inter-| x\n face |y\n  eth0: {received} 5 0 0 0 0 0 0 {sent} 5 0 1 0 0 0 0\nveth12: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
        )
    }

    #[test]
    fn rates_of_interfaces_and_tcp() {
        let machine = Machine::new(&[
            ("proc/net/dev", &dev(1000, 10)),
            ("proc/net/snmp", "Tcp: CurrEstab OutSegs RetransSegs\nTcp: 4 100 1\n"),
            ("proc/net/netstat", "TcpExt: ListenOverflows TCPTimeouts\nTcpExt: 0 0\n"),
            ("proc/net/sockstat", "TCP: inuse 7 orphan 0 tw 3 alloc 9 mem 1\n"),
        ]);
        let mut probe = HostNetwork::below(&machine.root());
        let first = read(&mut probe, 0);
        assert_eq!(first.values().len(), 2, "only what needs no earlier reading: {:?}", first.values());
        machine.write("proc/net/dev", &dev(3000, 10));
        machine.write("proc/net/snmp", "Tcp: CurrEstab OutSegs RetransSegs\nTcp: 5 300 11\n");
        let second = read(&mut probe, 2000);
        assert_eq!(value(&second, "host.net.eth0.received"), Some(1000.0));
        assert_eq!(value(&second, "host.net.eth0.sent"), Some(0.0));
        assert_eq!(value(&second, "host.net.veth12.sent"), None);
        assert_eq!(value(&second, "host.tcp.retransmitted"), Some(5.0));
        assert_eq!(value(&second, "host.tcp.listen_overflows"), Some(0.0));
        assert_eq!(value(&second, "host.tcp.established"), Some(5.0));
        assert_eq!(value(&second, "host.tcp.time_wait"), Some(3.0));
    }

    #[test]
    fn a_share_of_the_link_where_its_speed_is_known() {
        for (speed, device, share) in [
            ("1000\n", true, Some(0.8)),
            ("-1\n", true, None),
            ("", true, None),
            ("4294967295\n", true, None),
            ("10\n", false, None),
        ] {
            let machine = Machine::new(&[("proc/net/dev", &dev(0, 0)), ("sys/class/net/eth0/speed", speed)]);
            if device {
                machine.write("sys/class/net/eth0/device/vendor", "0x8086\n");
            }
            let mut probe = HostNetwork::below(&machine.root());
            assert_eq!(value(&read(&mut probe, 0), "host.net.eth0.of_link"), None);
            machine.write("proc/net/dev", &dev(50_000_000, 100_000_000));
            assert_eq!(value(&read(&mut probe, 1000), "host.net.eth0.of_link"), share, "{speed:?} {device}");
        }
    }

    #[test]
    fn counters_of_32_bits_wrap_and_an_interface_that_comes_back_is_new() {
        let machine = Machine::new(&[("proc/net/dev", &dev((1 << 32) - 100, 50))]);
        let mut probe = HostNetwork::below(&machine.root());
        read(&mut probe, 0);
        machine.write("proc/net/dev", &dev(100, 50));
        assert_eq!(value(&read(&mut probe, 1000), "host.net.eth0.received"), Some(200.0));
        machine.write("proc/net/dev", "Inter-| x\n face |y\n");
        read(&mut probe, 2000);
        machine.write("proc/net/dev", &dev(7, 1));
        let back = read(&mut probe, 3000);
        assert_eq!((value(&back, "host.net.eth0.received"), events(&back).len()), (None, 0));
    }

    #[test]
    fn no_file_is_unavailable() {
        let machine = Machine::new(&[]);
        let (_, result) = try_read(&mut HostNetwork::below(&machine.root()), 0);
        assert!(matches!(result, Err(SourceError::Unavailable(_))));
    }
}
