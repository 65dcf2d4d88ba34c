//! Checkpoints: what is written can be read, and nothing else is accepted.

use docplatform::config::url::Template;
use docplatform::error::Kind;
use docplatform::export::checkpoint::Checkpoint;
use docplatform::listing::Listing;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::page::Totals;
use proptest::prelude::*;
use serde_json::Value;

use super::cases;
use crate::helpers::site::shape;
use crate::helpers::support::{BASE_URL, segment};

fn any_listing() -> impl Strategy<Value = Listing> {
    let date = prop::option::of("20[0-9]{2}-0[1-9]-[12][0-9]");
    let visitors = ("[^/\\\\?#%\\s\\pC]{1,40}", date.clone(), date).prop_filter_map(
        "no id",
        |(project, from, to)| {
            let project = docplatform::config::url::Segment::parse("project", &project).ok()?;
            Some(Listing::of(VISITORS, &project, from, to))
        },
    );
    let query = prop::collection::vec(("[a-z]{1,8}", any::<String>()), 0..4);
    let other =
        (query, "[a-z]{1,5}", "[A-Z]{1,5}").prop_filter_map("reserved", |(query, items, more)| {
            let path = Template::parse("path", "/v1/analytics/{project_id}/feedback").ok()?;
            Listing::other(&path, Some(&segment("demo")), query, shape(&items, &more)).ok()
        });
    prop_oneof![visitors, other]
}

fn any_count() -> impl Strategy<Value = i64> {
    0..=i64::MAX
}

prop_compose! {
    fn any_checkpoint()(
        listing in any_listing(),
        page_size in 1..=250_u32,
        (offset, rows) in (any_count(), any_count()),
        done in any::<bool>(),
        totals in prop::option::of((any_count(), any_count(), any_count())),
    ) -> Checkpoint {
        let mut place = Checkpoint::new(BASE_URL, listing, page_size, offset.unsigned_abs());
        place.rows = rows.unsigned_abs();
        place.done = done;
        place.totals = totals.map(|(human, ai, total)| Totals { human, ai, total });
        place
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_is_written_is_read_again(place in any_checkpoint()) {
        let text = place.text();
        prop_assert_eq!(Checkpoint::parse(&text, BASE_URL).unwrap(), place.clone());
        let elsewhere = Checkpoint::parse(&text, "https://other.example.com").unwrap_err();
        prop_assert_eq!(elsewhere.kind, Kind::Argument);
    }

    /// Rows: J14.
    #[test]
    fn no_text_is_taken_for_one(text in any::<String>(), cut in any::<prop::sample::Index>(), place in any_checkpoint()) {
        prop_assert!(Checkpoint::parse(&text, BASE_URL).is_err());
        let whole = place.text();
        let cut = whole.floor_char_boundary(cut.index(whole.len()));
        prop_assert!(Checkpoint::parse(&whole[..cut], BASE_URL).is_err());
    }

    /// Rows: J14.
    #[test]
    fn one_that_was_changed_is_refused_or_means_what_it_says(
        place in any_checkpoint(),
        at in any::<prop::sample::Index>(),
        to in prop_oneof!["[0-9]{0,3}", "[ -~]{0,3}", any::<char>().prop_map(String::from)],
        length in 0..4_usize,
    ) {
        let mut text = place.text();
        let start = text.floor_char_boundary(at.index(text.len()));
        let end = text.floor_char_boundary((start + length).min(text.len())).max(start);
        text.replace_range(start..end, &to);
        if let Ok(read) = Checkpoint::parse(&text, BASE_URL) {
            let (said, means): (Value, Value) =
                (serde_json::from_str(&text).unwrap(), serde_json::from_str(&read.text()).unwrap());
            for (name, value) in said.as_object().unwrap() {
                let empty = name == "seen" && *value == "";
                prop_assert!(empty || Some(value) == means.get(name), "{}: {}", name, text);
            }
            prop_assert!(i64::try_from(read.offset).is_ok() && (1..=read.listing.endpoint().max_page_size).contains(&read.page_size));
        }
    }
}
