//! Finds rows that come a second time, because the data moves or the service sends short pages, and
//! removes those that are unchanged: rows with a key ([`Seen`]), rows without one ([`overlap`]), and
//! whole pages.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::listing::rows::Identity;

/// The identities are hashes already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
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

/// It lets the order of the keys count. It is odd, so that no bit of an earlier key is lost.
const KEY_FACTOR: u64 = 0x9e37_79b1_85eb_ca87;

type Hashed = BuildHasherDefault<IdentityHasher>;

/// How a row compares with those seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    New,
    Identical,
    /// Its key was seen, and not with these values, as far as is remembered.
    Differing,
}

/// How many of the first `rows` repeat the last `known` ones. Rows without a key are compared in
/// their order, because two equal rows may both be right.
pub(crate) fn overlap(known: &[Identity], rows: &[Identity]) -> usize {
    let most = known.len().min(rows.len());
    let is_end = |&count: &usize| known.ends_with(rows.get(..count).unwrap_or_default());
    (1..=most).rev().find(is_end).unwrap_or_else(|| {
        // A page may be too short to reach the end of the known rows. With equal rows among them,
        // this would be a guess.
        let different: HashSet<_> = known.iter().map(|row| row.whole).collect();
        let is_within = !rows.is_empty()
            && different.len() == known.len()
            && known.windows(rows.len()).any(|some| some == rows);
        if is_within { rows.len() } else { 0 }
    })
}

/// The indices of the rows to hand out: without the first `skip` ones that have no key, and without
/// repeats. `None`: all.
pub(crate) fn without_repeats(
    identities: &[Identity],
    repeats: &[Repeat],
    skip: usize,
) -> Option<Vec<u32>> {
    if skip == 0 && repeats.iter().all(|&repeat| repeat == Repeat::New) {
        return None;
    }
    let is_new = |(row, (repeat, identity)): &(u32, (&Repeat, &Identity))| {
        if identity.has_key() {
            **repeat != Repeat::Identical
        } else {
            *row as usize >= skip
        }
    };
    let rest = (0..)
        .zip(repeats.iter().zip(identities))
        .filter(is_new)
        .map(|(row, _)| row)
        .collect();
    Some(rest)
}

/// How a row was seen last.
#[derive(Debug, Clone, Copy)]
struct SeenRow {
    /// See [`Identity::whole`].
    whole: u32,
    /// The last page that brought it.
    page: u32,
}

/// A map by hashes, split into parts that grow one at a time, because a single map takes three
/// times its memory while it grows. The parts have different sizes, so that they do not all grow at
/// once: of 768 shares, part `k` has `2k + 33` (those between the squares of `k + 16` and
/// `k + 17`).
#[derive(Debug)]
struct ShardedMap<T>([HashMap<u64, T, Hashed>; 16]);

impl<T> Default for ShardedMap<T> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<T: Copy> ShardedMap<T> {
    /// The part is chosen by the bits that a map itself uses least.
    fn part(key: u64) -> usize {
        let share = ((key >> 40 & 0xffff) * 768) >> 16;
        usize::try_from((256 + share).isqrt() - 16).unwrap_or_default()
    }

    fn insert(&mut self, key: u64, value: T) -> Option<T> {
        self.0.get_mut(Self::part(key))?.insert(key, value)
    }

    fn remove_if(&mut self, key: u64, is_it: impl FnOnce(&T) -> bool) {
        let part = self.0.get_mut(Self::part(key));
        if let Some(part) = part.filter(|part| part.get(&key).is_some_and(is_it)) {
            part.remove(&key);
        }
    }
}

/// A page that was read: its rows, and the offset after the last row that it could have had. After
/// that offset its rows are sent twice only if the data moves; the window is for those.
#[derive(Debug)]
struct SeenPage {
    rows: Vec<Identity>,
    until: u64,
}

/// The rows of the last pages, or of all.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The last row of each key.
    rows: ShardedMap<SeenRow>,
    /// Earlier rows of those keys, with other values, and the last page that brought each: few,
    /// unless the data moves.
    earlier: HashMap<u64, u32, Hashed>,
    /// Pages, oldest first, that may bring their rows again or are within the window.
    pages: VecDeque<SeenPage>,
    count: u32,
    /// How many pages are remembered; `None`: all.
    pub(crate) window: Option<usize>,
    /// A hash of every page that promises more, also outside the window: some ten bytes a page.
    fingerprints: ShardedMap<()>,
}

impl Seen {
    pub(crate) fn new(window: Option<usize>) -> Self {
        Self {
            window,
            ..Self::default()
        }
    }

    /// Whether a page with the same keys came before. Keys are compared, or whole rows if they have
    /// no key: a service that keeps sending the same keys makes an export endless, also if the
    /// counts change.
    pub(crate) fn page_again(&mut self, rows: &[Identity]) -> bool {
        let keys = rows.iter().fold(0_u64, |keys, row| {
            let key = match row.has_key() {
                true => row.key,
                false => row.whole.into(),
            };
            keys.wrapping_mul(KEY_FACTOR).wrapping_add(key)
        });
        self.fingerprints.insert(keys, ()).is_some()
    }

    /// Remembers the rows of a page, and compares each with earlier ones. Before the offset
    /// `until`, short pages can bring them again.
    pub(crate) fn take_in(&mut self, rows: &[Identity], until: u64) -> Vec<Repeat> {
        let page = self.count;
        self.count += 1;
        let found = rows.iter().map(|row| self.note(row, page)).collect();
        self.pages.push_back(SeenPage {
            rows: rows.to_vec(),
            until,
        });
        found
    }

    fn note(&mut self, row: &Identity, page: u32) -> Repeat {
        if !row.has_key() {
            return Repeat::New;
        }
        let Identity { key, whole } = *row;
        match self.rows.insert(key, SeenRow { whole, page }) {
            None => Repeat::New,
            Some(last) if last.whole == whole => Repeat::Identical,
            Some(SeenRow { whole, page }) => {
                let was = Identity { key, whole };
                self.earlier.insert(was.digest(), page);
                match self.earlier.remove(&row.digest()) {
                    Some(_) => Repeat::Identical,
                    None => Repeat::Differing,
                }
            }
        }
    }

    /// Forgets the pages that are before `offset` and outside of the window.
    pub(crate) fn forget(&mut self, offset: u64) {
        while let Some(brought) = self.pages.front()
            && brought.until <= offset
            && self.window.is_none_or(|window| self.pages.len() > window)
        {
            let oldest = self.count - u32::try_from(self.pages.len()).unwrap_or(self.count);
            let rows = self.pages.pop_front().map(|brought| brought.rows);
            let rows = rows.filter(|_| self.window.is_some());
            for row in rows.unwrap_or_default() {
                // A row that came again since is forgotten later.
                self.rows.remove_if(row.key, |last| last.page == oldest);
                let digest = row.digest();
                if self.earlier.get(&digest) == Some(&oldest) {
                    self.earlier.remove(&digest);
                }
            }
        }
    }
}
