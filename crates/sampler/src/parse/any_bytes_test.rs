//! No parser panics, whatever it is given, and none takes half a number for a whole one.

use super::{every::all, *};
use proptest::prelude::*;
use std::path::Path;

/// Every file of every fixture.
fn corpus() -> Vec<Vec<u8>> {
    fn collect(directory: &Path, into: &mut Vec<Vec<u8>>) {
        for entry in std::fs::read_dir(directory).expect("fixtures").flatten() {
            match entry.path() {
                path if path.is_dir() => collect(&path, into),
                path => into.push(std::fs::read(path).expect("a file")),
            }
        }
    }
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut files);
    files.sort();
    files
}

/// A fixture that was cut, or had bytes overwritten, removed or repeated.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0u8..4, any::<u8>(), 0usize..40), 0..8);
    (prop::sample::select(corpus()), edits).prop_map(|(mut bytes, edits)| {
        for (index, what, byte, length) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            let end = (at + length).min(bytes.len());
            match what {
                0 => bytes.truncate(at),
                1 => bytes[at] = byte,
                2 => drop(bytes.drain(at..end)),
                _ => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        all(&bytes);
    }

    #[test]
    fn any_text(text in "(cpu|Tcp|some|MemTotal|8:0|0::|[a-z]{0,8})[ :=/0-9a-zA-Z\n\t.()-]{0,200}") {
        all(text.as_bytes());
    }

    #[test]
    fn damaged_files(bytes in damaged()) {
        all(&bytes);
    }

    /// A read that gave only the beginning of a file must give what the whole file gives, or nothing.
    #[test]
    fn short_reads(cut in any::<prop::sample::Index>(), user: u64, reads: u64, total: u64) {
        let stat = format!("cpu  {user} 1 2 3 4 5 6 7 8 9\ncpu0 {user} 1 2 3 4 5 6 7 8 9\nctxt {total}\n");
        let whole = stat::cpus(stat.as_bytes());
        let part = stat::cpus(&stat.as_bytes()[..cut.index(stat.len())]);
        prop_assert!(part.all.is_none() || part.all == whole.all);
        prop_assert!(part.each.is_empty() || part.each == whole.each);

        let disks = format!("8 0 sda {reads} 1 2 3 4 5 6 7 8 9 {total}\n");
        prop_assert_eq!(disk::diskstats(&disks.as_bytes()[..cut.index(disks.len())]).count(), 0);

        let schedstat = format!("{user} {reads} {total}\n");
        prop_assert_eq!(pid::schedstat(&schedstat.as_bytes()[..cut.index(schedstat.len())]), None);

        let pressure = format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\n");
        let part = pressure::pressure(&pressure.as_bytes()[..cut.index(pressure.len())]);
        prop_assert_eq!(part, pressure::Pressure::default());

        let limit = format!("{total}\n");
        prop_assert_eq!(single(&limit.as_bytes()[..cut.index(limit.len())]), None);
    }
}
