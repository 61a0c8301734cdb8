//! Watches the engine's threads and sessions while a phase is measured.

use crate::worker::{Probe, Probes};
use load_core::{Readings, Source};
use sampler::{HostCpu, StolenClock, ThreadClock, ThreadTimes};
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

/// How often sessions are sampled.
pub(super) const PROBE_NS: u64 = 10_000_000;
/// How often the threads' clocks are read: each reading costs a system call a thread.
const THREADS_NS: u64 = 100_000_000;

/// The readings of one phase.
#[derive(Debug)]
pub(super) struct Watch {
    /// For each stream, the probes of its workers.
    streams: Vec<Vec<Arc<Probe>>>,
    probes: Vec<Probes>,
    threads: Vec<Thread>,
    stolen: StolenClock,
    stolen_first: Option<u64>,
    stolen_last: Option<u64>,
    first_at: u64,
    last_at: u64,
    threads_next: u64,
    /// The host's processors, read at the begin and at the end of the phase.
    host: HostCpu,
    host_busy: Option<f64>,
    /// For each stream, sessions open at the last look but one and at the last.
    open_before: Vec<[u64; 2]>,
    pub(super) open_at_start: Vec<u64>,
    /// The most sessions of each stream that were seen open at once.
    pub(super) open_most: Vec<u64>,
}

#[derive(Debug)]
struct Thread {
    clock: ThreadClock,
    first: Option<ThreadTimes>,
    last: Option<(u64, ThreadTimes)>,
}

/// Shares of the phase.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shares {
    /// Of the busiest engine thread, on a CPU.
    pub(super) busiest_cpu: Option<f64>,
    /// Of the engine thread that waited most for a CPU.
    pub(super) run_queue: Option<f64>,
    /// Stolen by the hypervisor or withheld by a limit.
    pub(super) stolen: Option<f64>,
    /// Of all the host's processors, busy with anything.
    pub(super) host_busy: Option<f64>,
}

impl Watch {
    pub(super) fn new(streams: Vec<Vec<Arc<Probe>>>) -> Watch {
        let probes = vec![Probes::default(); streams.len()];
        Watch {
            streams,
            probes,
            threads: Vec::new(),
            stolen: StolenClock::new(),
            stolen_first: None,
            stolen_last: None,
            first_at: 0,
            last_at: 0,
            threads_next: 0,
            host: HostCpu::new(),
            host_busy: None,
            open_before: Vec::new(),
            open_at_start: Vec::new(),
            open_most: Vec::new(),
        }
    }

    pub(super) fn add_thread(&mut self, clock: ThreadClock) {
        self.threads.push(Thread { clock, first: None, last: None });
    }

    /// Sessions of a stream that are open now.
    pub(super) fn open(&self, stream: usize) -> u64 {
        self.streams[stream].iter().map(|p| p.open()).sum()
    }

    /// Operations of a stream in flight now.
    pub(super) fn in_flight(&self, stream: usize) -> u64 {
        self.streams[stream].iter().map(|p| p.calling()).sum()
    }

    /// Operations of a stream that failed so far.
    pub(super) fn failures(&self, stream: usize) -> u64 {
        self.streams[stream].iter().map(|p| p.failures()).sum()
    }

    /// Before measuring begins: which sessions are open. The last two looks count, so that one that is just being opened
    /// anew is not missed.
    pub(super) fn look_before(&mut self) {
        self.open_before.resize(self.streams.len(), [0; 2]);
        for stream in 0..self.streams.len() {
            self.open_before[stream] = [self.open_before[stream][1], self.open(stream)];
        }
    }

    /// Measuring begins.
    pub(super) fn begin(&mut self, now: u64) {
        self.look_before();
        self.open_at_start = self.open_before.iter().map(|[before, now]| *before.max(now)).collect();
        self.open_most = self.open_at_start.clone();
        for thread in &mut self.threads {
            thread.first = thread.clock.read();
        }
        self.stolen_first = self.stolen.read();
        self.read_host();
        (self.first_at, self.last_at, self.threads_next) = (now, now, now + THREADS_NS);
    }

    /// Samples; called about every [`PROBE_NS`] while measuring, and at its end (`last`).
    /// Streams that are `over` are sampled no more: a count may end one before the others.
    pub(super) fn sample(&mut self, now: u64, last: bool, over: &[bool]) {
        for ((probes, own), _) in
            self.probes.iter_mut().zip(&self.streams).zip(over).filter(|(_, over)| !**over)
        {
            probes.take(own.iter().map(|probe| &**probe));
        }
        for stream in 0..self.streams.len() {
            let open = self.open(stream);
            if let Some(most) = self.open_most.get_mut(stream) {
                *most = open.max(*most);
            }
        }
        if now >= self.threads_next || last {
            self.threads_next = now + THREADS_NS;
            for thread in &mut self.threads {
                // A thread that has ended cannot be read any more; what was read last stands.
                if let Some(times) = thread.clock.read() {
                    thread.last = Some((now, times));
                }
            }
            self.stolen_last = self.stolen.read();
            self.last_at = now;
        }
        if last {
            self.host_busy = self.read_host();
        }
    }

    /// The share of the host's processors that was busy since the last reading; none at the first.
    fn read_host(&mut self) -> Option<f64> {
        let mut readings = Readings::new();
        {
            // It reads a file, and is ready at once.
            let read = pin!(self.host.read(&mut readings));
            let Poll::Ready(Ok(())) = read.poll(&mut Context::from_waker(Waker::noop())) else { return None };
        }
        readings.values().iter().find(|(name, _, _)| name == "host.cpu.busy").map(|(_, _, share)| *share)
    }

    pub(super) fn probes(&self, stream: usize) -> Probes {
        self.probes[stream]
    }

    pub(super) fn shares(&self) -> Shares {
        let mut shares = Shares { host_busy: self.host_busy, ..Shares::default() };
        let larger = |a: Option<f64>, b: f64| Some(a.map_or(b, |a| a.max(b)));
        for thread in &self.threads {
            let (Some(first), Some((at, last))) = (thread.first, thread.last) else { continue };
            if at <= self.first_at {
                continue;
            }
            let phase = (at - self.first_at) as f64;
            shares.busiest_cpu =
                larger(shares.busiest_cpu, last.cpu_ns.saturating_sub(first.cpu_ns) as f64 / phase);
            if let (Some(a), Some(b)) = (first.run_queue_ns, last.run_queue_ns) {
                shares.run_queue = larger(shares.run_queue, b.saturating_sub(a) as f64 / phase);
            }
        }
        if let (Some(a), Some(b)) = (self.stolen_first, self.stolen_last)
            && self.last_at > self.first_at
        {
            shares.stolen = Some(b.saturating_sub(a) as f64 / (self.last_at - self.first_at) as f64);
        }
        shares
    }
}
