//! Known answers in virtual time: exact, and the same at every run.

use load_core::{
    Accounting, ArrivalProcess, ArrivalStream, Class, Failure, Load, Op, Outcome, Overload, Record, Schedule,
    SessionId, VirtualTime, Workload, record::StreamRecord, with_session, workload,
};
use load_engine::{AbortWhen, Plan};
use std::{
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

const MS: u64 = 1_000_000;

/// A server that takes `service`, except that it answers nothing within the stall.
fn server(time: &VirtualTime, service: Duration, stall: std::ops::Range<u64>) -> impl Workload + use<> {
    let time = time.clone();
    workload(async move |_op: &mut Op| -> Outcome {
        let end = time.now() + service.as_nanos() as u64;
        let end = if stall.contains(&end) || stall.contains(&time.now()) {
            stall.end + service.as_nanos() as u64
        } else {
            end
        };
        time.sleep_until(end).await;
        Ok(())
    })
}

fn one(record: &Record) -> &StreamRecord {
    assert_eq!(record.streams.len(), 1);
    let stream = &record.streams[0];
    assert!(stream.accounting.balances(), "{:?}", stream.accounting);
    stream
}

fn books(scheduled: u64, succeeded: u64, dropped: u64, skipped: u64, unfinished: u64) -> Accounting {
    let mut a = Accounting::default();
    (a.scheduled, a.succeeded, a.dropped, a.skipped, a.unfinished) =
        (scheduled, succeeded, dropped, skipped, unfinished);
    a.started = succeeded;
    a
}

#[test]
fn coordinated_omission_a_stall_shows_in_every_response_and_in_one_service_time() {
    let time = VirtualTime::new();
    // 100/s, 1 ms each, one session; the server stalls from 2 s to 3 s.
    let record = Plan::new()
        .stream(
            "s",
            server(&time, Duration::from_millis(1), 2_000 * MS..3_000 * MS),
            Load::open(Schedule::constant(100.0).unwrap()).sessions(1),
        )
        .measure(Duration::from_secs(5))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!(s.accounting, books(500, 500, 0, 0, 0));
    let (response, service) = (s.response.as_ref().unwrap(), s.service.as_ref().unwrap());
    // The arrival at 2.000 s is served at 3.001 s; those behind it one ms apart: the k-th after it waited 10 k ms less and
    // k ms more, so response is 1001 − 9 k ms until it is 1 ms again.
    let mut expected: Vec<u64> = vec![MS; 500];
    for (k, e) in expected.iter_mut().enumerate().skip(200) {
        let k = (k - 200) as u64;
        if 9 * k < 1000 {
            *e = (1001 - 9 * k) * MS
        }
    }
    expected.sort_unstable();
    for decile in 1..=10 {
        let rank = expected[decile * 50 - 1];
        let h = response.histogram().unwrap();
        let got = h.quantile(decile as f64 / 10.0).unwrap();
        assert!(got.abs_diff(rank) <= rank / 500, "decile {decile}: {got} instead of {rank}");
    }
    assert_eq!(response.max_ns, 1001 * MS);
    let mean = expected.iter().sum::<u64>() as f64 / 500.0;
    assert!((response.mean_ns - mean).abs() < 1.0, "{} {mean}", response.mean_ns);
    assert_eq!((service.max_ns, service.min_ns), (1001 * MS, MS));
    assert!(service.p99_ns <= MS + MS / 1000, "one slow operation");
    assert_eq!(s.lateness.as_ref().unwrap().max_ns, 0, "the pacer was punctual");
}

/// What each operation was told of its instants: number, intended, started, present.
type Told = std::sync::Mutex<Vec<(u64, u64, u64, u64)>>;

#[test]
fn an_operation_knows_when_it_was_due_and_when_it_started() {
    let run = |load: Load| {
        let (time, told) = (VirtualTime::new(), Arc::new(Told::default()));
        let (own, ops) = (time.clone(), told.clone());
        let work = workload(async move |op: &mut Op| -> Outcome {
            let (seq, now) = (op.seq(), own.now());
            ops.lock().unwrap().push((seq, op.intended(), op.started_at(), now));
            own.sleep(Duration::from_millis(15)).await;
            op.mark("sleep");
            assert_eq!((op.started_at(), op.marked_at()), (now, own.now()), "the start stays, marks go on");
            Ok(())
        });
        let plan = Plan::new().stream("s", work, load).warmup(Duration::from_millis(100));
        let record = plan.measure(Duration::from_millis(200)).virtual_time(time).run().unwrap();
        (record, std::mem::take(&mut *told.lock().unwrap()))
    };
    // 100/s to one session of 15 ms: the k-th operation is due at 10 k ms and starts at 15 k ms, in the warm-up too.
    let (record, told) = run(Load::open(Schedule::constant(100.0).unwrap()).sessions(1));
    let base = told[0].1;
    for (k, (_, intended, started, now)) in told.iter().enumerate() {
        assert_eq!((intended - base, started - base, now), (k as u64 * 10 * MS, k as u64 * 15 * MS, started));
    }
    let wait = one(&record).wait.as_ref().unwrap();
    let last = told.last().unwrap();
    assert_eq!(wait.max_ns, last.2 - last.1, "what it is told is what is recorded");
    // A closed loop is never late.
    let (_, told) = run(Load::closed(2));
    assert_eq!(told.len(), 2 * 300usize.div_ceil(15));
    assert!(told.iter().all(|(_, intended, started, now)| intended == started && started == now), "{told:?}");
}

#[test]
fn every_overload_policy_keeps_its_limit_and_its_books() {
    // Capacity 5/s (one session of 200 ms), offered 10/s for 10 s: 100 arrivals. (A session that comes free at the very
    // instant of an arrival may be seen or not; 199 ms is no such tie.)
    let run = |overload: Overload, sessions: usize| {
        let service = Duration::from_millis(if overload == Overload::Drop { 199 } else { 200 });
        let time = VirtualTime::new();
        let load = Load::open(Schedule::constant(10.0).unwrap()).sessions(sessions).overload(overload);
        Plan::new()
            .stream("s", server(&time, service, 0..0), load)
            .measure(Duration::from_secs(10))
            .virtual_time(time)
            .run()
            .unwrap()
    };
    let dropped = run(Overload::Drop, 1);
    assert_eq!(one(&dropped).accounting, books(100, 50, 50, 0, 0));
    // Queue without a limit: 50 start within the phase, the rest wait when it ends.
    let queued = run(Overload::queue(1000), 1);
    assert_eq!(one(&queued).accounting, books(100, 50, 0, 0, 50));
    assert_eq!(one(&queued).censored.as_ref().unwrap().count, 50);
    // A queue of 10: one in service and ten waiting; then every second arrival is dropped.
    let limited = run(Overload::queue(10), 1);
    let a = one(&limited).accounting;
    assert_eq!((a.succeeded, a.unfinished), (50, 10));
    assert_eq!(a.dropped, 40);
    assert!(one(&limited).wait.as_ref().unwrap().max_ns <= 11 * 200 * MS);
    // Skipped when more than 300 ms late.
    let skipped = run(Overload::skip_late(Duration::from_millis(300)), 1);
    let a = one(&skipped).accounting;
    assert!(a.skipped > 40 && a.succeeded >= 49, "{a:?}");
    assert!(one(&skipped).wait.as_ref().unwrap().max_ns <= 300 * MS);
    // Two sessions are enough, and two are what Expand opens.
    let expanded = run(Overload::expand(4), 1);
    assert_eq!(one(&expanded).accounting.succeeded, 100);
    assert!((2..=4).contains(&one(&expanded).connects.ok));
    let aborted = run(Overload::Abort, 1);
    assert!(aborted.interrupted);
    let a = one(&aborted).accounting;
    assert!(a.dropped >= 1 && a.balances());
    for record in [&dropped, &queued, &limited, &skipped] {
        let finding = &record.verdict.findings[0];
        assert!(
            finding.contains("of 100 operations") && finding.contains("1 sessions were the limit"),
            "{finding}"
        );
    }
}

#[test]
fn a_capped_catch_up_is_kept() {
    let time = VirtualTime::new();
    // 1000/s, the server stalls for 5 s of 15; no second may have more than 1500 starts.
    let load = Load::open(Schedule::constant(1000.0).unwrap())
        .sessions(50)
        .overload(Overload::queue_capped(100_000, 1.5));
    let starts: Arc<[AtomicU64; 30]> = Arc::default();
    let (own, clock, second) = (starts.clone(), time.clone(), 1_000 * MS);
    let counted = workload(async move |_op: &mut Op| {
        let now = clock.now();
        own[(now / second) as usize].fetch_add(1, Relaxed);
        let end = if (2 * second..7 * second).contains(&now) { 7 * second } else { now + MS };
        clock.sleep_until(end).await;
        Ok(())
    });
    let record = Plan::new()
        .stream("s", counted, load)
        .measure(Duration::from_secs(20))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    let per_second: Vec<_> = starts.iter().map(|n| n.load(Relaxed)).collect();
    assert!(per_second.iter().all(|n| *n <= 1510), "{per_second:?}");
    assert!(per_second[8] >= 1450, "it does catch up: {per_second:?}");
    assert_eq!(s.accounting.succeeded, 20_000);
    assert!(s.load.overload.as_ref().unwrap().contains("1.5"));
}

/// Starts in each second of a stream that is offered 1000/s for 5 s and answered nothing from 2 s to 7 s, when nothing is
/// scheduled any more.
fn starts_after_the_schedule(schedule: Schedule) -> Vec<u64> {
    let time = VirtualTime::new();
    let load = Load::open(schedule).sessions(50).overload(Overload::queue_capped(100_000, 1.5));
    let starts: Arc<[AtomicU64; 30]> = Arc::default();
    let (own, clock, second) = (starts.clone(), time.clone(), 1_000 * MS);
    let counted = workload(async move |_op: &mut Op| {
        let now = clock.now();
        own[(now / second) as usize].fetch_add(1, Relaxed);
        let end = if (2 * second..7 * second).contains(&now) { 7 * second } else { now + MS };
        clock.sleep_until(end).await;
        Ok(())
    });
    let plan = Plan::new().stream("s", counted, load).measure(Duration::from_secs(20));
    let record = plan.virtual_time(time).run().unwrap();
    assert_eq!(one(&record).accounting.succeeded, 5_000);
    starts.iter().map(|n| n.load(Relaxed)).collect()
}

/// Arrivals of a process that does not say what its rate is.
struct Unrated;

impl ArrivalProcess for Unrated {
    fn start(&self, _: u64) -> Box<dyn ArrivalStream> {
        struct Stream(u64);
        impl ArrivalStream for Stream {
            fn next(&mut self) -> Option<u64> {
                self.0 += 1;
                (self.0 <= 5_000).then_some((self.0 - 1) * MS)
            }
        }
        Box::new(Stream(0))
    }

    fn describe(&self) -> String {
        "5000 arrivals".into()
    }
}

#[test]
fn a_capped_catch_up_is_kept_where_the_schedule_has_no_rate() {
    let five = || Schedule::constant(1000.0).unwrap().lasting(Duration::from_secs(5)).unwrap();
    let paused = five().then(Schedule::pause(Duration::from_secs(60)).unwrap()).unwrap();
    for (what, schedule) in
        [("a pause", paused), ("its end", five()), ("a process", Schedule::process(Unrated))]
    {
        let starts = starts_after_the_schedule(schedule);
        assert!(starts.iter().all(|n| *n <= 1_510), "{what}: {starts:?}");
        // 3,000 less the 50 in flight waited, and 1,500 of them start in a second.
        assert!(
            starts[7] > 1_400 && starts[8] > 1_400 && starts[9..].iter().all(|n| *n == 0),
            "{what}: {starts:?}"
        );
    }
}

#[test]
fn what_waits_for_a_server_that_is_stuck_is_bounded_whatever_the_policy() {
    // 60,000 at 1 s and 60,000 at 2 s.
    let twice = || (0..120_000).map(|i| Duration::from_secs(1 + i / 60_000));
    let run = |overload: Overload| {
        let time = VirtualTime::new();
        let stuck = workload(async |_: &mut Op| std::future::pending::<Outcome>().await);
        let load = Load::open(Schedule::replay(twice()).unwrap()).sessions(1).overload(overload);
        let plan = Plan::new().stream("s", stuck, load).measure(Duration::from_secs(3));
        let record = plan.drain(Duration::ZERO).virtual_time(time).run().unwrap();
        let a = one(&record).accounting;
        assert_eq!((a.scheduled, a.succeeded), (120_000, 0));
        (a.dropped, a.skipped, a.unfinished)
    };
    let most = load_core::MAX_WAITING as u64;
    // What is in flight, and all that wait.
    let (single, four) = (most + 1, most + 4);
    assert_eq!(run(Overload::queue(500)), (120_000 - 501, 0, 501));
    assert_eq!(run(Overload::skip_late(Duration::from_millis(10))), (0, 120_000 - single, single));
    assert_eq!(run(Overload::skip_late(Duration::from_secs(3600))), (120_000 - single, 0, single));
    assert_eq!(run(Overload::expand(4)), (120_000 - four, 0, four));
}

#[test]
fn steps_of_connecting_are_kept_apart_from_those_of_operations() {
    let time = VirtualTime::new();
    let (clock, c2) = (time.clone(), time.clone());
    let same_names = with_session(
        async move |_: &SessionId| {
            clock.sleep(Duration::from_millis(40)).await;
            Ok(())
        },
        async move |(), op: &mut Op| {
            c2.sleep(Duration::from_millis(10)).await;
            op.mark("open");
            Ok(())
        },
    );
    // A session that says the same names as its operations do.
    struct Says<W>(W);
    impl<W: Workload> Workload for Says<W> {
        type Session = W::Session;
        async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<W::Session, Failure> {
            let session = self.0.connect(id, op).await?;
            op.mark("open");
            Ok(session)
        }
    }
    let plan = Plan::new().stream("s", Says(same_names), Load::closed(2));
    let record = plan.measure(Duration::from_secs(1)).virtual_time(time).run().unwrap();
    let s = one(&record);
    let (own, connecting) = (&s.steps["open"], &s.connects.steps["open"]);
    assert_eq!((own.count, own.min_ns, own.max_ns), (s.accounting.succeeded, 10 * MS, 10 * MS));
    assert_eq!((connecting.count, connecting.min_ns, connecting.max_ns), (2, 40 * MS, 40 * MS));
}

#[test]
fn settings_that_would_be_ignored_are_refused_before_anything_connects() {
    let connected = Arc::new(AtomicU64::new(0));
    let plan = || {
        let own = connected.clone();
        let connect = async move |_: &SessionId| {
            own.fetch_add(1, Relaxed);
            Ok(())
        };
        Plan::new().stream("s", with_session(connect, async |(), _: &mut Op| Ok(())), Load::closed(1))
    };
    let closed = Load::closed(2).overload(Overload::skip_late(Duration::from_secs(1)));
    let none: [u64; 0] = [];
    for (plan, said) in [
        (plan().levels(none, |_| Load::closed(1)), "levels: [] "),
        (plan().levels([1], |_| closed.clone()), "overload: skip when 1s late "),
        (
            plan().stream("t", workload(async |_: &mut Op| Ok(())), closed.clone()),
            "overload: skip when 1s late ",
        ),
    ] {
        let error = plan.run().unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
    assert_eq!(connected.load(Relaxed), 0);
}

#[test]
fn counts_are_exact_for_any_rate_and_split() {
    for (rate, seconds, sessions, workers, expected) in [
        (0.5, 10, 1, 1, 5),
        (2.5, 8, 4, 2, 20),
        (10.0, 5, 64, 64, 50),
        (10.0, 5, 10, 10, 50),
        (78.0 * 50.0, 5, 50, 50, 19_500),
        (30.0, 30, 7, 3, 900),
    ] {
        let time = VirtualTime::new();
        let load = Load::open(Schedule::constant(rate).unwrap()).sessions(sessions).workers(workers);
        let record = Plan::new()
            .stream("s", server(&time, Duration::from_micros(100), 0..0), load)
            .measure(Duration::from_secs(seconds))
            .virtual_time(time)
            .run()
            .unwrap();
        let s = one(&record);
        assert_eq!(s.accounting, books(expected, expected, 0, 0, 0), "{rate}/s over {workers} workers");
        assert_eq!(s.elapsed_ns, seconds * 1_000 * MS);
        assert!((s.succeeded_per_s - expected as f64 / seconds as f64).abs() < 1e-9);
        assert_eq!(s.wait.as_ref().unwrap().max_ns, 0, "evenly spaced, no backlog");
    }
}

#[test]
fn closed_loop_by_count_is_exact() {
    for (count, sessions, workers) in [(401, 400, 1), (1, 200, 3), (10, 3, 2), (1000, 7, 7)] {
        let time = VirtualTime::new();
        let record = Plan::new()
            .stream(
                "s",
                server(&time, Duration::from_millis(10), 0..0),
                Load::closed(sessions).workers(workers),
            )
            .measure_count(count)
            .virtual_time(time)
            .run()
            .unwrap();
        assert_eq!(one(&record).accounting, books(count, count, 0, 0, 0), "{count} over {sessions}");
        assert!(one(&record).elapsed_ns >= 10 * MS);
    }
}

#[test]
fn open_loop_by_count_is_exact_and_spares_the_rest_of_the_time() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream(
            "s",
            server(&time, Duration::from_millis(1), 0..0),
            Load::open(Schedule::constant(10.0).unwrap()).sessions(3),
        )
        .measure_count(201)
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!(s.accounting, books(201, 201, 0, 0, 0));
    assert_eq!(s.elapsed_ns, 20_001 * MS, "from the first start to the last end");
}

#[test]
fn the_warm_up_is_counted_apart_and_nothing_is_lost_between() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream(
            "s",
            server(&time, Duration::from_millis(300), 0..0),
            Load::open(Schedule::constant(10.0).unwrap()).sessions(10),
        )
        .warmup(Duration::from_secs(2))
        .measure(Duration::from_secs(3))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!(s.accounting, books(30, 30, 0, 0, 0));
    assert_eq!(s.warmup.accounting, books(20, 20, 0, 0, 0));
    assert_eq!(s.carried_in, 3, "those of the last 300 ms");
    // Three of the phase's own ended in the drain; three windows and the drain's hold all of them.
    let windows: Vec<_> = s.windows.iter().map(|w| (w.drain, w.succeeded)).collect();
    assert_eq!(windows, [(false, 7), (false, 10), (false, 10), (true, 3)]);
    assert_eq!(s.succeeded_per_s, 9.0, "ended within the phase, over the phase");
    assert_eq!(s.drain_ns, 200 * MS);
}

#[test]
fn a_server_that_never_answers_is_censored_at_the_drain_limit_and_carried_in() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream("s", workload(async |_op: &mut Op| std::future::pending::<Outcome>().await), Load::closed(20))
        .warmup(Duration::from_secs(1))
        .measure(Duration::from_secs(2))
        .drain(Duration::from_secs(3))
        .virtual_time(time.clone())
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!((s.accounting.scheduled, s.carried_in, s.warmup.accounting.unfinished), (0, 20, 20));
    assert_eq!(record.verdict.status, load_core::Status::Rejected, "an empty phase is no measurement");
    let record = Plan::new()
        .stream("s", workload(async |_op: &mut Op| std::future::pending::<Outcome>().await), Load::closed(20))
        .measure(Duration::from_secs(2))
        .drain(Duration::from_secs(3))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    let mut expected = books(20, 0, 0, 0, 20);
    expected.started = 20;
    assert_eq!(s.accounting, expected);
    assert_eq!(s.censored.as_ref().unwrap().min_ns, 5_000 * MS);
    assert_eq!((s.response.as_ref(), s.drain_ns), (None, 3_000 * MS));
}

#[test]
fn a_panic_is_a_failure_and_the_session_is_replaced() {
    let time = VirtualTime::new();
    let clock = time.clone();
    let panics = workload(async move |op: &mut Op| {
        clock.sleep(Duration::from_millis(10)).await;
        assert!(op.seq() % 10 != 3, "a bad one");
        Ok(())
    });
    let record = Plan::new()
        .stream("s", panics, Load::open(Schedule::constant(100.0).unwrap()).sessions(8))
        .measure(Duration::from_secs(1))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!((s.accounting.scheduled, s.accounting.succeeded, s.accounting.failed), (100, 90, 10));
    assert_eq!(
        (s.failures[0].class, s.failures[0].code.as_str(), s.failures[0].count),
        (Class::Panic, "in an operation", 10)
    );
    assert_eq!(s.failures[0].example, "panic (in an operation): a bad one");
    assert_eq!(s.connects.ok, 18, "eight, and one for each that was lost");
}

#[test]
fn connections_that_are_lost_are_opened_again_with_a_back_off() {
    let time = VirtualTime::new();
    let (clock, attempts) = (time.clone(), Arc::new(AtomicU64::new(0)));
    let tries = attempts.clone();
    // The server is gone from 1 s on.
    let (c2, second) = (time.clone(), 1_000 * MS);
    let flaky = with_session(
        async move |_: &SessionId| {
            tries.fetch_add(1, Relaxed);
            if clock.now() >= second {
                Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))?
            }
            Ok(())
        },
        async move |(), _op: &mut Op| {
            c2.sleep(Duration::from_millis(10)).await;
            if c2.now() >= second {
                Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))?
            }
            Ok(())
        },
    );
    let record = Plan::new()
        .stream("s", flaky, Load::closed(5))
        .measure(Duration::from_secs(20))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert_eq!((s.accounting.failed, s.accounting.unknown), (5, 5));
    assert_eq!(s.failures[0].class, Class::Reset);
    assert_eq!(s.connects.failures[0].class, Class::Connect);
    assert_eq!(s.connects.failures[0].code, "refused");
    assert_eq!(s.connects.failed + s.connects.ok, attempts.load(Relaxed));
    // Doubling from 1 ms to 1 s: about 10 attempts, then at least one a second and a half each.
    assert!((5 * 15..5 * 35).contains(&s.connects.failed), "{}", s.connects.failed);
    assert_eq!(s.elapsed_ns, 20_000 * MS);
    assert!(
        s.verdict.evidence["in_flight"].number().unwrap() > 0.95,
        "sessions that reconnect count as busy"
    );
}

#[test]
fn a_stream_that_cannot_connect_is_named() {
    let refused = with_session(
        async |_: &SessionId| {
            Err::<(), Failure>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into())
        },
        async |(), _op: &mut Op| Ok(()),
    );
    let error = Plan::new()
        .stream("nginx", refused, Load::closed(3))
        .virtual_time(VirtualTime::new())
        .run()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("nginx") && text.contains("0 of 3") && text.contains("refused"), "{text}");
}

#[test]
fn levels_rotate_and_rounds_repeat() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream("s", server(&time, Duration::from_millis(5), 0..0), Load::closed(1))
        .levels([1, 2, 4], |c| Load::closed(*c))
        .measure(Duration::from_secs(1))
        .rounds(3)
        .virtual_time(time)
        .run()
        .unwrap();
    let order: Vec<_> = record.streams.iter().map(|s| (s.round, s.level.as_str())).collect();
    let expected = [(1, "1"), (1, "2"), (1, "4"), (2, "2"), (2, "4"), (2, "1"), (3, "4"), (3, "1"), (3, "2")];
    assert_eq!(order, expected);
    for s in &record.streams {
        assert!(
            (s.succeeded_per_s - 200.0 * s.level.parse::<f64>().unwrap()).abs() <= 4.0 * 1.0,
            "{}",
            s.succeeded_per_s
        );
    }
}

#[test]
fn two_streams_share_one_clock_and_are_never_merged() {
    let time = VirtualTime::new();
    let record = Plan::new()
        .stream(
            "poll",
            server(&time, Duration::from_millis(2), 0..0),
            Load::open(Schedule::constant(1.0).unwrap()).sessions(1),
        )
        .stream(
            "main",
            server(&time, Duration::from_micros(500), 0..0),
            Load::open(Schedule::constant(10_000.0).unwrap()).sessions(50),
        )
        .measure(Duration::from_secs(6))
        .virtual_time(time)
        .run()
        .unwrap();
    let scheduled: Vec<_> =
        record.streams.iter().map(|s| (s.name.as_str(), s.accounting.scheduled)).collect();
    assert_eq!(scheduled, [("poll", 6), ("main", 60_000)]);
    assert_eq!(record.streams[0].response.as_ref().unwrap().max_ns, 2 * MS);
    assert_eq!(record.streams[0].verdict.status, load_core::Status::Suspect, "n = 6");
}

#[test]
fn set_up_is_outside_of_the_measured_time() {
    let time = VirtualTime::new();
    let (clock, c2) = (time.clone(), time.clone());
    let slow = with_session(
        async move |id: &SessionId| {
            clock.sleep(Duration::from_secs(1 + id.index() as u64 % 3)).await;
            Ok(())
        },
        async move |(), _op: &mut Op| {
            c2.sleep(Duration::from_millis(10)).await;
            Ok(())
        },
    );
    let record = Plan::new()
        .stream("s", slow, Load::closed(6))
        .measure(Duration::from_secs(5))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert!((s.succeeded_per_s - 600.0).abs() <= 2.0, "{}", s.succeeded_per_s);
    assert_eq!(s.connects.time.as_ref().unwrap().max_ns, 3_000 * MS);
}

#[test]
fn think_time_is_in_no_time_of_an_operation_and_not_in_flight() {
    let time = VirtualTime::new();
    let inner = server(&time, Duration::from_millis(10), 0..0);
    let record = Plan::new()
        .stream("s", load_core::think(inner, Duration::from_millis(90)), Load::closed(10))
        .measure(Duration::from_secs(10))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    assert!((s.succeeded_per_s - 100.0).abs() <= 1.0, "{}", s.succeeded_per_s);
    assert_eq!(s.response.as_ref().unwrap().max_ns, 10 * MS);
    let mean = s.verdict.evidence["in_flight_mean"].number().unwrap();
    assert!((mean - 1.0).abs() < 0.2, "{mean}");
    assert_eq!(s.verdict.status, load_core::Status::Valid, "{:?}", s.verdict);
}

#[test]
fn a_rate_can_be_changed_during_the_run() {
    let time = VirtualTime::new();
    let (schedule, rate) = Schedule::adjustable(100.0).unwrap();
    let clock = time.clone();
    let turns_it_up = workload(async move |_op: &mut Op| {
        clock.sleep(Duration::from_millis(1)).await;
        if clock.now() >= 2_000 * MS {
            rate.set(1000.0)?;
        }
        Ok(())
    });
    let record = Plan::new()
        .stream("s", turns_it_up, Load::open(schedule).sessions(10))
        .measure(Duration::from_secs(4))
        .virtual_time(time)
        .run()
        .unwrap();
    let s = one(&record);
    // 200 in the first two seconds and 2000 in the last two.
    assert!((2_190..=2_210).contains(&s.accounting.succeeded), "{:?}", s.accounting);
}

#[test]
fn poisson_arrivals_repeat_with_the_seed_and_differ_by_round() {
    let run = |seed: u64| {
        let time = VirtualTime::new();
        Plan::new()
            .stream(
                "s",
                server(&time, Duration::from_micros(50), 0..0),
                Load::open(Schedule::constant(1000.0).unwrap().poisson()).sessions(16).workers(3),
            )
            .measure(Duration::from_secs(3))
            .rounds(2)
            .seed(seed)
            .virtual_time(time)
            .run()
            .unwrap()
    };
    let counts = |r: &Record| r.streams.iter().map(|s| s.accounting.scheduled).collect::<Vec<_>>();
    let (first, again, other) = (run(7), run(7), run(8));
    assert_eq!(counts(&first), counts(&again));
    assert_ne!(counts(&first), counts(&other));
    for n in counts(&first) {
        assert!(n.abs_diff(3000) < 5 * 55, "{n}");
    }
}

#[test]
fn phases_run_some_of_the_streams_and_an_idle_one_none() {
    let time = VirtualTime::new();
    let load = || Load::open(Schedule::constant(100.0).unwrap()).sessions(4);
    let record = Plan::new()
        .stream("a", server(&time, Duration::from_millis(1), 0..0), load())
        .stream("b", server(&time, Duration::from_millis(2), 0..0), load())
        .phase("a alone", ["a"])
        .phase("b alone", ["b"])
        .phase("together", ["a", "b"])
        .measure(Duration::from_secs(1))
        .rounds(2)
        .virtual_time(time)
        .run()
        .unwrap();
    let ran: Vec<_> = record.streams.iter().map(|s| (s.round, s.phase.as_str(), s.name.as_str())).collect();
    let once = |r| [(r, "a alone", "a"), (r, "b alone", "b"), (r, "together", "a"), (r, "together", "b")];
    assert_eq!(ran, [once(1), once(2)].concat());
    assert_eq!(record.phases.len(), 6);
    assert!(record.streams.iter().all(|s| s.accounting.succeeded == 100));
    assert!(record.phases.windows(2).all(|p| p[0].end_ns <= p[1].start_ns), "one clock: {:?}", record.phases);
}

#[test]
fn rounds_end_when_the_median_is_known_or_are_used_up() {
    let run = |width: f64, spread: u64| {
        let time = VirtualTime::new();
        let (clock, round) = (time.clone(), Arc::new(AtomicU64::new(0)));
        let uneven = with_session(
            async move |_: &SessionId| Ok(round.fetch_add(1, Relaxed)),
            async move |round, _op: &mut Op| {
                clock.sleep(Duration::from_micros(1000 + *round % 5 * spread)).await;
                Ok(())
            },
        );
        let plan = Plan::new().stream("s", uneven, Load::closed(1)).measure(Duration::from_secs(1));
        plan.rounds_until(width, 9).virtual_time(time).run().unwrap()
    };
    assert_eq!(run(0.05, 1).streams.len(), 6, "nearly the same each time: six are enough");
    let used_up = run(0.05, 100);
    assert_eq!(used_up.streams.len(), 9);
    assert_eq!(used_up.events[0].what, "rounds used up");
}

#[test]
fn limits_stop_the_run_after_their_grace_and_say_why() {
    // From 3 s on every second operation fails.
    let failing = |time: &VirtualTime| {
        let clock = time.clone();
        workload(async move |op: &mut Op| {
            clock.sleep(Duration::from_millis(1)).await;
            if clock.now() > 3_000 * MS && op.seq().is_multiple_of(2) {
                Err(Failure::check("odd"))
            } else {
                Ok(())
            }
        })
    };
    let plan = |time: &VirtualTime| {
        let load = Load::open(Schedule::constant(100.0).unwrap());
        Plan::new()
            .stream("s", failing(time), load)
            .measure(Duration::from_secs(3600))
            .virtual_time(time.clone())
    };
    let time = VirtualTime::new();
    let limit = AbortWhen::failures_above("s", 0.1).for_longer_than(Duration::from_secs(4));
    let record = plan(&time).abort_when(limit).run().unwrap();
    let s = one(&record);
    assert!(record.interrupted && !record.checks[0].passed, "{:?}", record.checks);
    assert!(s.verdict.findings.iter().any(|f| f.contains("10 % failed")), "{:?}", s.verdict.findings);
    assert!(s.windows.len() >= 8, "three good seconds, and more than four bad ones");
    let time = VirtualTime::new();
    let record = plan(&time).abort_when(AbortWhen::rate_below("s", 60.0)).run().unwrap();
    assert!(record.checks[0].detail.contains("fewer than 60/s"), "{:?}", record.checks);
    let nonsense = plan(&VirtualTime::new()).abort_when(AbortWhen::rate_below("t", 1.0)).run().unwrap_err();
    assert!(nonsense.to_string().starts_with("abort_when.stream: t "), "{nonsense}");
}
