//! TLS, with a certificate made for the test.
#![cfg(feature = "tls")]

mod common;

use common::{Driver, Server, on_worker};
use load_core::Class;
use redis_load::{Client, Command, Keys, Payload, Redis, Target, Tls};
use std::process::{self, Stdio};

/// A server with TLS on a second port, and the authority of its certificate.
fn server() -> Option<(Server, Target, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    // The server runs as another user.
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let made = process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=openloop test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"])
        // What signs itself and serves must be both for rustls: an end entity that is its own root.
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &path("key.pem"), "-out", &path("cert.pem")])
        .stderr(Stdio::null())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no openssl on this machine");
        return None;
    }
    std::fs::set_permissions(path("key.pem"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &path("cert.pem"),
        "--tls-key-file",
        &path("key.pem"),
        "--tls-auth-clients",
        "no",
    ])?;
    let pem = std::fs::read(path("cert.pem")).unwrap();
    let target = Target::url(&format!("rediss://127.0.0.1:{port}")).unwrap().password(server.password());
    Some((server, target, pem))
}

#[test]
fn real_commands_go_over_tls_large_ones_too() {
    let Some((_server, target, pem)) = server() else { return };
    on_worker(async {
        for (tls, client) in [
            (Tls::authority(&pem).unwrap(), Client::Lean),
            (Tls::unverified().unwrap(), Client::Lean),
            (Tls::authority(&pem).unwrap(), Client::Fred),
        ] {
            let space = target.clone().tls(tls).isolate().open().await.unwrap();
            for size in [3, 1 << 20] {
                let load = |command| {
                    Redis::within(&space)
                        .command(command)
                        .keys(Keys::sequential(10))
                        .payload(Payload::verified(size))
                        .pipeline(5)
                        .client(client)
                        .build()
                        .unwrap()
                };
                Driver::connect(&load(Command::set())).await.unwrap().many(2).await;
                let mut driver = Driver::connect(&load(Command::get())).await.unwrap();
                assert_eq!(driver.many(2).await.counts["hits"], 10, "{size} bytes");
            }
            assert!(space.cleanup().await.passed);
        }
    });
}

#[test]
fn real_an_unknown_certificate_is_refused() {
    let Some((server, target, _)) = server() else { return };
    on_worker(async {
        let other = target.clone().tls(Tls::authority(OTHER).unwrap());
        let load = Redis::at(&other).command(Command::ping()).build().unwrap();
        let failure = Driver::connect(&load).await.err().unwrap();
        assert_eq!((failure.class(), failure.code()), (Class::Tls, "handshake"), "{failure:?}");
        // A server that speaks no TLS.
        let plain =
            Target::url(&format!("rediss://{}", server.address())).unwrap().tls(Tls::unverified().unwrap());
        let plain = plain.connect_timeout(std::time::Duration::from_millis(500));
        let load = Redis::at(&plain).command(Command::ping()).build().unwrap();
        assert_eq!(Driver::connect(&load).await.err().unwrap().class(), Class::Tls);
    });
    assert!(Tls::authority(b"nothing").unwrap_err().to_string().contains("no certificate"));
}

/// A certificate of nobody: valid in form, and of an authority that signed nothing.
const OTHER: &[u8] = include_bytes!("other-authority.pem");
