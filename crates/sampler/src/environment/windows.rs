//! The Windows below WSL.

use std::{
    io::Read,
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

/// Asks Windows for its version, at most for 3 s and once in a process. Only to be called within WSL.
pub(super) fn build() -> Option<String> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    BUILD.get_or_init(ask).clone()
}

fn ask() -> Option<String> {
    let mut child = Command::new("/mnt/c/Windows/System32/cmd.exe")
        .args(["/c", "ver"])
        .current_dir("/mnt/c/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let from = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if from.elapsed() > Duration::from_secs(3) {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut output = Vec::new();
    child.stdout.take()?.take(4096).read_to_end(&mut output).ok()?;
    version(&String::from_utf8_lossy(&output))
}

/// `10.0.22631.4317` in `Microsoft Windows [Version 10.0.22631.4317]`, in whatever language the rest is.
fn version(text: &str) -> Option<String> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .find(|word| word.split('.').filter(|part| !part.is_empty()).count() >= 3)
        .map(String::from)
}

/// The build in the release of a WSL 1 kernel: `4.4.0-19041-Microsoft`.
pub(super) fn build_of_wsl1(release: &str) -> Option<String> {
    let build = release.strip_suffix("-Microsoft")?.rsplit('-').next()?;
    build.bytes().all(|b| b.is_ascii_digit()).then(|| build.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let ver = "\r\nMicrosoft Windows [Version 10.0.22631.4317]\r\n";
        assert_eq!(version(ver).as_deref(), Some("10.0.22631.4317"));
        assert_eq!(version("Microsoft Windows [Versi\u{fffd}n 10.0.19045]").as_deref(), Some("10.0.19045"));
        assert_eq!(version("no version 1.2"), None);
        assert_eq!(build_of_wsl1("4.4.0-19041-Microsoft").as_deref(), Some("19041"));
        assert_eq!(build_of_wsl1("5.15.153.1-microsoft-standard-WSL2"), None);
    }
}
