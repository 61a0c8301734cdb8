//! Containers and hypervisors, from what they leave in files.

use super::hardware::info;
use crate::files::Root;

/// `"docker in kvm"`, `"wsl2"`, `"kvm"`, `"none"`; `None` when there is nothing to judge by.
pub(super) fn describe(root: &Root) -> Option<String> {
    // The kernel that this sandbox pretends to be, always the same.
    if root.line("proc/version").is_some_and(|v| v.ends_with("#1 SMP Sun Jan 10 15:06:54 PST 2016")) {
        return Some("gvisor".into());
    }
    let below = machine(root);
    match (container(root), below) {
        (Some(container), Some(machine)) if machine != "none" => Some(format!("{container} in {machine}")),
        (Some(container), _) => Some(container),
        (None, machine) => machine,
    }
}

fn container(root: &Root) -> Option<String> {
    if let Some(name) = root.line("run/systemd/container") {
        return Some(name);
    }
    let groups = root.text("proc/self/cgroup").unwrap_or_default();
    let named = [
        ("kubepods", "kubernetes"),
        ("libpod", "podman"),
        ("docker", "docker"),
        ("containerd", "containerd"),
        ("/lxc", "lxc"),
    ];
    if let Some((_, name)) = named.iter().find(|(mark, _)| groups.contains(mark)) {
        return Some((*name).into());
    }
    if root.exists("run/.containerenv") {
        return Some("podman".into());
    }
    (root.exists(".dockerenv") && !own_disk(root)).then(|| "docker".into())
}

/// Whether `/` is the whole of a block device. An image that was made into a virtual machine's disk still has the files
/// that mark a container, but a container's root is an overlay or a part of a disk.
fn own_disk(root: &Root) -> bool {
    root.text("proc/self/mountinfo").is_some_and(|text| {
        text.lines().any(|line| {
            let Some((mount, source)) = line.split_once(" - ") else { return false };
            let mut fields = mount.split(' ').skip(3);
            (fields.next(), fields.next()) == (Some("/"), Some("/"))
                && source
                    .split(' ')
                    .nth(1)
                    .is_some_and(|device| device.starts_with("/dev/") && !device.contains("docker"))
        })
    })
}

fn machine(root: &Root) -> Option<String> {
    let version = root.text("proc/version").unwrap_or_default().to_lowercase();
    if version.contains("wsl2") || version.contains("microsoft-standard") {
        return Some("wsl2".into());
    }
    if version.contains("-microsoft ") {
        return Some("wsl1".into());
    }
    let dmi: Vec<String> = ["sys_vendor", "product_name", "bios_vendor"]
        .iter()
        .filter_map(|name| root.line(&format!("sys/class/dmi/id/{name}")))
        .collect();
    let dmi = dmi.join(" ");
    let named = [
        ("Firecracker", "firecracker"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("innotek", "virtualbox"),
        ("Virtual Machine", "hyper-v"),
        ("Parallels", "parallels"),
        ("Xen", "xen"),
        ("Google Compute Engine", "kvm (google)"),
        ("KVM", "kvm"),
        ("QEMU", "qemu"),
        ("Bochs", "qemu"),
        ("OpenStack", "kvm (openstack)"),
    ];
    let flags = root.text("proc/cpuinfo").and_then(|text| info(&text, "flags"));
    let flagged = flags.as_ref().map(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    // A machine of metal sold by the hour has the vendor's name too, but not the flag.
    if flagged != Some(false)
        && let Some((_, name)) = named.iter().find(|(mark, _)| dmi.contains(mark))
    {
        return Some((*name).into());
    }
    if let Some(kind) = root.line("sys/hypervisor/type") {
        return Some(kind);
    }
    let clocks =
        root.text("sys/devices/system/clocksource/clocksource0/available_clocksource").unwrap_or_default();
    let by_clock = [("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")];
    if let Some((_, name)) = by_clock.iter().find(|(mark, _)| clocks.contains(mark)) {
        return Some((*name).into());
    }
    match flagged {
        Some(true) => Some("unknown hypervisor".into()),
        Some(false) => Some("none".into()),
        None => (!dmi.is_empty()).then(|| "none".into()),
    }
}
