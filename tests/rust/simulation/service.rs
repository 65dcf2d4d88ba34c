//! The service: what is true of it, how that changes, and the good answers that it gives.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use docplatform::listing::endpoint::PagedBy;
use url::Url;

use crate::dice::Dice;
use crate::scenario::{ADDRESSES, ENDPOINTS, Habits, OPEN_DAY, PROJECTS, Scenario, What};

/// A row: where it stands in its listing, who it is, and a count that changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) rank: u64,
    pub(crate) count: u64,
    /// It is counted where pages are cut, and never shown.
    pub(crate) hidden: bool,
}

/// How many of a hundred pages of a day that is not final come after a change.
const SETTLING: u64 = 60;
/// The distance between the ranks of two rows at first.
pub(crate) const RANK: f64 = (1_u64 << 32) as f64;

/// A listing with its past.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    /// All that it ever was; the last is how it is.
    pub(crate) versions: Vec<Vec<Row>>,
}

/// A job of the agent.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) prompt: String,
    /// From when on it is found.
    born: u64,
    /// When it ends, and how.
    ends: u64,
    status: &'static str,
    /// A message's work: until when the old status shows, and when it ends.
    again: Option<(u64, u64)>,
}

/// See the module.
pub(crate) struct Service {
    seed: u64,
    habits: Habits,
    pub(crate) truth: BTreeMap<What, Truth>,
    pub(crate) jobs: Vec<Job>,
    granted: [VecDeque<u64>; ADDRESSES.len()],
    /// When the open day is final.
    settles: u64,
    turns: u64,
    is_slow: bool,
}

/// A request.
pub(crate) struct Asked<'a> {
    pub(crate) url: &'a Url,
    pub(crate) body: &'a [u8],
}

/// A good page.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) what: What,
    /// Ranks and counts.
    pub(crate) rows: Vec<(u64, u64)>,
    /// Where it begins, as it was asked for.
    pub(crate) offset: u64,
    pub(crate) has_more: bool,
}

/// A day as the wire has it.
pub(crate) fn date(day: u64) -> String {
    if day > 31 {
        format!("2026-02-{:02}", day - 31)
    } else {
        format!("2026-01-{day:02}")
    }
}

pub(crate) fn day(date: &str) -> u64 {
    let month = if date.starts_with("2026-02") { 31 } else { 0 };
    month + date[8..].parse::<u64>().unwrap()
}

impl Service {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let (truth, jobs, granted) = Default::default();
        let is_slow = scenario.settings.budget.is_some() && scenario.settings.store
            || scenario.habits.limit.is_some();
        Self {
            seed: scenario.seed,
            habits: scenario.habits.clone(),
            truth,
            jobs,
            granted,
            settles: scenario.settles(),
            turns: 0,
            is_slow,
        }
    }

    /// A listing as it is.
    pub(crate) fn truth(&mut self, what: What) -> &mut Truth {
        let (seed, filters, is_slow) = (self.seed, self.habits.filters, self.is_slow);
        self.truth.entry(what).or_insert_with(|| {
            let mut dice = Dice::of(
                seed,
                &[3, what.endpoint as u64, what.project as u64, what.day],
            );
            // A client with a small budget looks into its ledger every half minute, for hours.
            let most = if is_slow { 12 } else { 45 };
            let count = dice.pick(&[0, 1, 3, 7, 12, 20, 31, 45]).min(most);
            let row = |number: u64| Row {
                rank: number << 32,
                count: dice.below(1_000),
                hidden: filters && number.is_multiple_of(3),
            };
            Truth {
                versions: vec![(1..=count).map(row).collect()],
            }
        })
    }

    /// Whether an analytics request is granted now; else how many seconds are left until one is.
    pub(crate) fn grant(&mut self, now: u64, address: usize) -> Option<u64> {
        let (limit, granted) = (self.habits.limit?, &mut self.granted[address]);
        granted.retain(|&at| at + 3_600_000 > now);
        if (granted.len() as u64) < limit {
            granted.push_back(now);
            return None;
        }
        Some((granted[0] + 3_600_000 - now).div_ceil(1_000))
    }

    /// A page, a job, or whatever else is asked for.
    pub(crate) fn read(
        &mut self,
        asked: &Asked<'_>,
        now: u64,
        address: usize,
    ) -> (u16, String, Option<Answered>) {
        let segments: Vec<_> = asked.url.path_segments().unwrap().skip(1).collect();
        match segments[..] {
            ["v2", "agent", _, "job", id] => {
                let (status, body) = self.job(id, now);
                (status, body, None)
            }
            ["v1", "analytics", project, ref rest @ ..] => {
                let name = rest.join("/");
                let endpoint = ENDPOINTS
                    .iter()
                    .position(|endpoint| endpoint.path.ends_with(&format!("}}/{name}")));
                let Some(endpoint) = endpoint else {
                    return (200, "{}".to_owned(), None);
                };
                let query = |name: &str| {
                    let found = asked.url.query_pairs().find(|(other, _)| other == name);
                    found.map(|(_, value)| value.into_owned())
                };
                // A cursor knows the dates, too.
                let cursor = query("cursor").map(|cursor| {
                    let (days, rank) = cursor.split_once('.').unwrap();
                    (days.parse::<u64>().unwrap(), rank.parse::<u64>().unwrap())
                });
                let from = query("dateFrom")
                    .map(|date| day(&date))
                    .or(cursor.map(|(day, _)| day))
                    .unwrap();
                let project = PROJECTS.iter().position(|known| *known == project).unwrap()
                    + address * PROJECTS.len();
                let number = |name: &str| query(name).map(|text| text.parse::<u64>().unwrap());
                let what = What {
                    endpoint,
                    project,
                    day: from,
                };
                let is_still = self.habits.settling && (from != OPEN_DAY || now >= self.settles);
                let (body, page) = self.page(
                    what,
                    is_still,
                    number("limit"),
                    number("offset").unwrap_or(0),
                    cursor.map(|(_, rank)| rank),
                );
                (200, body, Some(page))
            }
            _ => (200, "{}".to_owned(), None),
        }
    }

    fn page(
        &mut self,
        what: What,
        is_still: bool,
        limit: Option<u64>,
        offset: u64,
        after: Option<u64>,
    ) -> (String, Answered) {
        self.turns += 1;
        let mut dice = Dice::of(self.seed, &[4, self.turns]);
        let moves = dice.chance(match (self.habits.settling, is_still) {
            (true, true) => 0,
            (true, false) => SETTLING,
            _ => self.habits.moving,
        });
        let (is_lively, endpoint) = (self.habits.lively, what.endpoint());
        let truth = self.truth(what);
        if moves {
            truth.change(&mut dice);
        }
        if moves && is_lively && endpoint.paged_by == PagedBy::Offset {
            truth.bring_again(offset as usize, &mut dice);
        }
        let version = truth.versions.len() as u64;
        let rows = truth.versions.last().unwrap().clone();
        let cap = match self.habits.cap {
            Some(cap) if self.habits.cap_moves => dice.below(cap + 4) + 1,
            cap => cap.unwrap_or(u64::MAX),
        };
        let limit = limit.unwrap_or(50).min(cap) as usize;
        let offset = if self.habits.stands {
            0
        } else {
            offset as usize
        };
        let after = if self.habits.stands { None } else { after };
        let begin = match endpoint.paged_by {
            PagedBy::Offset => offset.min(rows.len()),
            PagedBy::Cursor => {
                after.map_or(0, |after| rows.partition_point(|row| row.rank <= after))
            }
            PagedBy::Nothing => 0,
        };
        let end = (begin + limit).min(rows.len());
        let has_more = end < rows.len();
        let shown: Vec<_> = rows[begin..end].iter().filter(|row| !row.hidden).collect();
        let page = Answered {
            what,
            rows: shown.iter().map(|row| (row.rank, row.count)).collect(),
            offset: offset as u64,
            has_more,
        };
        let items = endpoint.items;
        let mut body = "{".to_owned();
        if endpoint.totals {
            let (human, version) = if self.habits.quiet {
                (0, 1)
            } else {
                (rows.len(), version)
            };
            write!(
                body,
                "\"totals\":{{\"human\":{human},\"ai\":0,\"total\":{version}}},"
            )
            .unwrap();
        }
        if endpoint.paged_by == PagedBy::Cursor {
            let cursor = rows[begin..end].last().filter(|_| has_more);
            let cursor = cursor.map(|row| self.cursor(what, row.rank));
            write!(
                body,
                "\"nextCursor\":{},",
                cursor.as_deref().unwrap_or("null")
            )
            .unwrap();
        }
        write!(body, "\"{items}\":[").unwrap();
        for (number, row) in shown.into_iter().enumerate() {
            body.push_str(if number > 0 { "," } else { "" });
            wire(&mut body, what, row);
        }
        body.push(']');
        if endpoint.has_more.is_some() {
            write!(body, ",\"hasMore\":{has_more}").unwrap();
        }
        (body + "}", page)
    }

    fn cursor(&self, what: What, rank: u64) -> String {
        let plain = format!("{}.{rank}", what.day);
        match self.habits.cursor_form {
            0 => format!("\"{}/v1/x?limit=3&cursor={plain}\"", what.base_url()),
            1 => format!("\"/v1/x?cursor={plain}\""),
            _ => format!("\"{plain}\""),
        }
    }

    fn job(&self, id: &str, now: u64) -> (u16, String) {
        match self.jobs.iter().find(|job| job.id == id) {
            Some(job) if job.born <= now => (200, job.body(now)),
            _ => (404, "{}".to_owned()),
        }
    }

    /// Does what a write asks for; returns the job and its body.
    pub(crate) fn write(&mut self, asked: &Asked<'_>, now: u64) -> (String, String) {
        let prompt: serde_json::Value = serde_json::from_slice(asked.body).unwrap();
        let prompt = prompt["prompt"].as_str().unwrap().to_owned();
        let mut dice = Dice::of(self.seed, &[5, self.jobs.len() as u64]);
        let runs = dice.pick(&[0, 3_000, 40_000, 1_000_000]);
        let segments: Vec<_> = asked.url.path_segments().unwrap().collect();
        let old = segments
            .iter()
            .rev()
            .nth(1)
            .filter(|_| segments.ends_with(&["message"]));
        if let Some(job) = old.and_then(|id| self.jobs.iter_mut().find(|job| job.id == *id)) {
            // A job that is at work takes it in at once.
            let stale = if job.is_over(now) {
                now + dice.pick(&[0, 2_000, 10_000])
            } else {
                now
            };
            job.again = Some((stale, stale.max(job.ends) + runs));
            return (job.id.clone(), job.body(now));
        }
        let job = Job {
            id: format!("job_{}", self.jobs.len()),
            prompt,
            born: now + dice.pick(&[0, 0, 1_000, 8_000]),
            ends: now + runs,
            status: dice.pick(&["completed", "completed", "failed", "archived"]),
            again: None,
        };
        let made = (job.id.clone(), job.body(now));
        self.jobs.push(job);
        made
    }
}

impl Truth {
    /// A new first row moves the last row before this offset to it, perhaps with another count.
    fn bring_again(&mut self, offset: usize, dice: &mut Dice) {
        let mut rows = self.versions.last().unwrap().clone();
        let Some(last) = offset.checked_sub(1).filter(|last| *last < rows.len()) else {
            return;
        };
        rows[last].count += 1_000 * dice.below(2);
        let new = Row {
            rank: rows[0].rank - 1,
            count: dice.below(1_000),
            hidden: false,
        };
        if new.rank > 0 {
            rows.insert(0, new);
            self.versions.push(rows);
        }
    }

    fn change(&mut self, dice: &mut Dice) {
        let mut rows = self.versions.last().unwrap().clone();
        let at = dice.below(rows.len() as u64 + 1) as usize;
        match dice.below(3) {
            0 if at < rows.len() => drop(rows.remove(at)),
            1 if at < rows.len() => rows[at].count += 1_000,
            _ => {
                let before = at.checked_sub(1).map_or(0, |before| rows[before].rank);
                let behind = rows.get(at).map_or(before + (1 << 32), |row| row.rank);
                // Never the rank of one that was there: the middle moves with each version.
                let rank = before + (behind - before) / 2 + self.versions.len() as u64;
                if rank < behind && rank > before {
                    rows.insert(
                        at,
                        Row {
                            rank,
                            count: dice.below(1_000),
                            hidden: false,
                        },
                    );
                }
            }
        }
        self.versions.push(rows);
    }
}

impl Job {
    /// Whether it is final now, whatever it says.
    pub(crate) fn is_over(&self, now: u64) -> bool {
        self.again.map_or(self.ends, |(_, ends)| ends) <= now
    }

    fn body(&self, now: u64) -> String {
        let status = match self.again {
            Some((stale, ends)) if now >= stale && now < ends => "active",
            _ if now >= self.ends => self.status,
            _ => "active",
        };
        format!("{{\"id\": \"{}\", \"status\": \"{status}\"}}", self.id)
    }
}

/// A row on the wire.
fn wire(body: &mut String, what: What, row: &Row) {
    let (Row { rank, count, .. }, day) = (row, what.day);
    let written = match what.endpoint {
        0 | 1 => write!(
            body,
            "{{\"path\":\"/{rank}\",\"human\":{count},\"ai\":0,\"total\":{count}}}"
        ),
        2 => write!(body, "{{\"searchQuery\":\"/{rank}\",\"hits\":{count}}}"),
        // What happened on a day is of that day alone.
        3 => write!(body, "{{\"id\":\"/{rank}.{day}\",\"comment\":\"{count}\"}}"),
        4 => write!(body, "{{\"id\":\"/{rank}.{day}\",\"query\":\"{count}\"}}"),
        _ => write!(body, "{{\"path\":\"/{rank}\",\"total\":{count}}}"),
    };
    written.unwrap();
}
