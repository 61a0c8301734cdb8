# shellcheck shell=bash
# What tests/run and examples/run share: finding what is needed and installing what is missing.
# Sourced, with `set -euo pipefail` on and the repository root as the working directory.
#
# Rust is the one prerequisite. Everything else is a program looked up on PATH; only a missing one is installed,
# by apt where there is apt. OPENLOOP_NO_INSTALL=1 turns every installation into a message.

# Not CARGO_HOME: what we need for our own checks must not replace the tools of whoever runs them.
readonly tools_root=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/openloop/tools

say() { printf '%s\n' "$*" >&2; }
# A program on PATH: bash's own kill would not help a test that starts one.
have() { type -P "$1" >/dev/null; }

# Servers live in directories that are not on every user's PATH (/usr/sbin; PostgreSQL's versioned ones), and
# rustup's is missing in shells that never read a profile. Later directories do not hide earlier programs.
extend_path() {
    PATH=$tools_root/bin:$PATH:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:/usr/local/sbin:/usr/sbin:/sbin
    local newest
    newest=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    if [[ -d $newest ]]; then PATH=$PATH:$newest; fi
    export PATH
}

# True if the first version is the second or newer.
version_at_least() {
    [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]
}

# ---- programs ------------------------------------------------------------------------------------------------

# "ca-certificates" is no program, but needed in the same way by everything that downloads.
is_there() {
    case $1 in
        ca-certificates)
            [[ -n ${SSL_CERT_FILE:-} || -e /etc/ssl/certs/ca-certificates.crt || -e /etc/ssl/cert.pem ||
                -e /etc/pki/tls/certs/ca-bundle.crt ]]
            ;;
        *) have "$1" ;;
    esac
}

package_of() {
    case $1 in
        cc) echo build-essential ;;
        postgres | initdb | pgbench) echo postgresql ;;
        redis-benchmark | redis-cli) echo redis-tools ;;
        ab) echo apache2-utils ;;
        kill | ps) echo procps ;;
        ipcrm) echo util-linux ;;
        *) echo "$1" ;; # the package is called as the program
    esac
}

# Sets the array `missing` to those of its arguments that are not on this machine.
find_missing() {
    missing=()
    local program
    for program in "$@"; do
        is_there "$program" || missing+=("$program")
    done
}

# Prints how the missing programs would be got, one line; for announcing before anything is done.
installation_plan() {
    local missing
    find_missing "$@"
    if [[ ${#missing[@]} -eq 0 ]]; then
        echo 'nothing to install'
    elif ! may_install; then
        echo "nothing to install by itself; missing: ${missing[*]}"
    else
        echo "install with apt, no service is started: $(packages_of "${missing[@]}")"
    fi
}

packages_of() {
    local program
    for program in "$@"; do package_of "$program"; done | sort -u | paste -sd ' '
}

may_install() {
    [[ -z ${OPENLOOP_NO_INSTALL:-} ]] && have apt-get
}

# Fails with a message that names what is missing and what to do about it.
ensure_programs() {
    local missing packages
    find_missing "$@"
    if [[ ${#missing[@]} -eq 0 ]]; then return 0; fi
    read -ra packages <<<"$(packages_of "${missing[@]}")"
    if [[ -n ${OPENLOOP_NO_INSTALL:-} ]]; then
        say "missing, and told to install nothing: ${missing[*]} (Debian packages: ${packages[*]})"
        return 1
    fi
    if ! have apt-get; then
        say "no apt-get here; put these commands on PATH by your system's own means: ${missing[*]}"
        return 1
    fi
    say "installing with apt (no service is started): ${packages[*]}"
    as_root .ci/apt-install "${packages[@]}" || return 1
    hash -r
    extend_path
    find_missing "$@"
    if [[ ${#missing[@]} -gt 0 ]]; then
        say "installed ${packages[*]}, but these commands are still not on PATH: ${missing[*]}"
        return 1
    fi
}

# Without a terminal sudo must not ask for a password: nobody would answer.
as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif have sudo && { [[ -t 2 && -e /dev/tty ]] || sudo -n true 2>/dev/null; }; then
        sudo "$@"
    else
        say "this needs root, and there is no sudo to get it by. Run as root, in $PWD:"
        say "    $*"
        return 1
    fi
}

# ---- Rust ----------------------------------------------------------------------------------------------------

required_rust() {
    sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1
}

# Prints nothing when there is no compiler, or only rustup's stand-in for one that is not installed.
found_rust() {
    have cargo || return 0
    rustc --version 2>/dev/null | awk '{ print $2 }' || true
}

rust_is_new_enough() {
    local found
    found=$(found_rust)
    [[ -n $found ]] && version_at_least "$found" "$(required_rust)"
}

# Arguments: the components needed, "fmt" or "clippy".
ensure_rust() {
    rust_is_new_enough || get_rust || true
    if ! rust_is_new_enough; then
        explain_rust
        return 1
    fi
    local component
    for component in "$@"; do
        if ! cargo "$component" --version >/dev/null 2>&1; then
            say "'cargo $component' is missing. With rustup: rustup component add ${component/#fmt/rustfmt}"
            return 1
        fi
    done
}

# Only where nothing of the user's is changed: a toolchain that is there, but old, is theirs to update.
get_rust() {
    [[ -z ${OPENLOOP_NO_INSTALL:-} && -z $(found_rust) ]] || return 1
    if ! have rustup; then
        have apt-get || return 1
        if ! have cargo; then say 'no Rust here; trying the rustup package of this distribution'; fi
        as_root .ci/apt-install rustup ca-certificates || return 1
        hash -r
    fi
    say "rustup has no default toolchain: running 'rustup default stable'"
    rustup default stable >&2
}

explain_rust() {
    local found
    found=$(found_rust)
    say "openloop needs Rust $(required_rust) or newer; found: ${found:-none}."
    if have rustup; then
        say 'Run: rustup update stable && rustup default stable'
    else
        say 'Debian 13, Ubuntu 24.04 and later: as root apt-get install rustup (in place of cargo and'
        say 'rustc packages, if there are any), then rustup default stable.'
        say 'Anywhere else: follow https://rustup.rs, open a new shell and run this again.'
    fi
}

# ---- tools from crates.io ------------------------------------------------------------------------------------

tool_version() {
    cargo "${1#cargo-}" --version 2>/dev/null | awk '{ print $2; exit }' || true
}

# Arguments: name, version to install, oldest version that will do. Compiling takes minutes, once per machine.
ensure_cargo_tool() {
    local name=$1 version=$2 oldest=$3 found
    found=$(tool_version "$name")
    if [[ -n $found ]] && version_at_least "$found" "$oldest"; then return 0; fi
    if [[ -n ${OPENLOOP_NO_INSTALL:-} ]]; then
        say "missing, and told to install nothing: $name $oldest or newer (cargo install --locked $name)"
        return 1
    fi
    say "installing $name $version with 'cargo install' into $tools_root (some minutes, once)"
    cargo install --locked --root "$tools_root" --version "$version" "$name" >&2 || {
        say "could not install $name $version; with any $name $oldest or newer on PATH this step is left out"
        return 1
    }
}
