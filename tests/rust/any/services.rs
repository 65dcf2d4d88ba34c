//! Any service whose data does not move: whatever its pages are like, and wherever an export is cut, each row comes once.

use std::sync::{Arc, Mutex};

use docplatform::error::Kind;
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::pager::Paging;
use proptest::prelude::*;

use super::cases;
use crate::helpers::site::{PLAIN, names, page, pager_at, row, start, start_json, turn};
use crate::helpers::support::{BASE_URL, Script, Step, query, reply};

/// A service's habits. Its table does not move.
#[derive(Debug, Clone)]
struct Service {
    /// How long pages are at most, whatever was asked for; one after the other.
    caps: Vec<u64>,
    /// How long pages are at least, but for the last.
    least: u64,
    /// Rows that it shows: pages are cut before the others are left out.
    shown: Vec<bool>,
}

/// Pages that are too long and have left rows out cannot be told from full ones.
fn any_service() -> impl Strategy<Value = Service> {
    let caps = || prop::collection::vec(prop_oneof![Just(u64::MAX), 1..15_u64], 1..5);
    let service = |(caps, least, shown)| Service { caps, least, shown };
    let whole = (0..60_usize).prop_map(|rows| vec![true; rows]);
    let some = prop::collection::vec(prop::bool::weighted(0.8), 0..60);
    prop_oneof![
        (caps(), 0..15_u64, whole).prop_map(service),
        (caps(), Just(0), some).prop_map(service),
    ]
}

/// What an answer is besides the rows: a fault for each bit of a pattern.
#[derive(Debug, Clone, Copy)]
struct Faults(u32);

impl Service {
    fn paths(&self) -> Vec<String> {
        let all = self.shown.iter().enumerate();
        all.filter(|(_, shown)| **shown)
            .map(|(number, _)| format!("/{number}"))
            .collect()
    }

    fn body(&self, count: usize, offset: u64, limit: u64) -> (String, Vec<u64>, bool) {
        let all = self.shown.len() as u64;
        let cap = self.caps[count % self.caps.len()];
        let end = offset
            .saturating_add(limit.min(cap).max(self.least))
            .min(all);
        let is_shown = |n: &u64| self.shown[usize::try_from(*n).unwrap()];
        let rows: Vec<u64> = (offset..end).filter(is_shown).collect();
        let texts: Vec<_> = rows.iter().map(|n| row(&format!("/{n}"), *n)).collect();
        (page(&texts, all, end < all), rows, end < all)
    }

    /// Serves it, with faults; and whether it ever broke the paging rule: no rows, or the same again, and more to come.
    fn serve(&self, faults: Faults) -> (Arc<Script>, Arc<Mutex<bool>>) {
        let (service, broke) = (self.clone(), Arc::new(Mutex::new(false)));
        let (seen, mut sent, mut count) = (Arc::clone(&broke), Vec::new(), 0);
        let script = Script::each(move |request| {
            count += 1;
            if faults.0 >> (count % 32) & 1 == 1 {
                return if count % 2 == 0 {
                    Step::Ambiguous
                } else {
                    reply(503, "").into()
                };
            }
            let number = |name| query(&request.url, name).unwrap();
            let (body, rows, more) = service.body(count, number("offset"), number("limit"));
            *seen.lock().unwrap() |= more && (rows.is_empty() || sent.contains(&rows));
            sent.push(rows);
            reply(200, body).into()
        });
        (script, broke)
    }
}

/// What an export that is cut again and again has handed out; and the error that ended it, if one did.
fn export(
    script: &Arc<Script>,
    begin: Checkpoint,
    paging: Paging,
    steps: &[usize],
) -> (Vec<String>, Option<Kind>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(async {
        let (mut place, mut paths) = (begin, Vec::new());
        let mut failures = 0;
        for step in steps.iter().cycle() {
            let mut pager = pager_at(script, place.clone(), paging);
            let mut left = *step;
            while left > 0 {
                let turn = match turn(&mut pager).await {
                    Ok(Some(turn)) => turn,
                    Ok(None) if place.done => return (paths, None),
                    Ok(None) => break,
                    // The next pager takes it up again.
                    Err(error) if error.transient && failures < 200 => {
                        failures += 1;
                        break;
                    }
                    Err(error) => return (paths, Some(error.kind)),
                };
                let handed = turn.rows.len().min(left);
                left = if turn.rows.is_empty() {
                    left
                } else {
                    left - handed
                };
                paths.extend_from_slice(&names(&turn.rows)[..handed]);
                assert!(
                    turn.findings.iter().all(|finding| !finding.is_change()),
                    "{:?}",
                    turn.findings
                );
                place =
                    Checkpoint::parse(&turn.position.checkpoint(handed).text(), BASE_URL).unwrap();
                assert_eq!(place.rows, paths.len() as u64);
            }
        }
        unreachable!("it goes on for ever")
    })
}

proptest! {
    #![proptest_config(cases(192))]

    /// Rows: E4, E10.
    #[test]
    fn each_row_comes_once_however_the_export_is_cut(
        service in any_service(),
        page_size in 1..14_u32,
        prefetch in 0..4_u32,
        steps in prop::collection::vec(1..40_usize, 1..6),
        max_rows in prop::option::of(1..30_u64),
        faults in prop_oneof![Just(0), any::<u32>(), any::<u32>().prop_map(|bits| bits & bits >> 7)].prop_map(Faults),
        visitors in any::<bool>(),
    ) {
        // Of rows of unknown shape, none is known again on a last page that left some out.
        let visitors = visitors || service.shown.contains(&false);
        let (script, broke) = service.serve(faults);
        let begin = if visitors { start(page_size) } else { start_json(page_size) };
        let (paths, error) = export(&script, begin, Paging { prefetch, max_rows, ..PLAIN }, &steps);
        let paths: Vec<_> = paths.iter().map(|name| path(name)).collect();
        let truth = service.paths();
        match error {
            None => prop_assert_eq!(paths, truth),
            Some(Kind::Pagination) => {
                prop_assert!(*broke.lock().unwrap(), "a service that keeps the rule was blamed");
                prop_assert_eq!(&paths[..], &truth[..paths.len()]);
            }
            Some(Kind::Status | Kind::Transport) => prop_assert_eq!(&paths[..], &truth[..paths.len()]),
            Some(other) => prop_assert!(false, "{:?}", other),
        }
    }

}

/// A row's path, also out of its whole text.
fn path(name: &str) -> String {
    let row: Result<serde_json::Value, _> = serde_json::from_str(name);
    row.ok()
        .and_then(|row| Some(row.get("path")?.as_str()?.to_owned()))
        .unwrap_or_else(|| name.to_owned())
}
