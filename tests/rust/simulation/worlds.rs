//! Worlds with a subject. Each subject is drawn from dice of its own, so that a new one leaves all
//! other worlds as they were.

use docplatform::listing::endpoint::PagedBy;

use crate::dice::Dice;
use crate::scenario::{
    Disk, Export, Habits, OPEN_DAY, OPEN_DAY_SETTLES, Op, PROJECTS, Scenario, What,
};

impl Scenario {
    /// In some worlds with a store, several calls of a process and several processes want the same
    /// at the same time.
    pub(crate) fn share(&mut self, dice: &mut Dice) {
        self.habits.lively = self.habits.moving > 0 && dice.chance(40);
        // A call that waits for a budget looks into the store every half minute, for hours.
        if self.settings.store && self.settings.budget.is_some() {
            self.habits.limit = self.habits.limit.map(|limit| limit + 6);
            let wider = |(most, reserve)| (most + 4, reserve);
            self.settings.budget = self.settings.budget.map(wider);
            for op in self.processes.iter_mut().flatten() {
                if let Op::Export(export) = op {
                    export.page_size = export.page_size.max(5);
                }
            }
        }
        if !self.settings.store || !dice.chance(20) {
            return;
        }
        if dice.chance(50) {
            (self.fault_chance, self.habits.cap) = (self.fault_chance.min(5), None);
            (self.habits.stands, self.habits.filters) = (false, false);
        }
        let only = What {
            endpoint: dice.pick(&[0, 0, 1, 2, 3, 5]),
            project: 0,
            day: 1,
        };
        let size = dice.pick(&[2, 3, 5, 8]);
        self.habits.limit = None;
        let more = dice.pick(&[0, 40, 40, 40]);
        let wider = |(most, reserve)| (most + more, reserve);
        self.settings.budget = self.settings.budget.map(wider);
        for op in self.processes.iter_mut().flatten() {
            let Op::Export(export) = op else {
                continue;
            };
            export.calls = dice.pick(&[1, 2, 2, 3, 8]);
            if dice.chance(70) {
                (export.what, export.page_size, export.days) = (only, size, 1);
                export.any_path = false;
            }
            // A reader that stops goes on at a place of its own.
            if export.calls > 1 {
                export.stop_every = None;
            }
        }
    }

    /// In some worlds several calls and processes fill one store at once, and then do it again.
    pub(crate) fn fill(&mut self, dice: &mut Dice) {
        if !dice.chance(6) {
            return;
        }
        self.fault_chance = self.fault_chance.min(3);
        self.jumps.clear();
        self.deletions.clear();
        self.habits = Habits {
            latency: dice.pick(&[0, 50, 500]),
            ..Habits::default()
        };
        self.disk = Disk {
            latency: dice.pick(&[0, 5, 500, 500]),
            failing: 0,
        };
        self.settings.store = true;
        self.settings.budget = None;
        let (page_size, endpoint) = (dice.pick(&[3, 5, 8]), dice.pick(&[0, 0, 2, 3]));
        let mut fill = || {
            let mut ops: Vec<_> = (0..=dice.below(2))
                .map(|_| {
                    Op::Export(Export {
                        what: What {
                            endpoint,
                            project: 0,
                            day: 1 + dice.below(3),
                        },
                        page_size,
                        calls: dice.pick(&[1, 2, 4]),
                        spread: true,
                        prefetch: dice.below(2) as u32,
                        ..Export::default()
                    })
                })
                .collect();
            ops.push(Op::Pause { seconds: 100 });
            ops.extend_from_within(..ops.len() - 1);
            ops
        };
        self.processes = (0..2 + self.seed % 2).map(|_| fill()).collect();
        self.kills.retain(|kill| kill.process < 2);
    }

    /// In some worlds the open day becomes final while they last.
    pub(crate) fn let_a_day_settle(&mut self, dice: &mut Dice) {
        if !dice.chance(12) {
            return;
        }
        (self.habits.settling, self.habits.moving) = (true, 0);
        (self.habits.stands, self.habits.lively) = (false, false);
        let left = dice.pick(&[3_000, 100_000, 100_000, 4_000_000, 120_000_000]);
        self.start = OPEN_DAY_SETTLES - left;
        self.jumps.clear();
        let only = dice.below(2) as usize;
        for ops in &mut self.processes {
            for op in ops.iter_mut() {
                match op {
                    Op::Export(Export {
                        what, days, spread, ..
                    }) => {
                        let is_by_offset = what.endpoint < 2;
                        (what.day, *days, *spread) = (OPEN_DAY, 1, false);
                        what.endpoint = if is_by_offset { only } else { what.endpoint };
                        what.project = 0;
                    }
                    Op::Totals(what) => {
                        *what = What {
                            endpoint: only,
                            project: 0,
                            day: OPEN_DAY,
                        };
                    }
                    Op::Sync { day, days, .. } => (*day, *days) = (OPEN_DAY, 1),
                    Op::Pause { seconds } => *seconds = left / 1_000,
                    _ => {}
                }
            }
            // The same is read again.
            let again: Vec<_> = ops.iter().take(2).copied().collect();
            ops.push(Op::Pause {
                seconds: dice.pick(&[1, left / 2_000, left / 1_250, left / 1_000, left / 500]),
            });
            ops.extend(again);
            let last = ops.last().copied();
            ops.extend(last);
        }
    }

    /// In some worlds there are jobs in several projects, and processes at another address that use
    /// the same store.
    pub(crate) fn spread(&mut self, dice: &mut Dice) {
        if self.settings.jobs.is_some() {
            for op in self.processes.iter_mut().flatten() {
                if let Op::Job { project, .. } = op {
                    *project = dice.below(2) as usize;
                }
            }
        }
        self.elsewhere = vec![false; self.processes.len()];
        if self.processes.len() < 2 || !dice.chance(15) {
            return;
        }
        for (ops, elsewhere) in self.processes.iter_mut().zip(&mut self.elsewhere).skip(1) {
            *elsewhere = dice.chance(70);
            if !*elsewhere {
                continue;
            }
            for op in ops {
                match op {
                    Op::Export(Export { what, .. }) | Op::Totals(what) => {
                        what.project += PROJECTS.len();
                    }
                    // A name is free at another address.
                    Op::Once { .. } => *op = Op::Nothing,
                    _ => {}
                }
            }
        }
    }

    /// Adds things that few worlds have.
    pub(crate) fn add_rarities(&mut self, dice: &mut Dice) {
        self.settings.jobs = dice.chance(8).then(|| 1 + dice.below(3));
        if self.settings.jobs.is_some() {
            // Of such a budget, worlds of jobs tell the most.
            for op in self.processes.iter_mut().flatten() {
                if matches!(op, Op::Reads { .. } | Op::Pause { .. } | Op::Job { .. }) {
                    *op = Op::Job {
                        message: true,
                        timeout: dice.pick(&[0, 10, 100]),
                        project: 0,
                    };
                }
            }
        }
        if dice.chance(8) {
            self.deletions = (0..dice.pick(&[1, 1, 3]))
                .map(|_| 2 + dice.below(60))
                .collect();
        }
    }

    /// Some read in several slices, or any path: also drawn apart.
    pub(crate) fn read_otherwise(&mut self, dice: &mut Dice) {
        let (in_slices, any_path) = (dice.chance(12), dice.chance(8));
        for op in self.processes.iter_mut().flatten() {
            if let Op::Export(Export {
                what,
                days,
                any_path: any,
                stop_every,
                ..
            }) = op
            {
                let paged_by = what.endpoint().paged_by;
                // A page that comes again is known within a part; its rows may rightly do so.
                let comes_again = self.habits.stands && stop_every.is_some();
                *any = any_path && paged_by != PagedBy::Nothing && !comes_again;
                if in_slices && !*any && paged_by != PagedBy::Offset && what.day != OPEN_DAY {
                    *days = 2 + dice.below(2);
                }
            }
        }
    }

    /// In every third world all is about one thing: what one process leaves is what the next one
    /// finds.
    pub(crate) fn bring_together(&mut self, dice: &mut Dice) {
        self.habits.quiet = dice.chance(30);
        let is_crowd = dice.chance(2);
        let is_slow = self.settings.store && self.settings.budget.is_some();
        let together = dice.chance(35);
        let (endpoint, only) = (dice.pick(&[0, 0, 0, 2]), 1 + dice.below(2));
        for op in self.processes.iter_mut().flatten() {
            match op {
                // More than a client has in flight at one time.
                Op::Reads { count, analytics } if is_crowd && !(*analytics && is_slow) => {
                    *count = 80;
                }
                // A call that waits for a budget looks into its ledger every half minute, for
                // hours.
                Op::Reads {
                    count,
                    analytics: true,
                } if is_slow => *count = (*count).min(5),
                Op::Export(Export { what, .. }) | Op::Totals(what) if together => {
                    *what = What {
                        endpoint,
                        project: 0,
                        day: what.day.min(only),
                    };
                }
                Op::Sync {
                    endpoint: of, day, ..
                } if together => (*of, *day) = (0, 1),
                Op::Once { name, .. } if together => *name = 0,
                _ => {}
            }
            if let Op::Totals(what) = op {
                what.endpoint = what.endpoint.min(1);
            }
        }
    }
}
