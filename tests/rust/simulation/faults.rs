//! The faults of one request, drawn in any combination, and every form of `Retry-After`.

use std::time::{Duration, SystemTime};

use crate::dice::Dice;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A status that the same request may not meet again.
    Passing,
    Throttled,
    Unavailable,
    /// A status that says no.
    Refused,
    Unsent,
    NoConnection,
    Broken,
    Silent,
    Slow,
    BodyBroken,
    BodyHangs,
    Unusable,
}

impl Fault {
    pub(crate) const ALL: [Self; 12] = [
        Self::Passing,
        Self::Throttled,
        Self::Unavailable,
        Self::Refused,
        Self::Unsent,
        Self::NoConnection,
        Self::Broken,
        Self::Silent,
        Self::Slow,
        Self::BodyBroken,
        Self::BodyHangs,
        Self::Unusable,
    ];
}

const PASSING: [u16; 10] = [408, 500, 502, 504, 520, 521, 522, 523, 524, 500];
const REFUSED: [u16; 22] = [
    400, 401, 403, 404, 405, 409, 410, 413, 414, 415, 422, 431, 301, 302, 303, 307, 308, 101, 501,
    505, 525, 599,
];

/// The fate of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fate {
    pub(crate) fault: Option<Fault>,
    /// Of an unsent one: nothing else would help either.
    pub(crate) fatal: bool,
    /// Instead of a good answer's.
    pub(crate) status: Option<u16>,
    pub(crate) told: Told,
    /// Whether a write that has no verdict did happen.
    pub(crate) applied: bool,
    /// Before it leaves, and until its answer, in milliseconds.
    pub(crate) ways: (u64, u64),
    pub(crate) unusable: u64,
}

/// A `Retry-After`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) values: Vec<String>,
    pub(crate) date: Option<SystemTime>,
    /// The pause that it asks for, in seconds.
    pub(crate) means: Option<u64>,
}

/// The fate of a request.
pub(crate) fn draw(
    dice: &mut Dice,
    faults: &[Fault],
    chance: u64,
    latency: u64,
    now: SystemTime,
) -> Fate {
    let mut fate = Fate {
        applied: dice.chance(50),
        unusable: dice.next(),
        ..Fate::default()
    };
    fate.ways = (dice.below(latency / 10 + 1), dice.below(latency + 1));
    let told = told(dice, now);
    let (fault, status) = (dice.next(), dice.next());
    if !dice.chance(chance) || faults.is_empty() {
        return fate;
    }
    let fault = faults[(fault % faults.len() as u64) as usize];
    let of = |statuses: &[u16]| Some(statuses[(status % statuses.len() as u64) as usize]);
    match fault {
        Fault::Passing => fate.status = of(&PASSING),
        Fault::Throttled => fate.status = Some(429),
        Fault::Unavailable => fate.status = Some(503),
        Fault::Refused => fate.status = of(&REFUSED),
        Fault::Unsent => fate.fatal = dice.chance(15),
        Fault::Slow => fate.ways = (dice.below(8_000), dice.below(70_000)),
        _ => {}
    }
    if fate.status.is_some() {
        fate.told = told;
    }
    fate.fault = Some(fault);
    fate
}

/// Any `Retry-After`, and what it means.
pub(crate) fn told(dice: &mut Dice, now: SystemTime) -> Told {
    let seconds = dice.pick(&[0, 1, 3, 8, 30, 59, 61, 700, 3_600]);
    let plain = |values: &[&str], means| Told {
        values: values.iter().map(|&value| value.to_owned()).collect(),
        date: None,
        means,
    };
    let date = |seconds: i64| {
        let by = Duration::from_secs(seconds.unsigned_abs());
        let whole = SystemTime::UNIX_EPOCH
            + Duration::from_secs(
                now.duration_since(SystemTime::UNIX_EPOCH)
                    .unwrap()
                    .as_secs(),
            );
        let at = if seconds < 0 { whole - by } else { whole + by };
        Told {
            values: vec![httpdate::fmt_http_date(at)],
            date: Some(whole),
            means: Some(u64::try_from(seconds).unwrap_or(0)),
        }
    };
    match dice.below(12) {
        0..4 => Told::default(),
        4..7 => plain(&[&seconds.to_string()], Some(seconds)),
        7 => date(seconds.cast_signed()),
        8 => date(-seconds.cast_signed() - 1),
        // A client with a budget looks into its ledger for a whole day: seldom, as that takes as
        // long as a hundred worlds.
        9 if dice.chance(4) => plain(&[&"9".repeat(40)], Some(u64::MAX)),
        9 => plain(&["007"], Some(7)),
        10 => plain(&[dice.pick(&["-1", "1.5", "1e3", "soon", "", "+5"])], None),
        _ => plain(&["2", &seconds.to_string(), "x"], Some(seconds.max(2))),
    }
}
