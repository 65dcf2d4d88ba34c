//! Parses bodies: strict if a wrong reading would change data, lenient if a single invalid
//! character would cost a page.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Unexpected, Visitor};

use crate::text::{redact, safe};

/// The longest message of a parser that is kept, in characters. It is far more than is shown,
/// because secrets are searched for before the text is cut.
const MAX_JSON_ERROR: usize = 4096;

#[derive(Debug)]
pub struct Parsed<T> {
    pub value: T,
    /// Whether invalid characters were replaced by U+FFFD to read it.
    pub repaired: bool,
}

/// Parses `body`. A byte order mark is accepted once, at the start. Bytes that are not UTF-8 and
/// lone surrogate escapes become U+FFFD in what is read, and are reported. Any other fault is an
/// error, which names its place unless the body is empty.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<Parsed<T>, String> {
    parse_as(body, PhantomData)
}

/// Like [`parse`], for a value that `seed` reads.
pub fn parse_as<T>(
    body: &[u8],
    seed: impl Copy + for<'de> DeserializeSeed<'de, Value = T>,
) -> Result<Parsed<T>, String> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut parser = serde_json::Deserializer::from_slice(body);
    if let Ok(value) = seed.deserialize(&mut parser)
        && parser.end().is_ok()
    {
        return Ok(Parsed {
            value,
            repaired: false,
        });
    }
    if body.trim_ascii().is_empty() {
        return Err("the answer is empty".to_owned());
    }
    // Only after a failure, so that a valid body is parsed once.
    let text = String::from_utf8_lossy(body);
    let mended = mend_surrogates(&text, false);
    let repaired = matches!(text, Cow::Owned(_)) || matches!(mended, Cow::Owned(_));
    let mut parser = serde_json::Deserializer::from_str(&mended);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut parser, &mut track);
    let value = seed.deserialize(tracked).map_err(|error| {
        let place = match track.path().to_string() {
            all if all == "." => String::new(),
            path => path + ": ",
        };
        safe(&format!("{place}{error}"), MAX_JSON_ERROR)
    })?;
    parser.end().map_err(|error| error.to_string())?;
    Ok(Parsed { value, repaired })
}

/// Like [`parse`], but without repair: any text in the body may be an identifier.
pub fn parse_exact<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let parsed = parse(body)?;
    if parsed.repaired {
        return Err("it contains invalid characters, whose meaning is lost".to_owned());
    }
    Ok(parsed.value)
}

/// `body` as text, with the invalid bytes after each U+FFFD. So two texts are hardly ever equal
/// unless their bytes are.
pub fn literal(body: &[u8]) -> String {
    let mut text = String::new();
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push('\u{fffd}');
            for byte in chunk.invalid() {
                text.push_str(&format!("{byte:02x}"));
            }
        }
    }
    mend_surrogates(&text, true).into_owned()
}

/// `text` with every lone `\uD800`-`\uDFFF` replaced by `\uFFFD`; if `named`, followed by its
/// digits.
fn mend_surrogates(text: &str, named: bool) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let width = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str("\\ufffd");
                mended.push_str(escape.get(2..6).filter(|_| named).unwrap_or_default());
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // A backslash and the character that it escapes, which may be another backslash.
            _ => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at(width);
        mended.push_str(escape);
        rest = after;
    }
    mended.push_str(rest);
    match mended == text {
        true => text.into(),
        false => mended.into(),
    }
}

/// The UTF-16 unit of the `\uXXXX` that `text` starts with.
fn unit(text: &str) -> Option<u16> {
    let unit = redact::hex(text.strip_prefix("\\u")?.get(..4)?)?;
    u16::try_from(unit).ok()
}

/// A count: a whole number from 0 to 2^63-1. The service's numbers are JSON numbers, so 12.0 is 12.
#[derive(Debug, Default)]
pub struct Count(pub i64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 to 2^63-1")
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Count, E> {
        i64::try_from(value)
            .map(Count)
            .map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    /// A number with a fraction or an exponent, or beyond 64 bits: `serde_json` hands its digits
    /// over as they were sent. No float is made of them, as a float has 53 bits.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Count, A::Error> {
        let number = serde_json::Number::deserialize(MapAccessDeserializer::new(map))?;
        whole(number.as_str())
            .filter(|count| *count >= 0)
            .map(Count)
            .ok_or_else(|| {
                let number = format!("number {number}");
                serde::de::Error::invalid_value(Unexpected::Other(&number), &self)
            })
    }
}

/// The value of a JSON number, computed digit by digit; `None` unless it is a whole number below
/// 2^63, whatever its sign.
pub(crate) fn whole(number: &str) -> Option<i64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, mantissa),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{before}{behind}");
    let digits = all.trim_end_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let point = i128::from(exponent.parse::<i64>().ok()?) + before.len() as i128;
    let zeros = u32::try_from(point - digits.len() as i128).ok()?;
    let value = digits.parse::<i64>().ok()?;
    value
        .checked_mul(10_i64.checked_pow(zeros)?)
        .map(|value| sign * value)
}

/// A type error, in words like the parser's, for values that are looked at by hand.
pub(crate) fn wrong_type(value: &serde_json::Value, expected: &str) -> String {
    use serde_json::Value;
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("expected {expected}, found {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows: D12.
    #[test]
    fn invalid_characters_are_replaced_and_reported() {
        for (body, text) in [
            (&br#""a\ud800b""#[..], "a\u{fffd}b"),
            (br#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
            (br#""\ud800\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (br#""\ud83d\ude00\udead""#, "\u{1f600}\u{fffd}"),
            (b"\"a\xffb\"", "a\u{fffd}b"),
            (br#""\\ud800\ud800""#, "\\ud800\u{fffd}"),
        ] {
            let parsed = parse::<String>(body).unwrap();
            assert_eq!((parsed.value.as_str(), parsed.repaired), (text, true));
            assert!(parse_exact::<String>(body).is_err());
        }
        let parsed = parse::<String>(br#""\ud83d\ude00 \\ud800""#).unwrap();
        assert_eq!(
            (parsed.value.as_str(), parsed.repaired),
            ("\u{1f600} \\ud800", false)
        );
    }
}
