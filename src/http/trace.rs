//! The trace that a call belongs to.

use http::HeaderValue;

/// The header's name.
pub const TRACEPARENT: &str = "traceparent";

/// A W3C `traceparent` of version 00, checked: it comes from whatever the user's process has configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceParent(HeaderValue);

impl TraceParent {
    /// Reads `00-{trace id}-{parent id}-{flags}` in lower-case hex; ids of nothing but zeros name nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        let [version, trace, parent, flags] = parts[..] else {
            return None;
        };
        let hex = |part: &str, length: usize| {
            part.len() == length && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        let names = |part: &str| part.bytes().any(|b| b != b'0');
        let whole = version == "00" && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
        (whole && names(trace) && names(parent)).then(|| HeaderValue::from_str(text).ok().map(Self))?
    }

    /// The header's value.
    pub fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_traceparent() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(TraceParent::parse(good).unwrap().header(), good);
        for bad in [
            "",
            "00",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx: y",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333\u{e9}-01",
        ] {
            assert_eq!(TraceParent::parse(bad), None, "{bad:?}");
        }
    }
}
