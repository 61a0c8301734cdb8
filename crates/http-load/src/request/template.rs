//! A request that is made again and again.

use super::{Body, Paths, Pattern, Sending};
use hyper::{
    HeaderMap, Method, Request,
    header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue},
};
use load_core::Op;
use std::fmt;

/// Everything that a request is made of, checked and encoded once.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) method: Method,
    pub(crate) paths: Paths,
    pub(crate) headers: Headers,
    pub(crate) body: Body,
    /// When there is one, it makes the body of each request.
    pub(crate) body_pattern: Option<Pattern>,
}

/// The headers of a request.
#[derive(Clone)]
pub(crate) struct Headers {
    pub(crate) fixed: Vec<(HeaderName, HeaderValue)>,
    pub(crate) filled: Vec<(HeaderName, Pattern)>,
}

impl Headers {
    /// Sets or removes one that is there once at most.
    pub(crate) fn set(&mut self, name: HeaderName, value: Option<HeaderValue>) {
        self.fixed.retain(|(n, _)| *n != name);
        if let Some(value) = value {
            self.fixed.push((name, value));
        }
    }

    #[inline]
    pub(crate) fn fill(&self, map: &mut HeaderMap, op: &mut Op, session: usize) {
        for (name, value) in &self.fixed {
            map.append(name.clone(), value.clone());
        }
        for (name, pattern) in &self.filled {
            let value = HeaderValue::try_from(pattern.fill(op, session));
            map.append(name.clone(), value.expect("digits are good wherever text is"));
        }
    }
}

impl Template {
    pub(crate) fn new(method: Method, paths: Paths, host: HeaderValue) -> Template {
        let headers = Headers { fixed: vec![(HOST, host)], filled: Vec::new() };
        let mut template = Template { method, paths, headers, body: Body::empty(), body_pattern: None };
        template.set_body(Body::empty(), None);
        template
    }

    pub(crate) fn set_body(&mut self, body: Body, pattern: Option<Pattern>) {
        let none = body.length() == Some(0) && pattern.is_none();
        // Without it a server may wait for a body. Other lengths are announced when a request is written.
        let zero = none && matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        self.headers.set(CONTENT_LENGTH, zero.then(|| HeaderValue::from_static("0")));
        self.body = body;
        self.body_pattern = pattern;
    }

    /// A request, its headers in `map`: one that an earlier answer came with, so that nothing is allocated.
    #[inline]
    pub(crate) fn request(&self, mut map: HeaderMap, op: &mut Op, session: usize) -> Request<Sending> {
        map.clear();
        self.headers.fill(&mut map, op, session);
        let body = match &self.body_pattern {
            None => self.body.start(),
            Some(pattern) => Body::from(pattern.fill(op, session)).start(),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.paths.next(op, session);
        *request.headers_mut() = map;
        request
    }
}

/// Without header values, query and body.
impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Headers { fixed, filled } = &self.headers;
        let names = fixed.iter().map(|(n, _)| n).chain(filled.iter().map(|(n, _)| n));
        f.debug_struct("Template")
            .field("method", &self.method)
            .field("path", &self.paths.first())
            .field("paths", &self.paths.count())
            .field("headers", &names.map(HeaderName::as_str).collect::<Vec<_>>())
            .field("body", &self.body)
            .finish()
    }
}
