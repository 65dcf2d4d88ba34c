//! The source of an export's pages and of a range's totals: the client's store, or the service.

use std::sync::Arc;

use crate::client::Client;
use crate::client::observer::{Note, Observer};
use crate::error::{Error, Kind, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::flight;
use crate::export::page::{PageRequest, Source};
use crate::export::service::ServicePages;
use crate::export::stored::{StoredPages, keep};
use crate::listing::Listing;
use crate::listing::page::{Page, Totals};
use crate::store::{Content, Range};

/// The source of the pages of an export at `place`. `refresh`: pages of earlier
/// exports are not used.
pub fn source(client: Client, place: &Checkpoint, refresh: bool) -> Arc<dyn Source> {
    let exports = client
        .exports()
        .filter(|_| place.listing.is_known())
        .cloned();
    let service = ServicePages::new(client, place.listing.clone());
    match exports {
        None => Arc::new(service),
        Some(exports) => Arc::new(StoredPages::new(service, exports, place.page_size, refresh)),
    }
}

/// The request for the totals.
const FIRST_ROW: PageRequest = PageRequest {
    days: None,
    offset: 0,
    cursor: None,
    limit: 1,
    regular: true,
};

/// The totals of a range from the store. Without them, or if the client is set to refresh, one
/// request for one row; a store keeps the answer.
pub async fn totals(client: &Client, listing: &Listing, observer: &dyn Observer) -> Result<Totals> {
    let mut deadline = client.deadline();
    let service = ServicePages::new(client.clone(), listing.clone());
    let Some(exports) = client.exports() else {
        let asked = service.ask(&FIRST_ROW, None, &mut deadline, observer);
        return totals_of(&asked.await?.page);
    };
    let look = async {
        let range = Range::of(listing, client.settings().settle_days);
        let refresh = client.settings().refresh;
        let kinds = [Content::Totals, Content::Pages].into_iter();
        for what in kinds.filter(|_| !refresh) {
            let stock = exports.stored_range(range.clone(), what, 1).await?;
            if let Some(totals) = stock.finished.and_then(|export| export.totals) {
                return Ok(Err(totals));
            }
        }
        let begun = exports.begin(range, Content::Totals, 1, refresh);
        begun.await.map(Ok)
    };
    let export = match exports.0.store.within(deadline, look).await? {
        Ok(export) => export,
        Err(totals) => return Ok(totals),
    };
    let kept_in = (exports, export.id);
    let fetched = flight::ask(&service, kept_in, &FIRST_ROW, &mut deadline, observer);
    let mut fetched = fetched.await?;
    let totals = totals_of(&fetched.page)?;
    if fetched.body.is_some()
        && let Err(error) = keep(
            &service,
            exports,
            &export,
            &mut fetched,
            (0, 1),
            deadline,
            observer,
        )
        .await
    {
        let text = format!(
            "the totals are returned, but the store could not keep them: {}",
            error.message
        );
        observer.note(Note::warning(text, service.about().with(&error)));
    }
    Ok(totals)
}

fn totals_of(page: &Page) -> Result<Totals> {
    page.totals
        .ok_or_else(|| Error::new(Kind::Response, "the answer has no totals"))
}
