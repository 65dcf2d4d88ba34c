//! Secrets taken out of foreign text, however that text escapes them and wherever it cuts them off.

use std::ops::Range;

/// The least of a secret's beginning that is hidden where the text breaks off behind it.
const SCRAP: usize = 4;
/// A secret that is shorter is hidden only where it stands by itself.
const WORD: usize = 8;
/// How often one text may stand inside another: plain, in JSON, in JSON that stands in JSON.
const DEPTH: usize = 3;

/// One letter of a text, and where it stands in it.
type Letter = (char, Range<usize>);

/// `text` with every echo of `secret` replaced by `label`: all of it, its beginning if at least `enough`
/// letters of it came, or less where the text is cut off there. It is found as it is and as JSON (of
/// Unicode or of ASCII) and Rust's `Debug` write it; white space counts as white space.
pub(crate) fn hide(text: &str, secret: &str, label: &str, enough: usize) -> String {
    // No more of it than could stand there: prompts may be megabytes long.
    let most = text.len().max(enough);
    let secret: Vec<Letter> = squeeze(letters(secret.trim())).take(most).collect();
    if secret.is_empty() {
        return text.to_owned();
    }
    // Where a service forgot to escape it, its own backslashes escape what follows them.
    let forms = [secret.clone(), squeeze(unescape(&secret).into_iter()).collect()].map(plain);
    let forms = if forms[0] == forms[1] { &forms[..1] } else { &forms };
    let mut found = Vec::new();
    let mut view: Vec<Letter> = letters(text).collect();
    for _ in 0..DEPTH {
        let squeezed: Vec<Letter> = squeeze(view.iter().cloned()).collect();
        for form in forms {
            search(&squeezed, form, enough, &mut found);
        }
        view = unescape(&view);
    }
    found.sort_by_key(|range| range.start);
    let mut shown = String::new();
    let mut at = 0;
    for range in found {
        if range.start >= at {
            shown.push_str(text.get(at..range.start).unwrap_or_default());
            shown.push_str(label);
        }
        at = at.max(range.end);
    }
    shown.push_str(text.get(at..).unwrap_or_default());
    shown
}

fn letters(text: &str) -> impl Iterator<Item = Letter> {
    text.char_indices().map(|(at, c)| (c, at..at + c.len_utf8()))
}

/// Every run of white space as one space.
fn squeeze(letters: impl Iterator<Item = Letter>) -> impl Iterator<Item = Letter> {
    let mut letters = letters.peekable();
    std::iter::from_fn(move || {
        let (c, mut range) = letters.next()?;
        if !c.is_whitespace() {
            return Some((c, range));
        }
        while let Some((_, more)) = letters.next_if(|(c, _)| c.is_whitespace()) {
            range.end = more.end;
        }
        Some((' ', range))
    })
}

fn plain(letters: Vec<Letter>) -> Vec<char> {
    letters.into_iter().map(|(c, _)| c).collect()
}

/// Adds where `secret` stands in `text`.
fn search(text: &[Letter], secret: &[char], enough: usize, found: &mut Vec<Range<usize>>) {
    let enough = enough.min(secret.len());
    let mut rest = text;
    let mut before = None;
    while let Some((letter, tail)) = rest.split_first() {
        let same = rest.iter().zip(secret).take_while(|((a, _), b)| a == *b).count();
        let (matched, behind) = rest.split_at(same);
        // A prompt of a letter or a word is not looked for within words.
        let within = secret.len() < WORD && (is_joined(before) || is_joined(behind.first()));
        if (same >= enough || (same >= SCRAP && is_cut(behind)))
            && !within
            && let (Some((_, start)), Some((_, end))) = (matched.first(), matched.last())
        {
            found.push(start.start..end.end);
            before = matched.last();
            rest = behind;
        } else {
            before = Some(letter);
            rest = tail;
        }
    }
}

/// Whether a neighbour belongs to the same word.
fn is_joined(neighbour: Option<&Letter>) -> bool {
    neighbour.is_some_and(|(c, _)| c.is_alphanumeric())
}

/// Whether a text breaks off here, by its end or by a mark that says so.
fn is_cut(behind: &[Letter]) -> bool {
    let mut next = behind.iter().map(|(c, _)| *c).skip_while(|c| matches!(c, ' ' | '[' | '('));
    match next.next() {
        None | Some('\u{2026}') => true,
        Some('.') => next.next() == Some('.'),
        Some(_) => false,
    }
}

/// The text that `text` is the escaped form of, as JSON and as Rust's `Debug` escape.
fn unescape(text: &[Letter]) -> Vec<Letter> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(((c, range), behind)) = rest.split_first() {
        let (letter, length) = if *c == '\\' { escape(behind) } else { None }.unwrap_or((*c, 0));
        let (taken, behind) = behind.split_at(length);
        let end = taken.last().map_or(range.end, |(_, last)| last.end);
        plain.push((letter, range.start..end));
        rest = behind;
    }
    plain
}

/// What stands behind a backslash: the letter that is meant, and how many letters say so.
fn escape(behind: &[Letter]) -> Option<(char, usize)> {
    let (kind, _) = behind.first()?;
    Some(match kind {
        'n' => ('\n', 1),
        'r' => ('\r', 1),
        't' => ('\t', 1),
        'b' => ('\u{8}', 1),
        'f' => ('\u{c}', 1),
        '0' => ('\0', 1),
        '"' | '\'' | '\\' | '/' => (*kind, 1),
        'u' if behind.get(1)?.0 == '{' => {
            let digits = behind.iter().skip(2).take_while(|(c, _)| c.is_ascii_hexdigit()).count();
            let code = hex(behind.get(2..2 + digits)?)?;
            (behind.get(2 + digits)?.0 == '}').then_some(())?;
            (char::from_u32(code)?, digits + 3)
        }
        'u' => {
            let unit = hex(behind.get(1..5)?)?;
            if let Some(c) = char::from_u32(unit) {
                return Some((c, 5));
            }
            // Half of a pair; the other half is escaped as well.
            let low = (behind.get(5)?.0 == '\\' && behind.get(6)?.0 == 'u').then(|| behind.get(7..11))??;
            let pair = [u16::try_from(unit).ok()?, u16::try_from(hex(low)?).ok()?];
            (char::decode_utf16(pair).next()?.ok()?, 11)
        }
        _ => return None,
    })
}

fn hex(digits: &[Letter]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 6 {
        return None;
    }
    digits.iter().try_fold(0, |sum, (c, _)| Some(sum * 16 + c.to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Rewrite the \"billing\" page so that it names Project X";

    fn hidden(text: &str) -> String {
        hide(text, PROMPT, "[prompt]", 24)
    }

    #[test]
    fn whole_and_in_part() {
        assert_eq!(hidden(&format!("no: {PROMPT}! {PROMPT}")), "no: [prompt]! [prompt]");
        assert_eq!(hidden("no: Rewrite the \"billing\" page so \u{2026} and"), "no: [prompt]\u{2026} and");
        assert_eq!(
            hidden("no: Rewrite\u{2026}, Rewrite... Rewrite"),
            "no: [prompt]\u{2026}, [prompt]... [prompt]"
        );
        assert_eq!(hidden("no: Rewrite the rest"), "no: Rewrite the rest");
        assert_eq!(hidden(&PROMPT.replace(' ', "\n ")), "[prompt]");
    }

    #[test]
    fn a_word_stays_in_other_words() {
        let shown = hide("status 400: not a date: a", "a", "[prompt]", 24);
        assert_eq!(shown, "status 400: not [prompt] date: [prompt]");
        assert_eq!(hide("updated, update it", "update", "[prompt]", 24), "updated, [prompt] it");
    }

    #[test]
    fn escaped() {
        let json = serde_json::to_string(PROMPT).unwrap();
        assert_eq!(hidden(&format!("no: {json}")), "no: \"[prompt]\"");
        assert_eq!(hidden(&format!("no: {json:?}")), "no: \"\\\"[prompt]\\\"\"");
        let prompt = "/\u{1f600}\u{202e}\\n\u{1}";
        for escaped in [
            "/\u{1f600}\u{202e}\\n\u{1}",
            "/\u{1f600}\u{202e}\\\\n\\u0001",
            "\\/\\ud83d\\uDE00\\u202E\\\\n\\u0001",
            "/\u{1f600}\\u{202e}\\\\n\\u{1}",
        ] {
            assert_eq!(hide(&format!("<{escaped}>"), prompt, "[prompt]", 24), "<[prompt]>");
        }
    }

    #[test]
    fn pasted_without_escapes() {
        let text = |json: &str| serde_json::from_str::<String>(json).unwrap();
        for prompt in ["Rename C:\\new to C:\\thing", "Mend \\\\server\\u0041 for me"] {
            let pasted = text(&format!("\"no: <{prompt} >\""));
            assert_eq!(hide(&pasted, prompt, "[prompt]", 24), "no: <[prompt] >", "{pasted}");
        }
    }

    #[test]
    fn what_is_not_secret_stays_as_it_is() {
        for text in ["", "\\", "\\u", "\\u12", "\\u{", "\\ud800\\n", "C:\\new\\x", "caf\u{e9}  \t"] {
            assert_eq!(hidden(text), text);
            assert_eq!(hide(text, " ", "[prompt]", 24), text);
        }
    }
}
