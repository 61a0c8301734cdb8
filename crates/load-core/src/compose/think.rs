//! Time that a user thinks between two operations.

use crate::{ConfigError, Failure, NullTargetError, Nulled, Op, Outcome, Session, SessionId, Workload};
use rand::RngExt;
use rand_distr::Exp1;
use std::{
    fmt,
    ops::{Range, RangeInclusive},
    time::Duration,
};

/// `workload` by users who think for some time after each operation before they begin the next. It makes a closed
/// loop a model of so many users: with c users, response time R and think time Z the rate is c / (R + Z).
///
/// The time counts neither as in flight nor in any time of an operation ([`Session::think`]). In an open loop the
/// schedule says when operations start, and nobody thinks.
///
/// ```
/// use load_core::{ThinkTime, think, workload};
/// use std::time::Duration;
/// let page = workload(async |_| Ok(()));
/// let ms = Duration::from_millis;
/// let steady = think(page.clone(), ms(500));
/// let between = think(page.clone(), ms(200)..ms(800));
/// let random = think(page, ThinkTime::exponential(ms(500)));
/// ```
pub fn think<W: Workload>(workload: W, time: impl Into<ThinkTime>) -> Think<W> {
    Think { workload, time: time.into() }
}

/// How long one thinks. From a [`Duration`] it is always the same, from a range uniform within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThinkTime(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fixed(Duration),
    Uniform(Duration, Duration),
    Exponential(Duration),
}

impl ThinkTime {
    /// Always the same.
    pub fn fixed(time: Duration) -> ThinkTime {
        ThinkTime(Kind::Fixed(time))
    }

    /// Uniform from `min` to `max`.
    pub fn uniform(min: Duration, max: Duration) -> ThinkTime {
        ThinkTime(Kind::Uniform(min, max))
    }

    /// Exponential with this mean.
    pub fn exponential(mean: Duration) -> ThinkTime {
        ThinkTime(Kind::Exponential(mean))
    }

    fn validate(self) -> Result<(), ConfigError> {
        match self.0 {
            Kind::Uniform(min, max) if min > max => {
                Err(ConfigError::invalid("think.time", self, "the first is at most the second"))
            }
            _ => Ok(()),
        }
    }

    fn draw(self, op: &mut Op) -> Duration {
        match self.0 {
            Kind::Fixed(time) => time,
            Kind::Uniform(min, max) => min + max.saturating_sub(min).mul_f64(op.rng().random()),
            Kind::Exponential(mean) => {
                let times: f64 = op.rng().sample(Exp1);
                Duration::try_from_secs_f64(mean.as_secs_f64() * times).unwrap_or(Duration::MAX)
            }
        }
    }
}

impl From<Duration> for ThinkTime {
    fn from(time: Duration) -> ThinkTime {
        ThinkTime::fixed(time)
    }
}

impl From<Range<Duration>> for ThinkTime {
    fn from(range: Range<Duration>) -> ThinkTime {
        ThinkTime::uniform(range.start, range.end)
    }
}

impl From<RangeInclusive<Duration>> for ThinkTime {
    fn from(range: RangeInclusive<Duration>) -> ThinkTime {
        ThinkTime::uniform(*range.start(), *range.end())
    }
}

impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = humantime::format_duration;
        match self.0 {
            Kind::Fixed(time) => write!(f, "{}", text(time)),
            Kind::Uniform(min, max) => write!(f, "{} to {}", text(min), text(max)),
            Kind::Exponential(mean) => write!(f, "{} on average, exponential", text(mean)),
        }
    }
}

/// See [`think`].
#[derive(Clone)]
pub struct Think<W> {
    workload: W,
    time: ThinkTime,
}

impl<W> fmt::Debug for Think<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Think").field("time", &self.time).finish_non_exhaustive()
    }
}

impl<W: Workload> Workload for Think<W> {
    type Session = ThinkSession<W::Session>;

    async fn connect(&self, id: &SessionId, op: &mut Op) -> Result<Self::Session, Failure> {
        Ok(ThinkSession { session: self.workload.connect(id, op).await?, time: self.time })
    }

    fn describe(&self) -> String {
        format!("{}, thinking {}", self.workload.describe(), self.time)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.time.validate()?;
        self.workload.validate()
    }

    /// Without thinking: what the client can do is measured, not what its users would ask of it.
    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Self>>, NullTargetError> {
        let nulled = self.workload.null_target(delay)?;
        Ok(nulled.map(|nulled| nulled.map(|workload| think(workload, Duration::ZERO))))
    }
}

/// A session of [`think`].
#[derive(Debug)]
pub struct ThinkSession<S> {
    session: S,
    time: ThinkTime,
}

impl<S: Session> Session for ThinkSession<S> {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        self.session.call(op).await
    }

    fn prepare(&mut self, op: &mut Op) {
        self.session.prepare(op);
    }

    /// This one's time and what the inner session thinks.
    fn think(&mut self, op: &mut Op) -> Option<Duration> {
        let inner = self.session.think(op).unwrap_or_default();
        Some(inner.saturating_add(self.time.draw(op))).filter(|time| !time.is_zero())
    }

    async fn close(self) {
        self.session.close().await;
    }
}
