//! The load generator itself, or its server, stands still in the middle of a run.

use crate::{figure, fired, run};
use openloop::{prelude::*, testbed::Known};
use openloop_tests::{Program, check};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const GENERATOR: &str = env!("CARGO_BIN_EXE_paced-generator");
const NGINX_STATIC: &str = env!("CARGO_BIN_EXE_example-nginx-static");
const STOPPED: &str = "load generator stopped";

/// A generator at 200/s that is stopped for `stop`, half a second after it began to measure for `measure`.
fn stopped_for(stop: Duration, measure: Duration, drain: Duration) -> Record {
    let server = Known::http().delay(Duration::from_millis(1)).start().unwrap();
    let state = tempfile::tempdir().unwrap();
    let ms = |d: Duration| d.as_millis().to_string();
    let arguments = [&server.url(), "200/s", &ms(measure), &ms(drain)];
    let mut generator = Program::start(GENERATOR, state.path(), &arguments);
    generator.wait_for("measuring");
    std::thread::sleep(Duration::from_millis(500));
    generator.signal(Signal::STOP);
    std::thread::sleep(stop);
    generator.signal(Signal::CONT);
    let ended = generator.end(Duration::from_secs(30));
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let record = report::read_json(&ended.stdout).unwrap();
    check(&record);
    record
}

/// The number before "arrivals were overdue" in the findings.
fn overdue(record: &Record) -> u64 {
    let findings = &record.streams[0].verdict.findings;
    let told = findings.iter().find_map(|f| f.split_once(" arrivals were overdue for that reason"));
    let (before, _) = told.unwrap_or_else(|| panic!("not told: {findings:?}"));
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn alone_a_stopped_generator_blamed_on_the_server() {
    let record = stopped_for(Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(2));
    let s = &record.streams[0];
    assert_eq!(s.accounting.scheduled, 800);
    let event = record.events.iter().find(|event| event.what == STOPPED).expect("it is told");
    let phase = &record.phases[0];
    assert!((phase.start_ns..phase.end_ns).contains(&event.t_ns), "{event:?} in {phase:?}");
    // 200/s for two seconds; those of the last 100 ms were not very late.
    let overdue = overdue(&record);
    assert!((360..=480).contains(&overdue), "{overdue} overdue");
    assert_ne!(s.verdict.status, Status::Valid);
    let lateness = fired(s, "lateness").expect("the rule that finds it");
    assert!(figure(s, "lateness_p99_us").unwrap() > 1_500_000.0, "{lateness}");
    // The server was well all the time, and it shows.
    assert!(s.service.as_ref().unwrap().p95_ns < 500_000_000, "{:?}", s.service);
}

#[test]
fn alone_a_generator_stopped_beyond_the_end_of_its_run_loses_its_results() {
    // Longer than anything in it may take: nothing of it was stuck.
    let record = stopped_for(Duration::from_millis(5_500), Duration::from_secs(1), Duration::ZERO);
    let s = &record.streams[0];
    assert_eq!(s.accounting.scheduled, 200);
    assert!(s.accounting.succeeded >= 60, "until then it worked: {:?}", s.accounting);
    assert!(record.events.iter().any(|event| event.what == STOPPED), "{:?}", record.events);
    assert_ne!(s.verdict.status, Status::Valid);
}

#[test]
fn alone_a_generator_stopped_while_it_connects_blames_the_server() {
    // For longer than its sessions may take to connect and than its workers may take to answer: nothing was stuck, and
    // nobody refused.
    let server = Known::http().delay(Duration::from_millis(1)).start().unwrap();
    let state = tempfile::tempdir().unwrap();
    let arguments = [&server.url(), "200/s", "1000", "1000", "1000"];
    let mut generator = Program::start(GENERATOR, state.path(), &arguments);
    generator.wait_for("connecting");
    generator.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(7_500));
    generator.signal(Signal::CONT);
    let ended = generator.end(Duration::from_secs(30));
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let record = report::read_json(&ended.stdout).unwrap();
    check(&record);
    let s = &record.streams[0];
    assert_eq!((s.connects.ok, s.connects.failed, s.connects.open_at_start), (4, 0, 4), "{:?}", s.connects);
    assert_eq!(s.accounting.scheduled, 200);
    let event = record.events.iter().find(|event| event.what == STOPPED).expect("it is told");
    assert!(event.t_ns < record.phases[0].start_ns, "{event:?}");
    // Nothing was due yet, so nothing was overdue.
    let told: Vec<_> = s.verdict.findings.iter().filter(|f| f.contains("was stopped")).collect();
    assert!(told.len() == 1 && told[0].contains("while sessions were connecting"), "{told:?}");
    assert!(!told[0].contains("overdue"), "{told:?}");
}

#[test]
fn alone_a_stopped_server_blamed_on_the_generator() {
    let server = Known::http().delay(Duration::from_millis(1)).start().unwrap();
    let load = Load::open(Schedule::constant(200.0).unwrap()).sessions(4).overload(Overload::Drop);
    let plan = Plan::new()
        .stream("s", Http::get(&server.url()).unwrap(), load)
        .measure(Duration::from_millis(2_500));
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while server.stats().requests < 100 && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.pause();
            std::thread::sleep(Duration::from_secs(1));
            server.resume();
        });
        run(plan)
    });
    let s = &record.streams[0];
    assert!(!record.events.iter().any(|event| event.what == STOPPED), "{:?}", record.events);
    assert!(!s.verdict.findings.iter().any(|f| f.contains("load generator")), "{:?}", s.verdict.findings);
    // Four were in flight, and the others of that second found no session free.
    assert!((150..=250).contains(&s.accounting.dropped), "{:?}", s.accounting);
    assert!(s.verdict.findings.iter().any(|f| f.contains("4 sessions were the limit")), "{:?}", s.verdict);
    assert!(s.service.as_ref().unwrap().max_ns > 900_000_000, "{:?}", s.service);
    assert!(s.lateness.as_ref().unwrap().p50_ns < 50_000_000, "{:?}", s.lateness);
    assert_ne!(s.verdict.status, Status::Rejected, "{:?}", s.verdict);
}

#[test]
fn a_second_interrupt_that_has_to_wait() {
    // The first one waits for what is in flight, up to the drain limit of five seconds; here it never ends.
    let server = Known::silent().start().unwrap();
    let state = tempfile::tempdir().unwrap();
    let arguments = ["--seconds", "60", "--warmup", "0", "--nginx", &server.url()];
    let mut program = Program::start(NGINX_STATIC, state.path(), &arguments);
    program.wait_for("measuring");
    program.signal(Signal::INT);
    program.wait_for("stopping");
    let second = Instant::now();
    // As people do it: again and again. One that comes in the same instant as the first may be taken for it.
    for _ in 0..10 {
        program.signal(Signal::INT);
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = program.end(Duration::from_secs(20));
    assert_eq!(ended.status, Some(130), "{ended:?}");
    assert!(second.elapsed() < Duration::from_secs(3), "{:?}", second.elapsed());
}
