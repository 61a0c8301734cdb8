//! What a workload says about the operation that runs.

use crate::{Clock, NameId, Names, names::Scope};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::rc::Rc;

/// How many steps one operation can have; more are counted as lost (`steps_lost` in the counters).
pub const MAX_STEPS: usize = 16;
/// How many different counters one operation can add to.
pub const MAX_COUNTS: usize = 8;
const NO_KIND: NameId = NameId::MAX;

/// The running operation. The session owns one and uses it again and again, so nothing here allocates.
///
/// A workload need not say anything: an operation is one unit of work by default and its time is the engine's
/// business.
#[derive(Debug)]
pub struct Op {
    clock: Clock,
    names: Rc<Names>,
    scope: Scope,
    rng: Xoshiro256PlusPlus,
    seq: u64,
    intended: u64,
    started: u64,
    last_mark: u64,
    steps: [(NameId, u64); MAX_STEPS],
    steps_used: u8,
    counts: [(NameId, u64); MAX_COUNTS],
    counts_used: u8,
    steps_lost: u64,
    kind: NameId,
    bytes_in: u64,
    bytes_out: u64,
    units: u64,
    failed_units: u64,
    facts: Vec<(&'static str, String)>,
}

impl Op {
    /// The number of this operation: in an open loop its place in the schedule, in a closed loop unique within the
    /// stream. Good for keys and alternation. Not known yet in [`Session::prepare`](crate::Session::prepare).
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// This session's random numbers: Xoshiro256++ seeded from the run's seed, the round, the stream and the session.
    pub fn rng(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.rng
    }

    /// When this operation was meant to start, in ns of the run's [`clock`](Op::clock). In an open loop its instant of the
    /// schedule, which is earlier than [`started_at`](Op::started_at) by all that it waited; in a closed loop, and while a
    /// session connects, the two are the same. The engine knows it already: no clock is read. Not known yet in
    /// [`Session::prepare`](crate::Session::prepare), where it is the last operation's.
    ///
    /// What has passed since then is the response time so far, what has passed since the start is the service time:
    ///
    /// ```
    /// # use load_core::{Op, Outcome};
    /// # async fn answer(op: &mut Op) -> Outcome {
    /// if op.clock().now() - op.intended() > 20_000_000 {
    ///     op.count("late", 1);                             // more than 20 ms after it was due
    /// }
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn intended(&self) -> u64 {
        self.intended
    }

    /// When this operation started, in ns of the run's [`clock`](Op::clock): the whole operation, also for the later parts
    /// of a sequence. While a session connects, when the attempt began. No clock is read.
    #[inline]
    pub fn started_at(&self) -> u64 {
        self.started
    }

    /// From when the next [`mark`](Op::mark) counts, in ns of the run's [`clock`](Op::clock): the last mark, where marking
    /// began anew (as for each part of a sequence), else the start. No clock is read.
    #[inline]
    pub fn marked_at(&self) -> u64 {
        self.last_mark
    }

    /// The run's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Adds bytes received.
    #[inline]
    pub fn bytes_in(&mut self, bytes: usize) {
        self.bytes_in += bytes as u64;
    }

    /// Adds bytes sent.
    #[inline]
    pub fn bytes_out(&mut self, bytes: usize) {
        self.bytes_out += bytes as u64;
    }

    /// Units of work done well; 1 unless told otherwise. A pipeline of 16 commands says 16.
    #[inline]
    pub fn units(&mut self, units: u64) {
        self.units = units;
    }

    /// Units of work that failed, of a batch whose others went well; 0 unless told otherwise.
    #[inline]
    pub fn failed_units(&mut self, units: u64) {
        self.failed_units = units;
    }

    /// What kind of operation this was (`"hit"`, an arm of a mix): counted and timed by kind in the record. Said
    /// again, the last one counts.
    #[inline]
    pub fn kind(&mut self, name: &'static str) {
        self.kind = self.names.id_in(self.scope, name);
    }

    /// Runs `part` with all that it says by name (steps, kinds, counters, facts) standing under `name`: a step
    /// `"select"` is then `"read/select"`. For workloads made of others, which may use the same names; scopes may lie
    /// within each other.
    ///
    /// ```
    /// use load_core::{Op, Outcome, workload};
    /// async fn query(op: &mut Op) -> Outcome {
    ///     op.mark("select");
    ///     Ok(())
    /// }
    /// let both = workload(async |op| {
    ///     op.scoped("user", async |op| query(op).await).await?;      // the step "user/select"
    ///     op.scoped("items", async |op| query(op).await).await       // the step "items/select"
    /// });
    /// ```
    pub async fn scoped<T>(&mut self, name: &'static str, part: impl AsyncFnOnce(&mut Op) -> T) -> T {
        part(self.within(name).op).await
    }

    /// Goes into a scope until the guard is dropped, be it with a future that is dropped half-way.
    #[inline]
    pub(crate) fn within(&mut self, name: &'static str) -> Scoped<'_> {
        let outer = self.scope;
        self.scope = self.names.scope(outer, name);
        Scoped { op: self, outer }
    }

    /// Ends a step: the time since the last mark, or since the start, is recorded under `name`. Marked steps of an
    /// operation do not overlap. Costs a clock reading.
    #[inline]
    pub fn mark(&mut self, name: &'static str) {
        let now = self.clock.now();
        let ns = now.saturating_sub(self.last_mark);
        self.last_mark = now;
        self.step(name, ns);
    }

    /// Begins marking anew: the next [`mark`](Op::mark) ends a step that began now. Costs a clock reading.
    #[inline]
    pub fn restart_marks(&mut self) {
        self.last_mark = self.clock.now();
    }

    /// Begins marking anew, and answers the present.
    #[inline]
    pub(crate) fn now_marked(&mut self) -> u64 {
        self.restart_marks();
        self.last_mark
    }

    /// Records a step that was measured elsewhere, in ns.
    #[inline]
    pub fn step(&mut self, name: &'static str, ns: u64) {
        let id = self.names.id_in(self.scope, name);
        match self.steps.get_mut(usize::from(self.steps_used)) {
            Some(step) => {
                *step = (id, ns);
                self.steps_used += 1;
            }
            None => self.steps_lost += 1,
        }
    }

    /// Runs a future and records its time as a step. Timed steps may overlap marked ones and each other.
    pub async fn timed<T>(&mut self, name: &'static str, future: impl Future<Output = T>) -> T {
        let start = self.clock.now();
        let result = future.await;
        let ns = self.clock.now().saturating_sub(start);
        self.step(name, ns);
        result
    }

    /// Adds to a counter of the stream, such as `"retries"`.
    #[inline]
    pub fn count(&mut self, name: &'static str, n: u64) {
        let id = self.names.id_in(self.scope, name);
        let used = usize::from(self.counts_used);
        if let Some((_, sum)) = self.counts[..used].iter_mut().find(|(i, _)| *i == id) {
            *sum += n;
        } else if used < MAX_COUNTS {
            self.counts[used] = (id, n);
            self.counts_used += 1;
        } else {
            self.steps_lost += 1;
        }
    }

    /// States a fact about the stream, such as the protocol that was negotiated. Allocates: say it once, in
    /// `connect`. When sessions say different things under one name, the record has each of them.
    pub fn fact(&mut self, name: &'static str, text: impl Into<String>) {
        self.facts.push((self.names.full(self.scope, name), text.into()));
    }
}

/// An operation within a scope.
pub(crate) struct Scoped<'a> {
    pub(crate) op: &'a mut Op,
    outer: Scope,
}

impl Drop for Scoped<'_> {
    fn drop(&mut self) {
        self.op.scope = self.outer;
    }
}

/// For engines: making an `Op`, starting an operation on it, and reading what was said.
impl Op {
    /// A new one for a session.
    pub fn for_session(clock: Clock, names: Rc<Names>, seed: u64) -> Op {
        Op {
            clock,
            names,
            scope: Scope::ROOT,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            seq: 0,
            intended: 0,
            started: 0,
            last_mark: 0,
            steps: [(0, 0); MAX_STEPS],
            steps_used: 0,
            counts: [(0, 0); MAX_COUNTS],
            counts_used: 0,
            steps_lost: 0,
            kind: NO_KIND,
            bytes_in: 0,
            bytes_out: 0,
            units: 1,
            failed_units: 0,
            facts: Vec::new(),
        }
    }

    /// Forgets the last operation and starts one at `now`, when it was meant to start.
    #[inline]
    pub fn begin(&mut self, now: u64, seq: u64) {
        self.begin_due(now, now, seq);
    }

    /// Forgets the last operation and starts one at `now` that was due at `intended`.
    #[inline]
    pub fn begin_due(&mut self, intended: u64, now: u64, seq: u64) {
        self.scope = Scope::ROOT;
        self.intended = intended;
        self.started = now;
        self.last_mark = now;
        self.seq = seq;
        self.steps_used = 0;
        self.counts_used = 0;
        self.steps_lost = 0;
        self.kind = NO_KIND;
        self.bytes_in = 0;
        self.bytes_out = 0;
        self.units = 1;
        self.failed_units = 0;
    }

    /// What the workload said of the operation.
    #[inline]
    pub fn said(&self) -> Said<'_> {
        Said {
            steps: &self.steps[..usize::from(self.steps_used)],
            counts: &self.counts[..usize::from(self.counts_used)],
            steps_lost: self.steps_lost,
            kind: (self.kind != NO_KIND).then_some(self.kind),
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            units: self.units,
            failed_units: self.failed_units,
        }
    }

    /// The facts said since the last call; empty almost always.
    #[inline]
    pub fn take_facts(&mut self) -> Vec<(&'static str, String)> {
        if self.facts.is_empty() { Vec::new() } else { std::mem::take(&mut self.facts) }
    }
}

/// What a workload said of one operation, for engines. Names are numbers of the stream's [`Names`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Said<'a> {
    /// Steps with their ns, in the order they ended.
    pub steps: &'a [(NameId, u64)],
    /// Counters with what to add.
    pub counts: &'a [(NameId, u64)],
    /// Steps and counters for which there was no room.
    pub steps_lost: u64,
    /// The kind, when one was said.
    pub kind: Option<NameId>,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Units done.
    pub units: u64,
    /// Units failed.
    pub failed_units: u64,
}
