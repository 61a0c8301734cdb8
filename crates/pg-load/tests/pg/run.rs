//! Drives sessions by hand, as an engine does.

use load_core::{Class, Clock, Failure, Names, Op, Outcome, Session, SessionId, Workload};
use std::{collections::BTreeMap, future::Future, rc::Rc, time::Duration};

/// Runs a future on a runtime like a worker's.
pub(crate) fn on_worker<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    runtime.block_on(future)
}

/// Whether the stated sizes and tolerances are asked for, which need a quiet machine.
pub(crate) fn full() -> bool {
    std::env::var_os("OPENLOOP_FULL").is_some()
}

/// A session with its `Op`.
pub(crate) struct Driver<S> {
    pub(crate) session: S,
    pub(crate) op: Op,
    names: Rc<Names>,
    seq: u64,
}

impl<S: Session> Driver<S> {
    pub(crate) async fn connect<W: Workload<Session = S>>(
        workload: &W,
        index: usize,
        total: usize,
    ) -> Result<Self, Failure> {
        let names = Rc::new(Names::default());
        let mut op = Op::for_session(Clock::real(), names.clone(), index as u64 + 1);
        let id = SessionId::new(index, total, 0, index as u64 + 1);
        op.begin(op.clock().now(), 0);
        match workload.connect(&id, &mut op).await {
            Ok(session) => Ok(Driver { session, op, names, seq: 0 }),
            Err(mut failure) => {
                failure.classify(&[pg_load::classify]);
                Err(failure)
            }
        }
    }

    /// One operation, its failure classified.
    pub(crate) async fn call(&mut self) -> Outcome {
        let now = self.op.clock().now();
        self.op.begin(now, self.seq);
        self.go_on().await
    }

    async fn go_on(&mut self) -> Outcome {
        self.seq += 1;
        self.session.call(&mut self.op).await.map_err(|mut failure| {
            failure.classify(&[pg_load::classify]);
            failure
        })
    }

    /// One operation that was due some time ago.
    pub(crate) async fn call_due(&mut self, ago: Duration) -> Outcome {
        let now = self.op.clock().now();
        self.op.begin_due(now - u64::try_from(ago.as_nanos()).unwrap(), now, self.seq);
        self.go_on().await
    }

    /// The steps of the last operation, in ns.
    pub(crate) fn steps(&self) -> Vec<(&'static str, u64)> {
        let names = self.names.all();
        self.op.said().steps.iter().map(|(id, ns)| (names[usize::from(*id)], *ns)).collect()
    }

    /// What the last operation counted.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        let names = self.names.all();
        self.op.said().counts.iter().map(|(id, n)| (names[usize::from(*id)], *n)).collect()
    }
}

/// Class and code of a failure.
pub(crate) fn kind(failure: &Failure) -> (Class, &str) {
    (failure.class(), failure.code())
}

/// What a run of sessions came to, as an engine counts it.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) succeeded: u64,
    pub(crate) unknown: u64,
    pub(crate) failed: BTreeMap<String, u64>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) steps: BTreeMap<&'static str, Vec<u64>>,
    pub(crate) reconnected: u64,
}

/// Runs `sessions` sessions in a closed loop until `until` says so, connecting again as an engine does.
pub(crate) async fn run<W: Workload>(workload: &W, sessions: usize, until: impl Fn(&Books) -> bool) -> Books {
    let books = std::cell::RefCell::new(Books::default());
    // All before the first works, as an engine does: what happens to the server then happens to all of them.
    let connect =
        async |index| Driver::connect(workload, index, sessions).await.expect("connects at the start");
    let drivers = futures_util::future::join_all((0..sessions).map(connect)).await;
    let one = async |(index, mut driver): (usize, Driver<W::Session>)| {
        while !until(&books.borrow()) {
            let outcome = driver.call().await;
            let lost = count(&mut books.borrow_mut(), &driver, outcome);
            if !lost {
                continue;
            }
            drop(driver);
            driver = loop {
                tokio::time::sleep(Duration::from_millis(5)).await;
                match Driver::connect(workload, index, sessions).await {
                    Ok(driver) => break driver,
                    Err(_) if until(&books.borrow()) => return,
                    Err(failure) => {
                        assert!(failure.needs_reconnect() || failure.code() == "53300", "{failure:?}")
                    }
                }
            };
            books.borrow_mut().reconnected += 1;
        }
        driver.session.close().await;
    };
    futures_util::future::join_all(drivers.into_iter().enumerate().map(one)).await;
    books.into_inner()
}

/// Counts an operation; whether its session is lost.
fn count<S: Session>(books: &mut Books, driver: &Driver<S>, outcome: Outcome) -> bool {
    for (name, n) in driver.counts() {
        *books.counts.entry(name).or_default() += n;
    }
    let Err(failure) = outcome else {
        books.succeeded += 1;
        for (name, ns) in driver.steps() {
            books.steps.entry(name).or_default().push(ns);
        }
        return false;
    };
    books.unknown += u64::from(failure.is_unknown());
    *books.failed.entry(format!("{} {}", failure.class(), failure.code())).or_default() += 1;
    failure.needs_reconnect()
}
