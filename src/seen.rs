//! Rows that were seen before: what a moving table or a capped page brings a second time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::rows::Identity;

/// The identities are hashes already.
#[derive(Debug, Default)]
struct Already(u64);

impl Hasher for Already {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.is_empty(), "identities are u64");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Hashed = BuildHasherDefault<Already>;

/// What a row is, compared with those seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Not seen.
    New,
    /// Seen, and the same.
    Identical,
    /// Its key was seen with other values.
    Differing,
}

/// 64 bits that need not be aligned: a collected export has a row here for each of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packed([u32; 2]);

impl From<u64> for Packed {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    fn from(bits: u64) -> Self {
        Self([bits as u32, (bits >> 32) as u32])
    }
}

impl From<Packed> for u64 {
    fn from(Packed([low, high]): Packed) -> Self {
        Self::from(low) | Self::from(high) << 32
    }
}

impl Hash for Packed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(*self));
    }
}

/// A row that was seen.
#[derive(Debug)]
struct Row {
    whole: Packed,
    /// The last page that brought it.
    page: u32,
}

/// The rows by their keys, in parts that grow one at a time: one map would take thrice its memory whenever it does.
#[derive(Debug, Default)]
struct Known([HashMap<Packed, Row, Hashed>; 16]);

impl Known {
    fn part(&self, key: u64) -> Option<&HashMap<Packed, Row, Hashed>> {
        self.0.get(Self::place(key))
    }

    fn part_mut(&mut self, key: u64) -> Option<&mut HashMap<Packed, Row, Hashed>> {
        self.0.get_mut(Self::place(key))
    }

    /// By bits that a map itself looks at least.
    fn place(key: u64) -> usize {
        usize::try_from(key >> 40 & 15).unwrap_or_default()
    }

    fn get(&self, key: u64) -> Option<&Row> {
        self.part(key)?.get(&key.into())
    }

    fn insert(&mut self, key: u64, row: Row) -> Option<Row> {
        self.part_mut(key)?.insert(key.into(), row)
    }

    fn remove(&mut self, key: u64) {
        if let Some(part) = self.part_mut(key) {
            part.remove(&key.into());
        }
    }
}

/// The keys that a page brought, and the offset from which on none of them can come again: it was asked for no row
/// behind that.
#[derive(Debug)]
struct Brought {
    keys: Vec<u64>,
    until: u64,
}

/// The rows of the last pages, or of all.
#[derive(Debug)]
pub(crate) struct Seen {
    rows: Known,
    /// Pages, oldest first, that may bring their rows again or are within the window.
    pages: VecDeque<Brought>,
    /// How many pages came.
    count: u32,
    /// How many pages are remembered; `None`: all.
    window: Option<usize>,
    /// Of every page, whatever the window: eight bytes a page.
    fingerprints: HashSet<u64, Hashed>,
}

impl Seen {
    pub(crate) fn new(window: Option<usize>) -> Self {
        Self {
            rows: Known::default(),
            pages: VecDeque::new(),
            count: 0,
            window,
            fingerprints: HashSet::default(),
        }
    }

    /// Forgets nothing from now on.
    pub(crate) fn remember_all(&mut self) {
        self.window = None;
    }

    /// Whether a page about the same came before; its counts may have moved, and it would still never end.
    pub(crate) fn page_again(&mut self, rows: &[Identity]) -> bool {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for row in rows {
            hasher.update(&row.key.to_le_bytes());
        }
        !self.fingerprints.insert(hasher.digest())
    }

    /// Remembers a page's rows, which can come again up to an offset of `until`, and says of each what it is.
    pub(crate) fn take_in(&mut self, rows: &[Identity], until: u64) -> Vec<Repeat> {
        let page = self.count;
        self.count += 1;
        let found = rows
            .iter()
            .map(|row| match self.rows.insert(row.key, Row { whole: row.whole.into(), page }) {
                None => Repeat::New,
                Some(known) if known.whole == row.whole.into() => Repeat::Identical,
                Some(_) => Repeat::Differing,
            })
            .collect();
        self.pages.push_back(Brought { keys: rows.iter().map(|row| row.key).collect(), until });
        found
    }

    /// Forgets, now that the export is at `offset`, the pages that are behind it and outside of the window.
    pub(crate) fn forget(&mut self, offset: u64) {
        while let Some(brought) = self.pages.front()
            && brought.until <= offset
            && self.window.is_none_or(|window| self.pages.len() > window)
        {
            let oldest = self.oldest();
            for key in self.pages.pop_front().map(|brought| brought.keys).unwrap_or_default() {
                // A row that came again since is forgotten later.
                if self.window.is_some() && self.rows.get(key).is_some_and(|row| row.page == oldest) {
                    self.rows.remove(key);
                }
            }
        }
    }

    /// Rows that can come again where the export is at `offset`.
    pub(crate) fn near(&self, offset: u64) -> impl Iterator<Item = Identity> {
        let pages = (self.oldest()..).zip(&self.pages).filter(move |(_, brought)| brought.until > offset);
        pages.flat_map(move |(page, brought)| {
            brought.keys.iter().filter_map(move |key| {
                let row = self.rows.get(*key).filter(|row| row.page == page)?;
                Some(Identity { key: *key, whole: row.whole.into() })
            })
        })
    }

    fn oldest(&self) -> u32 {
        self.count - u32::try_from(self.pages.len()).unwrap_or(self.count)
    }
}
