//! The workload and how it is set up.

use crate::{
    Command, Keys, Payload, RedisError, RedisSession, Space, Target, fred_client::FredCommands,
    isolation::SpaceInfo, lean::LeanSession, plan::Plan, session::Inner,
};
use load_core::{Failure, NullTargetError, Nulled, Op, SessionId, Workload};
use std::{fmt, sync::Arc, time::Duration};

/// Deeper pipelines measure buffers.
const DEEPEST: usize = 10_000;
const MOST_WEIGHT: u32 = 1_000_000;

/// Which client sends the commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Client {
    /// Our own: one connection for each session, requests encoded once, answers walked over in place.
    #[default]
    Lean,
    /// [fred](crate::fred), with settings for measuring: one client for each session, a pipeline's commands queued together.
    Fred,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Client::Lean => "lean",
            Client::Fred => "fred 10.1",
        })
    }
}

/// Commands against a server, as a [`Workload`]. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Redis {
    plan: Arc<Plan>,
    client: Client,
}

impl Redis {
    /// Commands on keys of this space.
    pub fn within(space: &Space) -> RedisBuilder {
        RedisBuilder::new(space.info.target.clone(), Some(Arc::clone(&space.info)))
    }

    /// Commands without keys, such as [`Command::ping`] or a custom `INFO`.
    pub fn at(target: &Target) -> RedisBuilder {
        RedisBuilder::new(target.clone(), None)
    }

    /// The same workload against a null target: same client, same bytes.
    #[cfg(target_os = "linux")]
    pub fn pointed_at(&self, null: &crate::NullTarget) -> Redis {
        let plan = &self.plan;
        let target = null.instead_of(&plan.target);
        let plan = Plan::new(
            target,
            plan.space.clone(),
            plan.commands.clone(),
            plan.keys.clone(),
            plan.payload,
            plan.depth,
            plan.total,
        );
        Redis { plan: Arc::new(plan), client: self.client }
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    fn say_facts(&self, op: &mut Op) {
        let plan = &self.plan;
        op.fact("client", self.client.to_string());
        op.fact("protocol", plan.target.spoken());
        op.fact("pipeline", plan.depth.to_string());
        op.fact("keys", plan.keys.to_string());
        op.fact("payload", plan.payload.to_string());
        op.fact("commands", plan.commands_text());
        op.fact("server", plan.target.to_string());
        op.fact(
            "timed",
            "from before the write until the last answer was parsed; keys and values are made before",
        );
    }
}

impl Workload for Redis {
    type Session = RedisSession;

    fn describe(&self) -> String {
        let plan = &self.plan;
        format!(
            "redis {}, keys {}, {}, pipeline {}, {} client, {}",
            plan.commands_text(),
            plan.keys,
            plan.payload,
            plan.depth,
            self.client,
            plan.target.spoken()
        )
    }

    #[cfg(target_os = "linux")]
    fn null_target(&self, delay: Duration) -> Result<Option<Nulled<Redis>>, NullTargetError> {
        let null =
            crate::NullTarget::start(self, delay).map_err(|e| NullTargetError::new(self.describe(), e))?;
        Ok(Some(Nulled::new(self.pointed_at(&null), null)))
    }

    async fn connect(&self, _: &SessionId, op: &mut Op) -> Result<RedisSession, Failure> {
        if self.plan.space.as_ref().is_some_and(|space| space.is_closed()) {
            return Err(Failure::check("the space is closed"));
        }
        self.say_facts(op);
        match self.client {
            Client::Lean => LeanSession::connect(&self.plan, op).await.map(|s| RedisSession(Inner::Lean(s))),
            Client::Fred => FredCommands::connect(&self.plan, op).await.map(|s| RedisSession(Inner::Fred(s))),
        }
    }
}

/// Sets up a [`Redis`] workload. What redis-benchmark does is the default: one key, three bytes, no pipeline.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct RedisBuilder {
    target: Target,
    space: Option<Arc<SpaceInfo>>,
    commands: Vec<(Command, u32)>,
    keys: Keys,
    payload: Payload,
    depth: usize,
    total: Option<u64>,
    client: Client,
}

impl RedisBuilder {
    fn new(target: Target, space: Option<Arc<SpaceInfo>>) -> RedisBuilder {
        RedisBuilder {
            target,
            space,
            commands: Vec::new(),
            keys: Keys::one(),
            payload: Payload::default(),
            depth: 1,
            total: None,
            client: Client::default(),
        }
    }

    /// The command to send. Further ones make a mix of equal parts.
    pub fn command(self, command: Command) -> RedisBuilder {
        self.weighted(command, 1)
    }

    /// One command of a mix: each request is drawn by weight, also within a pipeline.
    pub fn weighted(mut self, command: Command, weight: u32) -> RedisBuilder {
        self.commands.push((command, weight));
        self
    }

    /// The key space and how keys are drawn from it; [`Keys::one`] by default.
    pub fn keys(mut self, keys: Keys) -> RedisBuilder {
        self.keys = keys;
        self
    }

    /// The values; three fixed bytes by default.
    pub fn payload(mut self, payload: Payload) -> RedisBuilder {
        self.payload = payload;
        self
    }

    /// Requests that are sent at once, before their answers are read: one operation is so many units. 1 by default.
    pub fn pipeline(mut self, depth: usize) -> RedisBuilder {
        self.depth = depth;
        self
    }

    /// Sends this many commands in all and no more, when the run is one by count without a warm-up: the last pipeline may
    /// be shorter than the others.
    pub fn total_commands(mut self, count: u64) -> RedisBuilder {
        self.total = Some(count);
        self
    }

    /// Which client sends them; [`Client::Lean`] by default. The record says which.
    pub fn client(mut self, client: Client) -> RedisBuilder {
        self.client = client;
        self
    }

    /// Checks everything; connects nothing.
    ///
    /// # Errors
    /// [`RedisError::Config`] names the setting and the value that cannot be meant.
    pub fn build(self) -> Result<Redis, RedisError> {
        self.target.check()?;
        self.keys.check()?;
        self.payload.check()?;
        if self.commands.is_empty() {
            return Err(RedisError::config("command", "none", "give one at least"));
        }
        if !(1..=DEEPEST).contains(&self.depth) {
            return Err(RedisError::config("pipeline", self.depth, "give 1 to 10000"));
        }
        if self.total == Some(0) {
            return Err(RedisError::config("total_commands", 0, "give 1 at least"));
        }
        for (command, weight) in &self.commands {
            if !(1..=MOST_WEIGHT).contains(weight) {
                let reason = "a weight must be 1 to 1000000";
                return Err(RedisError::config("weighted", format!("{} {weight}", command.name), reason));
            }
            if self.space.is_none() && command.has_keys() {
                let reason = "it has keys: open a space (`Target::isolate`) and use `Redis::within`";
                return Err(RedisError::config("command", command.name, reason));
            }
        }
        let plan = Plan::new(
            self.target,
            self.space,
            self.commands,
            self.keys,
            self.payload,
            self.depth,
            self.total,
        );
        Ok(Redis { plan: Arc::new(plan), client: self.client })
    }
}
