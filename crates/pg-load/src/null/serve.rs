//! The null target's loop: one thread, no runtime, so that it costs as little as a server can.

use super::{
    conversation::{Conversation, Heard},
    statement::Answers,
};
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
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    num::NonZeroU64,
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const TIMER: u64 = u64::MAX - 2;
const BUFFER: usize = 64 * 1024;

struct Peer {
    stream: TcpStream,
    conversation: Conversation,
    /// Slots are used again: what is due to an earlier connection must not go to a later one.
    generation: u64,
    /// What the socket has not taken yet.
    unsent: Vec<u8>,
}

/// Answers that are due later. The delay is the same for all, so they are due in the order in which they came.
struct Due {
    at: Instant,
    peer: usize,
    generation: u64,
    answers: Vec<u8>,
}

pub(super) struct Loop {
    listener: TcpListener,
    /// Kept open: its end is how the thread is told to stop.
    _stop: UnixStream,
    epoll: OwnedFd,
    timer: OwnedFd,
    answers: Answers,
    delay: Duration,
    peers: Vec<Option<Peer>>,
    generation: u64,
    due: VecDeque<Due>,
    buffer: Box<[u8]>,
}

impl Loop {
    pub(super) fn new(
        listener: TcpListener,
        stop: UnixStream,
        answers: Answers,
        delay: Duration,
    ) -> io::Result<Loop> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN | EventFlags::RDHUP)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        Ok(Loop {
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
        })
    }

    pub(super) fn run(mut self) {
        // The kernel may otherwise be 50 µs late with every delay.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let mut events: Vec<Event> = Vec::with_capacity(256);
        let mut out = Vec::new();
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            for event in &events {
                let flags = event.flags;
                match event.data.u64() {
                    STOP => return,
                    LISTENER => self.accept(),
                    TIMER => self.answer_due(),
                    peer if flags.contains(EventFlags::OUT) => self.send(peer as usize, &[]),
                    peer => self.serve(peer as usize, &mut out),
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let _ = stream.set_nonblocking(true);
            let _ = stream.set_nodelay(true);
            let free = self.peers.iter().position(Option::is_none).unwrap_or_else(|| {
                self.peers.push(None);
                self.peers.len() - 1
            });
            if epoll::add(&self.epoll, &stream, EventData::new_u64(free as u64), EventFlags::IN).is_ok() {
                self.generation += 1;
                let conversation = Conversation::new(self.answers.clone());
                let generation = self.generation;
                self.peers[free] = Some(Peer { stream, conversation, generation, unsent: Vec::new() });
            }
        }
    }

    fn serve(&mut self, number: usize, out: &mut Vec<u8>) {
        let Some(Some(peer)) = self.peers.get_mut(number) else { return };
        out.clear();
        let heard = match peer.stream.read(&mut self.buffer) {
            Ok(0) => Ok(Heard::End),
            Ok(read) => peer.conversation.hear(&self.buffer[..read], out),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => Err(error),
        };
        let generation = peer.generation;
        match heard {
            Ok(Heard::Work) if !self.delay.is_zero() => {
                let due =
                    Due { at: Instant::now() + self.delay, peer: number, generation, answers: out.clone() };
                self.due.push_back(due);
                if self.due.len() == 1 {
                    self.arm();
                }
            }
            Ok(Heard::Talk | Heard::Work) => self.send(number, out),
            // Closing the stream takes it out of the set.
            Ok(Heard::End) | Err(_) => self.peers[number] = None,
        }
    }

    /// Sends what was left and `more`, and asks to be told when the socket takes more if it does not take all.
    fn send(&mut self, number: usize, more: &[u8]) {
        let Some(Some(peer)) = self.peers.get_mut(number) else { return };
        let had = !peer.unsent.is_empty();
        let sent = if had {
            peer.unsent.extend_from_slice(more);
            let bytes = std::mem::take(&mut peer.unsent);
            write(&mut peer.stream, &bytes).map(|n| peer.unsent.extend_from_slice(&bytes[n..]))
        } else {
            write(&mut peer.stream, more).map(|n| peer.unsent.extend_from_slice(&more[n..]))
        };
        let has = !peer.unsent.is_empty();
        let flags = if has { EventFlags::OUT } else { EventFlags::IN };
        let told = had == has
            || epoll::modify(&self.epoll, &peer.stream, EventData::new_u64(number as u64), flags).is_ok();
        if sent.is_err() || !told {
            self.peers[number] = None;
        }
    }

    fn answer_due(&mut self) {
        let _ = rustix::io::read(&self.timer, &mut [0; 8]);
        while self.due.front().is_some_and(|due| due.at <= Instant::now())
            && let Some(due) = self.due.pop_front()
        {
            if self
                .peers
                .get(due.peer)
                .and_then(Option::as_ref)
                .is_some_and(|p| p.generation == due.generation)
            {
                self.send(due.peer, &due.answers);
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

/// Writes as much as the socket takes.
fn write(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < bytes.len() {
        match stream.write(&bytes[sent..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => sent += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
