//! The body of a job: required and optional fields.

use docplatform::job::Job;
use serde_json::{Value, json};

use crate::helpers::support::segment;

fn decode(body: &Value) -> Result<Job, String> {
    Job::from_value(body.clone(), segment("demo"))
}

fn text(body: &str) -> Value {
    docplatform::text::json::parse(body.as_bytes())
        .unwrap()
        .value
}

#[test]
fn all_fields() {
    let body = json!({
        "id": "job_1",
        "status": "completed",
        "source": {"repository": "acme/docs", "ref": "main"},
        "model": "sonnet",
        "prLink": "https://git.example/acme/docs/pull/1",
        "createdAt": "2026-01-31T12:00:00.5Z",
        "archivedAt": "2026-02-01T14:00:00+02:00",
    });
    let job = decode(&body).unwrap();
    assert_eq!(
        (job.id.as_str(), job.status.as_str()),
        ("job_1", "completed")
    );
    assert_eq!(job.repository.as_deref(), Some("acme/docs"));
    assert_eq!(job.reference.as_deref(), Some("main"));
    assert_eq!(job.model.as_deref(), Some("sonnet"));
    assert_eq!(
        job.pr_link.as_deref(),
        Some("https://git.example/acme/docs/pull/1")
    );
    assert_eq!(
        job.created_at.unwrap().to_string(),
        "2026-01-31T12:00:00.5Z"
    );
    assert_eq!(job.archived_at.unwrap().to_string(), "2026-02-01T12:00:00Z");
    assert_eq!(job.project.as_str(), "demo");
    assert_eq!(job.raw, body);
}

#[test]
fn everything_but_id_and_status_may_be_missing_or_null() {
    let job = decode(&json!({"id": "j", "status": "active"})).unwrap();
    assert_eq!(
        (job.repository, job.reference, job.model, job.pr_link),
        (None, None, None, None)
    );
    assert_eq!((job.created_at, job.archived_at), (None, None));
    for field in ["source", "model", "prLink", "createdAt", "archivedAt"] {
        let mut body = json!({"id": "j", "status": "active"});
        body[field] = Value::Null;
        assert!(decode(&body).is_ok(), "{field}");
    }
    let job =
        decode(&json!({"id": "j", "status": "active", "source": {"repository": "r", "ref": null}}));
    assert_eq!(job.unwrap().reference, None);
    for field in ["id", "status"] {
        for bad in [None, Some(json!(null)), Some(json!(""))] {
            let mut body = json!({"id": "j", "status": "active"});
            let map = body.as_object_mut().unwrap();
            match bad {
                Some(bad) => map.insert(field.to_owned(), bad),
                None => map.remove(field),
            };
            assert_eq!(
                decode(&body).unwrap_err(),
                format!("{field}: missing, null or empty")
            );
        }
    }
}

/// Rows: D5.
#[test]
fn a_wrong_type_is_named_with_its_place() {
    let text = [
        ("id", json!(5), "id: expected a string, found a number"),
        (
            "status",
            json!(true),
            "status: expected a string, found a boolean",
        ),
        (
            "model",
            json!({}),
            "model: expected a string, found an object",
        ),
        (
            "prLink",
            json!([]),
            "prLink: expected a string, found an array",
        ),
        (
            "createdAt",
            json!(0),
            "createdAt: expected a string, found a number",
        ),
        (
            "archivedAt",
            json!(false),
            "archivedAt: expected a string, found a boolean",
        ),
        (
            "source",
            json!("acme/docs"),
            "source: expected an object, found a string",
        ),
        (
            "source",
            json!([]),
            "source: expected an object, found an array",
        ),
        (
            "source",
            json!({"repository": 1}),
            "source.repository: expected a string, found a number",
        ),
        (
            "source",
            json!({"ref": ["main"]}),
            "source.ref: expected a string, found an array",
        ),
    ];
    for (field, value, error) in text {
        let mut body = json!({"id": "j", "status": "active"});
        body[field] = value;
        assert_eq!(decode(&body).unwrap_err(), error);
    }
    for (body, found) in [
        (json!([]), "an array"),
        (json!(null), "null"),
        (json!("j"), "a string"),
    ] {
        assert_eq!(
            decode(&body).unwrap_err(),
            format!("expected an object, found {found}")
        );
    }
}

/// Rows: D16.
#[test]
fn dates_that_no_calendar_has_are_errors_and_no_panics() {
    let bomb = "(".repeat(100_000);
    for bad in [
        "0000-01-01T00:00:00Z",
        "2026-01-31T12:00:00+24:00",
        "2026-06-30T23:59:60Z",
        "2026-02-30T00:00:00Z",
        "2026-02-29T00:00:00.000Z",
        "2026-01-31T12:00:0/Z",
        "-000001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-12:00",
        "2026-01-31",
        "2026-02-30T12:00:00",
        "Sat, 31 Jan 2026 12:00:00 GMT",
        "99999-01-01T00:00:00Z",
        "\u{661}\u{662}",
        "",
        &bomb,
    ] {
        for field in ["createdAt", "archivedAt"] {
            let mut body = json!({"id": "j", "status": "active"});
            body[field] = json!(bad);
            let error = decode(&body).unwrap_err();
            assert!(
                error.starts_with(&format!("{field}: ")) && error.len() < 200,
                "{error}"
            );
        }
    }
}

#[test]
fn an_id_must_be_able_to_stand_in_a_path() {
    for bad in ["../x", "a b", &"x".repeat(257)] {
        let error = decode(&json!({"id": bad, "status": "active"})).unwrap_err();
        assert!(error.starts_with("id: "), "{error}");
    }
}

/// Rows: D14.
#[test]
fn unknown_fields_and_big_numbers_survive_in_raw() {
    let body = r#"{"status":"active","zeta":{"b":1,"a":[1e+400,0.1000,123456789012345678901234567890]},"id":"j","alpha":null}"#;
    let job = decode(&text(body)).unwrap();
    assert_eq!(
        job.raw.to_string(),
        body,
        "as they were sent, in their order"
    );
}

/// Rows: D14.
#[test]
fn only_three_statuses_are_final() {
    for (status, is_final, is_failed) in [
        ("active", false, false),
        ("completed", true, false),
        ("archived", true, false),
        ("failed", true, true),
        ("queued", false, false),
        ("Completed", false, false),
        ("completed ", false, false),
    ] {
        let job = decode(&json!({"id": "j", "status": status})).unwrap();
        assert_eq!(
            (job.is_final(), job.is_failed()),
            (is_final, is_failed),
            "{status}"
        );
        assert_eq!(job.status, status);
    }
}

/// Rows: D15.
#[test]
fn a_link_is_kept_as_it_came() {
    for link in [
        "javascript:alert(1)",
        "data:text/html,x",
        "https://user:pw@evil.example/\u{202e}",
    ] {
        let job = decode(&json!({"id": "j", "status": "active", "prLink": link})).unwrap();
        assert_eq!(job.pr_link.as_deref(), Some(link));
    }
}
