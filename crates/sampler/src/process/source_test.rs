use super::*;
use crate::testing::{Machine, events, read, try_read, value};

fn stat(pid: u32, start: u64, ticks: u64) -> String {
    format!("{pid} (redis-server) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {start} 100 10 0\n")
}

fn write(machine: &Machine, pid: u32, start: u64, ticks: u64, ns: (u64, u64)) {
    machine.write(&format!("proc/{pid}/stat"), &stat(pid, start, ticks));
    machine.write(&format!("proc/{pid}/statm"), "100 50 20 0 0 0 0\n");
    machine.write(&format!("proc/{pid}/fd/0"), "");
    machine.write(&format!("proc/{pid}/task/{pid}/children"), "");
    machine.write(&format!("proc/{pid}/task/{pid}/schedstat"), &format!("{} {} 9\n", ns.0, ns.1));
}

fn ticks(seconds: f64) -> u64 {
    (seconds * system::ticks_per_second() as f64) as u64
}

#[test]
fn cpu_memory_and_waiting() {
    let machine = Machine::new(&[("proc/uptime", "100.5 7.0\n")]);
    write(&machine, 77, ticks(40.0), ticks(10.0), (10_000_000_000, 1_000_000_000));
    let mut probe = ProcessTree::found("redis", Find::Once(77), machine.root());
    let first = read(&mut probe, 0);
    assert_eq!(value(&first, "process.redis.cpu"), None);
    assert_eq!(value(&first, "process.redis.memory.private"), Some(30.0 * system::page_size() as f64));
    assert_eq!(value(&first, "process.redis.age"), Some(60.5));
    write(&machine, 77, ticks(40.0), ticks(11.0), (11_000_000_000, 1_500_000_000));
    let second = read(&mut probe, 2000);
    assert_eq!(value(&second, "process.redis.cpu"), Some(0.5));
    assert_eq!(value(&second, "process.redis.cpu.busiest_thread"), Some(0.5));
    assert_eq!(value(&second, "process.redis.run_queue"), Some(0.25));
}

#[test]
fn a_restart_is_one_gap_and_one_event_of_each_kind() {
    let machine = Machine::new(&[("run/redis.pid", "77\n")]);
    write(&machine, 77, 40, 100_000, (1, 1));
    let file = machine.root().path("run/redis.pid");
    let mut probe = ProcessTree::found("redis", Find::PidFile(file), machine.root());
    read(&mut probe, 0);
    // The same number is given again, with a counter that starts anew.
    write(&machine, 77, 900, 2, (1, 1));
    let second = read(&mut probe, 1000);
    assert_eq!(events(&second), ["process ended", "process restarted"]);
    assert_eq!(value(&second, "process.redis.cpu"), None);
    write(&machine, 77, 900, 2 + ticks(0.5), (1, 1));
    let third = read(&mut probe, 2000);
    assert_eq!((value(&third, "process.redis.cpu"), events(&third).len()), (Some(0.5), 0));
}

#[test]
fn a_rule_finds_it_again_under_a_new_number() {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };
    let machine = Machine::new(&[]);
    write(&machine, 77, 40, 100_000, (1, 1));
    let pid = Arc::new(AtomicU32::new(77));
    let asked = pid.clone();
    let rule = move || Some(asked.load(Ordering::Relaxed)).filter(|pid| *pid > 0);
    let mut probe = ProcessTree::found("redis", Find::With(Box::new(rule)), machine.root());
    assert_eq!(value(&read(&mut probe, 0), "process.redis.cpu"), None, "a first reading");
    // Down: a gap with its reason.
    std::fs::remove_dir_all(machine.root().path("proc/77")).unwrap();
    pid.store(0, Ordering::Relaxed);
    let (down, result) = try_read(&mut probe, 1000);
    assert_eq!((events(&down), down.values().len()), (vec!["process ended"], 0));
    assert!(matches!(result, Err(SourceError::Failed(why)) if why.contains("redis is not there")));
    // Up again: an event, and no figure of what its counters had before.
    write(&machine, 99, 900, ticks(3.0), (3_000_000_000, 1));
    pid.store(99, Ordering::Relaxed);
    let up = read(&mut probe, 2000);
    assert_eq!(up.events(), [("process restarted".to_string(), "redis: 77, now 99".to_string())]);
    assert_eq!(value(&up, "process.redis.cpu"), None);
    assert_eq!(value(&up, "process.redis.processes"), Some(1.0));
    write(&machine, 99, 900, ticks(3.5), (3_500_000_000, 1));
    let next = read(&mut probe, 3000);
    assert_eq!((value(&next, "process.redis.cpu"), events(&next).len()), (Some(0.5), 0));
    assert_eq!(value(&next, "process.redis.cpu.busiest_thread"), Some(0.5));
}

#[test]
fn being_held_by_a_signal_is_an_event_when_it_begins_and_when_it_ends() {
    let machine = Machine::new(&[]);
    write(&machine, 77, 40, 5, (1, 1));
    let mut probe = ProcessTree::found("redis", Find::Once(77), machine.root());
    assert_eq!(events(&read(&mut probe, 0)), [""; 0]);
    machine.write("proc/77/stat", &stat(77, 40, 5).replace(") S", ") T"));
    assert_eq!(events(&read(&mut probe, 1000)), ["process stopped"]);
    assert_eq!(events(&read(&mut probe, 2000)), [""; 0], "said once");
    write(&machine, 77, 40, 5, (1, 1));
    assert_eq!(events(&read(&mut probe, 3000)), ["process continued"]);
}

#[test]
fn a_process_that_ended_is_not_taken_for_another_of_its_number() {
    let machine = Machine::new(&[]);
    write(&machine, 77, 40, 5, (1, 1));
    let mut probe = ProcessTree::found("redis", Find::Once(77), machine.root());
    read(&mut probe, 0);
    write(&machine, 77, 900, 5, (1, 1));
    let (readings, result) = try_read(&mut probe, 1000);
    assert_eq!(events(&readings), ["process ended"]);
    assert!(readings.values().is_empty());
    assert!(matches!(result, Err(SourceError::Unavailable(_))));
}

#[test]
fn one_that_is_not_there_yet_is_asked_for_again() {
    let machine = Machine::new(&[]);
    let mut probe = ProcessTree::found("redis", Find::Name("redis-server".into()), machine.root());
    assert!(matches!(try_read(&mut probe, 0).1, Err(SourceError::Failed(_))));
    write(&machine, 77, 40, 5, (1, 1));
    let found = read(&mut probe, 1000);
    assert_eq!((value(&found, "process.redis.processes"), events(&found).len()), (Some(1.0), 0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_of_this_process_is_seen_with_its_children() {
    use std::process::{Command, Stdio};
    let mut child =
        Command::new("sh").args(["-c", "sleep 60 & wait"]).stdin(Stdio::null()).spawn().expect("a shell");
    let mut probe = ProcessTree::new("shell", child.id());
    let from = std::time::Instant::now();
    // Until the shell has started its own child.
    let both = loop {
        let mut readings = Readings::new();
        probe.probe(crate::probe::now(), &mut readings).unwrap();
        if value(&readings, "process.shell.processes") == Some(2.0) || from.elapsed().as_secs() > 30 {
            break readings;
        }
        std::thread::yield_now();
    };
    let group: Vec<u32> =
        members::tree(&Root::system(), members::member(&Root::system(), child.id()).unwrap())
            .iter()
            .map(|m| m.pid)
            .collect();
    for pid in group.iter().rev() {
        let _ = Command::new("kill").arg(pid.to_string()).status();
    }
    child.wait().unwrap();
    assert_eq!(value(&both, "process.shell.processes"), Some(2.0));
    assert!(value(&both, "process.shell.descriptors").unwrap() >= 2.0);
    assert!(value(&both, "process.shell.age").unwrap() < 60.0);
    let (_, result) = try_read(&mut probe, 1_000_000_000);
    assert!(matches!(result, Err(SourceError::Unavailable(_))));
}
