//! CPU, memory and their settings.

use crate::files::Root;
use std::collections::BTreeSet;

/// The model as the kernel names it; on ARM and others, where /proc/cpuinfo has no model, the device tree's.
pub(super) fn cpu_model(root: &Root) -> Option<String> {
    let text = root.text("proc/cpuinfo")?;
    ["model name", "cpu model", "Model", "cpu", "Processor", "uarch"]
        .iter()
        .find_map(|key| info(&text, key))
        .or_else(|| root.line("sys/firmware/devicetree/base/model").map(|m| m.trim_end_matches('\0').into()))
        .or_else(|| {
            Some(format!("implementer {} part {}", info(&text, "CPU implementer")?, info(&text, "CPU part")?))
        })
}

/// The first value of a key in /proc/cpuinfo.
pub(super) fn info(text: &str, key: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, value)| name.trim() == key && !value.trim().is_empty())
        .map(|(_, value)| value.trim().into())
}

/// A line of /proc/meminfo, in bytes.
pub(super) fn memory_bytes(root: &Root, key: &str) -> Option<u64> {
    let text = root.text("proc/meminfo")?;
    let value = text.lines().find_map(|line| line.strip_prefix(key))?.trim();
    value.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The frequency governor, or all of them when CPUs differ.
pub(super) fn governor(root: &Root) -> Option<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(root.path("sys/devices/system/cpu/cpufreq")).ok()?.flatten() {
        if let Ok(text) = std::fs::read_to_string(entry.path().join("scaling_governor")) {
            found.insert(text.trim().to_string());
        }
    }
    (!found.is_empty()).then(|| found.into_iter().collect::<Vec<_>>().join(", "))
}

/// Whether cores run several threads each.
pub(super) fn smt(root: &Root) -> Option<String> {
    root.line("sys/devices/system/cpu/smt/control")
}
