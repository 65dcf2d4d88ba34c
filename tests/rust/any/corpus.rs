//! Replays the fuzz target's corpus: real shapes of answers, and those that the fuzzer found.

use std::collections::BTreeSet;
use std::path::Path;

use crate::answer;

#[test]
fn what_must_hold_holds_for_every_input_that_is_kept() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut came = BTreeSet::new();
    for input in std::fs::read_dir(corpus).unwrap() {
        let path = input.unwrap().path();
        let what = answer::check(&std::fs::read(&path).unwrap());
        came.insert(what.unwrap_or_else(|| panic!("{} is no input", path.display())));
    }
    let all = [
        "AuthenticationError",
        "BadRequestError",
        "ConflictError",
        "NotFoundError",
        "PaginationError",
        "PermissionDeniedError",
        "RateLimitError",
        "ResponseError",
        "ServerError",
        "StatusError",
        "UnconfirmedWriteError",
        "UnprocessableError",
        "checkpoint",
        "date",
        "instant",
        "job",
        "no checkpoint",
        "no date",
        "repaired page",
        "rows",
        "visitors",
    ];
    assert_eq!(came.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn an_input_with_words_of_the_prompt_is_no_input() {
    // In an error, a word of the prompt is taken for a leak of the prompt.
    assert_eq!(
        answer::check(b"create 400\n\n{\"error\": \"falcon\"}"),
        None
    );
    assert_eq!(
        answer::check(b"create 400\n\n{\"error\": \"<PROMPT>\"}"),
        Some("BadRequestError")
    );
    assert_eq!(answer::check(b"no operation"), None);
}
