//! A request that is made again and again.

use crate::body::RequestBody;
use bytes::Bytes;
use hyper::{
    HeaderMap, Method, Request, Uri,
    header::{HeaderName, HeaderValue},
};

/// Everything that a request is made of, checked and encoded once.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    /// All but `Host` as the user gave them.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
}

impl Template {
    pub(crate) fn new(method: Method, uri: Uri) -> Template {
        Template { method, uri, headers: Vec::new(), body: Bytes::new() }
    }

    /// Whether the server may be asked twice without harm (RFC 9110, section 9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        self.method.is_idempotent()
    }

    /// A request, its headers in `map`: one that an earlier answer came with, so that nothing is allocated.
    #[inline]
    pub(crate) fn request(&self, mut map: HeaderMap) -> Request<RequestBody> {
        map.clear();
        for (name, value) in &self.headers {
            map.append(name.clone(), value.clone());
        }
        let mut request = Request::new(RequestBody::from(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = map;
        request
    }
}

/// Without header values and body.
impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Template")
            .field("method", &self.method)
            .field("path", &self.uri.path())
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}
