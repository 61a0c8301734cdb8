//! The generated configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::build::Build;
use super::pages::{self, Page};
use crate::Error;
use crate::lease::{RunAs, ServerDir};

pub(super) const STATUS: &str = "/openloop_status";
pub(super) const READY: &str = "/openloop_ready";
/// The document root, relative to the server's directory.
const ROOT: &str = "html";

/// What nginx's configuration file is made of; rendered anew for every reload.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) build: Build,
    pub(super) addr: SocketAddr,
    /// The server's directory and the part of it that nginx can write to.
    pub(super) dir: PathBuf,
    pub(super) data: PathBuf,
    pub(super) user: Option<RunAs>,
    /// Tells this nginx from another one on the same port.
    pub(super) nonce: String,
    pub(super) with_unix_socket: bool,
    pub(super) worker_processes: u32,
    pub(super) worker_connections: u32,
    pub(super) open_files: u64,
    pub(super) backlog: u32,
    pub(super) pages: Vec<(String, Page)>,
    pub(super) extra_main: String,
    pub(super) extra_http: String,
    pub(super) extra_server: String,
}

impl Config {
    pub(super) fn path(&self) -> PathBuf {
        self.dir.join("nginx.conf")
    }

    pub(super) fn unix_socket(&self) -> Option<PathBuf> {
        self.with_unix_socket.then(|| self.data.join("nginx.sock"))
    }

    /// The answer at [`READY`] of this nginx with the configuration of this generation.
    pub(super) fn ready_answer(nonce: &str, generation: u64) -> String {
        format!("{nonce}.{generation}")
    }

    pub(super) fn write(&self, dir: &ServerDir, generation: u64) -> Result<(), Error> {
        dir.write(Path::new("nginx.conf"), self.render(generation)?.as_bytes(), self.user.as_ref()).map(drop)
    }

    pub(super) fn write_pages(&self, dir: &ServerDir) -> Result<(), Error> {
        for (path, page) in &self.pages {
            if let Page::File(content) = page {
                dir.write(&Path::new(ROOT).join(pages::file_of(path)?), content, self.user.as_ref())?;
            }
        }
        Ok(())
    }

    pub(super) fn render(&self, generation: u64) -> Result<String, Error> {
        let Self { worker_processes, worker_connections, open_files, addr, backlog, .. } = self;
        let (dir, data) = (self.dir.display(), self.data.display());
        // Each of these would otherwise be somewhere in /var, and made at the start.
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .into_iter()
            .filter(|kind| *kind == "client_body" || self.build.has(&format!("http_{kind}_module")))
            .fold(String::new(), |text, kind| text + &format!("    {kind}_temp_path {data}/{kind};\n"));
        // nginx closes a connection after an hour by default, which a long run would see as an error.
        let keepalive_time =
            if self.build.is_at_least([1, 19, 10]) { "    keepalive_time 30d;\n" } else { "" };
        let mut locations = String::new();
        if self.build.stub_status {
            let _ = writeln!(locations, "        location = {STATUS} {{ stub_status; }}");
        }
        let answer = Self::ready_answer(&self.nonce, generation);
        let _ = writeln!(
            locations,
            "        location = {READY} {{ default_type text/plain; return 200 {answer}; }}"
        );
        for (path, page) in &self.pages {
            pages::file_of(path)?;
            if let Page::Inline(text) = page {
                let text = pages::quoted(text)?;
                let _ = writeln!(
                    locations,
                    "        location = {path} {{ default_type text/plain; return 200 {text}; }}"
                );
            }
        }
        let unix = self.unix_socket().map_or_else(String::new, |path| {
            format!("        listen unix:{} backlog={backlog};\n", path.display())
        });
        let (main, http, server) = (&self.extra_main, &self.extra_http, &self.extra_server);
        Ok(format!(
            "daemon off;
worker_processes {worker_processes};
worker_rlimit_nofile {open_files};
pid {data}/nginx.pid;
error_log stderr warn;
{main}
events {{
    worker_connections {worker_connections};
}}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 1000000000;
    keepalive_timeout 1d;
{keepalive_time}{temporary}    default_type application/octet-stream;
    types {{
        text/html html htm;
        text/plain txt;
        text/css css;
        text/javascript js;
        application/json json;
        image/png png;
        image/svg+xml svg;
    }}
{http}
    server {{
        listen {addr} backlog={backlog};
{unix}        root {dir}/{ROOT};
        index index.html;
{locations}{server}
    }}
}}
"
        ))
    }

    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        let extra =
            [&self.extra_main, &self.extra_http, &self.extra_server].iter().any(|text| !text.is_empty());
        [
            ("worker_processes", self.worker_processes.to_string()),
            ("worker_connections", self.worker_connections.to_string()),
            ("worker_rlimit_nofile", self.open_files.to_string()),
            ("listen backlog", self.backlog.to_string()),
            ("access_log", "off".to_owned()),
            ("sendfile", "on".to_owned()),
            ("keepalive_requests", "1000000000".to_owned()),
            ("keepalive_timeout", "1d".to_owned()),
            // Not its text: it may hold what nobody else should read.
            ("extra configuration", if extra { "yes" } else { "no" }.to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}
