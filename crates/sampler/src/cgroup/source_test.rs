use super::*;
use crate::testing::{Machine, events, read, try_read, value};

const V2: &str = "sys/fs/cgroup/pod/app";

fn v2() -> Machine {
    let machine = Machine::new(&[
        ("proc/self/cgroup", "0::/pod/app\n"),
        ("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/pod/memory.max", "max\n"),
        ("sys/fs/cgroup/pod/app/cpu.max", "200000 100000\n"),
        ("sys/fs/cgroup/pod/app/memory.max", "1000000\n"),
        ("sys/fs/cgroup/pod/app/memory.current", "600000\n"),
        ("sys/fs/cgroup/pod/app/memory.stat", "anon 1\ninactive_file 100000\n"),
        ("sys/fs/cgroup/pod/app/memory.events", "low 0\nmax 3\noom 1\noom_kill 0\n"),
        ("sys/fs/cgroup/pod/app/io.stat", "8:0 rbytes=1000 wbytes=0 rios=1 wios=0\n"),
        ("sys/fs/cgroup/pod/app/pids.current", "7\n"),
        ("sys/fs/cgroup/pod/app/cpu.pressure", "some avg10=0.00 total=0\nfull avg10=0.00 total=0\n"),
    ]);
    cpu(&machine, 5_000_000, 10, 0);
    machine
}

fn cpu(machine: &Machine, usage_us: u64, periods: u64, throttled: u64) {
    let text = format!(
        "usage_usec {usage_us}\nnr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {throttled}000\n"
    );
    machine.write(&format!("{V2}/cpu.stat"), &text);
}

#[test]
fn cores_share_of_the_host_and_share_of_the_limit_are_three_series() {
    let machine = v2();
    let mut probe = Cgroup::of("app", &machine.root(), "self");
    let first = read(&mut probe, 0);
    assert_eq!(value(&first, "cgroup.app.cpu"), None);
    assert_eq!(value(&first, "cgroup.app.cpu.limit"), Some(1.5), "the lower one, of the group above");
    assert_eq!(value(&first, "cgroup.app.memory.used"), Some(500_000.0));
    assert_eq!(value(&first, "cgroup.app.memory.of_limit"), Some(0.5));
    cpu(&machine, 8_000_000, 30, 5);
    machine.write(&format!("{V2}/cpu.pressure"), "some avg10=0.00 total=500000\nfull avg10=0.00 total=0\n");
    machine.write(&format!("{V2}/memory.events"), "oom_kill 2\n");
    let second = read(&mut probe, 2000);
    assert_eq!(value(&second, "cgroup.app.cpu"), Some(1.5));
    assert_eq!(value(&second, "cgroup.app.cpu.of_host"), Some(0.375));
    assert_eq!(value(&second, "cgroup.app.cpu.of_limit"), Some(1.0));
    assert_eq!(value(&second, "cgroup.app.throttled"), Some(0.0025));
    assert_eq!(value(&second, "cgroup.app.throttled_periods"), Some(0.25));
    assert_eq!(value(&second, "cgroup.app.pressure.cpu.some"), Some(0.25));
    assert_eq!(value(&second, "cgroup.app.read"), Some(0.0));
    assert_eq!(events(&second), ["out of memory kill"]);
}

#[test]
fn no_limit_gives_no_share_of_it() {
    let machine = v2();
    for file in ["cpu.max", "memory.max"] {
        machine.write(&format!("{V2}/{file}"), "max\n");
        machine.write(
            &format!("sys/fs/cgroup/pod/{file}"),
            if file == "cpu.max" { "max 100000\n" } else { "max\n" },
        );
    }
    let mut probe = Cgroup::of("app", &machine.root(), "self");
    read(&mut probe, 0);
    cpu(&machine, 6_000_000, 0, 0);
    let second = read(&mut probe, 1000);
    assert_eq!(value(&second, "cgroup.app.cpu"), Some(1.0));
    assert_eq!(value(&second, "cgroup.app.memory.usage"), Some(600_000.0));
    for absent in ["cpu.limit", "cpu.of_limit", "memory.limit", "memory.of_limit", "throttled_periods"] {
        assert_eq!(value(&second, &format!("cgroup.app.{absent}")), None, "{absent}");
    }
}

#[test]
fn a_group_that_was_made_anew_is_one_gap_and_one_event() {
    let machine = v2();
    let mut probe = Cgroup::of("app", &machine.root(), "self");
    read(&mut probe, 0);
    cpu(&machine, 200_000, 1, 0);
    let second = read(&mut probe, 1000);
    assert_eq!(events(&second), ["restarted"]);
    assert_eq!(value(&second, "cgroup.app.cpu"), None);
    assert!(second.values().iter().all(|v| v.2 >= 0.0));
    cpu(&machine, 700_000, 2, 0);
    let third = read(&mut probe, 2000);
    assert_eq!((value(&third, "cgroup.app.cpu"), events(&third).len()), (Some(0.5), 0));
}

#[test]
fn v1_with_its_own_files_and_units() {
    let machine = Machine::new(&[
        ("proc/self/cgroup", "4:memory:/docker/ab\n3:blkio:/docker/ab\n2:cpu,cpuacct:/docker/ab\n0::/\n"),
        (
            "proc/self/mountinfo",
            "36 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
             37 31 0:30 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
             38 31 0:31 /docker/ab /sys/fs/cgroup/blkio ro - cgroup cgroup rw,blkio\n\
             39 31 0:32 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n",
        ),
        ("sys/devices/system/cpu/online", "0-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", "1000000000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/memory/memory.usage_in_bytes", "500\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/memory.stat", "cache 100\ntotal_cache 200\n"),
        ("sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes", "8:0 Read 0\n8:0 Write 0\nTotal 0\n"),
    ]);
    let mut probe = Cgroup::of("own", &machine.root(), "self");
    assert!(load_core::Source::origin(&probe).starts_with("cgroup v1 /sys/fs/cgroup/cpu,cpuacct"));
    read(&mut probe, 0);
    machine.write("sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", "1500000000\n");
    machine.write("sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes", "8:0 Read 0\n8:0 Write 4096\n");
    let second = read(&mut probe, 1000);
    assert_eq!(value(&second, "cgroup.own.cpu"), Some(0.5));
    assert_eq!(value(&second, "cgroup.own.cpu.of_host"), Some(0.25));
    assert_eq!(value(&second, "cgroup.own.cpu.of_limit"), Some(1.0));
    assert_eq!(value(&second, "cgroup.own.memory.used"), Some(300.0));
    assert_eq!(value(&second, "cgroup.own.memory.limit"), None);
    assert_eq!(value(&second, "cgroup.own.written"), Some(4096.0));
}

#[test]
fn nothing_to_see_is_unavailable_and_a_group_that_goes_is_a_gap() {
    let machine = Machine::new(&[]);
    let (_, result) = try_read(&mut Cgroup::of("own", &machine.root(), "self"), 0);
    assert!(matches!(result, Err(SourceError::Unavailable(_))));

    let machine = v2();
    let mut probe = Cgroup::of("app", &machine.root(), "4242");
    assert!(matches!(try_read(&mut probe, 0).1, Err(SourceError::Unavailable(_))), "no such process");

    // A group that was made anew while nobody looked may have used more than the one before.
    let mut probe = Cgroup::of("app", &machine.root(), "self");
    read(&mut probe, 0);
    machine.write(&format!("{V2}/cpu.stat"), "");
    machine.write(&format!("{V2}/memory.current"), "");
    assert!(matches!(try_read(&mut probe, 1000).1, Err(SourceError::Failed(why)) if why.contains("gone")));
    cpu(&machine, 6_000_000, 10, 0);
    let back = read(&mut probe, 2000);
    assert_eq!((events(&back), value(&back, "cgroup.app.cpu")), (vec!["restarted"], None));
}
