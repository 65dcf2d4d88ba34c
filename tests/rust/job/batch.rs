//! Many jobs at a time, and an interruption.

use std::sync::atomic::{AtomicBool, Ordering};

use docplatform::client::observer::{Note, Observer};
use docplatform::job::batch::{self, Batch, BatchObserver, Task};
use tokio::time::sleep;

use crate::helpers::support::{Script, client, millis, prompt, reply, secs, segment};
use crate::job::waits::how;

/// A caller that may be interrupted.
#[derive(Default)]
struct Interrupted(AtomicBool);

impl Observer for Interrupted {
    fn note(&self, _: Note) {}

    fn leaves(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl BatchObserver for Interrupted {}

#[tokio::test(start_paused = true)]
async fn after_an_interruption_no_further_job_is_begun() {
    let script = Script::each(|_| reply(422, "{}").after(secs(1)).into());
    let (client, batch, caller) = (client(&script), Batch::new(9), Interrupted::default());
    let task = |_| Task {
        prompt: prompt(),
        once: None,
    };
    let (tasks, project, how) = ((0..9).map(task).collect(), segment("demo"), how());
    let limits = (2, &how);
    let run = batch::run(&client, &client, &project, tasks, limits, &batch, &caller);
    let interrupt = async {
        sleep(millis(500)).await;
        assert!(batch.is_creating());
        caller.0.store(true, Ordering::Relaxed);
    };
    tokio::join!(run, interrupt);
    assert!(!batch.is_creating());
    assert_eq!(script.count(), 2);
    let begun: Vec<_> = batch.rest().into_iter().map(|(at, _)| at).collect();
    assert_eq!(begun, [0, 1]);
}
