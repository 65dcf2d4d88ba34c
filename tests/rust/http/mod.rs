//! Headers of answers.

mod rate_limit;
