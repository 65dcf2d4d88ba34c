//! Rate-limit headers: how many requests are left, and until when. They may show what other machines spend.
//!
//! `X-RateLimit-Remaining` with `X-RateLimit-Reset`, and the IETF draft's `RateLimit: "name";r=50;t=30`, are read. All else is
//! ignored: `Retry-After` and the ledger do the rest.

use std::cmp::Reverse;
use std::time::Duration;

use http::HeaderMap;

/// A reset above this many is a date in seconds since 1970, not a number of seconds.
const EPOCH_SECONDS: u64 = 1_000_000_000;

/// A limit of the service, as it reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    pub remaining: u64,
    /// The time until its reset; `None` if the header does not say.
    pub reset: Option<Duration>,
}

/// The strictest quota in `headers`, `wall` seconds after 1970.
pub fn quota(headers: &HeaderMap, wall: u64) -> Option<Quota> {
    let texts = |name| {
        let values = headers.get_all(name).iter();
        values.filter_map(|value| value.to_str().ok())
    };
    let policies = texts("ratelimit").flat_map(|text| text.split(','));
    let draft = policies.filter_map(|policy| {
        let field = |name| {
            let mut fields = policy.split(';').map(str::trim);
            fields.find_map(|field| number(field.strip_prefix(name)?))
        };
        Some(Quota {
            remaining: field("r=")?,
            reset: field("t=").map(Duration::from_secs),
        })
    });
    let reset = texts("x-ratelimit-reset").filter_map(number).max();
    let reset = reset.map(|reset| match reset {
        EPOCH_SECONDS.. => reset.saturating_sub(wall),
        _ => reset,
    });
    let remaining = texts("x-ratelimit-remaining").filter_map(number).min();
    let custom = remaining.map(|remaining| Quota {
        remaining,
        reset: reset.map(Duration::from_secs),
    });
    draft
        .chain(custom)
        .min_by_key(|quota| (quota.remaining, Reverse(quota.reset)))
}

/// ASCII digits, as a number that saturates.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    const WALL: u64 = 1_700_000_000;
    const LEFT: &str = "x-ratelimit-remaining";
    const RESET: &str = "x-ratelimit-reset";

    fn read(headers: &[(&str, &str)]) -> Option<(u64, Option<u64>)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        let quota = quota(&map, WALL)?;
        Some((quota.remaining, quota.reset.map(|reset| reset.as_secs())))
    }

    #[test]
    fn the_strictest_quota_counts() {
        for (headers, quota) in [
            (&[("RateLimit", "\"\";r=50;t=30")][..], (50, Some(30))),
            (&[(LEFT, "50"), (RESET, "30")], (50, Some(30))),
            (&[(LEFT, "50"), (RESET, "1700000030")], (50, Some(30))),
            (&[(LEFT, "0"), (RESET, "1600000000")], (0, Some(0))),
            (&[(LEFT, "0"), (RESET, "soon")], (0, None)),
            (
                &[("RateLimit", "\"a;,\"; r=5; t=10, b;r=70;t=1800")],
                (5, Some(10)),
            ),
            (&[("RateLimit", "a;r=5;t=1"), (LEFT, "2")], (2, None)),
            (
                &[(LEFT, "9"), (LEFT, "4"), (RESET, "1"), (RESET, "8")],
                (4, Some(8)),
            ),
            (&[(LEFT, "99999999999999999999")], (u64::MAX, None)),
        ] {
            assert_eq!(read(headers), Some(quota), "{headers:?}");
        }
    }

    #[test]
    fn an_unreadable_header_is_absent() {
        for value in [
            "",
            "-1",
            "many",
            "\u{661}",
            "1e3",
            "+5",
            "\"a\"",
            "limit=100",
            ";,;",
            "\"",
            "r=\"",
        ] {
            assert_eq!(
                read(&[("RateLimit", value), (LEFT, value)]),
                None,
                "{value:?}"
            );
        }
    }
}
