//! The hash that says whether two runs followed the same plan.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// SHA-256 over [`canonical_json`], in lower-case hexadecimal.
pub fn plan_hash(plan: &Value) -> String {
    let digest = Sha256::digest(canonical_json(plan).as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// JSON without white space, keys of every object sorted by their bytes, numbers and strings as `serde_json` writes them.
/// (The order of a map in `serde_json` depends on features that other crates may turn on, so it is not relied upon.)
pub fn canonical_json(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.keys().collect();
            keys.sort();
            let fields: Vec<_> = keys
                .into_iter()
                .map(|k| format!("{}:{}", Value::from(k.as_str()), canonical_json(&map[k])))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical_json).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_hash_does_not_depend_on_the_order_of_keys() {
        let a = json!({"b": [1, 2.5, null], "a": {"y": "\"", "x": true}});
        assert_eq!(canonical_json(&a), r#"{"a":{"x":true,"y":"\""},"b":[1,2.5,null]}"#);
        assert_ne!(plan_hash(&a), plan_hash(&json!({"b": [2.5, 1, null], "a": {"y": "\"", "x": true}})));
        assert_eq!(
            plan_hash(&json!({})),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
            "SHA-256 of {{}}"
        );
    }
}
