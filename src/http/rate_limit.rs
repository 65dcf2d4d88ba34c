//! What `RateLimit-*` and `X-RateLimit-*` headers say: how many requests are left, and until when.
//!
//! There is no standard, only drafts and customs. All are read; what cannot be understood is ignored.

use std::time::Duration;

use http::HeaderMap;

/// The most policies that are read.
const MAX_POLICIES_IN_ANSWER: usize = 8;
/// The longest name of a policy; the rest is cut off.
const MAX_POLICY_NAME: usize = 32;
/// A reset above this many is a date in seconds since 1970, not a number of seconds.
const EPOCH_SECONDS: u64 = 1_000_000_000;
/// A reset above this many is a date in milliseconds since 1970.
const EPOCH_MILLIS: u64 = 1_000_000_000_000;

/// The state of one policy, as the service reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// The policy's name; empty if the header has only one policy.
    pub policy: String,
    pub remaining: u64,
    /// When it is reset; `None` if the header does not say.
    pub reset: Option<Duration>,
}

/// What `headers` say, `wall` seconds after 1970.
///
/// Understood are the drafts' `RateLimit: "name";r=50;t=30` and `RateLimit: limit=100, remaining=50, reset=30`, and
/// the three headers `RateLimit-Remaining`, `-Reset` and `X-RateLimit-Remaining`, `-Reset`, a reset being seconds
/// or a time since 1970 in seconds or milliseconds.
pub fn quotas(headers: &HeaderMap, wall: u64) -> Vec<Quota> {
    let mut found = Vec::new();
    for value in headers
        .get_all("ratelimit")
        .iter()
        .filter_map(|value| value.to_str().ok())
    {
        found.extend(combined(value, wall));
    }
    for (policy, remaining, reset) in [
        ("", "ratelimit-remaining", "ratelimit-reset"),
        ("x", "x-ratelimit-remaining", "x-ratelimit-reset"),
    ] {
        let numbers = |name| {
            headers
                .get_all(name)
                .iter()
                .filter_map(|value| number(value.to_str().ok()?))
        };
        if let Some(remaining) = numbers(remaining).min() {
            let reset = numbers(reset).max().map(|reset| from_now(reset, wall));
            found.push(Quota {
                policy: policy.to_owned(),
                remaining,
                reset,
            });
        }
    }
    found.truncate(MAX_POLICIES_IN_ANSWER);
    found
}

/// The combined header: a list of named policies, or a dictionary with one.
fn combined(value: &str, wall: u64) -> Vec<Quota> {
    let items = split(value, ',');
    let field = |parts: &[&str], names: [&str; 2]| {
        let mut pairs = parts.iter().filter_map(|part| part.split_once('='));
        let named = |name: &str| {
            names
                .iter()
                .any(|other| name.trim().eq_ignore_ascii_case(other))
        };
        pairs.find_map(|(name, text)| named(name).then(|| number(text))?)
    };
    let quota = |policy: &str, parts: &[&str]| {
        let reset = field(parts, ["t", "reset"]).map(|reset| from_now(reset, wall));
        Some(Quota {
            policy: policy
                .trim()
                .trim_matches('"')
                .chars()
                .take(MAX_POLICY_NAME)
                .collect(),
            remaining: field(parts, ["r", "remaining"])?,
            reset,
        })
    };
    let named = items.iter().filter_map(|item| {
        let parts = split(item, ';');
        let (name, rest) = parts.split_first()?;
        if name.contains('=') {
            None
        } else {
            quota(name, rest)
        }
    });
    let named: Vec<_> = named.collect();
    if named.is_empty() {
        quota("", &items).into_iter().collect()
    } else {
        named
    }
}

/// Splits at `mark`, but not within quotes.
fn split(text: &str, mark: char) -> Vec<&str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == mark && !quoted
    })
    .collect()
}

/// ASCII digits; what follows them after a dot or a semicolon is left out.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.split(['.', ';']).next()?;
    let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    whole.then(|| digits.parse().unwrap_or(u64::MAX))
}

fn from_now(reset: u64, wall: u64) -> Duration {
    match reset {
        EPOCH_MILLIS.. => Duration::from_millis(reset.saturating_sub(wall.saturating_mul(1000))),
        EPOCH_SECONDS.. => Duration::from_secs(reset.saturating_sub(wall)),
        _ => Duration::from_secs(reset),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    const WALL: u64 = 1_700_000_000;

    fn read(headers: &[(&str, &str)]) -> Vec<(String, u64, Option<u64>)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let all = quotas(&map, WALL).into_iter();
        all.map(|q| (q.policy, q.remaining, q.reset.map(|reset| reset.as_secs())))
            .collect()
    }

    #[test]
    fn every_form_says_the_same() {
        for headers in [
            &[("RateLimit", "\"\";r=50;t=30")][..],
            &[("RateLimit", "limit=100, remaining=50, reset=30")],
            &[("ratelimit", "Limit=100,Remaining=50,Reset=30")],
            &[
                ("RateLimit-Limit", "100, 100;w=3600"),
                ("RateLimit-Remaining", "50"),
                ("RateLimit-Reset", "30"),
            ],
        ] {
            assert_eq!(
                read(headers),
                [(String::new(), 50, Some(30))],
                "{headers:?}"
            );
        }
        for reset in ["30", "30.5", "1700000030", "1700000030000"] {
            let headers = [
                ("X-RateLimit-Remaining", "50"),
                ("X-RateLimit-Reset", reset),
            ];
            assert_eq!(read(&headers), [("x".to_owned(), 50, Some(30))], "{reset}");
        }
    }

    #[test]
    fn several_policies_keep_their_names() {
        let quotas = read(&[(
            "RateLimit",
            "\"burst;,\";r=5;t=10, hourly;r=70;t=1800;pk=:x:",
        )]);
        assert_eq!(
            quotas,
            [
                ("burst;,".to_owned(), 5, Some(10)),
                ("hourly".to_owned(), 70, Some(1800))
            ]
        );
        let both = read(&[("RateLimit-Remaining", "3"), ("X-RateLimit-Remaining", "2")]);
        assert_eq!(both, [(String::new(), 3, None), ("x".to_owned(), 2, None)]);
    }

    #[test]
    fn the_strictest_of_a_repeated_header_counts() {
        let headers = [
            ("RateLimit-Remaining", "9"),
            ("RateLimit-Remaining", "4"),
            ("RateLimit-Reset", "1"),
            ("RateLimit-Reset", "8"),
        ];
        assert_eq!(read(&headers), [(String::new(), 4, Some(8))]);
    }

    #[test]
    fn a_past_or_absurd_reset() {
        let reset =
            |text| read(&[("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", text)])[0].2;
        assert_eq!(reset("1600000000"), Some(0));
        assert_eq!(reset("soon"), None);
        assert!(reset(&"9".repeat(40)).unwrap() > 1 << 40);
    }

    #[test]
    fn what_cannot_be_understood_is_absent() {
        for value in [
            "",
            "-1",
            "many",
            "\u{661}",
            "1e3",
            "+5",
            "\"default\"",
            "limit=100",
            ";;;",
            ",,,",
            "\"",
            "r=\"",
        ] {
            let mut map = HeaderMap::new();
            for name in ["ratelimit", "ratelimit-remaining", "x-ratelimit-remaining"] {
                map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            assert_eq!(quotas(&map, WALL), [], "{value:?}");
        }
        let flood = "a;r=1;t=1,".repeat(1000);
        assert_eq!(read(&[("RateLimit", &flood)]).len(), MAX_POLICIES_IN_ANSWER);
    }
}
