//! Rate-limit headers: how many requests are left, and until when. They may show what other
//! machines spend.
//!
//! `X-RateLimit-Remaining` with `X-RateLimit-Reset`, and the IETF draft's
//! `RateLimit: "name";r=50;t=30`, are read. All else is ignored: `Retry-After` and the ledger do
//! the rest.

use std::cmp::Reverse;
use std::time::Duration;

use http::HeaderMap;

/// A reset of this many or more is a date in seconds since 1970, not a number of seconds.
const EPOCH_SECONDS: u64 = 1_000_000_000;

/// A limit of the service, as it reports it.
#[derive(Debug, Clone, Copy)]
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
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}
