//! Which revision of the sources this was built from.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// `OPENLOOP_GIT_REVISION` when it was set at build time; else what a published package says, or what is checked out
/// where the sources are, if they are still there.
pub(super) fn own() -> Option<String> {
    option_env!("OPENLOOP_GIT_REVISION")
        .map(String::from)
        .or_else(|| of_sources(Path::new(env!("CARGO_MANIFEST_DIR"))))
}

fn of_sources(sources: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(sources.join(".cargo_vcs_info.json")) {
        let info: serde_json::Value = serde_json::from_str(&text).ok()?;
        return revision(info.pointer("/git/sha1")?.as_str()?);
    }
    sources.ancestors().find_map(|directory| {
        let git = directory.join(".git");
        git.exists().then(|| checked_out(&git)).flatten()
    })
}

/// The commit that `HEAD` names.
fn checked_out(git: &Path) -> Option<String> {
    let directory: PathBuf = match fs::read_to_string(git) {
        // A work tree beside the repository has a file that says where its part of it is.
        Ok(text) => git.parent()?.join(text.trim().strip_prefix("gitdir:")?.trim()),
        Err(_) => git.into(),
    };
    let head = fs::read_to_string(directory.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref:").map(str::trim) else { return revision(head.trim()) };
    let common = fs::read_to_string(directory.join("commondir"))
        .map_or_else(|_| directory.clone(), |text| directory.join(text.trim()));
    for place in [&directory, &common] {
        if let Ok(text) = fs::read_to_string(place.join(name)) {
            return revision(text.trim());
        }
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| revision(line.strip_suffix(name)?.strip_suffix(' ')?))
}

fn revision(text: &str) -> Option<String> {
    (text.len() >= 40 && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0123456789abcdef0123456789abcdef01234567";
    const B: &str = "89abcdef0123456789abcdef0123456789abcdef";

    fn write(directory: &Path, path: &str, text: &str) {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn of_a_checkout_a_work_tree_and_a_package() {
        let directory = tempfile::tempdir().unwrap();
        let d = directory.path();
        write(d, "repo/.git/HEAD", "ref: refs/heads/main\n");
        write(
            d,
            "repo/.git/packed-refs",
            &format!("# pack-refs\n{B} refs/heads/other-main\n{A} refs/heads/main\n"),
        );
        write(d, "repo/crates/sampler/x", "");
        assert_eq!(of_sources(&d.join("repo/crates/sampler")).as_deref(), Some(A));
        write(d, "repo/.git/refs/heads/main", &format!("{B}\n"));
        assert_eq!(
            of_sources(&d.join("repo/crates/sampler")).as_deref(),
            Some(B),
            "newer than the packed one"
        );

        write(d, "tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
        write(d, "repo/.git/worktrees/tree/HEAD", "ref: refs/heads/main\n");
        write(d, "repo/.git/worktrees/tree/commondir", "../..\n");
        assert_eq!(of_sources(&d.join("tree")).as_deref(), Some(B));
        write(d, "repo/.git/worktrees/tree/HEAD", &format!("{A}\n"));
        assert_eq!(of_sources(&d.join("tree")).as_deref(), Some(A), "a detached head");

        write(d, "repo/vendor/sampler/.cargo_vcs_info.json", &format!("{{\"git\":{{\"sha1\":\"{A}\"}}}}"));
        assert_eq!(of_sources(&d.join("repo/vendor/sampler")).as_deref(), Some(A), "the package's own");
        assert_eq!(of_sources(Path::new("/no/such/place")), None);
    }
}
