//! Gives the client one answer of a service, and checks what must hold for any answer. The fuzz target makes the answers; the
//! core's tests replay its corpus.
//!
//! An input is a text: an operation and a status, headers, an empty line, and the body, such as
//!
//! ```text
//! create 429
//! retry-after: 5
//!
//! {"error": "no <PROMPT> with <KEY>"}
//! ```
//!
//! `<KEY>`, `<PROMPT>` and `<QUOTED>` (the prompt as JSON writes it) are filled in: nothing of them may be shown.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use docplatform::client::observer::{Note, Observer};
use docplatform::client::{Client, Stats};
use docplatform::config::Options;
use docplatform::config::url::{Segment, Template};
use docplatform::dates::{Moment, parse_instant};
use docplatform::error::{Error, Kind, Outcome, Result};
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::findings::Finding;
use docplatform::export::observer::ExportObserver;
use docplatform::export::pager::{CheckedPage, Pager, Paging};
use docplatform::export::service::ServicePages;
use docplatform::http::{Body, Departure, Incoming, Outgoing, SendError, Transport};
use docplatform::job::wait::JobObserver;
use docplatform::job::{self, Job, Prompt};
use docplatform::listing::columns::Cell;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::rows::Rows;
use docplatform::listing::{Listing, Shape};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

const KEY: &str = "dp_5ecretKey0123456789/abcdef+WXYZ";
const PROMPT: &str = "Rewrite the \"falcon\" page,\nand for z\u{e9}bu the \\otter too";
/// Words that only the prompt has.
const WORDS: [&str; 3] = ["falcon", "z\u{e9}bu", "otter"];
const BASE_URL: &str = "https://docs.example.com";
/// So few that an answer may well have as many.
const PAGE_SIZE: u32 = 2;
/// The longest text that an error shows.
const MOST_SHOWN: usize = 2_000;

/// Checks one input; what it came to, or `None` where it is no input.
pub(crate) fn check(input: &[u8]) -> Option<&'static str> {
    let end = input.windows(2).position(|pair| pair == b"\n\n")?;
    let (head, body) = (input.get(..end)?, input.get(end + 2..)?);
    if says_secret(&String::from_utf8_lossy(input)) {
        return None;
    }
    let mut head = std::str::from_utf8(head).ok()?.lines();
    let (operation, status) = head.next()?.split_once(' ')?;
    let text = || std::str::from_utf8(body).ok();
    match operation {
        "checkpoint" => return Some(checkpoint(text()?)),
        "date" => return Some(date(text()?)),
        _ => {}
    }
    // A listing cannot know what another call asked for.
    let asked = !matches!(operation, "visitors" | "rows");
    let body = fill(body, asked);
    let mut headers = HeaderMap::new();
    for line in head {
        let (name, value) = line.split_once(": ")?;
        let value = HeaderValue::from_bytes(&fill(value.as_bytes(), asked)).ok()?;
        headers.append(HeaderName::from_bytes(name.as_bytes()).ok()?, value);
    }
    let status = StatusCode::from_bytes(status.as_bytes())
        .ok()
        .filter(|status| status.as_u16() >= 200)?;
    let plain = !headers.contains_key("content-encoding");
    let heard = Arc::new(Heard::default());
    let client = client(Answer {
        status,
        headers,
        body: body.clone(),
    });
    let (write, result) = now(call(operation, client, &heard))?;
    let error = match result {
        Ok(value) => {
            assert!(
                status.is_success() && plain,
                "an answer that is none was taken"
            );
            return Some(value.compare(&body));
        }
        Err(error) => error,
    };
    if error.kind != Kind::Pagination {
        check_error(&error, write, status);
    }
    for text in shown(&error, &heard) {
        check_text(&text);
    }
    Some(error.kind.class(error.status))
}

/// What an operation returns.
enum Came {
    Job(Box<Job>),
    Page(Box<CheckedPage>),
}

/// Whether it writes, and what it comes to; `None` where there is no such operation.
async fn call(operation: &str, client: Client, heard: &Arc<Heard>) -> Option<(bool, Result<Came>)> {
    let project = segment("demo")?;
    let prompt = || Prompt::parse(PROMPT.to_owned()).ok();
    let path = Template::parse("path", "/v1/analytics/{project_id}/feedback").ok()?;
    let listing = match operation {
        "create" => {
            let job = job::once::write(&client, project, None, prompt()?, None, &**heard).await;
            return Some((true, job.map(|job| Came::Job(Box::new(job)))));
        }
        "message" => {
            let job = job::once::write(
                &client,
                project,
                Some(segment("job_1")?),
                prompt()?,
                None,
                &**heard,
            )
            .await;
            return Some((true, job.map(|job| Came::Job(Box::new(job)))));
        }
        "get" => {
            let known = Some(PROMPT.into());
            let job = job::get(&client, &project, &segment("job_1")?, known, &**heard).await;
            return Some((false, job.map(|(job, _)| Came::Job(Box::new(job)))));
        }
        "visitors" => Listing::of(VISITORS, &project, None, None),
        "rows" => {
            let shape = Shape {
                items: "items".to_owned(),
                has_more: "more".to_owned(),
                next_cursor: None,
            };
            Listing::other(&path, Some(&project), Vec::new(), shape).ok()?
        }
        _ => return None,
    };
    let place = Checkpoint::new(BASE_URL, listing.clone(), PAGE_SIZE, 0);
    let pages = ServicePages::new(client, listing);
    let paging = Paging {
        max_rows: None,
        prefetch: 1,
        strict: false,
        window: None,
    };
    let observer: Arc<dyn ExportObserver> = Arc::clone(heard) as _;
    let page = Pager::new(Arc::new(pages), place, paging)
        .next_page(&observer)
        .await
        .transpose()?;
    Some((false, page.map(|page| Came::Page(Box::new(page)))))
}

impl Came {
    /// Holds it against what a plain JSON parser reads, which is lenient where the client may not be.
    fn compare(self, body: &[u8]) -> &'static str {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let plain: Option<Value> = serde_json::from_slice(body).ok();
        match (self, plain) {
            (Self::Job(job), plain) => {
                assert_eq!(
                    Some(job.id.as_str()),
                    job.raw.get("id").and_then(Value::as_str)
                );
                assert!(
                    segment(job.id.as_str()).is_some(),
                    "an id that cannot stand in a path"
                );
                assert!(
                    plain.is_none_or(|plain| plain == job.raw),
                    "a job that lost something"
                );
                "job"
            }
            (Self::Page(page), None) => {
                let told = page
                    .findings
                    .iter()
                    .any(|finding| matches!(finding, Finding::Repaired(_)));
                assert!(told, "no JSON, and not told");
                "repaired page"
            }
            (Self::Page(page), Some(plain)) => {
                let (rows, more) = match page.rows.fields.is_empty() {
                    false => ("visitors", "hasMore"),
                    true => ("items", "more"),
                };
                assert_eq!(plain.get(more), Some(&Value::Bool(page.position.has_more)));
                let sent = plain.get(rows).and_then(Value::as_array).expect("rows");
                compare_rows(&page.rows, sent)
            }
        }
    }
}

/// Every row is handed out as it was sent, but for repeats of visitors.
fn compare_rows(rows: &Rows, sent: &[Value]) -> &'static str {
    if rows.fields.is_empty() {
        assert!(rows.iter().map(|row| row.other).eq(sent.iter().map(Some)));
        return "rows";
    }
    let mut known = Vec::new();
    let mut read = rows.iter();
    for sent in sent {
        let count = |name: &str| sent.get(name).and_then(whole);
        let path = sent.get("path").and_then(Value::as_str);
        let extra = sent.as_object().map(|fields| {
            let extra = fields
                .iter()
                .filter(|(name, _)| !["path", "human", "ai", "total"].contains(&name.as_str()));
            extra
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Vec<_>>()
        });
        let row = (path, count("human"), count("ai"), count("total"), extra);
        if known.contains(&row) {
            continue;
        }
        let came = read.next().expect("a row that was lost");
        let extra = came.extra().into_iter().flatten();
        let extra = extra
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let count = |name| match came.get(name) {
            Cell::Integer(number) => Some(number),
            _ => None,
        };
        let path = match came.get("path") {
            Cell::Text(path) => Some(path),
            _ => None,
        };
        let came = (
            path,
            count("human"),
            count("ai"),
            count("total"),
            Some(extra),
        );
        assert_eq!(came, row);
        known.push(row);
    }
    assert!(read.next().is_none(), "a row that nobody sent");
    "visitors"
}

/// A count as any JSON parser reads it.
fn whole(number: &Value) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the client refused what does not fit"
    )]
    number
        .as_i64()
        .or_else(|| number.as_f64().map(|float| float as i64))
}

fn check_error(error: &Error, write: bool, status: StatusCode) {
    let outcome = match status.as_u16() {
        // The body decides.
        200..300 if error.outcome == Some(Outcome::Applied) => Outcome::Applied,
        200..300 | 408 | 500.. => Outcome::Unknown,
        _ => Outcome::Rejected,
    };
    assert_eq!(error.outcome, write.then_some(outcome), "{error}");
    assert_eq!(error.status, Some(status.as_u16()));
    assert_eq!(error.attempts.len(), 1);
}

/// All that an error shows.
fn shown(error: &Error, heard: &Heard) -> Vec<String> {
    let own = [&error.service_message, &error.body, &error.request_id]
        .into_iter()
        .flatten()
        .cloned();
    let attempts = error.attempts.iter().map(|attempt| attempt.error.clone());
    let notes = heard.0.lock().expect("no panic while it was held").clone();
    own.chain(attempts)
        .chain(notes)
        .chain([error.to_string(), format!("{error:?}")])
        .collect()
}

fn check_text(text: &str) {
    assert!(!says_secret(text), "a secret is shown: {text}");
    assert!(
        !text.contains(|c: char| c.is_control() || matches!(c, '\u{202e}' | '\u{feff}')),
        "{text:?}"
    );
    // All of it together, as `Debug` writes it, is longer.
    assert!(
        text.chars().count() < MOST_SHOWN || text.starts_with("Error("),
        "{text}"
    );
}

/// Whether `text` shows more of a secret than may be known.
fn says_secret(text: &str) -> bool {
    const PIECE: usize = 8;
    KEY.as_bytes()
        .windows(PIECE)
        .any(|piece| text.contains(std::str::from_utf8(piece).unwrap_or(KEY)))
        || WORDS.iter().any(|word| text.contains(word))
}

/// What a text that was read is read as when it was written again.
fn checkpoint(text: &str) -> &'static str {
    match Checkpoint::parse(text, BASE_URL) {
        Ok(place) => {
            assert_eq!(
                Checkpoint::parse(&place.text(), BASE_URL).expect("its own text"),
                place
            );
            "checkpoint"
        }
        Err(error) => {
            check_text(&error.to_string());
            "no checkpoint"
        }
    }
}

fn date(text: &str) -> &'static str {
    let instant = parse_instant(text);
    if let Err(error) = &instant {
        check_text(error);
    }
    match Moment::parse("date_from", text) {
        Ok(moment) => {
            let again = Moment::parse("date_from", moment.as_str()).expect("its own text");
            assert_eq!(again, moment);
            assert!(
                moment.as_str().bytes().all(|b| b.is_ascii_graphic()),
                "{moment:?}"
            );
            "date"
        }
        Err(error) => {
            check_text(&error.to_string());
            if instant.is_ok() {
                "instant"
            } else {
                "no date"
            }
        }
    }
}

/// `text` with the secrets in it; the prompt only where it was `asked`.
fn fill(text: &[u8], asked: bool) -> Vec<u8> {
    let quoted = serde_json::to_string(PROMPT).unwrap_or_default();
    let marks: [(&[u8], &str); 3] = [
        (b"<KEY>", KEY),
        (b"<PROMPT>", PROMPT),
        (b"<QUOTED>", quoted.trim_matches('"')),
    ];
    let marks = if asked { &marks[..] } else { &marks[..1] };
    let mut filled = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        if let Some((mark, secret)) = marks.iter().find(|(mark, _)| rest.starts_with(mark)) {
            filled.extend_from_slice(secret.as_bytes());
            rest = rest.get(mark.len()..).unwrap_or_default();
        } else {
            filled.push(*first);
            rest = after;
        }
    }
    filled
}

fn segment(id: &str) -> Option<Segment> {
    Segment::parse("id", id).ok()
}

/// A client to which everything is answered in the same way.
fn client(answer: Answer) -> Client {
    let options = Options {
        api_key: Some(KEY.into()),
        base_url: Some(BASE_URL.to_owned()),
        max_retries: 0,
        max_response_bytes: 64 * 1024,
        ..Options::default()
    };
    let settings = options.validate(|_| None).expect("good settings");
    Client::new(
        settings,
        Arc::new(answer),
        Arc::<Stats>::default(),
        || 0.0,
        None,
    )
}

/// Runs what never waits for long.
fn now<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Transport for Answer {
    fn send(&self, _: Outgoing, _: Departure) -> BoxFuture<'_, Result<Incoming, SendError>> {
        let (first, second) = self.body.split_at(self.body.len() / 2);
        let body = Pieces([second, first].map(Bytes::copy_from_slice).into());
        let (status, headers) = (self.status, self.headers.clone());
        std::future::ready(Ok(Incoming {
            status,
            headers,
            body: Box::new(body),
        }))
        .boxed()
    }
}

/// The last comes first.
struct Pieces(Vec<Bytes>);

impl Body for Pieces {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, String>> {
        std::future::ready(Ok(self.0.pop())).boxed()
    }
}

/// The log.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn note(&self, note: Note) {
        self.0
            .lock()
            .expect("no panic while it was held")
            .push(note.text);
    }
}

impl ExportObserver for Heard {}

impl JobObserver for Heard {}
