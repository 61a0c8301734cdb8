//! Requests as they go over the wire.

use super::*;
use crate::Keys;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::sync::Arc;

fn batch(commands: &[(Command, u32)], keys: &Keys, payload: Payload, depth: usize) -> Batch {
    let prefix = Prefix::parse(b"~ab1").unwrap();
    let value = payload.value();
    let templates =
        commands.iter().map(|(c, w)| (Template::new(c, Some(prefix), keys.space(), &value), *w)).collect();
    Batch::new(Arc::new(Menu::new(templates)), value, depth)
}

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(3)
}

/// The requests in a buffer, as lists of strings.
fn parse(bytes: &[u8]) -> Vec<Vec<String>> {
    use crate::resp::{Scanned, Scanner, decode};
    let (mut scanner, mut rest, mut out) = (Scanner::new(), bytes, Vec::new());
    while !rest.is_empty() {
        let Ok(Scanned::Reply(used, _)) = scanner.feed(rest, &mut ()) else { panic!("cut") };
        let list = decode(&rest[..used]).unwrap().into_list().unwrap();
        out.push(list.iter().map(|v| v.as_text().unwrap()).collect());
        rest = &rest[used..];
    }
    out
}

#[test]
fn keys_have_redis_benchmarks_lengths() {
    let keys = Keys::uniform(1000);
    let lengths = |command: Command| {
        let mut b = batch(&[(command, 1)], &keys, Payload::default(), 1);
        b.fill(&mut keys.sampler(), &mut rng());
        parse(b.bytes())[0].iter().map(String::len).collect::<Vec<_>>()
    };
    assert_eq!(lengths(Command::set()), [3, "key:000000000143".len(), 3]);
    assert_eq!(lengths(Command::incr()), [4, "counter:000000000823".len()]);
    assert_eq!(lengths(Command::lpush()), [5, "mylist".len(), 3]);
    assert_eq!(lengths(Command::sadd()), [4, "myset".len(), "element:000000000043".len()]);
    assert_eq!(lengths(Command::hset()), [4, "myhash".len(), "element:000000000043".len(), 3]);
    assert_eq!(lengths(Command::zadd()), [4, "myzset".len(), 12, "element:000000000043".len()]);
    assert_eq!(lengths(Command::xadd()), [4, "mystream".len(), 1, "myfield".len(), 3]);
    assert_eq!(lengths(Command::mset()).len(), 21);
}

#[test]
fn one_key_is_one_key_and_the_score_is_0() {
    let keys = Keys::one();
    let mut b = batch(&[(Command::zadd(), 1)], &keys, Payload::default(), 2);
    b.fill(&mut keys.sampler(), &mut rng());
    assert_eq!(parse(b.bytes()), vec![vec!["ZADD", "~ab1zs", "0", "element:000000000000"]; 2]);
    let mut b = batch(&[(Command::ping_inline(), 1)], &keys, Payload::default(), 1);
    b.fill(&mut keys.sampler(), &mut rng());
    assert_eq!(b.bytes(), b"PING\r\n");
}

#[test]
fn only_the_digits_change_from_request_to_request() {
    let keys = Keys::uniform(1_000_000);
    let mut b = batch(&[(Command::mset(), 1)], &keys, Payload::default(), 4);
    let (mut sampler, mut rng) = (keys.sampler(), rng());
    b.fill(&mut sampler, &mut rng);
    let first = b.bytes().to_vec();
    let place = b.bytes().as_ptr();
    b.fill(&mut sampler, &mut rng);
    assert_eq!(b.bytes().as_ptr(), place, "the memory is the same");
    let requests = parse(b.bytes());
    assert_ne!(b.bytes(), first);
    let mut keys: Vec<&String> = requests.iter().flat_map(|r| r.iter().skip(1).step_by(2)).collect();
    assert!(keys.iter().all(|k| k.starts_with("~ab1000000") && k.len() == 16), "{keys:?}");
    keys.sort();
    keys.dedup();
    assert!(keys.len() >= 39, "each of the forty keys is drawn for itself");
    assert!(requests.iter().flat_map(|r| r.iter().skip(2).step_by(2)).all(|v| v == "VXK"));
}

#[test]
fn a_mix_follows_its_weights() {
    let keys = Keys::uniform(10);
    let mut b = batch(&[(Command::get(), 9), (Command::set(), 1)], &keys, Payload::fixed(100), 16);
    let (mut sampler, mut rng) = (keys.sampler(), rng());
    let place = b.bytes().as_ptr();
    let mut sets = 0;
    for _ in 0..1000 {
        b.fill(&mut sampler, &mut rng);
        let requests = parse(b.bytes());
        for (slot, request) in b.slots.iter().zip(&requests) {
            assert_eq!(request[0], ["GET", "SET"][slot.command]);
            assert_eq!(request[1], format!("~ab1{:012}", slot.key));
        }
        sets += requests.iter().filter(|r| r[0] == "SET").count();
    }
    assert_eq!(b.bytes().as_ptr(), place, "laying out anew does not allocate");
    assert!((1450..1750).contains(&sets), "{sets} of 16000 at a weight of 1 in 10");
}

#[test]
fn verified_values_carry_the_key_before_them() {
    let keys = Keys::uniform(1000);
    let mut b = batch(&[(Command::mset(), 1)], &keys, Payload::verified(12), 1);
    b.fill(&mut keys.sampler(), &mut rng());
    for pair in parse(b.bytes())[0][1..].chunks(2) {
        assert_eq!(pair[0][4..], pair[1]);
    }
    let mut b = batch(&[(Command::set(), 1)], &keys, Payload::verified(3), 1);
    b.fill(&mut keys.sampler(), &mut rng());
    let request = &parse(b.bytes())[0];
    assert_eq!(request[1][13..], request[2]);
}

#[test]
fn large_values_are_not_copied() {
    let keys = Keys::uniform(1000);
    let b = batch(&[(Command::set(), 1)], &keys, Payload::verified(8 << 20), 8);
    assert!(b.bytes().len() < 1000, "{}", b.bytes().len());
}

#[test]
fn only_keys_of_our_shapes_are_ours() {
    let prefix = Prefix::parse(b"~ab1").unwrap();
    for ours in
        ["~ab1000000000042", "~ab1ctr:000000000042", "~ab1li", "~ab1s", "~ab1strm", "~ab1:board", "~ab1:"]
    {
        assert!(prefix.owns(ours.as_bytes()), "{ours}");
        assert_eq!(Prefix::of(ours.as_bytes()), Some(prefix));
    }
    for other in
        ["~ab2000000000042", "~ab100000000004", "~ab1other", "~ab1", "key:000000000042", "", "~ab1ctr:1"]
    {
        assert!(!prefix.owns(other.as_bytes()), "{other}");
    }
    for not_one in ["~a*1", "key:", "~ab", "~ab12"] {
        assert_eq!(Prefix::parse(not_one.as_bytes()), None, "{not_one}");
    }
}
