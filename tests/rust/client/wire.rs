//! Answers that break off, crawl, never end, or do not match their headers (faults.md, C and D1).

use std::time::Duration;

use docplatform::client::Call;
use docplatform::config::Options;
use docplatform::error::{Kind, Outcome};
use docplatform::text::message::Advice;
use http::Method;
use tokio::task::yield_now;
use tokio::time::{Instant, advance};

use crate::helpers::support::{
    Recorder, Reply, Script, Step, advises, analytics, bare, call, client, client_with, create,
    fail, options, read, reply, secs, write,
};

/// A read that meets `answer` once, then a good answer.
async fn recovers(answer: Reply) -> Duration {
    let begun = Instant::now();
    let script = Script::new([answer, reply(200, "[1]")]);
    assert_eq!(
        call(&client(&script), read()).await.unwrap().to_string(),
        "[1]"
    );
    begun.elapsed()
}

/// Rows: C1, C2.
#[tokio::test(start_paused = true)]
async fn the_time_for_an_attempt_is_for_all_of_it() {
    for slow in [
        reply(200, "[").hang(),
        // A byte a second never stalls, and is still too slow.
        reply(200, "").drip(1000, " ", secs(1)),
        // The head takes its share.
        reply(200, "[").after(secs(29)).hang(),
    ] {
        assert_eq!(recovers(slow).await, secs(30));
    }
    let slow = Script::new([reply(200, "").drip(14, "[]", secs(2)).hang()]);
    let error = fail(
        &client_with(
            &slow,
            &Options {
                max_retries: 0,
                ..options()
            },
            0.0,
        ),
        read(),
    )
    .await;
    assert_eq!((error.kind, error.status), (Kind::Timeout, Some(200)));
}

/// Rows: M2.
#[tokio::test(start_paused = true)]
async fn an_answer_that_came_while_the_process_was_stopped_is_read() {
    for of in [read(), write()] {
        let script = Script::new([reply(200, "[1]").after(secs(5))]);
        let client = client(&script);
        let calling = tokio::spawn(async move { call(&client, of).await });
        while script.in_flight() == 0 {
            yield_now().await;
        }
        // The timers of the attempt and of the answer fire together.
        advance(secs(3600)).await;
        assert_eq!(calling.await.unwrap().unwrap().to_string(), "[1]");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_in_pieces_is_one_body() {
    let script = Script::new([
        reply(200, "").drip(10, "  ", secs(2)),
        reply(200, "").drip(5, "1", secs(2)),
    ]);
    let client = client(&script);
    assert_eq!(
        fail(&client, read()).await.kind,
        Kind::Response,
        "white space alone"
    );
    assert_eq!(call(&client, read()).await.unwrap().to_string(), "11111");
}

/// Rows: C4, C5.
#[tokio::test(start_paused = true)]
async fn nothing_partial_is_ever_returned() {
    // The part before the break would do as an answer by itself.
    recovers(reply(200, "[]").broken()).await;
    let script = Script::each(|_| reply(200, "[]").broken().into());
    let error = fail(&client(&script), read()).await;
    assert_eq!(
        (error.kind, script.count(), error.body.as_deref()),
        (Kind::Transport, 3, None)
    );
    assert!(error.to_string().contains("the body broke off"), "{error}");
}

/// Rows: C14.
#[tokio::test(start_paused = true)]
async fn an_answer_beyond_its_cap_is_read_no_further() {
    const CAP: usize = 1 << 20;
    // A job's cap is its own: no setting raises it.
    let job = || Call {
        cap: Some(CAP),
        ..write()
    };
    for (of, setting) in [
        (read(), CAP),
        (write(), CAP),
        (job(), CAP + 1),
        (job(), CAP),
        (job(), CAP - 1),
    ] {
        let (kind, outcome) = match of.method == Method::GET {
            true => (Kind::Response, None),
            false => (Kind::UnconfirmedWrite, Some(Outcome::Unknown)),
        };
        let helps = of.cap.is_none_or(|own| setting < own);
        let cap = setting.min(CAP);
        let script = Script::new([reply(200, "start").flood()]);
        let options = Options {
            max_response_bytes: setting as u64,
            ..options()
        };
        let error = fail(&client_with(&script, &options, 0.0), of).await;
        assert_eq!((error.kind, error.outcome), (kind, outcome));
        let text = error.to_string();
        assert!(text.contains(&format!("larger than {cap} bytes")), "{text}");
        assert_eq!(advises(&error, Advice::SmallerAnswers {}), helps);
        assert!(error.body.as_deref().unwrap().starts_with("start"));
        assert!(script.flooded() <= cap + 16 * 1024, "{}", script.flooded());
        assert_eq!(script.in_flight(), 0);
    }
}

/// Rows: C14.
#[tokio::test(start_paused = true)]
async fn an_answer_of_just_its_cap_is_read() {
    let mut of = read();
    of.cap = Some(1024);
    let fits = format!("{:>1024}", "7");
    let script = Script::new([reply(200, fits.clone()), reply(200, fits + " ")]);
    let client = client(&script);
    assert_eq!(call(&client, of.clone()).await.unwrap(), 7);
    assert_eq!(fail(&client, of).await.kind, Kind::Response);
}

/// Rows: C14.
#[tokio::test(start_paused = true)]
async fn a_job_is_read_up_to_its_own_cap() {
    const MIB: usize = 1024 * 1024;
    for (setting, cap) in [(32 * MIB, 4 * MIB), (2048, 2048)] {
        let script = Script::new([reply(201, "").flood()]);
        let settings = Options {
            max_response_bytes: setting as u64,
            ..options()
        };
        let error = create(
            &client_with(&script, &settings, 0.0),
            "Fix",
            &Recorder::default(),
        )
        .await
        .unwrap_err();
        assert_eq!(
            (error.kind, error.outcome),
            (Kind::UnconfirmedWrite, Some(Outcome::Unknown))
        );
        assert!(script.flooded() <= cap + 16 * 1024, "{}", script.flooded());
    }
}

/// Rows: C14.
#[tokio::test(start_paused = true)]
async fn an_errors_body_is_read_up_to_64_kib() {
    for status in [404, 302] {
        let script = Script::new([reply(status, "start").flood()]);
        let error = fail(&client(&script), read()).await;
        assert_eq!((error.kind, error.status), (Kind::Status, Some(status)));
        assert!(script.flooded() <= 80 * 1024, "{}", script.flooded());
        assert!(error.body.as_deref().unwrap().starts_with("start"));
    }
}

/// Rows: C15, C16.
#[tokio::test(start_paused = true)]
async fn an_encoded_answer_is_refused_and_not_decoded() {
    for (encodings, shown) in [
        (&["gzip"][..], "gzip"),
        (&["gzip, gzip"], "gzip, gzip"),
        (&["identity", "br"], "br"),
    ] {
        let with = |status| {
            let encoded = reply(status, "\x1f\x08...");
            encodings.iter().fold(encoded, |reply, encoding| {
                reply.header("content-encoding", encoding)
            })
        };
        let script = Script::new([with(200), with(201), with(404)]);
        let client = client(&script);
        let error = fail(&client, read()).await;
        assert_eq!(error.kind, Kind::Response);
        assert!(
            error
                .to_string()
                .contains(&format!("encoded as {shown} (content type")),
            "{error}"
        );
        let error = fail(&client, write()).await;
        assert_eq!(
            (error.kind, error.outcome),
            (Kind::UnconfirmedWrite, Some(Outcome::Unknown))
        );
        assert_eq!(
            fail(&client, read()).await.status,
            Some(404),
            "a refusal stays what it is"
        );
    }
    for none in ["Identity", ""] {
        let script = Script::new([reply(200, "1").header("content-encoding", none)]);
        assert_eq!(call(&client(&script), read()).await.unwrap(), 1);
    }
}

/// Rows: D1.
#[tokio::test(start_paused = true)]
async fn what_is_not_json_is_named_by_its_content_type_and_its_beginning() {
    let page = format!("<html>\u{1b}[2J{}", "x".repeat(1000));
    for (kind, shown) in [
        (
            Some("text/html; charset=utf-8"),
            "content type text/html; charset=utf-8",
        ),
        (Some("application/json"), "content type application/json"),
        (None, "content type no content type"),
    ] {
        let mut answer = reply(200, page.clone());
        if let Some(kind) = kind {
            answer = answer.header("content-type", kind);
        }
        let script = Script::new([answer]);
        let error = fail(&client(&script), read()).await;
        assert_eq!((error.kind, error.status), (Kind::Response, Some(200)));
        assert!(error.to_string().contains(shown), "{error}");
        assert!(
            error.to_string().contains("<html>") && !error.to_string().contains('\u{1b}'),
            "{error}"
        );
        assert!(advises(&error, Advice::CheckPage {}), "{error}");
        let told = error.to_string();
        let beginning = told.split_once("begins \"").unwrap().1;
        assert!(
            (120..140).contains(&beginning.chars().count()),
            "{beginning}"
        );
        assert!(error.body.as_deref().unwrap().chars().count() < 300);
    }
}

/// Rows: J8.
#[tokio::test(start_paused = true)]
async fn the_services_own_words_are_shown_and_defused() {
    for (body, words) in [
        (
            r#"{"error": "Bad limit", "details": [{"message": "1 to 250"}, {"code": 1}, "x"]}"#,
            "Bad limit; 1 to 250; x",
        ),
        (r#"{"error": {"message": "no"}}"#, "no"),
        (r#"{"error": "Bad", "message": "limit"}"#, "Bad; limit"),
        (r#"{"error": true, "message": "limit"}"#, "limit"),
        (r#"{"detail": [{"message": "limit"}]}"#, "limit"),
        (
            r#"{"title": "Not Found", "status": 404, "detail": "No job x", "errors": [{"detail": "no date"}]}"#,
            "Not Found; No job x; no date",
        ),
        (
            r#"{"message": "no \u001b]52;c\u0007\u202e\r\n"}"#,
            "no \\u{1b}]52;c\\u{7}\\u{202e}\\r\\n",
        ),
    ] {
        let script = Script::new([reply(400, body)]);
        let error = fail(&client(&script), read()).await;
        assert_eq!(error.service_message.as_deref(), Some(words));
        assert_eq!(
            error.to_string(),
            format!("GET /v2/thing: status 400: {words}")
        );
    }
    for (kind, words) in [
        ("text/plain; charset=utf-8", Some("Slow down\\nplease")),
        ("text/html", None),
    ] {
        let answer = reply(400, "Slow down\nplease\n").header("content-type", kind);
        let error = fail(&client(&Script::new([answer])), read()).await;
        assert_eq!(error.service_message.as_deref(), words);
    }
    for none in ["<html>", "", "[]", "{}", r#"{"error": 5}"#] {
        let error = fail(&client(&Script::new([reply(400, none)])), read()).await;
        assert_eq!(error.service_message, None);
        assert!(
            error
                .to_string()
                .starts_with("GET /v2/thing: status 400: Bad Request")
        );
        assert!(
            advises(&error, Advice::ChangeRequest { has_text: false }),
            "{error}"
        );
    }
    let error = fail(&client(&Script::new([reply(499, "")])), read()).await;
    assert!(
        error
            .to_string()
            .starts_with("GET /v2/thing: status 499: no message")
    );
}

#[tokio::test(start_paused = true)]
async fn errors_say_what_to_do_about_them() {
    for (step, advice) in [
        (reply(401, ""), Advice::CheckKey { variable: None }),
        (reply(403, ""), Advice::CheckKeyRights { write: false }),
        (reply(404, ""), Advice::CheckIds { job_path: false }),
        (reply(410, ""), Advice::CheckIds { job_path: false }),
        (
            reply(422, "{\"error\": \"x\"}"),
            Advice::ChangeRequest { has_text: true },
        ),
        (
            reply(429, "").header("retry-after", "3600"),
            Advice::CallAfter {
                seconds: Some(3600),
            },
        ),
        (
            reply(308, "").header("location", "https://new.example"),
            Advice::ChangeAddress {
                location: "https://new.example".to_owned(),
            },
        ),
    ] {
        let script = Script::new([step]);
        let error = fail(&client(&script), read()).await;
        assert!(advises(&error, advice), "{error}");
    }
    let script = Script::new([reply(403, "")]);
    let error = fail(&client(&script), write()).await;
    assert!(
        advises(&error, Advice::CheckKeyRights { write: true }),
        "{error}"
    );
    let script = Script::each(|_| Step::from(reply(429, "")));
    let error = fail(&client(&script), read()).await;
    assert!(
        advises(&error, Advice::CallAfter { seconds: None }),
        "{error}"
    );
    let budgeted = Options {
        requests_per_hour: Some(9),
        max_retries: 0,
        ..options()
    };
    let client = client_with(&Script::new([bare(429)]), &budgeted, 0.0);
    let error = fail(&client, analytics()).await;
    assert!(advises(&error, Advice::WaitForReset {}), "{error}");
}
