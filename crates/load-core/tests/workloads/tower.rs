//! A tower service as a workload.

use crate::by_hand::ByHand;
use load_core::{Class, Failure, Op, Session, SessionId, VirtualTime, Workload, tower};
use std::{
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};

/// Ready after 3 ms, answers after 5 ms with what it was asked; one of many is not for it. Its futures are `!Send`.
struct Echo {
    time: VirtualTime,
    waits: Option<Pin<Box<load_core::Sleep>>>,
    dies: bool,
}

impl tower_service::Service<u64> for Echo {
    type Response = Rc<u64>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Rc<u64>, io::Error>>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        if self.dies {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let time = &self.time;
        let waits = self.waits.get_or_insert_with(|| Box::pin(time.sleep(Duration::from_millis(3))));
        std::task::ready!(waits.as_mut().poll(context));
        self.waits = None;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, n: u64) -> Self::Future {
        let time = self.time.clone();
        Box::pin(async move {
            time.sleep(Duration::from_millis(5)).await;
            if n == 3 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Rc::new(n)) }
        })
    }
}

fn connect<W: Workload>(workload: &W, time: &VirtualTime) -> ByHand<impl Session + use<W>> {
    ByHand::connect(workload, 0, 1, time).unwrap()
}

#[test]
fn waiting_for_a_service_that_is_taken_for_the_call() {
    let time = VirtualTime::new();
    let maker = time.clone();
    let make = async move |_: &SessionId| Ok(Echo { time: maker.clone(), waits: None, dies: false });
    let echo = tower(make, |op: &mut Op| op.seq()).response(async |n: Rc<u64>, op: &mut Op| {
        op.bytes_in(8);
        op.mark("answer");
        if *n == 2 { Err(Failure::check("two")) } else { Ok(()) }
    });
    let mut hand = connect(&echo, &time);
    for (seq, class) in [(0, None), (1, None), (2, Some(Class::Check)), (3, Some(Class::Timeout)), (4, None)]
    {
        let (outcome, heard) = hand.call();
        let failed = outcome.err().map(|mut failure| {
            failure.classify(&[]);
            failure.class()
        });
        assert_eq!(failed, class, "{seq}");
        assert_eq!(heard.steps[0], ("ready", 3_000_000));
        if seq != 3 {
            assert_eq!((heard.steps[1], heard.bytes_in), (("answer", 5_000_000), 8));
        }
    }
}

#[test]
fn a_dead_service_that_is_asked_again() {
    let time = VirtualTime::new();
    let maker = time.clone();
    let make = async move |_: &SessionId| Ok(Echo { time: maker.clone(), waits: None, dies: true });
    let mut hand = connect(&tower(make, |op: &mut Op| op.seq()), &time);
    let failure = hand.call().0.unwrap_err();
    assert!(failure.needs_reconnect());
    hand.close();
}

#[test]
fn a_service_that_cannot_be_made() {
    let make = async |_: &SessionId| Err::<Echo, _>(Failure::new(Class::Connect, "refused"));
    let time = VirtualTime::new();
    let failure = ByHand::connect(&tower(make, |op: &mut Op| op.seq()), 0, 1, &time).err().unwrap();
    assert_eq!(failure.class(), Class::Connect);
}
