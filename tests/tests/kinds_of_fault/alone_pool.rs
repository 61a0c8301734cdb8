//! The published mistake in its other form: requests handed to a small pool of blocking threads. Every session is busy
//! all the time, so that counting them says nothing.

use crate::{figure, fired, run};
use openloop::{
    core::{NullTargetError, Nulled, calibrated},
    http::NullTarget,
    prelude::*,
    testbed::Known,
};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};
use tokio::sync::oneshot;

const THREADS: usize = 4;
const SESSIONS: usize = 50;
type Job = oneshot::Sender<std::io::Result<usize>>;

/// GET requests, done by a few threads.
struct PoolGet {
    jobs: mpsc::Sender<Job>,
}

impl PoolGet {
    fn new(address: SocketAddr) -> PoolGet {
        let (jobs, queue) = mpsc::channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..THREADS {
            let queue = queue.clone();
            // It ends with the last session and the workload.
            std::thread::spawn(move || {
                let mut connection = None;
                loop {
                    let job = queue.lock().unwrap().recv();
                    let Ok(job) = job else { return };
                    let answer = get(&mut connection, address);
                    if answer.is_err() {
                        connection = None;
                    }
                    let _ = job.send(answer);
                }
            });
        }
        PoolGet { jobs }
    }
}

/// One request; answers how many bytes came.
fn get(connection: &mut Option<TcpStream>, address: SocketAddr) -> std::io::Result<usize> {
    let stream = match connection {
        Some(stream) => stream,
        none => none.insert(TcpStream::connect(address)?),
    };
    stream.set_nodelay(true)?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: pool\r\n\r\n")?;
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let n = stream.read(&mut piece)?;
        if n == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&answer).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse().unwrap() {
            return Ok(answer.len());
        }
    }
}

struct PoolSession {
    jobs: mpsc::Sender<Job>,
}

impl Workload for PoolGet {
    type Session = PoolSession;

    async fn connect(&self, _: &SessionId, _: &mut Op) -> Result<PoolSession, Failure> {
        Ok(PoolSession { jobs: self.jobs.clone() })
    }

    fn describe(&self) -> String {
        format!("GET by a pool of {THREADS} blocking threads")
    }
}

impl Session for PoolSession {
    async fn call(&mut self, op: &mut Op) -> Outcome {
        let (job, answer) = oneshot::channel();
        self.jobs.send(job)?;
        op.bytes_in(answer.await??);
        Ok(())
    }
}

fn null(delay: Duration) -> Result<Nulled<SocketAddr>, NullTargetError> {
    let target = NullTarget::start(delay).map_err(|error| NullTargetError::new("GET", error))?;
    Ok(Nulled::new(target.address(), target))
}

fn measured(workload: impl Workload, server: Known, sessions: usize) -> Record {
    let record = run(Plan::new()
        .stream("web", workload, Load::closed(sessions))
        .warmup(Duration::from_millis(200))
        .measure(Duration::from_millis(700)));
    drop(server);
    record
}

fn server() -> Known {
    Known::http().delay(Duration::from_millis(5)).start().unwrap()
}

#[test]
fn a_blocking_pool_that_keeps_its_sessions_busy() {
    let server = server();
    let record = measured(calibrated(server.addr(), PoolGet::new, null), server, SESSIONS);
    let s = &record.streams[0];
    assert!(figure(s, "in_flight").unwrap() > 0.9, "it fools this rule: {:?}", s.verdict);
    let kept = figure(s, "concurrency_kept").expect("it was calibrated");
    assert!(kept < 2.0 * THREADS as f64 / SESSIONS as f64, "{kept}");
    assert_eq!(s.verdict.status, Status::Rejected);
    let reason = fired(s, "concurrency_kept").expect("the rule that finds it");
    assert!(reason.contains("rejected"), "{reason}");
}

#[test]
fn an_honest_client_taken_for_a_blocking_pool() {
    let page = |address: SocketAddr| Http::get(&format!("http://{address}/")).unwrap();
    let mut best = 0.0;
    // Whatever disturbs only takes away. One more session each time, since a process measures the same thing once.
    for more in 0..3 {
        let server = server();
        let record = measured(calibrated(server.addr(), page, null), server, SESSIONS + more);
        let s = &record.streams[0];
        let kept = figure(s, "concurrency_kept").expect("it was calibrated");
        assert!(kept > 5.0 * THREADS as f64 / SESSIONS as f64, "{kept}");
        assert!(fired(s, "in_flight").is_none(), "{:?}", s.verdict);
        if kept > 0.9 {
            assert!(fired(s, "concurrency_kept").is_none(), "{:?}", s.verdict);
            return;
        }
        best = f64::max(best, kept);
    }
    panic!("{best}");
}
