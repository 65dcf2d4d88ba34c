//! Cursors: a page names the next one.

use url::Url;

/// The query parameter for a cursor.
pub const CURSOR: &str = "cursor";

/// The longest cursor that is sent, in bytes. It fits into a URL even if each of them is escaped.
const MAX_CURSOR: usize = 16 * 1024;

/// The cursor in the service's text, which may be a whole URL. A URL of another origin is refused:
/// its cursor is not this service's.
pub(crate) fn plain(base_url: &str, sent: &str) -> Result<String, String> {
    if sent.len() > MAX_CURSOR {
        return Err(format!(
            "it sent a cursor of {} bytes; the longest that is sent back has {MAX_CURSOR}",
            sent.len()
        ));
    }
    let is_whole = ["http://", "https://"].iter().any(|scheme| {
        sent.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    });
    let is_relative = sent.starts_with('/') && sent.contains('?');
    if !is_whole && !is_relative {
        return Ok(sent.to_owned());
    }
    let unreadable = || "it sent a cursor that is a URL which cannot be read".to_owned();
    let base = Url::parse(base_url).map_err(|_| unreadable())?;
    let url = base.join(sent).map_err(|_| unreadable())?;
    if url.origin() != base.origin() {
        let origin = crate::text::safe(&url.origin().ascii_serialization(), 80);
        return Err(format!(
            "it sent a cursor that leads to another address than the base URL ({origin}), which is not asked"
        ));
    }
    url.query_pairs()
        .find(|(name, _)| name == CURSOR)
        .map(|(_, cursor)| cursor.into_owned())
        .filter(|cursor| !cursor.is_empty() && !cursor.contains(char::REPLACEMENT_CHARACTER))
        .ok_or_else(|| "it sent a cursor that is a URL without a cursor in it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows: M8.
    #[test]
    fn a_cursor_that_is_a_url_is_taken_apart_and_leads_nowhere_else() {
        const BASE: &str = "https://docs.example/base";
        for (sent, cursor) in [
            ("eyJpZCI6MX0=", "eyJpZCI6MX0="),
            ("/eyJpZCI6MX0=", "/eyJpZCI6MX0="),
            (
                "https://docs.example/v1/searches?limit=2&cursor=a%2Bb",
                "a+b",
            ),
            ("HTTPS://DOCS.EXAMPLE:443/?cursor=x", "x"),
            ("/v1/searches?cursor=x", "x"),
        ] {
            assert_eq!(plain(BASE, sent).as_deref(), Ok(cursor), "{sent}");
        }
        for (sent, why) in [
            (
                "https://evil.example/?cursor=x",
                "another address than the base URL (https://evil.example)",
            ),
            ("http://docs.example/?cursor=x", "another address"),
            ("https://docs.example:444/?cursor=x", "another address"),
            (
                "https://docs.example@evil.example/?cursor=x",
                "another address",
            ),
            ("//evil.example/?cursor=x", "another address"),
            ("https://docs.example/v1/searches", "without a cursor"),
            ("https://docs.example/?cursor=", "without a cursor"),
            ("https://[", "cannot be read"),
            (
                &"x".repeat(MAX_CURSOR + 1),
                "the longest that is sent back has 16384",
            ),
        ] {
            let refused = plain(BASE, sent).unwrap_err();
            assert!(refused.contains(why), "{sent}: {refused}");
        }
    }
}
