//! CPU, memory and their settings.

use crate::files::Root;
use std::collections::{BTreeMap, BTreeSet};

/// The model as the kernel names it, and the board where there is one that it names.
pub(super) fn cpu_model(root: &Root) -> Option<String> {
    let text = root.text("proc/cpuinfo")?;
    let cpu =
        ["model name", "cpu model", "cpu", "Processor", "uarch"].iter().find_map(|key| info(&text, key));
    let part =
        || Some(format!("implementer {} part {}", info(&text, "CPU implementer")?, info(&text, "CPU part")?));
    let board = info(&text, "Model")
        .or_else(|| root.line("sys/firmware/devicetree/base/model").map(|m| m.trim_end_matches('\0').into()));
    match (cpu.or_else(part), board) {
        (Some(cpu), Some(board)) => Some(format!("{cpu}, {board}")),
        (cpu, board) => cpu.or(board),
    }
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

/// What is done about the faults of the CPU, by their names; without those that it does not have.
pub(super) fn mitigations(root: &Root) -> Option<BTreeMap<String, String>> {
    let entries = std::fs::read_dir(root.path("sys/devices/system/cpu/vulnerabilities")).ok()?;
    let all = entries.flatten().filter_map(|entry| {
        let state = std::fs::read_to_string(entry.path()).ok()?.trim().to_string();
        (state != "Not affected").then(|| (entry.file_name().to_string_lossy().into_owned(), state))
    });
    Some(all.collect())
}

/// The models of the disks that have one.
pub(super) fn disk_models(root: &Root) -> Option<BTreeMap<String, String>> {
    let entries = std::fs::read_dir(root.path("sys/block")).ok()?;
    let models: BTreeMap<String, String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let model =
                ["model", "name"].iter().find_map(|f| root.line(&format!("sys/block/{name}/device/{f}")))?;
            Some((name, model))
        })
        .collect();
    (!models.is_empty()).then_some(models)
}
