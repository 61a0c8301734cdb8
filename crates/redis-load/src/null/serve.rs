//! The null target's loop: one thread, no runtime, so that it costs as little as a server can.

use super::{answers::Answers, peer::Peer, stream::Listener};
use rustix::{
    event::epoll::{self, CreateFlags, Event, EventData, EventFlags},
    io::Errno,
    thread::set_current_timer_slack,
    time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    },
};
use std::{
    collections::VecDeque,
    num::NonZeroU64,
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const TIMER: u64 = u64::MAX - 2;
const BUFFER: usize = 64 * 1024;

/// Answers that are due later. The delay is the same for all, so they are due in the order in which they came.
struct Due {
    at: Instant,
    peer: usize,
    /// Slots are used again: what is due to an earlier connection must not go to a later one.
    generation: u64,
    answers: Vec<u8>,
}

pub(super) struct Server {
    listener: Listener,
    /// Kept open: its end is how the thread is told to stop.
    _stop: UnixStream,
    epoll: OwnedFd,
    timer: OwnedFd,
    answers: Answers,
    delay: Duration,
    peers: Vec<Option<(Peer, u64)>>,
    generation: u64,
    due: VecDeque<Due>,
    buffer: Box<[u8]>,
    out: Vec<u8>,
}

impl Server {
    pub(super) fn new(
        listener: Listener,
        stop: UnixStream,
        answers: Answers,
        delay: Duration,
    ) -> Result<Server, Errno> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN | EventFlags::RDHUP)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        Ok(Server {
            listener,
            _stop: stop,
            epoll,
            timer,
            answers,
            delay,
            peers: Vec::new(),
            generation: 0,
            due: VecDeque::new(),
            buffer: vec![0; BUFFER].into_boxed_slice(),
            out: Vec::new(),
        })
    }

    pub(super) fn run(mut self) {
        // The kernel may otherwise be 50 µs late with every delay.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let mut events: Vec<Event> = Vec::with_capacity(256);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            for event in &events {
                match event.data.u64() {
                    STOP => return,
                    LISTENER => self.accept(),
                    TIMER => self.answer_due(),
                    peer => self.serve(peer as usize, event.flags),
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Ok(stream) = self.listener.accept() {
            let free = self.peers.iter().position(Option::is_none).unwrap_or_else(|| {
                self.peers.push(None);
                self.peers.len() - 1
            });
            if epoll::add(&self.epoll, &stream, EventData::new_u64(free as u64), EventFlags::IN).is_ok() {
                self.generation += 1;
                self.peers[free] = Some((Peer::new(stream), self.generation));
            }
        }
    }

    /// Closing the stream takes it out of the set.
    fn drop_peer(&mut self, peer: usize) {
        self.peers[peer] = None;
    }

    fn serve(&mut self, number: usize, flags: EventFlags) {
        let Some(Some((peer, generation))) = self.peers.get_mut(number) else { return };
        let generation = *generation;
        self.out.clear();
        // A client may write all of its pipeline before it reads: whoever waits to send must go on reading.
        let alive = if flags == EventFlags::OUT {
            Ok(true)
        } else {
            peer.read(&mut self.buffer, &self.answers, &mut self.out)
        };
        if !matches!(alive, Ok(true)) {
            return self.drop_peer(number);
        }
        if !self.delay.is_zero() && !self.out.is_empty() {
            let at = Instant::now() + self.delay;
            self.due.push_back(Due { at, peer: number, generation, answers: self.out.clone() });
            self.out.clear();
            if self.due.len() == 1 {
                self.arm();
            }
        }
        if self.delay.is_zero() || flags.contains(EventFlags::OUT) {
            self.send(number);
        }
    }

    /// Sends what is in `out`, and asks to be told when the socket takes more if it does not take all.
    fn send(&mut self, number: usize) {
        let Some(Some((peer, _))) = self.peers.get_mut(number) else { return };
        let was_waiting = peer.is_waiting();
        let Ok(all_sent) = peer.write(&self.out) else { return self.drop_peer(number) };
        if all_sent == was_waiting {
            let flags = if all_sent { EventFlags::IN } else { EventFlags::IN | EventFlags::OUT };
            if epoll::modify(&self.epoll, &peer.stream, EventData::new_u64(number as u64), flags).is_err() {
                self.drop_peer(number);
            }
        }
    }

    fn answer_due(&mut self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.timer, &mut count);
        while self.due.front().is_some_and(|due| due.at <= Instant::now())
            && let Some(due) = self.due.pop_front()
        {
            if self.peers.get(due.peer).and_then(Option::as_ref).is_some_and(|(_, g)| *g == due.generation) {
                self.out.clear();
                self.out.extend_from_slice(&due.answers);
                self.send(due.peer);
            }
        }
        self.arm();
    }

    fn arm(&self) {
        let Some(due) = self.due.front() else { return };
        // Zero would disarm it.
        let left = due.at.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        let time = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() },
        };
        let _ = timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &time);
    }
}
