//! Fewer connections than sessions: waiting for one is limited, told apart, and over when the server is back.

use crate::fixture::{Pg, loaded};
use load_core::{Class, Load, Record};
use load_engine::Plan;
use pg_load::{Pool, Postgres, Script};
use std::time::{Duration, Instant};

fn sleeper(pg: &Pg, seconds: f64, pool: Pool) -> Postgres {
    let script = Script::new("sleep").statement("sleep", &format!("SELECT pg_sleep({seconds})")).unwrap();
    Postgres::script(&pg.server(), script).unwrap().pool(pool).unwrap()
}

/// On one worker, so that there is one pool.
fn run(workload: Postgres, sessions: usize, seconds: u64) -> Record {
    Plan::new()
        .stream("postgres", workload, Load::closed(sessions).workers(1))
        .measure(Duration::from_secs(seconds))
        .drain(Duration::from_millis(500))
        .calibrate(Duration::ZERO)
        .run()
        .unwrap()
}

#[test]
fn an_exhausted_pool_is_a_class_of_its_own_and_does_not_hold_up_the_end() {
    let Some(pg) = Pg::start(&[]) else { return };
    let limit = Duration::from_secs(1);
    let pool = Pool::new(2).unwrap().wait_timeout(limit).unwrap();
    let start = Instant::now();
    let record = run(sleeper(&pg, 30.0, pool), 10, 4);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    let stream = &record.streams[0];
    assert_eq!((stream.accounting.succeeded, stream.accounting.unfinished >= 2), (0, true));
    assert_eq!(stream.failures.len(), 1, "{:?}", stream.failures);
    let failure = &stream.failures[0];
    assert_eq!((failure.class, failure.code.as_str()), (Class::Pool, "wait timeout"));
    // Eight of ten, about once a second.
    assert!((8..=32).contains(&failure.count), "{failure:?}");
    let waited = stream.failed_service.as_ref().unwrap();
    assert!(waited.min_ns >= limit.as_nanos() as u64 && waited.p50_ns < 1_500_000_000, "{waited:?}");
    assert_eq!(stream.accounting.unknown, 0, "nothing was sent");
}

#[test]
fn waiting_for_the_pool_is_told_apart_from_the_statement_and_within_the_response() {
    let Some(pg) = Pg::start(&[]) else { return };
    let record = run(sleeper(&pg, 0.1, Pool::new(2).unwrap()), 20, 8);
    let stream = &record.streams[0];
    assert!(stream.accounting.balances() && stream.accounting.failed == 0, "{:?}", stream.accounting);
    let ms = |name: &str| stream.steps[name].mean_ns / 1e6;
    let (wait, sleep) = (ms("pool_wait"), ms("sleep"));
    let response = stream.response.as_ref().unwrap().mean_ns / 1e6;
    assert!((100.0..130.0).contains(&sleep), "{sleep}");
    // Nine turns of the two before one's own; less at the start, when nobody waits yet.
    assert!((7.5 * sleep..=9.2 * sleep).contains(&wait), "{wait}");
    assert!(((wait + sleep) / response - 1.0).abs() < 0.02, "{wait} + {sleep} is not {response}");
}

#[test]
fn a_pool_does_not_spin_while_the_server_is_away_and_works_again_after() {
    let Some((pg, server, _)) = loaded(&[], 4) else { return };
    let workload = Postgres::tpcb(&server, 4).unwrap().pool(Pool::new(4).unwrap()).unwrap();
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            pg.down();
            std::thread::sleep(Duration::from_secs(2));
            pg.up();
        });
        run(workload, 8, 9)
    });
    let stream = &record.streams[0];
    let a = &stream.accounting;
    let said = format!("{a:?} {:?} {:?}", stream.connects, stream.failures);
    assert!(a.balances() && a.failed > 0, "{said}");
    // Without a pause it would have been tried tens of thousands of times.
    assert!(a.failed + stream.connects.failed < 1000, "{said}");
    let of = |from: usize, to: usize| stream.windows[from..to].iter().map(|w| w.succeeded).sum::<u64>();
    assert!(of(0, 2) > 0 && of(7, 9) > 0, "it worked before and after: {said}");
    for failure in &stream.failures {
        let known = [Class::Sql, Class::Closed, Class::Reset, Class::Connect, Class::Pool];
        assert!(known.contains(&failure.class), "{said}");
        assert!(failure.class != Class::Sql || failure.code.starts_with("57P0"), "{said}");
    }
}
