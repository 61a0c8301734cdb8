//! TLS: what is agreed on, and why not.
#![cfg(feature = "tls")]

mod common;

use common::{Driven, Peer, local, run, said};
use http_load::{Http, NullTarget, Tls};
use load_core::{Class, Failure};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    date_time_ymd,
};
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, mpsc},
    time::Duration,
};
use testbed::Nginx;
use tokio_rustls::rustls::{
    self, RootCertStore, ServerConfig, ServerConnection,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{Acceptor, WebPkiClientVerifier},
};

/// An authority that signs whatever a test needs.
struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
struct Signed {
    certificate: String,
    key: String,
}

impl Authority {
    fn new() -> Authority {
        Authority::named("authority")
    }

    fn named(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    fn sign(&self, names: &[&str], expired: bool) -> Signed {
        let key = KeyPair::generate().unwrap();
        let mut params = params(names, expired);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        Signed { certificate: params.signed_by(&key, &self.0).unwrap().pem(), key: key.serialize_pem() }
    }
}

fn params(names: &[&str], expired: bool) -> CertificateParams {
    let mut params =
        CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = if expired { date_time_ymd(2001, 1, 1) } else { date_time_ymd(2999, 1, 1) };
    params
}

/// One that signed itself and is marked as an authority's.
fn self_signed(names: &[&str]) -> Signed {
    let key = KeyPair::generate().unwrap();
    let mut params = params(names, false);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Signed { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

fn server_config(signed: &Signed, clients: Option<&Authority>, alpn: &[&str]) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(&authority.pem()).unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let chain = vec![CertificateDer::from_pem_slice(signed.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(signed.key.as_bytes()).unwrap();
    let mut config = builder.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = alpn.iter().map(|p| p.as_bytes().to_vec()).collect();
    Arc::new(config)
}

/// A server for a number of connections that says which name was asked for.
struct Server {
    port: u16,
    names: mpsc::Receiver<Option<String>>,
}

impl Server {
    fn start(config: Arc<ServerConfig>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (send, names) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (config, send) = (Arc::clone(&config), send.clone());
                std::thread::spawn(move || serve(stream, config, &send));
            }
        });
        Server { port, names }
    }

    fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/", self.port)
    }

    fn http(&self, host: &str, tls: Tls) -> Http {
        let http = Http::get(&self.url(host)).unwrap().tls(tls).unwrap();
        http.connect_to([local(self.port, [127, 0, 0, 1])]).unwrap()
    }
}

fn serve(mut stream: TcpStream, config: Arc<ServerConfig>, names: &mpsc::Sender<Option<String>>) {
    let mut acceptor = Acceptor::default();
    let accepted = loop {
        if !matches!(acceptor.read_tls(&mut stream), Ok(1..)) {
            return;
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => break accepted,
            Ok(None) => {}
            Err((_, mut alert)) => return drop(alert.write(&mut stream)),
        }
    };
    let _ = names.send(accepted.client_hello().server_name().map(str::to_string));
    let mut connection: ServerConnection = match accepted.into_connection(config) {
        Ok(connection) => connection,
        Err((_, mut alert)) => return drop(alert.write(&mut stream)),
    };
    let mut tls = rustls::Stream::new(&mut connection, &mut stream);
    let mut buffer = [0; 4096];
    while let Ok(1..) = tls.read(&mut buffer) {
        if tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            break;
        }
    }
    let _ = stream.flush();
}

async fn opening(http: &Http) -> Failure {
    Driven::connect(http).await.err().expect("it must not be opened")
}

#[test]
fn an_authority_of_ones_own_is_enough_and_what_was_agreed_on_is_told() {
    let authority = Authority::new();
    let server = Server::start(server_config(&authority.sign(&["example.test"], false), None, &["http/1.1"]));
    run(async {
        let http = server.http("example.test", Tls::authority(&authority.pem()).unwrap());
        let mut session = Driven::connect(&http).await.unwrap();
        assert_eq!(session.step_names(), ["connect", "tls"]);
        for _ in 0..10 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("connections_opened"), 1);
        let fact = |name| session.facts.iter().find(|(n, _)| *n == name).unwrap().1.clone();
        assert!(fact("tls").starts_with("TLSv1_3, TLS13_") && fact("tls").ends_with("ALPN http/1.1"));
        assert_eq!(fact("protocol"), "HTTP/1.1");
        // As HTTP, not as it is when encrypted.
        assert_eq!(session.bytes_in, 10 * "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len() as u64);
        let mut session = Driven::connect(&http.keep_alive(false)).await.unwrap();
        session.call().await.unwrap();
        assert_eq!(session.step_names(), ["connect", "tls", "first_byte", "body"]);
    });
}

#[test]
fn names_are_asked_for_and_addresses_are_not() {
    let authority = Authority::new();
    let signed = authority.sign(&["example.test", "127.0.0.1"], false);
    let server = Server::start(server_config(&signed, None, &[]));
    let tls = || Tls::authority(&authority.pem()).unwrap();
    run(async {
        for (http, name) in [
            (server.http("example.test", tls()), Some("example.test")),
            (server.http("127.0.0.1", tls().server_name("example.test").unwrap()), Some("example.test")),
            (server.http("127.0.0.1", tls()), None),
        ] {
            Driven::connect(&http).await.unwrap().call().await.unwrap();
            assert_eq!(server.names.recv().unwrap().as_deref(), name);
        }
    });
}

#[test]
fn the_reasons_of_failed_handshakes_are_told_apart() {
    let authority = Authority::new();
    let trusting = || Tls::authority(&authority.pem()).unwrap();
    let good = authority.sign(&["example.test"], false);
    let with = |signed: &Signed, alpn: &[&str]| Server::start(server_config(signed, None, alpn));
    let cases = [
        (with(&good, &[]), "other.test", "certificate of another name", "Tls::server_name"),
        (
            with(&authority.sign(&["example.test"], true), &[]),
            "example.test",
            "certificate expired",
            "Tls::unverified",
        ),
        (
            with(&Authority::named("another").sign(&["example.test"], false), &[]),
            "example.test",
            "certificate of an unknown issuer",
            "Tls::authority",
        ),
        (with(&self_signed(&["example.test"]), &[]), "example.test", "certificate", "Tls::unverified"),
        (with(&good, &["h2"]), "example.test", "http/1.1 not agreed on", "http/1.1"),
    ];
    run(async {
        for (server, host, code, hint) in &cases {
            let failure = opening(&server.http(host, trusting())).await;
            assert_eq!(failure.class(), Class::Tls, "{failure:?}");
            assert!(failure.code().starts_with(code), "{code}: {failure:?}");
            assert!(failure.describe().contains(hint), "{hint}: {failure:?}");
            assert!(failure.needs_reconnect() && !failure.is_unknown());
        }
        // With the option that was named all certificates are taken.
        for (server, host, ..) in &cases[..4] {
            let mut session = Driven::connect(&server.http(host, Tls::unverified())).await.unwrap();
            session.call().await.unwrap();
        }
    });
}

#[test]
fn servers_that_do_not_speak_tls_are_told_apart() {
    let closing = Peer::start(|mut conn| {
        let _ = conn.stream.read(&mut [0; 1000]);
    });
    let plain = Peer::start(|mut conn| {
        let _ = conn.stream.read(&mut [0; 1000]);
        conn.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        conn.until_closed();
    });
    let silent = Peer::start(|mut conn| conn.until_closed());
    run(async {
        for (peer, class, code) in [
            (&closing, Class::Tls, "closed in the handshake"),
            (&plain, Class::Tls, "not TLS"),
            (&silent, Class::Timeout, "tls"),
        ] {
            let http =
                Http::get(&format!("https://{}/", peer.address)).unwrap().tls(Tls::unverified()).unwrap();
            let failure = opening(&http.timeout(Duration::from_millis(300)).unwrap()).await;
            assert_eq!((failure.class(), failure.code()), (class, code), "{failure:?}");
        }
    });
}

#[test]
fn a_client_certificate_is_shown_and_missed() {
    let authority = Authority::new();
    let server =
        Server::start(server_config(&authority.sign(&["example.test"], false), Some(&authority), &[]));
    let client = authority.sign(&["client.test"], false);
    let tls = || Tls::authority(&authority.pem()).unwrap();
    run(async {
        let shown = tls().client_certificate(client.certificate.as_bytes(), client.key.as_bytes()).unwrap();
        let text = format!("{shown:?}");
        assert!(text.contains("client_certificate: true") && text.len() < 100, "{text}");
        Driven::connect(&server.http("example.test", shown)).await.unwrap().call().await.unwrap();
        // The server may say so only after the client has seen the handshake end.
        let without = server.http("example.test", tls());
        let failure = match Driven::connect(&without).await {
            Err(failure) => failure,
            Ok(mut session) => session.call().await.unwrap_err(),
        };
        assert_eq!(
            (failure.class(), failure.code()),
            (Class::Tls, "alert: CertificateRequired"),
            "{failure:?}"
        );
    });
}

#[test]
fn settings_that_cannot_be_meant_are_refused() {
    let authority = Authority::new();
    let (one, other) = (authority.sign(&["a.test"], false), authority.sign(&["b.test"], false));
    for (result, words) in [
        (Tls::authority(b""), "none in PEM"),
        (Tls::authority(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "authority"),
        (Tls::unverified().server_name("not a name"), "server_name"),
        (Tls::unverified().client_certificate(b"", b""), "none in PEM"),
        (Tls::unverified().client_certificate(one.certificate.as_bytes(), b"x"), "not a key"),
        (
            Tls::unverified().client_certificate(one.certificate.as_bytes(), other.key.as_bytes()),
            "client_certificate",
        ),
    ] {
        let said = result.unwrap_err().to_string();
        assert!(said.contains(words) && !said.contains("BEGIN"), "{said}");
    }
    let said = Http::get("http://a/").unwrap().tls(Tls::unverified()).unwrap_err().to_string();
    assert!(said.contains("https://"), "{said}");
}

#[test]
fn the_null_target_speaks_tls() {
    let target = NullTarget::start_tls(Duration::ZERO).unwrap();
    let http = Http::get("https://example.test/").unwrap().against(target.address());
    run(async {
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..20 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("body_bytes"), 20 * 612);
        assert_eq!(
            said(&Driven::connect(&Http::get("https://localhost:1/").unwrap()).await.map(drop)).0,
            Class::Connect
        );
    });
}

#[test]
fn a_real_nginx_speaks_tls() {
    if !testbed::installed("nginx") {
        eprintln!("SKIPPED: nginx is not installed");
        return;
    }
    let authority = Authority::new();
    let signed = authority.sign(&["localhost"], false);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "server {{ listen 127.0.0.1:{port} ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem; \
         keepalive_requests 7; location / {{ return 200 'hello'; }} }}"
    );
    let builder = Nginx::builder().file("cert.pem", signed.certificate).file("key.pem", signed.key);
    let _nginx = builder.extra_http_config(config).start_blocking().unwrap();
    run(async {
        let http = Http::get(&format!("https://localhost:{port}/")).unwrap().expect_body("hello");
        let http = http.tls(Tls::authority(&authority.pem()).unwrap()).unwrap();
        let mut session = Driven::connect(&http).await.unwrap();
        for _ in 0..70 {
            session.call().await.unwrap();
        }
        assert_eq!(session.counter("connections_opened"), 10);
    });
}
