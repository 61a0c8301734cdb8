//! A schedule as data, written and read.

use super::{Kind, Part, Schedule, Spacing};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

#[derive(Serialize)]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<&'a [Part]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<String>,
    spacing: Spacing,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(default)]
    parts: Vec<Part>,
    process: Option<String>,
    #[serde(default)]
    spacing: Spacing,
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (parts, process) = match &self.kind {
            Kind::Data { parts, .. } => (Some(&parts[..]), None),
            Kind::Process(process) => (None, Some(process.describe())),
        };
        Written { parts, process, spacing: self.spacing }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Schedule, D::Error> {
        let read = Read::deserialize(deserializer)?;
        if let Some(process) = read.process {
            let text = format!("schedule.process: {process} is not data and cannot be read back");
            return Err(D::Error::custom(text));
        }
        Schedule::of(read.parts, read.spacing).map_err(D::Error::custom)
    }
}
