//! Which arm of a mix comes next.

use crate::Op;
use rand::RngExt;

/// How arms are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Random,
    InTurn,
}

/// The state of one session's choices.
#[derive(Debug)]
pub(super) enum Choice {
    /// The sums of the weights up to each arm.
    Random(Box<[u64]>),
    InTurn(Turns),
}

impl Choice {
    /// `session` is the number of the session, so that not all of them begin with the same arm.
    pub(super) fn new(order: Order, weights: &[u32], session: usize) -> Choice {
        match order {
            Order::Random => {
                let sums = weights.iter().scan(0, |sum, weight| {
                    *sum += u64::from(*weight);
                    Some(*sum)
                });
                Choice::Random(sums.collect())
            }
            Order::InTurn => Choice::InTurn(Turns::new(weights, session)),
        }
    }

    #[inline]
    pub(super) fn next(&mut self, op: &mut Op) -> usize {
        match self {
            Choice::Random(sums) => {
                let ticket = op.rng().random_range(0..sums[sums.len() - 1]);
                sums.iter().position(|sum| ticket < *sum).expect("the ticket is below the last sum")
            }
            Choice::InTurn(turns) => turns.next(),
        }
    }
}

/// Smooth weighted round robin, as nginx has it: each arm gains its weight, the one that has most is chosen and pays
/// the sum of all weights.
#[derive(Debug)]
pub(super) struct Turns {
    weights: Box<[i64]>,
    credit: Box<[i64]>,
    total: i64,
}

impl Turns {
    fn new(weights: &[u32], session: usize) -> Turns {
        let weights: Box<[i64]> = weights.iter().copied().map(i64::from).collect();
        let (credit, total) = (vec![0; weights.len()].into(), weights.iter().sum());
        let mut turns = Turns { weights, credit, total };
        // Far enough along for any mix whose pattern could be seen.
        for _ in 0..(session as u64 % total.unsigned_abs()).min(1024) {
            turns.next();
        }
        turns
    }

    fn next(&mut self) -> usize {
        let mut best = 0;
        for i in 0..self.weights.len() {
            self.credit[i] += self.weights[i];
            if self.credit[i] > self.credit[best] {
                best = i;
            }
        }
        self.credit[best] -= self.total;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_exact_and_spread_out() {
        let mut turns = Turns::new(&[5, 1, 1], 0);
        let seen: Vec<_> = (0..14).map(|_| turns.next()).collect();
        assert_eq!(seen, [0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0]);
        let mut later = Turns::new(&[5, 1, 1], 2);
        assert_eq!(later.next(), 1, "the third session begins two turns on");
        let most = [u32::MAX; 3];
        let mut equal = Turns::new(&most, usize::MAX);
        let mut counts = [0; 3];
        (0..300).for_each(|_| counts[equal.next()] += 1);
        assert_eq!(counts, [100; 3]);
    }
}
