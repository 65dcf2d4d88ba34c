//! Random choices that follow from a seed and from what they are about, and from nothing else.

/// A stream of numbers: `SplitMix64`.
pub(crate) struct Dice(u64);

impl Dice {
    /// The stream of a thing: what else happens in a run does not move it, so that a run can be cut
    /// down.
    pub(crate) fn of(seed: u64, about: &[u64]) -> Self {
        let mut dice = Self(seed);
        for &part in about {
            dice.0 = dice.next() ^ part;
        }
        dice
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `end`, without it.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
