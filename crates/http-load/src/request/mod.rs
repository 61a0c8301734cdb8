//! What is asked: of whom, with which words.

mod body;
mod paths;
mod pattern;
pub(crate) mod target;
mod template;

pub use body::Body;
pub(crate) use body::Sending;
pub(crate) use paths::{Order, Paths};
pub(crate) use pattern::Pattern;
#[cfg(feature = "tls")]
pub(crate) use target::Host;
pub(crate) use target::Target;
pub(crate) use template::Template;

use hyper::{HeaderMap, Request, header::HOST};
use load_core::Op;
use std::sync::Arc;

pub(crate) type Make = Arc<dyn Fn(&mut Op) -> Request<Body> + Send + Sync>;

/// Where the requests of a session come from.
#[derive(Clone)]
pub(crate) enum Requests {
    Template(Template),
    /// The template has what is added to what the closure makes.
    Made(Template, Make),
}

impl Requests {
    pub(crate) fn template(&self) -> &Template {
        match self {
            Requests::Template(template) | Requests::Made(template, _) => template,
        }
    }

    pub(crate) fn template_mut(&mut self) -> &mut Template {
        match self {
            Requests::Template(template) | Requests::Made(template, _) => template,
        }
    }

    /// The next request. `map` is used for its headers where it can be.
    #[inline]
    pub(crate) fn next(&self, map: HeaderMap, op: &mut Op, session: usize) -> Request<Sending> {
        match self {
            Requests::Template(template) => template.request(map, op, session),
            Requests::Made(template, make) => finish(make(op), template, op, session),
        }
    }
}

/// Makes a user's request one that can be sent: origin form, and the headers that are there in any case.
fn finish(request: Request<Body>, template: &Template, op: &mut Op, session: usize) -> Request<Sending> {
    let (mut parts, body) = request.into_parts();
    let mut headers = HeaderMap::new();
    template.headers.fill(&mut headers, op, session);
    if parts.headers.contains_key(HOST) {
        headers.remove(HOST);
    }
    headers.extend(std::mem::take(&mut parts.headers));
    parts.headers = headers;
    if parts.uri.scheme().is_some() || parts.uri.authority().is_some() {
        parts.uri = parts.uri.path_and_query().cloned().map(Into::into).unwrap_or_default();
    }
    Request::from_parts(parts, body.start())
}

impl std::fmt::Debug for Requests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.template().fmt(f)
    }
}
