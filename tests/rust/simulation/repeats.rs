//! Repeated rows: the client has to drop the identical ones, keep the others, and report both.

use std::collections::BTreeMap;

use docplatform::export::findings::Finding;
use docplatform::export::pager::{CheckedPage, WINDOW};
use docplatform::listing::endpoint::PagedBy;

use crate::exports::Part;
use crate::scenario::{Export, Habits};

/// The rows of an export that began at the beginning, page by page.
pub(crate) struct Repeats {
    /// The counts that came with each rank, and the last page that brought each of them.
    seen: BTreeMap<u64, BTreeMap<u64, usize>>,
    pages: usize,
    window: usize,
    /// Whether identical and differing rows were reported.
    is_warned: [bool; 2],
}

impl Repeats {
    pub(crate) fn new(plan: Export) -> Self {
        Self {
            seen: BTreeMap::new(),
            pages: 0,
            window: if plan.remember_all {
                usize::MAX
            } else {
                WINDOW
            },
            is_warned: [false; 2],
        }
    }

    /// Holds a page that the client handed out against the one that came.
    pub(crate) fn check(&mut self, part: &Part<'_>, turn: &CheckedPage, came: &[(u64, u64)]) {
        let Habits {
            cap,
            filters,
            stands,
            ..
        } = &part.process.world().scenario.habits;
        let (plan, endpoint) = (part.plan, part.plan.what.endpoint());
        let is_odd = cap.is_some() || *filters || *stands || plan.strict || plan.any_path;
        let is_keyed = endpoint.key.is_some() && endpoint.paged_by == PagedBy::Offset;
        if is_odd || !is_keyed || plan.prefetch > 1 || plan.days > 1 || plan.calls > 1 {
            return;
        }
        // From a store come others, too.
        let pages = part.pages();
        let Some(page) = pages.get(self.pages) else {
            return;
        };
        let (mut expected, mut identical, mut differing) = (Vec::new(), 0, 0);
        for row in &page.rows {
            let oldest = self.pages.saturating_sub(self.window);
            let known = self.seen.entry(row.0).or_default();
            known.retain(|_, page| *page >= oldest);
            let is_new = known.is_empty();
            let is_identical = known.insert(row.1, self.pages).is_some();
            identical += u64::from(is_identical);
            differing += u64::from(!is_new && !is_identical);
            expected.extend((!is_identical).then_some(*row));
        }
        self.pages += 1;
        let told = |is: fn(&Finding) -> Option<u64>| turn.findings.iter().find_map(is);
        let tells = [
            (
                identical,
                told(|found| match found {
                    Finding::Dropped(rows) => Some(*rows),
                    _ => None,
                }),
            ),
            (
                differing,
                told(|found| match found {
                    Finding::Differing(rows) => Some(*rows),
                    _ => None,
                }),
            ),
        ];
        for ((rows, told), is_warned) in tells.into_iter().zip(&mut self.is_warned) {
            // The client reports the first finding of a kind with its page, and adds up the later
            // ones.
            let is_due = rows > 0 && !*is_warned;
            *is_warned |= is_due;
            if told != is_due.then_some(rows) {
                part.process.violation(format!(
                    "{rows} rows came again, and {told:?} are reported\n  {plan:?}\n  {page:?}"
                ));
            }
        }
        if came != expected && plan.max_rows.is_none() {
            part.process.violation(format!(
                "rows came again, and others are handed out\n  {plan:?}\n  {came:?}\n  {expected:?}"
            ));
        }
    }
}
