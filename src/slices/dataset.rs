//! The slices that a store has, in the columns of a dataset, without a client.

use std::ffi::OsString;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::civil::Date;

use crate::client::observer::{Note, Observer};
use crate::clock::Millis;
use crate::config::Options;
use crate::config::url::Segment;
use crate::dates::Moment;
use crate::dates::slices::{Every, Slice};
use crate::error::{Error, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::observer::ExportObserver;
use crate::export::pager::{Fetched, Pager, Paging, Source, Wanted};
use crate::export::stored;
use crate::listing::Listing;
use crate::listing::endpoint::Endpoint;
use crate::store::{FinishedExport, FinishedExports, is_final};
use crate::table::record::Layout;
use crate::table::{Builder, Table, arrow_field, number};
use crate::text::safe;

/// A slice in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetSlice {
    /// The export.
    pub held: FinishedExport,
    /// Its days.
    pub days: Slice,
    /// Whether they lay far enough in the past when it was fetched.
    pub settled: bool,
}

impl DatasetSlice {
    pub(crate) fn of(held: FinishedExport, settle_days: u32, now: Millis) -> Option<Self> {
        let day = |text: &str| Moment::parse("date", text).ok()?.day();
        let days = Slice { from: day(&held.date_from)?, to: day(&held.date_to)? };
        let settled = is_final(held.begun, days.settles(settle_days), now);
        Some(Self { held, days, settled })
    }
}

/// Which slices are wanted.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Of which endpoint.
    pub endpoint: &'static Endpoint,
    /// How long they are: slices of several lengths never stand in one table, as uniques do not add up.
    pub every: Every,
    /// Of which projects; `None`: of all.
    pub projects: Option<Vec<String>>,
    /// The first day.
    pub from: Option<Date>,
    /// The day after the last one.
    pub to: Option<Date>,
    /// Of which service.
    pub base_url: Option<String>,
    /// Of which organization: its name, or as the store writes it.
    pub organization: Option<String>,
    /// How many days after its end a slice is treated as final.
    pub settle_days: u32,
    /// The time of day.
    pub now: Millis,
}

impl Wish {
    /// The slices of `all` that are wanted.
    pub fn choose(&self, all: Vec<FinishedExport>) -> Result<Vec<DatasetSlice>> {
        let slices = all.into_iter().filter(|held| self.is_of(held));
        let slices: Vec<_> =
            slices.filter_map(|held| DatasetSlice::of(held, self.settle_days, self.now)).collect();
        of_one_account(&slices)?;
        if let Some(wanted) = &self.projects {
            let held = |id: &&String| !slices.iter().any(|slice| slice.held.project_id == **id);
            if let Some(missing) = wanted.iter().find(held) {
                return Err(Error::argument(format!(
                    "projects: the store holds no {} of {:?}; it holds those of {}",
                    self.endpoint.name,
                    safe(missing, 60),
                    some(slices.iter().map(|slice| slice.held.project_id.as_str())),
                )));
            }
        }
        let within = |slice: &DatasetSlice| {
            self.projects.as_ref().is_none_or(|ids| ids.contains(&slice.held.project_id))
                && self.from.is_none_or(|from| from <= slice.days.from)
                && self.to.is_none_or(|to| slice.days.to <= to)
        };
        let (mut wanted, others): (Vec<_>, Vec<_>) =
            slices.into_iter().filter(within).partition(|slice| self.every.is_whole(slice.days));
        if let (None, Some(other)) = (wanted.first(), others.first()) {
            return Err(Error::argument(format!(
                "the store holds no whole slices of {} with every={:?} in this range; it holds {} others, as from {} to {}",
                self.endpoint.name,
                self.every.as_str(),
                others.len(),
                other.days.from,
                other.days.to,
            )));
        }
        wanted.sort_by(|a, b| (&a.held.project_id, a.days.from).cmp(&(&b.held.project_id, b.days.from)));
        Ok(wanted)
    }

    /// Whether an export is of the service and organization that are wanted.
    pub fn is_of(&self, held: &FinishedExport) -> bool {
        is_of(held, self.base_url.as_deref(), self.organization.as_deref())
    }
}

/// Whether an export is of this service and organization, as far as they are named.
pub(crate) fn is_of(held: &FinishedExport, base_url: Option<&str>, organization: Option<&str>) -> bool {
    let named =
        |name: &str| held.organization == name || held.organization.strip_prefix("name:") == Some(name);
    base_url.is_none_or(|url| url.trim_end_matches('/') == held.base_url) && organization.is_none_or(named)
}

fn account(held: &FinishedExport) -> (&str, &str) {
    (&held.base_url, &held.organization)
}

/// Of what several owners fetched, account by account, what the owner that the environment names did, as far as the store has that.
pub async fn of_environment(
    holdings: &FinishedExports,
    mut held: Vec<FinishedExport>,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<FinishedExport>> {
    if held.first().map(account) == held.last().map(account) {
        return Ok(held);
    }
    let (base_url, organization) = Options::owner_of(env)?;
    let label = match organization {
        Some(organization) => Some(holdings.label(organization).await?),
        None => None,
    };
    let of_organization = |held: &FinishedExport| label.as_ref() == Some(&held.organization);
    let of_address = |held: &FinishedExport| base_url.as_ref() == Some(&held.base_url);
    if held.iter().any(of_organization) {
        held.retain(of_organization);
    }
    if held.iter().any(of_address) {
        held.retain(of_address);
    }
    Ok(held)
}

/// An error if the store has what several organizations fetched. They come account by account.
pub(crate) fn of_one_account(slices: &[DatasetSlice]) -> Result<()> {
    match (slices.first(), slices.last()) {
        (Some(first), Some(last)) if account(&first.held) != account(&last.held) => Err(several(slices)),
        _ => Ok(()),
    }
}

fn several(slices: &[DatasetSlice]) -> Error {
    let mut accounts: Vec<_> = slices.iter().map(|slice| account(&slice.held)).collect();
    accounts.dedup();
    let accounts: Vec<_> = accounts
        .iter()
        .map(|(url, name)| format!("base_url={:?}, organization={:?}", safe(url, 200), safe(name, 60)))
        .collect();
    Error::argument(format!(
        "the store has data of several organizations: name one of them: {}",
        accounts.join("; "),
    ))
}

pub(crate) fn some<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let shown: Vec<_> = ids.iter().take(5).map(|id| format!("{:?}", safe(id, 60))).collect();
    match ids.len() {
        0 => "none".to_owned(),
        1..=5 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 5),
    }
}

/// The rows of some slices in columns that are the same whatever the service sent.
#[derive(Debug)]
pub struct DatasetRows {
    /// How many.
    pub len: usize,
    /// In Arrow's memory.
    pub batches: Vec<RecordBatch>,
}

impl DatasetRows {
    /// The columns.
    pub fn schema(endpoint: &Endpoint) -> SchemaRef {
        let ours = |name, data_type| Field::new(name, data_type, false);
        let mut fields = vec![
            ours("project_id", DataType::Utf8),
            ours("date_from", DataType::Date32),
            ours("date_to", DataType::Date32),
        ];
        fields.extend(endpoint.fields.iter().map(arrow_field));
        fields.push(ours("settled", DataType::Boolean));
        fields.push(Field::new("extra", DataType::Utf8, true));
        Arc::new(Schema::new(fields))
    }

    /// None.
    pub fn none() -> Self {
        Self { len: 0, batches: Vec::new() }
    }

    /// Reads the exports with these numbers, as a client with this store would.
    pub async fn read(
        endpoint: &'static Endpoint,
        holdings: &FinishedExports,
        exports: &[i64],
        settle_days: u32,
        now: Millis,
    ) -> Result<Self> {
        let (mut rows, schema) = (Self::none(), Self::schema(endpoint));
        for &export in exports {
            let held = holdings.export(export).await?;
            let Some(slice) = DatasetSlice::of(held, settle_days, now) else {
                return Err(Error::argument(format!("export {export} is not of whole days")));
            };
            let table = collect(endpoint, holdings, &slice).await?;
            rows.len += table.len();
            rows.batches.extend(batches(&slice, &table, &schema)?);
        }
        Ok(rows)
    }
}

async fn collect(
    endpoint: &'static Endpoint,
    holdings: &FinishedExports,
    slice: &DatasetSlice,
) -> Result<Table> {
    let mut builder = Builder::new(Layout::of(endpoint.fields));
    read(endpoint, holdings, slice, &mut builder).await?;
    Ok(builder.finish())
}

/// Adds all rows of a slice to `builder`, by the way that a client's rows go; what was found in them, in words.
pub(crate) async fn read(
    endpoint: &'static Endpoint,
    holdings: &FinishedExports,
    slice: &DatasetSlice,
    builder: &mut Builder,
) -> Result<Vec<String>> {
    let FinishedExport { export, base_url, project_id, page_size, .. } = &slice.held;
    let listing = Listing::days(endpoint, &Segment::stored(project_id), slice.days);
    let place = Checkpoint::new(base_url, listing.clone(), *page_size, 0);
    let source = Arc::new(DatasetPages { holdings: holdings.clone(), listing, export: *export });
    let mut pager =
        Pager::new(source, place, Paging { max_rows: None, prefetch: 1, strict: false, window: None });
    let observer: Arc<dyn ExportObserver> = Arc::new(Nobody);
    while let Some(turn) = pager.next_page(&observer).await? {
        builder.extend(&turn.rows);
    }
    Ok(pager.warnings())
}

/// The rows of a slice, with what is the same in all of them.
fn batches(slice: &DatasetSlice, table: &Table, schema: &SchemaRef) -> Result<Vec<RecordBatch>> {
    let mut extras = table.extras().iter().peekable();
    let batch = |(rows, columns): (std::ops::Range<usize>, Vec<ArrayRef>)| {
        let count = rows.len();
        let day = |day: Date| -> ArrayRef { Arc::new(Date32Array::from_value(number(day), count)) };
        let extra = rows.map(|row| {
            let (_, extra) = extras.next_if(|(at, _)| *at == row)?;
            Some(serde_json::to_string(extra).map_err(Error::bug))
        });
        let extra: Vec<_> = extra.map(Option::transpose).collect::<Result<_>>()?;
        let extra: ArrayRef = Arc::new(StringArray::from(extra));
        let project = std::iter::repeat_n(slice.held.project_id.as_str(), count);
        let mut all: Vec<ArrayRef> =
            vec![Arc::new(StringArray::from_iter_values(project)), day(slice.days.from), day(slice.days.to)];
        all.extend(columns);
        all.push(Arc::new(BooleanArray::from(vec![slice.settled; count])));
        all.push(extra);
        RecordBatch::try_new(Arc::clone(schema), all).map_err(Error::bug)
    };
    table.chunks().map(batch).collect()
}

/// The pages of an export that is held.
struct DatasetPages {
    holdings: FinishedExports,
    listing: Listing,
    export: i64,
}

impl Source for DatasetPages {
    fn fetch(&self, wanted: Wanted, _observer: Arc<dyn Observer>) -> BoxFuture<'static, Result<Fetched>> {
        let (holdings, listing, export) = (self.holdings.clone(), self.listing.clone(), self.export);
        async move {
            let page = holdings.page(export, wanted.offset).await?;
            let limit = page.asked;
            let decode =
                move || stored::decode(&listing, export, &page).map_err(|fault| holdings.fault(&fault));
            Ok(Fetched { limit, promises_more: false, decode: Box::new(decode) })
        }
        .boxed()
    }
}

/// What there is to log was logged when the pages were fetched.
struct Nobody;

impl ExportObserver for Nobody {}

impl Observer for Nobody {
    fn note(&self, _note: Note) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_767_916_800_000; // 2026-01-09

    fn held(export: i64, account: &str, project: &str, from: &str, to: &str) -> FinishedExport {
        let (base_url, organization) = ("https://docs.example".to_owned(), account.to_owned());
        let (date_from, date_to) = (from.to_owned(), to.to_owned());
        let project_id = project.to_owned();
        let begun = NOW;
        FinishedExport {
            export,
            base_url,
            organization,
            project_id,
            date_from,
            date_to,
            page_size: 250,
            begun,
            rows: 1,
            totals: None,
        }
    }

    fn all() -> Vec<FinishedExport> {
        vec![
            held(1, "name:acme", "b", "2026-01-05", "2026-01-06"),
            held(2, "name:acme", "b", "2026-01-05", "2026-01-12"),
            held(3, "name:acme", "b", "2026-01-05", "2026-01-05T12:00"),
            held(7, "name:acme", "b", "2026-01-05T12:00", "2026-01-06T12:00"),
            held(8, "name:acme", "b", "2026-01-05T00:00:00Z", "2026-01-06"),
            held(4, "name:acme", "a", "2026-01-07", "2026-01-08"),
            held(5, "name:acme", "a", "2026-01-06", "2026-01-07"),
            held(6, "name:acme", "a", "2026-01-01", "2026-01-05"),
        ]
    }

    fn wish(every: Every) -> Wish {
        let (projects, from, to, base_url, organization) = (None, None, None, None, None);
        let endpoint = crate::listing::endpoint::VISITORS;
        Wish { endpoint, every, projects, from, to, base_url, organization, settle_days: 2, now: NOW }
    }

    fn chosen(wish: &Wish, all: Vec<FinishedExport>) -> Vec<(i64, bool)> {
        let slices = wish.choose(all).unwrap();
        slices.iter().map(|slice| (slice.held.export, slice.settled)).collect()
    }

    #[test]
    fn whole_slices_of_one_length_are_chosen() {
        assert_eq!(chosen(&wish(Every::Day), all()), [(5, true), (4, false), (1, true)]);
        assert_eq!(chosen(&wish(Every::Week), all()), [(2, false)]);
        let some = Wish { projects: Some(vec!["b".to_owned()]), ..wish(Every::Day) };
        assert_eq!(chosen(&some, all()), [(1, true)]);
        let some =
            Wish { from: "2026-01-06".parse().ok(), to: "2026-01-07".parse().ok(), ..wish(Every::Day) };
        assert_eq!(chosen(&some, all()), [(5, true)]);
        assert_eq!(chosen(&wish(Every::Day), Vec::new()), []);
        // Fetched while the clock was ahead: whether those days were over is unknown.
        let earlier = Wish { now: NOW - 1, ..wish(Every::Day) };
        assert_eq!(chosen(&earlier, all()), [(5, false), (4, false), (1, false)]);
    }

    #[test]
    fn senseless_selections_are_errors() {
        let refused = |wish: &Wish, all| wish.choose(all).unwrap_err().message.clone();
        assert!(refused(&wish(Every::Month), all()).contains("it holds 5 others, as from 2026-01-05 to"));
        let missing = Wish { projects: Some(vec!["c".to_owned()]), ..wish(Every::Day) };
        assert!(refused(&missing, all()).contains(r#"no visitors of "c"; it holds those of "a", "b""#));
        let mut both = all();
        both.push(held(9, "name:other", "a", "2026-01-06", "2026-01-07"));
        let message = refused(&wish(Every::Day), both.clone());
        assert!(message.contains(r#"organization="name:acme"; base_url"#), "{message}");
        let other = Wish { organization: Some("other".to_owned()), ..wish(Every::Day) };
        assert_eq!(chosen(&other, both.clone()), [(9, true)]);
        let other = Wish { organization: Some("name:other".to_owned()), ..wish(Every::Day) };
        assert_eq!(chosen(&other, both.clone()), [(9, true)]);
        let other = Wish { base_url: Some("https://docs.example/".to_owned()), ..wish(Every::Day) };
        assert!(other.choose(both.clone()).is_err());
        let other = Wish { base_url: Some("https://other.example".to_owned()), ..wish(Every::Day) };
        assert_eq!(chosen(&other, both), []);
    }
}
