//! What a run ran on: read once, at its start.

mod hardware;
mod os;
mod virtualisation;

use crate::files::Root;
use load_core::record::Environment;
use serde_json::Value;

/// The machine and its software, as far as they can be read without waiting (a few ms). What cannot be read is absent.
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
/// | `disk_models` | models by block device |
/// | `swap_bytes` | size of swap |
/// | `loadavg` | the three load averages, before the run adds its own |
/// | `transparent_hugepages`, `aslr`, `mitigations` | settings of the kernel that move results |
/// | `cpu_limit_cores`, `memory_limit_bytes` | limits of the cgroup |
/// | `descriptors` | soft limit of open files |
/// | `git_revision` | of the sources this was built from, as they are checked out now |
pub fn environment() -> Environment {
    of(&Root::system())
}

/// Physical memory.
pub(crate) fn memory_bytes(root: &Root) -> Option<u64> {
    hardware::memory_bytes(root, "MemTotal:")
}

fn of(root: &Root) -> Environment {
    let mut e = Environment::default();
    e.host = os::host(root);
    e.os = os::name(root);
    e.kernel = os::kernel(root);
    e.virtualisation = virtualisation::describe(root);
    e.cpu_model = hardware::cpu_model(root);
    e.cores = std::thread::available_parallelism().ok().and_then(|n| n.get().try_into().ok());
    e.memory_bytes = memory_bytes(root);
    e.openloop_version = Some(env!("CARGO_PKG_VERSION").into());
    let mut more = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            e.more.insert(name.into(), value);
        }
    };
    more("kernel_build", root.line("proc/sys/kernel/version").map(Value::from));
    more(
        "clocksource",
        root.line("sys/devices/system/clocksource/clocksource0/current_clocksource").map(Value::from),
    );
    more("governor", hardware::governor(root).map(Value::from));
    more("smt", hardware::smt(root).map(Value::from));
    more("loadavg", os::load_averages(root).map(Value::from));
    e
}
