//! Executing a script's statements, by each protocol.

use crate::{
    classify::Meaning,
    deadline::Deadline,
    script::{Int, Script, Statement},
};
use futures_util::{StreamExt, future::join_all};
use load_core::{Class, Failure};
use std::{pin::pin, time::Duration};
use tokio_postgres::{
    Client, SimpleQueryMessage,
    types::{ToSql, Type},
};

/// How statements are sent, with pgbench's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Protocol {
    /// The values are written into the text; the server parses and plans it each time.
    Simple,
    /// Parse, bind, describe, execute and sync in one round trip, with an unnamed statement; the server parses and plans
    /// each time. Works behind poolers that give each transaction another server connection.
    Extended,
    /// Prepared once for each connection, before the load.
    #[default]
    Prepared,
}

impl Protocol {
    /// pgbench's name for it (`-M`).
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Simple => "simple",
            Protocol::Extended => "extended",
            Protocol::Prepared => "prepared",
        }
    }
}

/// Why a statement did not do its work.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The server or the network said so.
    Client(tokio_postgres::Error),
    /// No answer in time.
    Late(Duration),
    /// Done, but not what it should have done.
    Rows { found: u64, expected: u64 },
}

impl Trouble {
    /// As a failure of the statement of this name.
    pub(crate) fn failure(self, statement: &'static str) -> Failure {
        match self {
            Trouble::Client(cause) => {
                Meaning::of(&cause).failure(crate::Error::InScript { statement, cause })
            }
            Trouble::Late(after) => Failure::new(Class::Timeout, "statement")
                .with_source(crate::Error::Timeout { what: format!("statement {statement:?}"), after })
                .unknown_outcome()
                .reconnect(),
            Trouble::Rows { found, expected } => {
                Failure::check("rows").with_source(crate::Error::Rows { statement, found, expected })
            }
        }
    }
}

/// What a session keeps from one operation to the next, so that nothing has to be made anew.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) values: Vec<Int>,
    text: String,
    pub(crate) deadline: Deadline,
    limit: Duration,
    pub(crate) took: Vec<u64>,
}

impl Scratch {
    pub(crate) fn new(limit: Option<Duration>) -> Scratch {
        Scratch {
            values: Vec::new(),
            text: String::new(),
            deadline: Deadline::new(limit),
            limit: limit.unwrap_or_default(),
            took: Vec::new(),
        }
    }

    /// Executes one statement; how many rows it gave or changed.
    pub(crate) async fn execute(
        &mut self,
        client: &Client,
        protocol: Protocol,
        statement: &Statement,
        prepared: Option<&tokio_postgres::Statement>,
    ) -> Result<u64, Trouble> {
        let done = match (protocol, prepared) {
            (Protocol::Prepared, Some(prepared)) => {
                let values = &self.values;
                // Not `query`: what a row holds is not looked at, so it need not be taken apart.
                let parameters = statement.parameters.iter().map(|&v| &values[v]);
                self.deadline.within(pin!(client.execute_raw(prepared, parameters))).await
            }
            (Protocol::Simple, _) => {
                statement.render(&self.values, &mut self.text);
                self.deadline.within(pin!(simple(client, &self.text))).await
            }
            _ => {
                let parameters = unknown_types(statement, &self.values);
                self.deadline.within(pin!(client.execute_typed(&statement.sql, &parameters))).await
            }
        };
        self.judge(statement, done)
    }

    /// Executes all statements at once: they are sent together, each with a sync of its own, and answered in order. The
    /// first trouble, with the number of its statement.
    pub(crate) async fn pipeline(
        &mut self,
        client: &Client,
        protocol: Protocol,
        script: &Script,
        prepared: &[tokio_postgres::Statement],
    ) -> Result<u64, (usize, Trouble)> {
        let values = &self.values;
        let statements = &script.statements;
        let done = if protocol == Protocol::Prepared {
            let all = statements.iter().zip(prepared).map(|(statement, prepared)| {
                client.execute_raw(prepared, statement.parameters.iter().map(|&v| &values[v]))
            });
            self.deadline.within(pin!(join_all(all))).await
        } else {
            let parameters: Vec<_> = statements.iter().map(|s| unknown_types(s, values)).collect();
            let all = statements.iter().zip(&parameters).map(|(s, p)| client.execute_typed(&s.sql, p));
            self.deadline.within(pin!(join_all(all))).await
        };
        let Some(done) = done else { return Err((0, Trouble::Late(self.limit))) };
        let mut rows = 0;
        let mut wrong = None;
        for (i, (statement, done)) in statements.iter().zip(done).enumerate() {
            match self.judge(statement, Some(done)) {
                Ok(n) => rows += n,
                // The others were executed nevertheless, so that a wrong count is told only when nothing else failed.
                Err(trouble @ Trouble::Rows { .. }) => wrong = wrong.or(Some((i, trouble))),
                Err(trouble) => return Err((i, trouble)),
            }
        }
        wrong.map_or(Ok(rows), Err)
    }

    fn judge(
        &self,
        statement: &Statement,
        done: Option<Result<u64, tokio_postgres::Error>>,
    ) -> Result<u64, Trouble> {
        let found = done.ok_or(Trouble::Late(self.limit))?.map_err(Trouble::Client)?;
        match statement.rows {
            Some(expected) if expected != found => Err(Trouble::Rows { found, expected }),
            _ => Ok(found),
        }
    }
}

/// Values as text whose type the server is to find out, as pgbench sends them.
fn unknown_types<'a>(statement: &Statement, values: &'a [Int]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    statement.parameters.iter().map(|&v| (&values[v] as &(dyn ToSql + Sync), Type::UNKNOWN)).collect()
}

async fn simple(client: &Client, text: &str) -> Result<u64, tokio_postgres::Error> {
    let mut answers = pin!(client.simple_query_raw(text).await?);
    let mut rows = 0;
    while let Some(answer) = answers.next().await {
        if let SimpleQueryMessage::CommandComplete(n) = answer? {
            rows = n;
        }
    }
    Ok(rows)
}
