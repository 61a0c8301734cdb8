//! A Redis server of the test's own, and a way to drive sessions by hand.
#![allow(dead_code, reason = "each test file uses its part")]

use load_core::{Clock, Failure, Names, Op, Outcome, Session, SessionId, Workload};
use redis_load::{Client, Target};
use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener, TcpStream},
    process::Command,
    rc::Rc,
    thread,
    time::Duration,
};

/// A redis-server of the test's own, with a password; gone when dropped, and when the test is killed.
pub(crate) struct Server(testbed::Redis);

impl Server {
    /// Starts one with these settings, written as arguments; `None`, said aloud, when there is no redis-server on this machine.
    pub(crate) fn start(args: &[&str]) -> Option<Server> {
        if !testbed::installed("redis-server") {
            eprintln!("SKIPPED: no redis-server on this machine");
            return None;
        }
        let mut builder = testbed::Redis::builder().ready_within(Duration::from_secs(60));
        for pair in args.chunks(2) {
            builder = match pair {
                ["--appendonly", "yes"] => builder.appendonly(true),
                [name, value] => builder.config(name.trim_start_matches('-'), *value),
                _ => panic!("a setting without a value"),
            };
        }
        Some(Server(builder.start_blocking().expect("redis-server starts")))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.addr()
    }

    pub(crate) fn password(&self) -> &str {
        self.0.password()
    }

    /// Database 15, and limits that a busy machine keeps.
    pub(crate) fn target(&self) -> Target {
        Target::address(self.address()).password(self.password()).timeout(Duration::from_secs(20))
    }

    /// A command that speaks to it with the password.
    pub(crate) fn redis_cli(&self) -> Command {
        let mut command = Command::new("redis-cli");
        command.args(["-h", "127.0.0.1", "-p", &self.address().port().to_string()]);
        command.env("REDISCLI_AUTH", self.password());
        command
    }

    /// What redis-cli prints.
    pub(crate) fn cli(&self, args: &[&str]) -> String {
        let output = self.redis_cli().args(args).output().expect("redis-cli");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// What redis-cli prints in database 15.
    pub(crate) fn cli15(&self, args: &[&str]) -> String {
        self.cli(&[&["-n", "15"], args].concat())
    }

    /// How often a command was carried out.
    pub(crate) fn calls(&self, command: &str) -> u64 {
        let stats = self.cli(&["INFO", "commandstats"]);
        let line = stats.lines().find(|l| l.starts_with(&format!("cmdstat_{command}:calls=")));
        line.map_or(0, |l| l.split(['=', ',']).nth(1).unwrap().parse().unwrap())
    }

    pub(crate) fn process(&self) -> &testbed::LocalProcess {
        self.0.process()
    }

    pub(crate) fn kill(&self) {
        self.process().kill().unwrap();
    }

    /// Starts it again on the same port, in the same directory, and waits until it is ready.
    pub(crate) fn start_again(&self) {
        // It may have been killed already.
        let _ = self.process().kill();
        self.process().start_blocking().expect("redis-server starts again");
    }
}

/// Whether the stated sizes are to be run.
pub(crate) fn full() -> bool {
    std::env::var_os("OPENLOOP_FULL").is_some()
}

/// Memory of this process that is resident, in KiB.
pub(crate) fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Runs a future as a worker would: on a single-threaded runtime whose tasks may be `!Send`.
pub(crate) fn on_worker<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(Default::default())
        .unwrap()
        .block_on(future)
}

/// The same with either client, against one server.
pub(crate) fn with_each_client(args: &[&str], test: impl AsyncFn(&Server, Client)) {
    let Some(server) = Server::start(args) else { return };
    for client in [Client::Lean, Client::Fred] {
        on_worker(test(&server, client));
    }
}

/// One session, driven by hand as the engine drives it.
pub(crate) struct Driver<W: Workload> {
    pub(crate) session: W::Session,
    pub(crate) op: Op,
    names: Rc<Names>,
    clock: Clock,
    pub(crate) seq: u64,
}

impl<W: Workload> Driver<W> {
    pub(crate) async fn connect(workload: &W) -> Result<Driver<W>, Failure> {
        Driver::connect_as(workload, &SessionId::new(0, 1, 0, 1)).await
    }

    pub(crate) async fn connect_as(workload: &W, id: &SessionId) -> Result<Driver<W>, Failure> {
        let (clock, names) = (Clock::real(), Rc::new(Names::default()));
        let mut op = Op::for_session(clock.clone(), Rc::clone(&names), id.seed());
        op.begin(clock.now(), 0);
        match workload.connect(id, &mut op).await {
            Ok(session) => Ok(Driver { session, op, names, clock, seq: 0 }),
            Err(mut failure) => {
                failure.classify(&[redis_load::classify]);
                Err(failure)
            }
        }
    }

    /// One operation.
    pub(crate) async fn once(&mut self) -> Outcome {
        self.session.prepare(&mut self.op);
        self.op.begin(self.clock.now(), self.seq);
        self.seq += 1;
        let mut outcome = self.session.call(&mut self.op).await;
        if let Err(failure) = &mut outcome {
            failure.classify(&[redis_load::classify]);
        }
        outcome
    }

    /// Many operations, all of which must succeed.
    pub(crate) async fn many(&mut self, count: u64) -> Sums {
        let mut sums = Sums::default();
        for _ in 0..count {
            self.once().await.expect("success");
            sums.add(self);
        }
        sums
    }

    pub(crate) fn kind(&self) -> Option<&'static str> {
        self.op.said().kind.map(|id| self.names.all()[usize::from(id)])
    }

    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        let names = self.names.all();
        self.op.said().counts.iter().map(|(id, n)| (names[usize::from(*id)], *n)).collect()
    }

    pub(crate) fn steps(&self) -> Vec<&'static str> {
        let names = self.names.all();
        self.op.said().steps.iter().map(|(id, _)| names[usize::from(*id)]).collect()
    }
}

/// What operations said, added up.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) units: u64,
    pub(crate) failed_units: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl Sums {
    pub(crate) fn add<W: Workload>(&mut self, driver: &Driver<W>) {
        let said = driver.op.said();
        self.units += said.units;
        self.failed_units += said.failed_units;
        self.bytes_in += said.bytes_in;
        self.bytes_out += said.bytes_out;
        for (name, n) in driver.counts() {
            *self.counts.entry(name).or_default() += n;
        }
    }
}

/// A peer that follows a script, on a free port of the loopback: `script` has each connection, with its number, on a thread.
pub(crate) struct Peer {
    address: SocketAddr,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl Peer {
    pub(crate) fn start(script: impl Fn(usize, TcpStream) + Send + Sync + Clone + 'static) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if stopped.load(std::sync::atomic::Ordering::Relaxed) {
                    return;
                }
                let script = script.clone();
                let stream = stream.unwrap();
                // Whatever a test does, no thread waits for ever.
                stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
                thread::spawn(move || script(number, stream));
            }
        });
        Peer { address, stop }
    }

    /// Database 0, so that nothing is said before the first request.
    pub(crate) fn target(&self) -> Target {
        Target::address(self.address).database(0).timeout(Duration::from_secs(20))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// Reads requests one by one, as lists of strings; `None` at the end.
pub(crate) struct Requests(std::io::BufReader<TcpStream>);

impl Requests {
    pub(crate) fn new(stream: &TcpStream) -> Requests {
        Requests(std::io::BufReader::new(stream.try_clone().unwrap()))
    }
}

impl Iterator for Requests {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        use std::io::{BufRead, Read};
        let mut line = String::new();
        self.0.read_line(&mut line).ok()?;
        let count: usize = line.trim().strip_prefix('*')?.parse().ok()?;
        let mut args = Vec::new();
        for _ in 0..count {
            line.clear();
            self.0.read_line(&mut line).ok()?;
            let mut bytes = vec![0; line.trim()[1..].parse::<usize>().ok()? + 2];
            self.0.read_exact(&mut bytes).ok()?;
            args.push(String::from_utf8_lossy(&bytes[..bytes.len() - 2]).into_owned());
        }
        Some(args)
    }
}

/// Answers each request by a function of its arguments; PING, which clients send by themselves, is answered well.
pub(crate) fn answer(stream: TcpStream, mut reply: impl FnMut(&[String]) -> String) {
    use std::io::Write;
    let mut out = stream.try_clone().unwrap();
    for request in Requests::new(&stream) {
        let said = match request[0].as_str() {
            "PING" => "+PONG\r\n".to_owned(),
            "SELECT" | "AUTH" | "CLIENT" | "QUIT" => "+OK\r\n".to_owned(),
            // fred asks by itself for the version.
            "INFO" => {
                let text = "# Server\r\nredis_version:7.0.0\r\n";
                format!("${}\r\n{text}\r\n", text.len())
            }
            _ => reply(&request),
        };
        if out.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}
