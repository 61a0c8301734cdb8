//! The entries of runs on the server.

use super::{BEAT, RUNS, owner::Owner};
use crate::{RedisError, admin::Admin, commands::Prefix};

/// Seconds after which a run that does not renew its beat is taken for dead, if its process cannot be seen.
const BEAT_SECONDS: &[u8] = b"60";

/// A run found on the server.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) prefix: Prefix,
    pub(super) dead: bool,
    /// Seconds since 1970.
    pub(super) began: u64,
}

fn beat_key(prefix: Prefix) -> String {
    format!("{BEAT}{}", prefix.text())
}

/// All runs that have an entry. What is not an entry of ours is left alone.
pub(super) async fn list(admin: &mut Admin, here: &Owner) -> Result<Vec<Run>, RedisError> {
    let entries = admin.ask(&[b"HGETALL", RUNS.as_bytes()]).await?;
    let entries = entries.into_pairs().ok_or_else(|| admin.unexpected("HGETALL"))?;
    let mut runs = Vec::new();
    for (field, value) in entries {
        let Some(prefix) = field.as_bytes().and_then(Prefix::parse) else { continue };
        let Some(owner) = value.as_bytes().and_then(|v| serde_json::from_slice::<Owner>(v).ok()) else {
            continue;
        };
        let beats = admin.ask(&[b"EXISTS", beat_key(prefix).as_bytes()]).await?.as_integer() == Some(1);
        runs.push(Run { prefix, dead: owner.is_dead(here, beats), began: owner.began });
    }
    Ok(runs)
}

/// Makes `prefix` ours; `false` when another run has it. The beat comes first: an entry without one looks dead.
pub(super) async fn claim(admin: &mut Admin, prefix: Prefix, owner: &Owner) -> Result<bool, RedisError> {
    let beat = beat_key(prefix);
    let set = admin.ask(&[b"SET", beat.as_bytes(), b"1", b"NX", b"EX", BEAT_SECONDS]).await?;
    if set.as_bytes().is_none() {
        return Ok(false);
    }
    let entry = serde_json::to_vec(owner).unwrap_or_default();
    let claimed = admin.ask(&[b"HSETNX", RUNS.as_bytes(), prefix.bytes(), &entry]).await?;
    if claimed.as_integer() == Some(1) {
        return Ok(true);
    }
    admin.ask(&[b"UNLINK", beat.as_bytes()]).await?;
    Ok(false)
}

/// Shows that we live; also makes the entry anew, as the server may have been restarted without its data.
pub(super) async fn renew(admin: &mut Admin, prefix: Prefix, owner: &Owner) -> Result<(), RedisError> {
    admin.ask(&[b"SET", beat_key(prefix).as_bytes(), b"1", b"EX", BEAT_SECONDS]).await?;
    let entry = serde_json::to_vec(owner).unwrap_or_default();
    admin.ask(&[b"HSETNX", RUNS.as_bytes(), prefix.bytes(), &entry]).await?;
    Ok(())
}

/// Removes a run's entry, when its keys are gone.
pub(super) async fn remove(admin: &mut Admin, prefix: Prefix) -> Result<(), RedisError> {
    admin.ask(&[b"HDEL", RUNS.as_bytes(), prefix.bytes()]).await?;
    admin.ask(&[b"UNLINK", beat_key(prefix).as_bytes()]).await?;
    Ok(())
}
