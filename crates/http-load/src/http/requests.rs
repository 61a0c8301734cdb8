//! What to send.

use super::Http;
use crate::request::{Body, Order, Pattern, Requests};
use hyper::{
    Method, Request,
    header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING},
};
use load_core::{ConfigError, Op};
use std::sync::Arc;

impl Http {
    /// `GET` of a URL: `http://host[:port][/path][?query]`.
    ///
    /// In path and query, `{seq}` stands for the number of the operation, `{session}` for that of the session and
    /// `{random:0..1000}` for a random number (the end excluded), made anew for each request.
    ///
    /// # Errors
    /// A [`ConfigError`] when the URL cannot be used: another scheme, no host, IPv6 without brackets or with a zone id,
    /// credentials in it.
    pub fn get(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::GET, &[url], Order::InTurn)
    }

    /// `HEAD` of a URL; its answers have no body, whatever length they announce.
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn head(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::HEAD, &[url], Order::InTurn)
    }

    /// `POST` to a URL; see [`body`](Http::body).
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn post(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::POST, &[url], Order::InTurn)
    }

    /// `PUT` to a URL; see [`body`](Http::body).
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn put(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::PUT, &[url], Order::InTurn)
    }

    /// `DELETE` of a URL.
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn delete(url: &str) -> Result<Http, ConfigError> {
        Http::new(Method::DELETE, &[url], Order::InTurn)
    }

    /// Any other method.
    ///
    /// # Errors
    /// As [`get`](Http::get), and for a method that is not a token, or `CONNECT`.
    pub fn request(method: &str, url: &str) -> Result<Http, ConfigError> {
        Http::new(parse_method(method)?, &[url], Order::InTurn)
    }

    /// `GET` of several URLs of one host, in turn: operation n asks for URL n modulo their number.
    ///
    /// For operations of different kinds, counted and timed apart, put several workloads into a mix instead.
    ///
    /// # Errors
    /// As [`get`](Http::get), and when there are none or they are of different hosts.
    pub fn urls<T: AsRef<str>>(urls: impl IntoIterator<Item = T>) -> Result<Http, ConfigError> {
        let urls: Vec<T> = urls.into_iter().collect();
        let urls: Vec<&str> = urls.iter().map(AsRef::as_ref).collect();
        Http::new(Method::GET, &urls, Order::InTurn)
    }

    /// `GET` of several URLs of one host, drawn by weight: one of weight 3 is asked for three times as often as one of 1.
    ///
    /// # Errors
    /// As [`urls`](Http::urls), and when the weights add up to 0.
    pub fn weighted<T: AsRef<str>>(urls: impl IntoIterator<Item = (T, u32)>) -> Result<Http, ConfigError> {
        let (urls, weights): (Vec<T>, Vec<u32>) = urls.into_iter().unzip();
        let urls: Vec<&str> = urls.iter().map(AsRef::as_ref).collect();
        let sums: Vec<u64> = weights
            .iter()
            .scan(0, |sum, weight| {
                *sum += u64::from(*weight);
                Some(*sum)
            })
            .collect();
        if sums.last() == Some(&0) {
            return Err(ConfigError::invalid("weighted", "0", "the weights must add up to more"));
        }
        Http::new(Method::GET, &urls, Order::Weighted(sums))
    }

    /// Requests from a closure, called for each operation. Of `url` it needs the host only; the closure's URIs may be paths.
    /// `Host` and the headers set here are added.
    ///
    /// A request that has to be repeated is made again with the same operation number and the same random numbers.
    ///
    /// ```
    /// use http_load::{Body, Http, Request};
    ///
    /// let users = Http::make("http://127.0.0.1:8080", |op| {
    ///     Request::put(format!("/user/{}", op.seq() % 100)).body(Body::from("{}")).expect("a valid request")
    /// })?;
    /// # Ok::<(), load_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// As [`get`](Http::get).
    pub fn make(
        url: &str,
        make: impl Fn(&mut Op) -> Request<Body> + Send + Sync + 'static,
    ) -> Result<Http, ConfigError> {
        let mut http = Http::get(url)?;
        let shared = http.shared_mut();
        shared.requests = Requests::Made(shared.requests.template().clone(), Arc::new(make));
        Ok(http)
    }

    /// Another method for the same URLs.
    ///
    /// # Errors
    /// For a method that is not a token, or `CONNECT`.
    pub fn method(mut self, method: &str) -> Result<Http, ConfigError> {
        let method = parse_method(method)?;
        let template = self.template_mut();
        template.method = method;
        template.set_body(template.body.clone(), template.body_pattern.clone());
        Ok(self)
    }

    /// Asks for the URLs of a list at random, all as often.
    #[must_use]
    pub fn random_order(mut self) -> Http {
        self.template_mut().paths.order = Order::Random;
        self
    }

    /// Sends a header with each request; again for another of the same name. `Host` replaces the one from the URL.
    /// Its value is never shown: not in records, errors or `Debug` output.
    ///
    /// # Errors
    /// When name or value cannot be sent, and for headers that other settings decide: `Connection`
    /// ([`keep_alive`](Http::keep_alive)), `Content-Length` and `Transfer-Encoding` ([`body`](Http::body)).
    pub fn header(mut self, name: &str, value: &str) -> Result<Http, ConfigError> {
        let (name, value) = header(name, value)?;
        let headers = &mut self.template_mut().headers;
        if name == HOST {
            headers.set(name, Some(value));
        } else {
            headers.fixed.push((name, value));
        }
        Ok(self)
    }

    /// As [`header`](Http::header), with the placeholders that [`get`](Http::get) describes in its value.
    ///
    /// # Errors
    /// As [`header`](Http::header), and for a placeholder that cannot be meant.
    pub fn header_with(mut self, name: &str, value: &str) -> Result<Http, ConfigError> {
        let (name, _) = header(name, value)?;
        match Pattern::parse(value) {
            Ok(Some(pattern)) => {
                let headers = &mut self.template_mut().headers;
                if name == HOST {
                    headers.set(HOST, None);
                }
                headers.filled.push((name, pattern));
                Ok(self)
            }
            Ok(None) => self.header(name.as_str(), value),
            Err(why) => Err(ConfigError::invalid("header", name, why)),
        }
    }

    /// Sends this body with each request.
    #[must_use]
    pub fn body(mut self, body: impl Into<Body>) -> Http {
        self.template_mut().set_body(body.into(), None);
        self
    }

    /// Sends a text as the body in which there are the placeholders that [`get`](Http::get) describes. Other braces are text.
    ///
    /// # Errors
    /// For a placeholder that cannot be meant.
    pub fn body_with(mut self, text: &str) -> Result<Http, ConfigError> {
        let pattern =
            Pattern::parse(text).map_err(|why| ConfigError::invalid("body", "a placeholder", why))?;
        let body = if pattern.is_none() { Body::from(text.to_string()) } else { Body::empty() };
        self.template_mut().set_body(body, pattern);
        Ok(self)
    }
}

fn parse_method(method: &str) -> Result<Method, ConfigError> {
    let refused = |why| Err(ConfigError::invalid("method", method.escape_debug(), why));
    match Method::from_bytes(method.as_bytes()) {
        Ok(Method::CONNECT) => refused("tunnels are not supported"),
        Ok(method) => Ok(method),
        Err(_) => refused("a method is one word, such as GET"),
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ConfigError> {
    let refused = |why| Err(ConfigError::invalid("header", name.escape_debug(), why));
    let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
        return refused("that is not the name of a header");
    };
    match parsed {
        CONNECTION => return refused("use keep_alive(false) to close connections"),
        CONTENT_LENGTH | TRANSFER_ENCODING => return refused("it follows from the body"),
        _ => {}
    }
    match HeaderValue::from_str(value) {
        Ok(value) => Ok((parsed, value)),
        Err(_) => refused("its value has characters that cannot be sent"),
    }
}
