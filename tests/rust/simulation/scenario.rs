//! What a seed stands for: the service's habits, the faults, the disk, the settings, and what each process does.

use docplatform::listing::endpoint::{
    CONVERSATIONS, Endpoint, FEEDBACK, FEEDBACK_BY_PAGE, PagedBy, SEARCHES, VIEWS, VISITORS,
};

use crate::dice::Dice;
use crate::faults::Fault;

/// Of these projects everything is read.
pub(crate) const PROJECTS: [&str; 2] = ["alpha", "beta"];
/// The day that may still change; all others are days of January, which do not.
pub(crate) const OPEN_DAY: u64 = 40;

/// One run.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    /// Which faults there are, and how many of a hundred requests meet one.
    pub(crate) faults: Vec<Fault>,
    pub(crate) fault_chance: u64,
    pub(crate) habits: Habits,
    pub(crate) disk: Disk,
    pub(crate) settings: Settings,
    pub(crate) processes: Vec<Vec<Op>>,
    pub(crate) kills: Vec<Kill>,
    pub(crate) jumps: Vec<Jump>,
    /// Somebody deletes the store's file before the n-th work on it.
    pub(crate) deletions: Vec<u64>,
}

/// How the service answers where nothing fails.
#[derive(Debug, Clone, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "one each: a world has any of them"
)]
pub(crate) struct Habits {
    /// The longest page.
    pub(crate) cap: Option<u64>,
    /// Each page has a cap of its own.
    pub(crate) cap_moves: bool,
    /// Rows are left out of pages after these were cut.
    pub(crate) filters: bool,
    /// How many of a hundred pages come after a change of the data.
    pub(crate) moving: u64,
    /// It forgets where it was: pages and cursors come twice.
    pub(crate) stands: bool,
    /// The longest way of an answer, in milliseconds.
    pub(crate) latency: u64,
    /// How many analytics requests it grants in an hour.
    pub(crate) limit: Option<u64>,
    /// What a refusal for want of these says.
    pub(crate) limit_told: u64,
    /// How its cursors look.
    pub(crate) cursor_form: u64,
    /// Its totals do not show that the data changed.
    pub(crate) quiet: bool,
}

/// How the disk behaves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    /// The longest that a piece of work takes, in milliseconds.
    pub(crate) latency: u64,
    /// How many of a hundred pieces of work fail.
    pub(crate) failing: u64,
}

/// What all clients are set to.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) store: bool,
    pub(crate) budget: Option<(u64, u64)>,
    /// How many new jobs an hour may have.
    pub(crate) jobs: Option<u64>,
    pub(crate) stops: bool,
    pub(crate) max_retries: u32,
    pub(crate) deadline: u64,
    pub(crate) timeout: u64,
    pub(crate) max_retry_after: u64,
    /// What the clients' dice show, in halves.
    pub(crate) jitter: u64,
}

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct What {
    pub(crate) endpoint: usize,
    pub(crate) project: usize,
    pub(crate) day: u64,
}

pub(crate) const ENDPOINTS: [&Endpoint; 6] = [
    VISITORS,
    VIEWS,
    SEARCHES,
    FEEDBACK,
    CONVERSATIONS,
    FEEDBACK_BY_PAGE,
];

impl What {
    pub(crate) fn endpoint(self) -> &'static Endpoint {
        ENDPOINTS[self.endpoint]
    }
}

/// An export.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "one each: an export has any of them"
)]
pub(crate) struct Export {
    pub(crate) what: What,
    /// How many days it reads, each by itself.
    pub(crate) days: u64,
    /// Whether it reads any path, as if nothing were known of what that lists.
    pub(crate) any_path: bool,
    pub(crate) page_size: u32,
    pub(crate) offset: u64,
    pub(crate) max_rows: Option<u64>,
    pub(crate) prefetch: u32,
    pub(crate) strict: bool,
    pub(crate) remember_all: bool,
    pub(crate) refresh: bool,
    /// After this number of rows the reader stops, and resumes from its checkpoint.
    pub(crate) stop_every: Option<u64>,
    /// How long the reader looks at a page, in milliseconds.
    pub(crate) thinks: u64,
}

impl Export {
    /// What it lists, day by day.
    pub(crate) fn whats(self) -> impl Iterator<Item = What> {
        (self.what.day..)
            .take(self.days as usize)
            .map(move |day| What { day, ..self.what })
    }
}

/// What a process does, one after another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    /// It was cut out.
    Nothing,
    Export(Export),
    Totals(What),
    /// Some days of both projects.
    Sync {
        endpoint: usize,
        day: u64,
        days: u64,
        totals: bool,
    },
    Once {
        name: u64,
        prompt: u64,
    },
    /// A job, its end awaited, and perhaps a message to it.
    Job {
        message: bool,
        timeout: u64,
    },
    /// This number of reads at one time.
    Reads {
        count: u64,
        analytics: bool,
    },
    Pause {
        seconds: u64,
    },
}

/// A process dies at its n-th step out of the process: a request or work on the disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kill {
    pub(crate) process: usize,
    pub(crate) step: u64,
    /// Whether that step is done.
    pub(crate) after: bool,
}

/// Somebody sets the clock of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jump {
    pub(crate) at: u64,
    pub(crate) by: i64,
}

impl Scenario {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut dice = Dice::of(seed, &[1]);
        let dice = &mut dice;
        let count = dice.pick(&[1, 1, 2, 3]);
        let processes: Vec<Vec<Op>> = (0..count)
            .map(|_| (0..=dice.below(3)).map(|_| op(dice)).collect())
            .collect();
        let fault_chance = dice.pick(&[0, 0, 5, 15, 30, 60, 90]);
        let faults = Fault::ALL.into_iter().filter(|_| dice.chance(40)).collect();
        let habits = Habits {
            cap: dice.chance(30).then(|| 1 + dice.below(6)),
            cap_moves: dice.chance(20),
            filters: dice.chance(12),
            moving: dice.pick(&[0, 0, 0, 10, 40]),
            stands: dice.chance(6),
            latency: dice.pick(&[0, 1, 50, 2_000]),
            limit: dice.chance(15).then(|| 2 + dice.below(8)),
            limit_told: dice.below(4),
            cursor_form: dice.below(4),
            quiet: false,
        };
        let disk = Disk {
            latency: dice.pick(&[0, 0, 0, 5, 500, 20_000]),
            failing: dice.pick(&[0, 0, 0, 0, 5, 30]),
        };
        let per_hour = 3 + dice.below(12);
        let settings = Settings {
            store: dice.chance(70),
            budget: dice
                .chance(50)
                .then(|| (per_hour, dice.below(per_hour).min(dice.below(3)))),
            jobs: None,
            stops: dice.chance(20),
            max_retries: dice.pick(&[2, 2, 2, 0, 1, 5]),
            deadline: dice.pick(&[90, 90, 30, 5, 300]),
            timeout: dice.pick(&[30, 30, 5]),
            max_retry_after: dice.pick(&[60, 60, 10, 1000]),
            jitter: dice.below(3),
        };
        let kills = (0..dice.pick(&[0, 0, 1, 3]))
            .map(|_| Kill {
                process: dice.below(count) as usize,
                step: 1 + dice.below(40),
                after: dice.chance(50),
            })
            .collect();
        let jumps = (0..dice.pick(&[0, 0, 0, 0, 1, 2]))
            .map(|_| {
                let by = dice.pick(&[1_000, 60_000, 1_800_000, 3_600_000, 86_400_000, 864_000_000]);
                let by = if dice.chance(60) { -by } else { by };
                Jump {
                    at: dice.pick(&[10, 5_000, 60_000, 3_000_000]) + dice.below(5_000),
                    by,
                }
            })
            .collect();
        let deletions = Vec::new();
        let mut scenario = Self {
            seed,
            faults,
            fault_chance,
            habits,
            disk,
            settings,
            processes,
            kills,
            jumps,
            deletions,
        };
        scenario.bring_together(&mut Dice::of(seed, &[8]));
        scenario.add_rarities(&mut Dice::of(seed, &[9]));
        scenario.read_otherwise(&mut Dice::of(seed, &[11]));
        scenario
    }

    /// What few worlds have. It is drawn apart, so that all others are what they were before there was such a thing.
    fn add_rarities(&mut self, dice: &mut Dice) {
        self.settings.jobs = dice.chance(8).then(|| 1 + dice.below(3));
        if self.settings.jobs.is_some() {
            // Of such a budget, worlds of jobs tell the most.
            for op in self.processes.iter_mut().flatten() {
                if matches!(op, Op::Reads { .. } | Op::Pause { .. } | Op::Job { .. }) {
                    *op = Op::Job {
                        message: true,
                        timeout: dice.pick(&[0, 10, 100]),
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
    fn read_otherwise(&mut self, dice: &mut Dice) {
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

    /// In every third world all is about one thing: what one process leaves is what the next one finds.
    fn bring_together(&mut self, dice: &mut Dice) {
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
                // Who waits for a budget looks into its ledger every half minute, for hours.
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

    /// The same without some of its parts, by their numbers; what is left behaves as before.
    pub(crate) fn without(&self, cut: &[usize]) -> Self {
        let mut scenario = self.clone();
        let mut number = 0;
        let mut is_cut = || {
            number += 1;
            cut.contains(&(number - 1))
        };
        for op in scenario.processes.iter_mut().flatten() {
            if is_cut() {
                *op = Op::Nothing;
            }
        }
        scenario.kills.retain(|_| !is_cut());
        scenario.jumps.retain(|_| !is_cut());
        scenario.faults.retain(|_| !is_cut());
        let Habits {
            cap,
            cap_moves,
            filters,
            moving,
            stands,
            latency,
            limit,
            ..
        } = &mut scenario.habits;
        let Disk {
            latency: disk,
            failing,
        } = &mut scenario.disk;
        for flag in [cap_moves, filters, stands] {
            *flag &= !is_cut();
        }
        for chance in [moving, latency, disk, failing] {
            *chance *= u64::from(!is_cut());
        }
        for bound in [cap, limit] {
            *bound = bound.filter(|_| !is_cut());
        }
        scenario.settings.budget = scenario.settings.budget.filter(|_| !is_cut());
        scenario.settings.store &= !is_cut();
        scenario.settings.jobs = scenario.settings.jobs.filter(|_| !is_cut());
        scenario.deletions.retain(|_| !is_cut());
        scenario
    }

    /// How many parts it has.
    pub(crate) fn parts(&self) -> usize {
        let ops: usize = self.processes.iter().map(Vec::len).sum();
        ops + self.kills.len() + self.jumps.len() + self.faults.len() + self.deletions.len() + 12
    }

    /// Whether the pages of all who read it join: nobody fetches it again, and pages are cut at the same rows for all.
    pub(crate) fn pages_join(&self, listed: What) -> bool {
        let lists = |export: &Export| !export.any_path && export.whats().any(|what| what == listed);
        let again = |op: &Op| matches!(op, Op::Export(export) if export.refresh && lists(export));
        let reads = |op: &Op| match op {
            Op::Export(export) => lists(export),
            Op::Sync { endpoint, .. } => *endpoint == listed.endpoint,
            _ => false,
        };
        let readers = self
            .processes
            .iter()
            .filter(|ops| ops.iter().any(reads))
            .count();
        let cuts_move = self.habits.cap.is_some() && self.habits.cap_moves;
        !self.processes.iter().flatten().any(again) && (readers < 2 || !cuts_move)
    }

    /// Whether the time of day only ever went on.
    pub(crate) fn clock_is_right(&self) -> bool {
        self.jumps.is_empty()
    }

    /// Whether all that is written stays, and at once.
    pub(crate) fn disk_is_good(&self) -> bool {
        self.disk.latency == 0 && self.disk.failing == 0 && self.deletions.is_empty()
    }

    /// Whether all that was entered counts. To a clock that is set ahead, or back by days, requests in a file do not.
    pub(crate) fn ledger_holds(&self) -> bool {
        let back: i64 = self.jumps.iter().map(|jump| -jump.by).sum();
        let only_back = self.jumps.iter().all(|jump| jump.by < 0) && back <= 86_400_000;
        !self.settings.store || only_back && self.deletions.is_empty()
    }
}

fn what(dice: &mut Dice) -> What {
    What {
        endpoint: dice.pick(&[0, 0, 0, 1, 2, 2, 3, 4, 5]),
        project: dice.below(2) as usize,
        day: if dice.chance(15) {
            OPEN_DAY
        } else {
            1 + dice.below(2)
        },
    }
}

fn op(dice: &mut Dice) -> Op {
    match dice.below(100) {
        0..45 => Op::Export(Export {
            what: what(dice),
            days: 1,
            any_path: false,
            page_size: dice.pick(&[1, 2, 3, 5, 8, 13, 100]),
            offset: if dice.chance(15) { dice.below(20) } else { 0 },
            max_rows: dice.chance(25).then(|| dice.below(30)),
            prefetch: dice.pick(&[0, 1, 1, 2, 4]),
            strict: dice.chance(10),
            remember_all: dice.chance(50),
            refresh: dice.chance(10),
            stop_every: dice.chance(40).then(|| 1 + dice.below(12)),
            thinks: dice.pick(&[0, 0, 10, 5_000]),
        }),
        45..50 => Op::Totals(What {
            endpoint: dice.below(2) as usize,
            ..what(dice)
        }),
        50..60 => Op::Sync {
            endpoint: dice.below(2) as usize,
            day: 1 + dice.below(2),
            days: 1 + dice.below(3),
            totals: dice.chance(40),
        },
        60..75 => Op::Once {
            name: dice.below(3),
            prompt: u64::from(dice.chance(10)),
        },
        75..82 => Op::Job {
            message: dice.chance(40),
            timeout: dice.pick(&[0, 10, 100, 1_800]),
        },
        82..95 => Op::Reads {
            count: dice.pick(&[1, 1, 2, 4, 30]),
            analytics: dice.chance(60),
        },
        _ => Op::Pause {
            seconds: dice.pick(&[1, 100, 4_000]),
        },
    }
}
