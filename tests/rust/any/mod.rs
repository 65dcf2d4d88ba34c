//! Properties: what must hold for any service, any date, any text.
//!
//! They draw the same cases each time; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for more and
//! for others.

mod corpus;
mod dates;
mod retry_after;

use std::env;

use proptest::test_runner::{Config, RngSeed};

/// How many cases, and always the same ones, where the environment does not say otherwise.
pub(crate) fn cases(cases: u32) -> Config {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}
