//! Prints the samples: `cargo test -p report --test show -- --nocapture --ignored`.
mod common;
use common::*;

#[test]
#[ignore = "for the eye"]
fn show() {
    println!("{}", report::text(&nginx()));
    println!("{}", report::text(&record("overload", vec![overloaded(1)])));
    let mut r = nginx();
    r.streams[1].verdict = evidence(&[("in_flight", 0.62)]);
    r.streams[4].verdict = evidence(&[("in_flight", 0.71)]);
    r.streams[7].verdict = evidence(&[("in_flight", 0.7)]);
    r.streams[2].verdict = evidence(&[("in_flight", 0.87)]);
    r.streams[5].verdict = evidence(&[("in_flight", 0.67)]);
    books(&mut r.streams[0], 330, 1123);
    r.interrupted = true;
    r.labels.insert("superseded-by".into(), "run 7".into());
    r.judge();
    println!("{}", report::Text::new().colour(true).render(&r));
    println!("{}", report::text(&load_core::Record::new("empty", "")));
    println!("{}", report::text(&record("defaults", vec![Default::default()])));
}
