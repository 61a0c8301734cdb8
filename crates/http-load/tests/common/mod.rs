//! A scripted TCP peer, and a driver that does with a session what an engine does.
#![allow(dead_code, unreachable_pub)]

use http_load::{Http, HttpSession};
use load_core::{Class, Clock, Failure, Names, Op, Outcome, Session, SessionId, Workload};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream},
    rc::Rc,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// One accepted connection, in the hands of the script.
pub struct Accepted {
    pub stream: TcpStream,
    /// Counts accepted connections from 0.
    pub number: usize,
    log: Arc<Log>,
    read: Vec<u8>,
}

#[derive(Default)]
struct Log {
    accepted: AtomicUsize,
    ended: AtomicUsize,
    heads: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Accepted {
    /// The next head, or `None` when the client has closed.
    pub fn head(&mut self) -> Option<String> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            self.more()?;
        };
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        self.read.drain(..end);
        self.log.heads.lock().unwrap().push(head.clone());
        Some(head)
    }

    /// The next `n` bytes of a body.
    pub fn body(&mut self, n: usize) -> Option<Vec<u8>> {
        while self.read.len() < n {
            self.more()?;
        }
        Some(self.read.drain(..n).collect())
    }

    fn more(&mut self) -> Option<()> {
        let mut buffer = [0; 65536];
        match self.stream.read(&mut buffer) {
            Ok(n) if n > 0 => {
                self.read.extend_from_slice(&buffer[..n]);
                Some(())
            }
            _ => None,
        }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Ends the connection with RST.
    pub fn reset(self) {
        rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)).unwrap();
    }

    /// Waits until the client has closed.
    pub fn until_closed(&mut self) {
        while self.more().is_some() {}
    }
}

pub struct Peer {
    pub address: SocketAddr,
    log: Arc<Log>,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    /// Listens on a free port of 127.0.0.1; each connection gets the script on a thread of its own.
    pub fn start(script: impl Fn(Accepted) + Send + Sync + 'static) -> Peer {
        Peer::at("127.0.0.1:0".parse().unwrap(), script).unwrap()
    }

    pub fn at(
        address: SocketAddr,
        script: impl Fn(Accepted) + Send + Sync + 'static,
    ) -> std::io::Result<Peer> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let log = Arc::new(Log::default());
        let script = Arc::new(script);
        let for_thread = Arc::clone(&log);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                let log = Arc::clone(&for_thread);
                if log.stop.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let number = log.accepted.fetch_add(1, Ordering::SeqCst);
                let script = Arc::clone(&script);
                std::thread::spawn(move || {
                    let ended = Arc::clone(&log);
                    script(Accepted { stream, number, log, read: Vec::new() });
                    ended.ended.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Ok(Peer { address, log, thread: Some(thread) })
    }

    /// Answers every request with these bytes and keeps the connection.
    pub fn answering(reply: impl AsRef<[u8]> + Send + Sync + 'static) -> Peer {
        Peer::start(move |mut conn| {
            while conn.head().is_some() {
                conn.send(&reply);
            }
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn accepted(&self) -> usize {
        self.log.accepted.load(Ordering::SeqCst)
    }

    /// Connections whose script has ended.
    pub fn ended(&self) -> usize {
        self.log.ended.load(Ordering::SeqCst)
    }

    pub fn heads(&self) -> Vec<String> {
        self.log.heads.lock().unwrap().clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.log.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address).map(|s| s.shutdown(Shutdown::Both));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits for something another thread will do, 10 s at most.
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(10), "not within 10 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A session and its `Op`, with sums over all operations.
pub struct Driven {
    pub session: HttpSession,
    op: Op,
    names: Rc<Names>,
    seq: u64,
    pub counters: BTreeMap<&'static str, u64>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Steps of the last operation with their ns.
    pub steps: Vec<(&'static str, u64)>,
    pub facts: Vec<(&'static str, String)>,
}

impl Driven {
    pub async fn connect(http: &Http) -> Result<Driven, Failure> {
        Driven::connect_as(http, 0).await
    }

    pub async fn connect_as(http: &Http, index: usize) -> Result<Driven, Failure> {
        let names = Rc::<Names>::default();
        let mut op = Op::for_session(Clock::real(), Rc::clone(&names), 1);
        let now = op.clock().now();
        op.begin(now, 0);
        let session = http.connect(&SessionId::new(index, index + 1, 0, 1), &mut op).await?;
        let mut driven = Driven {
            session,
            op,
            names,
            seq: 0,
            counters: BTreeMap::new(),
            bytes_in: 0,
            bytes_out: 0,
            steps: Vec::new(),
            facts: Vec::new(),
        };
        driven.add_up();
        Ok(driven)
    }

    pub async fn call(&mut self) -> Outcome {
        let now = self.op.clock().now();
        self.op.begin(now, self.seq);
        self.seq += 1;
        let outcome = self.session.call(&mut self.op).await;
        self.add_up();
        self.session.prepare(&mut self.op);
        outcome
    }

    fn add_up(&mut self) {
        let names = self.names.all();
        let said = self.op.said();
        for (id, n) in said.counts {
            *self.counters.entry(names[usize::from(*id)]).or_default() += n;
        }
        self.steps = said.steps.iter().map(|(id, ns)| (names[usize::from(*id)], *ns)).collect();
        self.bytes_in += said.bytes_in;
        self.bytes_out += said.bytes_out;
        self.facts.extend(self.op.take_facts());
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    pub fn step_names(&self) -> Vec<&'static str> {
        self.steps.iter().map(|(name, _)| *name).collect()
    }
}

/// Runs on a runtime as a worker has it.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build_local(Default::default()).unwrap();
    let within =
        async { tokio::time::timeout(Duration::from_secs(30), future).await.expect("the test hangs") };
    let result = runtime.block_on(within);
    runtime.shutdown_background();
    result
}

/// Class and code of a failure.
pub fn said(outcome: &Outcome) -> (Class, String) {
    let failure = outcome.as_ref().expect_err("it failed");
    (failure.class(), failure.code().to_string())
}

pub fn local(port: u16, host: [u8; 4]) -> SocketAddr {
    SocketAddr::new(IpAddr::from(host), port)
}
