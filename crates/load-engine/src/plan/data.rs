//! The plan as data, and its hash.

use super::{Plan, ns};
use load_core::record::plan_hash;
use serde_json::{Value, json};

impl Plan {
    /// The plan as data: what its hash is made of.
    pub fn to_json(&self) -> Value {
        let streams: Vec<_> = self
            .streams
            .iter()
            .map(|s| json!({"name": s.name(), "workload": s.workload(), "load": s.load}))
            .collect();
        json!({
            "experiment": self.experiment,
            "streams": streams,
            "levels": self.levels.iter().map(|(level, load)| json!({"level": level, "load": load})).collect::<Vec<_>>(),
            "warmup_ns": ns(self.warmup),
            "measure_ns": self.measure_limit().map(ns),
            "measure_count": self.count,
            "drain_ns": ns(self.drain),
            "window_ns": ns(self.window),
            "rounds": self.rounds,
            "rounds_until": self.until,
            "phases": self.phases,
            "seed": self.seed,
            "settings": self.settings,
        })
    }

    /// SHA-256 over the canonical form of [`to_json`](Plan::to_json).
    pub fn hash(&self) -> String {
        plan_hash(&self.to_json())
    }
}
