//! What other tools would print: their rules on the same samples give their numbers.

mod common;

use common::*;
use report::compat::{Ab, Pgbench, RedisBenchmark, Samples, Wrk};

#[test]
fn percentiles_of_one_to_a_hundred_by_each_tools_rule() {
    let x = Samples::exact(1..=100);
    for (p, wrk, hdr, ab, ab_csv, linear) in
        [(50, 51, 50, 51, 51, 50.5), (90, 91, 90, 91, 91, 90.1), (99, 100, 99, 100, 100, 99.01)]
    {
        assert_eq!(x.wrk_percentile(f64::from(p)), Some(wrk));
        assert_eq!(x.hdr_c_percentile(f64::from(p)), Some(hdr));
        assert_eq!(x.ab_percentile(p as u64), Some(ab));
        assert_eq!(x.ab_csv_percentile(p as u64), Some(ab_csv));
        assert!((x.linear_percentile(f64::from(p)).unwrap() - linear).abs() < 1e-9);
    }
    assert!((x.stddev_of_sample().unwrap() - 29.0115).abs() < 1e-4, "wrk");
    assert!((x.stddev_of_population().unwrap() - 28.8661).abs() < 1e-4, "pgbench, wrk2, HdrHistogram");
}

#[test]
fn no_sample_has_no_percentile() {
    let x = Samples::exact([]);
    assert_eq!((x.len(), x.mean(), x.wrk_percentile(50.0), x.hdr_c_percentile(50.0)), (0, None, None, None));
    assert_eq!((x.ab_percentile(50), x.ab_csv_percentile(0), x.linear_percentile(50.0)), (None, None, None));
    assert!(Wrk::of(&Default::default()).is_err() && Ab::of(&Default::default()).is_err());
    assert!(Pgbench::of(&Default::default()).is_err());
    assert_eq!(
        RedisBenchmark::of(&closed("redis", 1, 2, 0)).unwrap_err().to_string(),
        "redis@1 round 2.service: the record has no sample of it"
    );
}

#[test]
fn wrk_of_a_stream() {
    let mut s = closed("nginx", 100, 1, 3000);
    s.load.workers = 16;
    s.service = ladder(3000, 10 * MS, 10_000);
    s.bytes_in = 3000 * 5470;
    let expected = "\
as wrk would print it, computed from the histogram of nginx@100 round 1
  16 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    24.99ms    8.66ms  39.99ms   57.73%
    measured   24.99ms    8.66ms  39.99ms   57.73%
  Latency Distribution (measured in the second column)
     50%   24.99ms    24.99ms
     75%   32.50ms    32.50ms
     90%   37.01ms    37.01ms
     99%   39.70ms    39.70ms
  3000 requests in 1.00s, 15.65MB read
Requests/sec:   3000.00
Transfer/sec:     15.65MB
";
    assert_eq!(Wrk::of(&s).unwrap().to_string(), expected);
}

#[test]
fn wrk_fills_in_after_a_stall_and_we_show_both() {
    let mut s = closed("nginx", 1, 1, 90);
    // Three of 90 took 100 ms, the others 10 ms; a cycle is 11.1 ms.
    s.service = distribution((0..90).map(|i| if i < 3 { 100 * MS } else { 10 * MS }));
    let w = Wrk::of(&s).unwrap();
    let corrected = w.corrected.unwrap();
    assert_eq!(w.measured.percentiles.map(|us| us / 1000), [10, 10, 10, 100]);
    assert!(corrected.mean > w.measured.mean * 1.3, "{corrected:?}");
    assert!(corrected.percentiles[2] > 20_000, "{corrected:?}");
}

#[test]
fn ab_of_the_blog_behind_a_cache() {
    // 500 requests at concurrency 10 in 53.7 s: 9.31/s, 1,074 ms.
    let mut s = closed("blog", 10, 1, 500);
    s.elapsed_ns = 53_705 * MS;
    s.service = ladder(500, 1000 * MS, 300_000);
    s.bytes_in = 500 * 5470;
    let text = Ab::of(&s).unwrap().to_string();
    for line in [
        "Requests per second:    9.31 [#/sec] (mean)\n",
        "Time per request:       1074.100 [ms] (mean)\n",
        "Time per request:       107.410 [ms] (mean, across all concurrent requests)\n",
        "Transfer rate:          49.73 [Kbytes/sec] received\n",
        "Connect:        –\n",
        "Total:       1000 1075  43.3   1075    1150\n",
        "  50%   1075\n",
        "  99%   1149\n",
        " 100%   1150 (longest request)\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    s.steps.insert("connect".into(), ladder(500, 2 * MS, 0).unwrap());
    let text = Ab::of(&s).unwrap().to_string();
    assert!(text.contains("Connect:        2    2   0.0      2       2\nProcessing:     –\n"), "{text}");
    // Ten connections for 500 requests: the others connected in no time.
    s.steps.insert("connect".into(), ladder(10, 2 * MS, 0).unwrap());
    let text = Ab::of(&s).unwrap().to_string();
    assert!(text.contains("Connect:        0    0   0.3      0       2\n"), "{text}");
}

#[test]
fn pgbench_closed_and_with_a_rate() {
    // 20 clients, 2,082.95 TPS: by arithmetic 9.602 ms.
    let mut s = closed("postgres", 20, 1, 200);
    s.elapsed_ns = 60 * S;
    s.accounting.succeeded = 124_977;
    s.response = ladder(200, 9 * MS, 5_000);
    let p = Pgbench::of(&s).unwrap();
    assert!((p.tps() - 2082.95).abs() < 1e-9);
    let text = p.to_string();
    assert!(text.contains("latency average = 9.602 ms by arithmetic"), "{text}");
    assert!(
        text.contains("latency average = 9.498 ms measured, as with -P\nlatency stddev = 0.289 ms\n"),
        "{text}"
    );
    assert!(text.contains("number of failed transactions: 0 (0.00 %)\n") && !text.contains("lag"), "{text}");
    assert!(!text.contains("retries") && !text.contains("above"), "{text}");
    s.counters = [("retried", 1000), ("retries", 1500), ("late", 12)].map(|(n, c)| (n.into(), c)).into();
    let text = Pgbench::of(&s).unwrap().to_string();
    for line in [
        "number of transactions retried: 1000 (0.80 %)\ntotal number of retries: 1500\n",
        "number of transactions above the latency limit: 12/124977 (0.01 %)\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let text = Pgbench::of(&overloaded(1)).unwrap().to_string();
    assert!(
        text.contains("rate limit schedule lag: avg 7450.000 (max 14900.000) ms\ntps = 5.000000"),
        "{text}"
    );
    assert!(!text.contains("by arithmetic"), "{text}");
}

#[test]
fn redis_benchmark_of_a_stream() {
    let mut s = closed("redis", 50, 1, 100_000);
    s.elapsed_ns = 1_234_567_890;
    s.service = distribution((0..100_000).map(|i| if i < 97_000 { 130_000 } else { 300_000 }));
    let expected = "\
as redis-benchmark would print it, computed from the histogram of redis@50 round 1
  100000 requests completed in 1.23 seconds
  50 parallel clients

Summary:
  throughput summary: 81037.28 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.137     0.128     0.135     0.135     0.303     0.303
";
    assert_eq!(RedisBenchmark::of(&s).unwrap().to_string(), expected);
}
