//! The end of a server's log, for messages.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::secret::{Secret, mask};

const LINES: usize = 20;
const BYTES: u64 = 8 * 1024;

/// The last lines that were written after `from` bytes.
pub(super) fn tail(path: &Path, from: u64, secrets: &[Secret]) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(length.saturating_sub(BYTES))))?;
        let mut bytes = Vec::new();
        file.take(BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) if bytes.is_empty() => "(the log is empty)".to_owned(),
        Ok(bytes) => {
            // Masked before lines are cut off, so that no half of a password is left.
            let text = mask(String::from_utf8_lossy(&bytes).into_owned(), secrets);
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(LINES)..].join("\n")
        }
        Err(error) => format!("(the log cannot be read: {error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_of_this_start_and_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        assert!(tail(&path, 0, &[]).contains("cannot be read"));
        std::fs::write(&path, "old\nnew\n").unwrap();
        assert_eq!(tail(&path, 4, &[]), "new");
        assert_eq!(tail(&path, 8, &[]), "(the log is empty)");
        let many: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&path, many).unwrap();
        let text = tail(&path, 0, &[]);
        assert_eq!(text.lines().count(), LINES);
        assert!(text.ends_with("line 9999"));
    }
}
