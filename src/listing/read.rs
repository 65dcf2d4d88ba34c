//! Reads a page of any endpoint, straight into columns.
//!
//! Required fields are read strictly. An optional value that does not fit its column is kept as the service sent it, because
//! most endpoints are only known from their answers.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

use crate::dates::parse_instant;
use crate::listing::Listing;
use crate::listing::endpoint::{Field, Holds, PagedBy};
use crate::listing::rows::{Cell, ColumnOfCells, Page, Rows, Totals};
use crate::text::json::{Count, whole};

/// The cursor of the next page; `None` on the last page.
pub(crate) struct NextCursor(pub(crate) Option<String>);

/// What came of an answer so far, with no default anywhere: a missing flag would end an export in silence.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) totals: Option<Totals>,
    pub(crate) rows: Option<Rows>,
    pub(crate) has_more: Option<bool>,
    pub(crate) next: Option<NextCursor>,
}

impl Parts {
    /// All of the answer; where a part is missing, its name.
    pub(crate) fn page(self, listing: &Listing) -> Result<Page, &str> {
        let mut rows = self.rows.ok_or(listing.items())?;
        if let Some(page) = listing.endpoint().page {
            rows.add_paths(page);
        }
        if listing.endpoint().totals && self.totals.is_none() {
            return Err("totals");
        }
        let has_more = match (self.has_more, &self.next) {
            (Some(has_more), _) => has_more,
            (None, Some(next)) if listing.paged_by() == PagedBy::Cursor => next.0.is_some(),
            _ => {
                return Err(listing
                    .has_more()
                    .or(listing.next_cursor())
                    .unwrap_or_default());
            }
        };
        let cursor = self.next.and_then(|next| next.0);
        Ok(Page {
            rows,
            totals: self.totals,
            has_more,
            cursor,
            repaired: false,
        })
    }
}

/// Reads the answer of a listing.
#[derive(Clone, Copy)]
pub(crate) struct AnswerOf<'a>(pub(crate) &'a Listing);

impl<'de> DeserializeSeed<'de> for AnswerOf<'_> {
    type Value = Page;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Page, D::Error> {
        let mut parts = Parts::default();
        deserializer.deserialize_map(ObjectOf {
            listing: self.0,
            path: String::new(),
            parts: &mut parts,
        })?;
        parts.page(self.0).map_err(missing)
    }
}

/// Reads an object of an answer: the answer itself, or one that a path such as `data.items` leads through.
struct ObjectOf<'a> {
    listing: &'a Listing,
    /// The path to it, with a dot at its end.
    path: String,
    parts: &'a mut Parts,
}

impl<'de> DeserializeSeed<'de> for ObjectOf<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ObjectOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// Nothing has no cursor in it.
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        match self.listing.next_cursor() {
            Some(next) if next.starts_with(&self.path) => {
                set(&mut self.parts.next, next, NextCursor(None))
            }
            _ => Ok(()),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self {
            listing,
            path,
            parts,
        } = self;
        let endpoint = listing.endpoint();
        let (items, flag, next) = (listing.items(), listing.has_more(), listing.next_cursor());
        while let Some(name) = map.next_key::<String>()? {
            let name = path.clone() + &name;
            let leads_on = |to: &str| {
                to.strip_prefix(&*name)
                    .is_some_and(|rest| rest.starts_with('.'))
            };
            if name == items {
                let new = Rows::new(endpoint.fields, endpoint.key);
                set(&mut parts.rows, &name, map.next_value_seed(RowsOf(new))?)?;
            } else if endpoint.totals && name == "totals" {
                set(&mut parts.totals, &name, map.next_value::<Totals>()?)?;
            } else if Some(name.as_str()) == flag {
                set(&mut parts.has_more, &name, map.next_value::<bool>()?)?;
            } else if Some(name.as_str()) == next {
                set(&mut parts.next, &name, map.next_value::<NextCursor>()?)?;
            } else if [Some(items), flag, next]
                .into_iter()
                .flatten()
                .any(leads_on)
            {
                let (path, parts) = (name + ".", &mut *parts);
                map.next_value_seed(ObjectOf {
                    listing,
                    path,
                    parts,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

fn missing<E: serde::de::Error>(name: &str) -> E {
    E::custom(format_args!("missing field `{name}`"))
}

/// Refuses a field that an object has twice, because it is unknown which one is meant.
fn set<T, E: serde::de::Error>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        Some(_) => Err(E::custom(format_args!("duplicate field `{name}`"))),
        None => Ok(()),
    }
}

impl<'de> Deserialize<'de> for NextCursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cursor = Option::<String>::deserialize(deserializer)?;
        // A cursor that was repaired is another one.
        match cursor {
            Some(cursor) if cursor.contains(char::REPLACEMENT_CHARACTER) => {
                Err(D::Error::custom("the cursor holds invalid characters"))
            }
            cursor => Ok(Self(cursor.filter(|cursor| !cursor.is_empty()))),
        }
    }
}

/// Reads an array of rows.
struct RowsOf(Rows);

impl<'de> DeserializeSeed<'de> for RowsOf {
    type Value = Rows;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rows, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowsOf {
    type Value = Rows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<Rows, A::Error> {
        while rows.next_element_seed(OneRow(&mut self.0))?.is_some() {}
        Ok(self.0)
    }
}

/// Reads one row, straight into the columns.
pub(crate) struct OneRow<'a>(pub(crate) &'a mut Rows);

impl<'de> DeserializeSeed<'de> for OneRow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if !self.0.fields().is_empty() {
            return deserializer.deserialize_map(self);
        }
        // Nothing is known of it, not even that it is an object.
        self.0.end_row(Some(Value::deserialize(deserializer)?));
        Ok(())
    }
}

impl<'de> Visitor<'de> for OneRow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row (an object)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let rows = self.0;
        let fields = rows.fields();
        let (mut came, mut next) = (0_u64, 0);
        let mut extra: Option<Map<String, Value>> = None;
        while let Some(name) = map.next_key_seed(Name { fields, next })? {
            match name {
                Named::Ours(column, field) => {
                    next = column + 1;
                    if came >> column & 1 == 1 {
                        return Err(A::Error::custom(format_args!(
                            "duplicate field `{}`",
                            field.name
                        )));
                    }
                    came |= 1 << column;
                    let Some(cells) = rows.columns_mut().get_mut(column) else {
                        continue;
                    };
                    if let Some(misfit) = map.next_value_seed(CellOf { cells, field })? {
                        extra
                            .get_or_insert_default()
                            .insert(field.name.to_owned(), misfit);
                    }
                }
                Named::Other(name) => {
                    let value = map.next_value()?;
                    extra.get_or_insert_default().insert(name, value);
                }
            }
        }
        for (column, field) in fields
            .iter()
            .enumerate()
            .filter(|(column, _)| came >> column & 1 == 0)
        {
            if field.required {
                return Err(missing(field.name));
            }
            if let Some(cells) = rows.columns_mut().get_mut(column) {
                cells.push_null();
            }
        }
        rows.end_row(extra.map(Value::Object));
        Ok(())
    }
}

/// Reads a field's name; one of ours costs no allocation.
struct Name {
    fields: &'static [Field],
    /// The column that comes next in most rows.
    next: usize,
}

enum Named {
    Ours(usize, &'static Field),
    Other(String),
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Named;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Named, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Named, E> {
        let is_it = |(_, field): &(usize, &'static Field)| field.name == name;
        let next = self
            .fields
            .get(self.next)
            .map(|field| (self.next, field))
            .filter(is_it);
        let found = next.or_else(|| self.fields.iter().enumerate().find(is_it));
        Ok(found.map_or_else(
            || Named::Other(name.to_owned()),
            |(column, field)| Named::Ours(column, field),
        ))
    }
}

/// Reads a value into its column; what does not fit is returned, and a null is in its place.
struct CellOf<'a> {
    cells: &'a mut ColumnOfCells,
    field: &'static Field,
}

/// A text, which most answers have as it stands.
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for CellOf<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        let Self { cells, field } = self;
        if field.required {
            match field.holds {
                Holds::Integer => cells.push(Cell::Integer(Count::deserialize(deserializer)?.0)),
                _ => cells.push(Cell::Text(&Borrowed::deserialize(deserializer)?.0)),
            };
            return Ok(None);
        }
        let value = Value::deserialize(deserializer)?;
        let json;
        let cell = match (field.holds, &value) {
            (_, Value::Null) => Cell::Null,
            (Holds::Json, _) => {
                json = value.to_string();
                Cell::Json(&json)
            }
            (Holds::Text, Value::String(text)) => Cell::Text(text),
            (Holds::Time, Value::String(text)) => parse_instant(text)
                .map_or(Cell::Null, |instant| Cell::Time(instant.as_microsecond())),
            (Holds::Integer, Value::Number(number)) => number
                .as_i64()
                .or_else(|| whole(number.as_str()))
                .map_or(Cell::Null, Cell::Integer),
            (Holds::Float, Value::Number(number)) => {
                number.as_f64().map_or(Cell::Null, Cell::Float)
            }
            (Holds::Flag, Value::Bool(flag)) => Cell::Flag(*flag),
            _ => Cell::Null,
        };
        let fits = cells.put(cell) || value.is_null();
        Ok((!fits).then_some(value))
    }
}

/// Whether a body of rows with this key promises more after `limit` rows; cheaper than reading it. `false` where that is not
/// certain.
pub(crate) fn promises_more(body: &[u8], key: &str, limit: u32) -> bool {
    // It cannot stand within a text, where a quotation mark has a backslash before it.
    let name = format!("\"{key}\":");
    body.ends_with(br#"],"hasMore":true}"#)
        && memchr::memmem::find_iter(body, &name).count() == limit as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::url::{Segment, Template};
    use crate::listing::endpoint::{ENDPOINTS, SEARCHES};
    use crate::listing::{Shape, quick};
    use crate::text::json;

    /// What both readers make of it; they have to agree. Whether the quick one read it.
    fn both(listing: &Listing, body: &[u8]) -> bool {
        let Some(quick) = quick::read(listing, body) else {
            return false;
        };
        let slow = json::parse_as(body, AnswerOf(listing)).unwrap();
        assert!(!slow.repaired);
        // Those of plain rows are made in another way than those of rows with a gap among them.
        let mut gap = quick.rows.clone();
        gap.columns_mut()
            .iter_mut()
            .for_each(ColumnOfCells::push_null);
        gap.end_row(None);
        assert_eq!(
            gap.identities().get(..quick.rows.len()),
            Some(&*quick.rows.identities())
        );
        assert_eq!(quick, slow.value);
        true
    }

    /// A value in any spelling that a service may use.
    fn any_value(holds: Holds) -> BoxedStrategy<String> {
        let usual = match holds {
            Holds::Integer => any::<u32>().prop_map(|count| count.to_string()).boxed(),
            Holds::Float => prop_oneof![
                (0.0..1.0).prop_map(|number: f64| number.to_string()),
                "[0-9]{1,20}[.][0-9]{1,20}",
                any::<u64>().prop_map(|number| number.to_string())
            ]
            .boxed(),
            Holds::Flag => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
            Holds::Time => {
                r#""20[0-9]{2}-[0-3][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]([.][0-9]{1,9})?(Z|[+]02:00)""#.boxed()
            }
            Holds::Json => r#"\[(\{"title":"[a-z]{0,3}","url":null\})?\]"#.boxed(),
            Holds::Text => prop_oneof!["[a-z日é/-]{0,24}", any::<String>()]
                .prop_map(|text| serde_json::to_string(&text).unwrap())
                .boxed(),
        };
        let other = "null|true|-?[0-9]{1,20}([.]0)?(e[0-9])?|\"\"|\\[1.50\\]|\\{\\}";
        prop_oneof![12 => usual, 1 => other].boxed()
    }

    fn any_body() -> impl Strategy<Value = (Listing, String)> {
        prop::sample::select(ENDPOINTS).prop_flat_map(|endpoint| {
            let row: Vec<_> = endpoint
                .sent()
                .iter()
                .map(|field| any_value(field.holds))
                .collect();
            let row = (
                row,
                prop::option::weighted(0.1, "\"(more|path|id)\":(1|null|1.50)"),
            );
            let rows = prop::collection::vec(row, 0..6);
            (rows, 0..3_usize).prop_map(move |(rows, end)| {
                let row = |(values, more): (Vec<String>, Option<String>)| {
                    let names = endpoint.sent().iter().map(|field| field.name);
                    let fields = names
                        .zip(values)
                        .map(|(name, value)| format!("\"{name}\":{value}"));
                    format!("{{{}}}", fields.chain(more).collect::<Vec<_>>().join(","))
                };
                let rows: Vec<_> = rows.into_iter().map(row).collect();
                let totals = if endpoint.totals {
                    r#""totals":{"human":1,"ai":0,"total":2},"#
                } else {
                    ""
                };
                let more = [
                    "\"hasMore\":true",
                    "\"nextCursor\":\"c\"",
                    "\"hasMore\":false,\"nextCursor\":null",
                ];
                let body = format!(
                    "{{{totals}\"{}\":[{}],{}}}",
                    endpoint.items,
                    rows.join(","),
                    more[end]
                );
                (
                    Listing::of(endpoint, &Segment::stored("demo"), None, None),
                    body,
                )
            })
        })
    }

    /// Rows: D6.
    #[test]
    fn optional_whole_numbers_may_be_spelled_as_floats_too() {
        let listing = Listing::of(SEARCHES, &Segment::stored("demo"), None, None);
        let hits = [
            ("12.0", Some(12)),
            ("1e2", Some(100)),
            ("-0.0", Some(0)),
            ("-1", Some(-1)),
            ("-1.0", Some(-1)),
            ("12.5", None),
        ];
        for (spelled, hits) in hits {
            let body = format!(r#"{{"searches":[{{"hits":{spelled}}}],"nextCursor":null}}"#);
            let rows = listing.decode(body.as_bytes()).unwrap().rows;
            let cell = rows.iter().next().unwrap().get("hits");
            assert_eq!(cell, hits.map_or(Cell::Null, Cell::Integer), "{spelled}");
            assert_eq!(rows.misfits(), u64::from(hits.is_none()), "{spelled}");
        }
    }

    #[test]
    fn the_usual_spelling_of_each_endpoint_is_read_quickly() {
        for endpoint in ENDPOINTS {
            let value = |holds| match holds {
                Holds::Text => r#""a\nb""#,
                Holds::Integer => "12",
                Holds::Float => "0.25",
                Holds::Flag => "true",
                Holds::Time => r#""2026-01-31T12:00:00.000Z""#,
                Holds::Json => r#"[{"url":"/a"}]"#,
            };
            let fields = endpoint
                .sent()
                .iter()
                .map(|field| format!("\"{}\":{}", field.name, value(field.holds)));
            let row = fields.collect::<Vec<_>>().join(",");
            let totals = r#""totals":{"human":1,"ai":0,"total":2}"#;
            let body = format!(
                r#"{{{totals},"{}":[{{{row}}},{{{row}}}],"rate":0.5,"hasMore":true,"nextCursor":"c"}}"#,
                endpoint.items
            );
            let listing = Listing::of(endpoint, &Segment::stored("demo"), None, None);
            assert!(both(&listing, body.as_bytes()), "{body}");
            let read = quick::read(&listing, body.as_bytes()).unwrap();
            assert_eq!((read.rows.len(), read.rows.is_plain()), (2, true), "{body}");
        }
    }

    #[test]
    fn the_path_of_a_page_stands_in_a_column_of_its_own() {
        let listing = Listing::of(SEARCHES, &Segment::stored("demo"), None, None);
        let paths = [
            (
                "https://docs.example.com/guides/a?x=/b#c",
                Some("/guides/a"),
            ),
            ("https://docs.example.com", Some("/")),
            ("https://docs.example.com?q=/a", Some("/")),
            ("http://127.0.0.1:8080/a/", Some("/a/")),
            ("/guides/a#https://b/c", Some("/guides/a")),
            ("/to?url=https://b/c", Some("/to")),
            ("?a", Some("/")),
            ("guides/a", Some("guides/a")),
            ("", None),
        ];
        for (url, path) in paths {
            let sent = r#""searchQuery":"a","hits":1,"ctr":0.5,"topClickedPage":"#;
            let quick = format!(r#"{{{sent}"{url}","lastSearchedAt":null}}"#);
            let other = format!(r#"{{"more":1,{sent}"{url}"}}"#);
            let theirs = format!(r#"{{{sent}"{url}","path":"/theirs"}}"#);
            for (row, path) in [(quick, path), (other, path), (theirs, Some("/theirs"))] {
                let body = format!(r#"{{"searches":[{row}],"nextCursor":null}}"#);
                let rows = listing.decode(body.as_bytes()).unwrap().rows;
                let cell = rows.iter().next().unwrap().get("path");
                assert_eq!(cell, path.map_or(Cell::Null, Cell::Text), "{row}");
            }
        }
    }

    #[test]
    fn the_parts_of_an_answer_may_stand_deeper() {
        let listing = Listing::other(
            &Template::own("/x".to_owned()),
            None,
            Vec::new(),
            Shape {
                items: "data.items".to_owned(),
                has_more: "more".to_owned(),
                next_cursor: Some("data.page.next".to_owned()),
            },
        )
        .unwrap();
        let read = |body: &str| {
            let page = listing.decode(body.as_bytes())?;
            Ok((page.rows.len(), page.has_more, page.cursor))
        };
        let next = || Some("a".to_owned());
        for (body, expected) in [
            (
                r#"{"data":{"items":[1,2],"page":{"next":"a"}}}"#,
                Ok((2, true, next())),
            ),
            (
                r#"{"data":{"page":{"next":"a","x":1},"items":[]},"more":false,"x":{"items":1}}"#,
                Ok((0, false, next())),
            ),
            (
                r#"{"data":{"items":[1],"page":{"next":null}}}"#,
                Ok((1, false, None)),
            ),
            (
                r#"{"data":{"items":[1],"page":null}}"#,
                Ok((1, false, None)),
            ),
            (r#"{"data":{"items":[1]}}"#, Err("missing field `more`")),
            (
                r#"{"items":[1],"page":{"next":"a"}}"#,
                Err("missing field `data.items`"),
            ),
            (r#"{"data":null}"#, Err("missing field `data.items`")),
            (
                r#"{"data":[]}"#,
                Err("data: invalid type: sequence, expected an object"),
            ),
            (
                r#"{"data":{"items":{}}}"#,
                Err("data.items: invalid type: map, expected an array"),
            ),
            (
                r#"{"data":{"items":[1],"page":{"next":5}}}"#,
                Err("data.page.next: invalid type"),
            ),
        ] {
            match (read(body), expected) {
                (Err::<_, String>(error), Err(begin)) => {
                    assert!(error.starts_with(begin), "{error}");
                }
                (found, expected) => assert_eq!(found, expected.map_err(str::to_owned), "{body}"),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_body_is_read_alike(
            (listing, body) in any_body(),
            mutations in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>()), 0..3),
        ) {
            let mut bytes = body.into_bytes();
            both(&listing, &bytes);
            for (at, how, byte) in mutations {
                let at = at.index(bytes.len());
                match how {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    2 => { bytes.remove(at); }
                    // A piece of itself once more.
                    _ => { let piece = bytes[at..].iter().copied().take(usize::from(byte)).collect::<Vec<_>>(); bytes.splice(at..at, piece); }
                }
                both(&listing, &bytes);
            }
        }
    }
}
