//! Known answers in virtual time: exact, and the same at every run.

mod counting;
mod overload;
mod plans;
mod sessions;
mod timing;

use load_core::{Accounting, Op, Outcome, Record, VirtualTime, Workload, record::StreamRecord, workload};
use std::time::Duration;

const MS: u64 = 1_000_000;

/// A server that takes `service`, except that it answers nothing within the stall.
fn server(time: &VirtualTime, service: Duration, stall: std::ops::Range<u64>) -> impl Workload + use<> {
    let time = time.clone();
    workload(async move |_op: &mut Op| -> Outcome {
        let end = time.now() + service.as_nanos() as u64;
        let end = if stall.contains(&end) || stall.contains(&time.now()) {
            stall.end + service.as_nanos() as u64
        } else {
            end
        };
        time.sleep_until(end).await;
        Ok(())
    })
}

fn one(record: &Record) -> &StreamRecord {
    assert_eq!(record.streams.len(), 1);
    let stream = &record.streams[0];
    assert!(stream.accounting.balances(), "{:?}", stream.accounting);
    stream
}

fn books(scheduled: u64, succeeded: u64, dropped: u64, skipped: u64, unfinished: u64) -> Accounting {
    let mut a = Accounting::default();
    (a.scheduled, a.succeeded, a.dropped, a.skipped, a.unfinished) =
        (scheduled, succeeded, dropped, skipped, unfinished);
    a.started = succeeded;
    a
}
