//! Judges which changes between two periods are more than chance and the calendar explain.

use std::collections::HashMap;

use jiff::civil::Weekday;

use crate::dates::slices::Slice;

/// The share of false alarms among the paths that are called significant.
const FALSE_ALARMS: f64 = 0.05;
/// A significant change is at least this share of what was expected.
const LEAST_SHARE: f64 = 0.1;
/// A significant change is at least so many readers.
const LEAST_READERS: f64 = 10.0;
/// Paths with fewer readers in both periods together are not tested.
const LEAST_TESTED: f64 = 10.0;
/// Paths with fewer readers in both periods together say nothing about the pace.
const LEAST_TYPICAL: f64 = 20.0;
/// With fewer typical paths, the pace is the growth of all of them together.
const LEAST_FOR_PACE: usize = 10;
/// With fewer typical paths, the scatter cannot be measured.
const LEAST_FOR_SCATTER: usize = 20;
const USUAL_SCATTER: f64 = 0.1;
const MAX_SCATTER: f64 = 4.0;
/// Half of a normal distribution lies within so many deviations.
const HALF: f64 = 0.6745;
/// How many deviations a section, or the whole site, must move.
const LEAST_DEVIATIONS: f64 = 3.0;
const LEAST_SECTION_SHARE: f64 = 0.05;
const LEAST_SECTION_VISITS: f64 = 20.0;
/// A site that changed by less "hardly changed".
const LEAST_SITE_SHARE: f64 = 0.02;

#[expect(
    clippy::cast_precision_loss,
    reason = "counts beyond 2^53 are judged as well without their last digits"
)]
fn float(count: i128) -> f64 {
    count as f64
}

/// The counts of a path, of one kind of readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub before: i64,
    pub now: i64,
}

impl Pair {
    fn both(self) -> i128 {
        i128::from(self.before) + i128::from(self.now)
    }

    fn is_typical(self) -> bool {
        self.before > 0 && self.now > 0 && float(self.both()) >= LEAST_TYPICAL
    }

    /// The change as a share of what was before; `None` if that was nothing.
    pub fn growth(self) -> Option<f64> {
        let change = i128::from(self.now) - i128::from(self.before);
        (self.before != 0).then(|| float(change) / float(self.before.into()))
    }
}

/// How the typical path of a site moved, and how much paths differ from that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// The typical path has so many times its readers.
    pub ratio: f64,
    /// How much paths differ from the pace anyway, as a share.
    pub scatter: f64,
}

impl Pace {
    pub fn of(pairs: &[Pair]) -> Self {
        let mut typical: Vec<_> = pairs.iter().copied().filter(|it| it.is_typical()).collect();
        let ratio = if typical.len() < LEAST_FOR_PACE {
            let sum = |of: fn(&Pair) -> i64| pairs.iter().map(|it| i128::from(of(it))).sum();
            match (sum(|it| it.now), sum(|it| it.before)) {
                (0, _) | (_, 0) => 1.0,
                (now, before) => float(now) / float(before),
            }
        } else {
            median(
                typical
                    .iter()
                    .map(|it| float(it.now.into()) / float(it.before.into())),
            )
        };
        typical.sort_unstable_by_key(|it| std::cmp::Reverse((it.both(), it.before)));
        typical.truncate(LEAST_FOR_SCATTER.max(typical.len() / 5));
        Self {
            ratio,
            scatter: scatter(&typical, ratio),
        }
    }

    pub fn expected(self, before: i64) -> f64 {
        self.ratio * float(before.into())
    }

    /// How far a path is from what was expected.
    fn difference(self, pair: Pair) -> f64 {
        float(pair.now.into()) - self.expected(pair.before)
    }

    /// The difference in standard deviations: those of counting, and those of the scatter.
    pub fn deviations(self, pair: Pair) -> f64 {
        let Pair { before, now } = pair;
        let (before, now) = (float(before.into()), float(now.into()));
        let variance = self.ratio * (before + now + self.scatter * self.scatter * before * now);
        match pair.both() {
            0 => 0.0,
            _ => self.difference(pair) / variance.sqrt(),
        }
    }

    /// Which of the paths changed significantly: the procedure of Benjamini and Hochberg, and a change that is large enough to matter.
    pub fn significant(self, pairs: &[Pair]) -> Vec<bool> {
        let chance = |pair: &Pair| libm::erfc(self.deviations(*pair).abs() / 2_f64.sqrt());
        let mut tested: Vec<_> = pairs
            .iter()
            .enumerate()
            .filter(|(_, pair)| float(pair.both()) >= LEAST_TESTED)
            .map(|(at, pair)| (chance(pair), at))
            .collect();
        tested.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
        let all = float(tested.len() as i128);
        let passes =
            |rank: usize, chance: f64| chance <= FALSE_ALARMS * float(rank as i128 + 1) / all;
        let passed = tested
            .iter()
            .enumerate()
            .rposition(|(rank, (chance, _))| passes(rank, *chance));
        let mut significant = vec![false; pairs.len()];
        for (_, at) in tested.iter().take(passed.map_or(0, |last| last + 1)) {
            if let (Some(flag), Some(&pair)) = (significant.get_mut(*at), pairs.get(*at)) {
                let difference = self.difference(pair).abs();
                let least = LEAST_SHARE * self.expected(pair.before).max(1.0);
                *flag = difference >= LEAST_READERS && difference >= least;
            }
        }
        significant
    }

    /// Which way a significant path moved; `None` if it moved the other way than it differs from the pace.
    pub fn movement(self, pair: Pair) -> Option<Movement> {
        let (Pair { before, now }, difference) = (pair, self.difference(pair));
        match () {
            () if before == 0 => Some(Movement::New),
            () if now == 0 => Some(Movement::Vanished),
            () if difference > 0.0 && now > before => Some(Movement::Riser),
            () if difference < 0.0 && now < before => Some(Movement::Faller),
            () => None,
        }
    }

    /// The sections of a site, those that moved first, by how far they are from what was expected.
    pub fn sections<'a>(self, paths: impl Iterator<Item = (&'a str, Pair)>) -> Vec<Section> {
        let mut sections: HashMap<String, (Section, u128)> = HashMap::new();
        for (path, pair) in paths.filter(|(_, pair)| pair.both() > 0) {
            let name = section_of(path);
            let (section, product) = sections
                .entry(name.clone())
                .or_insert((Section::of(name), 0));
            let [before, now] = [pair.before, pair.now].map(i64::unsigned_abs);
            section.paths += 1;
            section.pair.before = section.pair.before.saturating_add(pair.before);
            section.pair.now = section.pair.now.saturating_add(pair.now);
            *product = product.saturating_add(u128::from(before) * u128::from(now));
        }
        let judged = sections.into_values().map(|(section, product)| {
            let product = float(i128::try_from(product).unwrap_or(i128::MAX));
            let counted = float(section.pair.both());
            let deviation = (self.ratio * (counted + self.scatter * self.scatter * product)).sqrt();
            let difference = self.difference(section.pair).abs();
            let least = LEAST_SECTION_SHARE * self.expected(section.pair.before).max(1.0);
            let moved = difference > LEAST_DEVIATIONS * deviation
                && difference >= least.max(LEAST_SECTION_VISITS);
            (difference, Section { moved, ..section })
        });
        let mut judged: Vec<_> = judged.collect();
        judged.sort_unstable_by(|(far, one), (near, other)| {
            let by_name = || one.name.cmp(&other.name);
            let by_difference = || near.total_cmp(far).then_with(by_name);
            other.moved.cmp(&one.moved).then_with(by_difference)
        });
        judged.into_iter().map(|(_, section)| section).collect()
    }
}

/// The middle one of some numbers, or the mean of the two in the middle.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    let at = |place: usize| numbers.get(place).copied().unwrap_or_default();
    match numbers.len() {
        0 => 0.0,
        count if count % 2 == 1 => at(count / 2),
        count => f64::midpoint(at(count / 2 - 1), at(count / 2)),
    }
}

/// The scatter with which half of the most read paths are as near to the pace as chance would have them.
fn scatter(most_read: &[Pair], ratio: f64) -> f64 {
    if most_read.len() < LEAST_FOR_SCATTER {
        return USUAL_SCATTER;
    }
    let is_too_small = |scatter| {
        let pace = Pace { ratio, scatter };
        median(most_read.iter().map(|pair| pace.deviations(*pair).abs())) > HALF
    };
    if !is_too_small(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, MAX_SCATTER);
    for _ in 0..40 {
        let half = f64::midpoint(low, high);
        match is_too_small(half) {
            true => low = half,
            false => high = half,
        }
    }
    high
}

/// How a path with a significant change moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    /// It was read in both periods, and gained.
    Riser,
    /// It was read in both periods, and lost.
    Faller,
    /// Only the later period has readers of it.
    New,
    /// Only the earlier period has readers of it.
    Vanished,
}

impl Movement {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Riser => "riser",
            Self::Faller => "faller",
            Self::New => "new",
            Self::Vanished => "vanished",
        }
    }
}

/// All paths with the same first segment, added up: these are visits of paths, and not readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The first segment, such as `/guides`.
    pub name: String,
    /// How many of its paths were read.
    pub paths: i64,
    pub pair: Pair,
    /// Whether it changed by more than the typical path, chance and the scatter explain.
    pub moved: bool,
}

impl Section {
    fn of(name: String) -> Self {
        let pair = Pair { before: 0, now: 0 };
        Self {
            name,
            paths: 0,
            pair,
            moved: false,
        }
    }
}

/// The first segment of a path with its slash; `/` for the start page.
pub fn section_of(path: &str) -> String {
    let first = path.trim_start_matches('/').split('/').next();
    format!("/{}", first.unwrap_or_default())
}

/// How a whole site changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteChange {
    /// The change that the calendar cannot explain, as a share; `None` if there was nobody before.
    pub change: Option<f64>,
    /// The change of the totals.
    pub plain: Option<f64>,
    /// The change of the totals per day.
    pub daily: Option<f64>,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Rose,
    Fell,
    HardlyChanged,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rose => "rose",
            Self::Fell => "fell",
            Self::HardlyChanged => "hardly changed",
        }
    }
}

impl SiteChange {
    /// Judges the totals of two periods.
    pub fn of(totals: Pair, days_before: Slice, days: Slice) -> Self {
        let Some(plain) = totals.growth() else {
            let verdict = match totals.now {
                0 => Verdict::HardlyChanged,
                _ => Verdict::Rose,
            };
            let change = (totals.now == 0).then_some(0.0);
            return Self {
                change,
                plain: change,
                daily: change,
                verdict,
            };
        };
        let (before, now) = (float(totals.before.into()), float(totals.now.into()));
        let per = |count: fn(Slice) -> i32| {
            let (counted, counted_before) = (f64::from(count(days)), f64::from(count(days_before)));
            (counted > 0.0 && counted_before > 0.0)
                .then(|| now / counted / (before / counted_before) - 1.0)
        };
        let daily = per(|days| days.count());
        let found: Vec<_> = [Some(now / before - 1.0), daily, per(workdays)]
            .into_iter()
            .flatten()
            .collect();
        let agree =
            found.iter().all(|value| *value > 0.0) || found.iter().all(|value| *value < 0.0);
        let nearest = found
            .iter()
            .copied()
            .min_by(|one, other| one.abs().total_cmp(&other.abs()));
        let change = nearest.filter(|_| agree).unwrap_or_default();
        let difference = i128::from(totals.now) - i128::from(totals.before);
        let is_chance =
            float(difference).powi(2) <= LEAST_DEVIATIONS * LEAST_DEVIATIONS * float(totals.both());
        let verdict = match () {
            () if totals.now == 0 => Verdict::Fell,
            () if change.abs() < LEAST_SITE_SHARE || is_chance => Verdict::HardlyChanged,
            () if change > 0.0 => Verdict::Rose,
            () => Verdict::Fell,
        };
        Self {
            change: Some(change),
            plain: Some(plain),
            daily,
            verdict,
        }
    }
}

/// How many days from Monday to Friday a range has.
fn workdays(days: Slice) -> i32 {
    let (count, first) = (days.count(), days.from.weekday().since(Weekday::Monday));
    let rest = (0..count % 7).filter(|day| (i32::from(first) + day) % 7 < 5);
    let rest = i32::try_from(rest.count()).unwrap_or_default();
    count / 7 * 5 + rest
}
