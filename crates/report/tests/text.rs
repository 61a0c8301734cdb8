//! The text report, line by line.

mod common;

use common::*;
use load_core::{
    Class, Record, Status,
    record::{Event, FailureCount, StreamRecord, Window},
};
use report::{Text, text};

/// The report with trailing white space as it is; panics with the whole report when a part is missing.
fn has(report: &str, part: &str) {
    assert!(report.contains(part), "\n--- not found:\n{part}\n--- in:\n{report}");
}

fn has_not(report: &str, part: &str) {
    assert!(!report.contains(part), "\n--- found:\n{part}\n--- in:\n{report}");
}

#[test]
fn a_sound_run_reads_from_verdict_to_environment() {
    let expected = "\
nginx_static · 2026-01-01T00:00:00Z

VALID: 3 rules checked in 9 measurements, none fired

sent all 13,818 scheduled operations: 13,818 succeeded, 0 failed
480 connects, none failed; every session was open at the start; the slowest took 199 µs

Closed loop: response time = service time = ended − started, in ms
stream     round            n  succeeded/s   mean    P50    P95    P99    max  errors
──────────────────────────────────────────────────────────────────────────────────────
nginx@10   median of 3  1,102     1,102.00  1.499  1.500  1.950  1.990  1.999       0
           lowest       1,101     1,101.00  1.499  1.499  1.949  1.989  1.998       0
           highest      1,103     1,103.00  1.499  1.500  1.950  1.990  1.999       0
nginx@50   median of 3  1,502     1,502.00  1.499  1.500  1.950  1.990  1.999       0
           lowest       1,501     1,501.00  1.499  1.499  1.949  1.989  1.998       0
           highest      1,503     1,503.00  1.500  1.500  1.950  1.990  1.999       0
nginx@100  median of 3  2,002     2,002.00  1.499  1.499  1.949  1.989  1.998       0
           lowest       2,001     2,001.00  1.499  1.499  1.949  1.989  1.998       0
           highest      2,003     2,003.00  1.499  1.500  1.950  1.990  1.999       0

Checks
check         result    took  detail
─────────────────────────────────────────────────────
nginx.reload  passed  660 ms  answered all the while

Readings over the whole run
series            mean   lowest  highest  points  gaps
───────────────────────────────────────────────────────
host.cpu.busy  60.00 %  50.00 %  70.00 %       2     0

limiter, measure: none of what was read was full: load generator (nginx) 34.00 %; not measured: host
  CPU, one core of a server, memory, disk and network

load generator: busiest thread at most 34.00 % of a core; in flight at least 0.99
method: warm-up 1 s; 3 rounds of 1 s; levels 10, 50 and 100 (rotated); drain up to 5 s; windows of
  1 s; percentiles: nearest rank
load: nginx (GET /): closed loop, 10, 50 and 100 sessions on 1 worker
seed: 42; plan 44136fa355b3; schema openloop.record/1
host: box · Debian 13 · kernel 6.12 · 2 cores · 8.00 GiB memory
server: nginx 1.26.3 (worker_processes = 1)
";
    assert_eq!(text(&nginx()), expected);
}

#[test]
fn a_reason_stands_once_with_its_rounds() {
    let mut r = nginx();
    for (i, x) in [(1, 0.62), (4, 0.71), (7, 0.7), (2, 0.87), (5, 0.67)] {
        r.streams[i].verdict = evidence(&[("in_flight", x)]);
    }
    r.judge();
    let report = Text::new().width(300).render(&r);
    has(
        &report,
        "
REJECTED: the numbers say more about the load generator than about the server
  in flight: the client did not keep its requests in flight, so the server was asked less than it says
    mean in flight / concurrency asked (suspect below 0.9, rejected below 0.8): 0.62 to 0.71 at nginx@50 in 3 of 3 rounds; 0.67 to 0.87 at nginx@100 in 2 of 3 rounds
",
    );
    assert_eq!(report.matches("the client did not keep its requests").count(), 1, "{report}");
}

#[test]
fn rejected_rounds_are_shown_and_not_averaged() {
    let mut r = nginx();
    // Level 50: all rejected. Level 100: the second round, with a rate far off.
    for i in [1, 4, 7, 5] {
        r.streams[i].verdict = evidence(&[("in_flight", 0.5)]);
    }
    r.streams[5].succeeded_per_s = 77_777.0;
    r.judge();
    let report = text(&r);
    has(
        &report,
        "\
nginx@50   1: rejected, not averaged  1,501     1,501.00  1.500  1.500  1.950  1.990  1.999       0
           2: rejected, not averaged  1,502     1,502.00  1.499  1.499  1.949  1.989  1.998       0
           3: rejected, not averaged  1,503     1,503.00  1.499  1.500  1.950  1.990  1.999       0
nginx@100  median of 2                2,002     2,002.00  1.499  1.500  1.949  1.989  1.998       0
           lowest                     2,001     2,001.00  1.499  1.499  1.949  1.989  1.998       0
           highest                    2,003     2,003.00  1.499  1.500  1.950  1.990  1.999       0
           2: rejected, not averaged  2,002    77,777.00  1.499  1.499  1.949  1.989  1.998       0
nginx@50: all 3 rounds were rejected; there is no average
",
    );
}

#[test]
fn an_overloaded_open_loop_says_what_was_not_sent_and_why() {
    let report = text(&record("overload", vec![overloaded(1)]));
    has(
        &report,
        "\
VALID: 2 rules checked in 1 measurement, none fired
finding at api@10/s: server saturated

sent 150 of 300 scheduled operations: 150 succeeded, 0 failed
  150 unfinished (still waiting when the phase ended)
  api@10/s: rate not reached: asked 10/s, reached 5/s; sessions (10) were the limit, not the rate:
    on average 10.0 of them were busy, 2 s with each operation
10 connects, none failed; every session was open at the start

Open loop: response time = ended − intended, in s
stream    round        n  offered/s  succeeded/s   mean    P50    P95    P99    max  errors
────────────────────────────────────────────────────────────────────────────────────────────
api@10/s  1          150      10.00         5.00  9.450  9.404  16.21  16.80  16.90       0
          95 % from                                      8.103  15.60
          95 % to                                        10.80  16.80
api@10/s: 150 operations given up unfinished, the oldest 14.9 s after its intended start: they would
  have taken longer, and no percentile holds them

Response time = wait (started − intended) + service (ended − started), in s
stream    round  service mean    P50    P99    max  wait mean    P50    P99    max
───────────────────────────────────────────────────────────────────────────────────
api@10/s  1             2.000  2.000  2.000  2.000      7.450  7.403  14.81  14.90

Load generator: lateness = released − intended, dispatch = started − released, in µs
stream    round  lateness P50    P99  dispatch P50  P99  loop lag P50    P99
─────────────────────────────────────────────────────────────────────────────
api@10/s  1             21.50  22.98             –    –         6.491  7.963
",
    );
}

#[test]
fn every_way_to_lose_an_operation_is_named() {
    let mut s = overloaded(1);
    s.load.overload = Some("drop".into());
    (s.accounting.dropped, s.accounting.skipped, s.accounting.unfinished) = (100, 38, 12);
    s.accounting.started = 153;
    s.censored = ladder(3, 5 * S, S);
    s.service = ladder(150, MS, 0);
    s.connects.open_at_start = 8;
    s.verdict = evidence(&[("lateness", 0.6), ("lateness_p99_us", 900.0)]);
    let report = Text::new().width(500).render(&record("lossy", vec![s]));
    has(
        &report,
        "\
sent 153 of 300 scheduled operations: 150 succeeded, 0 failed
  100 dropped (no session was free; overload policy: drop), 38 skipped (too late to be sent; overload policy: drop), \
12 unfinished (9 still waiting when the phase ended; 3 still in flight when draining was ended, the oldest at 7 s)
  api@10/s: rate not reached: asked 10/s, reached 5/s; only 8 of 10 sessions were open; \
operations started late because of the load generator
",
    );
    has(&report, "3 operations given up unfinished, the oldest 7 s after its intended start");
}

#[test]
fn a_share_of_failures_is_of_those_that_ended() {
    let mut r = nginx();
    r.streams.truncate(1);
    let s = &mut r.streams[0];
    books(s, 330, 1123);
    s.failures = vec![
        FailureCount::new(Class::Timeout, "5s", 1000, "no answer within 5 s"),
        FailureCount::new(Class::Status, "502", 123, "GET /: 502 Bad Gateway\u{1b}[2J"),
    ];
    s.accounting.unknown = 1000;
    s.response = ladder(330, MS, 0);
    s.service = s.response.clone();
    let report = text(&r);
    has(
        &report,
        "330 succeeded, 1,123 failed (77.29 %), 1,000 of them with an\n  unknown effect on the server\n",
    );
    has(
        &report,
        "
Failures, over all rounds
stream    class    code  count  of ended  first one
──────────────────────────────────────────────────────────────────────────
nginx@10  timeout  5s    1,000   68.82 %  no answer within 5 s
          status   502     123    8.47 %  GET /: 502 Bad Gateway\\u{1b}[2J
",
    );
    has(&report, "   max  errors  unknown\n");
    has(&report, "  1,123    1,000\n");
}

#[test]
fn failed_connects_say_why() {
    let mut r = nginx();
    r.streams.truncate(1);
    let c = &mut r.streams[0].connects;
    (c.ok, c.failed, c.open_at_start) = (7, 5, 7);
    c.failures = vec![FailureCount::new(Class::Connect, "refused", 5, "127.0.0.1:9: Connection refused")];
    let report = text(&r);
    has(&report, "nginx@10              10              7         7       5         0.104  0.109\n");
    has(&report, "nginx@10: failed connects: 5 connect (refused): 127.0.0.1:9: Connection refused\n");
}

#[test]
fn small_samples_are_marked_and_carry_no_interval() {
    let mut r = record("small", vec![closed("a", 1, 1, 5)]);
    r.streams[0].level = String::new();
    let report = text(&r);
    has(&report, "a: n = 5: P95 and P99 are the slowest one\n");
    has(&report, "SUSPECT: read the reasons before you use the numbers\n  samples: too few operations");
    has_not(&report, "95 % from");
    let big = text(&record("big", vec![closed("a", 1, 1, 5000)]));
    has(&big, "95 % from");
    has_not(&big, "n = ");
}

#[test]
fn no_data_is_a_dash_and_never_zero() {
    let report = text(&record("nothing", vec![StreamRecord::default()]));
    has(&report, "(no name)  0      0            –     –    –    –    –    –       0\n");
    has(&report, "VALID, but unchecked: no rule had a figure in 1 measurement\n");
    for report in [report, text(&Record::new("empty", ""))] {
        has_not(&report, "NaN");
        has_not(&report, "inf");
    }
    has(&text(&Record::new("empty", "")), "NOTHING MEASURED");
}

#[test]
fn interrupted_labels_and_contradictions_stand_before_the_figures() {
    let mut r = nginx();
    r.interrupted = true;
    r.labels.insert("FIXED".into(), String::new());
    r.labels.insert("superseded-by".into(), "run 7".into());
    r.streams[3].accounting.scheduled += 1;
    let report = text(&r);
    let at = |part: &str| report.find(part).unwrap_or_else(|| panic!("{part} not in {report}"));
    assert!(at("INTERRUPTED") < at("VALID"));
    assert!(at("label FIXED\nlabel superseded-by: run 7\n") < at("VALID"));
    let contradiction = "nginx@10 round 2: 1103 operations were scheduled, but the accounts hold 1102\n";
    assert!(at("This record contradicts itself") < at(contradiction));
    assert!(at(contradiction) < at("Closed loop"));
}

#[test]
fn nothing_ended_since_the_warm_up_is_said() {
    let mut s = closed("dead", 50, 1, 0);
    (s.response, s.service, s.wait, s.carried_in) = (None, None, None, 50);
    has(
        &text(&record("dead", vec![s])),
        "dead@50: nothing ended; 50 of the warm-up were still in flight when measuring began\n",
    );
}

#[test]
fn phases_are_named_when_there_are_several() {
    let mut r = nginx();
    r.streams.truncate(2);
    r.streams[0].phase = "alone".into();
    r.streams[1].phase = "together".into();
    r.streams[1].level = "10".into();
    let report = text(&r);
    has(&report, "\nnginx@10 (alone) ");
    has(&report, "\nnginx@10 (together) ");
}

#[test]
fn steps_windows_and_events_are_given() {
    let mut r = nginx();
    r.streams.truncate(1);
    let s = &mut r.streams[0];
    s.steps.insert("connect".into(), ladder(9, 50_000, 0).unwrap());
    s.steps.insert("body".into(), ladder(9, 200_000, 0).unwrap());
    for (drain, per_s) in [(false, 6240.67), (false, 10_420.37), (true, 5.0)] {
        let mut w = Window::default();
        (w.drain, w.per_s) = (drain, per_s);
        s.windows.push(w);
    }
    r.events.push(Event::new(1_500 * MS, "reload", "nginx -s reload"));
    let report = text(&r);
    has(&report, "succeeded/s in windows of 1 s: nginx@10 6,240.67 to 10,420.37\n");
    has(&report, "\nEvents\n1.5 s reload: nginx -s reload\n");
    has(
        &report,
        "
Steps of successful operations, in µs
stream    step     round  n   mean    P50    P95    P99    max
───────────────────────────────────────────────────────────────
nginx@10  body     1      9  200.0  200.0  200.0  200.0  200.0
          connect  1      9  50.00  50.00  50.00  50.00  50.00
",
    );
}

#[test]
fn colour_is_off_unless_asked_for() {
    let mut r = nginx();
    r.streams[0].verdict = evidence(&[("in_flight", 0.5)]);
    r.judge();
    let (plain, coloured) = (text(&r), Text::new().colour(true).render(&r));
    has_not(&plain, "\u{1b}");
    has(&coloured, "\u{1b}[31mREJECTED");
    has(&coloured, "\u{1b}[31m           1: rejected, not averaged");
    let mut stripped = coloured;
    for code in ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"] {
        stripped = stripped.replace(&format!("\u{1b}{code}"), "");
    }
    assert_eq!(stripped, plain, "colour adds nothing but colour");
}

#[test]
fn long_words_are_broken_within_the_width_and_numbers_never() {
    let mut r = nginx();
    r.streams.truncate(1);
    let s = &mut r.streams[0];
    books(s, 330, 7);
    s.failures[0].example = "word ".repeat(80);
    let report = Text::new().width(80).render(&r);
    let failures = report.split("Failures").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(failures.lines().all(|l| l.chars().count() <= 81), "{failures}");
    assert!(failures.matches("word").count() == 80, "{failures}");
}

#[test]
fn a_verdict_of_the_record_alone_is_shown() {
    let mut r = nginx();
    r.verdict.status = Status::Rejected;
    r.verdict.reasons.push("postgres: no session could connect".into());
    has(&text(&r), "about the server\n  postgres: no session could connect\n");
}

#[test]
fn a_finding_of_several_rounds_stands_once() {
    let mut rounds = vec![overloaded(1), overloaded(2), overloaded(3)];
    for (s, n) in rounds.iter_mut().zip([5.01, 4.99, 5.0]) {
        s.verdict.findings =
            vec![format!("rate not reached: 10 /s were scheduled and {n} /s sent; server saturated")];
    }
    let report = Text::new().width(300).render(&record("overload", rounds));
    has(
        &report,
        "finding at api@10/s in 3 of 3 rounds: rate not reached: 10 /s were scheduled and 5.01 /s sent; server \
         saturated (figures of the first)\n",
    );
    assert_eq!(report.matches("rate not reached").count(), 1, "{report}");
}
