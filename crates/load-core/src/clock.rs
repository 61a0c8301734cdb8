//! One origin for a run, and nanoseconds since it; real or virtual.

use std::{
    cell::RefCell,
    cmp::Reverse,
    collections::BinaryHeap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

/// The clock that all streams, samples and events of a run share. Times are nanoseconds since its origin.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's monotonic clock, from an origin.
    Real(Instant),
    /// Time that moves only when nothing is left to do: for tests.
    Virtual(VirtualTime),
}

impl Clock {
    /// A real clock that starts now.
    pub fn real() -> Clock {
        Clock::Real(Instant::now())
    }

    /// Nanoseconds since the origin. About 25 ns when real.
    #[inline]
    pub fn now(&self) -> u64 {
        match self {
            Clock::Real(origin) => origin.elapsed().as_nanos() as u64,
            Clock::Virtual(time) => time.now(),
        }
    }
}

/// Virtual time: it stands still while anything can run and jumps to the next [`sleep`](VirtualTime::sleep)
/// that ends when nothing can. An hour of load takes as long as the work in it, and gives the same times at every run.
///
/// Give one to a plan (`Plan::virtual_time`), and let the workload sleep on the same one.
#[derive(Debug, Clone, Default)]
pub struct VirtualTime(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    now: AtomicU64,
    sleepers: Mutex<Sleepers>,
}

#[derive(Debug, Default)]
struct Sleepers {
    /// The number breaks ties in the order of registration, so that runs repeat exactly.
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    wakers: std::collections::BTreeMap<u64, Waker>,
    next: u64,
}

impl VirtualTime {
    /// A clock at 0.
    pub fn new() -> VirtualTime {
        VirtualTime::default()
    }

    /// Nanoseconds since the start.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0.now.load(Ordering::Relaxed)
    }

    /// Waits for `duration` of virtual time.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_until(self.now() + duration.as_nanos() as u64)
    }

    /// Waits until `at` ns of virtual time.
    pub fn sleep_until(&self, at: u64) -> Sleep {
        Sleep { time: self.clone(), at, id: RefCell::new(None) }
    }

    /// Jumps to the end of the next sleep and wakes the sleeper; `false` when nobody sleeps.
    /// For the engine, which calls it when its runtime has nothing to run.
    pub fn advance(&self) -> bool {
        let woken = {
            let mut s = self.0.sleepers.lock().expect("no panic while held");
            loop {
                let Some(Reverse((at, id))) = s.heap.pop() else { return false };
                // A dropped sleep leaves its entry in the heap but no waker.
                if let Some(waker) = s.wakers.remove(&id) {
                    self.0.now.fetch_max(at, Ordering::Relaxed);
                    break waker;
                }
            }
        };
        woken.wake();
        true
    }
}

/// The future of [`VirtualTime::sleep`].
#[derive(Debug)]
pub struct Sleep {
    time: VirtualTime,
    at: u64,
    id: RefCell<Option<u64>>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.time.now() >= self.at {
            return Poll::Ready(());
        }
        let mut s = self.time.0.sleepers.lock().expect("no panic while held");
        let mut id = self.id.borrow_mut();
        let number = *id.get_or_insert_with(|| {
            let n = s.next;
            s.next += 1;
            s.heap.push(Reverse((self.at, n)));
            n
        });
        s.wakers.insert(number, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let (Some(id), Ok(mut s)) = (*self.id.borrow(), self.time.0.sleepers.lock()) {
            s.wakers.remove(&id);
        }
    }
}
