//! Everything that reads a machine, against the files of other machines.

use crate::{
    Cgroup, HostCpu, HostDisks, HostLoad, HostMemory, HostNetwork, HostPressure,
    environment::of as environment,
    probe::Probe,
    stolen::StolenClock,
    testing::{fixture, try_read, value},
};
use load_core::{Readings, SourceError};

/// Reads twice, a second apart.
fn twice(mut probe: impl Probe) -> Result<Readings, SourceError> {
    try_read(&mut probe, 0).1?;
    let (readings, result) = try_read(&mut probe, 1000);
    result.map(|()| readings)
}

fn unavailable(result: Result<Readings, SourceError>) -> bool {
    matches!(result, Err(SourceError::Unavailable(_)))
}

#[test]
fn an_old_kernel() {
    let root = fixture("centos6");
    let e = environment(&root);
    assert_eq!(e.kernel.as_deref(), Some("2.6.32-754.el6.x86_64"));
    assert_eq!(e.virtualisation.as_deref(), Some("none"));
    assert_eq!(e.memory_bytes, Some(8_061_224 * 1024));
    // The files stand still, which no CPU does.
    assert!(matches!(twice(HostCpu::below(&root)), Err(SourceError::Failed(_))));
    let memory = twice(HostMemory::below(&root)).unwrap();
    assert_eq!(value(&memory, "host.memory.available"), None);
    assert_eq!(value(&memory, "host.swap.used"), Some((4_194_300 - 4_190_112) as f64 * 1024.0));
    let disks = twice(HostDisks::below(&root)).unwrap();
    assert_eq!(value(&disks, "host.disk.sda.read"), Some(0.0));
    assert_eq!(value(&disks, "host.disk.sda1.read"), None);
    let network = twice(HostNetwork::below(&root)).unwrap();
    assert_eq!(value(&network, "host.net.eth0.received"), Some(0.0));
    assert_eq!(value(&network, "host.tcp.retransmitted"), Some(0.0));
    assert_eq!(value(&network, "host.tcp.listen_overflows"), None, "no netstat file here");
    assert!(unavailable(twice(HostPressure::below(&root))));
    assert!(unavailable(twice(Cgroup::of("own", &root, "self"))));
}

#[test]
fn a_sandbox_that_shows_zeros_for_what_it_does_not_count() {
    let root = fixture("gvisor");
    assert!(unavailable(twice(HostCpu::below(&root))));
    assert!(unavailable(twice(HostLoad::below(&root))));
    assert_eq!(StolenClock::open(&root, None).read(), None);
    let memory = twice(HostMemory::below(&root)).unwrap();
    assert_eq!(value(&memory, "host.memory.available"), Some(1_900_012.0 * 1024.0));
    assert_eq!(environment(&root).virtualisation.as_deref(), Some("gvisor"));
}

#[test]
fn a_container_on_cgroup_1() {
    let root = fixture("docker-cgroup1");
    let e = environment(&root);
    assert_eq!(e.virtualisation.as_deref(), Some("docker"));
    assert_eq!(e.os.as_deref(), Some("Alpine Linux v3.19"));
    assert_eq!(e.more["cpu_limit_cores"], 1.5);
    assert_eq!(e.more["memory_limit_bytes"], 268_435_456);
    assert_eq!(e.memory_bytes, Some(16_284_172 * 1024), "the host's, beside the limit");
    let group = twice(Cgroup::of("own", &root, "self")).unwrap();
    assert_eq!(value(&group, "cgroup.own.cpu.limit"), Some(1.5));
    assert_eq!(value(&group, "cgroup.own.memory.used"), Some(161_222_656.0));
    assert_eq!(value(&group, "cgroup.own.tasks"), Some(23.0));
    assert_eq!(value(&group, "cgroup.own.read"), Some(0.0));
    assert_eq!(StolenClock::open(&root, None).read(), Some(812_330_011));
}

#[test]
fn a_container_on_cgroup_2_in_a_virtual_machine() {
    let root = fixture("podman-cgroup2");
    let e = environment(&root);
    assert_eq!(e.virtualisation.as_deref(), Some("podman in qemu"));
    assert_eq!(e.more.get("memory_limit_bytes"), None, "max is no limit");
    let group = twice(Cgroup::of("own", &root, "self")).unwrap();
    assert_eq!(value(&group, "cgroup.own.cpu.limit"), Some(1.5));
    assert_eq!(value(&group, "cgroup.own.memory.used"), Some(41_364_992.0));
    assert_eq!(value(&group, "cgroup.own.memory.limit"), None);
    assert_eq!(value(&group, "cgroup.own.pressure.cpu.full"), Some(0.0));
    let pressure = twice(HostPressure::below(&root)).unwrap();
    assert_eq!(value(&pressure, "host.pressure.cpu.full"), None);
    assert_eq!(value(&pressure, "host.pressure.io.full"), Some(0.0));
}

#[test]
fn linux_below_windows() {
    let e = environment(&fixture("wsl2"));
    assert_eq!(e.virtualisation.as_deref(), Some("wsl2"));
    assert_eq!(e.kernel.as_deref(), Some("5.15.153.1-microsoft-standard-WSL2"));
    assert_eq!(e.more["clocksource"], "tsc");
}

#[test]
fn linux_below_windows_is_read_like_any_other() {
    let root = fixture("wsl2");
    let e = environment(&root);
    assert_eq!(e.os.as_deref(), Some("Ubuntu 24.04.1 LTS"));
    assert_eq!(e.more["kernel_build"], "#1 SMP Fri Mar 29 23:14:13 UTC 2024");
    assert_eq!(e.more["disk_models"]["sdc"], "Virtual Disk");
    assert_eq!(e.more.get("windows_build"), None, "a made-up machine is not asked");
    let disks = twice(HostDisks::below(&root)).unwrap();
    assert_eq!(value(&disks, "host.disk.sdc.busy"), Some(0.0));
    assert!(disks.values().iter().all(|(name, ..)| !name.contains("ram0") && !name.contains("loop0")));
    let network = twice(HostNetwork::below(&root)).unwrap();
    assert_eq!(value(&network, "host.net.eth0.of_link"), Some(0.0));
    assert_eq!(value(&network, "host.net.bond0.sent"), None, "never used");
    assert_eq!(value(&network, "host.net.lo.of_link"), None, "no link");
    let load = twice(HostLoad::below(&root)).unwrap();
    assert_eq!(value(&load, "host.tasks"), Some(312.0));
}

#[test]
fn a_kernel_4_without_pressure_on_metal() {
    let root = fixture("debian9");
    let e = environment(&root);
    assert_eq!(e.os.as_deref(), Some("Debian GNU/Linux 9 (stretch)"));
    assert_eq!(e.virtualisation.as_deref(), Some("none"));
    assert_eq!(e.more["kernel_build"], "#1 SMP Debian 4.9.320-2 (2022-06-30)");
    assert_eq!(e.more["governor"], "performance, powersave", "both of them");
    assert_eq!(e.more["clocksource"], "hpet");
    assert_eq!(e.more["disk_models"]["nvme0n1"], "Samsung SSD 970 EVO Plus 500GB");
    assert_eq!(e.more["descriptors"], 1024);
    for absent in ["smt", "cpu_limit_cores", "memory_limit_bytes", "mitigations"] {
        assert_eq!(e.more.get(absent), None, "{absent}");
    }
    assert!(unavailable(twice(HostPressure::below(&root))));
    let memory = twice(HostMemory::below(&root)).unwrap();
    assert_eq!(value(&memory, "host.memory.available"), Some(13_876_512.0 * 1024.0));
    assert_eq!(value(&memory, "host.memory.major_faults"), Some(0.0));
    let disks = twice(HostDisks::below(&root)).unwrap();
    assert_eq!(value(&disks, "host.disk.nvme0n1.queue"), Some(0.0));
    for absent in ["sda1", "nvme0n1p1", "sr0"] {
        assert_eq!(value(&disks, &format!("host.disk.{absent}.busy")), None, "{absent}");
    }
    let network = twice(HostNetwork::below(&root)).unwrap();
    assert_eq!(value(&network, "host.net.enp3s0.of_link"), Some(0.0));
    assert_eq!(value(&network, "host.tcp.established"), Some(14.0));
    let group = twice(Cgroup::of("own", &root, "self")).unwrap();
    assert_eq!(value(&group, "cgroup.own.cpu"), Some(0.0));
    assert_eq!(value(&group, "cgroup.own.memory.used"), Some(100_000_455.0));
    for absent in ["cpu.limit", "memory.limit", "read", "tasks", "pressure.cpu.some"] {
        assert_eq!(value(&group, &format!("cgroup.own.{absent}")), None, "{absent}");
    }
}

/// Whatever was cut off in the middle of a reading is a gap or an absent figure, and never a wrong one.
#[test]
fn files_cut_short_give_the_figure_or_none() {
    let whole = fixture("debian9");
    let files = ["stat", "meminfo", "vmstat", "diskstats", "loadavg", "net/dev", "net/snmp"];
    let texts: Vec<String> =
        files.iter().map(|f| whole.text(&format!("proc/{f}")).expect("a fixture")).collect();
    let read = |root: &crate::files::Root| {
        let mut all = Vec::new();
        let mut add = |result: Result<Readings, SourceError>| {
            all.extend(result.iter().flat_map(|r| r.values().to_vec()));
        };
        add(twice(HostCpu::below(root)));
        add(twice(HostLoad::below(root)));
        add(twice(HostMemory::below(root)));
        add(twice(HostDisks::below(root)));
        add(twice(HostNetwork::below(root)));
        all
    };
    let machine = crate::testing::Machine::new(&[]);
    for (file, text) in files.iter().zip(&texts) {
        machine.write(&format!("proc/{file}"), text);
    }
    let right = read(&machine.root());
    assert!(right.len() > 20, "{right:?}");
    for (file, text) in files.iter().zip(&texts) {
        for cut in (0..text.len()).step_by(text.len() / 40 + 1) {
            machine.write(&format!("proc/{file}"), &text[..cut]);
            for value in read(&machine.root()) {
                assert!(right.contains(&value), "{value:?} of {file} cut at {cut}");
            }
        }
        machine.write(&format!("proc/{file}"), text);
    }
}

#[test]
fn a_small_board() {
    let root = fixture("arm32");
    let e = environment(&root);
    assert_eq!(e.cpu_model.as_deref(), Some("ARMv7 Processor rev 4 (v7l), Raspberry Pi 3 Model B Rev 1.2"));
    assert_eq!(e.more["governor"], "ondemand");
    assert_eq!(e.virtualisation, None, "nothing to judge by is not none");
    let network = twice(HostNetwork::below(&root)).unwrap();
    assert_eq!(value(&network, "host.net.eth0.received"), Some(0.0));
    assert!(unavailable(twice(HostDisks::below(&root))));
}

#[test]
fn a_virtual_machine_made_of_a_container_image() {
    let root = fixture("firecracker");
    let e = environment(&root);
    assert_eq!(e.virtualisation.as_deref(), Some("kvm"), "the mark of a container is in the image only");
    assert_eq!(e.more["smt"], "notsupported");
    let disks = twice(HostDisks::below(&root)).unwrap();
    assert_eq!(value(&disks, "host.disk.vda.busy"), Some(0.0));
    let network = twice(HostNetwork::below(&root)).unwrap();
    assert_eq!(value(&network, "host.net.ifb0.sent"), None, "never used");
    assert!(value(&network, "host.tcp.time_wait").is_some());
    assert!(StolenClock::open(&root, None).read().is_some());
}

/// CPU time, not time: this holds on a busy machine too.
#[test]
#[cfg(target_os = "linux")]
fn all_of_it_once_a_second_costs_less_than_a_hundredth_of_a_core() {
    use crate::{FreeSpace, Generator, ProcessTree, ThreadClock};
    let mut tree = ProcessTree::new("own", std::process::id());
    let (mut cpu, mut load, mut memory) = (HostCpu::new(), HostLoad::new(), HostMemory::new());
    let (mut pressure, mut disks, mut network) = (HostPressure::new(), HostDisks::new(), HostNetwork::new());
    let (mut space, mut group, mut generator) =
        (FreeSpace::new("root", "/"), Cgroup::own("own"), Generator::new());
    generator.threads().add("0", ThreadClock::current());
    let mut values = 0;
    let mut read = |at| {
        let probes: [&mut dyn Probe; 10] = [
            &mut cpu,
            &mut load,
            &mut memory,
            &mut pressure,
            &mut disks,
            &mut network,
            &mut space,
            &mut group,
            &mut generator,
            &mut tree,
        ];
        for probe in probes {
            let mut readings = Readings::new();
            // What this machine has not costs nothing.
            let _ = probe.probe(std::time::Duration::from_secs(at), &mut readings);
            values += readings.values().len();
        }
    };
    read(0);
    let clock = ThreadClock::current();
    let start = clock.read().unwrap().cpu_ns;
    for at in 1..=100 {
        read(at);
    }
    let each = (clock.read().unwrap().cpu_ns - start) / 100;
    assert!(each < 10_000_000, "{each} ns for each round of readings");
    assert!(values > 100 * 30, "{values} values");
    println!("{each} ns for each round of readings, {} values in each", values / 101);
}
