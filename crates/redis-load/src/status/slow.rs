//! What the server itself found slow.

use crate::{RedisError, admin::Admin, resp::Value};
use load_core::Readings;
use std::collections::HashMap;

/// Entries that one reading looks at and tells at most; a flood of them says no more.
const TOLD: usize = 5;

/// Where the two logs have been read to.
#[derive(Debug, Default)]
pub(super) struct Slow {
    last_id: Option<i64>,
    spikes: HashMap<String, i64>,
    started: bool,
    /// The user may not read them.
    refused: bool,
}

impl Slow {
    pub(super) fn forget(&mut self) {
        *self = Slow { refused: self.refused, ..Slow::default() };
    }

    /// Tells new entries as events. A server that does not let us look is not asked again.
    pub(super) async fn tell(
        &mut self,
        admin: &mut Admin,
        prefix: &str,
        readings: &mut Readings,
    ) -> Result<(), RedisError> {
        if self.refused {
            return Ok(());
        }
        let asked = async {
            let slow = admin.ask(&[b"SLOWLOG", b"GET", TOLD.to_string().as_bytes()]).await?;
            let spikes = admin.ask(&[b"LATENCY", b"LATEST"]).await?;
            Ok((slow, spikes))
        };
        match asked.await {
            Ok((slow, spikes)) => {
                self.tell_commands(slow, prefix, readings);
                self.tell_spikes(spikes, prefix, readings);
                self.started = true;
                Ok(())
            }
            Err(RedisError::Refused { .. }) => {
                self.refused = true;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Entries of SLOWLOG, newest first: id, time, microseconds, arguments. Only the verb is told: arguments are data.
    fn tell_commands(&mut self, entries: Value, prefix: &str, readings: &mut Readings) {
        let mut newest = self.last_id;
        for entry in entries.into_list().unwrap_or_default() {
            let Some(fields) = entry.into_list() else { continue };
            let [id, _, micros, arguments, ..] = fields.as_slice() else { continue };
            let (Some(id), Some(micros)) = (id.as_integer(), micros.as_integer()) else { continue };
            let verb = match arguments {
                Value::List(parts) => parts.first().and_then(Value::as_text),
                _ => None,
            };
            if self.started && self.last_id.is_none_or(|last| id > last) {
                let verb = verb.unwrap_or_default();
                readings.event(format!("{prefix} slow command"), format!("{verb} took {micros} µs"));
            }
            newest = newest.max(Some(id));
        }
        self.last_id = newest;
    }

    /// Entries of LATENCY LATEST: event, time, last and worst in ms. Empty unless `latency-monitor-threshold` is set.
    fn tell_spikes(&mut self, entries: Value, prefix: &str, readings: &mut Readings) {
        for entry in entries.into_list().unwrap_or_default() {
            let Some(fields) = entry.into_list() else { continue };
            let [event, time, last, ..] = fields.as_slice() else { continue };
            let (Some(event), Some(time), Some(last)) =
                (event.as_text(), time.as_integer(), last.as_integer())
            else {
                continue;
            };
            if self.spikes.insert(event.clone(), time) != Some(time) && self.started {
                readings.event(format!("{prefix} latency spike"), format!("{event}: {last} ms"));
            }
        }
    }
}
