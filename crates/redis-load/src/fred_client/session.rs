//! The listed commands through fred.

use super::{Connected, frames::known, requests::Maker};
use crate::{
    classify, commands::Slot, connection::Receiver, hits::HitWatch, keys::Sampler, plan::Plan, resp::Sink,
    tally::Tally,
};
use bytes::Bytes;
use fred::{interfaces::ClientLike, types::Resp3Frame};
use futures_util::future::join_all;
use load_core::{Failure, Op, Outcome};
use std::{collections::VecDeque, fmt, sync::Arc};

/// One client's worth of requests.
pub(crate) struct FredCommands {
    plan: Arc<Plan>,
    connected: Connected,
    makers: Vec<Maker>,
    keys: Sampler,
    draws: u64,
    slots: Vec<Slot>,
    values: VecDeque<Bytes>,
    requests: Vec<Vec<fred::types::Value>>,
    ready: bool,
    hits: HitWatch,
}

impl FredCommands {
    pub(crate) async fn connect(plan: &Arc<Plan>, op: &mut Op) -> Result<FredCommands, Failure> {
        Ok(FredCommands {
            connected: Connected::open(&plan.target, op).await?,
            makers: plan.commands.iter().map(|(command, _)| Maker::new(command, plan)).collect(),
            keys: plan.sampler(),
            draws: plan.batch().draws(),
            slots: Vec::with_capacity(plan.depth),
            values: VecDeque::new(),
            requests: Vec::with_capacity(plan.depth),
            plan: Arc::clone(plan),
            ready: false,
            hits: HitWatch::default(),
        })
    }

    pub(crate) fn prepare(&mut self, op: &mut Op) {
        self.slots.clear();
        self.values.clear();
        for _ in 0..self.plan.depth {
            let command = if self.plan.is_mix() { self.plan.menu.choose(op.rng()) } else { 0 };
            self.makers[command].make_values(&mut self.values, op.rng());
            self.slots.push(Slot::of(command, 0));
        }
        if !self.plan.keys.is_sequential() {
            self.draw_keys(op);
        }
        self.ready = true;
    }

    /// Keys in sequence wait for the operation's number.
    fn draw_keys(&mut self, op: &mut Op) {
        self.requests.clear();
        for slot in &mut self.slots {
            let maker = &self.makers[slot.command];
            let (args, key) = maker.make(&mut self.values, &mut self.keys, op.rng());
            slot.key = key;
            self.requests.push(args);
        }
    }

    pub(crate) async fn call(&mut self, op: &mut Op) -> Outcome {
        if !std::mem::take(&mut self.ready) {
            self.prepare(op);
            self.ready = false;
        }
        if self.plan.keys.is_sequential() {
            self.keys.go_to(op.seq().wrapping_mul(self.draws));
            self.draw_keys(op);
        }
        let count = self.plan.count(op.seq());
        if count == 0 {
            op.units(0);
            return Ok(());
        }
        if self.connected.is_lost() {
            op.units(0);
            op.failed_units(count as u64);
            return Err(Connected::lost_before());
        }
        let shared = self.plan.value.bytes.len();
        let sent = self.slots[..count].iter().map(|slot| self.plan.menu.wire_len(slot.command, shared)).sum();
        op.bytes_out(sent);
        let client = &self.connected.client;
        let mut calls = self
            .requests
            .drain(..)
            .zip(&self.slots)
            .take(count)
            .map(|(args, slot)| client.custom_raw(self.makers[slot.command].command.clone(), args));
        let mut tally = Tally::new(&self.plan, &self.slots);
        let mut lost = None;
        if count == 1 {
            if let Some(call) = calls.next() {
                take(&mut tally, op, call.await, &mut lost);
            }
        } else {
            // fred's own pipeline would flush after each command; commands queued together go out together.
            for result in join_all(calls).await {
                take(&mut tally, op, result, &mut lost);
            }
        }
        match lost {
            None => tally.finish(op, count, &mut self.hits).map_err(|failure| match failure.code() {
                // fred drops the connection when it sees this one.
                "CLUSTERDOWN" => failure.reconnect(),
                _ => failure,
            }),
            Some(failure) => {
                tally.say(op, count);
                Err(failure)
            }
        }
    }
}

/// Counts one result; keeps the first error that is none of the server's.
fn take(
    tally: &mut Tally<'_>,
    op: &mut Op,
    result: Result<Resp3Frame, fred::error::Error>,
    lost: &mut Option<Failure>,
) {
    match result {
        Ok(frame) => {
            let known = known(&frame, tally.protocol());
            op.bytes_in(known.wire);
            if let Resp3Frame::BlobString { data, .. } = &frame {
                tally.bytes(0, data);
            }
            tally.reply(known.reply, &known.error);
        }
        Err(error) => match classify::fred_reply(&error) {
            Some(text) => tally.error_reply(&text),
            None => {
                tally.pass();
                lost.get_or_insert_with(|| classify::fred_failure(error));
            }
        },
    }
}

impl fmt::Debug for FredCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FredCommands").field("plan", &self.plan).finish_non_exhaustive()
    }
}
