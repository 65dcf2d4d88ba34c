//! Recognises a secret in foreign text, even if the text escapes it or cuts it off. Such a text is
//! withheld.

use std::borrow::Cow;
use std::collections::HashSet;

use percent_encoding::percent_decode_str;

/// The fewest characters of a secret's beginning that count if the text breaks off after them.
const MIN_CUT_OFF: usize = 4;
/// A shorter secret counts only as a word of its own: a prompt of one letter is not searched for
/// within words.
const MIN_WITHIN_WORDS: usize = 8;
/// How deep a text may be nested in another: plain, in JSON, in JSON within JSON.
const MAX_NESTING: usize = 3;
/// The mark of an omission.
const OMITTED: char = '\u{2026}';
/// The longest part of a secret that is searched for, in characters. Prompts may be megabytes long.
const MAX_SECRET: usize = 64 * 1024;

/// `text`; or a note in its place, if it repeats a secret, which `secret` names.
pub(crate) fn withhold<'a>(text: &'a str, secret: Option<&str>) -> Cow<'a, str> {
    secret.map_or(Cow::Borrowed(text), |secret| {
        format!("[withheld: it repeats {secret}]").into()
    })
}

/// Whether `text` repeats `secret`: all of it, any `enough` characters of it in a row, or fewer of
/// its beginning if the text is cut off there. It is found as it is, and as JSON (Unicode or ASCII)
/// or Rust's `Debug` escapes it. All white space is treated alike.
pub(crate) fn repeats(text: &str, secret: &str, enough: usize) -> bool {
    in_any_form(text, secret, |text, secret| {
        holds(text, secret.get(..enough).unwrap_or(secret)) || has_run(text, secret, enough)
    })
}

/// Whether `text` repeats any `enough` characters of `secret` in a row, in the same forms.
pub(crate) fn repeats_part(text: &str, secret: &str, enough: usize) -> bool {
    in_any_form(text, secret, |text, secret| has_run(text, secret, enough))
}

fn in_any_form(text: &str, secret: &str, found: impl Fn(&[char], &[char]) -> bool) -> bool {
    let secret: String = squeeze(secret.trim()).take(MAX_SECRET).collect();
    if secret.is_empty() {
        return false;
    }
    // A service may forget to escape it in its JSON: then its own backslashes are read as escapes.
    let forms = [&secret, &unescape(&secret)].map(|form| squeeze(form).collect::<Vec<_>>());
    // Most secrets have no escapes, and one form.
    let mut forms = Vec::from(forms);
    forms.dedup();
    let mut view = Cow::Borrowed(text);
    for _ in 0..MAX_NESTING {
        let squeezed: Vec<char> = squeeze(&view).collect();
        if forms.iter().any(|form| found(&squeezed, form)) {
            return true;
        }
        if !view.contains('\\') {
            break;
        }
        view = unescape(&view).into();
    }
    false
}

fn has_run(text: &[char], secret: &[char], length: usize) -> bool {
    let runs: HashSet<_> = secret.windows(length).collect();
    text.windows(length).any(|run| runs.contains(run))
}

/// Whether `text` has a JSON field `"prompt"` with a text in it: a service's answer about a job may
/// contain the prompt of another call.
pub(crate) fn has_prompt_field(text: &str) -> bool {
    text.split("\"prompt\"").skip(1).any(|after| {
        let value = after.trim_start().strip_prefix(':');
        value.is_some_and(|value| value.trim_start().starts_with('"'))
    })
}

/// The characters of `text`, every run of white space as one space.
fn squeeze(text: &str) -> impl Iterator<Item = char> {
    let mut last = None;
    text.chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(move |&c| {
            let before = last.replace(c);
            c != ' ' || before != last
        })
}

fn holds(text: &[char], secret: &[char]) -> bool {
    (0..text.len()).any(|start| {
        let (before, rest) = text.split_at(start);
        let same = rest.iter().zip(secret).take_while(|(a, b)| a == b).count();
        let (_, after) = rest.split_at(same);
        let within_word = [before.last(), after.first()]
            .into_iter()
            .flatten()
            .any(|c| c.is_alphanumeric());
        (same == secret.len() || (same >= MIN_CUT_OFF && is_cut(after)))
            && (secret.len() >= MIN_WITHIN_WORDS || !within_word)
    })
}

/// Whether a text breaks off here: it ends, or a mark such as "…" shows that it was cut.
fn is_cut(after: &[char]) -> bool {
    let mut next = after.iter().skip_while(|c| matches!(c, ' ' | '[' | '('));
    match next.next() {
        None | Some(&OMITTED) => true,
        Some('.') => next.next() == Some(&'.'),
        Some(_) => false,
    }
}

/// The fewest digits of an encoded secret's beginning that count.
const MIN_RUN: usize = 6;

/// `text` without percent encoding, and this read as hex and as base64, with a mark of an omission
/// after each piece. A service may repeat a secret in each of these forms. Other letters may stand
/// directly before it, so a run of digits is read from each place where a byte may begin.
pub(crate) fn decoded(text: &str) -> String {
    let text = unescape(&unescape(text));
    let plain = percent_decode_str(&text).decode_utf8_lossy();
    let mut bytes = Vec::new();
    for skip in 0..4 {
        read_runs(&plain, sextet, 6, skip, &mut bytes);
        if skip < 2 {
            read_runs(&plain, |c| c.to_digit(16), 4, skip, &mut bytes);
        }
    }
    format!("{plain}{}{}", OMITTED, String::from_utf8_lossy(&bytes))
}

/// Appends the bytes of each run of digits in `text`, without its first `skip` digits. A digit has
/// `bits` bits.
fn read_runs(
    text: &str,
    digit: impl Fn(char) -> Option<u32>,
    bits: u32,
    skip: usize,
    bytes: &mut Vec<u8>,
) {
    let runs = text.split(|c| digit(c).is_none());
    for run in runs.filter(|run| run.len() >= MIN_RUN) {
        let (mut held, mut count) = (0, 0);
        for value in run.chars().skip(skip).filter_map(&digit) {
            held = (held << bits | value) & 0xffff;
            count += bits;
            if count >= 8 {
                count -= 8;
                bytes.extend(u8::try_from((held >> count) & 0xff));
            }
        }
        bytes.extend_from_slice(OMITTED.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// A digit of base64, of the common alphabet or of the one for URLs.
fn sextet(c: char) -> Option<u32> {
    Some(match c {
        'A'..='Z' => u32::from(c) - u32::from('A'),
        'a'..='z' => u32::from(c) - u32::from('a') + 26,
        '0'..='9' => u32::from(c) - u32::from('0') + 52,
        '+' | '-' => 62,
        '/' | '_' => 63,
        _ => return None,
    })
}

/// `text` with the escapes of JSON and of Rust's `Debug` undone.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let (meant, length) = if c == '\\' {
            escape(rest.as_str())
        } else {
            None
        }
        .unwrap_or((c, 0));
        plain.push(meant);
        rest = rest.as_str().get(length..).unwrap_or_default().chars();
    }
    plain
}

/// Reads what follows a backslash: the character, and how many bytes it took.
fn escape(after: &str) -> Option<(char, usize)> {
    let kind = after.chars().next()?;
    let meant = match kind {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '0' => '\0',
        '"' | '\'' | '\\' | '/' => kind,
        'u' => return unicode(after.get(1..)?),
        _ => return None,
    };
    Some((meant, 1))
}

/// Reads what follows `\u`.
fn unicode(after: &str) -> Option<(char, usize)> {
    if let Some((digits, _)) = after
        .strip_prefix('{')
        .and_then(|after| after.split_once('}'))
    {
        return Some((char::from_u32(hex(digits)?)?, digits.len() + 3));
    }
    let unit = hex(after.get(..4)?)?;
    if let Some(c) = char::from_u32(unit) {
        return Some((c, 5));
    }
    // Half of a pair; the other half is escaped as well.
    let low = hex(after.get(4..)?.strip_prefix("\\u")?.get(..4)?)?;
    let pair = [u16::try_from(unit).ok()?, u16::try_from(low).ok()?];
    Some((char::decode_utf16(pair).next()?.ok()?, 11))
}

pub(super) fn hex(digits: &str) -> Option<u32> {
    // `from_str_radix` takes a sign, too.
    let only_digits = digits.len() <= 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    only_digits.then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_text_is_decoded_wherever_it_begins() {
        for (encoded, length) in [("6b65792D3432", 2), ("a2V5LTQy", 4), ("key%2d42", 1)] {
            for start in 0..length {
                let text = format!("no: {}{encoded}!", &"fade"[..start]);
                assert!(decoded(&text).contains("key-42"), "{text}");
            }
        }
    }

    const PROMPT: &str = "Rewrite the \"billing\" page so that it names Project X";

    fn is_repeated(text: &str) -> bool {
        repeats(text, PROMPT, 24)
    }

    #[test]
    fn a_secret_is_found_whole_and_in_part() {
        for text in [
            &format!("no: {PROMPT}!"),
            "no: Rewrite the \"billing\" page so \u{2026} and",
            "no: Rewrite\u{2026}, and",
            "no: Rewrite... and",
            "no: Rewrite [...]",
            "no: Rewr",
            &PROMPT.replace(' ', "\n "),
            "no: page so that it names Project",
            "no: \u{2026}so that it names Project X",
        ] {
            assert!(is_repeated(text), "{text}");
        }
        assert!(!is_repeated("no: Rewrite the rest so that it names it"));
    }

    #[test]
    fn a_short_secret_is_not_found_within_words() {
        assert!(repeats("status 400: not a date", "a", 24));
        assert!(!repeats("status 400: date", "a", 24));
        assert!(repeats("update it", "update", 24));
        assert!(!repeats("updated", "update", 24));
    }

    #[test]
    fn a_secret_is_found_in_every_escaping() {
        let json = serde_json::to_string(PROMPT).unwrap();
        assert!(is_repeated(&format!("no: {json}")));
        assert!(is_repeated(&format!("no: {json:?}")));
        let prompt = "/\u{1f600}\u{202e}\\n\u{1}";
        for escaped in [
            "/\u{1f600}\u{202e}\\n\u{1}",
            "/\u{1f600}\u{202e}\\\\n\\u0001",
            "\\/\\ud83d\\uDE00\\u202E\\\\n\\u0001",
            "/\u{1f600}\\u{202e}\\\\n\\u{1}",
        ] {
            assert!(repeats(&format!("<{escaped}>"), prompt, 24), "{escaped}");
        }
    }

    #[test]
    fn a_secret_that_was_pasted_without_escaping_is_found() {
        let text = |json: &str| serde_json::from_str::<String>(json).unwrap();
        for prompt in [
            "Rename C:\\new to C:\\thing",
            "Mend \\\\server\\u0041 for me",
        ] {
            let pasted = text(&format!("\"no: <{prompt} >\""));
            assert!(repeats(&pasted, prompt, 24), "{pasted}");
        }
    }

    #[test]
    fn other_text_repeats_nothing() {
        for text in [
            "",
            "\\",
            "\\u",
            "\\u12",
            "\\u{",
            "\\ud800\\n",
            "C:\\new\\x",
            "caf\u{e9}  \t",
        ] {
            assert!(!is_repeated(text), "{text}");
            assert!(!repeats(text, " ", 24), "{text}");
        }
    }

    #[test]
    fn prompt_fields_are_found() {
        for text in [
            r#"{"id":1,"prompt":"a"}"#,
            r#"{"prompt" : "cut off \"#,
            r#"{"prompt":null,"prompt":"b"}"#,
        ] {
            assert!(has_prompt_field(text), "{text}");
        }
        assert!(!has_prompt_field(r#"{"prompt":null} "prompt" "#));
    }
}
