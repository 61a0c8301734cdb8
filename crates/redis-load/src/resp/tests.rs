//! The parser on well-formed, cut, and hostile input.

use super::*;
use proptest::prelude::*;

/// Scans all of `input` in pieces that end at `cuts`; gives the replies, with the text of those that failed.
fn scan_cut(input: &[u8], cuts: &[usize]) -> Result<Vec<(Reply, String)>, ProtocolError> {
    let mut scanner = Scanner::new();
    let mut replies = Vec::new();
    let mut start = 0;
    for end in cuts.iter().copied().chain([input.len()]) {
        let mut piece = &input[start.min(end)..end];
        start = end.max(start);
        while !piece.is_empty() {
            match scanner.feed(piece, &mut ())? {
                Scanned::Reply(used, reply) => {
                    let text = if reply.failed { scanner.error().text() } else { String::new() };
                    replies.push((reply, text));
                    piece = &piece[used..];
                }
                Scanned::More => break,
            }
        }
    }
    Ok(replies)
}

fn one(input: &[u8]) -> Result<Reply, ProtocolError> {
    let replies = scan_cut(input, &[])?;
    assert_eq!(replies.len(), 1, "{:?}", String::from_utf8_lossy(input));
    Ok(replies[0].0)
}

fn reply(kind: Kind, len: u64) -> Reply {
    Reply { kind, len, failed: false }
}

#[test]
fn each_type_is_known() {
    let many: &[(&[u8], Reply)] = &[
        (b"+OK\r\n", reply(Kind::Simple, 2)),
        (b"+\r\n", reply(Kind::Simple, 0)),
        (b"-ERR no\r\n", Reply { failed: true, ..reply(Kind::Error, 6) }),
        (b":-42\r\n", reply(Kind::Integer(-42), 0)),
        (b":+7\r\n", reply(Kind::Integer(7), 0)),
        (b":-9223372036854775808\r\n", reply(Kind::Integer(i64::MIN), 0)),
        (b"$3\r\nabc\r\n", reply(Kind::Bulk, 3)),
        (b"$0\r\n\r\n", reply(Kind::Bulk, 0)),
        (b"$-1\r\n", reply(Kind::Null, 0)),
        (b"*-1\r\n", reply(Kind::Null, 0)),
        (b"_\r\n", reply(Kind::Null, 0)),
        (b"#t\r\n", reply(Kind::Boolean(true), 0)),
        (b",1.5e3\r\n", reply(Kind::Number, 5)),
        (b"(3492890328409238509324850943850943825024385\r\n", reply(Kind::Number, 43)),
        (b"!5\r\nERR x\r\n", Reply { failed: true, ..reply(Kind::Error, 5) }),
        (b"=7\r\ntxt:abc\r\n", reply(Kind::Bulk, 7)),
        (b"*0\r\n", reply(Kind::Aggregate, 0)),
        (b"*2\r\n$1\r\na\r\n*1\r\n:1\r\n", reply(Kind::Aggregate, 2)),
        (b"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", reply(Kind::Aggregate, 4)),
        (b"~1\r\n+a\r\n", reply(Kind::Aggregate, 1)),
        // An attribute and a push message come before the reply and are not it.
        (b"|1\r\n+ttl\r\n:3600\r\n$1\r\nv\r\n", reply(Kind::Bulk, 1)),
        (b">2\r\n+invalidate\r\n*1\r\n+k\r\n:5\r\n", reply(Kind::Integer(5), 0)),
        (b">0\r\n|0\r\n:5\r\n", reply(Kind::Integer(5), 0)),
        // An error inside a result makes it a failure.
        (b"*2\r\n+OK\r\n-WRONGTYPE bad\r\n", Reply { failed: true, ..reply(Kind::Aggregate, 2) }),
        (b">1\r\n-ERR in a push\r\n+OK\r\n", reply(Kind::Simple, 2)),
    ];
    for (bytes, expected) in many {
        assert_eq!(one(bytes), Ok(*expected), "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn what_is_not_resp_is_refused() {
    let many: &[(&[u8], ProtocolError)] = &[
        (b"HTTP/1.1 200 OK\r\n", ProtocolError::Type(b'H')),
        (b"\r\n", ProtocolError::Type(b'\r')),
        (b"$-2\r\n", ProtocolError::Length),
        (b"$?\r\n", ProtocolError::Number),
        (b"$99999999999999999999\r\n", ProtocolError::Number),
        (b"$18446744073709551615\r\n", ProtocolError::Length),
        (b"*9223372036854775807\r\n*9223372036854775807\r\n*9223372036854775807\r\n", ProtocolError::Length),
        (b"%9223372036854775807\r\n%9223372036854775807\r\n", ProtocolError::Length),
        (b"%-1\r\n", ProtocolError::Length),
        (b"!-1\r\n", ProtocolError::Length),
        (b":\r\n", ProtocolError::Number),
        (b":1 \r\n", ProtocolError::Number),
        (b":--1\r\n", ProtocolError::Number),
        (b":18446744073709551615\r\n", ProtocolError::Number),
        (b"$3\r\nabcd\r\n", ProtocolError::LineEnd),
        (b"$3\r\nabc\rx", ProtocolError::LineEnd),
        (b"+OK\n", ProtocolError::LineEnd),
        (b"+OK\r\r", ProtocolError::LineEnd),
        (b"#x\r\n", ProtocolError::Number),
        (b"_x\r\n", ProtocolError::Number),
        (b"*2\r\n>1\r\n+a\r\n", ProtocolError::Push),
    ];
    for (bytes, expected) in many {
        assert_eq!(scan_cut(bytes, &[]), Err(*expected), "{:?}", String::from_utf8_lossy(bytes));
    }
    let long = vec![b'x'; 70_000];
    assert_eq!(scan_cut(&[b"+".as_slice(), &long].concat(), &[]), Err(ProtocolError::LineTooLong));
}

#[test]
fn the_first_error_is_kept_and_cut() {
    let replies = scan_cut(b"*2\r\n-OOM first\r\n-ERR second\r\n-MOVED 1 h:1\r\n!3\r\nE f\r\n", &[]).unwrap();
    assert_eq!(
        replies.iter().map(|(_, t)| t.as_str()).collect::<Vec<_>>(),
        ["OOM first", "MOVED 1 h:1", "E f"]
    );
    let mut scanner = Scanner::new();
    let line = format!("-ERR {}\x07\r\n", "é".repeat(200));
    assert!(matches!(scanner.feed(line.as_bytes(), &mut ()), Ok(Scanned::Reply(..))));
    assert_eq!(scanner.error().first_word(), b"ERR");
    assert!(scanner.error().text().ends_with("..."));
}

#[test]
fn only_the_bytes_of_the_reply_itself_are_shown() {
    #[derive(Default)]
    struct Seen(Vec<u8>);
    impl Sink for Seen {
        fn bytes(&mut self, at: u64, piece: &[u8]) {
            assert_eq!(at, self.0.len() as u64);
            self.0.extend_from_slice(piece);
        }
    }
    let all: Vec<u8> = (0..=255).collect();
    let mut input = b">1\r\n$1\r\np\r\n|1\r\n$1\r\na\r\n$1\r\nb\r\n$256\r\n".to_vec();
    input.extend_from_slice(&all);
    input.extend_from_slice(b"\r\n*2\r\n$1\r\nx\r\n$1\r\ny\r\n");
    let (mut scanner, mut seen, mut done) = (Scanner::new(), Seen::default(), 0);
    for byte in input.chunks(1) {
        if let Scanned::Reply(..) = scanner.feed(byte, &mut seen).unwrap() {
            done += 1;
        }
    }
    assert_eq!((done, seen.0), (2, all));
}

#[test]
fn the_tree_holds_what_was_sent() {
    let value = decode(b">1\r\n+p\r\n%1\r\n$1\r\nk\r\n*3\r\n:1\r\n$-1\r\n=5\r\ntxt:v\r\n").unwrap();
    let pairs = value.into_pairs().unwrap();
    assert_eq!(pairs[0].0.as_text().as_deref(), Some("k"));
    assert_eq!(pairs[0].1, Value::List(vec![Value::Integer(1), Value::Null, Value::Bytes(b"v".to_vec())]));
    let deep = [b"*1\r\n".repeat(100), b":1\r\n".to_vec()].concat();
    assert_eq!(decode(&deep), Err(ProtocolError::TooDeep(16)));
    assert!(one(&deep).is_ok(), "walking over it needs no stack");
    assert_eq!(decode(b"*1000000000000\r\n"), Err(ProtocolError::Length), "and no memory for a false count");
}

#[test]
fn requests_are_arrays_of_strings() {
    let mut out = Vec::new();
    command(&mut out, &[b"SET", b"k", b"\r\n\0"]);
    assert_eq!(out, b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\r\n\0\r\n");
}

/// A well-formed reply, and what the tree of it must be.
fn wire() -> impl Strategy<Value = (Vec<u8>, Value)> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    let leaf = prop_oneof![
        any::<i64>().prop_map(|n| (format!(":{n}\r\n").into_bytes(), Value::Integer(n))),
        "[a-zA-Z0-9 ]{0,20}".prop_map(|s| (format!("+{s}\r\n").into_bytes(), Value::Bytes(s.into_bytes()))),
        "[A-Z]{1,8} [a-z ]{0,20}".prop_map(|s| (format!("-{s}\r\n").into_bytes(), Value::Error(s))),
        bytes.prop_map(|b| {
            let mut out = Vec::new();
            push_bulk(&mut out, &b);
            (out, Value::Bytes(b))
        }),
        Just((b"$-1\r\n".to_vec(), Value::Null)),
        Just((b"_\r\n".to_vec(), Value::Null)),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        (proptest::collection::vec(inner, 0..6), any::<bool>()).prop_map(|(items, set)| {
            let mut out = format!("{}{}\r\n", if set { '~' } else { '*' }, items.len()).into_bytes();
            let mut values = Vec::new();
            for (bytes, value) in items {
                out.extend(bytes);
                values.push(value);
            }
            (out, Value::List(values))
        })
    })
}

proptest! {
    #[test]
    fn cuts_change_nothing(
        wires in proptest::collection::vec(wire(), 1..5),
        cuts in proptest::collection::vec(0usize..2000, 0..20),
    ) {
        let input: Vec<u8> = wires.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c % (input.len() + 1)).collect();
        cuts.sort_unstable();
        let whole = scan_cut(&input, &[]).unwrap();
        prop_assert_eq!(whole.len(), wires.len());
        prop_assert_eq!(&scan_cut(&input, &cuts).unwrap(), &whole);
        let every_byte: Vec<usize> = (0..input.len()).collect();
        prop_assert_eq!(&scan_cut(&input, &every_byte).unwrap(), &whole);
        for (bytes, value) in &wires {
            prop_assert_eq!(&decode(bytes).unwrap(), value);
        }
    }

    #[test]
    fn anything_at_all_is_survived(input in proptest::collection::vec(
        prop_oneof![3 => proptest::sample::select(b"+-:$*~%|>_#,(!=0123456789\r\nt".to_vec()), 1 => any::<u8>()], 0..400),
        cut in 0usize..400,
    ) {
        let cut = cut.min(input.len());
        let whole = scan_cut(&input, &[]);
        prop_assert_eq!(&scan_cut(&input, &[cut]), &whole);
        // What the scanner found complete the tree reader must get through, or say why not.
        let mut scanner = Scanner::new();
        if let Ok(Scanned::Reply(used, _)) = scanner.feed(&input, &mut ()) {
            let _ = decode(&input[..used]);
            prop_assert!(!scanner.is_inside());
        }
    }
}
