//! The scenario of a seed: the service's habits, the faults, the disk, the settings, and the
//! operations of each process.

use docplatform::listing::endpoint::{
    CONVERSATIONS, Endpoint, FEEDBACK, FEEDBACK_BY_PAGE, SEARCHES, VIEWS, VISITORS,
};

use crate::dice::Dice;
use crate::disk::MAX_LOCK_WAIT;
use crate::faults::Fault;
use crate::process::op_of;

/// All projects at an address.
pub(crate) const PROJECTS: [&str; 2] = ["alpha", "beta"];
/// The addresses of the service. Most worlds know the first one only.
pub(crate) const ADDRESSES: [&str; 2] = [
    "https://docs.example.com/api",
    "https://docs.example.org/api",
];
/// The ninth of February: the day that may still change. All others are days of January, which do
/// not.
pub(crate) const OPEN_DAY: u64 = 40;
/// The moment at which that day becomes final, in milliseconds after [`crate::world::BASE`].
pub(crate) const OPEN_DAY_SETTLES: u64 = 2 * 24 * 3_600_000;

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
    /// How long after [`crate::world::BASE`] the world begins, in milliseconds.
    pub(crate) start: u64,
    /// Which processes use the second address.
    pub(crate) elsewhere: Vec<bool>,
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
    /// How a refusal beyond that limit says how long to wait.
    pub(crate) limit_told: u64,
    /// How its cursors look.
    pub(crate) cursor_form: u64,
    /// Its totals do not show that the data changed.
    pub(crate) quiet: bool,
    /// Where the data changes, rows are repeated.
    pub(crate) lively: bool,
    /// The open day changes before most of its pages until it is final, and nothing else does.
    pub(crate) settling: bool,
}

impl Habits {
    /// Whether a page of this may come after a change.
    pub(crate) fn moves(&self, what: What) -> bool {
        self.moving > 0 || self.settling && what.day == OPEN_DAY
    }
}

/// How the disk behaves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    /// The longest that a piece of work takes, in milliseconds.
    pub(crate) latency: u64,
    /// How many of a hundred pieces of work fail.
    pub(crate) failing: u64,
}

/// The settings of all clients.
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
    /// The numbers that the clients' dice show, in halves.
    pub(crate) jitter: u64,
}

/// A listing of one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct What {
    pub(crate) endpoint: usize,
    /// Those of the second address come after those of the first one.
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

    pub(crate) fn project(self) -> &'static str {
        PROJECTS[self.project % PROJECTS.len()]
    }

    pub(crate) fn base_url(self) -> &'static str {
        ADDRESSES[self.project / PROJECTS.len()]
    }
}

/// An export.
#[derive(Debug, Clone, Copy, Default)]
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
    /// How many do so at the same time.
    pub(crate) calls: u64,
    /// Each of them reads another day.
    pub(crate) spread: bool,
}

impl Export {
    /// Its listings, day by day.
    pub(crate) fn whats(self) -> impl Iterator<Item = What> {
        let days = if self.spread { self.calls } else { self.days };
        (self.what.day..)
            .take(days as usize)
            .map(move |day| What { day, ..self.what })
    }
}

/// An operation of a process. It does one after another.
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
        project: usize,
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
            lively: false,
            settling: false,
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
            start: 0,
            elsewhere: Vec::new(),
        };
        scenario.bring_together(&mut Dice::of(seed, &[8]));
        scenario.add_rarities(&mut Dice::of(seed, &[9]));
        scenario.read_otherwise(&mut Dice::of(seed, &[11]));
        scenario.share(&mut Dice::of(seed, &[12]));
        scenario.fill(&mut Dice::of(seed, &[15]));
        scenario.let_a_day_settle(&mut Dice::of(seed, &[13]));
        scenario.spread(&mut Dice::of(seed, &[14]));
        scenario
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
            lively,
            settling,
            ..
        } = &mut scenario.habits;
        let Disk {
            latency: disk,
            failing,
        } = &mut scenario.disk;
        for flag in [cap_moves, filters, stands, lively, settling] {
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
        ops + self.kills.len() + self.jumps.len() + self.faults.len() + self.deletions.len() + 14
    }

    /// Whether the pages of all who read it join: nobody fetches it again, and pages are cut at the
    /// same rows for all.
    pub(crate) fn pages_join(&self, listed: What) -> bool {
        let lists = |export: &Export| !export.any_path && export.whats().any(|what| what == listed);
        let again = |op: &Op| matches!(op, Op::Export(export) if export.refresh && lists(export));
        let reads = |op: &Op| match op {
            Op::Export(export) => lists(export),
            Op::Sync { endpoint, .. } => *endpoint == listed.endpoint,
            _ => false,
        };
        let is_crowd =
            |op: &Op| matches!(op, Op::Export(export) if export.calls > 1 && lists(export));
        let crowds = self.processes.iter().flatten().filter(|op| is_crowd(op));
        let readers = self
            .processes
            .iter()
            .filter(|ops| ops.iter().any(reads))
            .count()
            + crowds.count();
        let cuts_move = self.habits.cap.is_some() && self.habits.cap_moves;
        !self.processes.iter().flatten().any(again) && (readers < 2 || !cuts_move)
    }

    /// Whether all who read it do so in the same page size.
    pub(crate) fn has_one_page_size(&self, listed: What) -> bool {
        let size = |op: &Op| match op {
            Op::Export(export) if export.whats().any(|what| what == listed) => {
                Some(export.page_size)
            }
            Op::Sync { endpoint, .. } if *endpoint == listed.endpoint => {
                Some(listed.endpoint().max_page_size)
            }
            _ => None,
        };
        let mut sizes = self.processes.iter().flatten().filter_map(size);
        let first = sizes.next();
        sizes.all(|size| Some(size) == first)
    }

    /// Whether the time of day only ever went on.
    pub(crate) fn clock_is_right(&self) -> bool {
        self.jumps.is_empty()
    }

    /// Whether all that is written stays, and at once.
    pub(crate) fn disk_is_good(&self) -> bool {
        self.disk.latency == 0 && self.disk_keeps()
    }

    /// Whether all that is written stays, however long it takes.
    pub(crate) fn disk_keeps(&self) -> bool {
        let is_patient = self.disk.latency < MAX_LOCK_WAIT / 2;
        is_patient && self.disk.failing == 0 && self.deletions.is_empty()
    }

    /// When the open day is final, in milliseconds since the run began.
    pub(crate) fn settles(&self) -> u64 {
        OPEN_DAY_SETTLES - self.start
    }

    /// The address that a process uses.
    pub(crate) fn address(&self, process: usize) -> usize {
        usize::from(
            self.elsewhere
                .get(process)
                .is_some_and(|&elsewhere| elsewhere),
        )
    }

    /// The export that a call belongs to.
    pub(crate) fn export_of(&self, tag: u64) -> Option<&Export> {
        let (process, op) = op_of(tag);
        match self.processes.get(process)?.get(op)? {
            Op::Export(export) => Some(export),
            _ => None,
        }
    }

    /// Whether all that was entered counts. To a clock that is set ahead, or back by days, requests
    /// in a file do not.
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
            calls: 1,
            spread: false,
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
            project: 0,
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
