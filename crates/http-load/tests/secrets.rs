//! What is secret in a request is nowhere but on the wire.

mod common;

use http_load::{Body, Http, HttpSession, Request};
use load_core::{Clock, Load, Op, Session, SessionId, Workload};
use load_engine::Plan;
use std::{
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};
use testbed::{Known, Reply};

/// Part of everything that nobody may see.
const CANARY: &str = "c4n4ry";

/// All that anybody logs in this process.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// With the canary in its query, its headers (fixed, filled in, made) and its body.
fn secretive(url: &str) -> Vec<Http> {
    let url = format!("{url}page?token={CANARY}");
    let with = |http: Http| {
        let http = http.header("Authorization", &format!("Bearer {CANARY}")).unwrap();
        let http = http.header("Cookie", &format!("session={CANARY}")).unwrap();
        http.header_with("X-Api-Key", &format!("{CANARY}-{{seq}}")).unwrap()
    };
    let made = Http::make(&url, |op| {
        let request = Request::post(format!("/made/{}?token={CANARY}", op.seq()));
        request.header("Authorization", format!("Bearer {CANARY}")).body(Body::from(CANARY)).unwrap()
    });
    vec![
        with(Http::get(&url).unwrap()),
        with(Http::post(&url).unwrap().body_with(&format!("password={CANARY}&n={{seq}}")).unwrap()),
        with(Http::put(&url).unwrap().body(Body::repeat(CANARY, 100_000)).keep_alive(false)),
        made.unwrap(),
    ]
}

/// Everything that can be shown of a run against each of them.
fn shown(workloads: Vec<Http>, what: &str) -> String {
    let mut shown = String::new();
    for (n, http) in workloads.into_iter().enumerate() {
        shown += &format!("{http} {http:?} {http:#?} {}\n", http.describe());
        let plan = || {
            Plan::new()
                .stream(format!("{what} {n}"), http.clone(), Load::closed(2))
                .measure(Duration::from_millis(50))
                .calibrate(if n == 0 { Duration::from_millis(20) } else { Duration::ZERO })
        };
        shown += &plan().to_json().to_string();
        match plan().run() {
            Err(error) => shown += &format!("{error} {error:?}\n"),
            Ok(record) => {
                assert!(record.streams[0].accounting.scheduled > 0);
                shown += &format!("{record:?}\n");
                for page in [report::text(&record), report::markdown(&record), report::json(&record).unwrap()]
                {
                    shown += &page;
                }
            }
        }
        shown += &common::run(session(&http));
    }
    shown
}

/// Of a session and what it says of failures.
async fn session(http: &Http) -> String {
    let mut op = Op::for_session(Clock::real(), std::rc::Rc::default(), 0);
    match http.connect(&SessionId::new(0, 1, 0, 0), &mut op).await {
        Err(failure) => format!("{failure:?} {}", failure.describe()),
        Ok(mut session) => {
            let outcome = HttpSession::call(&mut session, &mut op).await;
            let why = outcome.err().map(|f| format!("{f:?} {f:#?} {}", f.describe()));
            format!("{session:?} {session:#?} {why:?} {:?}", op.take_facts())
        }
    }
}

#[test]
fn secrets_are_in_no_record_log_error_or_debug_output() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let mut all = String::new();
    let echoed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (what, server) in [
        ("answers", Known::http()),
        ("turns away", Known::http().status(401).header("WWW-Authenticate", "Basic")),
        ("echoes", Known::echo()),
        ("says the header", Known::raw(format!("authorization: Bearer {CANARY}\r\n"))),
        ("says it in a chunk", Known::raw(format!("{echoed}A: Bearer {CANARY}\r\n"))),
        ("says it in a status", Known::raw(format!("HTTP/1.1 999 {CANARY}\r\nContent-Length: 0\r\n\r\n"))),
        ("redirects", Known::http().reply(Reply::http(302, CANARY).header("Location", format!("/{CANARY}")))),
        ("closes", Known::raw("").close()),
    ] {
        let server = server.start().unwrap();
        all += &shown(secretive(&server.url()), what);
    }
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    all += &shown(secretive(&format!("http://{gone}/")), "is gone");
    #[cfg(feature = "http2")]
    {
        let target = http_load::NullTarget::start_http2(Duration::ZERO).unwrap();
        let workloads = secretive(&format!("http://{}/", target.address()));
        all += &shown(workloads.into_iter().map(|http| http.http2(2).unwrap()).collect(), "HTTP/2");
    }
    #[cfg(feature = "tls")]
    {
        let target = http_load::NullTarget::start_tls(Duration::ZERO).unwrap();
        let (tls, key) = with_a_key();
        all += &format!("{tls:?} {tls:#?}");
        let workloads = secretive(&format!("https://{}/", target.address()));
        let all_tls = workloads.into_iter().map(|http| http.tls(tls.clone()).unwrap()).collect();
        all += &shown(all_tls, "TLS");
        let middle = &key[key.len() / 2 - 20..key.len() / 2];
        assert!(!all.contains(middle), "the key is shown");
    }
    for refused in [
        Http::get(&format!("http://me:{CANARY}@127.0.0.1/")).unwrap_err(),
        Http::get(&format!("http://127.0.0.1/a b?token={CANARY}")).unwrap_err(),
        Http::get(&format!("127.0.0.1?token={CANARY}")).unwrap_err(),
        Http::get("http://a/").unwrap().header("X", &format!("{CANARY}\n")).unwrap_err(),
        Http::get("http://a/").unwrap().header_with("X", &format!("{CANARY}{{random:}}")).unwrap_err(),
        Http::get("http://a/").unwrap().body_with(&format!("{CANARY}{{random:}}")).unwrap_err(),
        Http::urls([format!("http://a/?{CANARY}"), format!("http://me:{CANARY}@b/?{CANARY}")]).unwrap_err(),
        Http::urls([format!("http://a/?{CANARY}"), format!("http://b/?{CANARY}")]).unwrap_err(),
    ] {
        all += &format!("{refused} {refused:?}\n");
    }
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    // That there would be something to find.
    assert!(all.contains("authorization") && all.contains("cookie") && all.contains("401"));
    #[cfg(feature = "http2")]
    assert!(log.contains("TRACE"), "nobody logs anything at TRACE");
    for (text, name) in [(&all, "what is shown"), (&log, "the log")] {
        if let Some(at) = text.find(CANARY) {
            let from = (0..=at.saturating_sub(200)).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            panic!("a secret is in {name}: {}", &text[from..at + CANARY.len()]);
        }
    }
}

/// Trusts everybody, and has a certificate of its own. With the second line of the key.
#[cfg(feature = "tls")]
fn with_a_key() -> (http_load::Tls, String) {
    let signed = rcgen::generate_simple_self_signed(["client.test".to_string()]).unwrap();
    let key = signed.signing_key.serialize_pem();
    let tls = http_load::Tls::unverified();
    let tls = tls.client_certificate(signed.cert.pem().as_bytes(), key.as_bytes()).unwrap();
    (tls, key)
}
