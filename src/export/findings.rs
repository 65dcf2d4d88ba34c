//! Findings of an export, which its user should know: the service behaved unusually, or the data
//! changed meanwhile.

use std::fmt;

use crate::dates::periods::Period;
use crate::dates::slices::Slice;
use crate::listing::page::{Page, Totals};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Pages are not as long as was asked for, though there is more.
    Irregular {
        received: usize,
        limit: u32,
    },
    /// Rows came again, unchanged, and were dropped.
    Dropped(u64),
    /// Rows without a key equal the rows before them, because short pages bring rows again, and
    /// were dropped.
    Overlap {
        rows: u64,
        /// How many rows the first irregular page of this part had, or else this one.
        received: usize,
    },
    /// Rows came again with other values; all were kept.
    Differing(u64),
    Totals {
        first: Totals,
        last: Totals,
    },
    /// Pages had invalid characters.
    Repaired(u64),
    /// Values did not fit their columns.
    Misfits(u64),
    /// The service left out the rows after these, and does not list them.
    CutOff {
        rows: usize,
        /// The days of the listing, if both ends are whole days.
        days: Option<Slice>,
        /// Whether a page may have more rows.
        is_small: bool,
    },
    /// The two periods of a comparison differ much in length.
    Uneven {
        now: Slice,
        before: Slice,
    },
}

impl Finding {
    /// Whether it says that the data changed while it was read.
    pub fn is_change(&self) -> bool {
        matches!(
            self,
            Self::Dropped(_) | Self::Differing(_) | Self::Totals { .. }
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Irregular { received, limit } => write!(
                f,
                "the service sent {received} rows instead of {limit}, and said that there are more; \
                 the export goes on so that none is skipped"
            ),
            Self::Dropped(rows) => write!(
                f,
                "{} came twice, unchanged, and {} dropped, as when data changes during an export",
                number(rows, "row"),
                was(rows)
            ),
            Self::Overlap { rows, received } => write!(
                f,
                "{} {} the same as the last before, which short pages bring again, and {} dropped; if the listing has equal \
                 rows side by side, read it with a page size of {received} or less",
                number(rows, "row"),
                was(rows),
                was(rows)
            ),
            Self::Differing(rows) => write!(
                f,
                "{} came twice with different values, and {} kept, as when data changes during an export",
                number(rows, "row"),
                was(rows)
            ),
            Self::Totals { first, last } => write!(
                f,
                "the totals changed during the export, from human={} ai={} total={} to human={} ai={} total={}",
                first.human, first.ai, first.total, last.human, last.ai, last.total
            ),
            Self::Repaired(pages) => {
                write!(
                    f,
                    "{} had invalid characters; U+FFFD replaces them",
                    number(pages, "page")
                )
            }
            Self::Misfits(values) => write!(
                f,
                "{} {}; tables and CSV files have what does not fit in columns named service_…, or in other_fields",
                number(values, "value"),
                if values == 1 {
                    "does not fit its column"
                } else {
                    "do not fit their columns"
                }
            ),
            Self::Uneven { now, before } => {
                let [name, other] = [now, before].map(|days| Period::of(days).name());
                let [days, days_before] =
                    [now, before].map(|days| number(days.count().unsigned_abs().into(), "day"));
                write!(
                    f,
                    "{name} has {days}, and {other} has {days_before}: the longer period has higher counts for that reason alone"
                )
            }
            Self::CutOff {
                rows,
                days,
                is_small,
            } => {
                let of = days
                    .map(|days| format!(" of {}", Period::of(days).name()))
                    .unwrap_or_default();
                let larger = match is_small {
                    true => "ask for larger pages, or ",
                    false => "",
                };
                let advice = match days.map(|days| days.count()) {
                    Some(1) => {
                        "choose rows by their source or status, or count the rows of feedback, which has all"
                    }
                    Some(_) => "read shorter periods, such as each day, to get more",
                    None => "read shorter periods to get more",
                };
                write!(
                    f,
                    "the service cut the listing off after {}{of} and does not list the rest: {larger}{advice}",
                    number(rows as u64, "row")
                )
            }
        }
    }
}

fn number(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn was(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// All findings so far: one entry a kind, but one a slice for listings that were cut off.
#[derive(Debug)]
pub(crate) struct Findings {
    /// The totals that the export began with.
    pub(super) totals: Option<Totals>,
    pub(super) found: Vec<Finding>,
}

impl Findings {
    /// Findings from a page as a whole; returns the new ones.
    pub(crate) fn page(&mut self, page: &Page, limit: u32, by_offset: bool) -> Vec<Finding> {
        let (mut fresh, received) = (Vec::new(), page.rows.len());
        if by_offset && page.has_more && received != limit as usize {
            fresh.extend(self.tell(Finding::Irregular { received, limit }));
        }
        let misfits = page.rows.misfits();
        if misfits > 0 {
            fresh.extend(self.tell(Finding::Misfits(misfits)));
        }
        if page.repaired {
            fresh.extend(self.tell(Finding::Repaired(1)));
        }
        match (self.totals, page.totals) {
            (Some(first), Some(last)) if first != last => {
                fresh.extend(self.tell(Finding::Totals { first, last }));
            }
            (None, totals) => self.totals = totals,
            _ => {}
        }
        fresh
    }

    /// The page of these days is the last one, although the service has more. Every slice has an
    /// entry of its own.
    pub(crate) fn cut_off(&mut self, rows: usize, days: Option<Slice>, is_small: bool) -> Finding {
        let finding = Finding::CutOff {
            rows,
            days,
            is_small,
        };
        self.found.push(finding);
        finding
    }

    /// The first rows of a page repeat the last rows before it. They have no keys.
    pub(crate) fn overlap(&mut self, rows: usize, received: usize) -> Option<Finding> {
        if rows == 0 {
            return None;
        }
        let first = self.found.iter().find_map(|found| match found {
            Finding::Irregular { received, .. } => Some(*received),
            _ => None,
        });
        self.tell(Finding::Overlap {
            rows: rows as u64,
            received: first.unwrap_or(received),
        })
    }

    /// Findings from the rows of a page. Repeats because of short pages do not count as changed
    /// data.
    pub(crate) fn repeats(
        &mut self,
        dropped: usize,
        differing: usize,
        expected: bool,
    ) -> Vec<Finding> {
        let mut fresh = Vec::new();
        if dropped > 0 && !expected {
            fresh.extend(self.tell(Finding::Dropped(dropped as u64)));
        }
        if differing > 0 {
            fresh.extend(self.tell(Finding::Differing(differing as u64)));
        }
        fresh
    }

    /// Adds to the entry of the same kind, or makes one; `Some` if it is new.
    fn tell(&mut self, finding: Finding) -> Option<Finding> {
        let kind = std::mem::discriminant(&finding);
        let Some(known) = self
            .found
            .iter_mut()
            .find(|known| std::mem::discriminant(*known) == kind)
        else {
            self.found.push(finding);
            return Some(finding);
        };
        match (known, finding) {
            (Finding::Overlap { rows: sum, .. }, Finding::Overlap { rows: more, .. })
            | (Finding::Dropped(sum), Finding::Dropped(more))
            | (Finding::Differing(sum), Finding::Differing(more))
            | (Finding::Repaired(sum), Finding::Repaired(more))
            | (Finding::Misfits(sum), Finding::Misfits(more)) => *sum += more,
            (known @ Finding::Totals { .. }, moved) => *known = moved,
            _ => {}
        }
        None
    }
}
