//! What nginx serves.

use crate::Error;

/// Paths under this prefix are ours: the status page and the readiness answer.
pub(super) const RESERVED: &str = "/openloop_";

/// The size of the page that nginx brings itself, which most published figures are about.
const WELCOME_SIZE: usize = 612;

#[derive(Debug, Clone)]
pub(super) enum Page {
    /// A file.
    File(Vec<u8>),
    /// Answered from the configuration.
    Inline(String),
}

/// A page of our own of exactly the size of nginx's welcome page.
pub(super) fn welcome() -> Vec<u8> {
    const HEAD: &str = "<!DOCTYPE html>\n<html>\n<head><title>A page to be fetched often</title></head>\n<body>\n\
                        <h1>A page to be fetched often</h1>\n<p>This nginx was started for a load test and ends with it.\n";
    const TAIL: &str = "</p>\n</body>\n</html>\n";
    let mut page = HEAD.as_bytes().to_vec();
    page.extend(filler(WELCOME_SIZE - HEAD.len() - TAIL.len()));
    page.extend(TAIL.as_bytes());
    page
}

/// Readable text of exactly `size` bytes.
pub(super) fn filler(size: usize) -> Vec<u8> {
    const LINE: &[u8] = b"The quick brown fox jumps over the lazy dog while nobody counts it.\n";
    LINE.iter().copied().cycle().take(size).collect()
}

/// Where the file of a page is, relative to the document root, or what is wrong with its path.
pub(super) fn file_of(path: &str) -> Result<String, Error> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._~-/".contains(&b);
    let why = if !path.starts_with('/') {
        "must begin with '/'"
    } else if !path.bytes().all(plain) {
        "may have letters, digits and '.', '_', '~', '-' only"
    } else if path.contains("//") || path.split('/').any(|part| part == "." || part == "..") {
        "must not have empty parts, '.' or '..'"
    } else if path.starts_with(RESERVED) {
        "is taken by the status page and the readiness answer"
    } else {
        let index = if path.ends_with('/') { "index.html" } else { "" };
        return Ok(format!("{}{index}", &path[1..]));
    };
    Err(Error::Config { field: "page", value: path.to_owned(), why: why.to_owned() })
}

/// `text` as a string of nginx's configuration language.
pub(super) fn quoted(text: &str) -> Result<String, Error> {
    if text.contains('$') || text.contains('\0') {
        // A dollar sign begins a variable, and there is no way to write one as itself.
        let why = "cannot contain '$' or a NUL byte; use a page instead".to_owned();
        return Err(Error::Config { field: "inline", value: text.to_owned(), why });
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_welcome_page_has_the_size_of_nginx_s_own() {
        assert_eq!(welcome().len(), 612);
        assert_eq!(filler(0).len(), 0);
        assert_eq!(filler(5470).len(), 5470);
    }

    #[test]
    fn paths_become_files_inside_the_root_only() {
        assert_eq!(file_of("/").unwrap(), "index.html");
        assert_eq!(file_of("/a/b.html").unwrap(), "a/b.html");
        assert_eq!(file_of("/a/").unwrap(), "a/index.html");
        for bad in ["a", "", "/../x", "/a/..", "//a", "/a b", "/a;", "/openloop_status", "/a/./b"] {
            assert!(matches!(file_of(bad), Err(Error::Config { field: "page", .. })), "{bad}");
        }
    }

    #[test]
    fn strings_are_quoted_for_nginx() {
        assert_eq!(quoted(r#"a "b" \c"#).unwrap(), r#""a \"b\" \\c""#);
        assert!(quoted("$host").is_err());
    }
}
