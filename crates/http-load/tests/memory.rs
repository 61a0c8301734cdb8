//! Memory, in a program of its own: no other test adds to it.

use http_load::Http;
use load_core::Load;
use load_engine::Plan;
use std::time::Duration;
use testbed::Known;

/// What this process has in memory, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn plan(server: &Known, count: u64) -> Plan {
    let page = Http::get(&server.url()).unwrap();
    Plan::new().stream("s", page, Load::closed(8)).measure_count(count).calibrate(Duration::ZERO)
}

#[test]
fn large_bodies_take_one_connection_each_and_no_memory() {
    const SIZE: u64 = 1 << 20;
    let server = Known::http().body(vec![b'x'; SIZE as usize]).start().unwrap();
    // Once to bring everything into memory that there will be.
    plan(&server, 100).run().unwrap();
    server.forget();
    let before = resident();
    let running = std::thread::spawn({
        let plan = plan(&server, 1000);
        move || plan.run()
    });
    let mut most = before;
    while !running.is_finished() {
        most = most.max(resident());
        std::thread::sleep(Duration::from_millis(20));
    }
    let record = running.join().unwrap().unwrap();
    let s = &record.streams[0];
    assert_eq!((s.accounting.succeeded, s.accounting.failed), (1000, 0), "{:?}", s.failures);
    assert_eq!((server.stats().connections, server.stats().requests), (8, 1000));
    assert_eq!(s.counters["body_bytes"], 1000 * SIZE);
    assert!(s.bytes_in > 1000 * SIZE && s.bytes_in < 1000 * (SIZE + 500), "{}", s.bytes_in);
    // The bodies are 1000 MiB; what one session holds of one is a part of it.
    assert!(most < before + 8 * 2 * 1024, "from {before} to {most} KiB");
}
