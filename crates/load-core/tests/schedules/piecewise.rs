//! Piecewise schedules in exact arithmetic, to judge the ones under test by.

use load_core::Schedule;
use proptest::prelude::*;
use std::time::Duration;

/// Rates in thousandths per second, lengths in ms, so that every count is a whole number of 1/2,000,000.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece {
    Constant { milli: i128, ms: i128 },
    Ramp { from: i128, to: i128, ms: i128 },
    Pause { ms: i128 },
}

pub(crate) const UNITS: i128 = 2_000_000;

impl Piece {
    fn rates(self) -> (i128, i128, i128) {
        match self {
            Piece::Constant { milli, ms } => (milli, milli, ms),
            Piece::Ramp { from, to, ms } => (from, to, ms),
            Piece::Pause { ms } => (0, 0, ms),
        }
    }

    fn total(self) -> i128 {
        let (from, to, ms) = self.rates();
        (from + to) * ms
    }

    fn schedule(self) -> Schedule {
        let duration = |ms: i128| Duration::from_millis(ms as u64);
        let rate = |milli: i128| milli as f64 / 1000.0;
        match self {
            Piece::Constant { milli, ms } => {
                Schedule::constant(rate(milli)).unwrap().lasting(duration(ms)).unwrap()
            }
            Piece::Ramp { from, to, ms } => Schedule::ramp(rate(from), rate(to), duration(ms)).unwrap(),
            Piece::Pause { ms } => Schedule::pause(duration(ms)).unwrap(),
        }
    }
}

pub(crate) fn schedule(pieces: &[Piece]) -> Schedule {
    pieces.iter().map(|p| p.schedule()).reduce(|a, b| a.then(b).unwrap()).unwrap()
}

/// Whole numbers below the integral.
pub(crate) fn count(pieces: &[Piece]) -> u64 {
    let total: i128 = pieces.iter().map(|p| p.total()).sum();
    ((total + UNITS - 1) / UNITS) as u64
}

/// Whether the integral over [0, `ns`) is above `n` (or, with `or_equal`, not below it).
pub(crate) fn reached(pieces: &[Piece], ns: i128, n: u64, or_equal: bool) -> bool {
    let (mut start, mut before) = (0i128, 0i128);
    for piece in pieces {
        let (from, to, ms) = piece.rates();
        let length = ms * 1_000_000;
        if ns < start + length || std::ptr::eq(piece, &pieces[pieces.len() - 1]) {
            let t = (ns - start).clamp(0, length);
            // All times 2 · length · 10¹².
            let here = before * length * 1_000_000 + 2 * from * length * t + (to - from) * t * t;
            let there = i128::from(n) * 2 * length * 1_000_000_000_000;
            return if or_equal { here >= there } else { here > there };
        }
        start += length;
        before += piece.total();
    }
    unreachable!("there is a last piece")
}

pub(crate) fn pieces(highest_milli: i128, longest_ms: i128) -> impl Strategy<Value = Vec<Piece>> {
    let rate = 1..=highest_milli;
    let ms = 1..=longest_ms;
    let piece = prop_oneof![
        4 => (rate.clone(), ms.clone()).prop_map(|(milli, ms)| Piece::Constant { milli, ms }),
        4 => (rate.clone(), rate.clone(), ms.clone())
            .prop_map(|(from, to, ms)| Piece::Ramp { from, to, ms }),
        1 => (rate.clone(), ms.clone()).prop_map(|(to, ms)| Piece::Ramp { from: 0, to, ms }),
        1 => (rate, ms.clone()).prop_map(|(from, ms)| Piece::Ramp { from, to: 0, ms }),
        1 => ms.prop_map(|ms| Piece::Pause { ms }),
    ];
    prop::collection::vec(piece, 1..7)
}

/// Pieces whose count is whole, as those that people write are: the hard case for sums of fractions.
pub(crate) fn whole_pieces() -> impl Strategy<Value = Vec<Piece>> {
    (pieces(3000, 30), any::<prop::sample::Index>()).prop_map(|(pieces, place)| {
        // Rates in tenths and lengths of 0.1 s.
        let coarse = |piece: &Piece| match *piece {
            Piece::Constant { milli, ms } => Piece::Constant { milli: milli * 100, ms: ms * 100 },
            Piece::Ramp { from, to, ms } => Piece::Ramp { from: from * 100, to: to * 100, ms: ms * 100 },
            Piece::Pause { ms } => Piece::Pause { ms: ms * 100 },
        };
        let mut pieces: Vec<_> = pieces.iter().map(coarse).collect();
        let total: i128 = pieces.iter().map(|p| p.total()).sum();
        let missing = i128::from(count(&pieces)) * UNITS - total;
        if missing > 0 {
            let filler = Piece::Constant { milli: 500, ms: missing / 1000 };
            pieces.insert(place.index(pieces.len() + 1), filler);
        }
        assert_eq!(pieces.iter().map(|p| p.total()).sum::<i128>() % UNITS, 0);
        pieces
    })
}
