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

/// The rows of the last pages, or of all.
#[derive(Debug)]
pub(crate) struct Seen {
    rows: HashMap<u64, u64, Hashed>,
    /// The keys that each page brought, oldest first; empty where nothing is forgotten.
    pages: VecDeque<Vec<u64>>,
    /// How many pages are remembered; `None`: all.
    window: Option<usize>,
    /// Of every page, whatever the window: eight bytes a page.
    fingerprints: HashSet<u64, Hashed>,
}

impl Seen {
    pub(crate) fn new(window: Option<usize>) -> Self {
        Self { rows: HashMap::default(), pages: VecDeque::new(), window, fingerprints: HashSet::default() }
    }

    /// Whether this very page came before.
    pub(crate) fn page_again(&mut self, rows: &[Identity]) -> bool {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for row in rows {
            hasher.update(&row.whole.to_le_bytes());
        }
        !self.fingerprints.insert(hasher.digest())
    }

    /// Remembers a page's rows and says of each what it is.
    pub(crate) fn take_in(&mut self, rows: &[Identity]) -> Vec<Repeat> {
        let mut fresh = Vec::new();
        let found = rows
            .iter()
            .map(|row| match self.rows.insert(row.key, row.whole) {
                None => {
                    fresh.push(row.key);
                    Repeat::New
                }
                Some(whole) if whole == row.whole => Repeat::Identical,
                Some(_) => Repeat::Differing,
            })
            .collect();
        if let Some(window) = self.window {
            self.pages.push_back(fresh);
            while self.pages.len() > window {
                for key in self.pages.pop_front().unwrap_or_default() {
                    self.rows.remove(&key);
                }
            }
        }
        found
    }
}
