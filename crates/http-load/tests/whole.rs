//! Whole runs: what the record says of answers that are bad or none.

mod common;

use http_load::Http;
use load_core::{Class, Load, Record, Status};
use load_engine::Plan;
use std::time::Duration;
use testbed::{Known, Reply};

fn plan(workload: Http, load: Load) -> Plan {
    Plan::new().stream("s", workload, load).calibrate(Duration::ZERO)
}

fn run(plan: Plan) -> Record {
    let record = plan.run().unwrap();
    let a = &record.streams[0].accounting;
    assert_eq!(a.scheduled, a.succeeded + a.failed + a.dropped + a.skipped + a.unfinished, "{a:?}");
    record
}

#[test]
fn fast_refusals_do_not_make_the_answers_faster() {
    // Nine of ten are turned away at once.
    let good = Reply::http(200, "ok").delay(Duration::from_millis(100));
    let server = Known::http().status(429).delay(Duration::from_millis(1)).every(10, good).start().unwrap();
    let record = run(plan(Http::get(&server.url()).unwrap(), Load::closed(20)).measure_count(600));
    let s = &record.streams[0];
    assert_eq!((s.accounting.scheduled, s.accounting.succeeded, s.accounting.failed), (600, 60, 540));
    let [why] = &*s.failures else { panic!("{:?}", s.failures) };
    assert_eq!((why.class, &*why.code, why.count), (Class::Status, "429", 540));
    // Each apart: what the good ones took is not made better by the others.
    let (good, bad) = (s.service.as_ref().unwrap(), s.failed_service.as_ref().unwrap());
    assert_eq!((good.count, s.response.as_ref().unwrap().count, bad.count), (60, 60, 540));
    assert!(good.min_ns >= 100_000_000, "{good:?}");
    assert!(bad.min_ns >= 1_000_000 && bad.p50_ns < good.p50_ns, "{bad:?} {good:?}");
    // Two rates: of answers, and of those that are any good.
    let each = s.completed_per_s / s.succeeded_per_s;
    assert!((each - 10.0).abs() < 1e-6, "{} and {}", s.succeeded_per_s, s.completed_per_s);
}

#[test]
fn connections_that_the_server_will_not_have_are_said() {
    // It takes them all and resets those over 50.
    let server = Known::http().max_connections(50).delay(Duration::from_millis(5)).start().unwrap();
    let record =
        run(plan(Http::get(&server.url()).unwrap(), Load::closed(100)).measure(Duration::from_secs(1)));
    let s = &record.streams[0];
    assert!(s.accounting.succeeded > 0, "50 of them work: {:?}", s.accounting);
    let all = || s.failures.iter().chain(&s.connects.failures);
    assert!(all().map(|f| f.count).sum::<u64>() >= 50, "{s:?}");
    assert!(all().all(|f| matches!(f.class, Class::Reset | Class::Closed | Class::Connect)), "{s:?}");
    assert_ne!(s.verdict.status, Status::Valid, "{:?}", s.verdict);
}

#[test]
fn a_server_of_another_protocol_is_told_in_words() {
    for (server, sample) in [
        (Known::echo().start().unwrap(), "GET / HTTP/1.1"),
        (Known::raw("-ERR unknown command\r\n").start().unwrap(), "-ERR unknown command"),
    ] {
        let record =
            run(plan(Http::get(&server.url()).unwrap(), Load::closed(2)).measure(Duration::from_millis(300)));
        let s = &record.streams[0];
        assert!(s.accounting.succeeded == 0 && s.accounting.failed > 0, "{:?}", s.accounting);
        assert!(s.response.is_none() && s.succeeded_per_s == 0.0);
        assert!(s.failures.iter().all(|f| f.class == Class::Protocol), "{:?}", s.failures);
        assert!(s.failures[0].example.contains(sample), "{:?}", s.failures);
        assert_ne!(s.verdict.status, Status::Valid, "{:?}", s.verdict);
    }
}

#[cfg(all(feature = "tls", feature = "http2"))]
#[test]
fn what_cannot_be_agreed_on_fails_before_anything_is_measured() {
    use http_load::{NullTarget, Tls};
    let target = NullTarget::start_tls(Duration::ZERO).unwrap();
    let url = format!("https://{}/", target.address());
    let page = || Http::get(&url).unwrap();
    for (http, words) in [
        (page(), "Tls::unverified"),
        (page().tls(Tls::unverified()).unwrap().http2(1).unwrap(), "does not agree to speak h2"),
    ] {
        let said = plan(http, Load::closed(4)).measure(Duration::from_secs(1)).run().unwrap_err().to_string();
        assert!(said.contains("0 of 4 sessions") && said.contains(words), "{said}");
    }
    let good = page().tls(Tls::unverified()).unwrap();
    let record = run(plan(good, Load::closed(4)).measure_count(100));
    assert_eq!(record.streams[0].accounting.succeeded, 100);
    assert_eq!(record.streams[0].facts["protocol"], "HTTP/1.1");
}
