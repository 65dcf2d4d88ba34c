//! Reads a page of any endpoint with the parser for all of JSON, straight into columns.
//!
//! Required fields are read strictly. An optional value that does not fit its column is kept as the
//! service sent it, because most endpoints are only known from their answers.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

use crate::dates::parse_instant;
use crate::listing::Listing;
use crate::listing::columns::{Cell, ColumnBuilder};
use crate::listing::endpoint::{ColumnKind, Field};
use crate::listing::page::{Page, PageParts};
use crate::listing::rows::RowsBuilder;
use crate::text::json::{Count, whole};

/// A text that is borrowed from the answer, unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads an answer.
#[derive(Clone, Copy)]
pub(crate) struct PageSeed<'a>(pub(crate) &'a Listing);

impl<'de> DeserializeSeed<'de> for PageSeed<'_> {
    type Value = Page;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Page, D::Error> {
        let mut parts = PageParts::default();
        deserializer.deserialize_map(ObjectSeed {
            listing: self.0,
            path: String::new(),
            parts: &mut parts,
        })?;
        parts.page(self.0).map_err(D::Error::custom)
    }
}

/// Reads an object of an answer: the answer itself, or one that a path such as `data.items` leads
/// through.
struct ObjectSeed<'a> {
    listing: &'a Listing,
    /// The path to it, with a dot at its end.
    path: String,
    parts: &'a mut PageParts,
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// A null in place of the object with the cursor marks the last page.
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        let next = self.listing.next_cursor();
        match next.filter(|next| next.starts_with(&self.path)) {
            Some(next) if self.parts.next.replace(String::new()).is_some() => Err(twice(next)),
            _ => Ok(()),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (listing, parts) = (self.listing, self.parts);
        let endpoint = listing.endpoint();
        let (items, flag, next) = (listing.items(), listing.has_more(), listing.next_cursor());
        while let Some(BorrowedText(name)) = map.next_key()? {
            let name = self.path.clone() + &name;
            let leads_to =
                |to: &str| matches!(to.strip_prefix(&*name), Some(rest) if rest.starts_with('.'));
            let came_before = if name == items {
                let rows = RowsSeed(RowsBuilder::new(endpoint.fields, endpoint.key, 0));
                parts.rows.replace(map.next_value_seed(rows)?).is_some()
            } else if endpoint.totals && name == "totals" {
                parts.totals.replace(map.next_value()?).is_some()
            } else if Some(&*name) == flag {
                parts.has_more.replace(map.next_value()?).is_some()
            } else if Some(&*name) == next {
                let next: Option<String> = map.next_value()?;
                parts.next.replace(next.unwrap_or_default()).is_some()
            } else if [Some(items), flag, next]
                .into_iter()
                .flatten()
                .any(leads_to)
            {
                let (path, parts) = (name.clone() + ".", &mut *parts);
                map.next_value_seed(ObjectSeed {
                    listing,
                    path,
                    parts,
                })?;
                false
            } else {
                map.next_value::<IgnoredAny>()?;
                false
            };
            if came_before {
                return Err(twice(&name));
            }
        }
        Ok(())
    }
}

/// The error for a field that an object has twice: it is unknown which one is meant.
fn twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format_args!("duplicate field `{name}`"))
}

/// Reads an array of rows.
struct RowsSeed(RowsBuilder);

impl<'de> DeserializeSeed<'de> for RowsSeed {
    type Value = RowsBuilder;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RowsBuilder, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowsSeed {
    type Value = RowsBuilder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<RowsBuilder, A::Error> {
        while rows
            .next_element_seed(RowSeed(&mut self.0, false))?
            .is_some()
        {}
        Ok(self.0)
    }
}

/// Reads one row into the columns. The flag allows negative whole numbers, for comparisons.
pub(crate) struct RowSeed<'a>(pub(crate) &'a mut RowsBuilder, pub(crate) bool);

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if !self.0.fields.is_empty() {
            return deserializer.deserialize_map(self);
        }
        // A row of an unknown listing may be any value.
        self.0.end_row(Some(Value::deserialize(deserializer)?));
        Ok(())
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row (an object)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(rows, is_signed) = self;
        let fields = rows.fields;
        let (mut came, mut next) = (0_u64, 0);
        let mut extra = Map::new();
        while let Some(BorrowedText(name)) = map.next_key()? {
            let is_it =
                |column: &usize| fields.get(*column).is_some_and(|field| field.name == name);
            // Most rows have their fields in the order of the columns.
            let column = Some(next)
                .filter(is_it)
                .or_else(|| (0..fields.len()).find(is_it));
            let found =
                column.and_then(|at| Some((at, fields.get(at)?, rows.columns.get_mut(at)?)));
            let other = if let Some((at, field, column)) = found {
                next = at + 1;
                if came >> at & 1 == 1 {
                    return Err(twice(&name));
                }
                came |= 1 << at;
                map.next_value_seed(CellSeed {
                    column,
                    field,
                    is_signed,
                })?
            } else {
                Some(map.next_value()?)
            };
            if let Some(value) = other {
                extra.insert(name.into_owned(), value);
            }
        }
        for (at, (field, column)) in fields.iter().zip(&mut rows.columns).enumerate() {
            if came >> at & 1 == 0 {
                if field.required {
                    return Err(A::Error::missing_field(field.name));
                }
                column.push_null();
            }
        }
        rows.end_row((!extra.is_empty()).then_some(Value::Object(extra)));
        Ok(())
    }
}

/// Reads a value into its column. A value that does not fit is returned, and the column gets a
/// null.
struct CellSeed<'a> {
    column: &'a mut ColumnBuilder,
    field: &'static Field,
    is_signed: bool,
}

impl<'de> DeserializeSeed<'de> for CellSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        let Self {
            column,
            field,
            is_signed,
        } = self;
        match field.kind {
            ColumnKind::Integer if field.required && !is_signed => {
                column.push(Cell::Integer(Count::deserialize(deserializer)?.0));
                return Ok(None);
            }
            ColumnKind::Text if field.required => {
                column.push(Cell::Text(&BorrowedText::deserialize(deserializer)?.0));
                return Ok(None);
            }
            _ => {}
        }
        let value = Value::deserialize(deserializer)?;
        let json;
        let cell = match (field.kind, &value) {
            (_, Value::Null) => Cell::Null,
            (ColumnKind::Json, _) => {
                json = value.to_string();
                Cell::Json(&json)
            }
            (ColumnKind::Text, Value::String(text)) => Cell::Text(text),
            (ColumnKind::Time, Value::String(text)) => parse_instant(text)
                .map_or(Cell::Null, |instant| Cell::Time(instant.as_microsecond())),
            (ColumnKind::Integer, Value::Number(number)) => number
                .as_i64()
                .or_else(|| whole(number.as_str()))
                .map_or(Cell::Null, Cell::Integer),
            (ColumnKind::Float, Value::Number(number)) => {
                number.as_f64().map_or(Cell::Null, Cell::Float)
            }
            (ColumnKind::Bool, Value::Bool(flag)) => Cell::Bool(*flag),
            _ => Cell::Null,
        };
        let fits = column.push(cell) || value.is_null();
        Ok((!fits).then_some(value))
    }
}

/// Whether a body of rows with this key seems to promise more after `limit` rows; cheaper than
/// reading it. A key deeper in a row counts as one of a row.
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

    /// Checks that both readers agree. Returns whether the quick one read the body.
    fn both(listing: &Listing, body: &[u8]) -> bool {
        let Some(quick) = quick::read(listing, body) else {
            return false;
        };
        let slow = json::parse_as(body, PageSeed(listing)).unwrap();
        assert!(!slow.repaired);
        // A row without values makes the identities take the slower way.
        let key = listing.endpoint().key;
        let mut gap = RowsBuilder::new(quick.rows.fields, key, 0);
        gap.extend(&quick.rows);
        gap.push(std::iter::repeat(Cell::Null));
        assert_eq!(
            gap.finish().identities().get(..quick.rows.len()),
            Some(&*quick.rows.identities())
        );
        assert_eq!(quick, slow.value);
        true
    }

    /// A value in any spelling that a service may use.
    fn any_value(kind: ColumnKind) -> BoxedStrategy<String> {
        let usual = match kind {
            ColumnKind::Integer => any::<u32>().prop_map(|count| count.to_string()).boxed(),
            ColumnKind::Float => prop_oneof![
                (0.0..1.0).prop_map(|number: f64| number.to_string()),
                "[0-9]{1,20}[.][0-9]{1,20}",
                any::<u64>().prop_map(|number| number.to_string())
            ]
            .boxed(),
            ColumnKind::Bool => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
            ColumnKind::Time => {
                r#""20[0-9]{2}-[0-3][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]([.][0-9]{1,9})?(Z|[+]02:00)""#.boxed()
            }
            ColumnKind::Json => r#"\[(\{"title":"[a-z]{0,3}","url":null\})?\]"#.boxed(),
            ColumnKind::Text => prop_oneof!["[a-z日é/-]{0,24}", any::<String>()]
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
                .map(|field| any_value(field.kind))
                .collect();
            let row = (
                row,
                prop::option::weighted(0.1, "\"(more|path|id)\":(1|null|1.50)"),
            );
            let rows = prop::collection::vec(row, 0..6);
            (rows, 0..3_usize).prop_map(move |(rows, end)| {
                let row = |(values, more): (Vec<String>, Option<String>)| {
                    let fields = endpoint
                        .sent()
                        .iter()
                        .map(|field| field.name)
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
            let value = |kind| match kind {
                ColumnKind::Text => r#""a\nb""#,
                ColumnKind::Integer => "12",
                ColumnKind::Float => "0.25",
                ColumnKind::Bool => "true",
                ColumnKind::Time => r#""2026-01-31T12:00:00.000Z""#,
                ColumnKind::Json => r#"[{"url":"/a"}]"#,
            };
            let fields = endpoint
                .sent()
                .iter()
                .map(|field| format!("\"{}\":{}", field.name, value(field.kind)));
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
                    // A piece is repeated.
                    _ => { let piece = bytes[at..].iter().copied().take(usize::from(byte)).collect::<Vec<_>>(); bytes.splice(at..at, piece); }
                }
                both(&listing, &bytes);
            }
        }
    }
}
