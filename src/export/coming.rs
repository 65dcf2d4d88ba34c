//! The pages of an export in order: first those that came and that nobody took, then those that the pager gets.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Result;
use crate::export::observer::ExportObserver;
use crate::export::pager::{Pager, Turn};

/// See the module. A future of it that is dropped loses no page.
pub struct Coming {
    pager: Pager,
    next: Option<Turn>,
    /// Pages that were put back: each lot is made page by page.
    back: VecDeque<Box<dyn Iterator<Item = Turn> + Send>>,
}

impl Coming {
    /// Those that `pager` gets.
    pub fn new(pager: Pager) -> Self {
        Self { pager, next: None, back: VecDeque::new() }
    }

    /// The next page, or `None` at the end.
    pub async fn next(&mut self, observer: &Arc<dyn ExportObserver>) -> Result<Option<Turn>> {
        self.look(observer).await?;
        Ok(self.take())
    }

    /// Makes sure that a page is there; there is none at the end.
    pub async fn look(&mut self, observer: &Arc<dyn ExportObserver>) -> Result<()> {
        while self.next.is_none()
            && let Some(back) = self.back.front_mut()
        {
            self.next = back.next();
            if self.next.is_none() {
                self.back.pop_front();
            }
        }
        if self.next.is_none() {
            self.next = self.pager.next_page(observer).await?;
        }
        Ok(())
    }

    /// The next page, if it is there.
    pub fn front(&self) -> Option<&Turn> {
        self.next.as_ref()
    }

    /// Takes it.
    pub fn take(&mut self) -> Option<Turn> {
        self.next.take()
    }

    /// Puts pages before all others.
    pub fn put_back(&mut self, turns: impl Iterator<Item = Turn> + Send + 'static) {
        if let Some(next) = self.next.take() {
            self.back.push_front(Box::new(std::iter::once(next)));
        }
        self.back.push_front(Box::new(turns));
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
