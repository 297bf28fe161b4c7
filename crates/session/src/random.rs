//! Randomness from a seed: `SplitMix64`, so that the same inputs always give the same run.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
    /// The half of the seed that the stream does not use, for ids.
    rest: u64,
}

impl Random {
    #[expect(clippy::cast_possible_truncation, reason = "the other half is stored separately")]
    pub(crate) fn new(seed: u128) -> Self {
        Self { state: seed as u64, rest: (seed >> 64) as u64 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `max`, both included.
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        match max.checked_add(1) {
            Some(count) => self.next() % count,
            None => self.next(),
        }
    }

    /// Returns `duration_ms`, plus or minus up to a fifth, so that many visitors do not poll at the same
    /// moment.
    pub(crate) fn jitter(&mut self, duration_ms: u64) -> u64 {
        let fifth = duration_ms / 5;
        duration_ms - fifth + self.up_to(2 * fifth)
    }

    /// Returns 16 hexadecimal digits.
    pub(crate) fn hex(&mut self) -> String {
        hex(self.next())
    }

    /// Returns a UUID of version 4, of all 128 bits of the seed.
    pub(crate) fn uuid(&mut self) -> String {
        let high = (self.next() & !0xF000) | 0x4000;
        let low = ((self.next() ^ self.rest) >> 2) | 1 << 63;
        let mut uuid = String::new();
        for (place, digit) in (hex(high) + &hex(low)).bytes().enumerate() {
            if matches!(place, 8 | 12 | 16 | 20) {
                uuid.push('-');
            }
            uuid.push(char::from(digit));
        }
        uuid
    }
}

fn hex(mut number: u64) -> String {
    let mut hex = String::new();
    for _ in 0..16 {
        hex.extend(char::from_digit((number >> 60) as u32, 16));
        number <<= 4;
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_split_mix_64() {
        // From the reference implementation, seeded with 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_same_seed_gives_the_same_stream_and_another_seed_another() {
        let take = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
    }

    #[test]
    fn jitter_stays_within_a_fifth_and_uses_all_of_it() {
        let mut random = Random::new(1);
        let drawn: Vec<u64> = (0..1000).map(|_| random.jitter(1000)).collect();
        assert!(drawn.iter().all(|ms| (800..=1200).contains(ms)));
        assert!(drawn.iter().any(|ms| *ms < 850) && drawn.iter().any(|ms| *ms > 1150));
    }

    #[test]
    fn a_uuid_has_as_many_set_bits_as_unset_ones() {
        let ones =
            |id: String| id.chars().filter_map(|digit| digit.to_digit(16)).map(u32::count_ones).sum::<u32>();
        let seed = |seed| u128::from(Random::new(seed).next()) << 64 | seed;
        let total: u32 = (0..1_000).map(|index| ones(Random::new(seed(index)).uuid())).sum();
        assert!((61_000..65_000).contains(&total), "{total} of 128,000 bits");
    }
}
