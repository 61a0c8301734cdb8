//! What a run ran on.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine and its software: enough to say why two records are not comparable. What could not be read is `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Environment {
    /// Host name.
    pub host: Option<String>,
    /// Operating system and its version.
    pub os: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Hypervisor or container, `"none"` when none was seen.
    pub virtualisation: Option<String>,
    /// Model of the CPU.
    pub cpu_model: Option<String>,
    /// Cores that this process may use.
    pub cores: Option<u32>,
    /// Physical memory.
    pub memory_bytes: Option<u64>,
    /// Container engine and its version.
    pub container_engine: Option<String>,
    /// The servers under load, by stream or product name.
    pub servers: BTreeMap<String, Server>,
    /// Version of this project.
    pub openloop_version: Option<String>,
    /// Anything else that was read.
    #[serde(flatten)]
    pub more: BTreeMap<String, serde_json::Value>,
}

/// A server under load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Server {
    /// Its version.
    pub version: Option<String>,
    /// Settings that matter, without secrets.
    pub settings: BTreeMap<String, String>,
}

impl Server {
    /// A server of this version.
    pub fn new(version: impl Into<String>) -> Server {
        Server { version: Some(version.into()), settings: BTreeMap::new() }
    }

    /// Adds a setting.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Server {
        self.settings.insert(name.into(), value.into());
        self
    }
}
