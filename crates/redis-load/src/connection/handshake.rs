//! What is said before the first request: who we are, which protocol, which database.

use super::{Connection, Exchanged, Outgoing, Receiver};
use crate::{
    Protocol, Target,
    resp::{ErrorText, Reply, Sink, command},
};
use load_core::{Class, Failure};
use std::time::Duration;

/// A command of the handshake that the server refused.
#[derive(Debug, thiserror::Error)]
#[error("{step} was refused: {reply}")]
struct Refused {
    step: &'static str,
    reply: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Auth,
    Hello,
    Select,
}

/// Keeps the first refusal.
#[derive(Default)]
struct Answers {
    count: usize,
    refused: Option<(usize, ErrorText)>,
}

impl Sink for Answers {}

impl Receiver for Answers {
    fn reply(&mut self, reply: Reply, error: &ErrorText) {
        if reply.failed && self.refused.is_none() {
            self.refused = Some((self.count, *error));
        }
        self.count += 1;
    }
}

fn requests(target: &Target) -> (Vec<u8>, Vec<Step>) {
    let (mut out, mut steps) = (Vec::new(), Vec::new());
    let password = target.password.as_ref().map(|p| p.reveal().as_bytes());
    let user = target.user.as_ref().map(|u| u.reveal().as_bytes());
    match (target.protocol, password) {
        (Protocol::Resp3, Some(password)) => {
            command(&mut out, &[b"HELLO", b"3", b"AUTH", user.unwrap_or(b"default"), password]);
            steps.push(Step::Hello);
        }
        (Protocol::Resp3, None) => {
            command(&mut out, &[b"HELLO", b"3"]);
            steps.push(Step::Hello);
        }
        (Protocol::Resp2, Some(password)) => {
            match user {
                Some(user) => command(&mut out, &[b"AUTH", user, password]),
                None => command(&mut out, &[b"AUTH", password]),
            }
            steps.push(Step::Auth);
        }
        (Protocol::Resp2, None) => {}
    }
    if target.database != 0 {
        command(&mut out, &[b"SELECT", target.database.to_string().as_bytes()]);
        steps.push(Step::Select);
    }
    (out, steps)
}

/// A refusal as a failure. What the server says to a command that holds the password is not repeated: old servers quote
/// the arguments of a command that they do not know.
fn refusal(step: Step, target: &Target, error: &ErrorText) -> Failure {
    let word = crate::classify::code(error.first_word());
    let text = match (step, error.first_word()) {
        (Step::Select, _) if error.text().contains("out of range") => {
            format!("the server has no database {} ({})", target.database, error.text())
        }
        (Step::Select, _) => error.text(),
        (_, b"WRONGPASS") => "WRONGPASS: wrong user or password".into(),
        (_, b"NOAUTH") => "NOAUTH: the server asks for a password".into(),
        (Step::Hello, b"NOPROTO" | b"ERR") => {
            format!("{word}: the server does not speak RESP3, or does not take this password")
        }
        (_, b"ERR") => "ERR: wrong password, or the server has none set".into(),
        _ => word.clone().into_owned(),
    };
    let step = match step {
        Step::Auth => "AUTH",
        Step::Hello => "HELLO",
        Step::Select => "SELECT",
    };
    Failure::new(Class::Redis, word).with_source(Refused { step, reply: text })
}

impl Connection {
    /// Says all of it by one write.
    pub(super) async fn handshake(&mut self, target: &Target, limit: Duration) -> Result<(), Failure> {
        let (out, steps) = requests(target);
        if steps.is_empty() {
            return Ok(());
        }
        let (mut answers, mut done) = (Answers::default(), Exchanged::default());
        let result = self.exchange(Outgoing::plain(&out), steps.len(), limit, &mut answers, &mut done).await;
        // A server that refuses may close at once, so that what it said comes before how it ended.
        if let Some((number, error)) = &answers.refused {
            return Err(refusal(steps[(*number).min(steps.len() - 1)], target, error));
        }
        result.map_err(|lost| match lost {
            super::Lost::Timeout => Failure::new(Class::Connect, super::connect::NO_HANDSHAKE),
            lost => lost.into_failure(0),
        })
    }
}
