//! Foreign text made fit to be shown: short, without control characters, without secrets.

use std::fmt::Write as _;

/// The most of a body that an error keeps, in bytes of the original.
const MOST_BODY: usize = 256;
/// The most of a service's message that an error shows.
const MOST_MESSAGE: usize = 500;
/// How much of a prompt's beginning is enough to know it by where a service echoes only a part.
const ECHO: usize = 24;

/// `text` with everything escaped that a terminal would obey instead of show, cut to `most` characters.
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

/// Bidirectional controls, line separators and other characters that change how their neighbours are shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The beginning of a body, as errors keep it.
pub fn clip_body(body: &[u8]) -> String {
    let cut = body.get(..MOST_BODY).unwrap_or(body);
    safe(&String::from_utf8_lossy(cut), MOST_BODY)
}

/// The service's own words in an error body: `{"error": "…", "details": [{"message": "…"}]}` and its kin.
pub fn service_message(body: &[u8]) -> Option<String> {
    use serde_json::Value;
    let value: Value = serde_json::from_slice(body).ok()?;
    let main = match value.get("error").or_else(|| value.get("message"))? {
        Value::String(text) => text.clone(),
        other => other.get("message")?.as_str()?.to_owned(),
    };
    let details = value.get("details").and_then(Value::as_array);
    let details = details
        .into_iter()
        .flatten()
        .filter_map(|detail| detail.as_str().or_else(|| detail.get("message")?.as_str()));
    let all: Vec<&str> = std::iter::once(main.as_str()).chain(details).collect();
    Some(safe(&all.join("; "), MOST_MESSAGE))
}

/// `text` with every echo of `prompt` replaced, whole or from its beginning on, plain or as JSON writes it.
pub fn hide_prompt(text: &str, prompt: &str) -> String {
    let escaped = serde_json::to_string(prompt).unwrap_or_default();
    let escaped = escaped.trim_matches('"');
    let hidden = hide(text, prompt);
    if escaped == prompt { hidden } else { hide(&hidden, escaped) }
}

fn hide(text: &str, prompt: &str) -> String {
    let prompt = prompt.trim();
    let start: String = prompt.chars().take(ECHO).collect();
    if start.is_empty() {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, found)) = rest.split_once(&start) {
        shown.push_str(before);
        shown.push_str("[prompt]");
        let tail = prompt.get(start.len()..).unwrap_or_default();
        let same = found.chars().zip(tail.chars()).take_while(|(a, b)| a == b);
        let same: usize = same.map(|(c, _)| c.len_utf8()).sum();
        rest = found.get(same..).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let hostile = "a\u{1b}]52;c;x\u{7}b\u{9b}2J\u{202e}c\r\nd\u{7f}";
        let shown = safe(hostile, 200);
        assert!(shown.chars().all(|c| !c.is_control() && !is_invisible(c)), "{shown:?}");
        assert!(shown.contains("\\u{1b}") && shown.contains("\\u{202e}"));
        assert_eq!(safe("abcdef", 3), "abc…");
    }

    #[test]
    fn the_services_own_words_are_found() {
        let body = br#"{"error": "Bad request", "details": [{"message": "limit"}, {"code": 1}, "x"]}"#;
        assert_eq!(service_message(body).unwrap(), "Bad request; limit; x");
        assert_eq!(service_message(br#"{"error": {"message": "no"}}"#).unwrap(), "no");
        assert_eq!(service_message(br#"{"message": "no"}"#).unwrap(), "no");
        for none in [&b"<html>"[..], b"", b"[]", b"{}", br#"{"error": 5}"#] {
            assert_eq!(service_message(none), None);
        }
    }

    #[test]
    fn prompts_are_hidden_whole_and_in_part() {
        let prompt = "Rewrite the \"billing\" page so that it names Project X";
        assert_eq!(hide_prompt(&format!("no: {prompt}!"), prompt), "no: [prompt]!");
        let json = serde_json::to_string(prompt).unwrap();
        assert_eq!(hide_prompt(&format!("no: {json}"), prompt), "no: \"[prompt]\"");
        assert_eq!(hide_prompt("no: Rewrite the \"billing\" page so … and", prompt), "no: [prompt]… and");
        assert_eq!(hide_prompt("nothing of it", prompt), "nothing of it");
    }
}
