//! Endpoints that are never the limit: pages made beforehand, one thread a connection, the standard library alone.
//!
//! Visitors are paged by offset, searches (100,000 at most) by cursor.
//! `bench-server ROWS LATENCY_MS` listens on a free loopback port, prints it, and serves until its standard input ends.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Requests answered, and requests that started after the last row.
static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BEYOND: AtomicU64 = AtomicU64::new(0);

struct Site {
    visitors: Listing,
    searches: Listing,
    latency: Duration,
}

struct Listing {
    rows: Vec<String>,
    /// Whole answers by (offset, limit), for the limit that everybody uses.
    pages: HashMap<(usize, usize), Vec<u8>>,
    /// An answer's body, of its rows and where the next page starts.
    body: fn(&str, Option<usize>) -> String,
}

const VISITORS_LIMIT: usize = 250;
const SEARCHES_LIMIT: usize = 100;
const MAX_SEARCHES: usize = 100_000;

impl Listing {
    fn new(rows: Vec<String>, limit: usize, body: fn(&str, Option<usize>) -> String) -> Self {
        let mut listing = Self {
            rows,
            pages: HashMap::new(),
            body,
        };
        for offset in (0..=listing.rows.len()).step_by(limit) {
            let answer = listing.render(offset, limit);
            listing.pages.insert((offset, limit), answer);
        }
        listing
    }

    fn render(&self, offset: usize, limit: usize) -> Vec<u8> {
        let end = (offset + limit).min(self.rows.len());
        let rows = self.rows.get(offset..end).unwrap_or_default().join(",");
        let body = (self.body)(&rows, (end < self.rows.len()).then_some(end));
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.into_bytes(), body.into_bytes()].concat()
    }
}

impl Site {
    fn new(count: usize, latency: Duration) -> Self {
        let rows: Vec<String> = (0..count)
            .map(|i| {
                let (human, ai) = (1_000_000 / (i + 1) + i % 97, 400_000 / (i + 1) + i % 31);
                let total = human + ai - ai / 20;
                format!(
                    r#"{{"path":"/docs/section-{}/page-{i:07}","human":{human},"ai":{ai},"total":{total}}}"#,
                    i % 40
                )
            })
            .collect();
        let searches = (0..count.min(MAX_SEARCHES))
            .map(|i| {
                format!(
                    r#"{{"searchQuery":"how to do thing {i}","hits":{},"ctr":{},"topClickedPage":"/docs/page-{}","lastSearchedAt":"2026-01-{:02}T09:30:{:02}.000Z"}}"#,
                    100_000 / (i + 1) + 1,
                    f64::from(i as u32 % 100) / 100.0,
                    i % 400,
                    i % 31 + 1,
                    i % 60,
                )
            })
            .collect();
        let visitors = Listing::new(rows, VISITORS_LIMIT, |rows, next| {
            format!(
                r#"{{"totals":{{"human":7000000,"ai":3000000,"total":9000000}},"visitors":[{rows}],"hasMore":{}}}"#,
                next.is_some()
            )
        });
        let searches = Listing::new(searches, SEARCHES_LIMIT, |rows, next| {
            let cursor = next.map_or("null".to_owned(), |next| format!("\"{next}\""));
            format!(r#"{{"searches":[{rows}],"totalSearches":0,"nextCursor":{cursor}}}"#)
        });
        Self {
            visitors,
            searches,
            latency,
        }
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::with_capacity(64 * 1024, stream);
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut length = 0;
            loop {
                line.clear();
                if reader.read_line(&mut line)? == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            io::copy(&mut (&mut reader).take(length), &mut io::sink())?;
            let number = |name: &str, default| {
                let query = target.split_once('?').map_or("", |(_, query)| query);
                let value = query
                    .split('&')
                    .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
                value
                    .and_then(|value| value.parse().ok())
                    .unwrap_or(default)
            };
            let limit = number("limit", 50);
            let (listing, offset) = match target.contains("/searches") {
                true => (&self.searches, number("cursor", 0)),
                false => (&self.visitors, number("offset", 0)),
            };
            REQUESTS.fetch_add(1, Ordering::Relaxed);
            if offset >= listing.rows.len() {
                BEYOND.fetch_add(1, Ordering::Relaxed);
            }
            if !self.latency.is_zero() {
                thread::sleep(self.latency);
            }
            match listing.pages.get(&(offset, limit)) {
                Some(page) => writer.write_all(page)?,
                None => writer.write_all(&listing.render(offset, limit))?,
            }
        }
    }
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|argument| argument.parse::<u64>().unwrap_or(0));
    let (rows, latency) = (arguments.next().unwrap_or(0), arguments.next().unwrap_or(0));
    let rows = usize::try_from(rows).unwrap_or(0);
    let site = Arc::new(Site::new(rows, Duration::from_millis(latency)));
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    println!("{}", listener.local_addr()?.port());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let site = Arc::clone(&site);
            // A connection that breaks ends its thread and nothing else.
            thread::spawn(move || drop(site.serve(stream)));
        }
    });
    // Each line asks for the counts so far; the end of input ends the server.
    for line in io::stdin().lines() {
        line?;
        println!(
            "{} {}",
            REQUESTS.load(Ordering::Relaxed),
            BEYOND.load(Ordering::Relaxed)
        );
    }
    Ok(())
}
