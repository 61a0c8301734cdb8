"""Fails if a locked crate needs a newer Rust than the workspace promises.

Clippy's `incompatible_msrv` looks at our own code; this looks at what the lock file picked for this platform.
"""

import json
import re
import subprocess
import sys


def version(text):
    numbers = [int(part) for part in text.split("-")[0].split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))


def promised():
    with open("Cargo.toml", encoding="utf-8") as manifest:
        match = re.search(r'^rust-version\s*=\s*"([^"]+)"', manifest.read(), re.MULTILINE)
    if not match:
        sys.exit("Cargo.toml has no rust-version")
    return match.group(1)


def host():
    verbose = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    return re.search(r"^host: (.+)$", verbose, re.MULTILINE).group(1)


def locked_packages():
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--all-features"]
    result = subprocess.run(command + ["--filter-platform", host()], stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        sys.exit("cargo metadata --locked failed; if Cargo.lock is out of date, run cargo check and commit it")
    metadata = json.loads(result.stdout)
    used = {node["id"] for node in metadata["resolve"]["nodes"]}
    return [package for package in metadata["packages"] if package["id"] in used]


def main():
    limit = promised()
    packages = locked_packages()
    newer = [p for p in packages if p["rust_version"] and version(p["rust_version"]) > version(limit)]
    for package in newer:
        print(f"{package['name']} {package['version']} needs Rust {package['rust_version']}", file=sys.stderr)
    if newer:
        sys.exit(f"{len(newer)} of {len(packages)} locked crates need a newer Rust than the promised {limit}")
    silent = sum(1 for p in packages if not p["rust_version"])
    print(f"{len(packages)} locked crates, none needs more than Rust {limit} ({silent} do not say)")


main()
