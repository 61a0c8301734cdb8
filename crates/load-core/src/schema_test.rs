//! The schema that is checked in is the one of the types.

#[cfg(feature = "schema")]
#[test]
fn the_checked_in_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/openloop.record.1.json");
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(crate::Record)).unwrap() + "\n";
    if std::env::var_os("OPENLOOP_WRITE_SCHEMA").is_some() {
        std::fs::create_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
        std::fs::write(path, &schema).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == schema,
        "the types of the record changed: run this test with OPENLOOP_WRITE_SCHEMA=1 and look at the difference"
    );
}
