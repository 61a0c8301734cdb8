//! The thread that holds a space: it opens it, renews its beat, and clears it in the end, on any runtime or none.

use super::{
    foreign,
    owner::Owner,
    runs,
    space::{Isolation, SpaceInfo},
    sweep::{Scan, Swept, sweep},
};
use crate::{RedisError, admin::Admin, commands::Prefix};
use load_core::record::Check;
use std::{
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

/// A quarter of the time after which a run is taken for dead.
const BEAT_EVERY: Duration = Duration::from_secs(15);
const CHECK: &str = "cleanup.redis";

pub(super) type Order = oneshot::Sender<Check>;

/// What opening gave.
pub(super) struct Opened {
    pub(super) info: Arc<SpaceInfo>,
    pub(super) swept: Vec<Swept>,
}

/// Gives what opening came to.
pub(super) type Opening = oneshot::Receiver<Result<Opened, RedisError>>;

/// The thread, and the way to tell it to end.
pub(super) struct Keeper {
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) thread: thread::JoinHandle<()>,
}

/// Starts the thread.
pub(super) fn start(isolation: Isolation) -> std::io::Result<(Opening, Keeper)> {
    let (opened_tx, opened_rx) = oneshot::channel();
    let (order_tx, order_rx) = mpsc::unbounded_channel();
    let thread = thread::Builder::new().name("redis-space".into()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(run(isolation, opened_tx, order_rx));
    })?;
    Ok((opened_rx, Keeper { orders: order_tx, thread }))
}

async fn run(
    isolation: Isolation,
    opened: oneshot::Sender<Result<Opened, RedisError>>,
    mut orders: mpsc::UnboundedReceiver<Order>,
) {
    let owner = Owner::ourselves();
    let (mut admin, info, swept) = match open(&isolation, &owner).await {
        Ok((admin, info, swept)) => (Some(admin), Arc::new(info), swept),
        Err(error) => {
            let _ = opened.send(Err(error));
            return;
        }
    };
    let mut answer_to = None;
    // When whoever opened it is gone already, it is cleared at once.
    if opened.send(Ok(Opened { info: Arc::clone(&info), swept: swept.clone() })).is_ok() {
        loop {
            match timeout(BEAT_EVERY, orders.recv()).await {
                Ok(order) => {
                    answer_to = order;
                    break;
                }
                Err(_) => renew(&mut admin, &info, &owner).await,
            }
        }
    }
    info.closed.store(true, Ordering::Release);
    let check = clear(admin, &info, &swept, isolation.cleanup_limit).await;
    if let Some(answer) = answer_to {
        let _ = answer.send(check);
    }
}

async fn open(isolation: &Isolation, owner: &Owner) -> Result<(Admin, SpaceInfo, Vec<Swept>), RedisError> {
    let target = &isolation.target;
    let mut admin = Admin::open_when_ready(target, isolation.wait_ready).await?;
    let mut taken = Vec::new();
    let mut swept = Vec::new();
    for run in runs::list(&mut admin, owner).await? {
        if run.dead {
            let keys = sweep(&mut admin, run.prefix).await?;
            runs::remove(&mut admin, run.prefix).await?;
            swept.push(Swept { prefix: run.prefix.text().into(), began: run.began, keys });
        } else {
            taken.push(run.prefix);
        }
    }
    foreign::refuse(&mut admin, &taken, &isolation.allowed).await?;
    let prefix = claim(&mut admin, owner, !isolation.allowed.is_empty()).await?;
    Ok((admin, SpaceInfo::new(target.clone(), prefix), swept))
}

/// Finds a prefix that nobody has, also not by chance.
async fn claim(admin: &mut Admin, owner: &Owner, strangers: bool) -> Result<Prefix, RedisError> {
    for _ in 0..100 {
        let prefix = Prefix::random();
        if strangers && has_keys(admin, prefix).await? {
            continue;
        }
        if runs::claim(admin, prefix, owner).await? {
            return Ok(prefix);
        }
    }
    Err(RedisError::Server { target: admin.target().to_string(), what: "no key prefix is free".into() })
}

async fn has_keys(admin: &mut Admin, prefix: Prefix) -> Result<bool, RedisError> {
    let mut scan = Scan::of(admin, prefix);
    while let Some(keys) = scan.next().await? {
        if !keys.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A beat that fails is tried again at the next: on this machine it is the process that tells.
async fn renew(admin: &mut Option<Admin>, info: &SpaceInfo, owner: &Owner) {
    if admin.is_none() {
        *admin = Admin::open(&info.target).await.ok();
    }
    if let Some(open) = admin
        && runs::renew(open, info.prefix, owner).await.is_err()
    {
        *admin = None;
    }
}

/// Removes all that is ours, and sees that it is gone. A server that is down is waited for until the limit.
async fn clear(mut admin: Option<Admin>, info: &SpaceInfo, swept: &[Swept], limit: Duration) -> Check {
    let start = Instant::now();
    let work = async {
        loop {
            let left = limit.saturating_sub(start.elapsed());
            let tried = async {
                let mut open = match admin.take() {
                    Some(open) => open,
                    None => Admin::open_when_ready(&info.target, left).await?,
                };
                let removed = sweep(&mut open, info.prefix).await?;
                runs::remove(&mut open, info.prefix).await?;
                Ok::<u64, RedisError>(removed)
            };
            match tried.await {
                Err(error) if error.may_pass() && start.elapsed() < limit => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                result => return result,
            }
        }
    };
    let result = timeout(limit, work).await.unwrap_or_else(|_| {
        Err(RedisError::Server {
            target: info.target.to_string(),
            what: format!("not done within {limit:?}"),
        })
    });
    let elapsed = start.elapsed().as_nanos() as u64;
    let before: String = swept.iter().map(|s| format!("; removed before the run: {s}")).collect();
    let prefix = info.prefix.text();
    match result {
        Ok(keys) => {
            let detail =
                format!("{keys} keys under {prefix} removed from {}, none left{before}", info.target);
            Check::new(CHECK, true, elapsed, detail)
        }
        Err(error) => {
            let detail = format!(
                "keys under {prefix} may be left; the next run in this database removes them: {error}{before}"
            );
            Check::new(CHECK, false, elapsed, detail)
        }
    }
}
