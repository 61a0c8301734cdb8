//! Workloads from workloads, driven by hand.

use crate::by_hand::{ByHand, Heard, block_on};
use load_core::{
    BoxWorkload, Class, ConfigError, Failure, NullTargetError, Nulled, Op, Outcome, Session, SessionId,
    ThinkTime, VirtualTime, Workload, calibrated, mix, then, think, with_session, workload,
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const MS: u64 = 1_000_000;

/// Works for some virtual ms and marks it as the step "work". Its session may not leave its thread.
#[derive(Clone)]
struct Work {
    time: VirtualTime,
    ms: u64,
    closed: Arc<AtomicUsize>,
}

struct WorkSession {
    work: Work,
    prepared: Rc<RefCell<usize>>,
}

impl Work {
    fn new(time: &VirtualTime, ms: u64) -> Work {
        Work { time: time.clone(), ms, closed: Arc::default() }
    }
}

impl Workload for Work {
    type Session = WorkSession;

    async fn connect(&self, _: &SessionId, op: &mut Op) -> Result<WorkSession, Failure> {
        self.time.sleep(Duration::from_millis(1)).await;
        op.mark("connect");
        op.fact("speed", format!("{} ms", self.ms));
        Ok(WorkSession { work: self.clone(), prepared: Rc::default() })
    }

    fn describe(&self) -> String {
        format!("{} ms of work", self.ms)
    }
}

impl Session for WorkSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        assert_eq!(self.prepared.replace(0), 1, "prepared once for each operation");
        self.work.time.sleep(Duration::from_millis(self.work.ms)).await;
        op.mark("work");
        op.count("calls", 1);
        op.bytes_in(10);
        Ok(())
    }

    fn prepare(&mut self, _: &mut Op) {
        *self.prepared.borrow_mut() += 1;
    }

    fn think(&mut self, _: &mut Op) -> Option<Duration> {
        (self.work.ms == 7).then_some(Duration::from_millis(70))
    }

    async fn close(self) {
        self.work.closed.fetch_add(1, Ordering::Relaxed);
    }
}

fn kinds<S: Session>(hand: &mut ByHand<S>, n: usize) -> BTreeMap<&'static str, usize> {
    let mut seen = BTreeMap::new();
    for _ in 0..n {
        let (outcome, heard) = hand.call();
        outcome.unwrap();
        *seen.entry(heard.kind.expect("a kind")).or_default() += 1;
    }
    seen
}

#[test]
fn arms_chosen_by_other_weights_than_theirs() {
    let time = VirtualTime::new();
    let none = || workload(async |_| Ok(()));
    let mixed = mix().arm("a", 70, none()).arm("b", 20, none()).arm("c", 10, none());
    let mut hand = ByHand::connect(&mixed, 0, 11, &time).unwrap();
    let seen = kinds(&mut hand, 100_000);
    // Five standard errors of the largest, √(100000 · 0.7 · 0.3) = 145.
    for (name, expected) in [("a", 70_000usize), ("b", 20_000), ("c", 10_000)] {
        assert!(seen[name].abs_diff(expected) < 725, "{seen:?}");
    }
    let in_turn = mixed.in_turn();
    for index in [0, 7] {
        let mut hand = ByHand::connect(&in_turn, index, 11, &time).unwrap();
        assert_eq!(kinds(&mut hand, 1000), [("a", 700), ("b", 200), ("c", 100)].into());
    }
}

#[test]
fn choices_that_do_not_follow_from_the_seed() {
    let time = VirtualTime::new();
    let none = || workload(async |_| Ok(()));
    let mixed = mix().arm("a", 1, none()).arm("b", 1, none());
    let order = |seed| {
        let mut hand = ByHand::connect(&mixed, 0, seed, &time).unwrap();
        (0..64).map(|_| hand.call().1.kind).collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn steps_of_two_arms_under_one_name() {
    let time = VirtualTime::new();
    let mixed = mix().arm("read", 1, Work::new(&time, 2)).arm("write", 1, Work::new(&time, 5)).in_turn();
    let mut hand = ByHand::connect(&mixed, 0, 1, &time).unwrap();
    assert_eq!(hand.heard().steps, [("read/connect", MS), ("write/connect", MS)]);
    let facts: BTreeSet<_> = hand.op.take_facts().into_iter().collect();
    assert_eq!(facts, [("read/speed", "2 ms".to_string()), ("write/speed", "5 ms".to_string())].into());
    for (arm, step, count, ms) in
        [("read", "read/work", "read/calls", 2), ("write", "write/work", "write/calls", 5)]
    {
        let (outcome, heard) = hand.call();
        outcome.unwrap();
        let expected = Heard {
            kind: Some(arm),
            steps: vec![(step, ms * MS)],
            counts: [(count, 1)].into(),
            bytes_in: 10,
        };
        assert_eq!(heard, expected);
    }
    assert_eq!(mixed.describe(), "mix in turn of 1 read (2 ms of work), 1 write (5 ms of work)");
}

#[test]
fn a_mix_within_a_mix_that_loses_its_names() {
    let time = VirtualTime::new();
    let cached = workload(async |op| {
        op.kind("hit");
        op.mark("get");
        Ok(())
    });
    let inner = mix().arm("page", 1, cached);
    let outer = mix().arm("site", 1, inner).arm("boxed", 1, BoxWorkload::new(Work::new(&time, 3))).in_turn();
    let mut hand = ByHand::connect(&outer, 0, 1, &time).unwrap();
    let heard = hand.call().1;
    assert_eq!((heard.kind, heard.steps[0].0), (Some("site/page/hit"), "site/page/get"));
    assert_eq!(hand.call().1.steps, [("boxed/work", 3 * MS)]);
}

#[test]
fn a_scope_that_outlives_a_dropped_future() {
    let time = VirtualTime::new();
    let sleeper = time.clone();
    let gives_up = workload(async move |op| {
        {
            let sleep = sleeper.sleep(Duration::from_secs(9));
            let slow = std::pin::pin!(op.scoped("slow", async |_| sleep.await));
            // Polled once and dropped, as a timeout does.
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(slow.poll(&mut context).is_pending());
        }
        op.mark("after");
        Ok(())
    });
    let mut hand = ByHand::connect(&gives_up, 0, 1, &time).unwrap();
    assert_eq!(hand.call().1.steps[0].0, "after");
}

#[test]
fn sessions_of_an_arm_that_are_not_closed() {
    let time = VirtualTime::new();
    let (a, b) = (Work::new(&time, 1), Work::new(&time, 1));
    let boxed = BoxWorkload::new(think(then(b.clone(), b.clone()), Duration::ZERO));
    let mixed = mix().arm("a", 1, a.clone()).arm("b", 1, boxed);
    ByHand::connect(&mixed, 0, 1, &time).unwrap().close();
    assert_eq!((a.closed.load(Ordering::Relaxed), b.closed.load(Ordering::Relaxed)), (1, 2));
}

#[test]
fn a_sequence_that_goes_on_after_a_failure() {
    let time = VirtualTime::new();
    let fails = workload(async |op: &mut Op| {
        op.bytes_in(1);
        if op.seq().is_multiple_of(2) { Err(Failure::check("odd only")) } else { Ok(()) }
    });
    let both = then(fails, Work::new(&time, 4));
    let mut hand = ByHand::connect(&both, 0, 1, &time).unwrap();
    let (outcome, heard) = hand.call();
    assert_eq!(outcome.unwrap_err().class(), Class::Check);
    assert_eq!((heard.bytes_in, heard.steps.len()), (1, 0));
    // The second part is prepared already for the operation that did not reach it, and not again.
    let (outcome, heard) = hand.call();
    outcome.unwrap();
    assert_eq!((heard.bytes_in, heard.steps), (11, vec![("work", 4 * MS)]));
}

#[test]
fn a_step_that_contains_the_part_before_it() {
    let time = VirtualTime::new();
    let sleeper = time.clone();
    let unmarked = workload(async move |_| {
        sleeper.sleep(Duration::from_millis(50)).await;
        Ok(())
    });
    let plain = then(unmarked.clone(), Work::new(&time, 4));
    let mut hand = ByHand::connect(&plain, 0, 1, &time).unwrap();
    assert_eq!(hand.call().1.steps, [("work", 4 * MS)]);
    let named = then(Work::new(&time, 3), then(unmarked, Work::new(&time, 4))).named("first", "second");
    let mut hand = ByHand::connect(&named, 0, 1, &time).unwrap();
    let expected = [("first/work", 3 * MS), ("first", 3 * MS), ("second/work", 4 * MS), ("second", 54 * MS)];
    assert_eq!(hand.call().1.steps, expected);
    assert_eq!(named.describe(), "3 ms of work, then custom workload, then 4 ms of work");
}

#[test]
fn instants_that_a_part_of_a_sequence_takes_for_its_own() {
    let time = VirtualTime::new();
    let part = |ms| {
        let time = time.clone();
        workload(async move |op: &mut Op| {
            op.count("from", op.marked_at() - op.started_at());
            op.count("late", op.started_at() - op.intended());
            time.sleep(Duration::from_millis(ms)).await;
            Ok(())
        })
    };
    let mut hand = ByHand::connect(&then(part(3), part(4)).named("a", "b"), 0, 1, &time).unwrap();
    for late in [0, 5, 0] {
        hand.session.prepare(&mut hand.op);
        let now = time.now();
        hand.op.begin_due(now - late * MS, now, 0);
        block_on(&time, hand.session.call(&mut hand.op)).unwrap();
        // The start and what was intended are the operation's in both parts; marks begin anew with each.
        let counts = hand.heard().counts;
        assert_eq!((counts["a/from"], counts["b/from"]), (0, 3 * MS));
        assert_eq!((counts["a/late"], counts["b/late"]), (late * MS, late * MS));
    }
    // By hand without a schedule, as by a driver's own tests.
    let (outcome, heard) = hand.call();
    outcome.unwrap();
    assert_eq!((heard.counts["a/late"], heard.counts["b/late"]), (0, 0));
}

#[test]
fn a_failure_to_connect_that_does_not_say_where() {
    let time = VirtualTime::new();
    let refused = || {
        with_session(
            async |_: &SessionId| {
                Err::<(), _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into())
            },
            async |_, _| Ok(()),
        )
    };
    let site = then(workload(async |_| Ok(())), refused()).named("login", "fetch");
    let mixed = mix().arm("none", 1, workload(async |_| Ok(()))).arm("site", 1, site);
    let mut failure = ByHand::connect(&mixed, 0, 1, &time).err().unwrap();
    failure.classify(&[]);
    assert_eq!(failure.class(), Class::Connect, "it is classified all the same");
    assert_eq!(failure.describe(), "connect (refused): in site: in fetch: connection refused");
}

#[test]
fn think_times_of_another_distribution() {
    let time = VirtualTime::new();
    let ms = Duration::from_millis;
    let none = workload(async |_| Ok(()));
    let drawn = |time_to_think: ThinkTime| {
        let mut hand = ByHand::connect(&think(none.clone(), time_to_think), 0, 3, &time).unwrap();
        let mut drawn: Vec<_> = (0..20_000).map(|_| hand.think().unwrap().as_secs_f64()).collect();
        drawn.sort_by(f64::total_cmp);
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        (drawn[0], mean, drawn[drawn.len() - 1])
    };
    assert_eq!(drawn(ms(500).into()), (0.5, 0.5, 0.5));
    let (min, mean, max) = drawn((ms(200)..ms(800)).into());
    assert!((0.2..0.201).contains(&min) && (0.799..=0.8).contains(&max) && (mean - 0.5).abs() < 0.004);
    // The mean's standard error is 0.5 / √20000 = 0.0035.
    let (min, mean, max) = drawn(ThinkTime::exponential(ms(500)));
    assert!(min < 0.001 && (mean - 0.5).abs() < 0.012 && max > 3.0, "{min} {mean} {max}");
    let none = think(none.clone(), Duration::ZERO);
    assert_eq!(ByHand::connect(&none, 0, 1, &time).unwrap().think(), None);
}

#[test]
fn think_time_that_is_lost_on_the_way() {
    let time = VirtualTime::new();
    let ms = Duration::from_millis;
    let of = |workload: BoxWorkload| {
        let mut hand = ByHand::connect(&workload, 0, 1, &time).unwrap();
        hand.call().0.unwrap();
        hand.think()
    };
    let (thinks, does_not) = (Work::new(&time, 7), Work::new(&time, 1));
    assert_eq!(of(BoxWorkload::new(mix().arm("a", 1, thinks.clone()))), Some(ms(70)));
    assert_eq!(of(BoxWorkload::new(mix().arm("a", 1, does_not.clone()))), None);
    assert_eq!(of(BoxWorkload::new(then(thinks.clone(), does_not.clone()))), Some(ms(70)));
    assert_eq!(of(BoxWorkload::new(then(does_not, thinks.clone()))), Some(ms(70)));
    assert_eq!(of(BoxWorkload::new(think(think(thinks.clone(), ms(1)), ms(200)))), Some(ms(271)));
    assert_eq!(of(BoxWorkload::new(Arc::new(thinks))), Some(ms(70)));
}

#[test]
fn bad_settings_that_are_accepted() {
    let none = || workload(async |_: &mut Op| Ok(()));
    let said = |result: Result<(), ConfigError>| result.unwrap_err().to_string();
    let zero = mix().arm("a", 1, none()).arm("b", 0, none());
    assert!(said(zero.validate()).starts_with("mix.arm(b).weight: 0 "));
    let time = VirtualTime::new();
    let failure = ByHand::connect(&zero, 0, 1, &time).err().unwrap();
    assert!(failure.describe().contains("mix.arm(b).weight: 0 "), "{failure:?}");
    assert!(said(mix().arm("a", 1, none()).arm("a", 2, none()).validate()).starts_with("mix.arm: a "));
    let hasty = || think(workload(async |_| Ok(())), Duration::from_secs(3)..Duration::from_secs(1));
    assert!(said(hasty().validate()).starts_with("think.time: 3s to 1s "));
    for wrapped in [
        BoxWorkload::new(mix().arm("a", 1, none()).arm("b", 1, hasty())),
        BoxWorkload::new(then(hasty(), none())),
        BoxWorkload::new(then(none(), Arc::new(hasty()))),
        BoxWorkload::new(think(BoxWorkload::new(hasty()), Duration::ZERO)),
        BoxWorkload::new(calibrated((), move |()| hasty(), null)),
    ] {
        assert!(said(wrapped.validate()).starts_with("think.time: 3s to 1s "), "{wrapped:?}");
    }
}

fn null(delay: Duration) -> Result<Nulled<()>, NullTargetError> {
    if delay > Duration::from_secs(1) {
        return Err(NullTargetError::new("test", "too slow"));
    }
    Ok(Nulled::new((), ()))
}

/// A workload at an "address", and null targets that say how many live and how long they take.
fn addressed(lives: &Arc<AtomicUsize>) -> impl Workload<Session: Session> + Clone + use<> {
    struct Alive(Arc<AtomicUsize>);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let lives = lives.clone();
    let target = move |delay: Duration| {
        lives.fetch_add(1, Ordering::Relaxed);
        Ok(Nulled::new(format!("null, {} ms", delay.as_millis()), Alive(lives.clone())))
    };
    let make = |address: String| {
        let said = address.clone();
        with_session(
            async move |_: &SessionId| Ok(said.clone()),
            async |address, op| {
                op.kind(if address.starts_with("null, 40") {
                    "null 40"
                } else if address.starts_with("null") {
                    "null 20"
                } else {
                    "real"
                });
                Ok(())
            },
        )
    };
    Arc::new(calibrated("real".to_string(), make, target))
}

#[test]
fn a_null_target_that_is_lost_on_the_way() {
    let time = VirtualTime::new();
    let lives = Arc::new(AtomicUsize::new(0));
    let w = addressed(&lives);
    let kind = |w: &BoxWorkload| ByHand::connect(w, 0, 1, &time).unwrap().call().1.kind;
    let delay = Duration::from_millis(40);
    for (composed, real, null, targets) in [
        (BoxWorkload::new(w.clone()), "real", "null 40", 1),
        (BoxWorkload::new(mix().arm("a", 1, w.clone())), "a/real", "a/null 40", 1),
        (
            BoxWorkload::new(mix().arm("a", 1, w.clone()).arm("b", 1, w.clone()).in_turn()),
            "a/real",
            "a/null 40",
            2,
        ),
        (BoxWorkload::new(then(w.clone(), w.clone())), "real", "null 20", 2),
        (BoxWorkload::new(then(w.clone(), w.clone()).named("x", "y")), "y/real", "y/null 20", 2),
        (BoxWorkload::new(think(BoxWorkload::new(w.clone()), delay)), "real", "null 40", 1),
    ] {
        assert_eq!(kind(&composed), Some(real));
        let (nulled, guard) =
            composed.null_target(delay).unwrap().expect("it can be calibrated").into_parts();
        assert_eq!(lives.load(Ordering::Relaxed), targets, "{composed:?}");
        assert_eq!(kind(&nulled), Some(null), "{composed:?}");
        assert_eq!(ByHand::connect(&nulled, 0, 1, &time).unwrap().think(), None, "nobody thinks");
        // A nulled workload can be pointed at another null target.
        drop(guard);
        assert_eq!(lives.load(Ordering::Relaxed), 0, "a target outlives its guard");
        assert!(nulled.null_target(Duration::ZERO).unwrap().is_some());
    }
}

#[test]
fn a_calibration_of_a_part_only() {
    let lives = Arc::new(AtomicUsize::new(0));
    let (w, bare) = (addressed(&lives), workload(async |_| Ok(())));
    assert!(bare.null_target(Duration::ZERO).unwrap().is_none());
    for composed in [
        BoxWorkload::new(mix().arm("a", 1, w.clone()).arm("b", 1, bare.clone())),
        BoxWorkload::new(mix().arm("b", 1, bare.clone()).arm("a", 1, w.clone())),
        BoxWorkload::new(then(w.clone(), bare.clone())),
        BoxWorkload::new(then(bare.clone(), w)),
        BoxWorkload::new(think(Arc::new(bare), Duration::ZERO)),
    ] {
        assert!(composed.null_target(Duration::ZERO).unwrap().is_none(), "{composed:?}");
        assert_eq!(lives.load(Ordering::Relaxed), 0);
    }
    let fails = mix().arm("a", 1, calibrated((), |()| workload(async |_| Ok(())), null));
    let said = fails.null_target(Duration::from_secs(2)).unwrap_err().to_string();
    assert_eq!(said, "no null target for test: too slow");
}

#[test]
fn a_workload_chosen_at_run_time_that_is_another() {
    let time = VirtualTime::new();
    let list = [BoxWorkload::new(Work::new(&time, 1)), BoxWorkload::new(workload(async |_| Ok(())))];
    assert_eq!(format!("{:?}", list[0]), "BoxWorkload(1 ms of work)");
    let mut hand = ByHand::connect(&list[0].clone(), 0, 1, &time).unwrap();
    assert_eq!(hand.call().1.steps, [("work", MS)]);
    assert_eq!(block_on(&time, async { 1 }), 1);
}
