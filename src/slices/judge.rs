//! Judges which changes between two periods are more than chance and the calendar explain.

use std::collections::HashMap;

use jiff::civil::Weekday;

use crate::dates::slices::Slice;
use crate::text::named_enum;

/// The largest share of false alarms among the significant changes.
const FALSE_ALARMS: f64 = 0.05;
/// The smallest significant change, as a share of the expected count.
const LEAST_SHARE: f64 = 0.1;
/// The smallest significant change, in readers.
const LEAST_READERS: f64 = 10.0;
/// The fewest readers of a path that is tested, in both periods together.
const LEAST_TESTED: f64 = 10.0;
/// The fewest readers of a path that counts for the pace and the scatter, in both periods together.
const LEAST_TYPICAL: f64 = 20.0;
/// The fewest such paths for measuring the pace.
const LEAST_FOR_PACE: usize = 10;
/// The fewest such paths for measuring the scatter.
const LEAST_FOR_SCATTER: usize = 20;
/// The scatter of a site with fewer.
const USUAL_SCATTER: f64 = 0.1;
const MAX_SCATTER: f64 = 4.0;
/// Half of a normal distribution lies within this many standard deviations.
const HALF: f64 = 0.6745;
/// The smallest change of a section or of the whole site, in standard deviations.
const LEAST_DEVIATIONS: f64 = 3.0;
/// The smallest change of a section, as a share of the expected count.
const LEAST_SECTION_SHARE: f64 = 0.05;
/// The same in visits.
const LEAST_SECTION_VISITS: f64 = 20.0;
/// The smallest change of a whole site; a smaller one is "hardly changed".
const LEAST_SITE_SHARE: f64 = 0.02;

#[expect(
    clippy::cast_precision_loss,
    reason = "counts beyond 2^53 are judged as well without their last digits"
)]
fn float(count: i128) -> f64 {
    count as f64
}

/// The counts of a path, of one kind of readers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pair {
    pub before: i64,
    pub now: i64,
}

impl Pair {
    fn both(self) -> i128 {
        i128::from(self.before) + i128::from(self.now)
    }

    /// The change as a share of what was before; `None` if that was nothing.
    pub fn growth(self) -> Option<f64> {
        (self.before != 0).then(|| float(self.change()) / float(self.before.into()))
    }

    fn change(self) -> i128 {
        i128::from(self.now) - i128::from(self.before)
    }
}

/// The growth of a typical path, and how much paths differ from it.
#[derive(Debug, Clone, Copy)]
pub struct SitePace {
    /// The median ratio of the typical paths. With fewer than `LEAST_FOR_PACE` of them it is the
    /// ratio of the sums, or 1 if a sum is 0.
    pub ratio: f64,
    /// How much paths differ from the pace in any case, as a share.
    pub scatter: f64,
}

impl SitePace {
    pub fn of(pairs: &[Pair]) -> Self {
        let is_typical =
            |it: &Pair| it.before > 0 && it.now > 0 && float(it.both()) >= LEAST_TYPICAL;
        let mut typical: Vec<_> = pairs.iter().copied().filter(is_typical).collect();
        let ratio = if typical.len() < LEAST_FOR_PACE {
            let sum = |of: fn(&Pair) -> i64| pairs.iter().map(|it| i128::from(of(it))).sum();
            match (sum(|it| it.now), sum(|it| it.before)) {
                (0, _) | (_, 0) => 1.0,
                (now, before) => float(now) / float(before),
            }
        } else {
            let ratio = |it: &Pair| float(it.now.into()) / float(it.before.into());
            median(typical.iter().map(ratio))
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

    /// The difference from the expected count.
    fn difference(self, pair: Pair) -> f64 {
        float(pair.now.into()) - self.expected(pair.before)
    }

    /// The difference in standard deviations, which come from counting and from the scatter.
    pub fn deviations(self, pair: Pair) -> f64 {
        let Pair { before, now } = pair;
        let (before, now) = (float(before.into()), float(now.into()));
        let variance = self.ratio * (before + now + self.scatter * self.scatter * before * now);
        match pair.both() {
            0 => 0.0,
            _ => self.difference(pair) / variance.sqrt(),
        }
    }

    /// Whether each path changed significantly: it passes the procedure of Benjamini and Hochberg,
    /// and the change is not too small.
    pub fn significant(self, pairs: &[Pair]) -> Vec<bool> {
        let chance = |pair: &Pair| libm::erfc(self.deviations(*pair).abs() / 2_f64.sqrt());
        let tested = pairs.iter().enumerate();
        let tested = tested.filter(|(_, pair)| float(pair.both()) >= LEAST_TESTED);
        let mut tested: Vec<_> = tested.map(|(at, pair)| (chance(pair), at, *pair)).collect();
        tested.sort_unstable_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let all = float(tested.len() as i128);
        let passes = |(rank, (chance, ..)): (i128, &(f64, _, _))| {
            *chance <= FALSE_ALARMS * float(rank) / all
        };
        let passed = (1..).zip(&tested).filter(|it| passes(*it)).last();
        let passed = passed.map_or(0, |(rank, _)| rank);
        let mut significant = vec![false; pairs.len()];
        for (_, (_, at, pair)) in (1..=passed).zip(&tested) {
            if let Some(flag) = significant.get_mut(*at) {
                let difference = self.difference(*pair).abs();
                let least = LEAST_SHARE * self.expected(pair.before).max(1.0);
                *flag = difference >= least.max(LEAST_READERS);
            }
        }
        significant
    }

    /// The direction of a significant path; `None` if it kept its readers, or lost or gained
    /// fewer than a typical path.
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

    /// The sections of a site: those that moved come first, then by the difference from the
    /// expected count.
    pub fn sections<'a>(self, paths: impl Iterator<Item = (&'a str, Pair)>) -> Vec<Section> {
        let mut sections: HashMap<String, (Section, u128)> = HashMap::new();
        for (path, pair) in paths.filter(|(_, pair)| pair.both() > 0) {
            let (section, product) = sections.entry(section_of(path)).or_default();
            let [before, now] = [pair.before, pair.now].map(i64::unsigned_abs);
            let sum = &mut section.pair;
            section.paths += 1;
            sum.before = sum.before.saturating_add(pair.before);
            sum.now = sum.now.saturating_add(pair.now);
            *product = product.saturating_add(u128::from(before) * u128::from(now));
        }
        let judged = sections.into_iter().map(|(name, (section, product))| {
            let (paths, pair) = (section.paths, section.pair);
            let product = float(i128::try_from(product).unwrap_or(i128::MAX));
            let scatter = self.scatter * self.scatter * product;
            let deviation = (self.ratio * (float(pair.both()) + scatter)).sqrt();
            let difference = self.difference(pair).abs();
            let least = LEAST_SECTION_SHARE * self.expected(pair.before).max(1.0);
            let moved = difference > LEAST_DEVIATIONS * deviation
                && difference >= least.max(LEAST_SECTION_VISITS);
            let section = Section {
                name,
                paths,
                pair,
                moved,
            };
            (difference, section)
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

/// The middle one of the numbers, or the mean of the two in the middle.
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

/// The smallest scatter that puts half of the most read paths within [`HALF`] standard deviations.
fn scatter(most_read: &[Pair], ratio: f64) -> f64 {
    if most_read.len() < LEAST_FOR_SCATTER {
        return USUAL_SCATTER;
    }
    let is_too_small = |scatter| {
        let pace = SitePace { ratio, scatter };
        median(most_read.iter().map(|pair| pace.deviations(*pair).abs())) > HALF
    };
    let (mut low, mut high) = (0.0, MAX_SCATTER);
    if !is_too_small(low) {
        return low;
    }
    for _ in 0..40 {
        let half = f64::midpoint(low, high);
        *(if is_too_small(half) {
            &mut low
        } else {
            &mut high
        }) = half;
    }
    high
}

named_enum! {
    /// The direction of a significant change.
    Movement {
        /// It was read in both periods, and gained.
        Riser = "riser",
        /// It was read in both periods, and lost.
        Faller = "faller",
        /// Only the later period has readers of it.
        New = "new",
        /// Only the earlier period has readers of it.
        Vanished = "vanished",
    }
}

/// All paths with the same first segment. Its sums are visits of paths, and not readers.
#[derive(Debug, Default)]
pub struct Section {
    /// The first segment, such as `/guides`.
    pub name: String,
    /// The number of its paths that were read.
    pub paths: i64,
    pub pair: Pair,
    /// Whether its change is more than the pace, chance and the scatter explain.
    pub moved: bool,
}

/// The first segment of a path with its slash; `/` for the start page.
pub fn section_of(path: &str) -> String {
    let first = path.trim_start_matches('/').split('/').next();
    format!("/{}", first.unwrap_or_default())
}

/// The change of a whole site.
#[derive(Debug)]
pub struct SiteChange {
    /// The change that the calendar cannot explain, as a fraction; `None` if there are readers, and
    /// were none before.
    pub change: Option<f64>,
    pub verdict: SiteVerdict,
    /// The change of the totals.
    pub plain: Option<f64>,
    /// The change that was used instead of the plain one, or that contradicts it.
    pub other: Option<(Per, f64)>,
}

named_enum! {
    SiteVerdict {
        Rose = "rose",
        Fell = "fell",
        HardlyChanged = "hardly changed",
    }
}

named_enum! {
    /// The unit of a rate: readers per day, or per working day.
    Per {
        Day = "day",
        WorkingDay = "working day",
    }
}

impl Per {
    fn count(self, days: Slice) -> i32 {
        match self {
            Self::Day => days.count(),
            // From Monday to Friday.
            Self::WorkingDay => {
                let (count, first) = (days.count(), days.from.weekday().since(Weekday::Monday));
                let rest = (0..count % 7).filter(|day| (i32::from(first) + day) % 7 < 5);
                let rest = i32::try_from(rest.count()).unwrap_or_default();
                count / 7 * 5 + rest
            }
        }
    }
}

impl SiteChange {
    /// Judges the totals of two periods.
    pub fn of(totals: Pair, days_before: Slice, days: Slice) -> Self {
        let Some(plain) = totals.growth() else {
            let (change, verdict) = match totals.now {
                0 => (Some(0.0), SiteVerdict::HardlyChanged),
                _ => (None, SiteVerdict::Rose),
            };
            return Self {
                change,
                verdict,
                plain: change,
                other: None,
            };
        };
        let (before, now) = (float(totals.before.into()), float(totals.now.into()));
        let mut found = vec![(None, now / before - 1.0)];
        for per in [Per::Day, Per::WorkingDay] {
            let [count, count_before] = [days, days_before].map(|days| per.count(days));
            if count > 0 && count_before > 0 {
                let value = now / f64::from(count) / (before / f64::from(count_before)) - 1.0;
                // The same number of days gives the plain change again, but for its last digit.
                found.push(((count != count_before).then_some(per), value));
            }
        }
        let found = || found.iter().copied();
        let opposing = found().find(|(_, value)| value * plain <= 0.0);
        let nearest = found().min_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()));
        let change = match (opposing, nearest) {
            (None, Some((_, value))) => value,
            _ => 0.0,
        };
        let least = LEAST_DEVIATIONS * LEAST_DEVIATIONS * float(totals.both());
        let is_chance = float(totals.change()).powi(2) <= least;
        let verdict = match () {
            () if totals.now == 0 => SiteVerdict::Fell,
            () if change.abs() < LEAST_SITE_SHARE || is_chance => SiteVerdict::HardlyChanged,
            () if change > 0.0 => SiteVerdict::Rose,
            () => SiteVerdict::Fell,
        };
        Self {
            change: Some(change),
            verdict,
            plain: Some(plain),
            other: (opposing.or(nearest)).and_then(|(per, value)| Some((per?, value))),
        }
    }
}
