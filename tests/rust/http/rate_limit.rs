//! Rate-limit headers.

use http::{HeaderName, HeaderValue};

use docplatform::http::rate_limit::quota;
use http::HeaderMap;

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
