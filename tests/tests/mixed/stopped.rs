//! Ctrl-C at several moments, and `kill -9`.

use crate::{ALL, MIXED_LOAD};
use openloop_tests::example::{LIMIT, State, assert_passed, assert_status, missing};
use rustix::process::Signal;

#[test]
fn real_ctrl_c_before_anything_is_measured_leaves_nothing() {
    if missing("real_ctrl_c_before_anything_is_measured", ALL) {
        return;
    }
    for moment in ["servers start", "tables are loaded", "warming up"] {
        let state = State::new();
        let mut program = state.start(MIXED_LOAD, "r.json", &["--quick", "--warmup", "600"]);
        match moment {
            "servers start" => state.wait_for_a_run(),
            "tables are loaded" => program.wait_for("loading pgbench's tables"),
            _ => program.wait_for("It takes about"),
        }
        program.signal(Signal::INT);
        let ended = program.end(LIMIT);
        assert_eq!(ended.status, Some(130), "{moment}: {ended:?}");
        assert!(ended.stderr.contains("interrupted before anything was measured"), "{moment}: {ended:?}");
        assert!(!state.json("r.json").exists(), "there is nothing to write");
        state.assert_nothing_left();
    }
}

#[test]
fn real_ctrl_c_while_measuring_keeps_the_record_and_leaves_nothing() {
    if missing("real_ctrl_c_while_measuring", ALL) {
        return;
    }
    let state = State::new();
    let arguments = ["--quick", "--warmup", "0", "--seconds", "3"];
    let mut program = state.start(MIXED_LOAD, "r.json", &arguments);
    program.wait_for("nginx alone: measuring");
    program.signal(Signal::INT);
    let ended = program.end(LIMIT);
    let record = state.record("r.json", &ended);
    assert_status(&ended, &record);
    assert_passed(&record, &["servers.restarts", "cleanup.postgres", "cleanup.redis"]);
    assert!(record.interrupted && record.phases.len() <= 2, "{:?}", record.phases);
    state.assert_nothing_left();
}

#[test]
fn real_what_a_killed_run_left_is_removed_by_the_next_which_says_so() {
    if missing("real_what_a_killed_run_left", ALL) {
        return;
    }
    // PostgreSQL and Redis are given, so that the killed run leaves a database and keys in them, and an nginx of its own.
    let (given, arguments) = crate::given::postgres_and_redis();
    let state = State::new();
    let mut program = state.start(MIXED_LOAD, "killed.json", &[&arguments[..], &["--seconds", "5"]].concat());
    program.wait_for("nginx alone: measuring");
    program.signal(Signal::KILL);
    assert_eq!(program.end(LIMIT).status, None, "a signal ended it");
    let nginx = state.servers()["nginx"];
    let (databases, keys) = crate::given::left_in(&given);
    assert!(databases.len() == 1 && keys > 0, "{databases:?}, {keys} keys");

    let ended = state.start(MIXED_LOAD, "r.json", &arguments).end(LIMIT);
    let record = state.record("r.json", &ended);
    assert_status(&ended, &record);
    assert_passed(&record, &["cleanup.postgres", "cleanup.redis"]);
    for said in [
        format!("stopped nginx (process {nginx})"),
        format!("dropped database {}, which a dead run had left", databases[0]),
        "keys of a dead run".into(),
    ] {
        assert!(ended.stderr.contains(&said), "{said}: {}", ended.stderr);
    }
    assert_eq!(crate::given::left_in(&given), (vec![], 0));
    state.assert_nothing_left();
}
