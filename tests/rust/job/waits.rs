//! Waiting for a job (faults.md, F, B14 and B15). Follow-ups are in `settle.rs`.

use std::sync::Arc;
use std::time::Duration;

use docplatform::client::observer::About;
use docplatform::error::{Error, Kind, Result};
use docplatform::job::Job;
use docplatform::job::wait::{Target, Wait, wait};
use docplatform::text::message::Advice;
use tokio::time::Instant;

use crate::helpers::support::{
    Recorder, Reply, Script, Step, advises, bare, client, client_with, create, job_body, message,
    options, prompt, reply, secs, segment, with_retry_after,
};
use crate::job::intervals::DEFAULTS;

pub(crate) fn shows(status: &str) -> Step {
    reply(200, job_body(status)).into()
}

pub(crate) fn target() -> Target {
    Target {
        project: segment("demo"),
        id: segment("job_1"),
        last: None,
        rest_first: false,
        prompt: None,
        is_named: false,
    }
}

pub(crate) fn how() -> Wait {
    DEFAULTS.validate().unwrap()
}

/// Waits with dice that make every interval just as long as it is named.
pub(crate) async fn wait_for(script: &Arc<Script>, how: &Wait) -> Result<Job> {
    wait_with(script, how, &Recorder::default()).await
}

async fn wait_with(script: &Arc<Script>, how: &Wait, recorder: &Recorder) -> Result<Job> {
    wait(
        &client_with(script, &options(), 0.5),
        target(),
        how,
        recorder,
    )
    .await
}

/// Creates a job, and waits for it.
async fn create_and_wait(script: &Arc<Script>, how: &Wait, recorder: &Recorder) -> Result<Job> {
    let client = client_with(script, &options(), 0.5);
    let job = create(&client, "Fix", &Recorder::default()).await.unwrap();
    wait(&client, Target::just_written(job, prompt()), how, recorder).await
}

/// The times of all requests, in seconds since `begun`.
pub(crate) fn times(script: &Script, begun: Instant) -> Vec<f64> {
    script
        .sent()
        .iter()
        .map(|request| (request.at - begun).as_secs_f64())
        .map(round)
        .collect()
}

pub(crate) fn round(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

/// Rows: F1.
#[tokio::test(start_paused = true)]
async fn a_wait_looks_once_more_at_its_very_end() {
    let begun = Instant::now();
    let (script, recorder) = (Script::each(|_| shows("active")), Recorder::default());
    let error = wait_with(
        &script,
        &Wait {
            timeout: Some(secs(10)),
            ..how()
        },
        &recorder,
    )
    .await
    .unwrap_err();
    assert_eq!(times(&script, begun), [0.0, 2.0, 5.0, 9.5, 10.0]);
    assert_eq!((error.kind, begun.elapsed()), (Kind::WaitTimeout, secs(10)));
    assert_eq!(recorder.last().unwrap().status, "active");
    assert!(
        error
            .to_string()
            .contains("not final after 10 s (last status: active)"),
        "{error}"
    );
    assert!(error.outcome.is_none() && error.source.is_none());

    let script = Script::each(move |_| {
        shows(if begun.elapsed() < secs(20) {
            "active"
        } else {
            "completed"
        })
    });
    let job = wait_for(
        &script,
        &Wait {
            timeout: Some(secs(10)),
            ..how()
        },
    )
    .await
    .unwrap();
    assert_eq!(job.status, "completed", "the last look counts");
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_no_time_looks_once() {
    let script = Script::new([shows("active"), shows("completed")]);
    let none = Wait {
        timeout: Some(Duration::ZERO),
        ..how()
    };
    assert_eq!(
        wait_for(&script, &none).await.unwrap_err().kind,
        Kind::WaitTimeout
    );
    assert_eq!(wait_for(&script, &none).await.unwrap().status, "completed");
}

/// Rows: F1.
#[tokio::test(start_paused = true)]
async fn a_wait_without_a_timeout_waits_for_ever() {
    let begun = Instant::now();
    let year = secs(365 * 86_400);
    let script = Script::each(move |_| {
        shows(if begun.elapsed() < year {
            "active"
        } else {
            "completed"
        })
    });
    let ever = Wait {
        timeout: None,
        poll_interval: secs(3600),
        max_poll_interval: secs(86_400),
        ..how()
    };
    assert!(wait_for(&script, &ever).await.is_ok());
    assert!(begun.elapsed() >= year);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_holds_also_for_a_service_that_hangs() {
    let begun = Instant::now();
    let script = Script::each(|_| Step::Never);
    let error = wait_for(
        &script,
        &Wait {
            timeout: Some(secs(10)),
            ..how()
        },
    )
    .await
    .unwrap_err();
    assert_eq!(error.kind, Kind::WaitTimeout);
    assert!(begun.elapsed() <= secs(15), "{:?}", begun.elapsed());
    let cause = error.source.as_ref().unwrap();
    assert_eq!(cause.kind, Kind::Timeout);
    assert!(
        cause.to_string().contains("no result came within its time"),
        "{cause}"
    );
    assert_eq!(script.in_flight(), 0);
}

/// Rows: F5.
#[tokio::test(start_paused = true)]
async fn how_a_job_ended() {
    for (status, check, raised) in [
        ("completed", true, false),
        ("archived", true, false),
        ("failed", true, true),
        ("failed", false, false),
    ] {
        let (script, recorder) = (Script::new([shows(status)]), Recorder::default());
        match wait_with(&script, &Wait { check, ..how() }, &recorder).await {
            Ok(job) => assert_eq!((job.status.as_str(), raised), (status, false)),
            Err(error) => {
                assert_eq!((error.kind, raised), (Kind::JobFailed, true));
                assert_eq!(recorder.last().unwrap().status, status);
                assert!(error.to_string().contains("job job_1 failed"), "{error}");
                assert!(advises(&error, Advice::LookAtJob { named: false }));
            }
        }
    }
}

/// Rows: D14, N5.
#[tokio::test(start_paused = true)]
async fn an_unknown_status_is_waited_on() {
    let recorder = Recorder::default();
    let script = Script::new(["queued", "Completed", "queued", "active", "completed"].map(shows));
    let job = wait(&client(&script), target(), &how(), &recorder)
        .await
        .unwrap();
    assert_eq!(job.status, "completed");
    let seen: Vec<_> = recorder
        .polls()
        .into_iter()
        .map(|(_, job)| job.status)
        .collect();
    assert_eq!(
        seen,
        ["queued", "Completed", "queued", "active", "completed"],
        "and shown, each poll once"
    );
    let warned: Vec<_> = recorder
        .notes()
        .into_iter()
        .filter_map(|note| match note.about {
            Some(About::UnknownStatus { status, .. }) => Some(status),
            _ => None,
        })
        .collect();
    assert_eq!(warned, ["queued", "Completed"], "each once");

    let further = Wait {
        also_final: vec!["cancelled".to_owned()],
        ..how()
    };
    let script = Script::new(["active", "cancelled"].map(shows));
    let recorder = Recorder::default();
    let job = wait_with(&script, &further, &recorder).await.unwrap();
    assert_eq!(
        (job.status.as_str(), recorder.notes().len()),
        ("cancelled", 0)
    );
    let script = Script::each(|_| shows("\\u001b[2Jqueued"));
    let error = wait_for(
        &script,
        &Wait {
            timeout: Some(secs(1)),
            ..how()
        },
    )
    .await
    .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("last status: \\u{1b}[2Jqueued, which this client does not know"),
        "{text}"
    );
    assert!(!text.contains("keeps running"), "{text}");
    let status = "\\u{1b}[2Jqueued".to_owned();
    assert!(advises(
        &error,
        Advice::EndAtStatus {
            status,
            job: "job_1".to_owned()
        }
    ));
}

/// Rows: J8.
#[tokio::test(start_paused = true)]
async fn an_id_that_would_confuse_a_terminal_is_defused() {
    let body = |status| format!("{{\"id\": \"a\u{202e}b\", \"status\": \"{status}\"}}");
    for status in ["failed", "active"] {
        let script = Script::each(move |_| reply(200, body(status)).into());
        let target = Target {
            id: segment("a\u{202e}b"),
            ..target()
        };
        let short = Wait {
            timeout: Some(secs(1)),
            ..how()
        };
        let error = wait(&client(&script), target, &short, &Recorder::default())
            .await
            .unwrap_err();
        assert!(error.to_string().contains("job a\\u{202e}b "), "{error}");
    }
}

/// Rows: B15.
#[tokio::test(start_paused = true)]
async fn a_job_may_be_missing_right_after_it_was_created() {
    for polls in [
        vec![bare(404), bare(404), shows("completed")],
        // Not all of a service's machines know it at the same time.
        vec![shows("active"), bare(404), shows("completed")],
    ] {
        let count = polls.len();
        let script = Script::new(std::iter::once(shows("active")).chain(polls));
        create_and_wait(&script, &how(), &Recorder::default())
            .await
            .unwrap();
        assert_eq!(script.count(), 1 + count);
    }

    // A second wait, by the job's id alone.
    let script = Script::new([
        shows("active"),
        shows("active"),
        bare(404),
        bare(404),
        shows("completed"),
    ]);
    let (client, recorder) = (client_with(&script, &options(), 0.5), Recorder::default());
    let job = create(&client, "Fix", &recorder).await.unwrap();
    let short = Wait {
        timeout: Some(Duration::ZERO),
        ..how()
    };
    assert!(
        wait(
            &client,
            Target::just_written(job, prompt()),
            &short,
            &recorder
        )
        .await
        .is_err()
    );
    wait(&client, target(), &how(), &recorder).await.unwrap();

    // A message to it.
    let script = Script::new([
        shows("active"),
        shows("active"),
        bare(404),
        shows("completed"),
    ]);
    let client = client_with(&script, &options(), 0.5);
    create(&client, "Fix", &recorder).await.unwrap();
    let job = message(&client, "More", &recorder).await.unwrap();
    wait(
        &client,
        Target::just_written(job, prompt()),
        &how(),
        &recorder,
    )
    .await
    .unwrap();

    let begun = Instant::now();
    let script = Script::each(|request| {
        if request.method == "POST" {
            shows("active")
        } else {
            bare(404)
        }
    });
    let recorder = Recorder::default();
    let error = create_and_wait(&script, &how(), &recorder)
        .await
        .unwrap_err();
    assert_eq!((error.kind, error.status), (Kind::Status, Some(404)));
    assert_eq!(
        times(&script, begun)[1..],
        [2.0, 5.0, 9.5, 16.25],
        "for ten seconds, and no more"
    );
    assert_eq!(
        recorder.last().unwrap().id.as_str(),
        "job_1",
        "what was created is not lost"
    );
}

/// Rows: B14.
#[tokio::test(start_paused = true)]
async fn what_cannot_mend_itself_ends_a_wait() {
    let ends: [(&str, Step, Kind); 6] = [
        ("not created here", bare(404), Kind::Status),
        ("key expired", bare(401), Kind::Status),
        ("address not allowed", bare(403), Kind::Status),
        ("HTML", reply(200, "<html>").into(), Kind::Response),
        (
            "another job",
            reply(200, r#"{"id": "job_2", "status": "active"}"#).into(),
            Kind::Response,
        ),
        ("certificate", Step::Unsent { fatal: true }, Kind::Connect),
    ];
    for (name, step, kind) in ends {
        let (script, recorder) = (
            Script::new([shows("active"), shows("active"), step]),
            Recorder::default(),
        );
        let error = wait_with(&script, &how(), &recorder).await.unwrap_err();
        assert_eq!((error.kind, script.count()), (kind, 3), "{name}");
        assert_eq!(recorder.last().unwrap().status, "active", "{name}");
    }
}

/// Rows: F9.
#[tokio::test(start_paused = true)]
async fn transient_failures_are_tolerated() {
    let fails: [fn() -> Step; 5] = [
        || bare(503),
        || Step::Ambiguous,
        || Step::Unsent { fatal: false },
        || reply(200, "{").broken().into(),
        || Step::from(Reply::hang(reply(200, "{"))),
    ];
    for failing in fails {
        let mut steps: Vec<_> = (0..5).map(|_| failing()).collect();
        steps.insert(0, shows("active"));
        steps.push(shows("completed"));
        assert!(wait_for(&Script::new(steps), &how()).await.is_ok());
    }
    let (script, recorder) = (Script::each(|_| bare(500)), Recorder::default());
    let error: Error = wait_with(
        &script,
        &Wait {
            timeout: Some(secs(60)),
            ..how()
        },
        &recorder,
    )
    .await
    .unwrap_err();
    assert_eq!(
        (error.kind, recorder.last().is_none()),
        (Kind::WaitTimeout, true)
    );
    let text = error.to_string();
    assert!(text.contains("(last status: never seen)"), "{text}");
    let (job, runs) = ("job_1".to_owned(), false);
    assert!(
        advises(&error, Advice::WaitForJob { job, runs }),
        "{error:?}"
    );
    let last = error.source.as_ref().unwrap();
    assert_eq!(
        (last.kind, last.status),
        (Kind::Status, Some(500)),
        "and the cause is reported"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_rests_as_long_as_the_service_asks() {
    let begun = Instant::now();
    let script = Script::new([
        shows("active"),
        with_retry_after(429, "300"),
        shows("completed"),
    ]);
    let observer = Recorder::default();
    wait_with(&script, &how(), &observer).await.unwrap();
    let polls = times(&script, begun);
    assert!(
        (302.0..=307.0).contains(&polls[2]),
        "beyond the cap of a single call: {polls:?}"
    );
    let announced: Vec<_> = observer
        .notes()
        .into_iter()
        .filter_map(|note| note.waiting)
        .collect();
    assert_eq!(
        announced.len(),
        1,
        "and not the polls' own pauses: {announced:?}"
    );
    assert!(announced[0].long && announced[0].until.is_some());

    let begun = Instant::now();
    let (script, observer) = (
        Script::new([shows("active"), with_retry_after(429, "3600")]),
        Recorder::default(),
    );
    let error = wait_with(&script, &how(), &observer).await.unwrap_err();
    assert_eq!(
        (error.status, error.retry_after, begun.elapsed()),
        (Some(429), Some(secs(3600)), secs(2))
    );
    assert_eq!(observer.last().unwrap().status, "active");

    // A short pause ends no wait that has less left than its own interval: the last poll comes at
    // its end.
    let begun = Instant::now();
    let busy = || with_retry_after(503, "1");
    let script = Script::new([busy(), busy(), busy(), shows("completed")]);
    let rare = Wait {
        timeout: Some(secs(10)),
        poll_interval: secs(15),
        ..how()
    };
    assert!(wait_for(&script, &rare).await.is_ok());
    assert_eq!(begun.elapsed(), secs(10));
    // One that is longer than what is left ends it, also if the interval is longer still.
    let rarer = Wait {
        timeout: Some(secs(80)),
        poll_interval: secs(100),
        ..how()
    };
    let error = wait_for(&Script::new([with_retry_after(503, "90")]), &rarer).await;
    assert_eq!(error.unwrap_err().retry_after, Some(secs(90)));

    let script = Script::new([with_retry_after(429, &"9".repeat(40))]);
    assert_eq!(
        wait_for(&script, &how()).await.unwrap_err().status,
        Some(429)
    );
    let script = Script::new([with_retry_after(429, &"9".repeat(40)), shows("completed")]);
    let ever = Wait {
        timeout: None,
        ..how()
    };
    assert!(wait_for(&script, &ever).await.is_ok(), "no clock runs over");
}

/// Rows: F7.
#[tokio::test(start_paused = true)]
async fn a_wait_is_small_enough_to_have_ten_thousand_of() {
    let script = Script::each(|_| shows("active"));
    let client = client(&script);
    let recorder = Recorder::default();
    let size = size_of_val(&wait(&client, target(), &how(), &recorder));
    println!("a wait takes {size} bytes");
    assert!(size < 3 * 1024, "{size}");
}
