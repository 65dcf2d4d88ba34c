//! The slices in a store, in the columns of a dataset, without a client.

use std::ffi::OsString;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::civil::Date;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::client::observer::{Note, Observer};
use crate::clock::Millis;
use crate::config::Options;
use crate::config::url::Segment;
use crate::dates::periods::Period;
use crate::dates::slices::Every;
use crate::error::{Error, Result, refuse};
use crate::export::observer::ExportObserver;
use crate::export::page::{FetchedPage, PageRequest, Source};
use crate::listing::Listing;
use crate::listing::columns::Column;
use crate::listing::endpoint::Endpoint;
use crate::listing::rows::Rows;
use crate::slices::reader::{pager, read_pages};
use crate::store::{Content, FinishedExport, FinishedExports};
use crate::table::layout::Layout;
use crate::table::{TableBuilder, arrow_field, number};
use crate::text::message::{Advice, Setting, message};
use crate::text::safe;

/// The owners whose exports are read, if several share a store.
#[derive(Debug)]
pub struct OwnerFilter {
    pub base_url: Option<String>,
    /// The organization: its name, or as the store writes it.
    pub organization: Option<String>,
    /// The environment, which names an owner if these do not.
    pub env: fn(&str) -> Option<OsString>,
}

impl OwnerFilter {
    /// The exports of these owners in the store; an error if there are several owners and the
    /// environment does not narrow them to one.
    pub async fn latest(
        &self,
        stored: &FinishedExports,
        content: Content,
    ) -> Result<Vec<FinishedExport>> {
        let mut exports = stored.latest(content).await?;
        exports.retain(|export| self.has(export));
        if of_one_account(&exports).is_err() {
            let (base_url, organization) = Options::owner_of(self.env)?;
            let label = match organization {
                Some(organization) => Some(stored.label(organization).await?),
                None => None,
            };
            let of_organization =
                |export: &FinishedExport| label.as_ref() == Some(&export.organization);
            let of_address = |export: &FinishedExport| base_url.as_ref() == Some(&export.base_url);
            if exports.iter().any(of_organization) {
                exports.retain(of_organization);
            }
            if exports.iter().any(of_address) {
                exports.retain(of_address);
            }
        }
        of_one_account(&exports).map(|()| exports)
    }

    fn has(&self, export: &FinishedExport) -> bool {
        let stored = &export.organization;
        let named = |name: &String| stored == name || stored.strip_prefix("name:") == Some(name);
        self.base_url
            .as_ref()
            .is_none_or(|url| url.trim_end_matches('/') == export.base_url)
            && self.organization.as_ref().is_none_or(named)
    }
}

/// An error if the store has data of several addresses or organizations. `exports` come account by
/// account.
fn of_one_account(exports: &[FinishedExport]) -> Result<()> {
    let mut accounts: Vec<_> = exports
        .iter()
        .map(|one| (&one.base_url, &one.organization))
        .collect();
    accounts.dedup();
    if accounts.len() < 2 {
        return Ok(());
    }
    let mut text =
        message!["the store has data of several addresses or organizations: name one of them: "];
    for (at, (url, name)) in accounts.into_iter().enumerate() {
        let url = Setting::BaseUrl.to(url.as_str());
        let name = Setting::Organization.to(name.as_str());
        text.push(message![if at == 0 { "" } else { "; " }, url, ", ", name]);
    }
    refuse(text)
}

/// The slices to read.
#[derive(Debug)]
pub struct SliceSelection {
    pub endpoint: &'static Endpoint,
    /// Their length. A table never has slices of several lengths, because unique visitors do not
    /// add up.
    pub every: Every,
    /// The projects; `None`: all of them.
    pub projects: Option<Vec<String>>,
    pub from: Option<Date>,
    /// The day after the last one.
    pub to: Option<Date>,
}

impl SliceSelection {
    /// The slices of `all` in this selection.
    pub fn choose(&self, all: Vec<FinishedExport>) -> Result<Vec<FinishedExport>> {
        let within = |one: &FinishedExport| {
            self.projects
                .as_ref()
                .is_none_or(|ids| ids.contains(&one.project_id))
                && self.from.is_none_or(|from| from <= one.days.from)
                && self.to.is_none_or(|to| one.days.to <= to)
        };
        let (mut wanted, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .filter(within)
            .partition(|one| self.every.is_whole(one.days));
        if let (None, Some(first)) = (wanted.first(), others.first()) {
            let of_length = |every: Every| {
                let one = others.iter().find(|one| every.is_whole(one.days))?;
                Some((every, one))
            };
            let stored = [Every::Month, Every::Week, Every::Day]
                .into_iter()
                .find_map(of_length);
            let other = stored.map_or(first, |(_, one)| one);
            let what = format!(
                "the store has no whole {} of {}{}{}, but other slices, such as {}",
                self.every.as_str(),
                self.endpoint.name,
                self.projects.as_ref().map_or("", |_| " of these projects"),
                match self.from.or(self.to) {
                    Some(_) => " in this range",
                    None => "",
                },
                Period::of(other.days).name(),
            );
            let advice = Advice::FetchSlices {
                listing: self.endpoint.name.to_owned(),
                every: self.every.as_str().to_owned(),
                stored: stored.map(|(every, _)| every.as_str().to_owned()),
            };
            return refuse(message![what, advice]);
        }
        wanted.sort_by(|a, b| (&a.project_id, a.days.from).cmp(&(&b.project_id, b.days.from)));
        Ok(wanted)
    }
}

pub(crate) fn some<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let shown: Vec<_> = ids
        .iter()
        .take(5)
        .map(|id| format!("{:?}", safe(id, 60)))
        .collect();
    match ids.len() {
        ..=5 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 5),
    }
}

/// The columns of a dataset. They do not depend on the data.
pub fn schema(endpoint: &Endpoint) -> SchemaRef {
    let ours = |name, data_type| Field::new(name, data_type, false);
    let mut fields = vec![
        ours("project_id", DataType::Utf8),
        ours("date_from", DataType::Date32),
        ours("date_to", DataType::Date32),
    ];
    let listed = endpoint.fields.iter();
    fields.extend(listed.map(|field| arrow_field(field.name, field.kind, !field.required)));
    fields.push(ours("settled", DataType::Boolean));
    fields.push(Field::new("extra", DataType::Utf8, true));
    Arc::new(Schema::new(fields))
}

/// The rows of the export with this number, as a client with this store would read them.
pub async fn rows(
    endpoint: &'static Endpoint,
    stored: &FinishedExports,
    export: i64,
    settle_days: u32,
    now: Millis,
) -> Result<Vec<RecordBatch>> {
    let export = stored.export(export).await?;
    let mut builder = TableBuilder::new(Layout::of(endpoint.fields));
    read(endpoint, stored, &export, &mut builder).await?;
    let settled = export.is_final(settle_days, now);
    let (schema, table) = (schema(endpoint), builder.finish());
    let batch = |rows: &Rows| {
        let count = rows.len();
        let day = |day: Date| -> ArrayRef { Arc::new(Date32Array::from_value(number(day), count)) };
        let extra = rows.iter().map(|row| row.other.map(Value::to_string));
        let extra: ArrayRef = Arc::new(extra.collect::<StringArray>());
        let project = std::iter::repeat_n(&export.project_id, count);
        let mut all: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(project)),
            day(export.days.from),
            day(export.days.to),
        ];
        all.extend(rows.columns.iter().map(Column::array));
        all.push(Arc::new(BooleanArray::from(vec![settled; count])));
        all.push(extra);
        RecordBatch::try_new(Arc::clone(&schema), all).map_err(Error::bug)
    };
    table.chunks().map(batch).collect()
}

/// Adds all rows of a slice to `builder`, read as a client reads them; returns the findings, in
/// words.
pub(crate) async fn read(
    endpoint: &'static Endpoint,
    stored: &FinishedExports,
    FinishedExport {
        export,
        base_url,
        project_id,
        days,
        page_size,
        ..
    }: &FinishedExport,
    builder: &mut TableBuilder,
) -> Result<Vec<String>> {
    let listing = Listing::days(endpoint, &Segment::stored(project_id), *days);
    let source = Arc::new(DatasetPages {
        stored: stored.clone(),
        listing: listing.clone(),
        export: *export,
    });
    let mut pager = pager(base_url, listing, *page_size, None, |_| source);
    let observer: Arc<dyn ExportObserver> = Arc::new(SilentObserver);
    let read = read_pages(&mut pager, &observer, |page| builder.extend(&page.rows)).await?;
    Ok(read.1)
}

/// The pages of an export in the store.
struct DatasetPages {
    stored: FinishedExports,
    listing: Listing,
    export: i64,
}

impl Source for DatasetPages {
    fn fetch(
        self: Arc<Self>,
        wanted: PageRequest,
        _more: oneshot::Sender<()>,
        _observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, Result<FetchedPage>> {
        async move {
            let (stored, export) = (&self.stored, self.export);
            let page = stored.page(export, wanted.offset).await?;
            FetchedPage::stored(&self.listing, export, &page, stored.store.path())
        }
        .boxed()
    }
}

/// Logs nothing: everything was logged when the pages were fetched.
struct SilentObserver;

impl ExportObserver for SilentObserver {}

impl Observer for SilentObserver {
    fn note(&self, _note: Note) {}
}
