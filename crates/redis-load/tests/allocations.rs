//! An operation of the lean client allocates nothing.

mod common;

use common::Driver;
use redis_load::{Command, Keys, NullTarget, Payload, Redis, RedisBuilder, Target};
use std::time::Duration;

/// How often 500 operations allocate, after as many to warm up.
fn allocations(load: RedisBuilder) -> u64 {
    let load = load.build().unwrap();
    let null = NullTarget::start(&load, Duration::ZERO).unwrap();
    let load = load.pointed_at(&null);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    let mut driver = runtime.block_on(Driver::connect(&load)).unwrap();
    let mut many = || {
        runtime.block_on(async {
            for _ in 0..500 {
                driver.once().await.unwrap();
            }
        });
    };
    many();
    // Counts this thread alone: the null target has its own.
    allocation_counter::measure(many).count_total
}

#[test]
fn an_operation_allocates_nothing() {
    let target = Target::url("redis://127.0.0.1:1").unwrap();
    let load = || Redis::at(&target).keys(Keys::zipf(1000, 0.99)).payload(Payload::random(100));
    let get = || Command::custom("GET").number().reads_value();
    let set = || Command::custom("SET").number().value();
    // Whatever the runtime itself allocates for being entered is a handful, not one for each operation.
    let few = 20;
    for (what, load) in [
        ("one", load().command(get())),
        ("a pipeline", load().command(set()).pipeline(16)),
        ("a mix", load().weighted(get(), 9).weighted(set(), 1)),
        ("a mixed pipeline", load().weighted(get(), 9).weighted(set(), 1).pipeline(16)),
        ("a large value", load().command(set()).payload(Payload::fixed(100_000)).pipeline(2)),
    ] {
        let count = allocations(load);
        assert!(count < few, "{what}: {count} allocations in 500 operations");
    }
}
