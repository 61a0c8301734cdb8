//! No parser panics, whatever it is given. `cargo +nightly fuzz run parsers`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sampler::fuzz_parsers(bytes));
