//! Creations under a name: one job for all callers, however often they ask, and whatever breaks.

use docplatform::error::{Kind, Outcome};
use docplatform::job::once::{OnceName, resolve, write};
use docplatform::job::{NamedJob, Prompt};

use crate::calls::{check, longest, segment};
use crate::process::{Done, Process};
use crate::world::{End, World, in_short, lines};

fn text(name: u64, prompt: u64) -> String {
    format!("once {name}, {prompt}")
}

/// The jobs that were made under a name, with what they are to do.
fn made(world: &World, name: u64) -> Vec<(String, String)> {
    let begin = format!("once {name},");
    let state = world.state();
    let its = state
        .service
        .jobs
        .iter()
        .filter(|job| job.prompt.starts_with(&begin));
    its.map(|job| (job.id.clone(), job.prompt.clone()))
        .collect()
}

pub(crate) async fn once(process: &Process, name: u64, prompt: u64) -> Done {
    let (world, ear) = (process.world(), process.ear());
    let named = || OnceName::parse(format!("name-{name}")).unwrap();
    let project = segment("alpha");
    let creating = world.names[name as usize].read().await;
    world.state().prompts[name as usize][prompt as usize] = true;
    let begun = world.now();
    let wanted = Prompt::parse(text(name, prompt)).unwrap();
    let result = write(
        &process.client,
        project.clone(),
        None,
        wanted,
        Some(named()),
        &*ear,
    )
    .await;
    drop(creating);
    let (sent, made) = (world.of_call(ear.tag), made(world, name));
    let bad = |what: &str| {
        let error = result.as_ref().err().map(in_short).unwrap_or_default();
        process.violation(format!(
            "{what}: name {name}, prompt {prompt}{error}\n  made {made:?}{}",
            lines(&sent)
        ));
    };
    // A store that is deleted takes its names with it.
    if made.len() > 1 + world.scenario.deletions.len() {
        bad("made twice");
    }
    let scenario = &world.scenario;
    let is_calm = scenario.kills.is_empty() && scenario.disk_is_good();
    if !sent.is_empty() {
        let budget = scenario.settings.jobs.is_some();
        // The wait for another's creation, the call, and what is written after it.
        let longest = 2 * longest(process) + if is_calm { 0 } else { 200_000 };
        check(
            process,
            ear.tag,
            result.as_ref().err(),
            world.now() - begun,
            longest,
            budget,
        );
    }
    match &result {
        Ok(job) => {
            let is_it = made
                .iter()
                .any(|(id, of)| id == job.id.as_str() && *of == text(name, prompt));
            // In the next store, the name that a user resolved may be that of another prompt.
            if !is_it && !world.state().resolved_again[name as usize] {
                bad("another job");
            }
            // Also if the process ended at this moment.
            let disk = &scenario.disk;
            let never_fails =
                disk.failing == 0 && disk.latency < 1_000 && scenario.deletions.is_empty();
            if never_fails && !is_noted(world, name, job.id.as_str()) {
                bad("its job is not on the disk");
            }
            Done::Yes
        }
        Err(error) if error.kind == Kind::Argument => {
            if !sent.is_empty() || !world.state().prompts[name as usize][1 - prompt as usize] {
                bad("no other prompt was used");
            }
            Done::Yes
        }
        Err(error) if matches!(error.outcome, Some(Outcome::Unknown | Outcome::Applied)) => {
            if is_calm
                && !world
                    .state()
                    .sent
                    .iter()
                    .any(|sent| sent.write && is_doubtful(sent.end))
            {
                bad("nobody doubted");
            }
            // The user looks, while nobody creates, and says what is there.
            let _alone = world.names[name as usize].write().await;
            let mut found = self::made(world, name)
                .into_iter()
                .filter(|(_, of)| *of == text(name, prompt));
            let job = found.next().map(|(id, _)| NamedJob {
                id: segment(&id),
                last: None,
            });
            world.state().resolved_again[name as usize] |=
                job.is_some() && !scenario.deletions.is_empty();
            let resolved = resolve(&process.client, &project, named(), job).await;
            world.note(|| {
                format!(
                    "{name} is resolved: {:?}",
                    resolved.as_ref().err().map(|error| error.kind)
                )
            });
            Done::Again(5)
        }
        Err(error) => {
            if is_calm && matches!(error.kind, Kind::Store | Kind::Configuration) {
                bad("the store is good");
            }
            if made.iter().any(|(_, of)| *of == text(name, prompt))
                && is_calm
                && sent.iter().any(|sent| sent.effect.is_some())
            {
                bad("it was made");
            }
            Done::Again(60)
        }
    }
}

/// Whether the store has this job for a name.
fn is_noted(world: &World, name: u64, job: &str) -> bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM once WHERE name = ?1 AND job = ?2)";
    let its = (format!("name-{name}"), job);
    world.value(sql, its)
}

/// Whether the outcome of a request is unknown.
pub(crate) fn is_doubtful(end: End) -> bool {
    matches!(
        end,
        End::Open
            | End::TimedOut
            | End::Broke
            | End::BodyLost
            | End::Unusable
            | End::Status(101 | 408 | 500.., _)
    )
}
