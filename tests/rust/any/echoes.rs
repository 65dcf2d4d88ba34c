//! The key in an answer is never shown, however it is escaped and wherever the answer breaks off.

use docplatform::config::Options;
use proptest::prelude::*;

use super::cases;
use crate::helpers::support::{Recorder, Reply, Script, client_with, json, options, read, reply, write};

/// The shortest piece of a key that counts as a leak, where the answer holds all of it.
const PIECE: usize = 8;
/// Where it breaks off within the key and goes on with something else: a letter may be that of an escape.
const CUT_PIECE: usize = 17;

fn any_key() -> impl Strategy<Value = String> {
    "[a-z]{2,4}_[!#-&(-_a-~]{16,60}".prop_filter("a key", |key| {
        Options { api_key: Some(key.as_str().into()), ..options() }.validate(|_| None).is_ok()
    })
}

/// How a service may write a text into another.
#[derive(Debug, Clone, Copy)]
enum Writing {
    Plain,
    Json,
    JsonInJson,
    Debug,
    /// JSON that escapes the letters whose bits are set.
    Escaped(u64),
}

fn any_writing() -> impl Strategy<Value = Writing> {
    prop_oneof![
        Just(Writing::Plain),
        Just(Writing::Json),
        Just(Writing::JsonInJson),
        Just(Writing::Debug),
        any::<u64>().prop_map(Writing::Escaped),
    ]
}

impl Writing {
    fn write(self, text: &str) -> String {
        let inner = |quoted: String| quoted[1..quoted.len() - 1].to_owned();
        let json = |text: &str| inner(serde_json::to_string(text).unwrap());
        match self {
            Self::Plain => text.to_owned(),
            Self::Json => json(text),
            Self::JsonInJson => json(&json(text)),
            Self::Debug => inner(format!("{text:?}")),
            Self::Escaped(bits) => text
                .chars()
                .enumerate()
                .map(|(at, c)| match (bits >> (at % 64) & 1, c) {
                    (1, _) => format!("\\u{:04x}", u32::from(c)),
                    (_, '/') => "\\/".to_owned(),
                    _ => json(&c.to_string()),
                })
                .collect(),
        }
    }
}

/// Where it stands.
fn any_place(text: String) -> impl Strategy<Value = Reply> {
    let header = text.replace(|c: char| !c.is_ascii_graphic(), " ");
    (0..7_usize, 300..600_u16).prop_map(move |(place, status)| match place {
        0 => reply(status, text.clone()),
        1 => reply(status, format!("{{\"error\": \"{text}\"}}")),
        2 => reply(status, format!("{{\"error\": \"no\", \"details\": [{{\"message\": \"{text}\"}}]}}")),
        3 => reply(status, "").header("x-request-id", &header).header("location", &header),
        4 => reply(200, text.clone()).header("content-type", &header),
        5 => reply(200, "{}").header("content-encoding", &header),
        _ => reply(200, format!("{{\"a\": [\"{text}\"")),
    })
}

fn any_echo() -> impl Strategy<Value = (String, Reply, usize)> {
    let around = || prop_oneof!["[ -~]{0,20}", "\\PC{0,300}", "x{0,600} "];
    (any_key(), around(), around(), any_writing(), any::<prop::sample::Index>(), any::<bool>())
        .prop_filter("says it by itself", |(key, before, after, ..)| {
            pieces(key, PIECE).all(|piece| !before.contains(piece) && !after.contains(piece))
        })
        .prop_flat_map(|(key, before, after, writing, cut, whole)| {
            let mut text = format!("{before} {} {after}", writing.write(&key));
            if !whole {
                text.truncate(text.floor_char_boundary(cut.index(text.len())));
            }
            let piece = if whole { PIECE } else { CUT_PIECE };
            any_place(text).prop_map(move |reply| (key.clone(), reply, piece))
        })
}

fn pieces(key: &str, length: usize) -> impl Iterator<Item = &str> {
    (0..=key.len() - length).map(move |start| &key[start..start + length])
}

/// What a failure with this answer shows.
fn shown(key: &str, reply: Reply, of: docplatform::client::Call) -> String {
    let settings = Options { api_key: Some(key.into()), max_retries: 0, ..options() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(async {
        let recorder = Recorder::default();
        let client = client_with(&Script::new([reply]), &settings, 0.0);
        match client.call(of, &recorder, json).await {
            Ok(_) => String::new(),
            Err(error) => format!("{error} {error:?} {}", recorder.log()),
        }
    })
}

proptest! {
    #![proptest_config(cases(512))]

    /// Rows: H2.
    #[test]
    fn no_piece_of_the_key_is_shown((key, reply, piece) in any_echo(), writes in any::<bool>()) {
        let shown = shown(&key, reply, if writes { write() } else { read() });
        let leak = pieces(&key, piece).find(|piece| shown.contains(piece));
        prop_assert!(leak.is_none(), "{:?} in {}", leak, shown);
    }
}
