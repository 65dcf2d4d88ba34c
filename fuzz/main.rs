//! See `answer.rs`. `make fuzz` builds this with coverage, which a stable compiler can do.

#![no_main]

mod answer;

libfuzzer_sys::fuzz_target!(|input: &[u8]| -> libfuzzer_sys::Corpus {
    match answer::check(input) {
        Some(_) => libfuzzer_sys::Corpus::Keep,
        None => libfuzzer_sys::Corpus::Reject,
    }
});
