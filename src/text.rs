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

/// The beginning of a body, as errors keep it. Secrets are to be taken out before: half of one is not found again.
pub fn clip_body(body: &str) -> String {
    safe(body.get(..body.floor_char_boundary(MOST_BODY)).unwrap_or(body), MOST_BODY)
}

/// The service's own words in an error body: `{"error": "…", "details": [{"message": "…"}]}` and its kin. Not yet fit
/// to be shown: see [`clip_message`].
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
    Some(all.join("; "))
}

/// A service's words as errors show them.
pub fn clip_message(words: &str) -> String {
    safe(words, MOST_MESSAGE)
}

/// `text` with every echo of `prompt` replaced, whole or from its beginning on: plain, as this module shows it, or as
/// services write it in JSON.
pub fn hide_prompt(text: &str, prompt: &str) -> String {
    let prompt = prompt.trim();
    if prompt.is_empty() {
        return text.to_owned();
    }
    let json = serde_json::to_string(prompt).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(prompt).to_owned();
    let mut forms = vec![prompt.to_owned(), safe(prompt, usize::MAX)];
    forms.push(escape_non_ascii(&json, |unit| format!("\\u{unit:04x}")));
    forms.push(escape_non_ascii(&json, |unit| format!("\\u{unit:04X}")));
    forms.push(json);
    let slashed: Vec<_> = forms.iter().map(|form| form.replace('/', "\\/")).collect();
    forms.extend(slashed);
    forms.sort_unstable();
    forms.dedup();
    hide(text, &forms)
}

/// `text` with the value of every JSON field `"prompt"` replaced: what a service says of a job may hold what another
/// call asked of it.
pub fn hide_prompt_fields(text: &str) -> String {
    const NAME: &str = "\"prompt\"";
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(NAME) {
        let (before, after) = rest.split_at(at + NAME.len());
        shown.push_str(before);
        rest = after;
        let value = after.trim_start().strip_prefix(':').map(str::trim_start);
        if let Some(value) = value.and_then(|value| value.strip_prefix('"')) {
            let mut escaped = false;
            let end = value.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            shown.push_str(":\"[prompt]");
            // A value that was cut has no end.
            rest = end.and_then(|end| value.get(end..)).unwrap_or_default();
        }
    }
    shown.push_str(rest);
    shown
}

fn escape_non_ascii(json: &str, escape: impl Fn(u16) -> String) -> String {
    let mut escaped = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            escaped.extend(c.encode_utf16(&mut [0; 2]).iter().map(|&unit| escape(unit)));
        }
    }
    escaped
}

fn hide(text: &str, forms: &[String]) -> String {
    let start = |form: &str| form.char_indices().nth(ECHO).map_or(form.len(), |(end, _)| end);
    let mut shown = String::new();
    let mut rest = text;
    loop {
        let found = forms.iter().filter_map(|form| rest.find(form.get(..start(form))?));
        let Some(at) = found.min() else {
            break;
        };
        let (before, echo) = rest.split_at(at);
        let same = forms.iter().map(|form| common_prefix(echo, form));
        shown.push_str(before);
        shown.push_str("[prompt]");
        rest = echo.get(same.max().unwrap_or_default()..).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}

/// How many bytes `a` and `b` have in common at their beginning.
fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
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

    #[test]
    fn prompt_fields_are_hidden() {
        for (text, shown) in [
            (r#"{"id":1,"prompt":"a \"b\" c","x":2}"#, r#"{"id":1,"prompt":"[prompt]","x":2}"#),
            (r#"{"prompt" : "cut off \"#, r#"{"prompt":"[prompt]"#),
            (r#"{"prompt":"a\\","prompt":"b"}"#, r#"{"prompt":"[prompt]","prompt":"[prompt]"}"#),
            (r#"{"prompt":null} "prompt" "#, r#"{"prompt":null} "prompt" "#),
        ] {
            assert_eq!(hide_prompt_fields(text), shown);
        }
    }

    #[test]
    fn prompts_are_hidden_however_they_are_escaped() {
        let prompt = "Fix the page on\nZanzibar\u{200b} at docs/naïve.md \u{1f600} now";
        let json = serde_json::to_string(prompt).unwrap();
        let lower = r"Fix the page on\nZanzibar\u200b at docs/na\u00efve.md \ud83d\ude00 now";
        let upper = r"Fix the page on\nZanzibar\u200B at docs\/na\u00EFve.md \uD83D\uDE00 now";
        for echo in [prompt, json.trim_matches('"'), &safe(prompt, 500), lower, upper] {
            assert_eq!(hide_prompt(&format!("no: {echo}! {echo}"), prompt), "no: [prompt]! [prompt]");
        }
    }
}
