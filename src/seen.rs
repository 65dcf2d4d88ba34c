//! Rows that were seen before: what a moving table or a capped page brings a second time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

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

/// A row that was seen.
#[derive(Debug)]
struct Row {
    whole: u64,
    /// The last page that brought it.
    page: u64,
}

/// The rows of the last pages, or of all.
#[derive(Debug)]
pub(crate) struct Seen {
    rows: HashMap<u64, Row, Hashed>,
    /// The keys that each page brought, oldest first; empty where nothing is forgotten.
    pages: VecDeque<Vec<u64>>,
    /// How many pages came.
    count: u64,
    /// How many pages are remembered; `None`: all.
    window: Option<usize>,
    /// Of every page, whatever the window: eight bytes a page.
    fingerprints: HashSet<u64, Hashed>,
}

impl Seen {
    pub(crate) fn new(window: Option<usize>) -> Self {
        Self {
            rows: HashMap::default(),
            pages: VecDeque::new(),
            count: 0,
            window,
            fingerprints: HashSet::default(),
        }
    }

    /// Whether a page about the same came before; its counts may have moved, and it would still never end.
    pub(crate) fn page_again(&mut self, rows: &[Identity]) -> bool {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for row in rows {
            hasher.update(&row.key.to_le_bytes());
        }
        !self.fingerprints.insert(hasher.digest())
    }

    /// Remembers a page's rows and says of each what it is.
    pub(crate) fn take_in(&mut self, rows: &[Identity]) -> Vec<Repeat> {
        let page = self.count;
        self.count += 1;
        let found = rows
            .iter()
            .map(|row| match self.rows.insert(row.key, Row { whole: row.whole, page }) {
                None => Repeat::New,
                Some(known) if known.whole == row.whole => Repeat::Identical,
                Some(_) => Repeat::Differing,
            })
            .collect();
        if let Some(window) = self.window {
            self.pages.push_back(rows.iter().map(|row| row.key).collect());
            while self.pages.len() > window {
                let oldest = self.count - self.pages.len() as u64;
                for key in self.pages.pop_front().unwrap_or_default() {
                    // A row that came again since is forgotten later.
                    if self.rows.get(&key).is_some_and(|row| row.page == oldest) {
                        self.rows.remove(&key);
                    }
                }
            }
        }
        found
    }
}
