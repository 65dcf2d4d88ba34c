//! A page in the store: the body of the answer, compressed as in SQLite's own archives.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rusqlite::{Connection, Params, Row};

use crate::clock::Millis;
use crate::dates::slices::Slice;
use crate::listing::page::Totals;
use crate::store::fault::Fault;

/// The answer to one request of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPage {
    /// The rows before it.
    pub offset: u64,
    /// Rows at most, as it was asked for. The rows that came, if pages have no offsets.
    pub asked: u32,
    pub rows: u64,
    pub has_more: bool,
    /// When it came.
    pub seen: Millis,
    pub body: Vec<u8>,
}

impl StoredPage {
    /// The columns of a page's extent. An index has them all, so that no body is read.
    pub(super) const EXTENT: &str = r#""offset", asked, rows, has_more"#;

    /// Reads the extent of a page, without its body.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            offset: whole(row.get(0)?),
            asked: u32::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
            rows: whole(row.get(2)?),
            has_more: row.get(3)?,
            seen: 0,
            body: Vec::new(),
        })
    }

    /// The offset of the next page: as many rows further as were asked for, or after a short page
    /// as came.
    pub(crate) fn next(&self) -> u64 {
        let short = self.has_more && self.rows < u64::from(self.asked);
        let step = if short { self.rows } else { self.asked.into() };
        self.offset.saturating_add(step)
    }
}

/// The page that begins at an offset.
pub(super) const AT: &str = r#""offset" = ?2"#;
/// The last one that begins before.
pub(super) const BEFORE: &str = r#""offset" < ?2 ORDER BY "offset" DESC LIMIT 1"#;

pub(super) fn find(
    connection: &Connection,
    export: i64,
    is_it: &str,
    offset: u64,
) -> Result<Option<StoredPage>, Fault> {
    let sql = format!(
        "SELECT {}, seen, size, body FROM page WHERE export = ?1 AND {is_it}",
        StoredPage::EXTENT
    );
    let page = |row: &Row<'_>| {
        Ok(StoredPage {
            seen: row.get(4)?,
            body: unpack(row.get(6)?, row.get(5)?)?,
            ..StoredPage::read(row)?
        })
    };
    first(connection, &sql, (export, wire(offset)), page)
}

/// The first row that a query finds.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    let mut found = connection.prepare(sql)?;
    found.query_and_then(parameters, read)?.next().transpose()
}

/// The page size of an export. 0 is damage.
pub(super) fn page_size(row: &Row<'_>, column: usize) -> rusqlite::Result<u32> {
    let size = row.get(column)?;
    let fits = u32::try_from(size).ok().filter(|&size| size > 0);
    fits.ok_or(rusqlite::Error::IntegralValueOutOfRange(column, size))
}

/// The totals in three columns, unless they are missing.
pub(super) fn totals(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Totals>> {
    Ok(
        match (row.get(first)?, row.get(first + 1)?, row.get(first + 2)?) {
            (Some(human), Some(ai), Some(total)) => Some(Totals { human, ai, total }),
            _ => None,
        },
    )
}

/// The days between the dates in two columns; `None` if one of them has a time.
pub(super) fn days(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Slice>> {
    let text = |column| row.get::<_, String>(column);
    Ok(Slice::parse(&text(first)?, &text(first + 1)?))
}

/// Numbers of a store are never negative.
pub(crate) fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A number as SQLite counts.
pub(crate) fn wire(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A body up to this length is written as it is: compression costs more time than the space is
/// worth.
const MAX_PLAIN: usize = 512;

/// The body as it is written: compressed if that makes it shorter.
pub(super) fn pack(body: &[u8]) -> Result<Vec<u8>, Fault> {
    if body.len() <= MAX_PLAIN {
        return Ok(body.to_vec());
    }
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(body.len() / 4), Compression::default());
    encoder.write_all(body)?;
    let packed = encoder.finish()?;
    Ok(match packed.len() < body.len() {
        true => packed,
        false => body.to_vec(),
    })
}

/// The body of `size` bytes that `packed` holds.
pub(super) fn unpack(packed: Vec<u8>, size: i64) -> Result<Vec<u8>, Fault> {
    let damaged = |why: &str| Fault::Damaged(format!("an answer in it cannot be unpacked: {why}"));
    let size = whole(size);
    if packed.len() as u64 == size {
        return Ok(packed);
    }
    let mut body = Vec::new();
    // At most one byte more than the claimed size, so that a damaged body cannot exhaust memory.
    let most = size.saturating_add(1);
    ZlibDecoder::new(&*packed)
        .take(most)
        .read_to_end(&mut body)
        .map_err(|error| damaged(&error.to_string()))?;
    match body.len() as u64 == size {
        true => Ok(body),
        false => Err(damaged("its size is another")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_as_they_were() {
        for body in [&b""[..], b"x", b"{}", &b"{\"visitors\": []}".repeat(1000)] {
            let packed = pack(body).unwrap();
            assert!(packed.len() <= body.len());
            assert_eq!(
                unpack(packed, i64::try_from(body.len()).unwrap()).unwrap(),
                body
            );
        }
    }

    #[test]
    fn damage_is_seen() {
        let body = vec![b'x'; 1 << 20];
        let packed = pack(&body).unwrap();
        for size in [0, 1 << 19, (1 << 20) - 1, (1 << 20) + 1, i64::MAX, -1] {
            assert!(unpack(packed.clone(), size).is_err(), "{size}");
        }
        assert!(unpack(packed[..packed.len() / 2].to_vec(), 1 << 20).is_err());
        assert!(unpack(b"no zlib".to_vec(), 100).is_err());
    }

    #[test]
    fn a_page_leads_on_by_what_was_asked_for_or_by_the_rows_of_a_short_one() {
        let page = StoredPage {
            offset: 500,
            asked: 250,
            rows: 0,
            has_more: true,
            seen: 0,
            body: Vec::new(),
        };
        let next = |asked, rows, has_more| {
            StoredPage {
                asked,
                rows,
                has_more,
                ..page.clone()
            }
            .next()
        };
        assert_eq!(next(250, 250, true), 750);
        assert_eq!(next(250, 50, true), 550);
        assert_eq!(next(250, 260, true), 750);
        assert_eq!(next(250, 50, false), 750);
    }
}
