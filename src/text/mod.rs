//! Makes foreign text safe to show: short, without control characters, without secrets.

pub mod json;
pub mod message;
pub mod redact;

/// Declares an enum whose variants have names for people and programs.
macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant),* }

        impl $name {
            pub const VARIANTS: &[Self] = &[$(Self::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            pub fn named(name: &str) -> Option<Self> {
                Self::VARIANTS.iter().copied().find(|one| one.as_str() == name)
            }
        }
    };
}
pub(crate) use named_enum;

use std::fmt::Write as _;
use std::io;

/// `text` with everything escaped that a terminal would interpret, cut to `most` characters.
pub fn safe(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            shown.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// An error of the operating system in its words, without its number.
pub fn io_words(error: &io::Error) -> String {
    let mut words = error.to_string();
    if let Some(number) = error.raw_os_error()
        && let Some(end) = words.rfind(&format!(" (os error {number})"))
    {
        words.truncate(end);
    }
    words
}

/// Bidirectional controls, line separators and other characters that change how their neighbours
/// are shown.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The service's own words in an error body: `{"error": "…", "details": [{"message": "…"}]}`, or
/// `title` and `detail` as in RFC 9457. Not yet safe to show.
pub fn service_message(body: &[u8]) -> Option<String> {
    use serde_json::Value;
    fn words(value: &Value) -> Option<&str> {
        value.as_str().or_else(|| {
            value
                .get("message")
                .or_else(|| value.get("detail"))?
                .as_str()
        })
    }
    let value: Value = serde_json::from_slice(body).ok()?;
    let lists =
        ["detail", "details", "errors"].map(|name| value.get(name).and_then(Value::as_array));
    let mut all: Vec<&str> = ["error", "message", "title", "detail"]
        .into_iter()
        .filter_map(|name| value.get(name))
        .chain(lists.into_iter().flatten().flatten())
        .filter_map(words)
        .collect();
    all.dedup();
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows: J8.
    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let hostile = "a\u{1b}]52;c;x\u{7}b\u{9b}2J\u{202e}c\r\nd\u{7f}";
        let shown = safe(hostile, 200);
        assert!(
            shown.chars().all(|c| !c.is_control() && !is_invisible(c)),
            "{shown:?}"
        );
        assert!(shown.contains("\\u{1b}") && shown.contains("\\u{202e}"));
        assert_eq!(safe("abcdef", 3), "abc…");
    }
}
