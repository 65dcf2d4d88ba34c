//! The pages of an export in order: first those that came and that nobody took, then those that the pager gets.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Result;
use crate::observer::Observer;
use crate::pager::{Pager, Turn};

/// See the module. A future of it that is dropped loses no page.
pub struct Coming {
    pager: Pager,
    came: VecDeque<Turn>,
}

impl Coming {
    /// Those that `pager` gets.
    pub fn new(pager: Pager) -> Self {
        Self { pager, came: VecDeque::new() }
    }

    /// The next page, or `None` at the end.
    pub async fn next(&mut self, observer: &Arc<dyn Observer>) -> Result<Option<Turn>> {
        self.look(observer).await?;
        Ok(self.take())
    }

    /// Makes sure that a page is there; there is none at the end.
    pub async fn look(&mut self, observer: &Arc<dyn Observer>) -> Result<()> {
        if self.came.is_empty() {
            self.came.extend(self.pager.next_page(observer).await?);
        }
        Ok(())
    }

    /// The next page, if it is there.
    pub fn front(&self) -> Option<&Turn> {
        self.came.front()
    }

    /// Takes it.
    pub fn take(&mut self) -> Option<Turn> {
        self.came.pop_front()
    }

    /// Puts pages before all others.
    pub fn put_back(&mut self, turns: impl Iterator<Item = Turn>) {
        let later = std::mem::take(&mut self.came);
        self.came = turns.chain(later).collect();
    }

    /// What gets the pages.
    pub fn pager(&self) -> &Pager {
        &self.pager
    }

    /// See [`Pager::remember_all`].
    pub fn remember_all(&mut self) {
        self.pager.remember_all();
    }
}
