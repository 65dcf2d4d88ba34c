//! Writes: at most one side effect, and a true outcome (faults.md, A).

use std::time::Duration;

use docplatform::config::Options;
use docplatform::error::{Error, Kind, Outcome};
use docplatform::http::MAX_WRITES;
use docplatform::job;
use docplatform::text::message::Advice;
use tokio::time::Instant;

use crate::helpers::support::{
    self, KEY, Recorder, Script, Step, advises, all_of, bare, call, client, client_with, create,
    ends, fail, get, handle, job_body, json, message, options, prompt, read, reply, secs, segment,
    with_retry_after, write,
};

/// Creates a job against `step` alone: any second request would fail the test.
async fn create_once(step: impl Into<Step>) -> Error {
    let script = Script::new([step]);
    let error = create(&client(&script), "Fix the docs", &Recorder::default())
        .await
        .unwrap_err();
    assert_eq!(script.count(), 1);
    assert_eq!(error.attempts.len(), 1);
    assert_eq!(script.in_flight(), 0);
    error
}

fn assert_unconfirmed(error: &Error, outcome: Outcome) {
    assert_eq!(
        (error.kind, error.outcome),
        (Kind::UnconfirmedWrite, Some(outcome)),
        "{error}"
    );
    let advice = match outcome {
        Outcome::Applied => Advice::DoNotRepeat {},
        _ => Advice::LookBeforeRepeat {},
    };
    assert!(advises(error, advice), "{error}");
}

/// Rows: A5.
#[tokio::test(start_paused = true)]
async fn a_write_without_an_answer_times_out_after_twice_the_reads_time() {
    let begun = Instant::now();
    let error = create_once(Step::Never).await;
    assert_unconfirmed(&error, Outcome::Unknown);
    assert_eq!(begun.elapsed(), secs(60));
    assert!(error.to_string().contains("within 60 s"), "{error}");
}

/// Rows: A4.
#[tokio::test(start_paused = true)]
async fn a_proof_that_nothing_was_written_allows_another_attempt() {
    let script = Script::new([
        Step::Unsent { fatal: false },
        Step::Unsent { fatal: false },
        reply(201, job_body("active")).into(),
    ]);
    let recorder = Recorder::default();
    let job = create(&client(&script), "Fix the docs", &recorder)
        .await
        .unwrap();
    assert_eq!((job.id.as_str(), script.count()), ("job_1", 3));
    assert_eq!(recorder.outcome(), Some(Outcome::Applied));
    assert_eq!(recorder.jobs().len(), 1, "an interrupt now reports the job");

    let script = Script::each(|_| Step::Unsent { fatal: false });
    let error = create(&client(&script), "Fix the docs", &Recorder::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.outcome),
        (Kind::Connect, Some(Outcome::NotSent))
    );
    assert_eq!((script.count(), error.attempts.len()), (3, 3));
    assert!(
        error
            .to_string()
            .contains("not sent: docs.example.com:443: scripted: unsent")
            && advises(&error, Advice::CheckNetwork {}),
        "{error}"
    );
}

/// Rows: M2.
#[tokio::test(start_paused = true)]
async fn a_write_that_never_had_a_connection_was_not_sent_whichever_timer_ends_it() {
    for (timeout, deadline, words) in [
        (1.0, 90.0, "no connection within 2 s"),
        (90.0, 1.5, "within the call's deadline"),
    ] {
        let script = Script::each(|_| Step::Connecting);
        let hasty = handle(
            &client(&script),
            Options {
                timeout,
                deadline,
                ..options()
            },
        );
        let error = fail(&hasty, write()).await;
        assert_eq!(
            (error.kind, error.outcome),
            (Kind::Connect, Some(Outcome::NotSent)),
            "{error}"
        );
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.attempts.iter().all(|attempt| !attempt.sent));
    }
}

/// Rows: A6, N4.
#[tokio::test(start_paused = true)]
async fn a_success_is_a_proof_only_where_the_answer_is_the_object_that_was_asked_for() {
    let long = format!("<html>{}", "x".repeat(1000));
    for (body, shown) in [
        ("", ""),
        ("{\"id\": \"job_1\", \"stat", "{\"id\": \"job_1\", \"stat"),
        ("<html>Welcome</html>", "<html>Welcome</html>"),
        ("[]", "[]"),
        ("null", "null"),
        ("{\"status\": \"active\"}", "{\"status\": \"active\"}"),
        (
            "{\"id\": 5, \"status\": \"active\"}",
            "{\"id\": 5, \"status\": \"active\"}",
        ),
        (
            "{\"id\": \"a/b\", \"status\": \"active\"}",
            "{\"id\": \"a/b\", \"status\": \"active\"}",
        ),
        (
            "{\"id\": \"\", \"status\": \"active\"}",
            "{\"id\": \"\", \"status\": \"active\"}",
        ),
        (
            "{\"id\": \"a\\ud800\", \"status\": \"active\"}",
            "{\"id\": \"a\\ud800\", \"status\": \"active\"}",
        ),
        (
            "{\"error\": \"quota exceeded\"}",
            "{\"error\": \"quota exceeded\"}",
        ),
        ("\u{1b}]52;c;x\u{7}", "\\u{1b}]52;c;x\\u{7}"),
        (&long, &long[..256]),
    ] {
        let error = create_once(reply(201, body.to_owned()).header("x-request-id", "r-1")).await;
        assert_unconfirmed(&error, Outcome::Unknown);
        assert_eq!(
            (error.status, error.request_id.as_deref()),
            (Some(201), Some("r-1"))
        );
        assert_eq!(error.body.as_deref(), Some(shown));
        let came = match body.trim() {
            "" => "the answer is empty",
            page if page.starts_with('<') => "HTML or XML came instead",
            _ => "begins",
        };
        assert!(error.to_string().contains(came), "{error}");
        assert_eq!(
            advises(&error, Advice::CheckPage {}),
            body.starts_with('<'),
            "{error}"
        );
    }
    assert_unconfirmed(&create_once(bare(204)).await, Outcome::Unknown);
    let error = create_once(reply(201, "{\"id\": \"job_1\", \"status\": null}")).await;
    assert_unconfirmed(&error, Outcome::Applied);
    assert!(error.to_string().contains("the service did it"), "{error}");
}

/// Rows: M4.
#[tokio::test(start_paused = true)]
async fn an_identifier_is_never_repaired() {
    let body = &b"{\"id\": \"job_\xff\", \"status\": \"active\"}"[..];
    let error = create_once(reply(201, body).header("x-request-id", b"r-\xff")).await;
    assert_unconfirmed(&error, Outcome::Unknown);
    assert!(error.to_string().contains("id: contains U+FFFD"), "{error}");
    assert_eq!(error.request_id, None);

    let script = Script::new([reply(
        200,
        &b"{\"id\": \"job_1\", \"status\": \"active\", \"model\": \"\xff\"}"[..],
    )]);
    let job = get(&client(&script), &Recorder::default()).await;
    assert_eq!(
        job.unwrap().model.as_deref(),
        Some("\u{fffd}"),
        "what only describes is"
    );
}

/// The caller can be interrupted between any two reports to its observer, and learns what was last
/// known.
/// Rows: A13.
#[tokio::test(start_paused = true)]
async fn from_the_first_byte_on_the_outcome_or_the_job_is_known() {
    let script = Script::each(|_| reply(201, job_body("active")).into());
    let client = client(&script);
    let known = [
        Some(Outcome::NotSent),
        Some(Outcome::Unknown),
        Some(Outcome::Applied),
    ];

    let recorder = Recorder::default();
    create(&client, "Fix the docs", &recorder).await.unwrap();
    assert_eq!(
        (recorder.outcomes(), recorder.outcomes_before_job()),
        (known.to_vec(), Some(2))
    );

    let recorder = Recorder::default();
    message(&client, "More", &recorder).await.unwrap();
    assert_eq!(
        (recorder.outcomes(), recorder.outcomes_before_job()),
        (known.to_vec(), Some(2))
    );

    let recorder = Recorder::default();
    client.call(write(), &recorder, json).await.unwrap();
    assert_eq!(
        (recorder.outcomes(), recorder.outcomes_before_job()),
        (known.to_vec(), None)
    );
}

#[tokio::test(start_paused = true)]
async fn the_head_of_a_refusal_decides_also_when_its_body_is_lost() {
    for status in [400, 401, 403, 404, 409, 422, 500] {
        for lost in [
            reply(status, "{\"err").broken(),
            reply(status, "{\"err").hang(),
        ] {
            let begun = Instant::now();
            let error = create_once(lost).await;
            assert!(
                begun.elapsed() <= secs(5),
                "words are not worth the whole timeout"
            );
            let outcome = if status == 500 {
                Outcome::Unknown
            } else {
                Outcome::Rejected
            };
            assert_eq!((error.status, error.outcome), (Some(status), Some(outcome)));
        }
    }
}

/// Rows: A7.
#[tokio::test(start_paused = true)]
async fn a_throttled_write_waits_as_asked_and_goes_out_again() {
    let script = Script::new([
        with_retry_after(429, "1"),
        reply(201, job_body("active")).into(),
    ]);
    create(&client(&script), "Fix the docs", &Recorder::default())
        .await
        .unwrap();
    assert_eq!(script.gaps(), [secs(1)]);
    let sent = script.sent();
    assert_eq!(sent[0].body, sent[1].body);
    assert_eq!(sent[0].url, sent[1].url);

    let script = Script::each(|_| with_retry_after(429, "1"));
    let error = create(
        &client_with(&script, &options(), 1.0),
        "Fix",
        &Recorder::default(),
    )
    .await
    .unwrap_err();
    assert_eq!(
        (error.kind, error.outcome),
        (Kind::Status, Some(Outcome::Rejected))
    );
    assert_eq!((script.count(), error.attempts.len()), (3, 3));
    assert_eq!(
        script.gaps(),
        [secs(2), secs(4)],
        "its backoff, where that is longer"
    );
    assert_eq!(error.retry_after, Some(secs(1)));
}

/// Rows: A10.
#[tokio::test(start_paused = true)]
async fn redirects_are_never_followed_and_their_location_is_shown_safely() {
    for status in [300, 301, 302, 303, 304, 307, 308] {
        let error = create_once(
            reply(status, "").header("location", b"https://evil.example/\xe2\x80\xaex\x9b"),
        )
        .await;
        assert_eq!(
            (error.kind, error.outcome),
            (Kind::Status, Some(Outcome::Rejected))
        );
        let location = "https://evil.example/\\u{202e}x\u{fffd}".to_owned();
        assert!(
            advises(&error, Advice::ChangeAddress { location }),
            "{:?}",
            error.message
        );
    }
    let error = create_once(bare(302)).await;
    let location = "nowhere".to_owned();
    assert!(
        advises(&error, Advice::ChangeAddress { location }),
        "{error}"
    );
    let script = Script::new([bare(301)]);
    assert_eq!(
        fail(&client(&script), read()).await.status,
        Some(301),
        "nor those of a read"
    );
}

/// Rows: A13.
#[tokio::test(start_paused = true)]
async fn an_interrupted_write_says_what_is_known_of_it() {
    let script = Script::new([with_retry_after(429, "30"), Step::Never]);
    let client = client(&script);
    let recorder = Recorder::default();
    let mut create = Box::pin(create(&client, "Fix the docs", &recorder));
    assert!(
        tokio::time::timeout(secs(10), create.as_mut())
            .await
            .is_err()
    );
    assert_eq!(recorder.outcome(), Some(Outcome::Rejected), "in the pause");
    assert!(
        tokio::time::timeout(secs(30), create.as_mut())
            .await
            .is_err()
    );
    assert_eq!(recorder.outcome(), Some(Outcome::Unknown), "under way");
    assert_eq!(script.in_flight(), 1);
    drop(create);
    assert_eq!(
        (script.in_flight(), script.count()),
        (0, 2),
        "the connection went with it"
    );

    let recorder = Recorder::default();
    drop(support::create(&client, "Fix the docs", &recorder));
    assert_eq!(recorder.outcomes(), [], "nothing was begun");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_stands_in_line_was_not_sent() {
    let script = Script::new([with_retry_after(429, "30")]);
    let client = client(&script);
    fail(
        &handle(
            &client,
            Options {
                max_retries: 0,
                ..options()
            },
        ),
        write(),
    )
    .await;
    let recorder = Recorder::default();
    assert!(
        tokio::time::timeout(secs(5), create(&client, "Fix", &recorder))
            .await
            .is_err()
    );
    assert_eq!(recorder.outcome(), Some(Outcome::NotSent));
    assert_eq!(script.count(), 1);
}

/// Rows: A13.
#[tokio::test(start_paused = true)]
async fn a_write_reported_as_not_sent_is_not_sent_later() {
    let script = Script::new::<Step>([]);
    let recorder = Recorder::default();
    recorder
        .gone
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let error = create(&client(&script), "Fix", &recorder)
        .await
        .unwrap_err();
    assert_eq!((error.outcome, script.count()), (Some(Outcome::NotSent), 0));
}

#[tokio::test(start_paused = true)]
async fn requests_carry_what_the_contract_says() {
    let script = Script::new([
        reply(200, job_body("active")),
        reply(200, job_body("active")),
    ]);
    let client = client(&script);
    create(&client, "Fix \u{e9}\"\n", &Recorder::default())
        .await
        .unwrap();
    let (project, to) = (segment("a~b&c"), Some(segment("job_1")));
    let ear = Recorder::default();
    job::once::write(&client, project, to, prompt(), None, &ear)
        .await
        .unwrap();
    let sent = script.sent();
    assert_eq!(sent[0].method, "POST");
    assert_eq!(
        sent[0].url.as_str(),
        "https://docs.example.com/api/v2/agent/demo/job"
    );
    assert_eq!(
        sent[1].url.as_str(),
        "https://docs.example.com/api/v2/agent/a~b%26c/job/job_1/message"
    );
    assert_eq!(
        sent[0].body.as_deref(),
        Some("{\"prompt\":\"Fix \u{e9}\\\"\\n\"}".as_bytes())
    );
    for request in &sent {
        let header = |name: &str| {
            request
                .headers
                .get(name)
                .map(|value| value.to_str().unwrap())
        };
        assert_eq!(header("authorization").unwrap(), format!("Bearer {KEY}"));
        assert_eq!(request.headers.get_all("authorization").iter().count(), 1);
        assert!(request.headers["authorization"].is_sensitive());
        assert_eq!(header("accept-encoding"), Some("identity"));
        assert_eq!(header("content-type"), Some("application/json"));
    }
    assert!(job::Prompt::parse(" \n\u{3000}\t".to_owned()).is_err());
}

/// Rows: F4.
#[tokio::test(start_paused = true)]
async fn an_answer_about_another_job_is_not_taken_for_the_one_asked_for() {
    let other = r#"{"id": "job_2", "status": "completed"}"#;
    let script = Script::new([reply(200, other), reply(200, other)]);
    let client = client(&script);
    let error = get(&client, &Recorder::default()).await.unwrap_err();
    assert_eq!(error.kind, Kind::Response);
    assert!(error.to_string().contains("job_2"), "{error}");
    let error = message(&client, "More", &Recorder::default())
        .await
        .unwrap_err();
    assert_unconfirmed(&error, Outcome::Unknown);
}

/// It would go out with no time left for its answer.
#[tokio::test(start_paused = true)]
async fn a_write_whose_place_comes_within_the_last_second_of_its_deadline_is_not_sent() {
    let script = Script::each(|_| {
        reply(201, job_body("active"))
            .after(Duration::from_millis(29_500))
            .into()
    });
    let client = client_with(
        &script,
        &Options {
            timeout: 20.0,
            deadline: 30.0,
            ..options()
        },
        0.0,
    );
    let others = all_of(MAX_WRITES, &client, |client| async move {
        call(&client, write()).await.map(drop)
    });
    tokio::task::yield_now().await;
    let begun = Instant::now();
    let error = fail(&client, write()).await;
    assert_eq!(
        (error.kind, error.outcome),
        (Kind::Timeout, Some(Outcome::NotSent)),
        "{error}"
    );
    assert!(
        error.deadline_exceeded && begun.elapsed() == secs(29),
        "{:?}",
        begun.elapsed()
    );
    assert!(
        error
            .to_string()
            .contains("not sent within its deadline of 30 s"),
        "{error}"
    );
    assert!(ends(others).await.iter().all(Result::is_ok));
    assert_eq!(
        (script.count(), client.stats().snapshot().requests),
        (MAX_WRITES, MAX_WRITES as u64)
    );
}

/// Rows: M2.
#[tokio::test(start_paused = true)]
async fn a_call_whose_process_was_stopped_beyond_its_deadline_is_not_sent_any_more() {
    for of in [write(), read()] {
        let script = Script::new([with_retry_after(429, "30")]);
        let client = client(&script);
        let calling = tokio::spawn(async move { fail(&client, of).await });
        tokio::time::sleep(secs(1)).await;
        tokio::time::advance(secs(3600)).await;
        let error = calling.await.unwrap();
        assert!(
            error.deadline_exceeded
                && error
                    .outcome
                    .is_none_or(|outcome| outcome == Outcome::Rejected),
            "{error}"
        );
        assert_eq!((error.attempts.len(), script.count()), (1, 1));
    }
}
