//! In what two runs differ before anything was measured.

use crate::Rounds;
use load_core::Record;
use serde_json::Value;
use std::{collections::BTreeMap, fmt};

/// A field that is not the same in two records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Where: `method.settings.scale`, `nginx@50.load.workers`.
    pub field: String,
    /// In the first record; `none` when it has no such field.
    pub before: String,
    /// In the second record.
    pub after: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} against {}", self.field, self.before, self.after)
    }
}

/// What must be equal and is not: the method, and the load of each stream. The number of rounds may differ.
pub(super) fn method(a: &Record, b: &Record) -> Vec<Difference> {
    let fields = |r: &Record| {
        let mut fields = BTreeMap::new();
        let mut method = serde_json::to_value(&r.method).unwrap_or_default();
        if let Some(method) = method.as_object_mut() {
            method.remove("rounds");
        }
        flatten("method", &method, &mut fields);
        for group in Rounds::of(r) {
            if let Some(s) = group.all.first() {
                let load = serde_json::to_value(&s.load).unwrap_or_default();
                flatten(&format!("{}.load", group.title()), &load, &mut fields);
                fields.insert(format!("{}.workload", group.title()), s.workload.clone());
            }
        }
        fields
    };
    differing(&fields(a), &fields(b), |field, a, b| {
        // A stream that only one has is said to be missing, not to differ.
        field.starts_with("method.") || (a.is_some() && b.is_some())
    })
}

/// What may differ, and often is the reason of a comparison.
pub(super) fn environment(a: &Record, b: &Record) -> Vec<Difference> {
    let fields = |r: &Record| {
        let mut fields = BTreeMap::new();
        let mut environment = serde_json::to_value(&r.environment).unwrap_or_default();
        if let Some(environment) = environment.as_object_mut() {
            // Readings of a moment are never the same. Of the other programs it matters which were busy.
            environment.remove("loadavg");
            if let Some(others) = environment.get_mut("busiest_others") {
                *others = busy(others).into();
            }
        }
        flatten("environment", &environment, &mut fields);
        fields
    };
    differing(&fields(a), &fields(b), |_, _, _| true)
}

/// The names of those that used a twentieth of a core or more.
fn busy(others: &Value) -> String {
    let used = |o: &&Value| o.get("cores").and_then(Value::as_f64).is_some_and(|cores| cores >= 0.05);
    let name = |o: &Value| Some(o.get("name")?.as_str()?.to_string());
    let mut names: Vec<String> =
        others.as_array().into_iter().flatten().filter(used).filter_map(name).collect();
    names.sort();
    if names.is_empty() { "none busy".into() } else { names.join(", ") }
}

fn differing(
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
    counts: impl Fn(&str, Option<&String>, Option<&String>) -> bool,
) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let text = |value: Option<&String>| value.cloned().unwrap_or_else(|| "none".into());
    names
        .into_iter()
        .map(|name| (name, a.get(name), b.get(name)))
        .filter(|(name, a, b)| a != b && counts(name, *a, *b))
        .map(|(name, a, b)| Difference { field: name.clone(), before: text(a), after: text(b) })
        .collect()
}

fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| flatten(&format!("{path}.{k}"), v, into)),
        Value::Null => drop(into.insert(path.into(), "none".into())),
        Value::String(text) => drop(into.insert(path.into(), text.clone())),
        other => drop(into.insert(path.into(), other.to_string())),
    }
}
