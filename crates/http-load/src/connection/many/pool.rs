//! Which sessions share which connection.

use super::Live;
use load_core::Failure;
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::{Rc, Weak},
};
use tokio::sync::OnceCell;

thread_local! {
    /// The connections of this worker, by workload. A session lives and dies on one worker, and so do connections.
    static LINES: RefCell<HashMap<usize, Vec<Weak<Line>>>> = RefCell::default();
}

/// One connection, open or about to be.
struct Line {
    seats: Cell<usize>,
    /// No new requests go over it: it has ended, is about to, or has had as many as asked for.
    retired: Cell<bool>,
    live: OnceCell<Live>,
}

/// A session's place on a connection.
pub(crate) struct Seat {
    line: Rc<Line>,
    /// The session's own handle; `None` until the connection is open.
    pub(super) send: Option<h2::client::SendRequest<bytes::Bytes>>,
    pub(super) sent_all: bool,
}

impl Seat {
    /// A place on a connection of this workload that has fewer than `most` sessions, or on a new one. Connections that nobody
    /// else may use are had with `most` = 0.
    pub(crate) fn take(workload: usize, most: usize) -> Seat {
        let new = || Rc::new(Line { seats: Cell::new(0), retired: Cell::new(false), live: OnceCell::new() });
        let line = if most == 0 {
            new()
        } else {
            LINES.with_borrow_mut(|all| {
                all.retain(|_, lines| {
                    lines.retain(|line| line.strong_count() > 0);
                    !lines.is_empty()
                });
                let lines = all.entry(workload).or_default();
                let free = |line: &Rc<Line>| line.is_usable() && line.seats.get() < most;
                lines.iter().filter_map(Weak::upgrade).find(free).unwrap_or_else(|| {
                    let line = new();
                    lines.push(Rc::downgrade(&line));
                    line
                })
            })
        };
        line.seats.set(line.seats.get() + 1);
        Seat { line, send: None, sent_all: true }
    }

    /// Opens the connection, or waits for the session that is about to.
    pub(crate) async fn open(
        &mut self,
        open: impl AsyncFnOnce() -> Result<Live, Failure>,
    ) -> Result<(), Failure> {
        let live = self.line.live.get_or_try_init(|| open()).await?;
        self.send = Some(live.send.clone());
        Ok(())
    }

    pub(super) fn live(&self) -> &Live {
        self.line.live.get().expect("a seat is opened before it is used")
    }

    /// Takes the connection out of use: those who sit on it finish and go elsewhere.
    pub(crate) fn retire(&self) {
        self.line.retired.set(true);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.line.is_usable()
    }

    pub(crate) fn answers(&self) -> u64 {
        self.line.live.get().map_or(0, |live| live.answers.get())
    }

    pub(super) fn answered(&self) {
        let answers = &self.live().answers;
        answers.set(answers.get() + 1);
    }

    pub(crate) fn sent_all(&self) -> bool {
        // Giving up the rest of a body takes the stream with it and leaves the connection as it was.
        self.sent_all
    }
}

impl Line {
    fn is_usable(&self) -> bool {
        !self.retired.get() && self.live.get().is_none_or(|live| !live.driver.is_finished())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.line.seats.set(self.line.seats.get() - 1);
    }
}
