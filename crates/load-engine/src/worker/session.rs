//! The life of a session: connect, take operations until there are none, connect again when it was lost.

use super::{Feed, Slot};
use load_core::{Class, Failure, Names, Op, Session, SessionId, Workload};
use std::{
    cell::Cell,
    future::{Future, poll_fn},
    panic::AssertUnwindSafe,
    pin::pin,
    rc::Rc,
    sync::Arc,
    task::Poll,
    time::Duration,
};

/// Back-off between attempts to connect: doubled from the first to the last, with up to half as much again at random.
const FIRST_BACKOFF: Duration = Duration::from_millis(1);
const LAST_BACKOFF: Duration = Duration::from_secs(1);

/// What the sessions of a feed share.
pub(crate) struct Shared {
    pub(crate) feed: Rc<Feed>,
    pub(crate) names: Rc<Names>,
    pub(crate) connect_timeout: Duration,
    /// Sessions whose first attempt has ended, well or badly.
    pub(crate) settled: Cell<usize>,
    /// The first failure to connect, in words.
    pub(crate) first_failure: Cell<Option<String>>,
}

/// Runs one session to the end of the phase. A panic is a failure of its operation, and a new session follows.
pub(crate) async fn run<W: Workload>(workload: Arc<W>, id: SessionId, shared: Rc<Shared>) {
    let feed = &shared.feed;
    let slot = feed.add_slot();
    let life = Life { settled: Cell::new(false), backoff: Cell::new(FIRST_BACKOFF), open: Cell::new(false) };
    let mut op = Op::for_session(feed.clock.clone(), shared.names.clone(), id.seed());
    loop {
        let ended = catch_panic(live(&*workload, &id, &shared, &slot, &life, &mut op)).await;
        if life.open.replace(false) {
            feed.probe.closed();
        }
        let Err(message) = ended else { break };
        // The message is the example: it may be another each time, and codes are counted one by one.
        let place =
            if slot.in_flight.get().is_some() { "in an operation" } else { "outside of an operation" };
        let mut failure = Failure::new(Class::Panic, place).with_source(message).reconnect();
        match slot.in_flight.take() {
            Some((arrival, started)) => {
                feed.probe.call_ends();
                feed.probe.failed();
                let now = feed.clock.now();
                feed.recorder.borrow_mut().ended(&arrival, started, now, &mut op, Err(failure));
            }
            // It panicked while connecting or closing.
            None => {
                feed.recorder.borrow_mut().connected(0, &mut op, Err(&mut failure));
                life.settle(&shared, Some(&failure));
            }
        }
        if back_off(&shared, &life, &mut op).await.is_stopped() {
            break;
        }
    }
    life.settle(&shared, None);
}

/// What outlives a connection.
struct Life {
    settled: Cell<bool>,
    backoff: Cell<Duration>,
    open: Cell<bool>,
}

impl Life {
    fn settle(&self, shared: &Shared, failure: Option<&Failure>) {
        if self.settled.replace(true) {
            return;
        }
        if let Some(failure) = failure {
            let first = shared.first_failure.take();
            shared.first_failure.set(first.or_else(|| Some(failure.describe())));
        }
        shared.settled.set(shared.settled.get() + 1);
        shared.feed.hub.changed.notify_one();
    }
}

async fn live<W: Workload>(
    workload: &W,
    id: &SessionId,
    shared: &Shared,
    slot: &Rc<Slot>,
    life: &Life,
    op: &mut Op,
) {
    let feed = &*shared.feed;
    loop {
        let reconnecting = life.settled.get().then(|| Reconnecting::starts(&feed.probe));
        let connected = connect(workload, id, shared, op).await;
        drop(reconnecting);
        let mut session = match connected {
            Connected::Session(session) => session,
            Connected::Failed(failure) => {
                life.settle(shared, Some(&failure));
                if back_off(shared, life, op).await.is_stopped() {
                    return;
                }
                continue;
            }
            Connected::Stopped => return,
        };
        feed.probe.opened();
        life.open.set(true);
        life.settle(shared, None);
        let mut now = 0;
        let lost = loop {
            session.prepare(op);
            let Some(arrival) = feed.next(slot, now).await else { break false };
            let started = if feed.is_open() { feed.clock.now() } else { arrival.intended };
            slot.in_flight.set(Some((arrival, started)));
            feed.probe.call_starts();
            feed.recorder.borrow_mut().started(&arrival, started);
            op.begin_due(arrival.intended, started, arrival.seq);
            let outcome = session.call(op).await;
            now = feed.clock.now();
            // It was given up meanwhile, and stands in the books as unfinished.
            if slot.in_flight.take().is_none() {
                break false;
            }
            feed.probe.call_ends();
            if outcome.is_err() {
                feed.probe.failed();
            }
            let lost = feed.recorder.borrow_mut().ended(&arrival, started, now, op, outcome);
            if lost {
                break true;
            }
            life.backoff.set(FIRST_BACKOFF);
            if !feed.is_open()
                && let Some(pause) = session.think(op)
            {
                think(feed, pause).await;
            }
            // A workload that never waits must not own the thread.
            tokio::task::consume_budget().await;
        };
        feed.probe.closed();
        life.open.set(false);
        if !lost {
            return session.close().await;
        }
        drop(session);
        // One that connects well and then fails at once must not make a hot loop either.
        if feed.is_stopped() || back_off(shared, life, op).await.is_stopped() {
            return;
        }
    }
}

/// Counts a session as connecting again, until it is dropped: also by a panic.
struct Reconnecting<'a>(&'a super::Probe);

impl Reconnecting<'_> {
    fn starts(probe: &super::Probe) -> Reconnecting<'_> {
        probe.reconnect_starts();
        Reconnecting(probe)
    }
}

impl Drop for Reconnecting<'_> {
    fn drop(&mut self) {
        self.0.reconnect_ends();
    }
}

/// The pause of a user who thinks; the end of the phase ends it.
async fn think(feed: &Feed, pause: Duration) {
    feed.probe.think_starts();
    tokio::select! { biased;
        () = feed.stopping.notified() => {}
        () = feed.hub.sleep(pause) => {}
    }
    feed.probe.think_ends();
}

enum Connected<S> {
    Session(S),
    Failed(Failure),
    Stopped,
}

async fn connect<W: Workload>(
    workload: &W,
    id: &SessionId,
    shared: &Shared,
    op: &mut Op,
) -> Connected<W::Session> {
    let feed = &*shared.feed;
    if feed.is_stopped() {
        return Connected::Stopped;
    }
    let start = feed.clock.now();
    op.begin(start, 0);
    let result = tokio::select! { biased;
        result = workload.connect(id, op) => result,
        () = feed.hub.over(shared.connect_timeout) => Err(Failure::new(Class::Connect, "timed out")),
        () = feed.stopping.notified() => return Connected::Stopped,
    };
    let ns = feed.clock.now() - start;
    let mut recorder = feed.recorder.borrow_mut();
    match result {
        Ok(session) => {
            recorder.connected(ns, op, Ok(()));
            Connected::Session(session)
        }
        Err(mut failure) => {
            recorder.connected(ns, op, Err(&mut failure));
            Connected::Failed(failure)
        }
    }
}

/// Whether the phase has ended.
#[derive(PartialEq)]
enum After {
    Backoff,
    Stopped,
}

impl After {
    fn is_stopped(&self) -> bool {
        *self == After::Stopped
    }
}

async fn back_off(shared: &Shared, life: &Life, op: &mut Op) -> After {
    let feed = &*shared.feed;
    let wait = life.backoff.get();
    life.backoff.set((wait * 2).min(LAST_BACKOFF));
    let jitter = rand::RngExt::random_range(op.rng(), 0.0..0.5);
    feed.probe.reconnect_starts();
    let after = tokio::select! { biased;
        () = feed.stopping.notified() => After::Stopped,
        () = feed.hub.sleep(wait.mul_f64(1.0 + jitter)) => After::Backoff,
    };
    feed.probe.reconnect_ends();
    if feed.is_stopped() { After::Stopped } else { after }
}

/// The output, or the message of a panic.
async fn catch_panic<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let poll = std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        match poll {
            Ok(poll) => poll.map(Ok),
            Err(payload) => {
                let text = payload.downcast_ref::<&str>().map(ToString::to_string);
                let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
                Poll::Ready(Err(text.unwrap_or_else(|| "a panic without a message".into())))
            }
        }
    })
    .await
}
