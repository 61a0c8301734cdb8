//! Data for reads to find.

use crate::{
    Command, Keys, Redis, RedisError,
    commands::{Part, Reads},
    lean::LeanSession,
    plan::Plan,
};
use load_core::{Clock, Op};
use std::{
    fmt,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Bytes of requests that are sent at once.
const AT_ONCE: usize = 1 << 20;
/// Elements for commands that take them away, unless told otherwise: as many as redis-benchmark pushes before it pops.
const ELEMENTS: u64 = 100_000;
/// Elements for LRANGE_600 and the shorter ones.
const RANGE: u64 = 600;

/// How much of the data is made, see [`Redis::prefill`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefill {
    part: f64,
    elements: Option<u64>,
}

impl Prefill {
    /// All keys of the key space: every GET is a hit.
    pub fn all() -> Prefill {
        Prefill::part(1.0)
    }

    /// The first keys of the key space, as a part of 0 to 1: so many hits if keys are drawn uniformly.
    pub fn part(part: f64) -> Prefill {
        Prefill { part, elements: None }
    }

    /// How many elements lists, sets and sorted sets get; by default 600 for LRANGE and 100,000 for LPOP, RPOP, SPOP, ZPOPMIN.
    pub fn elements(mut self, count: u64) -> Prefill {
        self.elements = Some(count);
        self
    }
}

/// What a pre-fill wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Prefilled {
    /// Keys of the key space.
    pub keys: u64,
    /// Elements of lists, sets and sorted sets.
    pub elements: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl fmt::Display for Prefilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys and {} elements written in {:.1?}", self.keys, self.elements, self.elapsed)
    }
}

/// One kind of data to make.
struct Filling {
    command: Command,
    count: u64,
    elements: bool,
}

impl Redis {
    /// Writes what the workload's commands read: values under the keys of the key space, elements of collections. On a thread of
    /// its own; any async runtime can wait for it. Nothing of it is measured.
    ///
    /// # Errors
    /// [`RedisError::Config`] for a part outside 0 to 1; [`RedisError::Server`] when not all could be written: the first reason.
    pub async fn prefill(&self, how: Prefill) -> Result<Prefilled, RedisError> {
        let done = self.start_prefill(how)?;
        done.await.unwrap_or_else(|_| Err(self.thread_ended()))
    }

    /// [`prefill`](Redis::prefill) for programs without a runtime.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Panics
    /// Inside an async runtime.
    pub fn prefill_blocking(&self, how: Prefill) -> Result<Prefilled, RedisError> {
        self.start_prefill(how)?.blocking_recv().unwrap_or_else(|_| Err(self.thread_ended()))
    }

    fn thread_ended(&self) -> RedisError {
        RedisError::Server {
            target: self.plan().target.to_string(),
            what: "the pre-fill's thread ended".into(),
        }
    }

    fn start_prefill(
        &self,
        how: Prefill,
    ) -> Result<oneshot::Receiver<Result<Prefilled, RedisError>>, RedisError> {
        if !(0.0..=1.0).contains(&how.part) {
            return Err(RedisError::config("prefill.part", how.part, "give 0 to 1"));
        }
        let plan = Arc::clone(self.plan());
        let (tx, rx) = oneshot::channel();
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            let _ = tx.send(runtime.block_on(fill(&plan, how)));
        };
        let started = thread::Builder::new().name("redis-prefill".into()).spawn(work);
        started.map(|_| rx).map_err(|_| self.thread_ended())
    }
}

fn fillings(plan: &Plan, how: Prefill) -> Vec<Filling> {
    let mut fillings: Vec<Filling> = Vec::new();
    for (command, _) in &plan.commands {
        let listed = |verb: &Command, other: &Command| Command {
            name: "prefill",
            parts: verb.parts.clone(),
            ..other.clone()
        };
        let filling = match command.name {
            "lpop" | "rpop" => (listed(&Command::rpush(), command), how.elements.unwrap_or(ELEMENTS), true),
            "spop" => (listed(&Command::sadd(), command), how.elements.unwrap_or(ELEMENTS), true),
            "zpopmin" => {
                // The score is the same, so that each request draws one number, and each element is another.
                let mut zadd = Command::zadd();
                zadd.parts[2] = Part::Literal(b"0".to_vec());
                (listed(&zadd, command), how.elements.unwrap_or(ELEMENTS), true)
            }
            name if name.starts_with("lrange_") => {
                (listed(&Command::rpush(), command), how.elements.unwrap_or(RANGE), true)
            }
            _ if command.reads != Reads::Nothing && command.parts.contains(&Part::Key("")) => {
                let count = (plan.keys.space() as f64 * how.part).round() as u64;
                (listed(&Command::set(), command), count, false)
            }
            _ => continue,
        };
        let filling = Filling { command: filling.0, count: filling.1, elements: filling.2 };
        match fillings.iter_mut().find(|other| other.command.parts == filling.command.parts) {
            Some(other) => other.count = other.count.max(filling.count),
            None => fillings.push(filling),
        }
    }
    fillings
}

async fn fill(plan: &Plan, how: Prefill) -> Result<Prefilled, RedisError> {
    let start = Instant::now();
    let mut done = Prefilled::default();
    for filling in fillings(plan, how).into_iter().filter(|f| f.count > 0) {
        let depth = (AT_ONCE / (plan.payload.size() + 64)).clamp(1, 1000);
        let command = Command { reads: Reads::Nothing, ..filling.command };
        let filler = Arc::new(Plan::new(
            plan.target.clone(),
            plan.space.clone(),
            vec![(command, 1)],
            Keys::sequential(filling.count),
            plan.payload,
            depth,
            Some(filling.count),
        ));
        write(&filler, filling.count).await?;
        *(if filling.elements { &mut done.elements } else { &mut done.keys }) += filling.count;
    }
    done.elapsed = start.elapsed();
    Ok(done)
}

async fn write(filler: &Arc<Plan>, count: u64) -> Result<(), RedisError> {
    let clock = Clock::real();
    let mut op = Op::for_session(clock.clone(), Default::default(), 0);
    let mut session = LeanSession::connect(filler, &mut op)
        .await
        .map_err(|failure| RedisError::server(&filler.target, &failure))?;
    for seq in 0..count.div_ceil(filler.depth as u64) {
        op.begin(clock.now(), seq);
        session.call(&mut op).await.map_err(|failure| RedisError::server(&filler.target, &failure))?;
        let failed = op.said().failed_units;
        if failed > 0 {
            let what = format!("{failed} of the values were refused while pre-filling");
            return Err(RedisError::Server { target: filler.target.to_string(), what });
        }
    }
    Ok(())
}
