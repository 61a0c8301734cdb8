//! What a run ran on: read once, at its start.

mod hardware;
mod os;
mod revision;
mod virtualisation;
mod windows;

use crate::{Cgroup, files::Root};
use load_core::record::Environment;
use serde_json::{Value, json};

/// The machine and its software, as far as they can be read; what cannot is absent. Takes a few ms (within WSL 2,
/// the first time, up to 3 s: Windows is asked for its version). Blocks; not for a worker thread.
///
/// Beside the fields of [`Environment`], `more` has, where the system tells them:
///
/// | name | what |
/// |---|---|
/// | `kernel_build` | number and date of the kernel's build |
/// | `windows_build` | the Windows below WSL |
/// | `clocksource` | what the kernel reads the time from |
/// | `governor` | the CPU frequency governor, or all when CPUs differ |
/// | `smt` | `on`, `off`, `notsupported`... |
/// | `cpus_online` | CPUs of the machine, as a list of ranges |
/// | `mitigations` | of the CPU's faults, by name, without those that do not affect it |
/// | `disk_models` | models by block device |
/// | `swap_bytes` | size of swap |
/// | `loadavg` | the three load averages, before the run adds its own |
/// | `transparent_hugepages`, `aslr` | settings of the kernel that move results |
/// | `cpu_limit_cores`, `memory_limit_bytes` | limits of the cgroup that this process is in |
/// | `descriptors` | soft limit of open files |
/// | `git_revision` | of the sources this was built from, as they are checked out now |
///
/// What can be said only after a run, who else kept the machine busy, [`Others::record`](crate::Others::record) adds.
pub fn environment() -> Environment {
    of(&Root::system())
}

/// Physical memory.
pub(crate) fn memory_bytes(root: &Root) -> Option<u64> {
    hardware::memory_bytes(root, "MemTotal:")
}

pub(crate) fn of(root: &Root) -> Environment {
    let mut e = Environment::default();
    e.host = os::host(root);
    e.os = os::name(root);
    e.kernel = os::kernel(root);
    e.virtualisation = virtualisation::describe(root);
    e.cpu_model = hardware::cpu_model(root);
    e.cores = std::thread::available_parallelism().ok().and_then(|n| n.get().try_into().ok());
    e.memory_bytes = memory_bytes(root);
    e.openloop_version = Some(env!("CARGO_PKG_VERSION").into());
    for (name, value) in more(root, &e) {
        if let Some(value) = value {
            e.more.insert(name.into(), value);
        }
    }
    e
}

fn more(root: &Root, e: &Environment) -> Vec<(&'static str, Option<Value>)> {
    let line = |path: &str| root.line(path).map(Value::from);
    let (cpu_limit, memory_limit) = Cgroup::of("own", root, "self").limits();
    vec![
        ("kernel_build", line("proc/sys/kernel/version")),
        ("windows_build", windows_build(root, e).map(Value::from)),
        ("clocksource", line("sys/devices/system/clocksource/clocksource0/current_clocksource")),
        ("governor", hardware::governor(root).map(Value::from)),
        ("smt", hardware::smt(root).map(Value::from)),
        ("cpus_online", line("sys/devices/system/cpu/online")),
        ("mitigations", hardware::mitigations(root).map(|m| json!(m))),
        ("disk_models", hardware::disk_models(root).map(|m| json!(m))),
        ("swap_bytes", hardware::memory_bytes(root, "SwapTotal:").map(Value::from)),
        ("transparent_hugepages", os::transparent_hugepages(root).map(Value::from)),
        ("aslr", line("proc/sys/kernel/randomize_va_space")),
        ("loadavg", os::load_averages(root).map(Value::from)),
        ("cpu_limit_cores", cpu_limit.map(Value::from)),
        ("memory_limit_bytes", memory_limit.map(Value::from)),
        ("descriptors", os::descriptors(root).map(Value::from)),
        ("git_revision", revision::own().map(Value::from)),
    ]
}

fn windows_build(root: &Root, e: &Environment) -> Option<String> {
    match e.virtualisation.as_deref()? {
        "wsl1" => windows::build_of_wsl1(e.kernel.as_deref()?),
        // Made-up machines are not asked.
        kind if kind.contains("wsl2") && root.is_system() => windows::build(),
        _ => None,
    }
}
