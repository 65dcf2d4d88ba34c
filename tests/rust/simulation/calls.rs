//! Single calls: reads, jobs and their ends; and what every call promises, checked against what was
//! sent for it.

use docplatform::client::throttle::Lane;
use docplatform::client::{Answer, Call, Client};
use docplatform::config::url::{Segment, Template};
use docplatform::error::{Error, Kind, Outcome};
use docplatform::job::wait::{Target, WaitOptions, wait};
use docplatform::job::{self, Prompt};
use http::Method;

use crate::budget;
use crate::process::{Done, Process};
use crate::world::{End, Life, Sent, World, in_short, lines};

/// A pause that would end this close to the deadline is not begun; and what a call may take beyond
/// it.
const LAST_CALL: u64 = 1_000;
/// A poll that is under way when the time is up gets so long.
const LAST_POLL: u64 = 5_000;
/// Retries that the quota of a client is sure to allow.
const SURE_RETRIES: usize = 30;

pub(crate) fn segment(id: &str) -> Segment {
    Segment::parse("id", id).unwrap()
}

/// The policy for a failed attempt: the shortest pause before the next one, in milliseconds;
/// `None`: it is the last.
pub(crate) fn retry(
    end: End,
    write: bool,
    number: u32,
    jitter: f64,
    max_retry_after: u64,
) -> Option<u64> {
    let (base, told) = match (end, write) {
        (End::Unsent { fatal: false } | End::GivenUp, _)
        | (End::Broke | End::TimedOut | End::BodyLost, false) => (500_u64, None),
        (End::Status(408 | 500 | 502 | 504 | 520..=524, told), false) => (500, told),
        (End::Status(429 | 503, told), false) | (End::Status(429, told @ Some(_)), true) => {
            (2_000, told)
        }
        _ => return None,
    };
    if told.is_some_and(|told| told > max_retry_after) {
        return None;
    }
    let backoff = (base << (number - 1).min(10)).min(20_000) as f64 * jitter;
    let told = told.unwrap_or(0) as f64 * 1_000.0;
    let spread = (told / 10.0).min(5_000.0) * jitter;
    Some(backoff.max(if told > 0.0 { told + spread } else { 0.0 }) as u64)
}

/// How long a call may take, in milliseconds.
pub(crate) fn longest(process: &Process) -> u64 {
    process.world().scenario.settings.deadline * 1_000 + LAST_CALL
}

/// Holds one call against what was sent for it. `budget`: it may have waited for that, too.
pub(crate) fn check(
    process: &Process,
    tag: u64,
    error: Option<&Error>,
    took: u64,
    longest: u64,
    budget: bool,
) {
    let world = process.world();
    let settings = &world.scenario.settings;
    let sent = world.of_call(tag);
    let jitter = crate::process::jitter(&world.scenario, process.life.process);
    let bad = |what: String| {
        let error = error.map(in_short).unwrap_or_default();
        process.violation(format!("{what}: call {tag}{error}{}", lines(&sent)));
    };
    let write = sent.iter().any(|sent| sent.write);
    if !budget && took > longest {
        bad(format!("took {took} ms"));
    }
    if error.is_some_and(|error| error.kind == Kind::Budget) {
        budget::check_spent(&process.life, tag);
    }
    let Some(error) = error else {
        if sent.last().is_none_or(|last| last.end != End::Good) {
            bad("succeeded without a good answer".to_owned());
        }
        return;
    };
    let Some(last) = sent.last() else {
        if error
            .outcome
            .is_some_and(|outcome| outcome != Outcome::NotSent)
        {
            bad("nothing was sent".to_owned());
        }
        return;
    };
    if last.end == End::Good {
        bad("failed with a good answer".to_owned());
    }
    // Whether it gave up with a reason.
    let number = sent.len() as u32;
    let again = retry(last.end, write, number, jitter, settings.max_retry_after);
    let retries = world
        .state()
        .sent
        .iter()
        .filter(|sent| sent.process == last.process)
        .count();
    if let Some(pause) = again
        && number <= settings.max_retries
        && retries < SURE_RETRIES
        && !budget
        && !matches!(
            error.kind,
            Kind::HeldBack | Kind::Store | Kind::Configuration
        )
        && took + pause + LAST_CALL < settings.deadline * 1_000
    {
        bad(format!("gave up after {:?}", last.end));
    }
    if write {
        check_write(process, tag, error);
    }
}

/// Whether an error says of a write what is true of it.
fn check_write(process: &Process, tag: u64, error: &Error) {
    let sent = process.world().of_call(tag);
    let effects = sent.iter().filter(|sent| sent.effect.is_some()).count();
    let last = sent.last().unwrap();
    let fits = match error.outcome {
        Some(Outcome::NotSent) => {
            effects == 0 && (last.left.is_none() || matches!(last.end, End::Status(429, _)))
        }
        Some(Outcome::Rejected) => {
            effects == 0
                && matches!(last.end, End::Status(300..500, _))
                && !matches!(last.end, End::Status(408, _))
        }
        Some(Outcome::Unknown) => {
            effects <= 1
                && matches!(
                    last.end,
                    End::Broke
                        | End::TimedOut
                        | End::BodyLost
                        | End::Unusable
                        | End::Status(101 | 408 | 500.., _)
                )
        }
        // No answer is that of a job, and unreadable.
        Some(Outcome::Applied) | None => false,
    };
    if !fits {
        process.violation(format!(
            "the outcome is wrong: {effects} effects{}{}",
            in_short(error),
            lines(&sent)
        ));
    }
}

/// Checks that a client counted the requests that it sent.
pub(crate) fn check_counts(life: &Life, client: &Client) {
    let left = {
        let state = life.world.state();
        let is_its = |sent: &&crate::world::Sent| {
            sent.process == life.process && sent.life == life.number && sent.left.is_some()
        };
        state.sent.iter().filter(is_its).count() as u64
    };
    let counted = client.stats().snapshot().requests;
    if counted != left {
        life.world
            .violation(format!("{left} requests left, {counted} were counted"));
    }
}

/// Some reads at one time.
pub(crate) async fn reads(process: &Process, count: u64, analytics: bool) -> Done {
    let (path, lane) = match analytics {
        true => (
            "/v1/analytics/alpha/assistant/caller-stats",
            Lane::Analytics,
        ),
        false => ("/v2/thing", Lane::Jobs),
    };
    let call = Call {
        method: Method::GET,
        path: Template::own(path.to_owned()),
        project: None,
        id: None,
        query: Vec::new(),
        body: None,
        lane,
        is_other: false,
        cap: None,
        prompt: None,
        journal: None,
        flight: None,
    };
    let budget = analytics && process.client.budget().is_some();
    let reads = (0..count).map(|_| {
        let (ear, call) = (process.ear(), call.clone());
        async move {
            let begun = process.world().now();
            let decode = |answer: &Answer| match &answer.body[..] {
                b"{}" => Ok(()),
                _ => Err("not what was asked for".to_owned()),
            };
            let read = process.client.call(call, &*ear, decode).await;
            check(
                process,
                ear.tag,
                read.as_ref().err(),
                process.world().now() - begun,
                longest(process),
                budget,
            );
        }
    });
    futures_util::future::join_all(reads).await;
    Done::Yes
}

/// Creates a job, perhaps writes to it, and waits for its end.
pub(crate) async fn job(process: &Process, message: bool, timeout: u64, project: &str) -> Done {
    let (world, ear) = (process.world(), process.ear());
    let prompt = |text: String| Prompt::parse(text).unwrap();
    let (begun, project) = (world.now(), segment(project));
    let plain = prompt(format!("plain {}", ear.tag));
    let created =
        job::once::write(&process.client, project.clone(), None, plain, None, &*ear).await;
    let budget = world.scenario.settings.jobs.is_some();
    check(
        process,
        ear.tag,
        created.as_ref().err(),
        world.now() - begun,
        longest(process),
        budget,
    );
    let Ok(mut job) = created else {
        return Done::Yes;
    };
    if message {
        let (ear, begun) = (process.ear(), world.now());
        let (to, more) = (Some(job.id.clone()), prompt("more".to_owned()));
        let written = job::once::write(&process.client, project, to, more, None, &*ear).await;
        check(
            process,
            ear.tag,
            written.as_ref().err(),
            world.now() - begun,
            longest(process),
            false,
        );
        let Ok(written) = written else {
            return Done::Yes;
        };
        job = written;
    }
    let settle = if message { 15.0 } else { 0.0 };
    let options = WaitOptions {
        timeout: Some(timeout as f64),
        poll_interval: None,
        max_poll_interval: None,
        check: false,
        also_final: Vec::new(),
        settle,
    };
    let (id, begun) = (job.id.as_str().to_owned(), world.now());
    // A status that is there at once after a message may be that of before.
    let settled = begun + (settle * 1_000.0) as u64;
    let ear = process.ear().of_polls();
    let target = Target::just_written(job, prompt("any".to_owned()));
    let ended = wait(&process.client, target, &options.validate().unwrap(), &ear).await;
    let (took, sent) = (world.now() - begun, world.of_call(ear.tag));
    let bad = |what: &str| {
        let how = match &ended {
            Ok(job) => format!("\n  {} {}", job.id.as_str(), job.is_final()),
            Err(error) => in_short(error),
        };
        process.violation(format!(
            "wait {}: {what} after {took} ms{how}{}",
            ear.tag,
            lines(&sent)
        ));
    };
    if took > timeout * 1_000 + LAST_POLL + LAST_CALL {
        bad("beyond its timeout");
    }
    match &ended {
        Ok(found) => {
            let is_over = world
                .state()
                .service
                .jobs
                .iter()
                .any(|job| job.id == id && job.is_over(world.now()));
            if found.id.as_str() != id || !found.is_final() || !is_over {
                bad("not over");
            }
        }
        Err(error) if error.kind == Kind::WaitTimeout && took < timeout * 1_000 => bad("too early"),
        Err(_) if is_seen_final(world, &sent, settled) => bad("a final job is waited for"),
        Err(error) if error.outcome != Some(Outcome::Applied) => bad("forgets what was written"),
        Err(_) => {}
    }
    Done::Yes
}

/// Whether a poll that began after that time has seen the end of its job.
fn is_seen_final(world: &World, polls: &[Sent], settled: u64) -> bool {
    let state = world.state();
    let is_over = |poll: &&Sent| {
        let job = state
            .service
            .jobs
            .iter()
            .find(|job| poll.url.ends_with(&format!("/{}", job.id)));
        poll.end == End::Good
            && job.is_some_and(|job| poll.left.is_some_and(|left| job.is_over(left)))
    };
    polls
        .iter()
        .filter(|poll| poll.begun >= settled)
        .any(|poll| is_over(&poll))
}
