//! The key and the prompt are in nothing that is shown, also where the service echoes them
//! (faults.md, H).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use docplatform::client::Call;
use docplatform::config::Options;
use docplatform::error::Error;
use docplatform::http::Outgoing;
use docplatform::job::wait::{Target, Wait, wait};
use docplatform::job::{self, Prompt};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::helpers::support::{
    KEY, Recorder, Reply, Script, Step, client, client_with, create, fail, get, job_body, json,
    message, options, read, reply, secs, segment, with_retry_after, write,
};
use crate::job::waits::how;

/// Words that only a prompt has, early and late in it, beside characters that have to be escaped
/// somewhere.
const PROMPT: &str = "\u{1f469}\u{200d}\u{1f4bb} \"falcon\" z\u{e9}bu /badger\\ <otter> &\n\u{7f}heron \u{202e}lynx\tand then \
                      the walrus, 100 % of it: \u{1}marmot";
/// None of its words is in a text of this crate's own.
const WORDS: [&str; 8] = [
    "falcon",
    "z\u{e9}bu",
    "badger",
    "otter",
    "heron",
    "lynx",
    "walrus",
    "marmot",
];

/// The shortest piece of a key that counts as a leak.
const PIECE: usize = 8;

fn assert_no_secret(shown: &str, name: &str) {
    for piece in (0..=KEY.len() - PIECE)
        .map(|start| &KEY[start..start + PIECE])
        .chain(WORDS)
    {
        assert!(!shown.contains(piece), "{name}: {piece:?} in {shown}");
    }
}

/// The same for the error, its `Debug` text and all log lines.
fn assert_shows_no_secret(error: &Error, recorder: &Recorder, name: &str) {
    let shown = format!(
        "{error} {error:?} {error:#?} {} {:?}",
        recorder.log(),
        recorder.notes()
    );
    assert_no_secret(&shown, name);
}

/// `text` as JSON of ASCII alone, as many servers write it.
fn ascii_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    let mut ascii = String::new();
    for unit in quoted.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => ascii.push(char::from(byte)),
            _ => ascii.push_str(&format!("\\u{unit:04x}")),
        }
    }
    ascii.replace('/', "\\/")
}

/// Answers that repeat `secret` after `padding`.
fn echoes(padding: &str, secret: &str) -> Vec<(&'static str, Reply)> {
    let text = format!("{padding}{secret} was not accepted");
    let quoted = serde_json::to_string(&text).unwrap();
    let ascii = ascii_json(&text);
    let twice = serde_json::to_string(&quoted).unwrap();
    let ascii_twice = serde_json::to_string(&ascii).unwrap();
    vec![
        ("plain text", reply(422, text.clone())),
        (
            "plain text, not UTF-8",
            reply(422, [b"\xff", text.as_bytes()].concat()),
        ),
        (
            "JSON message",
            reply(422, format!("{{\"error\": {quoted}}}")),
        ),
        (
            "JSON message in ASCII",
            reply(422, format!("{{\"error\": {ascii}}}")),
        ),
        (
            "JSON detail",
            reply(
                422,
                format!("{{\"error\": \"no\", \"details\": [{{\"message\": {quoted}}}]}}"),
            ),
        ),
        (
            "JSON in JSON",
            reply(422, format!("{{\"error\": {twice}}}")),
        ),
        (
            "ASCII JSON in JSON",
            reply(422, format!("{{\"error\": {ascii_twice}}}")),
        ),
        (
            "JSON elsewhere",
            reply(422, format!("{{\"input\": {quoted}}}")),
        ),
        (
            "JSON elsewhere in ASCII",
            reply(422, format!("{{\"input\": {ascii}}}")),
        ),
        ("server error", reply(500, text.clone())),
        (
            "throttled",
            reply(429, format!("{{\"message\": {quoted}}}")).header("retry-after", "3600"),
        ),
        (
            "success that is no job",
            reply(201, format!("{{\"prompt\": {quoted}}}")),
        ),
        (
            "success that is no job, in ASCII",
            reply(201, format!("{{\"prompt\": {ascii}}}")),
        ),
        ("success that is no JSON", reply(201, text)),
        (
            "job with a wrong type",
            reply(201, format!("{{\"id\": \"j\", \"status\": [{quoted}]}}")),
        ),
        (
            "job with an unknown status",
            reply(201, format!(r#"{{"id":"job_1","status":{quoted}}}"#)),
        ),
        (
            "job with a wrong date",
            reply(
                201,
                format!("{{\"id\": \"j\", \"status\": \"s\", \"createdAt\": {quoted}}}"),
            ),
        ),
        (
            "JSON broken off",
            reply(201, format!("{{\"prompt\": {}", &ascii[..ascii.len() - 1])),
        ),
    ]
}

/// So that what comes after them lies across the cuts at 60, 120, 256 and 500, at one place or
/// another.
fn paddings() -> impl Iterator<Item = String> {
    let cuts = [60, 120, 256, 500]
        .into_iter()
        .flat_map(|cut| (cut - 56..cut).step_by(7));
    [0, 1]
        .into_iter()
        .chain(cuts)
        .map(|length| "x".repeat(length))
}

/// Rows: H2.
#[tokio::test(start_paused = true)]
async fn neither_key_nor_prompt_is_ever_shown_however_the_service_repeats_it() {
    for padding in paddings() {
        // Also without the prefix of the key, or only the end. Of a prompt's end too little is left
        // where a text is cut.
        let end = if padding.len() > 1 {
            PROMPT
        } else {
            &PROMPT[PROMPT.len() - 40..]
        };
        for secret in [
            &format!(" {KEY}"),
            &KEY[3..],
            &KEY[KEY.len() - 16..],
            PROMPT,
            end,
        ] {
            for (name, echo) in echoes(&padding, secret) {
                let script = Script::new([echo]);
                let recorder = Recorder::default();
                let error = create(&client(&script), PROMPT, &recorder)
                    .await
                    .unwrap_err();
                let case = format!("{name}, behind {}", padding.len());
                assert_shows_no_secret(&error, &recorder, &case);
            }
        }
    }
}

/// Rows: N6.
#[tokio::test(start_paused = true)]
async fn an_encoded_key_is_withheld_as_the_plain_one_is() {
    let hex = KEY.bytes().map(|byte| format!("{byte:02x}"));
    let percent = KEY.bytes().map(|byte| format!("%{byte:02x}"));
    for encoded in [
        STANDARD.encode(KEY),
        STANDARD.encode(format!("user:{KEY}")),
        URL_SAFE_NO_PAD.encode(format!("{KEY}:")),
        hex.clone().collect(),
        hex.collect::<String>().to_uppercase(),
        percent.collect(),
        utf8_percent_encode(KEY, NON_ALPHANUMERIC).to_string(),
    ] {
        let id = reply(404, "").header("x-request-id", &encoded);
        for (name, echo) in echoes("Basic ", &encoded)
            .into_iter()
            .chain([("header", id)])
        {
            let recorder = Recorder::default();
            let error = create(&client(&Script::new([echo])), PROMPT, &recorder)
                .await
                .unwrap_err();
            let shown = format!("{error} {error:?} {:?}", recorder.notes());
            for piece in (0..=encoded.len() - 16).map(|start| &encoded[start..start + 16]) {
                assert!(!shown.contains(piece), "{name}: {piece} in {shown}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_prompt_is_not_shown_by_a_message_or_a_poll_either() {
    for ((name, told), (_, polled)) in echoes("no: ", PROMPT)
        .into_iter()
        .zip(echoes("no: ", PROMPT))
    {
        let recorder = Recorder::default();
        let error = message(&client(&Script::new([told])), PROMPT, &recorder)
            .await
            .unwrap_err();
        assert_shows_no_secret(&error, &recorder, name);
        let client = client(&Script::new([
            reply(201, job_body("active")),
            polled,
            reply(401, ""),
        ]));
        let job = create(&client, PROMPT, &recorder).await.unwrap();
        let target = Target::just_written(job, Prompt::parse(PROMPT.to_owned()).unwrap());
        let short = Wait {
            timeout: Some(secs(1)),
            ..how()
        };
        let error = wait(&client, target, &short, &recorder).await.unwrap_err();
        assert_shows_no_secret(&error, &recorder, name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_status_that_a_prompt_begins_with_is_a_status() {
    for (prompt, status) in [
        ("review the docs", "in_review"),
        ("pending items", "pending"),
    ] {
        let client = client(&Script::new([reply(201, job_body(status))]));
        let job = create(&client, prompt, &Recorder::default()).await.unwrap();
        assert_eq!(job.status, status);
    }
}

/// Rows: H2.
#[tokio::test(start_paused = true)]
async fn the_key_is_never_shown_from_a_header_nor_where_that_breaks_off_within_it() {
    let whole = paddings().map(|padding| format!("{padding} {KEY}/x"));
    let cut = (PIECE..KEY.len()).map(|length| format!("no {}", &KEY[..length]));
    for value in whole.chain(cut) {
        for step in [
            reply(302, "").header("location", &value),
            reply(404, "").header("x-request-id", &value),
            reply(200, "<html>").header("content-type", &value),
            reply(200, "").header("content-encoding", &value),
        ] {
            let recorder = Recorder::default();
            let error = client(&Script::new([step]))
                .call(read(), &recorder, json)
                .await
                .unwrap_err();
            assert_shows_no_secret(&error, &recorder, &value);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_key_is_never_shown_where_it_stands_for_data() {
    let odd = KEY.replace('/', ".");
    let settings = Options {
        api_key: Some(odd.as_str().into()),
        ..options()
    };
    for length in 0..60 {
        let id = format!("{}{odd}", "x".repeat(length));
        let script = Script::new([reply(
            200,
            format!("{{\"id\": \"{id}\", \"status\": \"active\"}}"),
        )]);
        let recorder = Recorder::default();
        let error = get(&client_with(&script, &settings, 0.0), &recorder)
            .await
            .unwrap_err();
        let shown = format!("{error:?} {:?}", recorder.notes());
        for start in 0..=odd.len() - PIECE {
            assert!(
                !shown.contains(&odd[start..start + PIECE]),
                "{length}: {shown}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_prompt_of_another_call_is_not_shown_where_a_job_names_it() {
    let quoted = serde_json::to_string(PROMPT).unwrap();
    for prompt in [&quoted, &ascii_json(PROMPT)] {
        let script = Script::new([reply(
            200,
            format!("{{\"id\": 5, \"prompt\": {prompt}, \"status\": 5}}"),
        )]);
        let recorder = Recorder::default();
        let error = get(&client(&script), &recorder).await.unwrap_err();
        assert_shows_no_secret(&error, &recorder, "a job with a wrong type");
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_the_service_cuts_is_not_shown_either_whatever_white_space_is_around_it() {
    let prompt = "\n  heron and falcon, then the otter, then the walrus\n";
    for kept in [8, 12, 20, 30, 45] {
        for end in ["\u{2026}", "...", " [...]"] {
            for quotes in ["'", "\"", "\u{ab}", ""] {
                let echo = format!(
                    "not accepted: {quotes}{}{end}{quotes}",
                    &prompt.trim()[..kept]
                );
                let script =
                    Script::new([reply(400, serde_json::json!({ "error": echo }).to_string())]);
                let recorder = Recorder::default();
                let error = create(&client(&script), prompt, &recorder)
                    .await
                    .unwrap_err();
                assert_shows_no_secret(&error, &recorder, &echo);
                assert!(
                    error
                        .to_string()
                        .contains("withheld: it repeats the prompt"),
                    "{error}"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_secret_stays_readable() {
    let script = Script::new([
        reply(
            422,
            r#"{"error": "Path \"/a\\b\" is \u00e9trange: C:\\new, 100 %"}"#,
        ),
        reply(422, r#"{"error": "Fix: see the docs"}"#),
    ]);
    let client = client(&script);
    let error = create(&client, "Fix the docs", &Recorder::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.service_message.as_deref(),
        Some("Path \"/a\\b\" is \u{e9}trange: C:\\new, 100 %")
    );
    assert_eq!(
        error.body.as_deref(),
        Some(r#"{"error": "Path \"/a\\b\" is \u00e9trange: C:\\new, 100 %"}"#)
    );
    let error = create(&client, "Fix the docs", &Recorder::default())
        .await
        .unwrap_err();
    assert_eq!(error.service_message.as_deref(), Some("Fix: see the docs"));
}

/// Rows: H2, H3.
#[tokio::test(start_paused = true)]
async fn attempts_and_log_lines_hide_what_the_last_error_hides() {
    let echo = |status| reply(status, format!("{{\"error\": \"who is {KEY}?\"}}"));
    let script = Script::new([echo(500), echo(503).header("x-request-id", KEY), echo(429)]);
    let recorder = Recorder::default();
    let error = client(&script)
        .call(read(), &recorder, json)
        .await
        .unwrap_err();
    assert_eq!(error.attempts.len(), 3);
    assert_shows_no_secret(&error, &recorder, "three attempts");
    let withheld = "[withheld: it repeats the API key]";
    assert!(
        error.attempts[1]
            .error
            .ends_with(&format!("{withheld} (request id {withheld})")),
        "{error:?}"
    );
    assert_eq!(
        recorder
            .notes()
            .iter()
            .filter(|note| note.text.contains(withheld))
            .count(),
        3
    );
}

/// Rows: H8.
#[tokio::test(start_paused = true)]
async fn nothing_prints_the_key_or_the_prompt() {
    let script = Script::new([reply(200, "{}")]);
    let client = client(&script);
    client
        .call(
            Call {
                query: Vec::new(),
                ..write()
            },
            &Recorder::default(),
            json,
        )
        .await
        .unwrap();
    let prompt = Prompt::parse(PROMPT.to_owned()).unwrap();
    let call = Call {
        prompt: Some(PROMPT.into()),
        body: Some(serde_json::json!({ "prompt": PROMPT }).to_string().into()),
        ..write()
    };
    let sent = script.sent();
    let outgoing = Outgoing {
        method: sent[0].method.clone(),
        url: sent[0].url.clone(),
        headers: sent[0].headers.clone(),
        body: call.body.clone(),
    };
    for (name, shown) in [
        (
            "settings",
            format!("{:?} {:#?}", client.settings(), client.settings()),
        ),
        ("options", format!("{:?}", options())),
        ("request", format!("{outgoing:?} {outgoing:#?}")),
        ("call", format!("{call:?} {call:#?}")),
        ("prompt", format!("{prompt:?} {prompt:#?}")),
    ] {
        assert_no_secret(&shown, name);
        assert!(
            !shown.contains("102, 97, 108, 99, 111, 110"),
            "{name}: bytes are letters too: {shown}"
        );
    }
}

/// Rows: H9.
#[tokio::test(start_paused = true)]
async fn errors_name_the_ids_and_the_host_and_log_lines_do_not() {
    let script = Script::each(|_| Step::Ambiguous);
    let query = vec![("q".to_owned(), "falcon".to_owned())];
    let error = fail(&client(&script), Call { query, ..read() }).await;
    assert_no_secret(&format!("{error} {error:?}"), "query");

    let script = Script::new([with_retry_after(401, "0"), Step::Unsent { fatal: true }]);
    let client = client(&script);
    let log = Recorder::default();
    let (project, job) = (segment("walrus"), segment("otter\u{202e}"));
    let error = job::get(&client, &project, &job, None, &log)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("GET /v2/agent/{project_id}/job/{id}: status 401"),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("(project 'walrus', job 'otter\\u{202e}')"),
        "{error}"
    );
    let error = job::get(&client, &project, &job, None, &log)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("docs.example.com:443: scripted"),
        "{error}"
    );
    assert_no_secret(&log.log(), "log");
}
