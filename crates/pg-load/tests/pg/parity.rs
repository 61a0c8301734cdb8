//! The same as pgbench, by pgbench's own output.

use crate::{
    fixture::Pg,
    run::{full, on_worker, run},
};
use load_core::{Load, Schedule};
use load_engine::Plan;
use pg_load::{Draw, Pgbench, Postgres, Script, custom, tokio_postgres::Client};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// The largest distance of two samples' distribution functions, in units of what chance makes of it.
fn distance(a: &BTreeMap<i64, u64>, b: &BTreeMap<i64, u64>) -> f64 {
    let total = |m: &BTreeMap<i64, u64>| m.values().sum::<u64>() as f64;
    let (n, m) = (total(a), total(b));
    let (mut x, mut y, mut farthest) = (0.0, 0.0, 0f64);
    for value in a.keys().chain(b.keys()).collect::<std::collections::BTreeSet<_>>() {
        x += a.get(value).copied().unwrap_or(0) as f64 / n;
        y += b.get(value).copied().unwrap_or(0) as f64 / m;
        farthest = farthest.max((x - y).abs());
    }
    farthest / ((n + m) / (n * m)).sqrt()
}

#[test]
fn random_numbers_are_distributed_as_pgbenchs() {
    let Some(pg) = Pg::start(&[]) else { return };
    let draws = [
        ("u", Draw::uniform(-50, 150).unwrap()),
        ("g", Draw::gaussian(1, 200, 2.5).unwrap()),
        ("e", Draw::exponential(1, 200, 5.0).unwrap()),
        ("z", Draw::zipfian(1, 200, 1.1).unwrap()),
        ("s", Draw::zipfian(1, 100_000, 2.0).unwrap()),
    ];
    pg.psql("postgres", "create table drawn (u int, g int, e int, z int, s int)");
    let mut script = String::new();
    let mut rows = Vec::new();
    for i in 0..10 {
        for (name, draw) in &draws {
            // Ours are written as pgbench's functions are called.
            script.push_str(&format!("\\set {name}{i} {draw}\n"));
        }
        rows.push(format!("(:u{i}, :g{i}, :e{i}, :z{i}, :s{i})"));
    }
    script.push_str(&format!("INSERT INTO drawn VALUES {};\n", rows.join(", ")));
    let file = pg.dir().join("draw.sql");
    fs::write(&file, script).unwrap();
    let file = file.to_str().unwrap();
    pg.run("pgbench", &["-n", "-f", file, "-t", "2000", "--random-seed=7", "postgres"]);
    for (name, draw) in draws {
        let sql = format!("select {name}, count(*) from drawn group by 1");
        let theirs: BTreeMap<i64, u64> = pg
            .psql("postgres", &sql)
            .lines()
            .map(|line| line.split_once('|').map(|(v, n)| (v.parse().unwrap(), n.parse().unwrap())).unwrap())
            .collect();
        assert_eq!(theirs.values().sum::<u64>(), 20_000);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut ours = BTreeMap::new();
        for _ in 0..100_000 {
            *ours.entry(draw.draw(&mut rng)).or_insert(0u64) += 1;
        }
        // Beyond 2.5 chance comes once in 100,000 times; both seeds are fixed anyway.
        let d = distance(&ours, &theirs);
        assert!(d < 2.5, "{draw}: {d}");
        let shifted = ours.into_iter().map(|(v, n)| (v + draw.max() / 20, n)).collect();
        assert!(distance(&shifted, &theirs) > 2.5, "{draw}: the test would not see a difference");
    }
}

/// One transaction, in ns from some origin.
#[derive(Debug, Clone, Copy)]
struct Times {
    due: f64,
    began: f64,
    ended: f64,
}

/// Of a single client: it begins what is due when it has ended what was before, and not earlier.
fn is_in_turn(who: &str, times: &[Times], rounding: f64) {
    let idle = times.windows(2).map(|w| w[1].began - w[0].ended.max(w[1].due));
    let mut idle: Vec<f64> = idle.collect();
    assert!(idle.iter().all(|ns| *ns >= -rounding), "{who} began before it was due or free: {idle:?}");
    idle.sort_by(f64::total_cmp);
    assert!(idle[idle.len() / 2] < 3e6, "{who} began long after it was due and free: {idle:?}");
    let waited = times.iter().filter(|t| t.began - t.due > 1e6).count();
    assert!(waited * 5 > times.len(), "{who}: {waited} waited");
}

/// pgbench's log of a run at 0.6 of what its one client can do, and the same arrivals for us: `schedule_lag` is our wait,
/// its latency our response, and what is left of it the service time.
#[test]
fn the_same_arrivals_have_pgbenchs_latency_as_response_and_its_schedule_lag_as_wait() {
    let Some(pg) = Pg::start(&[]) else { return };
    let n: u64 = if full() { 1200 } else { 120 };
    let file = pg.dir().join("sleep.sql");
    fs::write(&file, "SELECT pg_sleep(0.01);\n").unwrap();
    let prefix = pg.dir().join("lag");
    let (file, prefix, count) = (file.to_str().unwrap(), prefix.to_str().unwrap(), n.to_string());
    let args =
        ["-n", "-M", "prepared", "-f", file, "-c", "1", "-t", &count, "-R", "60", "--random-seed=3", "-l"];
    let said = pg.run("pgbench", &[&args[..], &["--log-prefix", prefix, "postgres"]].concat());
    let theirs: Vec<Times> = pg
        .log_of_pgbench("lag")
        .iter()
        .map(|line| {
            let (latency, ended) = (line.latency.unwrap() * 1e3, line.at * 1e3);
            Times { due: ended - latency, began: ended - latency + line.lag * 1e3, ended }
        })
        .collect();
    assert_eq!(theirs.len() as u64, n);
    // Each line is written a little after its transaction has ended, and holds that later time.
    is_in_turn("pgbench", &theirs, 2e6);
    let mean =
        |times: &[Times], of: fn(&Times) -> f64| times.iter().map(of).sum::<f64>() / times.len() as f64;
    let lag = |t: &Times| t.began - t.due;
    let latency = |t: &Times| t.ended - t.due;
    let after = |text: &str| -> f64 {
        let line = said.lines().find_map(|l| l.split_once(text)).unwrap_or_else(|| panic!("{said}"));
        line.1.split_whitespace().next().unwrap().parse().unwrap()
    };
    for (word, of) in [("latency average = ", latency as fn(&Times) -> f64), ("schedule lag: avg ", lag)] {
        assert!((after(word) - mean(&theirs, of) / 1e6).abs() < 0.002, "{word} {} {said}", mean(&theirs, of));
    }

    let first = theirs[0].due;
    let offsets = theirs.iter().map(|t| Duration::from_nanos((t.due - first).max(0.0) as u64));
    // What was late in the log may be a little before its neighbour.
    let mut last = Duration::ZERO;
    let offsets: Vec<Duration> = offsets
        .map(|o| {
            last = last.max(o);
            last
        })
        .collect();
    let length = last + Duration::from_secs(1);
    let arrivals = Schedule::replay(offsets.iter().copied()).and_then(|s| s.lasting(length)).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tell = seen.clone();
    let workload = custom(
        &pg.server(),
        async |client: &Client| Ok(client.prepare("SELECT pg_sleep(0.01)").await?),
        async move |client, sleep, op| {
            client.query_one(&*sleep, &[]).await?;
            let [due, began, ended] = [op.intended(), op.started_at(), op.clock().now()].map(|ns| ns as f64);
            tell.lock().unwrap().push(Times { due, began, ended });
            Ok(())
        },
    );
    let plan = Plan::new().stream("postgres", workload.unwrap(), Load::open(arrivals).sessions(1));
    let record = plan.measure(length).calibrate(Duration::ZERO).run().unwrap();
    let ours = seen.lock().unwrap().clone();
    let stream = &record.streams[0];
    assert_eq!((ours.len() as u64, stream.accounting.succeeded), (n, n), "{:?}", stream.accounting);
    is_in_turn("openloop", &ours, 0.0);
    // The same arrivals, to the ns.
    for (time, offset) in ours.iter().zip(&offsets) {
        assert_eq!(time.due - ours[0].due, offset.as_nanos() as f64);
    }
    // The record says what the operations saw, but for what it takes to come back from them.
    for (said, seen, slack) in
        [(&stream.wait, mean(&ours, lag), 1e3), (&stream.response, mean(&ours, latency), 1e6)]
    {
        let said = said.as_ref().unwrap().mean_ns;
        assert!((0.0..slack).contains(&(said - seen)) || (said - seen).abs() < 1.0, "{said} {seen}");
    }
    let of = |times: &[Times]| (mean(times, lag) / 1e6, mean(times, latency) / 1e6);
    eprintln!("mean schedule lag and latency in ms, pgbench: {:?}; openloop: {:?}", of(&theirs), of(&ours));
    if full() {
        let ratio = mean(&ours, latency) / mean(&theirs, latency);
        assert!((0.95..1.05).contains(&ratio), "mean response, openloop / pgbench: {ratio}");
    }
}

#[test]
fn the_same_transactions_leave_the_same_behind() {
    let Some(pg) = Pg::start(&[]) else { return };
    let server = pg.server();
    let data = Pgbench::scale(1).unwrap();
    on_worker(data.load(&server, |_| ())).unwrap();
    pg.run("pgbench", &["-n", "-c", "2", "-t", "100", "-M", "prepared", "postgres"]);
    let tpcb = Postgres::tpcb(&server, 1).unwrap();
    let books = on_worker(run(&tpcb, 2, |b| b.succeeded >= 200));
    // What either writes into the history cannot be told apart but by who did it first.
    let balances = on_worker(data.balances(&server)).unwrap();
    assert_eq!(balances.history_rows as u64, 200 + books.succeeded);
    assert!(balances.agree());
    let odd = "select count(*) from pgbench_history where mtime is null or filler is not null or tid not between 1 and 10 \
               or bid <> 1 or aid not between 1 and 100000 or delta not between -5000 and 5000";
    assert_eq!(pg.psql("postgres", odd), "0");
}

/// The statements that the server sees are those that pgbench sends, but for their spelling.
#[test]
fn the_server_sees_the_same_statements() {
    let settings = [("log_statement", "all"), ("log_min_duration_statement", "-1")];
    let Some(pg) = Pg::start(&settings) else { return };
    let server = pg.server();
    on_worker(Pgbench::scale(1).unwrap().load(&server, |_| ())).unwrap();
    let words = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.replace(" ;", ";").trim_end_matches(';').to_owned()
    };
    // The last `count` statements, which the server may take a moment to write down.
    let seen = |after: usize, count: usize, last: &str| -> Vec<String> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let log = pg.log();
            let lines: Vec<String> = log[after..]
                .lines()
                .filter_map(|l| l.split_once("LOG:  ").and_then(|(_, l)| l.split_once(": ")))
                .map(|(kind, sql)| {
                    // The names of prepared statements differ.
                    let kind = if kind.starts_with("execute") { "execute" } else { kind };
                    format!("{kind}: {}", words(sql))
                })
                .filter(|l| l.contains("pgbench_") || l.contains("BEGIN") || l.contains("END"))
                .collect();
            if lines.len() >= count && lines.last().is_some_and(|l| l.contains(last)) {
                return lines[lines.len() - count..].to_vec();
            }
            assert!(Instant::now() < end, "{lines:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let length = || pg.log().len();
    for (mode, script, name) in [
        ("prepared", Script::tpcb(1), "tpcb-like"),
        ("prepared", Script::simple_update(1), "simple-update"),
        ("prepared", Script::select_only(1), "select-only"),
        ("extended", Script::tpcb(1), "tpcb-like"),
        ("simple", Script::tpcb(1), "tpcb-like"),
    ] {
        let (count, last) = match name {
            "select-only" => (1, "SELECT abalance"),
            "simple-update" => (5, ": END"),
            _ => (7, ": END"),
        };
        let start = length();
        pg.run("pgbench", &["-n", "-t", "1", "-M", mode, "-b", name, "postgres"]);
        let theirs = seen(start, count, last);
        let start = length();
        let protocol = match mode {
            "prepared" => pg_load::Protocol::Prepared,
            "extended" => pg_load::Protocol::Extended,
            _ => pg_load::Protocol::Simple,
        };
        let workload = Postgres::script(&server, script.unwrap()).unwrap().protocol(protocol).unwrap();
        on_worker(run(&workload, 1, |b| b.succeeded >= 1));
        let ours = seen(start, count, last);
        // Values stand in the text in simple mode.
        let plain = |lines: Vec<String>| -> Vec<String> {
            lines.into_iter().map(|l| if mode == "simple" { without_numbers(&l) } else { l }).collect()
        };
        assert_eq!(plain(ours), plain(theirs), "{mode} {name}");
    }
}

fn without_numbers(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && *c != '-').collect()
}
