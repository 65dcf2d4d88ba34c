//! The finished exports in a store, for readers without a client: no key, no request.

use std::path::Path;

use rusqlite::{Connection, Row};

use crate::clock::Millis;
use crate::config::account::Organization;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::listing::endpoint::Endpoint;
use crate::listing::page::Totals;
use crate::store::exports::{Content, is_final, whole_page};
use crate::store::fault::Fault;
use crate::store::pages::{self, StoredPage, days, page_size, totals, whole};
use crate::store::{Store, account};

/// A finished export, without its rows.
#[derive(Debug)]
pub struct FinishedExport {
    /// Its number in the store.
    pub export: i64,
    pub base_url: String,
    /// The organization, as the store writes it.
    pub organization: String,
    pub project_id: String,
    pub days: Slice,
    /// The wire's `limit`.
    pub page_size: u32,
    pub begun: Millis,
    pub rows: u64,
    /// The totals of the first page that came.
    pub totals: Option<Totals>,
}

impl FinishedExport {
    /// The columns of a `SELECT` after the number, and its condition.
    const REST: &str =
        "base_url, organization, project_id, date_from, date_to, page_size, begun, rows, human, ai, total
         FROM export JOIN account ON account.id = export.account
         WHERE path = ?1 AND finished IS NOT NULL
             AND project_id IS NOT NULL AND date_from IS NOT NULL AND date_to IS NOT NULL";

    /// `None` if it is not of whole days.
    fn read(row: &Row<'_>) -> Result<Option<Self>, Fault> {
        let Some(days) = days(row, 4)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            export: row.get(0)?,
            base_url: row.get(1)?,
            organization: row.get(2)?,
            project_id: row.get(3)?,
            days,
            page_size: page_size(row, 6)?,
            begun: row.get(7)?,
            rows: whole(row.get(8)?),
            totals: totals(row, 9)?,
        }))
    }

    /// Whether it was fetched long enough after its last day.
    pub fn is_final(&self, settle_days: u32, now: Millis) -> bool {
        is_final(self.begun, self.days.settles(settle_days), now)
    }
}

/// The finished exports of what `path` lists, in one store. A clone is the same.
#[derive(Debug, Clone)]
pub struct FinishedExports {
    pub(crate) store: Store,
    path: String,
    /// See [`whole_page`].
    whole_page: u32,
}

impl FinishedExports {
    /// Those of `endpoint` in the store at `file`.
    pub fn of(file: &Path, endpoint: &Endpoint) -> Result<Self> {
        Ok(Self {
            store: Store::to_read(file)?,
            path: endpoint.path.to_owned(),
            whole_page: whole_page(endpoint.paged_by, endpoint.max_page_size),
        })
    }

    /// The latest export that has `content`, of each account, project and range, in that order.
    pub async fn latest(&self, content: Content) -> Result<Vec<FinishedExport>> {
        let (path, whole_page) = (self.path.clone(), self.whole_page);
        let has = match content {
            Content::Pages => "kind = 'pages'",
            // They come with the first page, too.
            Content::Totals => "total IS NOT NULL",
        };
        let look = move |connection: &mut Connection| {
            // SQLite takes the other columns from the row that has the maximum.
            let mut latest = connection.prepare(&format!(
                "SELECT max(export.id), {} AND {has} AND (page_size >= ?2 OR rows < page_size)
                 GROUP BY account, project_id, date_from, date_to
                 ORDER BY base_url, organization, project_id, date_from, date_to",
                FinishedExport::REST
            ))?;
            let found = latest.query_and_then((path, whole_page), FinishedExport::read)?;
            found.filter_map(Result::transpose).collect()
        };
        self.store.run(look).await
    }

    /// The label of an organization in the store.
    pub async fn label(&self, organization: Organization) -> Result<String> {
        self.store
            .run(move |connection: &mut Connection| {
                Ok(organization.label(&account::salt(&connection.transaction()?)?))
            })
            .await
    }

    pub async fn export(&self, export: i64) -> Result<FinishedExport> {
        let path = self.path.clone();
        let look = move |connection: &mut Connection| {
            let sql = format!(
                "SELECT export.id, {} AND kind = 'pages' AND export.id = ?2",
                FinishedExport::REST
            );
            let found = pages::first(connection, &sql, (path, export), FinishedExport::read)?;
            found.flatten().ok_or(Fault::Deleted(export))
        };
        self.store.run(look).await
    }

    pub async fn page(&self, export: i64, offset: u64) -> Result<StoredPage> {
        let find = move |connection: &mut Connection| {
            pages::find(connection, export, pages::AT, offset)?.ok_or(Fault::Deleted(export))
        };
        self.store.run(find).await
    }
}
