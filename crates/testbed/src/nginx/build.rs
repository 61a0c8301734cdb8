//! What an nginx program can do, as `nginx -V` says.

use std::path::Path;
use std::process::Command;

use crate::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Build {
    pub(super) version: String,
    pub(super) stub_status: bool,
    /// Optional parts of the core that this build lacks, such as `http_fastcgi_module`.
    without: Vec<String>,
}

impl Build {
    pub(super) fn of(program: &Path) -> Result<Self, Error> {
        let what = || format!("asking {} for its version", program.display());
        let output = Command::new(program).arg("-V").env_clear().output().map_err(Error::io(what()))?;
        let text = String::from_utf8_lossy(&output.stderr);
        Self::parse(&text)
            .ok_or_else(|| Error::io(what())(std::io::Error::other("the answer is not understood")))
    }

    fn parse(text: &str) -> Option<Self> {
        let version = text.lines().find_map(|line| line.trim().strip_prefix("nginx version: "))?;
        // `nginx/1.22.1`, `nginx/1.18.0 (Ubuntu)`, `openresty/1.25.3.1`.
        let version = version.split('/').nth(1)?.split_whitespace().next()?;
        let without = text.split_whitespace().filter_map(|word| word.strip_prefix("--without-"));
        Some(Self {
            version: version.to_owned(),
            stub_status: text.contains("--with-http_stub_status_module"),
            without: without.map(str::to_owned).collect(),
        })
    }

    pub(super) fn has(&self, module: &str) -> bool {
        !self.without.iter().any(|name| name == module)
    }

    pub(super) fn is_at_least(&self, wanted: [u32; 3]) -> bool {
        let mut parts = self.version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        [0; 3].map(|_| parts.next().unwrap_or(0)) >= wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_modules_are_read() {
        let text = "nginx version: nginx/1.18.0 (Ubuntu)\nbuilt with OpenSSL\nconfigure arguments: --prefix=/x \
                    --with-http_stub_status_module --without-http_uwsgi_module\n";
        let build = Build::parse(text).unwrap();
        assert_eq!(build.version, "1.18.0");
        assert!(build.stub_status && build.has("http_scgi_module") && !build.has("http_uwsgi_module"));
        assert!(
            build.is_at_least([1, 18, 0]) && build.is_at_least([1, 9, 99]) && !build.is_at_least([1, 19, 0])
        );
        assert!(Build::parse("something else").is_none());
    }
}
