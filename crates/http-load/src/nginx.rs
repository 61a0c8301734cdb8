//! nginx's own counters as a source of readings.

use crate::{Http, session::HttpSession};
use load_core::{Clock, ConfigError, Failure, Op, Readings, SessionId, Source, SourceError, Workload};
use std::{
    rc::Rc,
    time::{Duration, Instant},
};

/// nginx's `stub_status` page, read over a new connection each time.
///
/// | reading | unit | |
/// |---|---|---|
/// | `nginx.connections.active` | connections | client connections, the waiting ones too |
/// | `nginx.connections.reading`, `.writing`, `.waiting` | connections | reading a head, answering, idle |
/// | `nginx.accepts` | 1/s | connections taken since the last reading |
/// | `nginx.dropped` | 1/s | of those, not handled: a limit was reached (`worker_connections`) |
/// | `nginx.requests` | 1/s | requests since the last reading |
///
/// The rates come with the second reading; a counter that went back (nginx was started anew) is an event `counter reset`. The
/// readings count themselves: one connection and one request each.
///
/// ```
/// let status = http_load::NginxStatus::new("http://127.0.0.1:8080/nginx_status")?;
/// # Ok::<(), load_core::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct NginxStatus {
    http: Http,
    prefix: String,
    last: Option<(Instant, Page)>,
}

impl NginxStatus {
    /// Of the page at this URL.
    ///
    /// # Errors
    /// As [`Http::get`].
    pub fn new(url: &str) -> Result<NginxStatus, ConfigError> {
        let http = Http::get(url)?.timeout(Duration::from_secs(1))?;
        Ok(NginxStatus::from_http(http))
    }

    /// Of a page that needs more to get at: a unix socket, headers, TLS. Any 200 answer will do.
    #[must_use]
    pub fn from_http(http: Http) -> NginxStatus {
        let http = http.keep_alive(false).expect_status(200).expect("a status").check(|_| Ok(()));
        NginxStatus { http, prefix: "nginx".into(), last: None }
    }

    /// Another name than `nginx` in front of the readings, to tell several servers apart.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> NginxStatus {
        self.prefix = name.into();
        self
    }
}

impl Source for NginxStatus {
    fn origin(&self) -> String {
        let url = self.http.to_string();
        format!("nginx stub_status, {}", url.strip_prefix("GET ").unwrap_or(&url))
    }

    async fn read(&mut self, readings: &mut Readings) -> Result<(), SourceError> {
        let text = fetch(&self.http).await.map_err(|failure| SourceError::Failed(failure.describe()))?;
        let now = Instant::now();
        let page = Page::parse(&text)
            .ok_or_else(|| SourceError::Unavailable("the page is not one of nginx's stub_status".into()))?;
        let prefix = &self.prefix;
        for (name, value) in [
            ("active", page.active),
            ("reading", page.reading),
            ("writing", page.writing),
            ("waiting", page.waiting),
        ] {
            readings.value(format!("{prefix}.connections.{name}"), "connections", value as f64);
        }
        if let Some((then, before)) = self.last.replace((now, page)) {
            let seconds = now.duration_since(then).as_secs_f64();
            let dropped = |p: &Page| p.accepts.saturating_sub(p.handled);
            for (name, before, now) in [
                ("accepts", before.accepts, page.accepts),
                ("dropped", dropped(&before), dropped(&page)),
                ("requests", before.requests, page.requests),
            ] {
                match now.checked_sub(before) {
                    Some(grown) => {
                        readings.value(format!("{prefix}.{name}"), "1/s", grown as f64 / seconds);
                    }
                    None => {
                        readings.event("counter reset", format!("{prefix}.{name}: from {before} to {now}"))
                    }
                }
            }
        }
        Ok(())
    }
}

/// The body of one answer.
async fn fetch(http: &Http) -> Result<Vec<u8>, Failure> {
    let mut op = Op::for_session(Clock::real(), Rc::default(), 0);
    let mut session: HttpSession = http.connect(&SessionId::new(0, 1, 0, 0), &mut op).await?;
    session.fetch(&mut op).await
}

/// What the page says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Page {
    active: u64,
    accepts: u64,
    handled: u64,
    requests: u64,
    reading: u64,
    writing: u64,
    waiting: u64,
}

impl Page {
    /// ```text
    /// Active connections: 2
    /// server accepts handled requests
    ///  3 3 4
    /// Reading: 0 Writing: 1 Waiting: 1
    /// ```
    fn parse(text: &[u8]) -> Option<Page> {
        let text = std::str::from_utf8(text).ok()?;
        let after = |word: &str| number(text.split_once(word)?.1.split_whitespace().next()?);
        let mut counters = text.split_once(" requests")?.1.split_whitespace().map(number);
        Some(Page {
            active: after("Active connections:")?,
            accepts: counters.next()??,
            handled: counters.next()??,
            requests: counters.next()??,
            reading: after("Reading:")?,
            writing: after("Writing:")?,
            waiting: after("Waiting:")?,
        })
    }
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_read_and_nothing_else_is_taken_for_it() {
        let text = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630940 31070465 \n\
                    Reading: 6 Writing: 179 Waiting: 106 \n";
        let page = Page {
            active: 291,
            accepts: 16_630_948,
            handled: 16_630_940,
            requests: 31_070_465,
            reading: 6,
            writing: 179,
            waiting: 106,
        };
        assert_eq!(Page::parse(text.as_bytes()), Some(page));
        for cut in 0..text.len() - 6 {
            assert_eq!(Page::parse(&text.as_bytes()[..cut]), None, "{}", &text[..cut]);
        }
        for other in ["", "<html>", "Active connections: x", "\u{fffd}"] {
            assert_eq!(Page::parse(other.as_bytes()), None);
        }
    }
}
